"""The trace that looks for nans, the outermost one: where the first nan of a result comes from.

Every step of a function and of the rules of its derivatives reaches it with plain
values. With each value that holds a nan it keeps the step that made the nan out of numbers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .errors import NanError, message, user_line
from .primitive import Primitive
from .trace import Trace, new_level
from .traced import LOCAL, Ended, Traced, is_of, peel
from .tree import flatten
from .types import Params
from .values import describe, is_inexact


def look_for(whether: bool) -> bool:
    """Look for nans in this thread from now on, or no longer; what was done so far."""
    before, LOCAL.seeks_nans = LOCAL.seeks_nans, whether
    return before


class Origin(NamedTuple):
    """Where a nan was made."""

    step: str
    line: str
    operands: str


class NanNode(NamedTuple):
    """What is kept with a value: the line that computed it, and where its nan comes from, if it has one."""

    line: str
    origin: Origin | None


class NanTrace(Trace):
    """The trace that looks at every value."""

    __slots__ = ("level", "start")

    def __init__(self) -> None:
        self.level = new_level()
        self.start = user_line()
        """The line from which the whole was called: no line of the function itself."""

    def input(self, x: Any, where: str) -> Traced:
        """An argument."""
        origin = Origin("", self.start, f"{describe(x)} {where}") if _has_nan(x) else None
        return Traced(x, self, NanNode(self.start, origin))

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        """Evaluate, and see whether a nan was made."""
        nodes = [a.node for a in args if is_of(a, self)]
        out = primitive(*[peel(self, a) for a in args], **params)
        line = user_line()
        if line == self.start:  # a rule is at work, for a step of the function
            line = next((n.line for n in reversed(nodes) if n.line != self.start), line)
        inherited = next((n.origin for n in nodes if n.origin is not None), None)

        def handle(value: Any) -> Any:
            if not is_inexact(value):
                return value
            origin = inherited
            if _has_nan(value):
                operands = ", ".join([shown(peel(self, a)) for a in args])
                origin = origin or Origin(primitive.name, line, operands)
            else:
                origin = None
            return Traced(value, self, NanNode(line, origin))

        return tuple([handle(o) for o in out]) if primitive.multiple else handle(out)

    def end(self) -> None:
        """From now on a handle of this trace is its value."""
        self.__class__ = EndedNans  # type: ignore[assignment]


class EndedNans(Ended, NanTrace):  # type: ignore[misc]
    """A trace that looked for nans and has ended."""

    __slots__ = ()


def looking_for_nans(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call, unless it has a nan."""
    trace = NanTrace()
    leaves, rebuild = flatten((args, kwargs))
    handles = [_input(trace, x) for x in leaves]
    result: Any = None
    with _not_again():
        words = rebuild(handles)
        try:
            result = function(*words[0], **words[1])
            return _unwrapped(trace, result)
        finally:
            if not any([_is_later(x) for x in flatten(result)[0]]):
                trace.end()


def _input(trace: NanTrace, x: Any) -> Any:
    is_plain = type(x) in (float, complex) or (isinstance(x, (np.ndarray, np.generic)) and not isinstance(x, Traced))
    if not is_plain or not is_inexact(x):
        return x
    return trace.input(x, "among the arguments")


@contextlib.contextmanager
def _not_again() -> Iterator[None]:
    before = look_for(False)
    try:
        yield
    finally:
        look_for(before)


def _unwrapped(trace: NanTrace, result: Any) -> Any:
    leaves, rebuild = flatten(result)
    return rebuild([_checked(trace, x) for x in leaves])


def _checked(trace: NanTrace, x: Any) -> Any:
    if is_of(x, trace):
        origin = x.node.origin
        if origin is not None:
            what = f"The first nan was made by {origin.step}." if origin.step else "A nan was there from the start."
            raise NanError(message(what, at=origin.line, got=origin.operands))
        return x.value
    if _is_later(x):

        def later(*args: Any, **kwargs: Any) -> Any:
            with _not_again():
                return _unwrapped(trace, x(*args, **kwargs))

        return later
    return x


def _is_later(x: Any) -> bool:
    """Whether a result is a pullback, which is called later."""
    return callable(x) and not isinstance(x, Traced)


def _has_nan(x: Any) -> bool:
    return bool(np.any(np.isnan(x)))


def shown(x: Any) -> str:
    """An operand, with its numbers where they are few."""
    text = describe(x)
    if isinstance(x, (np.ndarray, np.generic)) and np.size(x) <= 8:
        text += " " + " ".join(np.array2string(np.asarray(x), precision=4).split())
    return text
