"""NumPy's two protocols: how plain `np.sin(x)` and `np.sum(x)` reach the library."""

from __future__ import annotations

import functools
import sys
from _thread import get_ident
from types import FrameType
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.primitive import Primitive
from ...core.quick.operators import beside_array
from ...core.reverse import ReverseTrace
from ...core.trace import NO_PARAMS
from ...core.traced import ARRAY, CONSTANTS, Traced, is_kept, released, snapshot
from ...core.tree import flatten
from ...core.values import dtype_of, is_python
from ...host.frames.callsite import is_users
from ...host.frames.stores import CLAIMS
from ...ops.declare import UFUNCS
from ...ops.shape import astype
from ..numbers.python_numbers import made_by_numpy, marked_as_numpys
from .agreement import (
    CALLS,
    asked,
    holds_no_reals,
    instead,
    is_asked,
    is_asked_of_ufunc,
    is_exact_reduction,
    is_numpys_own,
)
from .arguments import number, result_dtype
from .assignment import deliver
from .dispatchers import WITH_LISTS, joined_arguments
from .foreign import refuse_subclasses, taken
from .lookup import implementation_of, primitive_of
from .opaque_calls import as_constant, as_one_step, dispatched
from .registry import FUNCTIONS, behaviour_of

SEQUENCES = frozenset((list, tuple))


def array_ufunc(self: Traced, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """A universal function was called with a traced argument."""
    trace: Any = self.traced_by
    if type(trace) is ReverseTrace and type(self) is Traced and method == "__call__" and not kwargs:
        primitive = UFUNCS.get(ufunc)
        if primitive is not None and primitive.is_smooth:
            if len(inputs) == 1:
                return recorded(trace, primitive, self)
            if len(inputs) == 2 and type(inputs[0]) is ARRAY and inputs[1] is self:
                return beside_array(trace, primitive, inputs, self, inputs[0])  # type: ignore[arg-type]
    if not trace.level and trace is not CONSTANTS:
        return _without_kept(getattr(ufunc, method), inputs, kwargs)
    if (kwargs or method == "at") and trace.level:
        found = _in_place(ufunc, method, inputs, kwargs, sys._getframe(1))
        if found is not NotImplemented:
            return found
    if trace.is_capture or method != "__call__":
        refuse_subclasses(map(type, inputs), self)
    if trace.is_capture and method != "at" and is_users(sys._getframe(1)):
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        ours = functools.partial(_universal, self, ufunc, method)
        return dispatched(_name(function), function, ours, inputs, kwargs)
    if method == "at" or (method == "__call__" and not kwargs):
        return _universal(self, ufunc, method, *inputs, **kwargs)
    return _with_keywords(self, ufunc, method, inputs, kwargs)


def _with_keywords(self: Traced, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call with keywords, or of a method: NumPy is asked about it, and does it itself for integers in a batch."""
    function = ufunc if method == "__call__" else getattr(ufunc, method)
    is_free = self.traced_by.lead and not is_exact_reduction(ufunc, kwargs) and holds_no_reals(inputs, kwargs)
    if is_free and is_users(sys._getframe(2)):
        return as_constant(_name(function), function, inputs, kwargs)
    try:
        if is_asked_of_ufunc(ufunc, method, inputs, kwargs) and is_users(sys._getframe(2)):
            return asked(function, functools.partial(_universal, self, ufunc, method), inputs, kwargs)
        return _universal(self, ufunc, method, *inputs, **kwargs)
    except Exception as error:
        return instead(function, inputs, kwargs, error)


def _in_place(ufunc: Any, method: str, inputs: Any, kwargs: Any, frame: FrameType) -> Any:
    """The result where a frame updates a plain array that can become a handle; `NotImplemented` elsewhere."""
    is_at = method == "at"
    if is_at or method == "__call__":
        out = inputs if is_at else kwargs.get("out") or (None,)
        if type(out[0]) is ARRAY:
            handle = CLAIMS.updated_at(inputs, frame) if is_at else CLAIMS.updated(out, frame)
            if handle is not None and is_at:
                return ufunc.at(handle, *inputs[1:])
            if handle is not None:
                return ufunc(*[handle if x is out[0] else x for x in inputs], **{**kwargs, "out": (handle,)})
    return NotImplemented


def is_of_python(ufunc: Any) -> bool:
    """Whether a universal function calls one of Python's for each element, as `np.frompyfunc` makes them."""
    return bool(ufunc.types == ["O" * ufunc.nin + "->" + "O" * ufunc.nout])


def recorded(trace: ReverseTrace, primitive: Primitive, x: Traced) -> Traced:
    """The most frequent case: a smooth function of one argument in the reverse trace."""
    found = trace.unary(primitive, x)
    kind = type(found.value)
    if kind is float and not primitive.is_operator:
        trace.has_numpys = True
    elif kind is not ARRAY:
        made_by_numpy(found)
    return found


def _universal(self: Traced, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    primitive = UFUNCS.get(ufunc)
    if primitive is None:
        primitive = primitive_of(ufunc)
        if primitive is None:
            if method == "__call__" and not kwargs and is_of_python(ufunc) and not self.traced_by.is_capture:
                from .ufuncs import by_python

                return by_python(ufunc, inputs)
            return _plainly(getattr(ufunc, method), inputs, kwargs)
    if self.traced_by.is_capture and all([is_python(x) for x in inputs]):
        inputs = tuple([astype(x, dtype=dtype_of(x)) if isinstance(x, Traced) else x for x in inputs])
        self = next(x for x in inputs if isinstance(x, Traced))  # NumPy's functions give NumPy's numbers
    if method == "__call__" and not kwargs:
        if len(inputs) == 1:
            if primitive.is_smooth and type(self) is Traced:
                return made_by_numpy(self.traced_by.unary(primitive, self))
            return made_by_numpy(_applied(primitive, inputs))
        if type(inputs[0]) is ARRAY and inputs[1] is self and primitive.is_smooth and len(inputs) == 2:
            return self.traced_by.process(primitive, inputs, NO_PARAMS)
        return made_by_numpy(
            _applied(primitive, [np.array(x) if type(x) in SEQUENCES else x for x in taken(inputs, self)])
        )
    if type(primitive) is Primitive and primitive.derivative.is_zero and _is_plain(method, kwargs):
        from .ufuncs import constantly

        function = ufunc if method == "__call__" else getattr(ufunc, method)
        return constantly(function, primitive.name, inputs, kwargs)
    if method == "__call__":
        from .ufuncs import call_with_keywords

        return call_with_keywords(primitive, ufunc, taken(inputs, self), kwargs)
    from .ufunc_methods import METHODS

    return METHODS[method](primitive, ufunc, inputs, kwargs)


def _applied(primitive: Any, inputs: Any) -> Any:
    """What a universal function gives: NumPy's number, also where a composition finds Python's or a 0-d array."""
    found = primitive(*inputs)
    if type(primitive) is Primitive:
        return found
    return np.result_type(result_dtype(*inputs), np.float32).type(found) if type(found) is float else number(found)


def _is_plain(method: str, kwargs: dict[str, Any]) -> bool:
    """Whether a call with keywords, or of a method, writes nowhere and has no traced keyword."""
    is_rare = method != "__call__" or kwargs.get("dtype") is not None
    return is_rare and method != "at" and kwargs.get("out") is None and not isinstance(kwargs.get("where"), Traced)


def array_function(self: Traced, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """A NumPy function was called with a traced argument."""
    if WITH_LISTS and get_ident() in WITH_LISTS:
        args, kwargs = joined_arguments(function, args, kwargs)
    trace: Any = self.traced_by
    if not trace.level and trace is not CONSTANTS:
        return _without_kept(function, args, kwargs)
    if len(types) > 1:
        refuse_subclasses(types, self)
    implementation = FUNCTIONS.get(function) or implementation_of(function)
    if implementation is None:
        return _plainly(function, args, kwargs)
    if trace.is_capture and is_users(sys._getframe(1)):
        return dispatched(_name(function), function, implementation, args, kwargs)
    if trace.lead and not is_numpys_own(function) and holds_no_reals(args, kwargs) and is_users(sys._getframe(1)):
        return as_constant(_name(function), function, args, kwargs)
    try:
        if (kwargs or len(args) > 2) and is_asked(function, args, kwargs) and is_users(sys._getframe(1)):
            return asked(function, implementation, args, kwargs)
        found = implementation(*args, **kwargs) if kwargs else implementation(*args)
        if found is self or type(self.value) is ARRAY or behaviour_of(function).keeps_python:
            return found
        return marked_as_numpys(found)
    except Exception as error:
        return instead(function, args, kwargs, error)


def _without_kept(function: Any, args: Any, kwargs: Any) -> Any:
    """Call a function again on the values of handles that were kept from traces that have ended."""
    out = kwargs.pop("out", None)
    leaves, rebuild = flatten((args, kwargs))
    plain_args, plain_kwargs = rebuild([released(x) if isinstance(x, Traced) and is_kept(x) else x for x in leaves])
    found = function(*plain_args, **plain_kwargs)
    return deliver(found, out)


def _plainly(function: Any, args: Any, kwargs: Any) -> Any:
    """Call a function without a rule if only buffers of constants are among its arguments; else refuse."""
    found = as_one_step(_name(function), function, args, kwargs)
    if found is not NotImplemented:
        return found
    leaves, rebuild = flatten((args, kwargs))
    if any(isinstance(x, Traced) and x.traced_by.level for x in leaves):
        from ..patching.replacements import answer_to  # which imports this module

        answer = answer_to(_name(function))
        if answer is not None and answer.kind == "refused":
            raise UnsupportedError(message(f"{_name(function)} is not differentiated: {answer.note}.", fix=answer.fix))
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


CALLS.update({array_ufunc.__code__: "ufunc", array_function.__code__: "function"})
Traced.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]
Traced.__array_function__ = array_function  # type: ignore[attr-defined]
