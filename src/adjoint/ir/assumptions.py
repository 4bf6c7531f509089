"""What a program is right under besides its guards: decisions that were taken without their value.

A guard is the usual form of a decision: it is a step, and where it does not hold another path is recorded. Where there
is no value to decide by, or no place for a guard, the capture makes an assumption instead, and whoever uses the program
does what is due if it is wrong.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..host.records import NamedTuple


class Assumed(enum.Enum):
    """What is assumed."""

    LIKELY = enum.auto()
    """A decision comes out as is likely: its value has not been computed. A guard tells when the program runs."""
    EXAMPLE = enum.auto()
    """A value that has not been computed could be the one that was made up for it."""
    INPUTS = enum.auto()
    """The inputs could be what was made up for them: what takes as long as the numbers say is not computed."""
    ORDINARY = enum.auto()
    """No singular point is met: what they need is left out. The value says whether one is."""
    PLACE = enum.auto()
    """A truth value that is an index is 0 or 1, as a list takes it; an array takes it for a mask."""
    INTEGERS = enum.auto()
    """The inputs with these numbers, which are Python's integers, are as they were: they chose a shape or a place."""
    RAISED = enum.auto()
    """An error is raised again that no guard stands for."""


class OnFailure(enum.Enum):
    """What becomes of a program whose assumption is wrong."""

    RECORD_WITH_VALUES = "the function is recorded again, with all steps taken"
    GENERAL_FORM = "the loop is captured and run again, with what singular points need"
    RECORD_PLAIN_TRUTHS = "the function is recorded again, with plain truth values"
    ANOTHER_PATH = "a guard does not hold, so that another path is recorded"
    USE_ONCE = "nothing would tell: the recording is for one call"


ON_FAILURE = {
    Assumed.LIKELY: OnFailure.RECORD_WITH_VALUES,
    Assumed.EXAMPLE: OnFailure.RECORD_WITH_VALUES,
    Assumed.INPUTS: OnFailure.RECORD_WITH_VALUES,
    Assumed.ORDINARY: OnFailure.GENERAL_FORM,
    Assumed.PLACE: OnFailure.RECORD_PLAIN_TRUTHS,
    Assumed.INTEGERS: OnFailure.ANOTHER_PATH,
    Assumed.RAISED: OnFailure.USE_ONCE,
}
"""What becomes of it, for each kind."""


class Assumption(NamedTuple):
    """A decision that was taken without its value."""

    kind: Assumed
    value: Any
    """What was decided, or on what."""
    on_failure: OnFailure


class Assumptions(list[Assumption]):
    """All that one capture has assumed."""

    __slots__ = ("are_refused", "may_speculate")

    def __init__(self, *, may_speculate: bool) -> None:
        super().__init__()
        self.may_speculate = may_speculate
        """Whether singular points may be left out: whoever uses the program asks whether one was met."""
        self.are_refused = False
        """Whether a decision was asked for where there must not be any."""

    def make(self, kind: Assumed, value: Any = None) -> None:
        """Write an assumption down."""
        self.append(Assumption(kind, value, ON_FAILURE[kind]))

    def make_place(self) -> None:
        """A truth value has been an index."""
        self.make(Assumed.PLACE)

    def has(self, *kinds: Assumed) -> bool:
        """Whether there is an assumption of one of these kinds."""
        return any([a.kind in kinds for a in self])

    def values(self, kind: Assumed) -> list[Any]:
        """The values of all of one kind."""
        return [a.value for a in self if a.kind is kind]

    def integers(self) -> frozenset[int]:
        """The numbers of inputs that the program relies on as they were."""
        return frozenset().union(*self.values(Assumed.INTEGERS))

    @property
    def are_unseen(self) -> bool:
        """Whether a decision was taken on a value that nobody has computed."""
        return bool(self) and self.has(Assumed.LIKELY, Assumed.EXAMPLE)
