"""Floating-point conditions and warnings of which the user makes errors: a step recorded there is checked at every run.

`np.errstate(over="raise")`, `np.seterr`, and inside the function `warnings.simplefilter("error")` or
`warnings.catch_warnings(record=True)`: what NumPy then does at a step is part of what the program does. Such a step is
taken by NumPy under the same conditions each time; one that raises where it did not raise means another path.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.calls.float_warnings import words
from ..core.errors import ImpureError, message
from ..core.primitive import Primitive
from ..core.traced import Traced

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..host.records import NamedTuple

FILTERS_PATCH = {
    "what": "the filters of Python's warnings, where the user has made errors of some; elsewhere in the library, "
    "warnings of a single call are silenced by `with warnings.catch_warnings()`",
    "when": "while a program runs",
    "why": "a program raises where the function would have",
    "undone": "when the program, or the call, is done",
}
Filter = tuple[str, str, type[Warning]]
"""What is done with warnings of a kind: "error" or "ignore", a pattern for their text, their class."""


class Conditions(NamedTuple):
    """What of floating-point conditions and of warnings are errors; everything else is silent when a program runs."""

    errors: tuple[tuple[str, str], ...]
    """The words of `np.errstate`, for each condition."""
    filters: tuple[Filter, ...] = ()

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """Let NumPy raise where the user asked for it."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(np.errstate(**dict(self.errors)))  # type: ignore[arg-type]
            if self.filters:
                stack.enter_context(warnings.catch_warnings())
                warnings.resetwarnings()
                for action, text, category in reversed(self.filters):
                    warnings.filterwarnings(action, text, category)  # type: ignore[arg-type]
            yield


_variable = getattr(np._core.umath, "_extobj_contextvar", None)  # type: ignore[attr-defined]
_calm: Any = None
"""What NumPy's variable held when no condition was an error last time: every `np.errstate` puts a new object there."""


def floating_errors() -> tuple[tuple[str, str], ...]:
    """The words of `np.errstate` in force here, if a condition is an error or calls something; else nothing."""
    global _calm
    held = None if _variable is None else _variable.get()
    if held is not None and held is _calm:
        return ()
    state = np.geterr()
    words = state.values()
    if "raise" in words or "call" in words:
        return tuple([(name, str(word)) for name, word in state.items()])
    _calm = held
    return ()


class Surroundings:
    """How warnings are treated around a recording: what the function changes of that, it wants to be asked about."""

    __slots__ = ("_copy", "_filters", "_shown", "checked", "failed", "root")

    def __init__(self, root: int) -> None:
        self.root = root
        """The identity of the frame in which the recording began."""
        self.checked: dict[Any, Any] = {}
        """Steps under conditions of the user, so that equal ones are one primitive."""
        self.failed = 0
        """The identity of the error that a step raised last."""
        self._filters = warnings.filters
        self._copy = list(warnings.filters)
        self._shown = warnings.showwarning, getattr(warnings, IMPLEMENTATION, None)

    def conditions(self) -> Conditions | None:
        """What the step at hand is to be checked for; None, if nothing: the usual case."""
        if _variable is not None and _variable.get() is _calm and self._are_as_before():
            return None
        errors = floating_errors()
        for name, word in errors:
            if word == "call":
                _refuse(name)
        shown, impl = self._shown  # changed by whoever collects warnings, as `catch_warnings(record=True)` does
        listened = warnings.showwarning is not shown or getattr(warnings, IMPLEMENTATION, None) is not impl
        filters = () if self._are_as_before() else _filters(listened=listened)
        if not errors and not filters:
            return None
        kept = ("raise", "warn") if filters else ("raise",)
        state = [(name, word if word in kept else "ignore") for name, word in words().items()]
        return Conditions(tuple(state), filters)

    def _are_as_before(self) -> bool:
        """Whether warnings are treated as they were when the recording began."""
        filters, (shown, impl) = warnings.filters, self._shown
        return (
            filters is self._filters
            and warnings.showwarning is shown
            and getattr(warnings, IMPLEMENTATION, None) is impl
            and filters == self._copy
        )


IMPLEMENTATION = "_showwarnmsg_impl"
"""What shows warnings unless `warnings.showwarning` was replaced; Python's own, and not documented."""


def _filters(*, listened: bool) -> tuple[Filter, ...]:
    """The filters in force, as far as they make errors; a warning that is listened to counts as one.

    A filter for certain modules or lines would not find them in a program: one that makes errors is taken to hold
    everywhere, one that does not is left out. What is then raised too often is found out by another recording.
    """
    found: list[Filter] = []
    for action, text, category, module, line in warnings.filters:
        kind = "error" if action == "error" or (listened and action != "ignore") else "ignore"
        if kind == "ignore" and (module is not None or line):
            continue
        pattern = str(getattr(text, "pattern", text) or "")
        for one in category if isinstance(category, tuple) else (category,):
            found.append((kind, pattern, one))
        if category is Warning and not pattern:
            break
    else:
        found.append(("error" if listened else "ignore", "", Warning))
    return tuple(found) if any([kind == "error" for kind, _, _ in found]) else ()


def _refuse(name: str) -> None:
    raise ImpureError(
        message(
            f'np.errstate({name}="call") lets NumPy call a function of yours, which a recording would not repeat.',
            fix='Use  "raise"  and  except FloatingPointError,  or  "ignore".',
        )
    )


class Checked(Primitive):
    """A step that is taken under conditions of the user's."""

    __slots__ = ("conditions", "inner")

    def __init__(self, inner: Primitive, conditions: Conditions) -> None:
        def evaluate(*args: Any, **params: Any) -> Any:
            with conditions.in_force():
                return inner.evaluate(*args, **params)

        super().__init__(
            f"{inner.name} (checked)",
            evaluate,
            derivative=inner.derivative,
            stacking=inner.stacking,
            multiple=inner.multiple,
            fails_from=0,
        )
        self.inner = inner
        self.conditions = conditions

    def __call__(self, *args: object, **params: object) -> Any:
        """A trace that comes by later sees the step itself, under the same conditions."""
        if not any([isinstance(a, Traced) for a in args]):
            return self.evaluate(*args, **params)
        with self.conditions.in_force():
            return self.inner(*args, **params)
