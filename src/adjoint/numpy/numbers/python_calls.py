"""Python's number types and the functions of `math` for handles of a captured program: no value is given up for them.

`float(loss)` stays a handle, of a Python float. Where Python would raise (a logarithm of 0, an overflow, `int(nan)`), a
guard says that it does not; the call that breaks it is recorded with plain numbers, and raises.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ...capture.environment.redirect_calls import VERSIONS
from ...core.traced import Traced, kind_of
from ...host.frames.branch_points import loop_over_call
from ...ir.counts import EXACT, TRUTH, USUAL, WORD, Count, Number
from ...ir.effects import capture_under_way
from ...ops.declare import CATALOGUE, UFUNCS
from ...ops.selection import absolute
from ...ops.shape import astype, constant_astype, item
from ..dispatch.lists import converting
from . import counting as counting  # gives counts their operators
from .counts import INT, made, plus
from .mathematics import version_of
from .passing import PASSING, has_attribute

FLOAT, COMPLEX = np.dtype(float), np.dtype(complex)


def _is_number(x: Any, kinds: str = "fiub") -> bool:
    """Whether a value is a number of a program that may have guards."""
    if not isinstance(x, Traced):
        return False
    trace: Any = x.traced_by
    return trace.is_capture and trace.guards_allowed and x.shape == () and x.dtype.kind in kinds


def _one(
    function: Any, version: Callable[[Any], Any], otherwise: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """A function of one number: the version for handles, the function itself or another version for everything else."""

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and _is_number(args[0]):
            return version(args[0])
        return (otherwise or function)(*args, **kwargs)

    return call


def to_float(x: Any) -> Any:
    """`float(x)`."""
    x = x if type(x) is Traced else x.current()
    found = x if type(x.value) is float else item(astype(x, dtype=FLOAT))
    return Number(found.value, found.traced_by, found.node)


def to_complex(x: Any) -> Any:
    """`complex(x)`."""
    return item(astype(x if type(x) is Traced else x.current(), dtype=COMPLEX))


def _numpys(dtype: np.dtype) -> Callable[[Any], Any]:
    """`np.float32(x)` and the like."""
    return lambda x: astype(x if type(x) is Traced else x.current(), dtype=dtype)


to_numpy_float = _numpys(FLOAT)


def to_int(x: Any) -> Any:
    """`int(x)`: the whole part, which is known to fit by a guard."""
    if isinstance(x, Count):
        return plus(x, 0)
    x = x if type(x) is Traced else x.current()
    capture: Any = x.traced_by
    if x.dtype.kind != "f":
        if x.dtype.name == "uint64":
            return int(x)
        return made(capture, constant_astype(x, dtype=INT), TRUTH if x.dtype.kind == "b" else WORD, ())
    size = abs(float(x.value))
    if not size < EXACT:
        return int(x)  # too large, infinite or not a number
    limit = USUAL if size < USUAL else EXACT
    if capture.decided(UFUNCS[np.less](absolute(x), float(limit))):
        return made(capture, constant_astype(x, dtype=INT), (-limit, limit), ())
    return int(x)


def to_bool(x: Any) -> Any:
    """`bool(x)`."""
    x = x if type(x) is Traced else x.current()
    asked = x if x.dtype.kind == "b" else UFUNCS[np.not_equal](x, x.dtype.type(0))
    return made(x.traced_by, asked, TRUTH, ())


def _mathematical(function: Any, ufunc: Any) -> Callable[..., Any]:
    """A function of `math`: of NumPy, where that is a finite number, so that `math` does not raise."""

    @functools.wraps(function, updated=())
    def call(*args: Any) -> Any:
        handles = [a for a in args if isinstance(a, Traced)]
        if not handles or len(args) != ufunc.nin or not all(map(_is_number, handles)):
            return (version_of(function) or function)(*args)  # derivatives and batches have a version of their own
        capture: Any = handles[0].traced_by
        if any([a.traced_by is not capture for a in handles]):
            return function(*args)
        try:
            wanted = function(*[a.value if isinstance(a, Traced) else a for a in args])
        except Exception:
            return function(*args)
        if not math.isfinite(wanted):
            return function(*args)
        found = UFUNCS[ufunc](*[to_numpy_float(a) if isinstance(a, Traced) else float(a) for a in args])
        if not capture.decided(UFUNCS[np.isfinite](found)):
            return function(*args)
        return to_float(found)

    return call


def _whole(function: Any, ufunc: Any) -> Callable[..., Any]:
    """`math.floor` and the like, which give integers."""

    def version(x: Any) -> Any:
        return to_int(x if isinstance(x, Count) or x.dtype.kind != "f" else UFUNCS[ufunc](to_numpy_float(x)))

    return _one(function, version)


def _question(function: Any, ufunc: Any) -> Callable[..., Any]:
    """`math.isnan` and the like."""
    version = version_of(function) or function
    return _one(function, lambda x: made(x.traced_by, UFUNCS[ufunc](to_numpy_float(x)), TRUTH, ()), version)


def type_of(*args: Any, **kwargs: Any) -> Any:
    """`type(x)`: of the number or array, not of its handle."""
    if len(args) == 1 and not kwargs and isinstance(args[0], Traced):
        return type(args[0].value) if isinstance(args[0], Number) else kind_of(args[0])
    return type(*args, **kwargs)


def range_of_loop(*args: Any) -> Any:
    """`range(...)`: one that a `for` goes over is known to who looks for loops."""
    items = range(*args)
    capture = capture_under_way()
    if capture is None or capture.loops is None:
        return items
    frame = sys._getframe(1)
    place = loop_over_call(frame)
    return items if place is None else capture.loops.iterated(frame, place, items)


def _enter(function: Any, version: Callable[..., Any]) -> None:
    VERSIONS.setdefault(function.__name__, []).append((function, version))


_enter(type, type_of)
_enter(range, range_of_loop)
for _named in (hasattr, PASSING["hasattr"][0][1]):
    _enter(_named, has_attribute)
for _type, _to_type in {float: to_float, complex: to_complex}.items():
    _passing = PASSING[_type.__name__][0][1]  # for derivatives and batches
    for _named in (_type, _passing):
        _enter(_named, _one(_type, _to_type, _passing))
_enter(int, _one(int, to_int))
_enter(bool, _one(bool, to_bool))
for _kind in (np.float64, np.float32, np.complex128):
    _enter(_kind, _one(converting(_kind), _numpys(np.dtype(_kind))))
for _primitive in CATALOGUE.values():
    if _primitive.facts.usual_name:  # a function of `math`
        _version = _mathematical if _primitive.is_smooth else _question
        _enter(_primitive.facts.scalar, _version(_primitive.facts.scalar, _primitive.facts.ufunc))
_enter(math.floor, _whole(math.floor, np.floor))
_enter(math.ceil, _whole(math.ceil, np.ceil))
_enter(math.trunc, _whole(math.trunc, np.trunc))
