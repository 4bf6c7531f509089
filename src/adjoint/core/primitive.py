"""`Primitive`: what the library knows of one operation, as independent facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .entry.facts import NO_FACTS, Facts
from .rule import Rule, Stacking
from .trace import Trace
from .traced import LOCAL, Traced, as_buffer, settled

if TYPE_CHECKING:
    from inspect import Signature


class Primitive:
    """One operation: how to evaluate it, how to differentiate it, how a batch axis passes, where it is defined.

    Calling it with plain values evaluates; with traced ones the innermost trace decides what to do. `on_arrays` is
    `evaluate` for arrays alone, without the cases that Python's numbers need. `inline` says that a captured program
    should see the steps inside rather than this one, `is_operator` that it is what one of Python's operators does,
    which makes Python's numbers of Python's numbers. `fails_from` is the first of the arguments whose values decide
    whether it raises, or how long its result is; None if no values do. `facts` are for the rooms further up, which
    know no operation by name.
    """

    __slots__ = (
        "derivative", "domain", "evaluate", "facts", "fails_from", "inline", "is_operator", "is_smooth", "multiple",
        "name", "note", "on_arrays", "stacking",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        evaluate: Callable[..., Any],
        *,
        derivative: Rule,
        stacking: Stacking,
        domain: Sequence[tuple[float, float]] | None = None,
        multiple: bool = False,
        note: str = "",
        inline: bool = False,
        on_arrays: Callable[..., Any] | None = None,
        fails_from: int | None = None,
        facts: Facts = NO_FACTS,
    ) -> None:
        self.name = name
        self.evaluate = evaluate
        self.on_arrays = on_arrays or evaluate
        self.derivative = derivative
        self.stacking = stacking
        self.domain = domain
        self.multiple = multiple
        self.is_smooth = not derivative.is_zero and not multiple
        self.note = note
        self.inline = inline
        self.fails_from = fails_from
        self.facts = facts
        self.is_operator = False

    def __call__(self, *args: object, **params: object) -> Any:
        """Evaluate, or let the innermost trace among the arguments take the step."""
        top: Trace | None = None
        level = 0
        for a in args:
            if isinstance(a, Traced):
                trace = a.traced_by
                if trace.level > level:
                    top, level = trace, trace.level
                elif not trace.level:  # a buffer, or kept from a trace that has ended: what is under it decides
                    found = self(*[settled(a) for a in args], **params)
                    return as_buffer(found) if LOCAL.depth else found
        if top is None:
            return self.evaluate(*args, **params)
        return top.process(self, args, params)

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def __signature__(self) -> Signature:
        """The parameters of what evaluates it, for whoever names its arguments."""
        from inspect import signature  # seldom needed, so not when the library is imported

        return signature(self.evaluate)

    @property
    def nin(self) -> int | None:
        """How many operands it has, as a universal function says it; None if it is none of each element."""
        return len(self.domain) if self.domain else None

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"


_unasked: dict[Primitive, Primitive] = {}


def unasked(primitive: Primitive) -> Primitive:
    """The same operation where a rule asks: nobody is told (`singular/replaced.py`)."""
    found = _unasked.get(primitive)
    if found is None:
        p = primitive
        found = _unasked[p] = Primitive(
            p.name, p.evaluate, derivative=p.derivative, stacking=p.stacking, domain=p.domain, note=p.note,
            on_arrays=p.on_arrays, fails_from=p.fails_from, facts=p.facts._replace(asks=0),
        )  # fmt: skip
    return found


class Marker:
    """Stands where a primitive stands, and is none: an input of a trace, a decision of a program."""

    __slots__ = ("facts", "multiple", "name")
    is_operator = False

    def __init__(self, name: str, *, multiple: bool = False, facts: Facts = NO_FACTS) -> None:
        self.facts = facts
        self.name = name
        self.multiple = multiple

    def __repr__(self) -> str:
        return f"<{self.name}>"


INPUT: Any = Marker("input")
OUTPUT: Any = Marker("output")
"""In a node of a trace that is not a step: an input, or one of several results."""
