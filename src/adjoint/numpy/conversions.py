"""Where NumPy and Python give no hook: conversions to plain numbers and arrays, refused with the fix."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..core.errors import BatchError, DerivativeDroppedError, message
from ..core.traced import PYTHON, Traced, settled
from ..core.values import describe, plain, raw

PLAIN = "Wrap a solver or compiled code with  ad.custom_rule;  write  ad.value(x)  if no derivative is wanted."

FIXES = {
    "float": "Use NumPy's functions instead of math's; make an array to fill inside the function, or with  like=x.\n"
    + PLAIN,
    "complex": "Use NumPy's functions instead of cmath's.\n" + PLAIN,
    "array": "Use  np.array  or  np.stack  from the numpy module itself.\n" + PLAIN,
    "bytes": "Write  ad.value(x)  if no derivative is wanted.",
}


def refuse_batch(x: Any, wanted: str, fix: str) -> None:
    """Refuse to take a batch for one number."""
    inner = x
    while isinstance(inner, Traced):
        if inner.walk.lead:
            raise BatchError(
                message(f"Inside vmap a value has no single value, so it cannot be {wanted}.", got=describe(x), fix=fix)
            )
        inner = inner.value


def places(x: Any) -> Any:
    """Places on which a shape depends, as a plain array: in a captured program a guard says that they have to stay."""
    refuse_batch(x, "places that the shape depends on", "Use  np.where(mask, x, 0.0),  which keeps the shape.")
    return decided(x)


def decided(x: Any) -> Any:
    """The plain value that a decision is taken on; while a program is captured, a guard is written down for it."""
    x = raw(x)
    return _guarded(x) if isinstance(x, Traced) else x


def _guarded(x: Traced) -> Any:
    capture: Any = x.walk
    return capture.decided(x)


def refuse(x: Traced, into: str, what: str) -> NoReturn:
    """Say which conversion would lose the derivative, and what to use instead."""
    refuse_batch(x, what, "Use NumPy's functions, or wrap other code with  ad.custom_rule.")
    raise DerivativeDroppedError(
        message(f"A traced value cannot become {what} without losing its derivative.", got=describe(x), fix=FIXES[into])
    )


def to_float(self: Traced) -> float:
    """`float(x)`, `math.sin(x)`, `plain[0] = x`."""
    if not self.walk.level:
        return float(settled(self))
    if self.walk.is_capture:
        return float(_guarded(self))
    refuse(self, "float", "a Python float")


def to_complex(self: Traced) -> complex:
    """`complex(x)`."""
    if not self.walk.level:
        return complex(settled(self))
    if self.walk.is_capture:
        return complex(_guarded(self))
    refuse(self, "complex", "a Python complex number")


def to_array(self: Traced, dtype: Any = None, copy: Any = None) -> Any:
    """`np.asarray(x)` from compiled code or from a name imported before tracing began."""
    if not self.walk.level:
        return np.array(settled(self), dtype)
    if self.walk.is_capture:
        return np.array(_guarded(self), dtype)
    refuse(self, "array", "a plain array")


def to_bytes(self: Traced, protocol: Any) -> Any:
    """`pickle.dumps(x)`, also on the way to another process."""
    if not self.walk.level:
        return _bytes_of(settled(self), protocol)
    if self.walk.is_capture:
        return _bytes_of(_guarded(self), protocol)
    refuse(self, "bytes", "bytes")


def _bytes_of(value: Any, protocol: Any) -> Any:
    """How a plain value is put together again; Python's numbers leave that to pickle."""
    return (type(value), (value,)) if type(value) in PYTHON else value.__reduce_ex__(protocol)


def to_text(self: Traced) -> str:
    """Prints show the value: they are for eyes."""
    return f"Traced({plain(self)!r})" if self.walk.level else repr(settled(self))


def formatted(self: Traced, spec: str) -> str:
    """f"{x:.3f}" shows the value."""
    return format(plain(self), spec)


Traced.__float__ = to_float  # type: ignore[attr-defined]
Traced.__complex__ = to_complex  # type: ignore[attr-defined]
Traced.__array__ = to_array  # type: ignore[attr-defined]
Traced.__reduce_ex__ = to_bytes  # type: ignore[method-assign,assignment]
Traced.__repr__ = to_text  # type: ignore[method-assign,assignment]
Traced.__format__ = formatted  # type: ignore[method-assign,assignment]
