"""Which rows are one box of the graph, and which boxes have an arrow between them: large graphs are put together."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass

from ..block import Blocks
from ..formula.notation import called
from .rows import Edge, Row, TraceView

LARGEST, CONDENSED, MOST_NODES, MOST_ARROWS = 60, 30, 79, 6
"""Where more boxes than the first number are drawn as the second; most nodes of all, and long arrows from a box."""

MOST_OUTS = 3
"""So many values are written in a box."""


@dataclass(frozen=True)
class Box:
    """One row, or neighbouring rows of a graph that would be too large."""

    rows: list[Row]
    outs: list[int]
    """The places whose values somebody outside uses."""

    @property
    def kind(self) -> str:
        """The kind of its row, or `several`."""
        return "several" if len(self.rows) > 1 else self.rows[0].kind

    @property
    def shown(self) -> list[int]:
        """The values that are written in the box: all, or the first and last ones."""
        return self.outs if len(self.outs) <= MOST_OUTS else [*self.outs[: MOST_OUTS - 1], self.outs[-1]]

    @property
    def recomputed(self) -> int:
        """How many of its rows are computed again on the way back."""
        return sum(row.note.checkpoint is not None for row in self.rows)

    @property
    def blocks(self) -> Blocks:
        """The named blocks around all of it, as far as they are not boxes of their own."""
        around = [row.note.blocks if row.kind == "step" else () for row in self.rows]
        return tuple([block for block in around[0] if all(block in other for other in around)])


@dataclass(frozen=True, eq=False)
class Arrow:
    """From a box to one that uses its values."""

    source: int
    target: int
    edges: list[Edge]

    @property
    def operands(self) -> list[int]:
        """The values that it carries."""
        return list(dict.fromkeys(edge.operand for edge in self.edges))


def boxes_of(view: TraceView) -> list[Box]:
    """The boxes of a view: one for each row, or fewer if there are too many."""
    parts = _condensed(view) if len(view.rows) > LARGEST else [[row] for row in view.rows]
    owner = {place: k for k, rows in enumerate(parts) for row in rows for place in row.outs}
    used = {p for k, rows in enumerate(parts) for row in rows for p in row.operands if owner[p] != k} | {*view.outputs}
    outs = [[place for row in rows for place in row.outs] for rows in parts]
    needed = [own if len(rows) == 1 else [p for p in own if p in used] for rows, own in zip(parts, outs, strict=True)]
    return [Box(rows, some or own[-1:]) for rows, some, own in zip(parts, needed, outs, strict=True)]


def arrows_between(boxes: list[Box]) -> list[Arrow]:
    """One arrow for each value, but for many values, or of many rows, one for all."""
    owner = {place: k for k, box in enumerate(boxes) for row in box.rows for place in row.outs}
    found: dict[tuple[int, int, int | None], Arrow] = {}
    for target, box in enumerate(boxes):
        for edge in [edge for row in box.rows for edge in row.edges]:
            if (source := owner[edge.operand]) == target:
                continue
            is_plain = len(boxes[source].rows) == len(box.rows) == 1 and len(boxes[source].outs) <= MOST_OUTS
            key = (source, target, edge.operand if is_plain else None)
            found.setdefault(key, Arrow(source, target, [])).edges.append(edge)
    return list(found.values())


def _condensed(view: TraceView) -> list[list[Row]]:
    """Neighbours put together, those first that belong together most and are fewest."""
    # Rows stand in the order of evaluation, so boxes of neighbours cannot depend on each other in a circle.
    parts = {k: [row] for k, row in enumerate(view.rows)}
    after, before = {k: k + 1 for k in parts}, {k: k - 1 for k in range(len(parts) + 1)}
    waiting: list[tuple[int, int, int, int]] = []

    def offer(left: int, right: int) -> None:
        if left in parts and right in parts and (parts[left][0].kind == "input") == (parts[right][0].kind == "input"):
            distance = _distance(parts[left][-1], parts[right][0], {*view.outputs})
            heapq.heappush(waiting, (distance, len(parts[left]) + len(parts[right]), left, right))

    for k in range(len(parts) - 1):
        offer(k, k + 1)
    while waiting and len(parts) > CONDENSED:
        _, size, left, right = heapq.heappop(waiting)
        if left not in parts or right not in parts or len(parts[left]) + len(parts[right]) != size:
            continue  # one of them has grown since
        parts[left] = parts[left] + parts.pop(right)
        after[left], before[after[right]] = after[right], left
        offer(before[left], left)
        offer(left, after[left])
    return list(parts.values())


def _distance(one: Row, other: Row, outputs: set[int]) -> int:
    """How little two neighbours belong together."""
    here, there = one.note, other.note
    if outputs.intersection([*one.outs, *other.outs]):
        return 5
    if here.blocks != there.blocks or here.checkpoint != there.checkpoint or one.kind != other.kind:
        return 4
    if here.place == there.place:
        return 0 if operation(one) == operation(other) else 1
    return 2 if here.place and there.place and here.place.function == there.place.function else 3


def operation(row: Row) -> str:
    """The operation that a row ends in, or its kind."""
    return called(row.formulas[row.outs[0]].head) if row.formulas else row.kind


def repeated_arrows(arrows: list[Arrow], layers: list[int]) -> list[Arrow]:
    """Arrows that start at a small copy of their source: the long ones of a box with many, while there is room."""
    many = Counter(arrow.source for arrow in arrows)
    long = [a for a in arrows if many[a.source] > MOST_ARROWS and layers[a.target] > layers[a.source] + 1]
    return sorted(long, key=lambda arrow: -many[arrow.source])[: max(0, MOST_NODES - len(layers))]
