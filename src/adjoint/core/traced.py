"""`Traced`, the handle a user's function sees instead of its array."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .trace import Trace

    Array = Any  # for type checkers a handle is whatever it stands for: NumPy's stubs do not know it, and should not
else:
    Array = object

FLOAT64 = np.dtype(np.float64)
PYTHON = {float: FLOAT64, complex: np.dtype(np.complex128), int: np.dtype(int), bool: np.dtype(bool)}
"""Python's numbers stay what they are; these are the dtypes they stand for."""


class Local(threading.local):
    """What a thread is doing."""

    depth = 0
    """How many functions are being traced in it, one inside the other."""
    seeks_nans = False
    """Whether it looks for nans, and does not do so already."""


LOCAL = Local()


class Traced(Array):
    """A value inside a walk: `value` is what the next walk out sees, `node` is what this walk keeps with it.

    For the reverse walk `node` is the place in its trace, for the forward walk the tangent, for the batch walk
    nothing. A handle is mutable, as arrays are: `y[i] = v` gives it a new value and node. Whatever has been
    recorded keeps values and nodes, never handles, so that updates after use are seen by nobody else.

    Operators, methods and NumPy's protocols are attached in `adjoint.numpy`.
    """

    __slots__ = ("__weakref__", "node", "value", "walk")
    __class__ = property(lambda self: _seen_as(self))  # type: ignore[assignment]
    """What `isinstance` takes it for, so that code written for arrays and numbers goes its usual way."""

    def __init__(self, value: Any, walk: Trace, node: Any) -> None:
        self.value = value
        self.walk = walk
        self.node = node

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape the user sees: of one example, inside vmap."""
        value = self.value
        return () if type(value) in PYTHON else value.shape[self.walk.lead :]

    @property
    def dtype(self) -> Any:
        """The dtype of the value."""
        value = self.value
        return PYTHON.get(type(value)) or value.dtype

    def become(self, other: Any) -> None:
        """Let this handle stand for another value: the one way in which anything is updated in place."""
        if isinstance(other, Traced):
            self.value, self.walk, self.node = other.value, other.walk, other.node
        else:
            self.value, self.walk, self.node = other, CONSTANTS, None


def plain(x: Any) -> Any:
    """The plain number or array under every walk, for questions of memory, shape and print, never for decisions."""
    while isinstance(x, Traced):
        x = x.value
    return x


def is_python(x: Any) -> bool:
    """Whether the value is a number of Python's, not of NumPy's, under every walk.

    In a reverse walk NumPy's numbers are Python floats too, which are quicker, so it is asked where they come from.
    """
    if type(plain(x)) not in PYTHON:
        return False
    while isinstance(x, Traced):
        walk: Any = x.walk
        if walk.level and hasattr(walk, "is_python_at"):
            return walk.is_python_at(x.node)
        x = x.value
    return True


def _seen_as(x: Any) -> type:
    """`kind_of`, the short way for the usual array: NumPy asks often."""
    return np.ndarray if type(x.value) is np.ndarray and not x.walk.lead else kind_of(x)


def kind_of(x: Any) -> type:
    """The type of what the user would have without a walk: of an array, or of one of Python's or NumPy's numbers."""
    whole = plain(x)
    kind = type(whole)
    if kind in PYTHON:
        return kind if is_python(x) else PYTHON[kind].type
    if isinstance(whole, np.ndarray):
        return whole.dtype.type if x.shape == () and whole.ndim else np.ndarray  # inside vmap: of one example
    return kind


def settled(x: Any) -> Any:
    """The value without handles that stand for nothing more: buffers, and those of walks that have ended."""
    while isinstance(x, Traced) and not x.walk.level:
        x = x.value
    return x


def snapshot(x: Any) -> Any:
    """The value as it is now: a later assignment to the handle, or to the plain array, does not reach it."""
    x = settled(x)
    return Traced(x.value, x.walk, x.node) if isinstance(x, Traced) else x


class Constants:
    """The walk that does nothing: its handles are arrays that the user made, waiting for an assignment."""

    __slots__ = ()
    level = 0
    lead = 0
    is_capture = False

    def process(self, primitive: Any, args: Any, params: Any) -> Any:
        """Evaluate without the handles; a new array is the user's to write to, as those it was made of."""
        return primitive(*args, **params)

    def unary(self, primitive: Any, x: Traced) -> Any:
        """`process`, under the name the operators use."""
        return self.process(primitive, (x,), {})


CONSTANTS: Any = Constants()


def owned(x: Any) -> Any:
    """An array of the user's own, which may be assigned to: a handle, if it is a plain array of real numbers."""
    if type(x) is np.ndarray and x.dtype.kind in "fc":
        return Traced(x, CONSTANTS, None)
    return x


class Ended(Constants):
    """What a walk becomes when it has ended, so that a handle somebody has kept is no more than its value.

    Each walk has a subclass of its own and of this one, and `end` makes it the walk's class: nothing that a walk under
    way does has to ask whether it has ended.
    """

    __slots__ = ()

    def end(self) -> None:
        """It has ended already."""


OWN: Any = object()
"""The node of a handle that was kept from a walk, and whose array is its own by now: see `released`."""


def is_kept(x: Any) -> bool:
    """Whether a handle has been kept from a walk that has ended, so that the value under it should be used instead."""
    walk = x.walk
    return not walk.level and walk is not CONSTANTS


def released(x: Any) -> Any:
    """What a handle stands for that was kept from a walk that has ended: its value, or a handle of a walk further out.

    An array becomes the handle's own, with the first use: a pullback may still rely on the one that was recorded.
    """
    if type(x) is not Traced:
        return x.release()
    if x.node is not OWN:
        value = snapshot(x)
        x.value, x.node = value.copy() if type(value) is np.ndarray else value, OWN
    return settled(x)
