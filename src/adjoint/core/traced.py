"""`Traced`, the handle a user's function sees instead of its array."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from .trace import Trace

if TYPE_CHECKING:
    from .primitive import Primitive
    from .types import Params

    Array = Any  # for type checkers a handle is whatever it stands for: NumPy's stubs do not know it, and should not
else:
    Array = object

ARRAY = np.ndarray
"""Asked for at every step. NumPy's module answers for names that it does not have, so Python looks each one up anew."""
FLOAT64 = np.dtype(np.float64)
PYTHON = {float: FLOAT64, complex: np.dtype(np.complex128), int: np.dtype(int), bool: np.dtype(bool)}
"""Python's numbers stay what they are; these are the dtypes they stand for."""


class Local(threading.local):
    """What a thread is doing."""

    depth = 0
    """How many functions are being traced in it, one inside the other."""
    seeks_nans = False
    """Whether it looks for nans, and does not do so already."""
    updates: list[tuple[Any, Any]] | None = None
    """Handles that have been updated in place, each with the trace it had before, while somebody wants to know."""
    forced = 0
    """How many more decisions may be taken after one that was forced to come out as its values do not say.

    For such values a loop might not end.
    """
    around: Callable[[Any, Any, dict[str, Any]], Any] | None = None
    """Who calls functions of the user's that are traced inside a recording."""
    lifted: Callable[[Any], Any] | None = None
    """What makes handles of new arrays, while somebody wants to see what is computed of them."""


LOCAL = Local()


class Traced(Array):
    """A value that is traced: `value` is what the next trace out sees, `node` what the trace keeps with it.

    For a reverse trace `node` is a place, for a forward trace the tangent, for a batch nothing. A handle is mutable, as
    arrays are: `y[i] = v` gives it a new value and node. Whatever has been recorded keeps values and nodes, never
    handles, so that updates after use are seen by nobody else.

    Operators, methods and NumPy's protocols are attached in `adjoint.numpy`.
    """

    __slots__ = ("__weakref__", "node", "traced_by", "value")
    __class__ = property(lambda self: _seen_as(self))  # type: ignore[assignment]
    """What `isinstance` takes it for, so that code written for arrays and numbers goes its usual way."""

    def __init__(self, value: Any, trace: Trace, node: Any) -> None:
        self.value = value
        self.traced_by = trace
        self.node = node

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape the user sees: of one example, inside vmap."""
        value = self.value
        return () if type(value) in PYTHON else value.shape[self.traced_by.lead :]

    @property
    def dtype(self) -> Any:
        """The dtype of the value."""
        value = self.value
        return PYTHON.get(type(value)) or value.dtype

    def become(self, other: object) -> None:
        """Let this handle stand for another value: the one way in which anything is updated in place."""
        if LOCAL.updates is not None:
            LOCAL.updates.append((self, self.traced_by))
        if isinstance(other, Traced):
            self.value, self.traced_by, self.node = other.value, other.traced_by, other.node
        else:
            self.value, self.traced_by, self.node = other, CONSTANTS, None


def concrete(x: object) -> Any:
    """The plain number or array under every trace, for questions of type, shape and memory.

    What it holds may not have been computed yet, while a program is captured.
    """
    while isinstance(x, Traced):
        x = x.value
    return x


def contents(x: object) -> Any:
    """The plain number or array under every trace as it is, for print and for examples, never for decisions."""
    while isinstance(x, Traced):
        x = x.traced_by.computed(x.node, x.value) if x.traced_by.is_capture else x.value  # type: ignore[attr-defined]
    return x


def is_python(x: object) -> bool:
    """Whether the value is a number of Python's, not of NumPy's, under every trace.

    In a reverse trace NumPy's numbers are Python floats too, which are quicker, so it is asked where they come from.
    """
    if type(concrete(x)) not in PYTHON:
        return False
    while isinstance(x, Traced):
        known = x.traced_by.is_python_at(x.node)
        if known is not None:
            return known
        x = x.value
    return True


def _seen_as(x: Traced) -> type:
    """`kind_of`, the short way for the usual array: NumPy asks often."""
    return ARRAY if type(x.value) is ARRAY and not x.traced_by.lead else kind_of(x)


def kind_of(x: Traced) -> type:
    """The type of what the user would have without a trace: of an array, or of one of Python's or NumPy's numbers."""
    whole = concrete(x)
    kind = type(whole)
    if kind in PYTHON:
        return kind if is_python(x) else PYTHON[kind].type
    if isinstance(whole, np.ndarray):
        return np.ndarray if is_array(x) else whole.dtype.type
    return kind


AXISLESS: Any = "without axes"
"""The node of a batch's handle whose examples, if they have no axes, are arrays and not numbers."""


def is_array(x: Traced) -> bool:
    """Whether NumPy would have an array here, inside vmap for one example: an array is updated, a number rebound.

    An array without axes is not a number: it can be written to, and whoever else holds it sees that.
    """
    whole = concrete(x)
    if not isinstance(whole, np.ndarray):
        return False
    if not whole.ndim or x.shape:
        return True
    while not x.traced_by.lead:
        x = x.value
    return x.node is AXISLESS


def settled(x: object) -> Any:
    """The value without handles that stand for nothing more: buffers, and those of traces that have ended."""
    while isinstance(x, Traced) and not x.traced_by.level:
        x = x.value
    return x


def snapshot(x: object) -> Any:
    """The value as it is now: a later assignment to the handle, or to the plain array, does not reach it."""
    x = settled(x)
    return Traced(x.value, x.traced_by, x.node) if isinstance(x, Traced) else x


class Constants(Trace):
    """The trace that does nothing: its handles are arrays that the user made, waiting for an assignment."""

    __slots__ = ()
    level = 0

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        """Evaluate without the handles; a new array is the user's to write to, as those it was made of."""
        return primitive(*args, **params)

    def end(self) -> None:
        """It has nothing to end."""


CONSTANTS = Constants()


def as_buffer(x: object) -> Any:
    """An array of the user's own, which may be assigned to: a handle, if it is a plain array of real numbers."""
    if type(x) is not ARRAY:
        return x
    if LOCAL.lifted is not None:
        return LOCAL.lifted(x)
    return Traced(x, CONSTANTS, None) if x.dtype.kind in "fc" else x


class Ended(Constants):
    """What a trace becomes when it has ended, so that a handle somebody has kept is no more than its value.

    Each trace has a subclass of its own and of this one, and `end` makes it the trace's class: nothing that a trace
    under way does has to ask whether it has ended.
    """

    __slots__ = ()
    lead = 0
    is_capture = False

    def unary(self, primitive: Primitive, x: Traced) -> Any:
        """`process`, whatever the short way of the trace was."""
        return self.process(primitive, (x,), {})

    def is_python_at(self, node: Any) -> None:
        """What was recorded is gone: the value tells."""


OWN: Any = object()
"""The node of a handle that was kept from a trace, and whose array is its own by now: see `released`."""


def is_kept(x: Traced) -> bool:
    """Whether a handle has been kept from a trace that has ended, so that the value under it should be used instead."""
    trace = x.traced_by
    return not trace.level and trace is not CONSTANTS


def released(x: Traced) -> Any:
    """What a handle stands for that was kept from a trace that has ended: its value, or a handle further out.

    An array becomes the handle's own, with the first use: a pullback may still rely on the one that was recorded.
    """
    if type(x) is not Traced:
        return x.release()
    if x.node is not OWN:
        value = snapshot(x)
        x.value, x.node = value.copy() if type(value) is ARRAY else value, OWN
    return settled(x)


def peel(trace: Trace, x: object) -> Any:
    """The argument as the next trace out should see it."""
    if isinstance(x, Traced):
        return x.value if x.traced_by is trace else snapshot(x)
    return x


def is_differentiated(x: object) -> bool:
    """Whether a value belongs to a derivative further out (a batch or a capture alone does not count)."""
    while isinstance(x, Traced):
        trace = x.traced_by
        if trace.level and not trace.lead and not trace.is_capture:
            return True
        x = x.value
    return False


def is_of(x: object, trace: Trace) -> TypeGuard[Traced]:
    """Whether a value is a handle of the trace."""
    return isinstance(x, Traced) and x.traced_by is trace
