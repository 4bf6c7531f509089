"""How sets of inputs pass one step of a program: by the facts of its operation, or else all operands to all results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.entry.moves import ADDS, MARKS, Same, View
from ...ir.program import Step, Type
from ...ops.contraction import convolve
from ...ops.transcendental import i0, sinc
from ...rules.elementwise import Elementwise
from ...rules.multi_output import Several
from ...rules.multilinear import Multilinear
from ...rules.reducing import Reducing
from ...rules.selecting import Selecting
from .interactions import Interactions, add_all, is_bent, partners
from .products import contracted, convolved, multiplied_by_sparse, sparse_factor
from .sets import Sets, broadcast, grouped, joined, matrix, numbers, product, stacked, taken

Found = list[Sets | None]
"""For each result of a step its sets."""


class Passing(NamedTuple):
    """A step, and what is known of its operands."""

    step: Step
    takes: list[Type]
    gives: list[Type]
    sets: list[Sets | None]
    values: list[Any]
    """Those of places, as far as they are known; None for all others."""
    width: int
    """The number of inputs."""
    pairs: Interactions | None
    """Where pairs of inputs are collected, if they are wanted."""

    def stacked(self) -> Sets:
        """The sets of all operands, one after the other."""
        return stacked(self.sets, [t.size for t in self.takes], self.width)


def passed(p: Passing) -> Found:
    """The sets of the results of a step of which some operand depends on an input."""
    facts, rule = p.step.primitive.facts, p.step.primitive.derivative
    if isinstance(facts.moves, Same):
        return [p.sets[0]]
    if facts.moves is not None or facts.addressed is not None:
        return _moved(p)
    if facts.reduces is not None or isinstance(rule, Reducing):
        return _reduced(p)
    if facts.accumulates is not None:
        return _accumulated(p)
    if facts.contracts is not None:
        return [contracted(p.step, p.takes, p.gives[0], p.sets, p.pairs)]
    if p.step.primitive.nin is not None or isinstance(rule, (Elementwise, Selecting, Several)):
        return _each(p)
    if p.step.primitive in (sinc, i0):  # elementwise, with rules for every order
        return _each(p)
    if p.step.primitive is convolve:
        return [convolved(p.step, p.takes, p.gives[0], p.sets, p.pairs)]
    factor = sparse_factor(p.step)
    return everything(p) if factor is None else [multiplied_by_sparse(factor, p.takes[0], p.sets[0])]


def everything(p: Passing) -> Found:
    """Every element of the results depends on every element of the operands: right for any operation."""
    every = p.stacked()
    whole = grouped(every, np.zeros(every.shape[0], int), 1)
    if p.pairs is not None and is_bent(p.step):
        add_all(p.pairs, p.sets, isinstance(p.step.primitive.derivative, Multilinear))
    return [taken(whole, np.zeros(t.size, int)) if t.dtype.kind in "fc" else None for t in p.gives]


def _each(p: Passing) -> Found:
    """An element of the result depends on the elements at its place."""
    want = np.broadcast_shapes(*[t.shape for t in p.takes])
    if p.gives[0].shape != want:  # NumPy's functions of each element have no other results
        return everything(p)
    spread = [broadcast(s, t.shape, want) for s, t in zip(p.sets, p.takes, strict=True)]
    if p.pairs is not None:
        for k, j in partners(p.step, len(spread)):
            p.pairs.add(spread[k], spread[j])
    total = None
    for sets in spread:
        total = joined(total, sets)
    return [total] * len(p.gives)


def _moved(p: Passing) -> Found:
    """Elements that stay what they are: the operation itself, taken with their numbers, says where they go."""
    addressed = p.step.primitive.facts.addressed
    places = [] if addressed is None else p.values[addressed.first :]
    if any([v is None for v in places]):
        return everything(p)
    if places and addressed is not None and addressed.does == ADDS:
        return _added(p, places)
    if addressed is not None and addressed.does == MARKS:
        return [None]
    first = 1
    tagged: list[Any] = []
    for sets, type_ in zip(p.sets[: len(p.sets) - len(places)], p.takes, strict=False):
        tagged.append(numbers(type_.shape, first) if sets is not None else np.zeros(type_.shape, int))
        first += type_.size
    found = np.asarray(p.step.primitive.evaluate(*tagged, *places, **p.step.params)).reshape(-1)
    if isinstance(p.step.primitive.facts.moves, View) and not places:
        return [taken(p.sets[0], found - 1)]
    counts = [t.size for t in p.takes[: len(tagged)]]
    return [taken(stacked([None, *p.sets[: len(tagged)]], [1, *counts], p.width), found)]


def _added(p: Passing, places: Sequence[Any]) -> Found:
    """Elements added to zeros at places that are values: the transpose reads where they go."""
    step, (x, *_), (out, *_) = p.step, p.takes, p.gives
    given = [np.zeros(x.shape), *places]
    needed = [True] + [False] * len(places)
    targets = np.asarray(
        step.primitive.derivative.pull(step.primitive, numbers(out.shape), None, given, step.params, needed)[0]
    )
    sources = np.broadcast_to(numbers(x.shape), targets.shape).reshape(-1)
    return [product(matrix(targets.reshape(-1), sources, (out.size, x.size)), p.sets[0])]


def _reduced(p: Passing) -> Found:
    """An element of the result depends on all along the axes."""
    shape = p.takes[0].shape
    axes = {a % len(shape) for a in p.step.params["axis"]} if shape else set()
    kept = tuple([1 if k in axes else n for k, n in enumerate(shape)])
    groups = np.broadcast_to(numbers(kept), shape).reshape(-1)
    found = grouped(p.sets[0], groups, math.prod(kept))
    if p.pairs is not None and is_bent(p.step):
        p.pairs.add(found, found)
    return [found]


def _accumulated(p: Passing) -> Found:
    """An element of the result depends on all up to its place along the axis: joined in as many steps as digits."""
    shape, axis = p.takes[0].shape, p.step.params["axis"]
    sets, length, every = p.sets[0], shape[axis], np.moveaxis(numbers(shape), axis, 0)
    ahead = 1
    while ahead < length:
        joins = matrix(every[ahead:].reshape(-1), every[:-ahead].reshape(-1), (len(every.reshape(-1)),) * 2)
        sets, ahead = joined(sets, product(joins, sets)), 2 * ahead
    if p.pairs is not None and is_bent(p.step):
        p.pairs.add(sets, sets)
    return [sets]
