"""How sets of inputs pass loops and branches: what their bodies do is found once, and then joined over all steps.

A body is a map of sets that joins: C' = B C + D for the carry, whatever it computes. So the carries of all steps are
found together, in as many products as the number of steps has binary digits.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...ir.loops import CondOperands, ScanOperands, WhileOperands
from ...ir.program import Program
from .sets import Sets, empty, joined, numbers, product, scipy_sparse, stacked, taken

if TYPE_CHECKING:
    from .steps import Passing

Found = list[Sets | None]


class SetMap(NamedTuple):
    """What a program does with sets of its own inputs."""

    sets: Found
    """For each output on which elements of the inputs it depends."""
    pairs: Sets | None
    """Which of them meet in a way that is not linear, if that was asked for."""


Look = Callable[[Program, Mapping[int, Any], bool], SetMap]


def scanned(p: Passing, look: Look) -> Found:
    """Of `scan`: consts, carry and slices to carry and slices of results."""
    step, body, length = p.step, p.step.params["body"], p.step.params["length"]
    sizes = step.params["sizes"]
    local = look(body, _known(p, body, 0, sizes[0]), p.pairs is not None)
    outs = [body.types[o].size for o in body.outputs]
    consts, carry, xs = ScanOperands.cut(range(len(step.args)), sizes)
    width = sum([body.types[n].size for n in body.inputs])
    k, c, x = ([body.types[body.inputs[i]].size for i in group] for group in (consts, carry, xs))
    matrix = stacked(local.sets, outs, width).astype(bool)
    first, second = sum(k), sum(k) + sum(c)
    of_consts, of_carry, of_xs = matrix[:, :first], matrix[:, first:second], matrix[:, second:]
    order = np.arange(length)[::-1] if step.params["reverse"] else np.arange(length)
    fixed = stacked([p.sets[i] for i in consts], k, p.width)
    slices = taken(
        stacked([p.sets[i] for i in xs], [p.takes[i].size for i in xs], p.width), _interleaved(x, length, order)
    )
    start = stacked([p.sets[i] for i in carry], c, p.width)
    own = joined(
        product(_repeated(of_xs, length), slices),
        taken(product(of_consts, fixed), np.tile(np.arange(len(matrix.indptr) - 1), length)),
    )
    rows = numbers((length, sum(outs)))
    driven = stacked([start, taken(own, rows[:, : sum(c)].reshape(-1))], [sum(c), length * sum(c)], p.width)
    carries = _closed(driven, of_carry[: sum(c)], length)
    before = taken(carries, np.arange(length * sum(c)))
    every = joined(own, product(_repeated(of_carry, length), before))
    if p.pairs is not None and local.pairs is not None:
        inputs = stacked([fixed, before, slices], [sum(k), length * sum(c), length * sum(x)], p.width)
        _met(p.pairs, local.pairs, inputs, _inputs_by_step(sum(k), sum(c), sum(x), length))
    last = taken(carries, np.arange(length * sum(c), (length + 1) * sum(c)))
    found, place = [], 0
    for i, size in enumerate(outs):
        if i < len(c):
            found.append(taken(last, np.arange(place, place + size)))
        else:
            found.append(taken(every, rows[np.argsort(order), place : place + size].reshape(-1)))
        place += size
    return found


def repeated(p: Passing, look: Look) -> Found:
    """Of `while_loop`: for any number of steps, so that what holds does not depend on it."""
    step, body = p.step, p.step.params["body"]
    _, consts, carry = WhileOperands.cut(range(len(step.args)), step.params["sizes"])
    local = look(body, _known(p, body, consts[0] if consts else 0, len(consts)), p.pairs is not None)
    k, c = (sum([p.takes[i].size for i in group]) for group in (consts, carry))
    matrix = stacked(local.sets, [body.types[o].size for o in body.outputs], k + c)
    fixed = stacked([p.sets[i] for i in consts], [p.takes[i].size for i in consts], p.width)
    start = stacked([p.sets[i] for i in carry], [p.takes[i].size for i in carry], p.width)
    found: Any = joined(start, product(matrix[:, :k], fixed))
    onwards, entries = matrix[:, k:], -1
    while found.nnz != entries:
        entries = found.nnz
        found = joined(found, product(onwards, found))
        onwards = joined(onwards, product(onwards, onwards))
    if p.pairs is not None and local.pairs is not None:
        _met(p.pairs, local.pairs, stacked([fixed, found], [k, c], p.width), np.arange(k + c)[None])
    return [*_cut(found, [p.takes[i].size for i in carry]), None]


def either(p: Passing, look: Look) -> Found:
    """Of `cond`: what any of the branches does."""
    _, *given = range(len(p.step.args))
    inputs = stacked([p.sets[i] for i in given], [p.takes[i].size for i in given], p.width)
    total = None
    for branch in p.step.params["branches"]:
        local = look(branch, {}, p.pairs is not None)
        found = stacked(local.sets, [t.size for t in p.gives], inputs.shape[0])
        total = joined(total, product(found, inputs))
        if p.pairs is not None and local.pairs is not None:
            _met(p.pairs, local.pairs, inputs, np.arange(inputs.shape[0])[None])
    return _cut(total, [t.size for t in p.gives])


KINDS: dict[Any, Callable[[Any, Look], Found]] = {
    ScanOperands: scanned,
    WhileOperands: repeated,
    CondOperands: either,
}
"""By the record of the operands; any other step with programs in it joins everything."""


def _known(p: Passing, body: Program, first: int, count: int) -> dict[int, Any]:
    """The places that are handed to a body, the same in every step."""
    return {n: p.values[first + i] for i, n in enumerate(body.inputs[:count]) if p.values[first + i] is not None}


def _cut(sets: Sets, sizes: Sequence[int]) -> Found:
    ends = np.cumsum([0, *sizes])
    return [taken(sets, np.arange(a, b)) for a, b in itertools.pairwise(ends)]


def _interleaved(sizes: Sequence[int], length: int, order: Any) -> Any:
    """Where the elements of all slices are that each step takes, in stacks that come one after the other."""
    starts = np.cumsum([0, *[length * n for n in sizes]])[:-1]
    parts = [start + order[:, None] * n + np.arange(n) for start, n in zip(starts, sizes, strict=True)]
    return np.concatenate([np.zeros((length, 0), int), *parts], axis=1).reshape(-1)


def _repeated(matrix: Any, length: int) -> Any:
    """The same map for every step."""
    sparse = scipy_sparse()
    if not matrix.nnz:
        return empty(matrix.shape[0] * length, matrix.shape[1] * length)
    return sparse.kron(sparse.eye_array(length, dtype=bool), matrix, format="csr").astype(bool)


def _closed(driven: Sets, onwards: Any, length: int) -> Sets:
    """All carries, from what each step adds to them: c[t + 1] = onwards c[t] + driven[t + 1]."""
    sparse = scipy_sparse()
    ahead = 1
    while ahead <= length and onwards.nnz:
        shift = sparse.eye_array(length + 1, k=-ahead, dtype=bool)
        driven = joined(driven, product(sparse.kron(shift, onwards, format="csr").astype(bool), driven))
        onwards, ahead = product(onwards, onwards), 2 * ahead
    return driven


def _inputs_by_step(k: int, c: int, x: int, length: int) -> Any:
    """For each step the rows of its inputs: consts, which are the same for all, then carries, then slices."""
    consts = np.broadcast_to(np.arange(k), (length, k))
    return np.concatenate([consts, k + numbers((length, c)), k + length * c + numbers((length, x))], axis=1)


def _met(pairs: Any, local: Sets, inputs: Sets, rows: Any) -> None:
    """Let the inputs meet that meet in a body, in every step."""
    once = local.tocoo()
    above = once.row <= once.col
    first, second = rows[:, once.row[above]], rows[:, once.col[above]]
    pairs.add(taken(inputs, first.reshape(-1)), taken(inputs, second.reshape(-1)))
