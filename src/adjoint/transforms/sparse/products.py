"""How sets of inputs pass products that sum: which elements meet, and in which element of the result they end."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ...core.entry.algebra import Labels
from ...ir.program import Step, Type
from ...ops.linalg.sparse import multiplied
from .interactions import Interactions
from .sets import Sets, Shape, grouped, joined, matrix, numbers, product, scipy_sparse, taken


def contracted(
    step: Step, takes: Sequence[Type], out: Type, sets: Sequence[Sets | None], pairs: Interactions | None
) -> Sets | None:
    """Of a product with labels: first each operand is joined over the labels that the result does not have."""
    contracts = step.primitive.facts.contracts
    assert contracts is not None
    shapes = [t.shape for t in takes]
    *operands, result = contracts(*shapes, **step.params)
    size: dict[Hashable, int] = {}
    for labels, shape in zip(operands, shapes, strict=True):
        for label, n in zip(labels, shape, strict=True):
            size[label] = max(n, size.get(label, n)) if n and size.get(label, 1) else 0
    total = None
    for s, labels, shape in zip(sets, operands, shapes, strict=True):
        total = joined(total, None if s is None else _spread(s, labels, shape, result, size))
    if pairs is not None and sets[0] is not None and sets[1] is not None:
        shared = [label for label in operands[0] if label in operands[1]]
        meeting = [_spread(s, n, h, shared, size) for s, n, h in zip(sets, operands, shapes, strict=True)]
        pairs.add(*meeting)
    return total


def _spread(sets: Sets, labels: Labels, shape: Shape, wanted: Labels, size: dict[Hashable, int]) -> Sets:
    """The sets joined over all labels but the wanted ones, for every element with those."""
    kept = tuple([n if label in wanted else 1 for label, n in zip(labels, shape, strict=True)])
    groups = np.broadcast_to(numbers(kept), shape).reshape(-1)
    if math.prod(kept) != len(groups):
        sets = grouped(sets, groups, math.prod(kept))
    have = [label for label in labels if label in wanted]
    line = numbers(tuple([n for label, n in zip(labels, kept, strict=True) if label in wanted]))
    line = np.transpose(line, [have.index(label) for label in wanted if label in have])
    line = line.reshape([line.shape[_place(wanted, have, label)] if label in have else 1 for label in wanted])
    rows = np.broadcast_to(line, [size[label] for label in wanted]).reshape(-1)
    return sets if np.array_equal(rows, np.arange(sets.shape[0])) else taken(sets, rows)


def _place(wanted: Labels, have: Sequence[Hashable], label: Hashable) -> int:
    """The axis of a label among those of the wanted ones that are there."""
    return [w for w in wanted if w in have].index(label)


def convolved(
    step: Step, takes: Sequence[Type], out: Type, sets: Sequence[Sets | None], pairs: Interactions | None
) -> Sets | None:
    """Of `np.convolve`: the elements i and j meet in the element i + j of the full result."""
    n, m = takes[0].size, takes[1].size
    first, second = np.divmod(np.arange(n * m), m)
    start = 0 if step.params["mode"] == "full" else min(n, m) - 1
    places = first + second - start
    inside = (places >= 0) & (places < out.size)
    total = None
    for s, rows, count in ((sets[0], first, n), (sets[1], second, m)):
        if s is not None:
            total = joined(total, product(matrix(places[inside], rows[inside], (out.size, count)), s))
    if pairs is not None and sets[0] is not None and sets[1] is not None:
        pairs.add(taken(sets[0], first[inside]), taken(sets[1], second[inside]))
    return total


def sparse_factor(step: Step) -> Any:
    """The sparse matrix of SciPy's that a step multiplies with; None for any other step."""
    return step.params["matrix"].value if step.primitive is multiplied else None


def multiplied_by_sparse(factor: Any, x: Type, sets: Sets | None) -> Sets:
    """Of a sparse matrix times each row of an array."""
    sparse = scipy_sparse()
    found = sparse.csr_array(factor)
    structure = sparse.csr_array((np.ones(found.nnz, bool), found.indices, found.indptr), shape=found.shape)
    count = math.prod(x.shape[:-1])
    joins = structure if count == 1 else sparse.kron(sparse.eye_array(count, dtype=bool), structure, format="csr")
    return product(joins.astype(bool), sets)
