"""Star colourings of symmetric patterns: every entry is found by a product, directly or by symmetry.

Neighbours have different colours, and the vertices of two colours make stars: of the ends of an edge, at most one,
the hub, has other neighbours of the same colour as its partner. The row of the other end then has the entry alone in
the colour of the hub. So an arrow takes two colours, where columns alone take as many as there are.

The algorithm is that of Gebremedhin, Tarafdar, Manne and Pothen (SIAM J. Sci. Comput. 29, 2007), which keeps the
stars. What it asks of neighbours of neighbours is kept for each vertex in bits, so that it takes time proportional to
the edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .colouring import columns_of, count_of
from .sets import Sets, Shape, matrix


def star_colours(pattern: Sets, shape: Shape | None = None) -> Any:
    """Colours of the vertices, the fewest of several ways to find them; -1 for those without entries.

    Where all rows are about as long as the longest one, and columns need as many colours as that, stars save hardly
    any.
    """
    found = [columns_of(pattern, shape)]
    sizes = np.diff(pattern.indptr)
    longest, mean = int(sizes.max(initial=0)), pattern.nnz / max(int((sizes > 0).sum()), 1)
    is_small = pattern.nnz < MANY
    if count_of(found[0]) > EVEN * mean or (is_small and count_of(found[0]) > longest):
        edges = _without_diagonal(pattern)
        starts, ends = edges.indptr.tolist(), edges.indices.tolist()
        orders = [np.argsort(-np.diff(edges.indptr), kind="stable").tolist()]
        if is_small:
            orders.append(range(len(sizes)))
        found += [_Stars(starts, ends).coloured(order) for order in orders]
    best = min(found, key=count_of)
    return np.where(sizes > 0, best, -1)


EVEN = 1.5
"""How much longer than the mean row the longest one is where rows count as even."""
MANY = 1_000_000
"""Entries from which only one order is tried, and only if rows are not even."""


def _without_diagonal(pattern: Sets) -> Any:
    edges = pattern.tocoo()
    off = edges.row != edges.col
    return matrix(edges.row[off], edges.col[off], pattern.shape)


class _Stars:
    """A colouring under way."""

    def __init__(self, starts: list[int], ends: list[int]) -> None:
        count = len(starts) - 1
        self.starts, self.ends = starts, ends
        self.colours = [-1] * count
        self.around = [0] * count
        """The colours of the neighbours of each vertex, as bits."""
        self.hubs = [0] * count
        """The colours of those neighbours that are hubs of stars to which the vertex belongs."""
        self.first: list[dict[int, int]] = [{} for _ in range(count)]
        """For each vertex that has a colour, and each colour, its first neighbour of that colour."""

    def coloured(self, order: Any) -> Any:
        """The colours of all vertices, which get them in this order."""
        for v in order:
            every = self.ends[self.starts[v] : self.starts[v + 1]]
            near = [w for w in every if self.colours[w] >= 0]
            taken = self.around[v]
            seen: dict[int, int] = {}
            for w in near:
                colour = self.colours[w]
                if colour in seen:  # v becomes a hub: no neighbour of its spokes may have its colour
                    taken |= self.around[w] | self.around[seen[colour]]
                else:
                    seen[colour] = w
                    taken |= self.hubs[w]
            free = ~taken & (taken + 1)
            self.colours[v] = free.bit_length() - 1
            self._joined(v, near, seen)
            for w in every:
                self.around[w] |= free
        return np.array(self.colours, dtype=int)

    def _joined(self, v: int, near: list[int], seen: dict[int, int]) -> None:
        """Put the edges of a new vertex into stars; what has to be known of them is who is a spoke of whom."""
        colour = self.colours[v]
        for w in near:
            other = self.first[w].setdefault(colour, v)
            if other != v:  # w has another neighbour of this colour: it is the hub
                self.hubs[v] |= 1 << self.colours[w]
                self.hubs[other] |= 1 << self.colours[w]
            elif seen[self.colours[w]] != w:  # v has another neighbour of the colour of w: it is the hub
                self.hubs[w] |= 1 << colour
                self.hubs[seen[self.colours[w]]] |= 1 << colour
        self.first[v] = seen
