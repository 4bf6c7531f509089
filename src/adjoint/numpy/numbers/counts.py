"""Python's integers and truth values in a captured program: exact arithmetic, as steps where 64 bits are sure to do."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...core.traced import Traced
from ...core.values import dtype_of
from ...ir.counts import EXACT, TRUTH, USUAL, WORD, Count, Number, Range, fits
from ...ops.arithmetic import add, divide, multiply, negative, power, subtract
from ...ops.declare import UFUNCS
from ...ops.selection import absolute
from ...ops.shape import constant_astype, item

INT, BOOL = np.dtype(np.int64), np.dtype(bool)
SEQUENCES = (list, tuple, str, bytes, bytearray)
Binary = Callable[[Any, Any], Any]


def counted(x: Any, capture: Any) -> Any:
    """An operand as a plain integer or a handle of one; None if it is something else."""
    if isinstance(x, Count):
        return x if x.traced_by is capture else _lifted(x, capture)
    if type(x) is Traced:
        return Count(x.value, capture, x.node) if x.traced_by is capture and type(x.value) in (int, bool) else None
    return x if isinstance(x, int) else None


def _lifted(x: Count, capture: Any) -> Count | None:
    """A handle of a program further out, as it is in the body of a loop; None if it is from anywhere else."""
    if not capture.outside.may_lift or x.traced_by.level > capture.level:
        return None
    number, value = capture.number_of(x)
    capture.integers.ranges.setdefault(number, range_of(x))
    capture.integers.setdefault(number, frozenset())
    return Count(value, capture, number)


def range_of(x: Any) -> Range:
    """The values that an operand can have."""
    if not isinstance(x, Count):
        return int(x), int(x)
    capture: Any = x.traced_by
    return capture.integers.ranges.get(x.node, TRUTH if type(x.value) is bool else WORD)  # type: ignore[no-any-return]


def value_of(x: Any) -> Any:
    """The number as it is now."""
    return x.value if isinstance(x, Count) else x


def settled(x: Any) -> Any:
    """The plain number, on which the program relies from here on."""
    if not isinstance(x, Number):
        return x
    capture: Any = x.traced_by
    return capture.decided(x)


def narrowed(x: Any, limit: int) -> bool:
    """Whether an operand lies within these bounds: by what is known, or by a guard that is written now."""
    low, high = range_of(x)
    if -limit <= low and high <= limit:
        return True
    if not -limit <= value_of(x) <= limit:
        return False
    limit = USUAL if -USUAL <= x.value <= USUAL and limit > USUAL else limit
    within(x, max(low, -limit), min(high, limit))
    return True


def within(x: Count, low: int, high: int) -> None:
    """Guard that a number, which lies in between now, does so in every run."""
    capture: Any = x.traced_by
    was = range_of(x)
    if was[0] < low:
        capture.decided(_asked(np.greater_equal, x, low))
    if high < was[1]:
        capture.decided(_asked(np.less_equal, x, high))
    capture.integers.ranges[x.node] = max(low, was[0]), min(high, was[1])


def nonzero(x: Any) -> bool:
    """Whether an operand is not 0, guarded if it could be."""
    if value_of(x) == 0:
        return False
    low, high = range_of(x)
    if low <= 0 <= high and isinstance(x, Count):
        capture: Any = x.traced_by
        capture.decided(_asked(np.not_equal, x, 0))
    return True


def _asked(ufunc: Any, x: Any, y: Any) -> Traced:
    """A comparison; of NumPy's integers, as NumPy itself compares Python's only as objects."""
    sides = [constant_astype(v.current(), dtype=INT) if isinstance(v, Count) else INT.type(v) for v in (x, y)]
    return UFUNCS[ufunc](*sides)  # type: ignore[no-any-return]


def _as_int(x: Any) -> Any:
    """An operand of an integer step; truth values count as 0 and 1."""
    if not isinstance(x, Count):
        return int(x)
    if type(x.value) is bool:
        return item(constant_astype(x.current(), dtype=INT))
    return x.current()


def made(capture: Any, found: Any, range_: Range, sources: Sequence[Any]) -> Any:
    """A handle of a step's result, which is a Python number again; `sources` are what its value gives away."""
    found = found if type(found) is bool or type(found.value) in (int, bool) else item(found)
    if type(found) is bool:
        return found
    capture.integers.ranges[found.node] = range_
    capture.integers[found.node] = frozenset().union(
        *[capture.integers.get(s.node, frozenset()) for s in sources if isinstance(s, Count)]
    )
    return Count(found.value, capture, found.node)


def is_settled(*operands: Any) -> bool:
    """Whether nothing is left to vary."""
    return all([low == high for low, high in map(range_of, operands)])


def _exact(
    primitive: Primitive, python: Binary, ranged: Callable[[Range, Range], Range], limit: int, *, tells: bool = False
) -> Binary:
    """Addition and the like: a step, if its result is sure to fit. `tells`: the result says what the operand is."""

    def operation(x: Any, y: Any) -> Any:
        if is_settled(x, y):
            return python(value_of(x), value_of(y))
        found = ranged(range_of(x), range_of(y))
        if not fits(found):
            if not (narrowed(x, limit) and narrowed(y, limit)):
                return python(settled(x), settled(y))
            found = ranged(range_of(x), range_of(y))
        capture = x.traced_by if isinstance(x, Count) else y.traced_by
        step = capture.process(primitive, (_as_int(x), _as_int(y)), {})
        return made(capture, step, found, (x, y) if tells else ())

    return operation


def _product(x: Range, y: Range) -> Range:
    corners = [a * b for a in x for b in y]
    return min(corners), max(corners)


def _bits(x: Range, y: Range) -> Range:
    width = max([v.bit_length() for v in (*x, *y)])
    low = -(1 << width) if min(*x, *y) < 0 else 0
    return low, (1 << width) - 1


def _quotient(x: Range, y: Range) -> Range:
    most = max(abs(x[0]), abs(x[1]))
    return -most, most


def _remainder(x: Range, y: Range) -> Range:
    return min(0, y[0] + 1), max(0, y[1] - 1)


plus = _exact(add, operator.add, lambda x, y: (x[0] + y[0], x[1] + y[1]), 2**62 - 1, tells=True)
minus = _exact(subtract, operator.sub, lambda x, y: (x[0] - y[1], x[1] - y[0]), 2**62 - 1, tells=True)
times = _exact(multiply, operator.mul, _product, 2**31, tells=True)


def _divided(primitive: Primitive, python: Binary, ranged: Callable[[Range, Range], Range]) -> Binary:
    quotient = _exact(primitive, python, ranged, 2**62)

    def operation(x: Any, y: Any) -> Any:
        return quotient(x, y) if nonzero(y) else python(settled(x), settled(y))

    return operation


over = _divided(UFUNCS[np.floor_divide], operator.floordiv, _quotient)
modulo = _divided(UFUNCS[np.remainder], operator.mod, _remainder)


def true_division(x: Any, y: Any) -> Any:
    """x / y, which Python rounds once: so do doubles, if both operands are exact."""
    if not nonzero(y) or is_settled(x, y) or not (narrowed(x, EXACT) and narrowed(y, EXACT)):
        return settled(x) / settled(y)
    capture = x.traced_by if isinstance(x, Count) else y.traced_by
    return capture.process(divide, (_as_int(x), _as_int(y)), {})


def raised(x: Any, y: Any) -> Any:
    """x ** y. An exponent decides what kind of number there is, so it is relied on, unless the base is 2 or -1."""
    if isinstance(y, Count) and not isinstance(x, Count) and not is_settled(y):
        if x == 2 and 0 <= y.value <= 62:
            within(y, 0, 62)
            return made(y.traced_by, y.traced_by.process(UFUNCS[np.left_shift], (1, _as_int(y)), {}), (1, 2**62), (y,))
        if x == -1 and y.value >= 0:
            within(y, 0, WORD[1])
            return minus(1, times(2, modulo(y, 2)))
    exponent = settled(y)
    if not isinstance(x, Count) or is_settled(x) or exponent > 64:
        return settled(x) ** exponent
    if exponent < 0:
        if not nonzero(x) or not narrowed(x, EXACT):
            return settled(x) ** exponent
        return x.traced_by.process(power, (float_of(x), float(exponent)), {})
    result: Any = 1
    for _ in range(exponent):
        result = times(result, x)
    return result


def float_of(x: Count) -> Any:
    """A handle of the Python float that is nearest."""
    return item(constant_astype(_as_int(x), dtype=np.dtype(float)))


def shifted_left(x: Any, y: Any) -> Any:
    """x << y."""
    places = settled(y)
    return times(x, 1 << places) if 0 <= places <= 62 else settled(x) << places


def shifted_right(x: Any, y: Any) -> Any:
    """x >> y."""
    places = settled(y)
    if places < 0 or is_settled(x):
        return settled(x) >> places
    low, high = range_of(x)
    step = x.traced_by.process(UFUNCS[np.right_shift], (_as_int(x), min(places, 63)), {})
    return made(x.traced_by, step, (low >> places, high >> places), ())


def _bitwise(primitive: Primitive, python: Binary) -> Binary:
    on_integers = _exact(primitive, python, _bits, 2**62)

    def operation(x: Any, y: Any) -> Any:
        if not (type(value_of(x)) is type(value_of(y)) is bool) or is_settled(x, y):
            return on_integers(x, y)
        capture = x.traced_by if isinstance(x, Count) else y.traced_by
        found = capture.process(primitive, tuple([_as_truth(v) for v in (x, y)]), {})
        return made(capture, found, TRUTH, ())

    return operation


def _as_truth(x: Any) -> Any:
    return constant_astype(x.current(), dtype=BOOL) if isinstance(x, Count) else np.bool_(x)


def _compared(ufunc: Any, python: Binary) -> Binary:
    def operation(x: Any, y: Any) -> Any:
        if is_settled(x, y) or not (fits(range_of(x)) and fits(range_of(y))):  # a wider one is beyond every value
            return python(value_of(x), value_of(y))
        capture = x.traced_by if isinstance(x, Count) else y.traced_by
        return made(capture, _asked(ufunc, x, y), TRUTH, ())

    return operation


EXACT_OPERATIONS: dict[str, Binary] = {
    "add": plus,
    "sub": minus,
    "mul": times,
    "truediv": true_division,
    "floordiv": over,
    "mod": modulo,
    "divmod": lambda x, y: (over(x, y), modulo(x, y)),
    "pow": raised,
    "lshift": shifted_left,
    "rshift": shifted_right,
    "and": _bitwise(UFUNCS[np.bitwise_and], operator.and_),
    "or": _bitwise(UFUNCS[np.bitwise_or], operator.or_),
    "xor": _bitwise(UFUNCS[np.bitwise_xor], operator.xor),
}
COMPARISONS: dict[str, Binary] = {
    "eq": _compared(np.equal, operator.eq),
    "ne": _compared(np.not_equal, operator.ne),
    "lt": _compared(np.less, operator.lt),
    "le": _compared(np.less_equal, operator.le),
    "gt": _compared(np.greater, operator.gt),
    "ge": _compared(np.greater_equal, operator.ge),
}


def negated(x: Count) -> Any:
    """-x."""
    return minus(0, x) if not narrowed(x, 2**62) else _one(negative, x, (-range_of(x)[1], -range_of(x)[0]))


def magnitude(x: Count) -> Any:
    """abs(x)."""
    if not narrowed(x, 2**62):
        return abs(settled(x))
    low, high = range_of(x)
    return _one(absolute, x, (0 if low <= 0 <= high else min(abs(low), abs(high)), max(abs(low), abs(high))))


def inverted(x: Count) -> Any:
    """~x, of truth values too: Python counts with them."""
    return _one(UFUNCS[np.invert], x, (~range_of(x)[1], ~range_of(x)[0]))


def _one(primitive: Primitive, x: Count, range_: Range) -> Any:
    if is_settled(x):
        return int(primitive.evaluate(int(x.value)))
    capture: Any = x.traced_by
    return made(capture, capture.process(primitive, (_as_int(x),), {}), range_, (x,))


def meeting(capture: Any, primitive: Primitive, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments of a step that is not of integers alone: where an array's dtype cannot hold a number, NumPy says so.

    The number is guarded to what the dtype holds; if it is beyond, NumPy gets the plain one and decides.
    """
    numbers = [k for k, a in enumerate(args) if _is_dynamic_count(a, capture)]
    strong = [dtype_of(a) for a in args if not _is_python_number(a)]
    if not numbers or not strong:
        return args
    found = list(args)
    for k in numbers:
        x = Count(args[k].value, capture, args[k].node)
        whole_power = primitive.facts.refuses_integers and k == 1 and dtype_of(args[0]).kind in "iub"
        if whole_power or not all([_held(x, dtype) for dtype in strong]):
            found[k] = settled(x)
    return tuple(found)


def _held(x: Count, dtype: np.dtype) -> bool:
    if dtype.kind in "fc":
        return dtype.itemsize >= 8 * (1 + (dtype.kind == "c")) or narrowed(x, EXACT)
    if dtype.kind not in "iu" or dtype == INT:
        return True
    low, high = int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), WORD[1])
    if not low <= x.value <= high:
        return False
    within(x, low, high)
    return True


def _is_dynamic_count(a: Any, capture: Any) -> bool:
    if not isinstance(a, Traced) or type(a.value) is not int:
        return False
    trace: Any = a.traced_by
    return trace is capture and a.node not in trace.program.constants


def _is_python_number(a: Any) -> bool:
    value = a.value if isinstance(a, Traced) else a
    return type(value) in (int, bool, float, complex)
