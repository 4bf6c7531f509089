"""What a frame needs to go on from where it stands: the variables that its instructions will still read."""

from __future__ import annotations

import functools
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from ..code.decode import index_at, instructions
from ..code.graph import graph_of, is_plain
from ..code.stack import depths_in, loops_around, tested
from ..code.versions import CALL_TAKES_ARGUMENTS

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
