"""Loop nests as functions of their own: equal ones are written once, however often a program has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..assembly.counted_loop import counted
from ..assembly.emit import Emitter
from ..assembly.kinds import I64, POINTER, VOID, Kind, register_kind
from ..assembly.module import Module
from ..assembly.values import Function, Operand, Parameter, Value
from ..program.indices import Place, identity
from ..program.plan import Plan
from ..runtime.processor import has_feature
from .elements import FLAT, Elements
from .loop_body import Accumulator, LoopBody, NoVectorError, Total
from .vectorise import Overlapping, Widened

WIDE = ' "prefer-vector-width"="512"'
"""LLVM is shy of the widest vectors, because of processors that slow down for them; those of today do not."""
FEW = 64
"""Elements up to which short code matters more than its speed."""
BLOCK = 4096
"""Elements that are summed into one register before the sum goes on: rounding errors stay as small as NumPy's."""


class Asked(NamedTuple):
    """Something from outside that a loop function needs: the address of a value, or one element of it."""

    value: int
    element: int | None


class Resources:
    """What a loop function is given: pointers to arrays and single numbers, in the order in which it asks for them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.asked: dict[Asked, Parameter] = {}
        self.written: set[int] = set()

    def pointer(self, v: int) -> Value:
        """The parameter with the address of a value."""
        alone = "" if v in self.plan.over else "noalias"
        return self._parameter(Asked(v, None), POINTER, alone if v in self.written else "readonly")

    def register(self, v: int, k: int) -> Value:
        """The parameter with element `k` of a value that lives in registers."""
        return self._parameter(Asked(v, k), register_kind(self.plan.types[v].dtype))

    def _parameter(self, asked: Asked, kind: Kind, attributes: str = "") -> Value:
        found = self.asked.get(asked)
        if found is None:
            found = self.asked[asked] = Parameter(f"%p{len(self.asked)}", kind, attributes)
        return found


def by_vectors(
    e: Emitter,
    low: Operand,
    high: Operand,
    body: Callable[..., Sequence[Value] | None],
    accumulators: Sequence[Accumulator] = (),
    is_scalar: Callable[[], bool] = bool,
    *,
    rounds: int = 0,
) -> list[Value]:
    """An innermost loop, by vectors if its inside allows it; else LLVM may try, unless that `is_scalar`.

    If its `rounds` are given, the inside is long, is written once, and may read and write what is far apart.
    """
    before, outside = e.block, e.body
    name = f"%i.{e.label('in')}"
    counter = Value(name, I64)
    registers = [Value(f"{name}.{k}", a.kind) for k, a in enumerate(accumulators)]
    e.body = []
    new = list(body(counter, *registers) or ())
    inside, e.body = e.body, outside
    try:
        totals = [Total(a, r, n) for a, r, n in zip(accumulators, registers, new, strict=True)]
        loop_body = LoopBody(inside, counter, totals, is_long=rounds > 0)
    except NoVectorError as error:
        e.block = before
        e.module.unwidened.append(str(error))
        e.module.wants_vectors = e.module.wants_vectors or not is_scalar()
        return counted(e, low, high, body, carried=[a.start for a in accumulators], is_scalar=is_scalar)
    return (Overlapping(e, loop_body, low, high, rounds) if rounds else Widened(e, loop_body, low, high)).emit()


class LoopFunction:
    """A function that loops over a range of a shape and does something at each place."""

    def __init__(self, module: Module, plan: Plan, level: int) -> None:
        self.module = module
        self.plan = plan
        self.resources = Resources(plan)
        self.e = Emitter(module)
        self.elements = Elements(plan, self.e, level, self.resources)
        self.registers: tuple[Value, ...] = ()
        """The accumulators inside the innermost loop."""

    def nest(
        self,
        ranges: Sequence[tuple[Operand, Operand]],
        body: Callable[[Place], list[Value] | None],
        accumulators: Sequence[Accumulator] = (),
        finish: Callable[[Place, list[Value]], None] | None = None,
        flat: bool = False,
    ) -> None:
        """Loops over all axes, the last one innermost.

        `accumulators` live in registers through the innermost loop; `body` returns what they become, `finish` gets the
        last values. A long innermost loop with accumulators is cut into blocks.
        """
        outside = self.module.straight
        numbers = [r[1] - r[0] for r in map(known, ranges) if r is not None]
        few = len(numbers) == len(ranges) and math.prod(numbers) <= FEW
        self.module.straight = outside or few  # functions are called, not written out, where there is little to do
        Nest(self, ranges, FLAT if flat else identity(len(ranges)), body, accumulators, finish).emit()
        self.module.straight = outside

    def across(
        self,
        rows: int,
        count: int,
        span: tuple[Operand, Operand],
        body: Callable[[Place], list[Value] | None],
        accumulators: Sequence[Accumulator],
        finish: Callable[[Place, list[Value]], None],
    ) -> None:
        """For each of some rows a loop over all of `count` examples, or a span of them, that is long inside."""
        x, place = self.elements, identity(2)
        x.ranges, x.innermost = [(0, rows), known(span) or (0, 0)], 1

        def inside(row: Operand, i: Value, registers: tuple[Value, ...]) -> list[Value] | None:
            x.forget()
            x.variables, self.registers = [row, i], registers
            return body(place)

        def one(row: Operand) -> None:
            totals = by_vectors(self.e, *span, lambda i, *rs: inside(row, i, rs), accumulators, rounds=count)
            finish(place, totals)

        if rows == 1:
            one(0)
        else:
            counted(self.e, 0, rows, one, is_scalar=lambda: True)

    def end(self, stem: str, extra: Sequence[Parameter] = (), result: Value | None = None) -> Function:
        """Finish the function, which may return a value; `extra` are parameters that come before all others."""
        self.e.give(*[r for r in (result,) if r is not None])
        parameters = (*extra, *self.resources.asked.values())
        attributes = f"nounwind{WIDE if has_feature('avx512f') else ''}"
        return self.e.define(stem, parameters, result.kind if result is not None else VOID, attributes)


@dataclass(frozen=True)
class Nest:
    """Loops over all axes of a range, written into a loop function."""

    function: LoopFunction
    ranges: Sequence[tuple[Operand, Operand]]
    place: Place
    body: Callable[[Place], list[Value] | None]
    accumulators: Sequence[Accumulator]
    finish: Callable[[Place, list[Value]], None] | None

    def emit(self) -> None:
        """Write them, from the first axis to the last."""
        x = self.function.elements
        x.variables = [0] * len(self.ranges)
        x.ranges = [known(r) or (0, 0) for r in self.ranges]
        self._level(0)

    def _level(self, axis: int) -> None:
        e, (low, high) = self.function.e, self.ranges[axis]
        if axis < len(self.ranges) - 1:
            counted(e, low, high, lambda i: self._enter(axis, i))
        elif not self.accumulators:
            self._vectors(low, high)
        elif isinstance(low, int) and isinstance(high, int) and high - low <= BLOCK:
            self._summed(low, high)
        else:
            counted(e, low, high, lambda b: self._block(b, high), step=BLOCK)

    def _enter(self, axis: int, i: Value) -> None:
        self.function.elements.variables[axis] = i
        self._level(axis + 1)

    def _block(self, b: Value, high: Operand) -> None:
        e = self.function.e
        end = e.op("add", b, BLOCK, "nsw")
        short = e.compare("slt", end, high)
        self._summed(b, e.select(short, end, high))

    def _summed(self, low: Operand, high: Operand) -> None:
        """The innermost loop, whose accumulators then are what they are."""
        new = self._vectors(low, high)
        self.function.elements.forget()
        assert self.finish is not None
        self.finish(self.place, new)

    def _vectors(self, low: Operand, high: Operand) -> list[Value]:
        return by_vectors(self.function.e, low, high, self._inside, self.accumulators, self._is_scattered)

    def _is_scattered(self) -> bool:
        x = self.function.elements
        return x.scattered > 0 and not x.is_dear

    def _inside(self, i: Value, *registers: Value) -> list[Value] | None:
        x, last = self.function.elements, len(self.ranges) - 1
        x.variables[last] = i
        x.scattered, x.is_dear, x.innermost = 0, False, last
        x.forget()
        self.function.registers = registers
        return self.body(self.place)


def known(bounds: tuple[Operand, Operand]) -> tuple[int, int] | None:
    """The range of a loop, if it is known before the code runs."""
    low, high = bounds
    return (low, high) if isinstance(low, int) and isinstance(high, int) else None
