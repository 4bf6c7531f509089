"""What is to be recorded, and how: a request stays the same from run to run, a plan is what may be tried otherwise."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...ir.capture import Tests
from ..environment.captured_inputs import NONE, Numbers

if TYPE_CHECKING:
    from .attempt import Attempt

Run = Callable[[Any, Any, dict[str, Any]], Any]
"""How a function is called on handles."""
Rebuild = Callable[[Sequence[Any]], tuple[Any, dict[str, Any]]]
"""From leaves to positional and keyword arguments."""


class Request(NamedTuple):
    """A call that is to be recorded."""

    run: Run
    fun: Any
    leaves: list[Any]
    """Of the arguments."""
    rebuild: Rebuild
    extra: tuple[object, ...]
    """What the recording relies on besides the function."""


class Lift(enum.IntEnum):
    """Which captured arrays are handles, so that the program reads them at every run; the others are compared."""

    NOTHING = 0
    VARIABLES = 1
    """Those of variables, defaults and containers."""
    ATTRIBUTES = 2
    """Attributes of the user's objects too: the function gets copies of these."""


class Purpose(enum.Enum):
    """What a run is for."""

    RECORD = enum.auto()
    RELY_ON_USED = enum.auto()
    """To have a recording that relies on what was used alone, as something that was reached cannot be watched."""
    DRAW_AGAIN = enum.auto()
    """To see whether the function draws random numbers, or another thread did."""
    LATER = enum.auto()
    """To see whether the function computes with what a clock gives."""


class Loops(Tests, Protocol):
    """Who sees truth values that are tested, and makes loops of them."""

    has_started: bool
    """Whether something in the recording is a loop, or is to become one."""

    def begin(self) -> None:
        """Before a function is recorded, for the first time or once more."""

    def end(self) -> None:
        """After that, however it ended."""

    def failed(self) -> bool:
        """Whether the recording cannot be used, as something was no loop; it will not be taken for one again."""

    def alone(self) -> None:
        """Told that the recording will rely on what it uses alone: what others have found is not to be added."""


class RunPlan(NamedTuple):
    """How a function is run."""

    numbers: Numbers = NONE
    """Python's numbers that are inputs."""
    exactly: bool = False
    """Whether the recording relies on what has been used alone; that takes longer to find out."""
    loops: Loops | None = None
    """Who looks for loops of Python; without, their iterations are recorded one by one."""
    defers: bool = False
    """Whether large steps are not taken: then the results of this very call may be left to the program."""
    lift: Lift = Lift.ATTRIBUTES
    """Which of the arrays that the function captures are handles."""
    plain_truths: bool = False
    """Whether truth values are plain: no loops are looked for then, and all steps are taken."""
    purpose: Purpose = Purpose.RECORD
    compared: Attempt | None = None
    """The recording that this one is made to judge."""
    settling: int = 0
    """How often in a row something changed in a package meanwhile."""
    fewer: tuple[Numbers, ...] = ()
    """Other numbers to be inputs, should these not do."""
    refusal: Exception | None = None
    """What is raised if it does not do to have the numbers as inputs that the function replaces."""
