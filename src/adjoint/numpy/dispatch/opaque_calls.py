"""While a program is captured: which calls of NumPy's functions become one step, that NumPy takes at every run.

- Functions without a rule.
- A few that have one: their results at special values (nan, infinities, a rank that is not full) follow from the order
  of work inside NumPy, or their errors from its checks.
- Calls for which our version gives another dtype or kind of number than NumPy: it is written for what can be
  differentiated, and a program may also work on integers, truth values and unusual precisions.

A derivative looks inside all the same: it is taken before the capture sees anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import BatchError, ImpureError, UnsupportedError, message
from ...core.primitive import Primitive
from ...core.traced import Traced, snapshot
from ...core.tree import flatten
from ...core.values import concrete, contents, dtype_of
from ...ir.assumptions import Assumed
from ...ir.bits import same_bits
from ...ir.capture import CaptureTrace, ForeignValueError, NoStepError
from ...ops.declare import UFUNCS, Composition
from ...rules.constant import Constant
from ...rules.opaque import Opaque
from ...rules.stacking import one_by_one
from .registry import behaviour_of

NUMBERS = (np.ndarray, np.generic, bool, int, float, complex)


def _refuse(*facts: Any) -> Any:
    raise UnsupportedError(
        message(
            "A function without a derivative rule is in the way.",
            fix="If no derivative is wanted, pass  ad.stop_gradient(x)  to it; "
            "if it is, give the rule with  ad.custom_rule.",
        )
    )


UNKNOWN = Opaque(_refuse)


class OpaqueCall(Primitive):
    """The step of one call of a function: arrays come in anew at each run, everything else is as it was."""

    __slots__ = ("call",)

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        super().__init__(name, call, derivative=UNKNOWN, stacking=one_by_one, multiple=True, fails_from=0)
        self.call = call

    def __call__(self, *args: Any, **params: Any) -> Any:
        """A derivative or a batch that comes by later does what it would have done with the function itself."""
        if any(isinstance(a, Traced) and not a.traced_by.is_capture for a in args):
            return self.call(*args)
        return super().__call__(*args, **params)


def dispatched(name: str, function: Any, ours: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What our version of a function gives where the user calls it; in a captured program, a whole step if need be."""
    leaves, rebuild = flatten((args, kwargs))
    capture, behaviour = capture_of(leaves), behaviour_of(function)
    if capture is None or not capture.guards_allowed or behaviour.formal:
        return ours(*args, **kwargs)
    if behaviour.in_place or kwargs.get("out") is not None:
        return ours(*args, **kwargs)
    empty = all([0 in x.shape for x in leaves if isinstance(x, Traced)])
    if behaviour.whole or behaviour.to_file or empty or capture.conditions() is not None:
        found = as_one_step(name, function, args, kwargs)
        return _ours(capture, ours, args, kwargs) if found is NotImplemented else found
    if any(callable(x) and not isinstance(x, type) for x in leaves):
        return _ours(capture, ours, args, kwargs)
    if not (behaviour.exact or _is_numpys_step(function)) and all(
        dtype_of(x).kind not in "fc" for x in leaves if isinstance(x, Traced)
    ):
        found = as_one_step(name, function, args, kwargs)
        return _ours(capture, ours, args, kwargs) if found is NotImplemented else found
    try:
        real = _kinds_of_anything(capture, function, leaves, rebuild) or _kinds_of_real(function, leaves, rebuild)
    except Exception:
        as_one_step(name, function, args, kwargs)  # raises as well, and writes down that it does
        raise
    try:
        with np.errstate(all="ignore"):
            found = ours(*args, **kwargs)
    except (ForeignValueError, ImpureError):
        raise
    except Exception:  # NumPy takes what our version does not, and nothing but its result is wanted
        return as_one_step(name, function, args, kwargs)
    return found if _kinds(found) == real else as_one_step(name, function, args, kwargs)


def _kinds_of_real(function: Any, leaves: list[Any], rebuild: Any) -> list[Any]:
    args, kwargs = rebuild([contents(x) for x in leaves])
    return _kinds(function(*args, **kwargs))


def _kinds_of_anything(capture: CaptureTrace, function: Any, leaves: list[Any], rebuild: Any) -> list[Any] | None:
    """The kinds of NumPy's result where operands have not been computed: seldom do they depend on the numbers."""
    if not any([capture.is_waiting(x) for x in leaves]):
        return None
    args, kwargs = rebuild([concrete(x) for x in leaves])
    try:
        with np.errstate(all="ignore"):
            return _kinds(function(*args, **kwargs))
    except Exception:  # they do here
        return None


def _is_numpys_step(function: Any) -> bool:
    """Whether a universal function is a step by itself, which NumPy's own takes, or is put together as exactly."""
    step: Primitive | Composition | None = UFUNCS.get(function) if isinstance(function, np.ufunc) else None
    return step.is_exact if isinstance(step, Composition) else step is not None


def _ours(capture: Any, ours: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call our version of a function; an error that comes from no step is noted, as it may depend on values."""
    try:
        return ours(*args, **kwargs)
    except Exception as error:
        if capture.surroundings.failed != id(error):
            capture.assumptions.make(Assumed.RAISED, type(error))
        raise


def _kinds(result: Any) -> list[Any]:
    """What can be known of a result before its numbers: types, dtypes, shapes."""
    return [(type(x), getattr(x, "dtype", None), np.shape(x)) for x in map(concrete, flatten(result)[0])]


def capture_of(leaves: Sequence[Any]) -> Any:
    """The capturing trace that all traced values among these belong to directly, or None."""
    capture = None
    for x in leaves:
        if isinstance(x, Traced) and x.traced_by.level:
            if not x.traced_by.is_capture:
                return None
            capture = x.traced_by
    return capture


def as_one_step(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function on captured values as one step; `NotImplemented` if other traces have a part in it."""
    leaves, rebuild = flatten((args, kwargs))
    capture = capture_of(leaves)
    if capture is None or any(callable(x) and not isinstance(x, type) for x in leaves):
        return NotImplemented
    step = _Step(name, function, leaves, rebuild)
    try:
        found = capture.process(OpaqueCall(name, step.call), tuple(step.given), {})
    except NotNumbersError:  # text, objects: right for exactly these arguments
        again, words = step.arguments([capture.decided(v) if isinstance(v, Traced) else v for v in step.given])
        return function(*again, **words)
    return step.result(found)


def as_constant(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function that is constant in pieces on the values of traced arguments, in every trace; nothing flows."""
    step = _Step(name, function, *flatten((args, kwargs)))
    primitive = Primitive(name, step.call, derivative=Constant(), stacking=one_by_one, multiple=True, fails_from=0)
    try:
        return step.result(primitive(*step.given))
    except NotNumbersError:  # text, slices: right for exactly these arguments
        again, words = step.arguments([_plain(name, v) for v in step.given])
        return function(*again, **words)


def _plain(name: str, x: Any) -> Any:
    """The value under every trace, for a decision; a program holds for no other."""
    while isinstance(x, Traced):
        if x.traced_by.lead:
            raise BatchError(
                message(
                    f"{name} gives no numbers, so a batch of its results cannot be put together.", fix="Use a loop."
                )
            )
        x = x.traced_by.decided(x) if x.traced_by.is_capture else x.value  # type: ignore[attr-defined]
    return x


class _Step:
    """A call of a function as a function of its arrays alone: everything else is as it was."""

    def __init__(self, name: str, function: Callable[..., Any], leaves: Sequence[Any], rebuild: Any) -> None:
        self.name, self.function, self.rebuild = name, function, rebuild
        self.places = [k for k, x in enumerate(leaves) if isinstance(x, (Traced, np.ndarray))]
        self.given = [snapshot(leaves[k]) for k in self.places]
        self.rest: list[Any] = [None if isinstance(x, (Traced, np.ndarray)) else x for x in leaves]
        self.restore: Any = None

    def arguments(self, values: Sequence[Any]) -> Any:
        """Positional and keyword arguments with these values for the arrays."""
        full = list(self.rest)
        for k, v in zip(self.places, values, strict=True):
            full[k] = v
        return self.rebuild(full)

    def call(self, *values: Any) -> tuple[Any, ...]:
        """The numbers and arrays in the result."""
        again, words = self.arguments(values)
        is_first = self.restore is None
        before = [np.array(v) for v in values] if is_first else []
        found, restore = flatten(self.function(*again, **words))
        if is_first:
            self.restore = restore
            if not all([same_bits(np.asarray(v), b) for v, b in zip(values, before, strict=True)]):
                raise UnsupportedError(
                    message(
                        f"{self.name} writes to its argument, which a recording would not repeat.", fix="Copy it first."
                    )
                )
        if not all(isinstance(f, (*NUMBERS, Traced)) for f in found):
            raise NotNumbersError
        return tuple(found)

    def result(self, found: Sequence[Any]) -> Any:
        """What the function returned, with these numbers and arrays."""
        return self.restore(list(found))


class NotNumbersError(NoStepError):
    """A function that was to be a step returned something a program cannot hold."""
