"""Where a program repeats itself: runs of steps that are the same, period by period, operands left aside."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..ir.keys import key_of
from ..ir.program import GUARD, Program, Step
from ..ops.indexing import index

FEWEST = 16
"""Repetitions from which on a loop is better than its steps one after the other."""
SHORTEST = 256
"""Steps in all from which on it is worth while to look."""
WIDER = 8
"""How much longer the windows of the next round are."""


class Repetition(NamedTuple):
    """Steps `start` to `start + length`, each of which is like the one `period` later."""

    start: int
    length: int
    period: int


def runs(program: Program) -> list[Repetition]:
    """The longest runs with at least `FEWEST` periods, the one that covers most first.

    Windows of a fixed length are compared by a hash: inside a run each window occurs again one period later. A window
    that is as long as the period finds it, so that a few lengths, each several times the last one, are enough.
    """
    kinds = _kinds(program)
    count = len(kinds)
    found: set[Repetition] = set()
    mismatches: dict[int, np.ndarray] = {}
    width, hashes = 1, _mixed(kinds.astype(np.uint64))
    while 2 * width < count:
        hashes, width = _widened(hashes, width), width * WIDER
        if len(hashes) < 2:
            break
        found.update(_at_width(hashes, width, kinds, mismatches))
    return sorted(found, key=lambda r: (-r.length, r.period, r.start))


def _kinds(program: Program) -> np.ndarray:
    """For each step a number that is the same for steps that differ by their operands alone."""
    types = _type_numbers(program)
    seen: dict[Any, int] = {}
    kinds = []
    key: Any
    for step in program.steps:
        primitive, args, params, outs, _ = step
        if len(args) == 2 and len(outs) == 1 and not params:
            key = (primitive, types[args[0]], types[args[1]], types[outs[0]])
        elif len(args) == 1 and len(outs) == 1:
            key = (primitive, types[args[0]], _pattern(step) if params else None, -1, types[outs[0]])
        else:
            key = (primitive, _pattern(step), tuple([types[n] for n in args]), tuple([types[n] for n in outs]))
        kinds.append(seen.setdefault(key, len(seen)))
    return np.fromiter(kinds, np.int64, len(kinds))


def _type_numbers(program: Program) -> list[int]:
    """A number for each value, the same for equal types."""
    numbers: dict[Any, int] = {}
    known: dict[int, int] = {}
    found = []
    for t in program.types:
        number = known.get(id(t))
        if number is None:
            number = known[id(t)] = numbers.setdefault(t, len(numbers))
        found.append(number)
    return found


def _pattern(step: Step) -> Any:
    """The parameters of a step; where it reads an element, without saying which."""
    if step.primitive is index and len(step.args) == 1:
        key = step.params["template"]
        return (
            int if len(key) == 1 and type(key[0]) is int else tuple([int if type(e) is int else key_of(e) for e in key])
        )
    return (key_of(step.params), step.line) if step.primitive is GUARD else key_of(step.params)


def _mixed(x: np.ndarray) -> np.ndarray:
    """Numbers spread over all bits."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    return x ^ (x >> np.uint64(29))


def _widened(hashes: np.ndarray, width: int) -> np.ndarray:
    """The hashes of windows `WIDER` times as long."""
    count = len(hashes) - (WIDER - 1) * width
    found = np.zeros(max(count, 0), np.uint64)
    for k in range(WIDER):
        found = _mixed(found * np.uint64(0x94D049BB133111EB) + hashes[k * width : k * width + len(found)])
    return found


def _at_width(hashes: np.ndarray, width: int, kinds: np.ndarray, mismatches: dict[int, np.ndarray]) -> list[Repetition]:
    """Runs whose period is at most the width of a window."""
    order = np.argsort(hashes, kind="stable")
    again = hashes[order[1:]] == hashes[order[:-1]]
    distance = np.zeros(len(hashes), np.int64)
    distance[order[:-1][again]] = order[1:][again] - order[:-1][again]
    distance[distance > width] = 0
    starts = np.concatenate([[0], np.flatnonzero(np.diff(distance)) + 1])
    periods = distance[starts]
    lengths = np.diff(starts, append=len(distance)) + width - 1 + periods
    long = (periods > 0) & (lengths >= FEWEST * periods) & (lengths >= SHORTEST)
    found = []
    for start, length, period in zip(*[x[long].tolist() for x in (starts, lengths, periods)], strict=True):
        if period not in mismatches:
            mismatches[period] = np.flatnonzero(kinds[:-period] != kinds[period:])
        found += _extended(mismatches[period], len(kinds), Repetition(start, length, period))
    return found


def _extended(differ: np.ndarray, count: int, run: Repetition) -> list[Repetition]:
    """The run as far as it really goes: hashes may deceive, and windows do not reach to its end."""
    place = int(np.searchsorted(differ, run.start))
    first = int(differ[place - 1]) + 1 if place else 0
    end = int(differ[place]) + run.period if place < len(differ) else count
    return [Repetition(first, end - first, run.period)] if end - first >= FEWEST * run.period else []
