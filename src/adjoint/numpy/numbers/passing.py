"""`float(x)` and `complex(x)` of traced numbers: they pass through, as they do through the functions of `math`.

Both give plain numbers and no hook, so that a derivative would end there. In functions that call them by name the calls
go to these versions (see `patching/redirecting.py`); what they give goes on as a Python number. Where the number
leaves for good, into compiled code for example, it is asked for its value then, and refused there. So do the methods of
plain arrays that would convert a traced argument, `a.dot(x)`: NumPy's functions of the same names give a hook.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...capture.environment.redirect_calls import VERSIONS, Versions, version_of
from ...core.traced import LOCAL, Traced, kind_of
from ...core.values import concrete, is_python
from ...host.frames.callsite import passes_on
from ...ops.shape import astype, item
from ..dispatch.arguments import holds_traced
from ..patching.constructors import Maker
from .python_numbers import made_by_python


def _passing(kind: Any) -> Callable[..., Any]:
    """A Python number type: to be called, not to be looked at."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not LOCAL.depth or len(args) != 1 or kwargs or not isinstance(args[0], Traced):
            return kind(*args, **kwargs)
        x: Any = args[0]
        trace: Any = x.traced_by
        if not trace.level or (x.dtype.kind == "c" and kind is float):
            return kind(x)
        if trace.is_capture:
            version = version_of(kind.__name__, kind, VERSIONS) if trace.guards_allowed and not x.shape else None
            return (version or kind)(x)
        if x.shape:
            kind(np.zeros(x.shape))  # raises or warns, as NumPy does
            x = np.reshape(x, ())
        return _number(x, kind)

    return call


def _number(x: Any, kind: type) -> Any:
    """A traced number as one of Python's; a new one, if it was NumPy's."""
    dtype = np.dtype(kind)
    x = x if x.dtype == dtype else astype(x, dtype=dtype)
    if type(concrete(x)) is kind and is_python(x):
        return x
    found = item(x)
    made_by_python(found)
    return found


def _method(name: str) -> Callable[..., Any]:
    """A method of arrays, called with the object in front: of a plain array and traced values, it is the function."""
    function = getattr(np, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        if LOCAL.depth and type(args[0]) is np.ndarray and holds_traced((*args[1:], *kwargs.values())):
            return function(*args, **kwargs)
        return getattr(args[0], name)(*args[1:], **kwargs)

    passes_on(call.__code__)
    return call


def has_attribute(*args: Any) -> bool:
    """`hasattr(x, name)`: a number has no length, although its handle does."""
    if LOCAL.depth and len(args) == 2 and isinstance(args[0], Traced) and args[0].traced_by.level:
        return hasattr(kind_of(args[0]), args[1])
    return hasattr(*args)


OF_ARRAYS = frozenset(("__len__", "__iter__", "__getitem__", "shape", "ndim", "size", "dtype", "tolist", "astype"))
"""What arrays have, and numbers of Python and NumPy do not: only code that mentions one of these is changed."""
METHODS = ("dot", "searchsorted", "choose", "clip")
PASSING: Versions = {
    **{kind.__name__: [(kind, Maker(kind, _passing(kind)))] for kind in (float, complex)},
    "hasattr": [(hasattr, Maker(hasattr, has_attribute))],
    **{f".{name}": [(getattr(np.ndarray, name), _method(name))] for name in METHODS},
}
"""By name: the type, and what is called instead."""
