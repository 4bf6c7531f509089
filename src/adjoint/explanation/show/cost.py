"""What a function and its derivatives cost: operations and memory, counted from the very steps that are carried out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...core.primitive import Primitive
from ...core.traced import Traced
from ...core.values import concrete, dtype_of, shape_of
from ...ir.fold import guards_in
from ...ir.program import Step
from ...ops.reduction import any as any_of
from ...ops.selection import where
from ..record.constants import NO_WORK, ConstantWork
from ..record.memory import MemoryUse, keeping_of, memory_of, peak, peak_back
from ..record.record import Recorded
from ..record.sweeps import sweep_forward
from .flops import GUESSES, functions, is_estimated, operations, primitives_of
from .rows import TraceView
from .table import Table


@dataclass(frozen=True)
class SweepCost:
    """What it takes to evaluate a function, alone or with one sweep over its trace."""

    operations: int
    """Additions, multiplications, comparisons, evaluations of functions."""
    functions: dict[str, int]
    """How many of them are evaluations of a function such as exp or sin, which take longer than an addition."""
    memory: int
    """Bytes that have to be held at one time; arrays that do not depend on the inputs are not counted."""


@dataclass(frozen=True, repr=False)
class Cost:
    """Operations and memory of a function, of a forward and of a reverse sweep, at one point; prints as a table."""

    inputs: int
    """Numbers that the function is differentiated with respect to."""
    outputs: int
    """Numbers that it returns and that depend on them."""
    function: SweepCost
    forward: SweepCost
    """The function and one tangent beside it."""
    reverse: SweepCost
    """The function and one sweep back, with what is computed again for it."""
    kept: MemoryUse
    """What the sweep back needs of the function's values."""
    written_out: tuple[tuple[str, str], ...] = ()
    """Stored values that the table writes as what they are, and how: b as exp(a), in the partial exp(a)."""
    estimated: tuple[str, ...] = ()
    """Operations that the table of counts does not know: one for each number they give."""
    guessed: tuple[str, ...] = ()
    """Sentences on loops and choices inside others, of which it is not known how often they turn or what they take."""
    constant: int = 0
    """Operations of the function on arrays that do not depend on the inputs: they are in all counts, once in each."""
    uncounted: tuple[str, ...] = ()
    """Arrays that the function made of others out of sight, before they met an input: that is not in the counts."""

    @property
    def forward_total(self) -> int:
        """Operations of the whole derivative by forward mode: the function once, a tangent for every input."""
        return self.function.operations + self.inputs * (self.forward.operations - self.function.operations)

    @property
    def reverse_total(self) -> int:
        """Operations of the whole derivative by reverse mode: the function once, a sweep back for every output."""
        return self.function.operations + self.outputs * (self.reverse.operations - self.function.operations)

    @property
    def verdict(self) -> str:
        """Which mode takes fewer operations for this very function, and by what factor."""
        if not self.outputs:
            return "The result does not depend on the inputs: its derivative is 0 and costs nothing."
        forward = f"{self.forward_total:,} operations with {_several(self.inputs, 'tangent', 'one for each input')}"
        reverse = f"{self.reverse_total:,} with {_several(self.outputs, 'sweep', 'one for each output')}"
        low, high = sorted((self.forward_total, self.reverse_total))
        # with one input and one output both multiply the same partials, and differ in how they begin and end; forward
        # mode is the cheaper one only where reverse mode computes values again
        alike = self.inputs == self.outputs == 1 and (low == self.reverse_total or high <= 1.5 * low)
        if alike or high <= 1.05 * low:
            winner = "It makes no difference"
        else:
            name = "Reverse" if self.reverse_total == low else "Forward"
            winner = f"{name} mode wins by a factor of {_factor(high / max(low, 1))}"
        return f"{winner}: forward mode takes {forward}, reverse mode {reverse}."

    @property
    def price(self) -> str:
        """What reverse mode pays for it in memory."""
        forward, reverse = _bytes(self.forward.memory), _bytes(self.reverse.memory)
        return f"Forward mode holds {forward} at a time; reverse mode {reverse}, with what the way back needs."

    def __str__(self) -> str:
        names = ["function", "forward sweep: function and one tangent", "reverse sweep: function and one sweep back"]
        rows = [("", "operations", "x function", "memory")]
        for name, sweep in zip(names, (self.function, self.forward, self.reverse), strict=True):
            ratio = _factor(sweep.operations / max(self.function.operations, 1))
            rows.append((name, f"{sweep.operations:,}", ratio, _bytes(sweep.memory)))
        for name, total, memory in (
            (
                f"derivative by forward mode: {_several(self.inputs, 'tangent')}",
                self.forward_total,
                self.forward.memory,
            ),
            (f"derivative by reverse mode: {_several(self.outputs, 'sweep')}", self.reverse_total, self.reverse.memory),
        ):
            rows.append((name, f"{total:,}", _factor(total / max(self.function.operations, 1)), _bytes(memory)))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = [
            "   ".join([row[0].ljust(widths[0]), *[cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)]])
            for row in rows
        ]
        return "\n".join([*[line.rstrip() for line in lines], "", *self._sentences()])

    __repr__ = __str__

    def _sentences(self) -> Iterable[str]:
        yield self.verdict
        if self.outputs:
            yield self.price
            yield f"{str(self.kept)[:1].upper()}{str(self.kept)[1:]}."
        if self.outputs and self.written_out:
            yield f"The table writes {', '.join([f'{name} as {formula}' for name, formula in self.written_out])}."
        if self.function.functions:
            yield f"Evaluations of functions, one operation each: {_listed(self.function.functions)}."
        if self.constant:
            count = f"{self.constant:,} operation{'' if self.constant == 1 else 's'}"
            yield f"On arrays that do not depend on the inputs: {count} in each call, which could be done once before."
        if self.estimated:
            yield f"Not in the table of counts, so one operation for each number: {', '.join(self.estimated)}."
        if self.uncounted:
            before = ", ".join(self.uncounted)
            yield f"Not counted: what it took to compute {before} from arrays that do not depend on the inputs."
        yield from self.guessed


def cost_of(view: TraceView, table: Table | None = None, constants: ConstantWork = NO_WORK) -> Cost:
    """Count the steps of a function, of a sweep forward in which every input moves, and of a sweep back.

    `table` gives the names, by default the user's own, or v1, v2, ... `constants` are the steps of the function that
    are none of the view, as they depend on no input.
    """
    table = table or Table(view, digits=4, names=True, lines=False, most=60)
    recorded = view.recorded
    program = recorded.notebook.program
    own = program.steps[: recorded.steps]
    keeping = keeping_of(recorded)
    start = len(program.steps)
    ones = {k: _ones(x) for k, x in enumerate(recorded.inputs)}
    moved = sweep_forward(recorded, ones, is_settled=False).tangents
    ends = [moved[o.node].node for o in recorded.outputs if recorded.is_traced(o) and o.node in moved]
    forward = needed(program.steps[start:], ends)
    outputs = [concrete(o) for o in recorded.outputs if view.recorded.is_traced(o)]
    guessed: set[str] = set()
    once, again = [
        _Counted.of(constants.recorded, steps, guessed) for steps in (constants.steps, constants.again(keeping.reached))
    ]

    def sweep(steps: list[Step], memory: int, before: _Counted = once) -> SweepCost:
        return before.plus(_Counted.of(recorded, steps, guessed)).cost(memory)

    used = [*primitives_of(program, [*own, *forward, *keeping.steps]), *once.primitives]
    return Cost(
        inputs=sum([_numbers(x) for x in recorded.inputs]),
        outputs=sum([_numbers(x) for x in outputs]),
        function=sweep(own, peak(recorded)),
        forward=sweep([*_alone(recorded, own), *forward], peak(recorded, with_tangents=True)),
        reverse=sweep([*own, *keeping.again, *keeping.steps], peak_back(recorded, keeping), once.plus(again)),
        kept=memory_of(view, table.called, keeping=keeping),
        written_out=tuple(table.written_out()),
        estimated=tuple(sorted({p.name for p in used if is_estimated(p)})),
        constant=once.counts.total(),
        uncounted=tuple([f"{x.dtype}[{','.join(map(str, x.shape))}]" for x in constants.unseen]),
        guessed=tuple([sentence for name, sentence in GUESSES.items() if name in guessed]),  # the counts above fill it
    )


class _Counted(NamedTuple):
    """Operations by the name of their primitive, and the primitives."""

    counts: Counter[str]
    primitives: list[Any]

    @classmethod
    def of(cls, recorded: Recorded | None, steps: list[Step], guessed: set[str]) -> _Counted:
        if recorded is None:
            return cls(Counter(), [])
        program = recorded.notebook.program
        return cls(operations(program, steps, recorded.notebook.values, guessed), primitives_of(program, steps))

    def plus(self, other: _Counted) -> _Counted:
        return _Counted(self.counts + other.counts, [*self.primitives, *other.primitives])

    def cost(self, memory: int) -> SweepCost:
        return SweepCost(self.counts.total(), functions(self.counts, self.primitives), memory)


def needed(steps: list[Step], ends: list[int]) -> list[Step]:
    """The steps that the results depend on, at an ordinary point.

    Tests for singular points, which a guard reads, are not among them, nor what is done there instead.
    """
    asked = {step.args[0] for step in guards_in(steps)}
    asked |= {a for step in steps if step.primitive is any_of and step.outs[0] in asked for a in step.args}
    wanted, found = set(ends), []
    for step in reversed(steps):
        if wanted.isdisjoint(step.outs):
            continue
        if step.primitive is where and step.args[0] in asked:
            wanted.add(step.args[2])
        else:
            wanted.update(step.args)
            found.append(step)
    return found[::-1]


def _alone(recorded: Recorded, own: list[Step]) -> list[Step]:
    """The function's steps without those that forward mode takes together with their tangents: loops."""
    together = {
        o.node
        for primitive, _, _, out, _ in recorded.trace
        if isinstance(primitive, Primitive) and primitive.derivative.pushes_together
        for o in (out if isinstance(out, tuple) else (out,))
        if isinstance(o, Traced)
    }
    return [step for step in own if together.isdisjoint(step.outs)]


def _ones(x: Any) -> Any:
    return 1.0 if shape_of(x) == () else np.ones_like(x)


def _numbers(x: Any) -> int:
    """Real numbers in a value."""
    return int(np.size(x)) * (2 if dtype_of(x).kind == "c" else 1)


def _several(n: int, what: str, why: str = "") -> str:
    """`1 sweep`, `3 sweeps, one for each output`."""
    return f"1 {what}" if n == 1 else f"{n:,} {what}s{', ' + why if why else ''}"


def _factor(x: float) -> str:
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def _bytes(n: int) -> str:
    """A number of bytes in the unit that suits it."""
    for unit in ("bytes", "kB", "MB"):
        if n < 1000:
            return f"{n:.3g} {unit}" if unit != "bytes" else f"{n} {unit}"
        n /= 1000  # type: ignore[assignment]
    return f"{n:,.3g} GB"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join([f"{name} {n:,}" for name, n in counts.items()])
