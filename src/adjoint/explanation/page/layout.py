"""Where the boxes and arrows of a computational graph go: layers from the inputs to the output, few crossings.

The steps are those of Sugiyama's method. A node's layer is its longest path from the inputs; an edge over several
layers gets a place to pass through in each; orders within layers follow the neighbours' mean places; coordinates are
the nearest ones that keep the boxes apart (an isotonic regression, solved exactly). Nothing is random.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]

SWEEPS = 12
PASSAGE = 16.0
"""How much room across an edge has where it passes a layer."""

PASSAGE_WEIGHT = 3.0
"""Edges that pass a layer pull harder than boxes do: long edges become straight."""

LABEL = (50.0, 15.0)
"""Width and height of the small text on an edge, where nothing better is known."""

LABEL_PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8, 0.14, 0.86)
"""Where on its curve the text may sit, best first."""

BUSY, BUSY_GAP, BUSIEST = 2, 7.0, 8
"""From this many edges on, a gap between layers grows by so much for each more, and for no more than that many."""


@dataclass(frozen=True)
class DrawnEdge:
    """A drawn edge: alternately a curve and a straight piece, through `points`; its text is centred at `label`."""

    source: int
    target: int
    points: tuple[Point, ...]
    label: Point


@dataclass(frozen=True)
class Drawing:
    """A drawing: its size, the centre of each node's box, and the edges in the order they were given."""

    width: float
    height: float
    boxes: dict[int, Point]
    edges: tuple[DrawnEdge, ...]


def lay_out(
    nodes: Sequence[int],
    edges: Sequence[tuple[int, int]],
    *,
    box: tuple[float, float] = (116.0, 60.0),
    layer_gap: float = 62.0,
    side_gap: float = 16.0,
    margin: float = 8.0,
    label_widths: Sequence[float] | None = None,
    downwards: bool = False,
) -> Drawing:
    """The drawing of a graph whose nodes are listed in an order of evaluation, from left to right or downwards.

    >>> drawing = lay_out([0, 1, 2], [(0, 1), (1, 2)])
    >>> [drawing.boxes[node][1] for node in (0, 1, 2)] == [drawing.boxes[0][1]] * 3
    True
    """
    along, across = (box[1], box[0]) if downwards else box
    graph = _Layered(nodes, edges)
    graph.order()
    places = _coordinates(graph, across=across, gap=side_gap)
    middle = [margin + along / 2]
    for pieces in graph.pieces():
        extra = BUSY_GAP * min(max(pieces - BUSY, 0), BUSIEST)
        middle.append(middle[-1] + along + layer_gap + extra)
    half = [(across if n < graph.real else PASSAGE) / 2 for n in range(len(places))]
    lowest = min([place - h for place, h in zip(places, half, strict=True)])
    highest = max([place + h for place, h in zip(places, half, strict=True)])
    centre = {n: (middle[graph.layer_of[n]], places[n] - lowest + margin) for n in range(len(places))}
    routes = _routes(graph, centre, along=along, across=across)
    size = (middle[-1] + along / 2 + margin, highest - lowest + 2 * margin)
    turn = (lambda p: (p[1], p[0])) if downwards else (lambda p: p)
    boxes = {node: turn(centre[k]) for k, node in enumerate(nodes)}
    drawn = [tuple([turn(p) for p in route]) for route in routes]
    sizes = [(width, LABEL[1]) for width in label_widths or [LABEL[0]] * len(drawn)]
    labels = _labels(drawn, sizes, list(boxes.values()), box=box, downwards=downwards)
    width, height = turn(size)
    return Drawing(
        width, height, boxes, tuple([DrawnEdge(*e, p, at) for e, p, at in zip(edges, drawn, labels, strict=True)])
    )


class _Layered:
    """The graph with its long edges cut into pieces of one layer each; places are numbers, nodes first."""

    def __init__(self, nodes: Sequence[int], edges: Sequence[tuple[int, int]]) -> None:
        index = {node: k for k, node in enumerate(nodes)}
        self.real = len(nodes)
        self.layer_of = [0] * self.real
        pairs = [(index[source], index[target]) for source, target in edges]
        for source, target in sorted(pairs, key=lambda pair: pair[1]):
            self.layer_of[target] = max(self.layer_of[target], self.layer_of[source] + 1)
        self.chains: list[list[int]] = []
        for source, target in pairs:
            passed = range(self.layer_of[source] + 1, self.layer_of[target])
            chain = [source, *range(len(self.layer_of), len(self.layer_of) + len(passed)), target]
            self.layer_of += passed
            self.chains.append(chain)
        self.before: list[list[int]] = [[] for _ in self.layer_of]
        self.after: list[list[int]] = [[] for _ in self.layer_of]
        for chain in self.chains:
            for a, b in pairwise(chain):
                self.after[a].append(b)
                self.before[b].append(a)
        self.layers: list[list[int]] = [[] for _ in range(max(self.layer_of, default=0) + 1)]
        for place, layer in enumerate(self.layer_of):
            self.layers[layer].append(place)

    def order(self) -> None:
        """Sort each layer by the mean place of its neighbours, back and forth; keep the order with fewest crossings."""
        best, fewest = [list(layer) for layer in self.layers], self.crossings()
        for sweep in range(SWEEPS):
            forwards = sweep % 2 == 0
            neighbours = self.before if forwards else self.after
            numbers = range(1, len(self.layers)) if forwards else range(len(self.layers) - 2, -1, -1)
            for number in numbers:
                position = self.positions(self.layers[number + (-1 if forwards else 1)])
                here = self.positions(self.layers[number])
                wanted = {p: _mean([position[q] for q in neighbours[p]], here[p]) for p in self.layers[number]}
                self.layers[number].sort(key=lambda p, wanted=wanted: wanted[p])  # type: ignore[misc]
            count = self.crossings()
            if count < fewest:
                best, fewest = [list(layer) for layer in self.layers], count
        self.layers = best

    @staticmethod
    def positions(layer: list[int]) -> dict[int, float]:
        """The place of each member, from 0 to 1, so that layers of different sizes compare."""
        return {p: (k + 0.5) / len(layer) for k, p in enumerate(layer)}

    def pieces(self) -> list[int]:
        """How many edges run between each layer and the next."""
        return [sum(len(self.after[p]) for p in layer) for layer in self.layers[:-1]]

    def crossings(self) -> int:
        """How many pairs of edges cross, over all layers."""
        total = 0
        for layer, following in pairwise(self.layers):
            position = {p: k for k, p in enumerate(following)}
            seen: list[int] = []
            for p in layer:
                ends = sorted(position[q] for q in self.after[p])
                total += sum(len(seen) - bisect_right(seen, end) for end in ends)
                for end in ends:
                    insort(seen, end)
        return total


def _coordinates(graph: _Layered, *, across: float, gap: float) -> list[float]:
    """Coordinates across the layers: near the neighbours, boxes apart."""
    size = [across if p < graph.real else PASSAGE for p in range(len(graph.layer_of))]
    places = [0.0] * len(size)
    for layer in graph.layers:
        offsets = _offsets([size[p] for p in layer], gap)
        for p, offset in zip(layer, offsets, strict=True):
            places[p] = offset - offsets[-1] / 2
    for sweep in range(2 * SWEEPS):
        for layer in graph.layers if sweep % 2 == 0 else graph.layers[::-1]:
            offsets = _offsets([size[p] for p in layer], gap)
            wanted, weights = [], []
            for p, offset in zip(layer, offsets, strict=True):
                neighbours = [*graph.before[p], *graph.after[p]]
                wanted.append(_mean([places[q] for q in neighbours], places[p]) - offset)
                weights.append(1.0 if p < graph.real else PASSAGE_WEIGHT)
            for p, offset, found in zip(layer, offsets, _isotonic(wanted, weights), strict=True):
                places[p] = found + offset
    return places


def _offsets(sizes: list[float], gap: float) -> list[float]:
    """The closest allowed places of a layer's members, from 0."""
    offsets = [0.0]
    for a, b in pairwise(sizes):
        offsets.append(offsets[-1] + (a + b) / 2 + gap)
    return offsets


def _isotonic(wanted: list[float], weights: list[float]) -> list[float]:
    """The nondecreasing sequence nearest to `wanted`: pool neighbours that are out of order."""
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(wanted, weights, strict=True):
        pool = (value, weight, 1)
        while pools and pools[-1][0] > pool[0]:
            mean, mass, count = pools.pop()
            whole = mass + pool[1]
            pool = ((mean * mass + pool[0] * pool[1]) / whole, whole, count + pool[2])
        pools.append(pool)
    return [mean for mean, _, count in pools for _ in range(count)]


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _routes(graph: _Layered, centre: dict[int, Point], *, along: float, across: float) -> list[list[Point]]:
    """Each edge's points: from a port on its source, straight past the boxes of each layer, to a port on its target."""
    leaving = _ports(graph, centre, across=across, first=True)
    arriving = _ports(graph, centre, across=across, first=False)
    routes = []
    for k, chain in enumerate(graph.chains):
        start, end = centre[chain[0]], centre[chain[-1]]
        route = [(start[0] + along / 2, start[1] + leaving[k])]
        for passage in chain[1:-1]:
            x, y = centre[passage]
            route += [(x - along / 2, y), (x + along / 2, y)]
        routes.append([*route, (end[0] - along / 2, end[1] + arriving[k])])
    return routes


def _ports(graph: _Layered, centre: dict[int, Point], *, across: float, first: bool) -> list[float]:
    """How far from the middle of its box's side each edge leaves or arrives, in the order of where it comes from."""
    at: dict[int, list[int]] = {}
    for k, chain in enumerate(graph.chains):
        at.setdefault(chain[0] if first else chain[-1], []).append(k)
    shift = [0.0] * len(graph.chains)
    for members in at.values():
        members.sort(key=lambda k: centre[graph.chains[k][1 if first else -2]][1])
        apart = min(14.0, 0.7 * across / len(members))
        for k, member in enumerate(members):
            shift[member] = (k - (len(members) - 1) / 2) * apart
    return shift


def _labels(
    routes: list[tuple[Point, ...]], sizes: list[Point], boxes: list[Point], *, box: Point, downwards: bool
) -> list[Point]:
    """A place for each edge's text on its curves, clear of boxes and of the other texts as far as there is one."""
    # The curve next to the source comes first: further on, edges run together.
    ends = [{route[:2]: None, route[-2:]: None} for route in routes]
    candidates = [[_on_curve(a, b, t, downwards) for a, b in pieces for t in LABEL_PLACES] for pieces in ends]
    near = [
        [2 * sum(_overlap(c, size, other, box) for other in _around(found, boxes, size, box)) for c in found]
        for found, size in zip(candidates, sizes, strict=True)
    ]
    widest = (max([size[0] for size in sizes], default=0.0), LABEL[1])
    placed: dict[int, Point] = {}
    for _ in range(3):
        for k, found in enumerate(candidates):
            placed.pop(k, None)
            close = set(_around(found, list(placed.values()), sizes[k], widest))
            others = [(at, sizes[j]) for j, at in placed.items() if at in close]
            costs = [
                clash + sum(_overlap(c, sizes[k], at, size) for at, size in others)
                for c, clash in zip(found, near[k], strict=True)
            ]
            placed[k] = found[costs.index(min(costs))]
    return [placed[k] for k in range(len(routes))]


def _around(points: list[Point], others: list[Point], size: Point, other_size: Point) -> list[Point]:
    """Those of `others` whose rectangle could touch one around any of the points."""
    wide, high = (size[0] + other_size[0]) / 2, (size[1] + other_size[1]) / 2
    left, right = min([p[0] for p in points]) - wide, max([p[0] for p in points]) + wide
    top, bottom = min([p[1] for p in points]) - high, max([p[1] for p in points]) + high
    return [p for p in others if left < p[0] < right and top < p[1] < bottom]


def _on_curve(a: Point, b: Point, t: float, downwards: bool) -> Point:
    """A point of the cubic that leaves `a` and reaches `b` along the direction of flow, bent half-way."""
    half = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
    c, d = ((a[0], half[1]), (b[0], half[1])) if downwards else ((half[0], a[1]), (half[0], b[1]))
    s = 1 - t
    weights = (s**3, 3 * s * s * t, 3 * s * t * t, t**3)
    x, y = [sum(w * p[k] for w, p in zip(weights, (a, c, d, b), strict=True)) for k in (0, 1)]
    return x, y


def _overlap(a: Point, a_size: tuple[float, float], b: Point, b_size: tuple[float, float]) -> float:
    """The area two rectangles share."""
    wide = (a_size[0] + b_size[0]) / 2 - abs(a[0] - b[0])
    high = (a_size[1] + b_size[1]) / 2 - abs(a[1] - b[1])
    return max(wide, 0.0) * max(high, 0.0)
