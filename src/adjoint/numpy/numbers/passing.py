"""`float(x)` and `complex(x)` of traced numbers: they pass through, as they do through the functions of `math`.

Both give plain numbers and no hook, so that a derivative would end there. In functions that call them by name the calls
go to these versions (see `patching/redirecting.py`); what they give goes on as a number of Python's. Where the number
leaves for good, into compiled code for example, it is asked for its value then, and refused there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.traced import LOCAL, Traced
from ...core.values import concrete, is_python
from ...ir.surroundings.calls import VERSIONS, Versions, version_of
from ...ops.shape import astype, item
from ..patching.constructors import Maker
from .python_numbers import made_by_python


def _passing(kind: Any) -> Callable[..., Any]:
    """A number type of Python's: to be called, not to be looked at."""

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


PASSING: Versions = {kind.__name__: [(kind, Maker(kind, _passing(kind)))] for kind in (float, complex)}
"""By name: the type, and what is called instead."""
