"""Bodies of loops as programs: captured once, without decisions, and kept for as long as they are in use."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...core.calls.float_warnings import quiet
from ...core.errors import UnsupportedError, message
from ...core.traced import Traced, snapshot
from ...core.values import Value, may_hold
from ...host.forking import Lock, held_at_fork
from ...ir.assumptions import Assumed
from ...ir.builder import Builder
from ...ir.capture import CaptureTrace, GuardRefusedError, example
from ...ir.effects import is_made_up, noted
from ...ir.fold import fold, may_fail, read_by
from ...ir.keys import key_of
from ...ir.passes import program_pass, simplified
from ...ir.program import Program, Step, Type
from ..calling import run

T = TypeVar("T")


class Body(NamedTuple):
    """A program and the values for its first inputs: what the function used besides its arguments.

    These are values of traces further out, and plain arrays: a program of a loop has no arrays of its own, so that the
    program around it sees them, and reads them anew at each run.
    """

    program: Program
    hoisted: tuple[Value, ...]
    speculates: bool = False
    """Whether its last result says that the program is not the right one: something held that it does not deal with."""


@quiet
def captured(
    fun: Callable[..., Iterable[Value]], examples: Sequence[Value], *, speculative: bool = False, defers: bool = True
) -> Body:
    """What a function of leaves does, as a program; it may not decide anything by the values of its arguments.

    A speculative one leaves out what singular points alone need, and has one more result: whether one was met.
    """
    capture = CaptureTrace(guards=False, lift=True, speculative=speculative, defers=defers)
    if is_made_up():
        capture.assumptions.make(Assumed.INPUTS)
    try:
        with noted(capture):
            found = finished(capture, run(fun, [capture.input(x) for x in examples], {}))
    except GuardRefusedError:
        raise
    except Exception:
        if not capture.assumptions.are_unseen:
            raise
        found = None  # perhaps as a body inside was given something that its numbers cannot be
    finally:
        capture.end()
    if found is None:
        return captured(fun, examples, speculative=speculative, defers=False)
    if found.speculates and any([may_fail(found.program, s) for s in found.program.steps]):
        return captured(fun, examples)  # a step would fail at numbers that nobody asked for
    return found


def finished(capture: CaptureTrace, leaves: Iterable[Value], steps: Sequence[Step] | None = None) -> Body:
    """What has been captured, or some of its steps, with these results."""
    if capture.assumptions.has(Assumed.RAISED):  # an error that the function caught: a decision
        raise GuardRefusedError
    singular = capture.assumptions.values(Assumed.ORDINARY)
    if singular:
        leaves = [*leaves, functools.reduce(np.logical_or, singular)]
    outputs = [capture.number_of(snapshot(x))[0] for x in leaves]
    capture.settle()
    foreign, own = capture.outside.foreign, tuple(capture.program.inputs)
    program = capture.program.build(outputs).having(inputs=[*[number for _, number in foreign], *own], steps=steps)
    arrays = [(n, c) for n, c in program.constants.items() if isinstance(c, np.ndarray)]
    outside = [(number, value) for value, number in foreign] + arrays
    program = simplified(program)
    if is_ragged(program):
        raise GuardRefusedError
    used = read_by(program.steps, program.outputs)
    outside = [(n, v) for n, v in outside if n in used]
    program = program.having(inputs=[*[n for n, _ in outside], *own])
    return Body(interned(renumbered(program, used)), tuple([v for _, v in outside]), bool(singular))


def speculating(attempt: Callable[[bool], tuple[Sequence[Value], bool]]) -> Sequence[Value]:
    """The results of a loop: as if it met no singular point, and if it does, by the general form.

    An attempt gives results and whether it speculates: then one more says that, or where, a singular point was met.
    """
    found, speculates = attempt(True)
    if speculates:
        *found, mis_speculated = found
        if may_hold(mis_speculated):
            found, _ = attempt(False)
    return found


def speculating_alike(bodies: Sequence[Body]) -> list[Body]:
    """Bodies of which all speculate if one does: the others are never wrong."""
    if not any([body.speculates for body in bodies]):
        return list(bodies)
    return [body if body.speculates else Body(_never_wrong(body.program), body.hoisted, True) for body in bodies]


def _never_wrong(program: Program) -> Program:
    def make() -> Program:
        work = Builder(program.types, program.inputs, program.constants, program.steps)
        return interned(work.build([*program.outputs, work.constant(np.False_)]))

    return derived(program, "never wrong", make)


def captured_with(fun: Callable[..., tuple[list[Value], T]], examples: Sequence[Value]) -> tuple[Body, T]:
    """As `captured`, for a function that finds something besides its results."""
    seen: list[T] = []

    def leaves(*given: Value) -> list[Value]:
        found, besides = fun(*given)
        seen.append(besides)
        return found

    return captured(leaves, examples), seen[-1]


def renumbered(program: Program, used: set[int]) -> Program:
    """The same program with values numbered in order, and nothing that is not used."""
    new = Builder()
    inputs = [new.input(program.types[n]) for n in program.inputs]
    return new.build(fold(program, _Renumbered(new, program, used), inputs))


class _Renumbered(NamedTuple):
    """Numbers of a new program."""

    new: Builder
    program: Program
    used: set[int]

    def constant(self, number: int, value: Any) -> int:
        return self.new.constant(value, self.program.types[number]) if number in self.used else -1

    def step(self, step: Step, args: list[int]) -> tuple[int, ...]:
        outs = tuple([self.new.new(self.program.types[o]) for o in step.outs])
        self.new.append(step._replace(args=tuple(args), outs=outs))
        return outs


def taking(program: Program, inputs: Sequence[int | Type]) -> Program:
    """The program with other inputs: of those that it does not use there is only a type."""

    def make() -> Program:
        new = Builder(program.types, (), program.constants, program.steps, program.outputs)
        new.take([new.new(n) if isinstance(n, Type) else n for n in inputs])
        return new.build()

    return derived(program, ("taking", *inputs), make) if tuple(inputs) != program.inputs else program


RAGGED = frozenset(("argwhere", "flatnonzero", "nonzero", "unique"))
"""Functions of NumPy's that values decide the shape of, where they are taken as one step under their own name."""


def is_ragged(program: Program) -> bool:
    """Whether shapes depend on values, as that of x[mask] does: they may differ from one iteration to the next."""
    for step in program.steps:
        places = step.primitive.facts.addressed
        if places is not None:
            keys = [program.types[a] for a in step.args[places.first :]]
            if any([t.dtype.kind == "b" and t.shape for t in keys]):
                return True
        elif step.primitive.facts.ragged or step.primitive.name.rsplit(".", 1)[-1] in RAGGED:
            return True
    return False


# Programs of the same steps are one object, so that what is derived from them is derived once.

MOST = 256
"""Programs that are remembered; the oldest are forgotten."""


class KeptProgram:
    """A program, and what has been made of it."""

    __slots__ = ("derived", "program")

    def __init__(self, program: Program) -> None:
        self.program = program
        self.derived: dict[Hashable, Any] = {}


_by_key: OrderedDict[Any, KeptProgram] = OrderedDict()
_by_identity: dict[int, KeptProgram] = {}
_lock = Lock()
held_at_fork(_lock)


@program_pass
def interned(program: Program) -> Program:
    """The program of the same steps that was there first."""
    return _entry(program).program


def forget() -> None:
    """Let go of every program, and of what has been made of it."""
    with _lock:
        _by_key.clear()
        _by_identity.clear()


class DecisionError(GuardRefusedError, UnsupportedError):
    """A decision by values is asked for where there is no program for each outcome."""


def derived(program: Program, key: Hashable, make: Callable[[], T]) -> T:
    """What `make` finds for a program, once."""
    entry = _entry(program)
    if key not in entry.derived:
        try:
            entry.derived[key] = make()
        except DecisionError:
            raise
        except GuardRefusedError:
            raise DecisionError(
                message(
                    "A derivative inside a loop's body would have to branch on values.",
                    fix="Write the loop in Python, with  for  or  while,  where every step may branch.",
                )
            ) from None
    return entry.derived[key]  # type: ignore[no-any-return]


def _entry(program: Program) -> KeptProgram:
    entry = _by_identity.get(id(program))
    if entry is not None and entry.program is program:
        return entry
    key = _structure(program)
    with _lock:
        entry = _by_key.get(key)
        if entry is None:
            entry = _by_key[key] = _by_identity[id(program)] = KeptProgram(program)
            if len(_by_key) > MOST:
                _, old = _by_key.popitem(last=False)
                _by_identity.pop(id(old.program), None)
        else:
            _by_key.move_to_end(key)
    return entry


def _structure(program: Program) -> Any:
    """All that makes a program what it is; primitives and programs inside by identity."""
    return (
        program.types,
        program.inputs,
        tuple([(n, key_of(c)) for n, c in program.constants.items()]),
        tuple([(id(s.primitive), s.args, key_of(s.params), s.outs) for s in program.steps]),
        program.outputs,
    )


# Examples of values, of the types that programs take.


def leading_example(x: Value) -> Value:
    """The first slice of a stacked value; where there is none, ones (or zeros, of what may be an index)."""
    whole = np.asarray(example(x))
    if len(whole):
        return whole[0]
    made = np.ones if whole.dtype.kind in "fc" else np.zeros
    return made(whole.shape[1:], whole.dtype)[()]


def as_type(x: Value, type_: Type) -> Value:
    """A plain value of the kind a program's input has: Python's number, or NumPy's."""
    if type(x) is Traced:
        return x
    if type_.weak:
        return x if type(x) is float else x.item() if isinstance(x, (np.ndarray, np.generic)) else x
    return type_.dtype.type(x) if isinstance(x, (bool, int, float, complex)) else x


def as_numpy_scalar(x: Value) -> Value:
    """A Python number as NumPy's, with infinities where Python would raise."""
    if isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic) and type(x) is not Traced:
        return np.asarray(x)[()]
    return x
