"""The operators and conversions of handles that stand for Python's integers and truth values."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.traced import Traced, snapshot
from ...core.values import concrete, is_python
from ...ir.counts import EXACT, WORD, Count, Number
from ...ops.arithmetic import power
from ...ops.declare import UFUNCS
from ..dispatch.conversions import decided
from .counts import (
    COMPARISONS,
    EXACT_OPERATIONS,
    SEQUENCES,
    counted,
    inverted,
    is_settled,
    magnitude,
    meeting,
    narrowed,
    negated,
    nonzero,
    plus,
    range_of,
    settled,
    within,
)
from .exact import is_decimal, is_fraction

PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "divmod": divmod,
    "pow": operator.pow,
    **{name.strip("_"): getattr(operator, name) for name in ("lshift", "rshift", "and_", "or_", "xor")},
    **{name: getattr(operator, name) for name in COMPARISONS},
}
DIVISIONS = ("truediv", "floordiv", "mod", "divmod")
NUMBERS = (Traced, np.ndarray, np.generic, float, complex)


def _operators(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`n op y` and `y op n`."""
    exact = EXACT_OPERATIONS[name]

    def forward(self: Count, other: Any) -> Any:
        self = _inner(self, other)
        y = counted(other, self.traced_by)
        return exact(self, y) if y is not None else _mixed(name, self, other, swap=False)

    def reflected(self: Count, other: Any) -> Any:
        self = _inner(self, other)
        x = counted(other, self.traced_by)
        return exact(x, self) if x is not None else _mixed(name, self, other, swap=True)

    return forward, reflected


def _inner(x: Count, other: Any) -> Any:
    """A handle as it is in the program that another one belongs to, where that is the body of a loop."""
    if not isinstance(other, Count) or other.traced_by.level <= x.traced_by.level:
        return x
    found = counted(x, other.traced_by)
    return x if found is None else found


def _mixed(name: str, self: Count, other: Any, *, swap: bool) -> Any:
    """With an array, a float or a text."""
    if isinstance(other, SEQUENCES) and name == "mul":
        return other * settled(self)
    if is_fraction(other) or is_decimal(other):
        number = settled(self)
        return PYTHON[name](other, number) if swap else PYTHON[name](number, other)
    if not isinstance(other, NUMBERS) or type(other) is Number:  # its own operators know what to do
        return NotImplemented
    if type(other) in (float, complex) and not _is_plain_sailing(name, self, other, swap=swap):
        number = settled(self)
        return PYTHON[name](other, number) if swap else PYTHON[name](number, other)
    if name == "divmod":
        pair = (other, self) if swap else (self, other)
        return operator.floordiv(*pair), operator.mod(*pair)
    if name == "pow" and type(other) is float and not swap:
        return power(self.current(), other)
    return getattr(Traced, f"__{'r' if swap else ''}{name}__")(self, other)


def _is_plain_sailing(name: str, self: Count, other: Any, *, swap: bool) -> bool:
    """Whether Python gives a number of the same kind, and no error, for every value the guards let in."""
    if is_settled(self) or not narrowed(self, EXACT):
        return False
    if name in DIVISIONS:
        return nonzero(self) if swap else other != 0
    if name != "pow":
        return True
    if type(other) is complex:
        return False
    if swap:
        return other != 0.0
    if self.value < 0 or (self.value == 0 and other < 0):
        return False
    within(self, 0 if other >= 0 else 1, WORD[1])
    return True


def _comparison(name: str) -> Callable[..., Any]:
    exact = COMPARISONS[name]

    def compared(self: Count, other: Any) -> Any:
        self = _inner(self, other)
        y = counted(other, self.traced_by)
        if y is not None:
            return exact(self, y)
        if is_fraction(other) or is_decimal(other):
            return PYTHON[name](settled(self), other)
        if not isinstance(other, NUMBERS):
            return NotImplemented
        if type(other) is float and not math.isfinite(other):  # the answer is the same for every integer
            return PYTHON[name](self.value, other)
        if type(other) is float and not narrowed(self, EXACT):
            return PYTHON[name](settled(self), other)
        return getattr(Traced, f"__{name}__")(self, other)

    return compared


def _truth(self: Count) -> bool:
    if is_settled(self):
        return bool(range_of(self)[0])
    asked = self if type(self.value) is bool else COMPARISONS["ne"](self, 0)
    loops = self.traced_by.loops
    return bool(settled(asked) if loops is None else loops.truth(asked.current(), sys._getframe(1)))


def _power(self: Count, other: Any, modulus: Any = None) -> Any:
    if modulus is not None:
        return pow(settled(self), *[settled(counted(x, self.traced_by) or x) for x in (other, modulus)])
    return POWER[0](self, other)


def _rounded(self: Count, ndigits: Any = None) -> Any:
    return plus(self, 0) if ndigits is None or ndigits >= 0 else round(settled(self), operator.index(ndigits))


def _through(convert: Callable[[Any], Any]) -> Callable[[Count], Any]:
    """A conversion to what only plain numbers can become."""
    return lambda self: convert(settled(self))


def _index(self: Count) -> int:
    if type(self.value) is bool:
        capture: Any = self.traced_by
        capture.assumptions.make_place()
    return int(settled(self))


def _method(name: str) -> Callable[..., Any]:
    """A method of Python's integers."""
    return lambda self, *args, **kwargs: getattr(settled(self), name)(*args, **kwargs)


POWER = _operators("pow")
OPERATORS: dict[str, Any] = {
    "__pow__": _power,
    "__rpow__": POWER[1],
    "__neg__": negated,
    "__abs__": magnitude,
    "__pos__": lambda self: plus(self, 0),
    "__invert__": inverted,
    "__bool__": _truth,
    "__round__": _rounded,
    "__trunc__": lambda self: plus(self, 0),
    "__floor__": lambda self: plus(self, 0),
    "__ceil__": lambda self: plus(self, 0),
    "__int__": _through(int),
    "__index__": _index,
    "__float__": _through(float),
    "__complex__": _through(complex),
    "__hash__": _through(hash),
    "__str__": _through(str),
    "__repr__": _through(repr),
    "__format__": lambda self, spec: format(settled(self), spec),
    "__reduce_ex__": lambda self, protocol: settled(self).__reduce_ex__(protocol),
    "__array__": lambda self, dtype=None, copy=None: np.array(settled(self), dtype),
    "real": property(lambda self: plus(self, 0)),
    "numerator": property(lambda self: plus(self, 0)),
    "imag": property(lambda self: 0),
    "denominator": property(lambda self: 1),
    "conjugate": lambda self: plus(self, 0),
    **{name: _method(name) for name in ("bit_length", "bit_count", "to_bytes", "as_integer_ratio", "is_integer")},
    **{f"__{name}__": _comparison(name) for name in COMPARISONS},
}
for _name in EXACT_OPERATIONS:
    if _name != "pow":
        OPERATORS[f"__{_name}__"], OPERATORS[f"__r{_name}__"] = _operators(_name)
    if _name != "divmod":
        OPERATORS[f"__i{_name}__"] = OPERATORS[f"__{_name}__"]
for _name, _operator in OPERATORS.items():
    setattr(Count, _name, _operator)


# Of other numbers, a float above all: text and places in a dict rely on the value, and then it is a plain number.


def _relied_on(x: Number) -> bool:
    return x.node in x.traced_by.integers.ranges  # type: ignore[attr-defined]


def _plain_hash(self: Number) -> int:
    found = hash(settled(self))
    self.traced_by.integers.ranges[self.node] = (self.value, self.value)  # type: ignore[attr-defined]
    return found


def _number_operators(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    python, ours, reflected = PYTHON[name], getattr(Traced, f"__{name}__"), getattr(Traced, f"__r{name}__", None)

    def forward(self: Number, other: Any) -> Any:
        if _relied_on(self):
            return python(self.value, other)
        if not is_python(other) or name in COMPARISONS:
            return ours(self, other)
        found = _as_python(name, self, other)
        return _number(ours(self, other), name) if found is None else found

    def backward(self: Number, other: Any) -> Any:
        if _relied_on(self):
            return python(other, self.value)
        if not is_python(other) or reflected is None:
            return reflected(self, other) if reflected is not None else NotImplemented
        found = _as_python(name, other, self)
        return _number(reflected(self, other), name) if found is None else found

    return forward, backward


def _as_python(name: str, x: Any, y: Any) -> Any:
    """What Python gives for plain numbers, or raises, where no step gives the same; None where one does, by a guard."""
    if name in DIVISIONS:
        fits = concrete(y) != 0 and _holds(np.not_equal, y)
    elif name == "pow":
        fits = _is_real_power(x, y)
    else:
        fits = True
    if fits:
        return None
    return PYTHON[name](*[decided(v) for v in (x, y)])


def _is_real_power(x: Any, y: Any) -> bool:
    """Whether a power is a finite float, and stays real for all values that the guards let in."""
    try:
        found = concrete(x) ** concrete(y)
    except ArithmeticError:
        return False
    if isinstance(found, complex) or not math.isfinite(found):
        return False
    if not isinstance(y, Traced) and y >= 0 and float(y).is_integer():
        return True
    return concrete(x) > 0 and _holds(np.greater, x)


def _holds(ufunc: Any, x: Any) -> bool:
    """Guard that a comparison with 0, which holds now, does so in every run."""
    return not isinstance(x, Traced) or bool(decided(UFUNCS[ufunc](snapshot(x), 0)))


def _number(found: Any, name: str) -> Any:
    """The result of an operator on Python's numbers: one of them again."""
    if not isinstance(found, Traced) or not found.traced_by.is_capture or type(found.value) is not float:
        return found
    if name == "pow":
        decided(UFUNCS[np.isfinite](found))
    return Number(found.value, found.traced_by, found.node)


def _number_operator(name: str) -> Callable[[Number], Any]:
    python, ours = getattr(operator, name.strip("_")), getattr(Traced, name)
    return lambda self: python(self.value) if _relied_on(self) else _number(ours(self), name)


for _name in ("__str__", "__repr__", "__format__"):
    setattr(Number, _name, OPERATORS[_name])
Number.__hash__ = _plain_hash  # type: ignore[method-assign,assignment]
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", *COMPARISONS):
    _forward, _backward = _number_operators(_name)
    setattr(Number, f"__{_name}__", _forward)
    if _name not in COMPARISONS:
        setattr(Number, f"__r{_name}__", _backward)
        setattr(Number, f"__i{_name}__", _forward)
for _name in ("__neg__", "__pos__", "__abs__"):
    setattr(Number, _name, _number_operator(_name))
Count.meeting = staticmethod(meeting)  # type: ignore[method-assign]
