"""NumPy's two protocols: how plain `np.sin(x)` and `np.sum(x)` reach the library."""

from __future__ import annotations

import functools
import sys
from _thread import get_ident
from typing import Any

import numpy as np

from ..core.callsite import is_users
from ..core.errors import UnsupportedError, message
from ..core.primitive import Primitive
from ..core.reverse import ReverseTrace
from ..core.traced import CONSTANTS, Traced, is_kept, released, snapshot
from ..core.tree import flatten
from ..core.values import dtype_of, is_python
from ..ops.declare import UFUNCS
from ..ops.shape import astype
from .agreement import asked, instead, is_asked, is_asked_of_ufunc
from .dispatchers import WITH_LISTS, joined_arguments
from .foreign import taken
from .hosting import dispatched, hosted
from .python_numbers import made_by_numpy, numpys
from .registry import FUNCTIONS, deliver
from .topics import implementation_of, primitive_of
from .ufuncs import METHODS, call_with_keywords, constantly

SEQUENCES = frozenset((list, tuple))


def array_ufunc(self: Traced, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """A universal function was called with a traced argument."""
    walk: Any = self.walk
    if type(walk) is ReverseTrace and type(self) is Traced and len(inputs) == 1 and method == "__call__" and not kwargs:
        primitive = UFUNCS.get(ufunc)
        if primitive is not None and primitive.is_smooth:
            return recorded(walk, primitive, self)
    if not walk.level and walk is not CONSTANTS:
        return _without_kept(getattr(ufunc, method), inputs, kwargs)
    if walk.is_capture and method != "at" and is_users(sys._getframe(1)):
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        ours = functools.partial(_universal, self, ufunc, method)
        return dispatched(_name(function), function, ours, inputs, kwargs)
    if method == "at" or (method == "__call__" and not kwargs):
        return _universal(self, ufunc, method, *inputs, **kwargs)
    function = ufunc if method == "__call__" else getattr(ufunc, method)
    try:
        if is_asked_of_ufunc(ufunc, method, inputs, kwargs) and is_users(sys._getframe(1)):
            return asked(function, functools.partial(_universal, self, ufunc, method), inputs, kwargs)
        return _universal(self, ufunc, method, *inputs, **kwargs)
    except Exception as error:
        return instead(function, inputs, kwargs, error)


def recorded(walk: ReverseTrace, primitive: Primitive, x: Traced) -> Traced:
    """The most frequent case: a smooth function of one argument in the reverse walk."""
    found = walk.unary(primitive, x)
    kind = type(found.value)
    if kind is float and not primitive.is_operator:
        walk.has_numpys = True
    elif kind is not np.ndarray:
        made_by_numpy(found)
    return found


def _universal(self: Traced, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    primitive = UFUNCS.get(ufunc)
    if primitive is None:
        primitive = primitive_of(ufunc)
        if primitive is None:
            return _plainly(getattr(ufunc, method), inputs, kwargs)
    if self.walk.is_capture and all([is_python(x) for x in inputs]):
        inputs = tuple([astype(x, dtype=dtype_of(x)) if isinstance(x, Traced) else x for x in inputs])
        self = next(x for x in inputs if isinstance(x, Traced))  # NumPy's functions give NumPy's numbers
    if method == "__call__" and not kwargs:
        if len(inputs) == 1:
            if primitive.is_smooth and type(self) is Traced:
                return made_by_numpy(self.walk.unary(primitive, self))
            return made_by_numpy(primitive(self))
        if type(inputs[0]) is np.ndarray and inputs[1] is self and primitive.is_smooth and len(inputs) == 2:
            return self.walk.process(primitive, inputs, {})
        return made_by_numpy(primitive(*[np.array(x) if type(x) in SEQUENCES else x for x in taken(inputs, self)]))
    if type(primitive) is Primitive and primitive.derivative.is_zero and _is_plain(method, kwargs):
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        return constantly(function, primitive.name, inputs, kwargs)
    if method == "__call__":
        return call_with_keywords(primitive, ufunc, taken(inputs, self), kwargs)
    return METHODS[method](primitive, ufunc, inputs, kwargs)


def _is_plain(method: str, kwargs: dict[str, Any]) -> bool:
    """Whether a call with keywords, or of a method, writes nowhere and has no traced keyword."""
    is_rare = method != "__call__" or kwargs.get("dtype") is not None
    return is_rare and method != "at" and kwargs.get("out") is None and not isinstance(kwargs.get("where"), Traced)


OF_ATTRIBUTES = (np.real, np.imag)
"""Functions that read an attribute, so that they give Python's numbers for Python's numbers."""


def array_function(self: Traced, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """A NumPy function was called with a traced argument."""
    if WITH_LISTS and get_ident() in WITH_LISTS:
        args, kwargs = joined_arguments(function, args, kwargs)
    walk: Any = self.walk
    if not walk.level and walk is not CONSTANTS:
        return _without_kept(function, args, kwargs)
    implementation = FUNCTIONS.get(function) or implementation_of(function)
    if implementation is None:
        return _plainly(function, args, kwargs)
    if walk.is_capture and is_users(sys._getframe(1)):
        return dispatched(_name(function), function, implementation, args, kwargs)
    try:
        if (kwargs or len(args) > 2) and is_asked(function, args, kwargs) and is_users(sys._getframe(1)):
            return asked(function, implementation, args, kwargs)
        found = implementation(*args, **kwargs) if kwargs else implementation(*args)
        return found if type(self.value) is np.ndarray or function in OF_ATTRIBUTES else numpys(found)
    except Exception as error:
        return instead(function, args, kwargs, error)


def _without_kept(function: Any, args: Any, kwargs: Any) -> Any:
    """Call a function again on the values of handles that were kept from walks that have ended."""
    out = kwargs.pop("out", None)
    leaves, rebuild = flatten((args, kwargs))
    plain_args, plain_kwargs = rebuild([released(x) if isinstance(x, Traced) and is_kept(x) else x for x in leaves])
    found = function(*plain_args, **plain_kwargs)
    return deliver(found, out)


def _plainly(function: Any, args: Any, kwargs: Any) -> Any:
    """Call a function without a rule if only buffers of constants are among its arguments; else refuse."""
    found = hosted(_name(function), function, args, kwargs)
    if found is not NotImplemented:
        return found
    leaves, rebuild = flatten((args, kwargs))
    if any(isinstance(x, Traced) and x.walk.level for x in leaves):
        raise UnsupportedError(
            message(
                f"{_name(function)} has no derivative rule.",
                fix="If no derivative is wanted, pass  ad.stop_gradient(x)  to it; "
                "if it is, give the rule with  ad.custom_rule.",
            )
        )
    plain_args, plain_kwargs = rebuild([snapshot(x) for x in leaves])
    return function(*plain_args, **plain_kwargs)


def _name(function: Any) -> str:
    owner = getattr(function, "__self__", None)
    function = owner if isinstance(owner, np.ufunc) else function
    name = getattr(function, "__name__", None) or str(function)
    module = getattr(function, "__module__", None) or _home(function, name)
    return f"{'np' + module[5:] if module.startswith('numpy') else module}.{name}" if module else name


def _home(ufunc: Any, name: str) -> str:
    """Where a universal function comes from, which it does not say itself; nowhere, for one of the user's own."""
    for module in ("numpy", "scipy.special"):
        if getattr(sys.modules.get(module), name, None) is ufunc:
            return module
    return ""


Traced.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]
Traced.__array_function__ = array_function  # type: ignore[attr-defined]
