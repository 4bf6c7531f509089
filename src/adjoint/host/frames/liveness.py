"""What a frame needs to go on from where it stands: the variables that its instructions will still read."""

from __future__ import annotations

import functools
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from ..code.decode import Instruction, index_at, instructions
from ..code.graph import graph_of, is_plain
from ..code.positions import line_of
from ..code.stack import depths_in, loops_around, tested
from ..code.versions import CALL_TAKES_ARGUMENTS, otherwise

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple

CALLS = {"CALL": 2, "CALL_KW": 3}
"""Instructions that call a function of Python's, and how many values they take from the stack besides arguments."""


class Resumption(NamedTuple):
    """What decides how a frame goes on."""

    variables: frozenset[str]
    loops: tuple[int, ...]
    """The places at which the loops around it take the next item, the outer ones first: their iterators decide too."""
    is_open: bool
    """Whether one of the loops around it may end at any time: a `while`, or a `for` that can be left."""


@otherwise(lambda frame: None)
def resumption_of(frame: FrameType) -> Resumption | None:
    """What decides how a frame goes on from a test or a call.

    None if something else does, which waits on its stack: a part of an expression, the context of a `with`.
    """
    return _resumption(frame.f_code, index_at(frame.f_code, frame.f_lasti))


@functools.lru_cache(4096)
def _resumption(code: CodeType, at: int) -> Resumption | None:
    step = instructions(code)[at]
    takes = tested(step)
    if takes is None and step.name in CALLS:
        takes = CALLS[step.name] + step.arg * CALL_TAKES_ARGUMENTS
    depth = depths_in(code).get(step.place) if is_plain(code) else None
    if takes is None or depth is None:
        return None
    loops = loops_around(code, step.place, depth - takes)
    if loops is None:
        return None
    graph = graph_of(code)
    read = graph.live[step.place] if graph.live else code.co_varnames
    headers = {graph.start_of(loop.header) for loop in graph.loops_with(step.place)}
    is_open = not headers <= {*loops} or any([graph.is_left_early(graph.block_at(place)) for place in loops])
    return Resumption(frozenset((*read, *code.co_cellvars, *code.co_freevars)), loops, is_open)


GLOBAL = "global "
"""Before the names of global variables."""


def _all_names(frame: FrameType) -> set[str]:
    code = frame.f_code
    return {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *[GLOBAL + name for name in code.co_names]}


@otherwise(_all_names)
def read_later(frame: FrameType) -> set[str]:
    """The variables that a call may still read, in the next iteration of a loop too."""
    code, here = frame.f_code, frame.f_lasti
    steps = instructions(code)
    jumps = [s for s in steps if s.place > here and "JUMP_BACKWARD" in s.name and s.value <= here]
    start = min([s.value for s in jumps], default=here + 1)
    found = {n for s in steps if s.place > here for n in _touched(s, code)[0]}
    past = [s for s in steps if s.place <= here]
    line = line_of(code, past[-1])
    loaded = [n for s in past if line is not None and line_of(code, s) == line for n in _touched(s, code)[0]]
    found.update([n for n in loaded if loaded.count(n) > 1])  # as f in  f(brentq(f, 0, 1)),  which waits on the stack
    written: set[str] = set()
    for step in past:
        if start <= step.place:
            read, stored = _touched(step, code)
            found.update(read - written)
            written |= stored
    return found


def _touched(step: Instruction, code: CodeType) -> tuple[set[str], set[str]]:
    """The variables that an instruction reads, and those that it sets."""
    if step.name in ("STORE_FAST", "STORE_DEREF"):
        return set(), {step.value}
    if step.name == "LOAD_GLOBAL":
        return {GLOBAL + step.value}, set()
    if step.name == "LOAD_DEREF":
        return {step.value}, set()
    if step.name.startswith("LOAD_FAST"):  # of a variable of inner functions it makes a closure
        return {step.value} - set(code.co_cellvars) - set(code.co_freevars), set()
    return set(), set()
