"""Where NumPy and Python give no hook: conversions to plain numbers and arrays, refused with the fix."""

from __future__ import annotations

import linecache
import sys
from pathlib import PurePath
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from ...core.calls.compiled import compiled_call, refused
from ...core.calls.current_call import met
from ...core.calls.suppressed_errors import remember, warn_if_caught
from ...core.errors import AdjointError, BatchError, DerivativeDroppedError, message, user_frame
from ...core.traced import PYTHON, Traced, settled
from ...core.values import contents, decidable, describe
from ...host.frames.ownership import is_library
from ...host.frames.stores import CLAIMS
from ..numbers.exact import is_comparing
from ..numbers.formatting import is_formatting
from .foreign import refuse_containers

PLAIN = "Wrap a solver or compiled code with  ad.custom_rule;  write  ad.value(x)  if no derivative is wanted."

FIXES = {
    "float": "Use NumPy's functions instead of math's; make an array to fill inside the function, or with  like=x.\n"
    + PLAIN,
    "complex": "Use NumPy's functions instead of cmath's.\n" + PLAIN,
    "array": "Use  np.array  or  np.stack  from the numpy module itself.\n" + PLAIN,
    "objects": "Leave  dtype=object  out: lists and arrays of numbers can hold traced values.\n"
    "Write  ad.value(x)  if no derivative is wanted.",
    "bytes": "Write  ad.value(x)  if no derivative is wanted.",
}

EQUIVALENTS = {
    "fabs": "np.abs", "pow": "np.power", "fsum": "np.sum", "prod": "np.prod", "dist": "np.linalg.norm(p - q)",
    "gamma": "scipy.special.gamma", "lgamma": "scipy.special.gammaln", "erf": "scipy.special.erf",
    "erfc": "scipy.special.erfc", "comb": "scipy.special.comb", "factorial": "scipy.special.factorial",
    "phase": "np.angle", "polar": "np.abs  and  np.angle", "rect": "r * np.exp(1j * phi)", "cbrt": "np.cbrt",
}  # fmt: skip
"""Functions of `math` and `cmath` that have another name in NumPy or SciPy."""


def _fix(call: str, into: str) -> str:
    """What to write instead of a call that was met."""
    module, _, name = call.rpartition(".")
    if module in ("math", "cmath"):
        ours = EQUIVALENTS.get(name) or (f"np.{name}" if hasattr(np, name) else "")
        return f"Write  {ours},  or  ad.value(x)  if no derivative is wanted." if ours else LEAVE
    if call in ("float()", "complex()"):
        return f"Leave  {call}  out: a traced number can be computed with as it is.\n" + LEAVE
    if into == "objects":
        return FIXES[into]
    if module == "np" and isinstance(getattr(np, name, None), np.ufunc):
        return (
            f"Write  {call}  with the module's name, or make an array of the list:  {name}(np.array([x, y])).\n" + LEAVE
        )
    if module == "np" and isinstance(getattr(np, name, None), type):
        return f"Write  np.astype(x, {call}),  or leave it out.\n" + LEAVE
    if module:
        ours = _instead_of_method(module, name, into)
        if ours:
            return f"Write  {ours},  which knows traced values: methods of plain arrays do not.\n" + LEAVE
    if module.startswith("scipy.stats"):
        return f"Write its formula with NumPy's functions and those of  scipy.special.\n{PLAIN}"
    if module.startswith(("scipy", "sklearn", "pandas")):
        return PLAIN
    return FIXES[into]


def _instead_of_method(array: str, name: str, into: str) -> str:
    """What does the same as a method of a plain array, for which NumPy has no hook; nothing for anything else."""
    if name in METHODS:
        return METHODS[name].format(array)
    is_method = array != "np" and hasattr(np.ndarray, name) and hasattr(np, name)
    return f"np.{name}({array}, x)" if is_method and into == "array" else ""


METHODS = {
    "dot": "{0} @ x  or  np.dot({0}, x)", "fill": "{0}[...] = x", "put": "{0}[places] = x",
    "__setitem__": "{0}[key] = x", "sum": "{0}.sum() + x", "prod": "{0}.prod() * x",
    "max": "np.maximum({0}.max(), x)", "min": "np.minimum({0}.min(), x)",
}  # fmt: skip
"""Methods of plain arrays that are written as an operator, an assignment, or without `initial=`."""
LEAVE = "Write  ad.value(x)  if no derivative is wanted."


def _batch_fix(into: str) -> str:
    """What to write in a batch instead of the call that was met."""
    array, _, name = met().call.rpartition(".")
    ours = _instead_of_method(array, name, into) if array else ""
    return f"Write  {ours}." if ours else "Use NumPy's functions, or wrap other code with  ad.custom_rule."


def refuse_batch(x: Any, wanted: str, fix: str, frame: FrameType | None = None) -> None:
    """Refuse to take a batch for one number; `frame` is one that calls compiled code, which may hide the error."""
    inner = x
    while isinstance(inner, Traced):
        if inner.traced_by.lead:
            error = BatchError(
                message(f"Inside vmap a value has no single value, so it cannot be {wanted}.", got=describe(x), fix=fix)
            )
            warn_if_caught(error, sys._getframe(1))
            if frame is not None:
                remember(error, frame)
            raise error
        inner = inner.value


def places(x: Any) -> Any:
    """Places on which a shape depends, as a plain array: in a captured program a guard says that they have to stay."""
    refuse_batch(x, "places that the shape depends on", "Use  np.where(mask, x, 0.0),  which keeps the shape.")
    return decided(x)


def decided(x: Any) -> Any:
    """The plain value that a decision is taken on; while a program is captured, a guard is written down for it."""
    x = decidable(x)
    return _guarded(x) if isinstance(x, Traced) else x


def _guarded(x: Traced) -> Any:
    capture: Any = x.traced_by
    return capture.decided(x)


def refuse(x: Traced, into: str, what: str) -> NoReturn:
    """Say which conversion would lose the derivative, and what to use instead."""
    frame = sys._getframe(2)
    refuse_batch(x, what, _batch_fix(into), frame)
    compiled = compiled_call(frame)
    if compiled:
        error: AdjointError = refused(compiled, frame, frame.f_lineno)
        remember(error, frame)
        raise error
    call, target = met()
    error = DerivativeDroppedError(_refusal(x, into, what, call, target) + _inside(frame))
    remember(error, sys._getframe(2))
    if x.shape == ():  # of an array, it is an error without a trace as well
        warn_if_caught(error, sys._getframe(2))
    raise error


def _inside(frame: FrameType) -> str:
    """The line of a package that wants the number or array, if it is not the user's own line."""
    if frame is user_frame() or is_library(frame):
        return ""
    code, line = frame.f_code, frame.f_lineno
    text = linecache.getline(code.co_filename, line).strip()
    module = frame.f_globals.get("__name__", "")
    return f"\n  It was met in {module}, {PurePath(code.co_filename).name}:{line} in {code.co_name}():  {text}"


def _refusal(x: Traced, into: str, what: str, call: str, target: str) -> str:
    if target and into == "float":
        name = target.partition("[")[0]
        return message(
            f"{target} = ...  cannot store a traced value: {name} is a plain array, and its derivative would be lost.",
            got=describe(x),
            fix=f"Make  {name}  inside the function with  np.zeros  or  np.empty,  or anywhere with  like=x.\n" + LEAVE,
        )
    if call:
        return message(
            f"{call} cannot take a traced value: it would become {what} and lose its derivative.",
            got=describe(x),
            fix=_fix(call, into),
        )
    return message(
        f"A traced value cannot become {what} without losing its derivative.", got=describe(x), fix=FIXES[into]
    )


def to_float(self: Traced) -> float:
    """`float(x)`, `math.sin(x)`, `plain[0] = x`; `"%.3f" % x` is text for people, and shows the value."""
    if not self.traced_by.level:
        return float(settled(self))
    if CLAIMS.stored(self, sys._getframe(1)):
        return 0.0  # which goes to an array that nobody holds
    if is_formatting(sys._getframe(1)):
        refuse_batch(self, "formatted with  %", 'Write  f"{x:.3f}",  which shows the whole batch.')
        return float(contents(self))
    if self.traced_by.is_capture:
        return float(_guarded(self))
    if is_comparing(sys._getframe(1)):
        refuse_batch(self, "compared with a fraction", "Compare with  float(fraction).")
        return float(decided(self))
    refuse(self, "float", "a Python float")


def to_ratio(self: Traced) -> tuple[int, int]:
    """`x.as_integer_ratio()`, also on behalf of `Fraction(1, 3) < x`, which is a decision."""
    if self.traced_by.level and not self.traced_by.is_capture and not is_comparing(sys._getframe(2)):
        refuse(self, "float", "two integers")
    return float(decided(settled(self))).as_integer_ratio()


def to_complex(self: Traced) -> complex:
    """`complex(x)`."""
    if not self.traced_by.level:
        return complex(settled(self))
    if CLAIMS.stored(self, sys._getframe(1)):
        return 0j
    if self.traced_by.is_capture:
        return complex(_guarded(self))
    refuse(self, "complex", "a Python complex number")


def to_array(self: Traced, dtype: Any = None, copy: Any = None) -> Any:
    """`np.asarray(x)` from compiled code or from a name imported before tracing began."""
    if not self.traced_by.level:
        return np.array(settled(self), dtype)
    if CLAIMS.stored(self, sys._getframe(1)):
        return np.zeros(self.shape, dtype)
    if self.traced_by.is_capture:
        return np.array(_guarded(self), dtype)
    refuse_containers(sys._getframe(1), self)
    refuse(self, "array", "a plain array")


def to_bytes(self: Traced, protocol: Any) -> Any:
    """`pickle.dumps(x)`, also on the way to another process."""
    if not self.traced_by.level:
        return _bytes_of(settled(self), protocol)
    if self.traced_by.is_capture:
        return _bytes_of(_guarded(self), protocol)
    refuse(self, "bytes", "bytes")


def _bytes_of(value: Any, protocol: Any) -> Any:
    """How a plain value is put together again; Python's numbers leave that to pickle."""
    return (type(value), (value,)) if type(value) in PYTHON else value.__reduce_ex__(protocol)


def to_text(self: Traced) -> str:
    """Prints show the value: they are for people."""
    return f"Traced({contents(self)!r})" if self.traced_by.level else repr(settled(self))


def to_plain_text(self: Traced) -> str:
    """`print(x)`, `str(x)`, `"%s" % x`: the value alone."""
    return str(contents(self))


def formatted(self: Traced, spec: str) -> str:
    """f"{x:.3f}" shows the value; of a number inside vmap the whole batch, each example with the same format."""
    value = contents(self)
    if spec and isinstance(value, np.ndarray) and value.ndim and not self.shape:
        return np.array2string(value, formatter={"all": lambda example: format(example, spec)})
    return format(value, spec)


Traced.__float__ = to_float  # type: ignore[attr-defined]
Traced.__complex__ = to_complex  # type: ignore[attr-defined]
Traced.__array__ = to_array  # type: ignore[attr-defined]
Traced.__reduce_ex__ = to_bytes  # type: ignore[method-assign,assignment]
Traced.__repr__ = to_text  # type: ignore[method-assign,assignment]
Traced.__str__ = to_plain_text  # type: ignore[method-assign,assignment]
Traced.__format__ = formatted  # type: ignore[method-assign,assignment]
