"""What a frame needs to go on from where it stands: the variables that its instructions will still read."""

from __future__ import annotations

import inspect
import sys
from bisect import bisect_right
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from .callsite import instructions
from .testing import SUSPENDING, TESTS, depths_in, is_in, jumps_in, live_in

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple

CALLS = {"CALL": 2, "CALL_KW": 3}
"""Instructions that call a function of Python's, and how many values they take from the stack besides arguments."""
TAKES_ARGUMENTS = sys.version_info >= (3, 12)
"""Whether these take the arguments too; before, PRECALL is said to have done so."""


class Resumption(NamedTuple):
    """What decides how a frame goes on."""

    variables: frozenset[str]
    loops: tuple[int, ...]
    """The places at which the loops around it take the next item, the outer ones first: their iterators decide too."""
    is_open: bool
    """Whether one of the loops around it may end at any time: a `while`, or a `for` that can be left."""


def resumption_of(frame: FrameType) -> Resumption | None:
    """What decides how a frame goes on from a test or a call.

    None if something else does, which waits on its stack: a part of an expression, the context of a `with`.
    """
    code = frame.f_code
    known = _known.get(id(code))
    if known is None:
        known = _known[id(code)] = code, _Instructions(code)
    return known[1].resumption(frame.f_lasti)


class _Instructions:
    """The instructions of a code, and what follows from them."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.steps = instructions(code)
        self.places = [step.place for step in self.steps]
        self.targets = jumps_in(code, self.steps)
        is_plain = code.co_flags & inspect.CO_OPTIMIZED and not code.co_flags & SUSPENDING
        self.depths = depths_in(self.steps, self.targets) if is_plain else {}
        self.live = live_in(code, self.steps, self.targets) if is_plain else {}
        self.found: dict[int, Resumption | None] = {}

    def resumption(self, last: int) -> Resumption | None:
        """What decides how a frame goes on whose last instruction is here."""
        if last not in self.found:
            self.found[last] = self._resumption(bisect_right(self.places, last) - 1)
        return self.found[last]

    def _resumption(self, at: int) -> Resumption | None:
        step, code = self.steps[at], self.code
        takes = 1 if step.name.startswith("POP_JUMP") else TESTS.get(step.name)
        if takes is None and step.name in CALLS:
            takes = CALLS[step.name] + step.arg * TAKES_ARGUMENTS
        depth = self.depths.get(step.place)
        if takes is None or depth is None:
            return None
        around = [s.place for s in self.steps if s.name == "FOR_ITER" and is_in(s.place, step.place, self.targets)]
        loops = {self.depths[place]: place for place in around if place in self.depths}
        if sorted(loops) != list(range(1, depth - takes + 1)):
            return None
        read = self.live[step.place] if self.live else code.co_varnames
        back = {target for place, target in self.targets.items() if target <= step.place <= place}
        is_open = not back <= {*around} or any([self._can_be_left(place) for place in around])
        names = frozenset((*read, *code.co_cellvars, *code.co_freevars))
        return Resumption(names, tuple([loops[k] for k in sorted(loops)]), is_open)

    def _can_be_left(self, loop: int) -> bool:
        """Whether a `for` has a `break`, `return` or `raise`."""
        inside = [s for s in self.steps if is_in(loop, s.place, self.targets)]
        ends = [self.targets[s.place] >= self.targets[loop] for s in inside if s.place in self.targets]
        return any(ends) or any([s.name.startswith(("RETURN", "RAISE", "RERAISE")) for s in inside])


_known: dict[int, tuple[CodeType, _Instructions]] = {}
"""By the address of a code, which is kept, so that no other one gets its address."""
