"""The control-flow graph of a code: basic blocks, dominators, natural loops, and the variables that are still read.

What is asked of the flow of control is asked of `graph_of(code)`. Errors lead from a block to the handlers around it.
"""

from __future__ import annotations

import functools
import inspect
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .decode import Instruction, handlers_in, instructions

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple

LAST = frozenset((
    "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS",
    "RERAISE",
))  # fmt: skip
"""Instructions after which the next one is not taken."""
ITERATING = ("FOR_ITER", "SEND", "END_ASYNC_FOR")
"""Instructions that jump, and have another name."""
SUSPENDING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
TELLTALE = frozenset(("locals", "vars", "dir", "eval", "exec", "globals", "breakpoint", "_getframe", "currentframe"))
"""Names by which code may reach a variable that none of its instructions reads."""


class BasicBlock(NamedTuple):
    """Instructions that follow each other: control comes in at the first one, and goes on from the last one."""

    start: int
    """The number of the first instruction."""
    end: int
    """The number after that of the last one."""
    successors: tuple[int, ...]
    """The blocks that control may go on to, if there is no error."""
    handlers: tuple[int, ...]
    """Those that it goes to if there is one."""


class NaturalLoop(NamedTuple):
    """Blocks that control can go round in: each is reached through the header, and leads back to it."""

    header: int
    body: frozenset[int]
    """All its blocks, the header among them."""


def is_plain(code: CodeType) -> bool:
    """Whether code is that of a function that runs from its start to its end."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_flags & SUSPENDING


@functools.lru_cache(1024)
def jumps_in(code: CodeType) -> dict[int, int]:
    """Where each jump leads, by its place."""
    return {step.place: step.value for step in instructions(code) if "JUMP" in step.name or step.name in ITERATING}


def successors(code: CodeType, k: int) -> list[tuple[int, bool]]:
    """Where control goes after an instruction, and whether it jumps there."""
    steps, target = instructions(code), jumps_in(code).get(instructions(code)[k].place)
    places = [] if target is None else [(target, True)]
    if steps[k].name not in LAST and k + 1 < len(steps):
        places.append((steps[k + 1].place, False))
    return places


@functools.lru_cache(1024)
def graph_of(code: CodeType) -> FlowGraph:
    """The control-flow graph of a code."""
    return FlowGraph(code)


T = TypeVar("T")


class _Lazy(Generic[T]):
    """A property that is computed once; the one of `functools` has a lock in Python 3.11, for all graphs together."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute

    def __get__(self, graph: Any, owner: type) -> T:
        value = vars(graph)[self._compute.__name__] = self._compute(graph)
        return value


class FlowGraph:
    """The basic blocks of a code, by number: the first is where it begins."""

    def __init__(self, code: CodeType) -> None:
        steps, jumps, handlers = instructions(code), jumps_in(code), handlers_in(code)
        self.code = code
        places = [step.place for step in steps]
        cuts = [*jumps.values(), *[place for handler in handlers for place in handler[:3]]]
        leaders = {0, *[bisect_left(places, place) for place in cuts]}
        leaders |= {k + 1 for k, s in enumerate(steps) if s.place in jumps or s.name in LAST}
        starts = sorted(leaders - {len(steps)})
        ends = [*starts[1:], len(steps)]
        self._block_at = {p: b for b, pair in enumerate(zip(starts, ends, strict=True)) for p in places[slice(*pair)]}
        """The block of an instruction, by its place."""
        self.blocks = tuple(
            [
                BasicBlock(
                    start,
                    end,
                    tuple([self._block_at[place] for place, _ in successors(code, end - 1)]),
                    tuple([self._block_from(h.target) for h in handlers if h.start <= places[start] < h.end]),
                )
                for start, end in zip(starts, ends, strict=True)
            ]
        )
        self.edges = [(*block.successors, *block.handlers) for block in self.blocks]
        """Where each block leads to, with an error or without."""

    def _block_from(self, place: int) -> int:
        """The block of the first instruction from a place on: what extends its argument may come first."""
        return self._block_at[place] if place in self._block_at else self._block_from(place + 1)

    def block_at(self, place: int) -> int:
        """The block that the instruction at a place is in."""
        return self._block_at[place]

    def start_of(self, block: int) -> int:
        """The place of the first instruction of a block."""
        return instructions(self.code)[self.blocks[block].start].place

    def blocks_between(self, low: int, high: int) -> frozenset[int]:
        """The blocks that begin between two places, both included."""
        return frozenset([b for b in range(len(self.blocks)) if low <= self.start_of(b) <= high])

    @_Lazy
    def dominators(self) -> list[int | None]:
        """For each block its immediate dominator: the last one before it that control cannot have gone around.

        The first block is its own; None for blocks that nothing leads to.
        """
        return immediate_dominators(self.edges, 0)

    @_Lazy
    def post_dominators(self) -> list[int | None]:
        """For each block the next one that control cannot go around if there is no error: where branches join.

        The last number, after those of the blocks, stands for the end; None for blocks that do not lead there.
        """
        end = len(self.blocks)
        return immediate_dominators(reversed_edges([*[b.successors or (end,) for b in self.blocks], ()]), end)

    def dominates(self, a: int, b: int) -> bool:
        """Whether control passes the first block on every path to the second."""
        return a in _chain(self.dominators, b)

    def post_dominates(self, a: int, b: int) -> bool:
        """Whether control passes the first block on every path without errors from the second to the end."""
        return a in _chain(self.post_dominators, b)

    @_Lazy
    def loops(self) -> tuple[NaturalLoop, ...]:
        """The natural loops, inner ones before those around them; all that lead back to one header are one."""
        is_reached = [above is not None for above in self.dominators]
        predecessors = reversed_edges([on if is_reached[b] else () for b, on in enumerate(self.edges)])
        bodies: dict[int, set[int]] = {}
        for number, following in enumerate(self.edges):
            for header in following:
                if self.dominates(header, number):
                    bodies.setdefault(header, {header}).update(_reaching(number, header, predecessors))
        found = [NaturalLoop(header, frozenset(body)) for header, body in bodies.items()]
        return tuple(sorted(found, key=lambda loop: len(loop.body)))

    def loops_with(self, place: int) -> list[NaturalLoop]:
        """The natural loops that a place is in, inner ones first."""
        return [loop for loop in self.loops if self._block_at[place] in loop.body]

    def is_left_early(self, header: int) -> bool:
        """Whether a loop is left from other blocks than its header: by `break`, `return` or `raise`.

        So is one that has no loop: control never comes back to what would be its header.
        """
        body = next((loop.body for loop in self.loops if loop.header == header), frozenset())
        return not body or any([not body.issuperset(self.blocks[b].successors) for b in body - {header}])

    def can_reach(self, start: int, goal: int, within: frozenset[int]) -> bool:
        """Whether there is a path without errors from one block to another, through these blocks alone."""
        waiting, seen = [start], set[int]()
        while waiting:
            block = waiting.pop()
            if block not in within or block in seen:
                continue
            if block == goal:
                return True
            seen.add(block)
            waiting += self.blocks[block].successors
        return False

    @_Lazy
    def live(self) -> dict[int, set[str]]:
        """For each place the variables that may be read from there on before they are set; nothing if unknown.

        Where errors may be caught, there are paths that are not seen here.
        """
        if self.code.co_exceptiontable or TELLTALE.intersection(self.code.co_names):
            return {}
        steps = instructions(self.code)
        touched = [effect for step in steps if (effect := _touched(step)) is not None]
        if len(touched) < len(steps):
            return {}
        entering: list[set[str]] = [set() for _ in self.blocks]
        predecessors = reversed_edges(self.edges)
        waiting = [*range(len(self.blocks))]
        found: dict[int, set[str]] = {}
        while waiting:
            number = waiting.pop()
            block = self.blocks[number]
            live = set[str]().union(*[entering[b] for b in block.successors])
            for k in range(block.end - 1, block.start - 1, -1):
                read, written = touched[k]
                live = found[steps[k].place] = (live - written) | read
            if live != entering[number]:
                entering[number] = live
                waiting += predecessors[number]
        return found


def _touched(step: Instruction) -> tuple[set[str], set[str]] | None:
    """The variables that an instruction reads, and those that it sets; None if that is not known."""
    if "_FAST" not in step.name:
        return set(), set()
    if step.name in ("LOAD_FAST", "DELETE_FAST"):
        return {step.value}, set()
    return (set(), {step.value}) if step.name == "STORE_FAST" else None


def immediate_dominators(edges: Sequence[Iterable[int]], root: int) -> list[int | None]:
    """For each node its immediate dominator, seen from a root, which is its own; None for what it does not lead to.

    By the algorithm of Cooper, Harvey and Kennedy.
    """
    order = _postorder(edges, root)
    rank = {node: k for k, node in enumerate(order)}
    predecessors = reversed_edges(edges)
    found: list[int | None] = [None] * len(edges)
    found[root] = root
    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            known = [p for p in predecessors[node] if found[p] is not None]
            new = functools.reduce(lambda a, b: _common(a, b, found, rank), known)
            if new != found[node]:
                found[node], changed = new, True
    return found


def _common(a: int, b: int, dominators: Sequence[int | None], rank: dict[int, int]) -> int:
    """The last dominator that two nodes share."""
    while a != b:
        if rank[a] < rank[b]:
            a = dominators[a]  # type: ignore[assignment]  # what has a rank and comes before has one
        else:
            b = dominators[b]  # type: ignore[assignment]
    return a


def _postorder(edges: Sequence[Iterable[int]], root: int) -> list[int]:
    """The nodes that a root leads to, each after those that it leads to, as far as there are no circles."""
    found: list[int] = []
    seen = {root}
    path = [(root, iter(edges[root]))]
    while path:
        node, rest = path[-1]
        following = next((n for n in rest if n not in seen), None)
        if following is None:
            found.append(node)
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(edges[following])))
    return found


def reversed_edges(edges: Sequence[Iterable[int]]) -> list[list[int]]:
    """For each node those that lead to it."""
    found: list[list[int]] = [[] for _ in edges]
    for node, following in enumerate(edges):
        for other in following:
            found[other].append(node)
    return found


def _chain(dominators: Sequence[int | None], node: int) -> list[int]:
    """A node, its immediate dominator, that of this one, and so on; nothing if there is none."""
    found: list[int] = []
    while (above := dominators[node]) is not None:
        found.append(node)
        if above == node:
            break
        node = above
    return found


def _reaching(start: int, header: int, predecessors: Sequence[Sequence[int]]) -> set[int]:
    """The blocks from which a block is reached without passing a header."""
    found: set[int] = set()
    waiting = [start]
    while waiting:
        block = waiting.pop()
        if block not in found and block != header:
            found.add(block)
            waiting += predecessors[block]
    return found
