"""Loops on plain values: with the functions that run their programs, or step by step through the primitives inside."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.rule import UnknownValueError
from ...core.values import Value, unshared
from ...ir.interpret import replay
from ...ir.loops import PullOperands, ScanOperands, WhileOperands, split
from ...ir.program import Program, Type
from .capture import as_numpy_scalar, as_type, derived
from .running import Function, executable, scalar_executable
from .schedule import sweep_back

Values = Sequence[Value]
Kind = Callable[[Value], Value]
FEW = 8
"""Steps for which it does not pay to write a function of Python's numbers."""


def run_scan(loop: ScanOperands, body: Program, length: int, reverse: bool) -> tuple[Value, ...]:
    """The last carry and the stacks of a scan."""
    numbers = scalar_executable(body) if length > FEW else None
    if numbers is not None:
        return _scan_numbers(numbers, loop, body, length, reverse)
    n_carry = len(loop.carry)
    run, of_consts, of_carry, kinds, stacks = _prepared(body, len(loop.consts), n_carry)
    consts, carry = _typed(loop.consts, of_consts), _typed(loop.carry, of_carry)
    ys = [np.empty((length, *t.shape), t.dtype) for t in stacks]
    with np.errstate(all="ignore"):
        for i in _order(length, reverse):
            found = run(*consts, *carry, *[x[i] for x in loop.xs])
            carry = found[:n_carry]
            for k, kind in kinds:
                carry[k] = kind(carry[k])
            for y, new in zip(ys, found[n_carry:], strict=True):
                y[i] = new
    return (*unshared(carry, loop.flat()), *ys)


def _scan_numbers(run: Function, loop: ScanOperands, body: Program, length: int, reverse: bool) -> tuple[Value, ...]:
    """A scan of numbers alone."""
    n_carry = len(loop.carry)
    _, of_consts, of_carry, _, stacks = _prepared(body, len(loop.consts), n_carry)
    consts, carry = _pythons(loop.consts, of_consts), _pythons(loop.carry, of_carry)
    rows = [np.asarray(x)[::-1].tolist() if reverse else np.asarray(x).tolist() for x in loop.xs]
    found: list[list[Any]] = []
    for slices in zip(*rows, strict=True) if rows else itertools.repeat((), length):
        new = run(*consts, *carry, *slices)
        carry = new[:n_carry]
        found.append(new[n_carry:])
    ys = [np.array(column, t.dtype) for column, t in zip(zip(*found, strict=True), stacks, strict=True)]
    return (*_typed(carry, of_carry), *[y[::-1].copy() if reverse else y for y in ys])


def scan_steps(loop: ScanOperands, body: Program, length: int, reverse: bool) -> tuple[Value, ...]:
    """A scan through its primitives, which see traced values."""
    _refuse_many(length * len(body.steps))
    carry: Sequence[Value] = loop.carry
    if not length:
        stacked = [body.types[o] for o in body.outputs[len(carry) :]]
        return (*carry, *[np.zeros((0, *t.shape), t.dtype) for t in stacked])
    rows = []
    for i in _order(length, reverse):
        found = replay(body, [*loop.consts, *carry, *[x[i] for x in loop.xs]])
        carry = found[: len(carry)]
        rows.append(found[len(carry) :])
    columns = zip(*(rows[::-1] if reverse else rows), strict=True)
    return (*carry, *[np.stack(column) for column in columns])


def run_while(
    loop: WhileOperands, cond: Program, body: Program, goes_on: Callable[[], bool] = lambda: True
) -> tuple[Value, ...]:
    """The last carry of a while loop, and the number of steps; before the end, if it is told not to go on."""
    run, of_consts, of_carry, kinds, _ = _prepared(body, len(loop.body_consts), len(loop.carry))
    asks, of_cond, *_ = _prepared(cond, len(loop.cond_consts), 0)
    asked, step = scalar_executable(cond), scalar_executable(body)
    if asked is not None and step is not None:
        given, consts = _pythons(loop.cond_consts, of_cond), _pythons(loop.body_consts, of_consts)
        carry, count = _turned(asked, step, given, consts, _pythons(loop.carry, of_carry), [], goes_on)
        return (*_typed(carry, of_carry), np.int64(count))
    given, consts = _typed(loop.cond_consts, of_cond), _typed(loop.body_consts, of_consts)
    with np.errstate(all="ignore"):
        carry, count = _turned(asks, run, given, consts, _typed(loop.carry, of_carry), kinds, goes_on)
    return (*unshared(carry, loop.flat()), np.int64(count))


def _turned(
    asked: Function,
    step: Function,
    of_cond: Values,
    consts: Values,
    carry: list[Any],
    kinds: Sequence[tuple[int, Kind]],
    goes_on: Callable[[], bool],
) -> tuple[list[Any], int]:
    count = 0
    while goes_on() and asked(*of_cond, *carry)[0]:
        carry = step(*consts, *carry)
        for k, kind in kinds:
            carry[k] = kind(carry[k])
        count += 1
    return carry, count


def run_branch(given: Values, program: Program) -> tuple[Value, ...]:
    """The results of a branch."""
    run, of_given, *_ = _prepared(program, len(given), 0)
    operands = _typed(given, of_given)
    with np.errstate(all="ignore"):
        return tuple(unshared(run(*operands), operands))


def while_steps(loop: WhileOperands, cond: Program, body: Program) -> tuple[Value, ...]:
    """A while loop through its primitives, which see traced values."""
    carry: Sequence[Value] = loop.carry
    count = 0
    while replay(cond, [*loop.cond_consts, *carry])[0]:
        carry = replay(body, [*loop.body_consts, *carry])
        count += 1
        _refuse_many(count * len(body.steps))
    return (*carry, np.int64(count))


def run_pull(loop: PullOperands, body: Program, back: Program, reverse: bool, memory: int) -> tuple[Value, ...]:
    """The sweep through a loop and back, with as many carries as there is memory for (all, if it is 0)."""
    n, state = int(loop.steps[0]), list(loop.state)
    forward, of_fixed, of_carry, kinds, _ = _prepared(body, len(loop.body_consts), len(loop.carry))
    backward, of_given, _, _, stacks = _prepared(back, len(loop.back_consts), len(state))
    fixed, given = _typed(loop.body_consts, of_fixed), _typed(loop.back_consts, of_given)
    carry = _typed(loop.carry, of_carry)
    ys = [np.empty((n, *t.shape), t.dtype) for t in stacks]

    def forth(carry: list[Any], k: int) -> list[Any]:
        i = n - 1 - k if reverse else k
        found = forward(*fixed, *carry, *[x[i] for x in loop.xs])[: len(carry)]
        for place, kind in kinds:
            found[place] = kind(found[place])
        return found

    def step_back(carry: list[Any], k: int) -> None:
        i = n - 1 - k if reverse else k
        found = backward(*given, *state, *carry, *[x[i] for x in loop.xs], *[g[i] for g in loop.arrived])
        state[:] = found[: len(state)]
        for y, new in zip(ys, found[len(state) :], strict=True):
            y[i] = new

    slots = max(memory // max(sum([np.asarray(c).nbytes for c in carry]), 1), 1) if memory else n
    with np.errstate(all="ignore"):
        sweep_back(carry, n, slots, forth, step_back)
    return (*unshared([as_numpy_scalar(s) for s in state], loop.flat()), *ys)


MANY = 20_000


def _refuse_many(count: int) -> None:
    """Raise if steps are too many to be taken one by one."""
    if count > MANY:
        raise UnknownValueError


def _order(length: int, reverse: bool) -> range:
    return range(length - 1, -1, -1) if reverse else range(length)


class _Prepared(NamedTuple):
    """What is known of a body before it runs."""

    run: Function
    of_consts: list[Type]
    of_carry: list[Type]
    kinds: Sequence[tuple[int, Kind]]
    """Which parts of the carry come out as Python's numbers and go in as NumPy's, or the other way, and as what."""
    stacks: list[Type]
    """What comes out besides the carry."""


def _prepared(body: Program, n_consts: int, n_carry: int) -> _Prepared:
    def make() -> _Prepared:
        of_consts, of_carry, _ = split([body.types[n] for n in body.inputs], n_consts, n_carry)
        ends, stacks = split([body.types[o] for o in body.outputs], n_carry)
        kinds = [
            (k, type(np.zeros((), t.dtype).item()) if t.weak else t.dtype.type)
            for k, (t, end) in enumerate(zip(of_carry, ends, strict=True))
            if t.weak != end.weak
        ]
        return _Prepared(executable(body), of_consts, of_carry, kinds, stacks)

    return derived(body, ("prepared", n_consts, n_carry), make)


def _typed(values: Values, types: Sequence[Type]) -> list[Value]:
    """Numbers of the kinds that inputs of a program have, Python's or NumPy's."""
    return [as_type(v, t) for v, t in zip(values, types, strict=True)]


def _pythons(values: Values, types: Sequence[Type]) -> list[Any]:
    """NumPy's numbers and truth values as Python's."""
    return [bool(v) if t.dtype.kind == "b" else float(v) for v, t in zip(values, types, strict=True)]
