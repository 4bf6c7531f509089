"""Bodies of loops as programs: captured once, without decisions, and kept for as long as they are in use."""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..core.errors import UnsupportedError, message
from ..core.float_warnings import quiet
from ..core.forking import held_at_fork
from ..core.traced import Traced, snapshot
from ..core.values import Value
from ..ir.capture import CaptureTrace, GuardRefusedError, example
from ..ir.effects import noted
from ..ir.passes import simplified
from ..ir.program import Program, Step, Type
from .loop_python import Function, python_function, scalar_function
from .recording import run

T = TypeVar("T")


class Body(NamedTuple):
    """A program and the values for its first inputs: what the function used besides its arguments.

    These are values of walks further out, and plain arrays: a program of a loop has no arrays of its own, so that the
    program around it sees them, and reads them anew at each run.
    """

    program: Program
    hoisted: tuple[Value, ...]


@quiet
def captured(fun: Callable[..., Iterable[Value]], examples: Sequence[Value]) -> Body:
    """What a function of leaves does, as a program; it may not decide anything by the values of its arguments."""
    capture = CaptureTrace(guards=False, lift=True)
    try:
        with noted(capture):
            leaves = run(fun, [capture.input(x) for x in examples], {})
        if capture.unguarded:  # an error that the function caught: a decision
            raise GuardRefusedError
        program, foreign = capture.program, capture.foreign
        program.outputs = [capture.number_of(snapshot(x))[0] for x in leaves]
        capture.settle()
    finally:
        capture.end()
    arrays = [(n, c) for n, c in program.constants.items() if isinstance(c, np.ndarray)]
    outside = [(number, value) for value, number in foreign] + arrays
    program = simplified(program)
    _refuse_ragged(program)
    used = {a for step in program.steps for a in step.args} | set(program.outputs)
    outside = [(n, v) for n, v in outside if n in used]
    program.inputs = [n for n, _ in outside] + program.inputs
    return Body(interned(_renumbered(program, used)), tuple([v for _, v in outside]))


def _renumbered(program: Program, used: set[int]) -> Program:
    """The same program with values numbered in order, and nothing that is not used."""
    new = Program()
    numbers: dict[int, int] = {}

    def renumber(n: int) -> int:
        if n not in numbers:
            numbers[n] = new.new(program.types[n])
        return numbers[n]

    new.inputs = [renumber(n) for n in program.inputs]
    for n, c in program.constants.items():
        if n in used and n not in numbers:
            new.constants[renumber(n)] = c
    for step in program.steps:
        args = tuple([renumber(a) for a in step.args])
        new.steps.append(step._replace(args=args, outs=tuple([renumber(o) for o in step.outs])))
    new.outputs = [renumber(o) for o in program.outputs]
    return new


RAGGED = frozenset(("nonzero", "flatnonzero", "unique", "argwhere", "count_nonzero_places"))


def _refuse_ragged(program: Program) -> None:
    """Shapes that depend on values, as that of x[mask], may differ from one iteration to the next."""
    for step in program.steps:
        if step.primitive.name in ("index", "unindex", "assign"):
            if any(program.types[a].dtype.kind == "b" and program.types[a].shape for a in _keys(step)):
                raise GuardRefusedError
        elif step.primitive.name.rsplit(".", 1)[-1] in RAGGED:
            raise GuardRefusedError


def _keys(step: Step) -> Sequence[int]:
    return step.args[2:] if step.primitive.name == "assign" else step.args[1:]


# Programs of the same steps are one object, so that what is derived from them is derived once.

MOST = 256
"""Programs that are remembered; the oldest are forgotten."""


class Entry:
    """A program, and what has been made of it."""

    __slots__ = ("derived", "key", "program", "run")

    def __init__(self, key: Any, program: Program) -> None:
        self.key = key
        self.program = program
        self.run: Function | None = None
        self.derived: dict[Any, Any] = {}


_by_key: OrderedDict[Any, Entry] = OrderedDict()
_by_identity: dict[int, Entry] = {}
_lock = threading.RLock()
held_at_fork(_lock)


def interned(program: Program) -> Program:
    """The program of the same steps that was there first."""
    return _entry(program).program


def forget() -> None:
    """Let go of every program, and of what has been made of it."""
    with _lock:
        _by_key.clear()
        _by_identity.clear()


NATIVE: dict[str, Callable[[tuple[Any, ...], dict[str, Any]], Any]] = {}
"""Machine code for whole loops, by the name of the primitive: `(args, params) -> results`, or None if it has none."""


def natively(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Evaluate the primitive of this name by machine code, if there is any."""

    def decorate(evaluate: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(evaluate)
        def run(*args: Any, **params: Any) -> Any:
            whole = NATIVE.get(name)
            found = None if whole is None else whole(args, params)
            return evaluate(*args, **params) if found is None else found

        return run

    return decorate


def executable(program: Program) -> Function:
    """What runs a program on plain values: a function of its inputs that returns the list of its outputs."""
    entry = _entry(program)
    if entry.run is None:
        entry.run = python_function(entry.program)
    return entry.run


def scalar_executable(program: Program) -> Function | None:
    """What runs a program on Python's numbers, if there is nothing else in it: several times as fast."""
    return derived(program, "numbers", lambda: scalar_function(program, executable(program)))


class DecisionError(GuardRefusedError, UnsupportedError):
    """A decision by values is asked for where there is no program for each outcome."""


class Same:
    """A program as part of a key: it is equal to itself alone, and stays alive."""

    __slots__ = ("program",)

    def __init__(self, program: Program) -> None:
        self.program = program

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.program is other.program

    def __hash__(self) -> int:
        return id(self.program)


def derived(program: Program, key: Any, make: Callable[[], T]) -> T:
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


def _entry(program: Program) -> Entry:
    entry = _by_identity.get(id(program))
    if entry is not None and entry.program is program:
        return entry
    key = _structure(program)
    with _lock:
        entry = _by_key.get(key)
        if entry is None:
            entry = _by_key[key] = _by_identity[id(program)] = Entry(key, program)
            if len(_by_key) > MOST:
                _, old = _by_key.popitem(last=False)
                _by_identity.pop(id(old.program), None)
        else:
            _by_key.move_to_end(key)
    return entry


def _structure(program: Program) -> Any:
    """All that makes a program what it is; primitives and programs inside by identity."""
    return (
        tuple(program.types),
        tuple(program.inputs),
        tuple([(n, _fact(c)) for n, c in program.constants.items()]),
        tuple([(id(s.primitive), s.args, _fact(s.params), s.outs) for s in program.steps]),
        tuple(program.outputs),
    )


def _fact(x: Any) -> Any:
    """A parameter as something that can be compared and hashed."""
    if type(x) is Traced:
        return id(x)
    if isinstance(x, dict):
        return tuple([(k, _fact(v)) for k, v in x.items()])
    if isinstance(x, (list, tuple)):
        return (type(x), *[_fact(v) for v in x])
    if isinstance(x, slice):
        return ("slice", _fact(x.start), _fact(x.stop), _fact(x.step))
    if isinstance(x, np.ndarray):
        return (x.shape, x.dtype.str, x.tobytes())
    if isinstance(x, (float, complex, np.inexact)):
        return (type(x), repr(x))
    if isinstance(x, (bool, int, str, type(None), np.dtype, np.generic, type)):
        return (type(x), x)
    return id(x)


# Examples, and what moves.


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


def numpys(x: Value) -> Value:
    """A Python number as NumPy's, with infinities where Python would raise."""
    if isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic) and type(x) is not Traced:
        return np.asarray(x)[()]
    return x


def reached(program: Program, inputs: Sequence[bool], *, smoothly: bool) -> list[bool]:
    """Which outputs depend on the marked inputs; `smoothly`, so that a derivative may flow."""
    marked = {n for n, m in zip(program.inputs, inputs, strict=True) if m}
    for step in program.steps:
        if any(a in marked for a in step.args) and not (smoothly and step.primitive.derivative.is_zero):
            marked.update([o for o in step.outs if not smoothly or program.types[o].dtype.kind in "fc"])
    return [o in marked for o in program.outputs]


def carried(program: Program, marks: Sequence[bool], n_consts: int, n_carry: int, *, smoothly: bool) -> list[bool]:
    """The marks of all inputs of a body, with what they spread to in the carry from one iteration to the next."""
    marks = list(marks)
    while True:
        spread = reached(program, marks, smoothly=smoothly)[:n_carry]
        carry = [m or s for m, s in zip(marks[n_consts : n_consts + n_carry], spread, strict=True)]
        if carry == marks[n_consts : n_consts + n_carry]:
            return marks
        marks[n_consts : n_consts + n_carry] = carry


def split(values: Sequence[T], *sizes: int) -> list[list[T]]:
    """Consecutive parts of these sizes, and the rest."""
    parts, start = [], 0
    for size in sizes:
        parts.append(list(values[start : start + size]))
        start += size
    return [*parts, list(values[start:])]


def chosen(values: Sequence[T], marks: Sequence[bool]) -> list[T]:
    """The marked ones."""
    return [v for v, m in zip(values, marks, strict=True) if m]
