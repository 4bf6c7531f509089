"""Where code tests a truth value inside a loop, and what it has at that time: read from its instructions."""

from __future__ import annotations

import functools
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from ..code.decode import index_at, instructions
from ..code.graph import graph_of, is_plain, jumps_in, successors
from ..code.stack import depths_in, loops_around, tested
from ..code.versions import otherwise
from .ownership import is_users_code

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple


class Test(NamedTuple):
    """A place where a truth value is tested in a loop."""

    loops: tuple[int, ...]
    """The places at which the loops around it take the next item, the outer ones first: their iterators are all that is
    on the stack, but for what is tested."""
    live: frozenset[str] | None
    """The variables that may be read after it, before they are set; None if nothing is known of that."""


@otherwise(lambda frame: None)
def test_of(frame: FrameType) -> Test | None:
    """The test that a frame is at, in a loop.

    Its variables, and the iterators of the loops around it, decide alone how it goes on: no context of a `with` and no
    part of an expression is waiting on its stack.
    """
    code = frame.f_code
    known = _known.get(id(code))
    if known is None:
        known = _known[id(code)] = code, tests_in(code)
    return known[1].get(frame.f_lasti)


_known: dict[int, tuple[CodeType, dict[int, Test]]] = {}
"""By the address of a code, which is kept, so that no other one gets its address."""


def tests_in(code: CodeType) -> dict[int, Test]:
    """Such tests by their places."""
    if not is_plain(code):
        return {}
    graph, depths = graph_of(code), depths_in(code)
    found = {}
    for step in instructions(code):
        takes = tested(step)
        if takes is None or step.place not in depths or not graph.loops_with(step.place):
            continue
        loops = loops_around(code, step.place, depths[step.place] - takes)
        if loops is None:
            continue
        live = graph.live
        names = frozenset((*live[step.place], *code.co_cellvars, *code.co_freevars)) if live else None
        found[step.place] = Test(loops, names)
    return found


@otherwise(lambda frame, loop, test, outcome: False)
def may_come_back(frame: FrameType, loop: FrameType, test: int, outcome: bool) -> bool:
    """Whether a loop would come back to its test, if that which a frame is at had the other outcome.

    A function that the loop calls returns to it, unless it raises.
    """
    if frame is not loop:
        return is_users_code(frame)
    return _comes_back(frame.f_code, frame.f_lasti, not outcome, test)


@functools.lru_cache(1024)
def _comes_back(code: CodeType, place: int, outcome: bool, test: int) -> bool:
    """Whether a path leads from a place with this outcome to a test, inside the shortest jump back around both."""
    steps, graph = instructions(code), graph_of(code)
    at = index_at(code, place)
    while steps[at].name in ("TO_BOOL", "COMPARE_OP"):
        at += 1
    name, first, last = steps[at].name, min(place, test), max(place, test)
    around = [(low, high) for high, low in jumps_in(code).items() if low <= first and last <= high]
    if not name.startswith("POP_JUMP") or not name.endswith(("_TRUE", "_FALSE")) or not around:
        return False
    jumps = name.endswith("_TRUE") == outcome
    inside = graph.blocks_between(*min(around, key=lambda pair: pair[1] - pair[0]))
    starts = [graph.block_at(there) for there, is_jump in successors(code, at) if is_jump == jumps]
    return any([graph.can_reach(start, graph.block_at(test), inside) for start in starts])


@otherwise(lambda frame: None)
def loop_over_call(frame: FrameType) -> int | None:
    """The place of the `for` that takes its items from what a frame is calling; None if it does something else."""
    code = frame.f_code
    steps, at = instructions(code), index_at(code, frame.f_lasti)
    names = [step.name for step in steps[at : at + 3]]
    if names != ["CALL", "GET_ITER", "FOR_ITER"] or steps[at + 1].place in jumps_in(code).values():
        return None  # or of something else at other times, as in  for k in xs if xs else range(3)
    return steps[at + 2].place
