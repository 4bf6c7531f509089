"""The pattern of a function at a point: from one recording, and for as long as that holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...capture.recording.recording import Computed, Recording, is_dynamic
from ...core.errors import InputError, OutputError, UnsupportedError, message
from ...core.hints import public_name
from ...core.traced import Traced
from ...core.tree import flatten
from ...core.values import dtype_of, shape_of
from ...ir.bits import same_bits
from ...ir.interpret import Interpreter
from ...ir.passes import simplified, without_dead
from ...ir.program import Program, Type, decides
from ...rolling.passes import smaller
from ..interface.checking import checked_inputs
from ..interface.inputs import Argnums, chosen, replaced
from ..jit.keys import CallParts, taken_apart
from ..jit.native import executable
from ..jit.path import recorded
from ..vjp import TraceAtPoint
from .interactions import Interactions
from .sets import Sets, Shape, empty, matrix, single, stacked
from .walking import places_of, walked


class DerivativeCall(NamedTuple):
    """A call of a function whose derivatives are wanted."""

    parts: CallParts
    wanted: list[int]
    """Which of the leaves are differentiated with respect to, in order."""
    shapes: list[Shape]
    dtypes: list[Any]

    @property
    def size(self) -> int:
        """The number of inputs, which is that of the columns."""
        return sum(map(math.prod, self.shapes))


def called(args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Argnums, transform: str) -> DerivativeCall:
    """The leaves of a call, checked."""
    parts = taken_apart(args, kwargs, (), frozenset())
    if is_inside(parts.leaves):
        raise refusal(transform)
    values = chosen(args, argnums)
    leaves = checked_inputs(flatten(values)[0], (values,) if isinstance(argnums, int) else values, transform)
    for x in leaves:
        if dtype_of(x).kind == "c":
            raise InputError(
                message(
                    f"{transform} takes real arguments.",
                    got=f"{dtype_of(x)}",
                    fix="Pass real and imaginary part as two arguments.",
                )
            )
    numbered = parts.rebuild(list(range(len(parts.leaves))))[0]
    wanted = [int(k) for k in flatten(chosen(numbered, argnums))[0]]
    return DerivativeCall(parts, wanted, [shape_of(x) for x in leaves], [dtype_of(x) for x in leaves])


def is_inside(leaves: Sequence[Any]) -> bool:
    """Whether a call is part of a program, a batch or a derivative."""
    return any([isinstance(x, Traced) and x.traced_by.level for x in leaves])


def refusal(transform: str) -> UnsupportedError:
    """What is said where a pattern is wanted inside `jit`, `vmap` or a derivative."""
    if transform in GIVEN:
        return UnsupportedError(
            message(
                f"{transform} finds its pattern from plain numbers, so not inside jit, vmap or a derivative.",
                fix=f"Find it outside,  pattern = ad.{public_name(GIVEN[transform])}(f)(x),  and give it:  "
                f"ad.{public_name(transform)}(f, pattern=pattern).",
            )
        )
    return UnsupportedError(
        message(
            f"{transform} finds a pattern from plain numbers, so not inside jit, vmap or a derivative.",
            fix="Call it outside, and use what it gives inside.",
        )
    )


GIVEN = {"sparse_jacobian": "sparsity", "sparse_hessian": "hessian_sparsity"}
"""What finds the pattern that can be given to a transformation."""


class Traits:
    """What one recording of a function says: its results, its pattern, and whether it holds for other arguments."""

    def __init__(self, fun: Callable[..., Any], argnums: Argnums, call: DerivativeCall, transform: str) -> None:
        self._recording, _ = recorded(_differentiated(fun, argnums, transform), call.parts)
        self._program = simplified(self._recording.program)
        self._call = call
        self._places = places_of(self._program)
        self._check = _checking(self._program, self._places, call)
        self._values: dict[int, Any] = {}
        if self._places:  # by NumPy, which computed what the guards were written for
            found = Interpreter(_short(self._program, self._places)).run(call.parts.inputs)
            self._values = dict(zip(self._places, map(np.array, found or ()), strict=False))
        self.outputs = _outputs(self._recording, self._program, transform)

    @property
    def width(self) -> int:
        """The number of inputs."""
        return self._call.size

    def fits(self, call: DerivativeCall) -> bool:
        """Whether the same recording would be made for another call of the same kind."""
        recording = self._recording
        if recording.is_for_once or recording.watch.unwatchable or not recording.is_valid():
            return False
        if self._check is None:
            return True
        try:
            found = self._check.run(call.parts.inputs)
        except Exception:  # the function itself, called next, raises it where it is due
            return False
        if found is None or len(found) != len(self._values):
            return False
        return all([same_bits(np.asarray(a), b) for a, b in zip(found, self._values.values(), strict=True)])

    def jacobian(self) -> Sets:
        """Which results depend on which inputs."""
        found = walked(self._program, self._given(), self._values, self._call.size)
        places = [o.place for o in self._recording.outputs if isinstance(o, Computed)]
        return stacked([found[k] for k in places], [t.size for t in self.outputs], self._call.size)

    def hessian(self) -> Sets:
        """Which inputs meet in a way that is not linear."""
        pairs = Interactions(self._call.size)
        reached = walked(self._program, self._given(), self._values, self._call.size, pairs)[0]
        if reached is None:
            return empty(self._call.size, self._call.size)
        return _within(pairs.pairs(), reached)

    def _given(self) -> dict[int, Sets | None]:
        dynamic = [k for k, x in enumerate(self._call.parts.leaves) if is_dynamic(x)]
        number_of = dict(zip(dynamic, self._program.inputs, strict=False))
        given: dict[int, Sets | None] = {}
        first = 0
        for leaf, shape in zip(self._call.wanted, self._call.shapes, strict=True):
            count = math.prod(shape)
            given[number_of[leaf]] = single(count, self._call.size, first)
            first += count
        return given


def _differentiated(fun: Callable[..., Any], argnums: Argnums, transform: str) -> Callable[..., Any]:
    """The leaves of the result as a reverse trace finds them: by the steps that are differentiated."""

    def traced(*args: Any, **kwargs: Any) -> Any:
        def of_wanted(wanted: Any) -> Any:
            return fun(*replaced(args, argnums, wanted), **kwargs)

        values = TraceAtPoint(of_wanted, (chosen(args, argnums),), False, transform).values
        return [np.int64(v) if isinstance(v, (int, bool)) else v for v in values]

    return traced


def _within(pairs: Sets, reached: Sets) -> Sets:
    """Without the inputs that the result does not depend on: what was computed from them has been overwritten."""
    counts = np.zeros(pairs.shape[0], bool)
    counts[reached.indices] = True
    if counts.all():
        return pairs
    entries = pairs.tocoo()
    kept = counts[entries.row] & counts[entries.col]
    return matrix(entries.row[kept], entries.col[kept], pairs.shape)


def _outputs(recording: Recording, program: Program, transform: str) -> list[Type]:
    """The types of the results, of which the rows are the elements."""
    found = [program.types[program.outputs[o.place]] for o in recording.outputs if isinstance(o, Computed)]
    if any([t.dtype.kind == "c" for t in found]):
        raise OutputError(
            message(
                f"{transform} needs a function that returns real numbers.",
                got=", ".join(map(str, found)),
                fix="Return the real and the imaginary part.",
            )
        )
    return found


def _checking(program: Program, places: Sequence[int], call: DerivativeCall) -> Any:
    """What runs the decisions of a program and finds its places; None if there is nothing to look at."""
    moving = [n for n in places if n not in program.frozen or n not in program.constants]
    if not moving and not any([decides(step) for step in program.steps]):
        return None
    return executable(smaller(_short(program, places)), call.parts.inputs)[0]


def _short(program: Program, places: Sequence[int]) -> Program:
    """Only what the decisions and the places of a program need."""
    return without_dead(program.with_steps(program.steps, list(places)))
