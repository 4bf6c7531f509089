"""`Primitive`: what the library knows of one operation, as independent facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .traced import LOCAL, Traced, owned, settled


class Primitive:
    """One operation: how to evaluate it, how to differentiate it, how a batch axis passes, where it is defined.

    Calling it with plain values evaluates; with traced ones the innermost walk decides what to do. `on_arrays` is
    `evaluate` for arrays alone, without the cases that Python's numbers need. `inline` says that a captured program
    should see the steps inside rather than this one, `is_operator` that it is what one of Python's operators does,
    which makes Python's numbers of Python's numbers. `fails_from` is the first of the arguments whose values decide
    whether it raises, or how long its result is; None if no values do.
    """

    __slots__ = (
        "derivative", "domain", "evaluate", "fails_from", "inline", "is_operator", "is_smooth", "multiple", "name",
        "note",
        "on_arrays", "stacking",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        evaluate: Callable[..., Any],
        *,
        derivative: Any,
        stacking: Any,
        domain: Any = None,
        multiple: bool = False,
        note: str = "",
        inline: bool = False,
        on_arrays: Callable[..., Any] | None = None,
        fails_from: int | None = None,
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
        self.is_operator = False

    def __call__(self, *args: Any, **params: Any) -> Any:
        """Evaluate, or let the innermost walk among the arguments take the step."""
        top: Any = None
        level = 0
        for a in args:
            if isinstance(a, Traced):
                walk = a.walk
                if walk.level > level:
                    top, level = walk, walk.level
                elif not walk.level:  # a buffer, or kept from a walk that has ended: what is under it decides
                    found = self(*[settled(a) for a in args], **params)
                    return owned(found) if LOCAL.depth else found
        if top is None:
            return self.evaluate(*args, **params)
        return top.process(self, args, params)

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"
