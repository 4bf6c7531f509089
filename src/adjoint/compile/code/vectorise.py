"""Vectors instead of numbers: the inside of an innermost loop, written for one element, turned into that for many.

LLVM can do this too, but looks at every way to do it for tens of milliseconds. The inside is straight code, of which
three things have to be known: which registers are the same for all elements (those are computed before the loop), which
count along with the loop (indices and addresses), and which hold data. The last round is a vector too, with a mask, so
that every element is computed by the same instructions wherever it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..assembly.counted_loop import counted
from ..assembly.emit import Emitter
from ..assembly.instructions import Call, Instruction, Load, Store
from ..assembly.kinds import I1, I32, I64, POINTER, VOID, Kind
from ..assembly.values import (
    Constant,
    Function,
    Operand,
    Value,
    Vectors,
    first_lanes,
    lanes_of,
    number,
    poison,
    spread,
    zero,
)
from ..runtime.processor import has_feature
from ..scalar.vector import PURE, versions
from .loop_body import Accumulator, LoopBody
from .reductions import combination

CHEAP = 14
"""An inside of so few instructions is written several times in one round, so that the processor never waits."""


def vector_bytes() -> int:
    """The width of this processor's registers."""
    return 64 if has_feature("avx512f") else 32 if has_feature("avx2") else 16


class Widened:
    """One innermost loop from `low` below `high`, by vectors."""

    def __init__(self, e: Emitter, body: LoopBody, low: Operand, high: Operand) -> None:
        self.e = e
        self.body = body
        self.low, self.high = low, high
        self.accumulators = [t.accumulator for t in body.totals]
        self._spread: dict[Value, Value] = {}
        trips = high - low if isinstance(low, int) and isinstance(high, int) else None
        self.width = vector_bytes() // max([k.bytes for k in body.kinds if k is not I1], default=8)
        if trips is not None and trips < self.width:
            self.width = 1 << max(0, (trips - 1).bit_length())
        cheap = len(body.inside) <= CHEAP
        self.copies = 4 if cheap and (trips is None or trips >= 8 * self.width) else 1

    def emit(self) -> list[Value]:
        """Write the loops; the registers with the totals."""
        e, low, high = self.e, self.low, self.high
        e.body += self.body.before
        self._spread_uniform()
        starts = [self._wide(a.start) for a in self.accumulators]
        totals = [list(starts) for _ in range(self.copies)]
        stride = self.width * self.copies
        at: Operand
        if isinstance(low, int) and isinstance(high, int):
            rounds = (high - low) // stride
            at = low + rounds * stride
            if rounds == 1:
                totals = self._round(low, totals, None)
            elif rounds > 1:
                totals = self._loop(low, at, stride, totals)
        else:
            span = e.op("sub", high, low, "nsw")
            at = end = e.op("add", low, e.op("and", span, -stride), "nsw")
            totals = self._guarded(low, at, totals, lambda: self._loop(low, end, stride, totals))
        joined = [self._joined(a, [t[k] for t in totals]) for k, a in enumerate(self.accumulators)]
        joined = self._rest(at, joined)
        return [self._folded(a, total) for a, total in zip(self.accumulators, joined, strict=True)]

    def _loop(self, low: Operand, high: Operand, stride: int, totals: list[list[Value]]) -> list[list[Value]]:
        n = len(self.accumulators)

        def body(i: Value, *registers: Value) -> list[Value]:
            given = [list(registers[c * n : (c + 1) * n]) for c in range(self.copies)]
            return [t for copy in self._round(i, given, None) for t in copy]

        carried = [t for copy in totals for t in copy]
        new = counted(self.e, low, high, body, step=stride, carried=carried, is_scalar=lambda: True)
        return [new[c * n : (c + 1) * n] for c in range(self.copies)]

    def _guarded(
        self, low: Operand, high: Operand, totals: list[list[Value]], loop: Callable[[], list[list[Value]]]
    ) -> list[list[Value]]:
        """The totals after a loop, unless its range is empty."""
        e = self.e
        some, after = e.label("some"), e.label("after")
        e.branch(e.compare("slt", number(low, I64), high), some, after)
        outside = e.block
        e.start(some)
        new = loop()
        inside = e.block
        e.jump(after)
        e.start(after)
        return [
            [e.phi((old, outside), (found, inside)) for old, found in zip(olds, founds, strict=True)]
            for olds, founds in zip(totals, new, strict=True)
        ]

    def _rest(self, at: Operand, totals: list[Value]) -> list[Value]:
        """What is left after the last whole round: vectors with a mask."""
        e, high = self.e, self.high
        if isinstance(at, int) and isinstance(high, int):
            left = high - at
            while left >= self.width:
                (totals,) = self._round(at, [totals], None, copies=1)
                at, left = at + self.width, left - self.width
            if left:
                (totals,) = self._round(at, [totals], first_lanes(left, self.width), copies=1)
            return totals
        numbers = lanes_of([Constant(str(k), I64, k) for k in range(self.width)])

        def body(i: Value, *registers: Value) -> list[Value]:
            remaining = e.spread(e.op("sub", high, i, "nsw"), self.width)
            return self._round(i, [list(registers)], e.compare("ugt", remaining, numbers), copies=1)[0]

        def loop() -> list[list[Value]]:
            return [counted(e, at, high, body, step=self.width, carried=totals, is_scalar=lambda: True)]

        return self._guarded(at, high, [totals], loop)[0]

    # The inside

    def _round(
        self, i: Operand, totals: Sequence[list[Value]], mask: Value | None, copies: int | None = None
    ) -> list[list[Value]]:
        """The inside, once for each copy."""
        new = []
        for c in range(copies or self.copies):
            shift = c * self.width
            counter = i if not c else i + shift if isinstance(i, int) else self.e.op("add", i, shift, "nuw nsw")
            known = {self.body.counter: number(counter, I64)}
            known.update(zip([t.so_far for t in self.body.totals], totals[c], strict=True))
            for instruction in self.body.inside:
                known[instruction] = self._turned(instruction, known, mask)
            found = [known[t.new] for t in self.body.totals]
            if mask is not None:
                found = [self.e.select(mask, f, t) for f, t in zip(found, totals[c], strict=True)]
            new.append(found)
        return new

    def _turned(self, i: Instruction, known: dict[Value, Value], mask: Value | None) -> Value:
        """An instruction for all lanes; one that counts along, for the first of them."""
        e = self.e
        if i in self.body.speed:
            return e.add(i.renamed(e.register(), i.kind, tuple([known.get(o, o) for o in i.operands])))
        if isinstance(i, Load):
            return self._read(i, known, mask)
        if isinstance(i, Store):
            return self._write(i, known, mask)
        given = tuple([known.get(o) or self._wide(o) for o in i.operands])
        if isinstance(i, Call):
            return self._called(i.function, given)
        return e.add(i.renamed(e.register(), i.kind.wide(self.width), given))

    def _wide(self, x: Value) -> Value:
        """The same number in every lane."""
        if isinstance(x, Constant) and x not in self._spread:
            self._spread[x] = spread(x, self.width)
        return self._spread.get(x) or self.e.spread(x, self.width)

    def _spread_uniform(self) -> None:
        """Spread what is the same for all elements, before the loop begins."""
        for i in self.body.inside:
            if i in self.body.speed or isinstance(i, Load):
                continue
            for x in i.operands[:1] if isinstance(i, Store) else i.operands:
                if not isinstance(x, Constant) and x not in self.body.data and x not in self._spread:
                    self._spread[x] = self.e.spread(x, self.width)

    def _read(self, i: Load, known: dict[Value, Value], mask: Value | None) -> Value:
        kind, place, wide = i.kind, known[i.operands[0]], i.kind.wide(self.width)
        return self.e.load(wide, place, kind.bytes) if mask is None else masked_load(self.e, wide, place, mask)

    def _write(self, i: Store, known: dict[Value, Value], mask: Value | None) -> Value:
        value, place = known.get(i.operands[0]) or self._wide(i.operands[0]), known[i.operands[1]]
        if mask is None:
            return self.e.store(value, place, value.kind.bytes)
        return masked_store(self.e, value, place, mask)

    def _called(self, function: Function, given: tuple[Value, ...]) -> Value:
        """An intrinsic, or a function of the C library: its vector version, or one call for each lane."""
        e, module = self.e, self.e.module
        wide = function.result.wide(self.width)
        if function.vectors is Vectors.INTRINSIC:
            return e.call(module.intrinsic(function.stem, wide, len(given)), *given)
        if function.vectors is Vectors.LIBRARY:
            for version, lanes in versions(function.stem, len(given), wide.bytes):
                if lanes == self.width:
                    return e.call(module.declare(version, wide, *[wide] * len(given), attributes=PURE), *given)
        found: Value = Constant("poison", wide)
        for k in range(self.width):
            one = [e.extract(g, k) for g in given]
            found = e.insert(found, e.call(function, *one), k)
        return found

    # Totals

    def _joined(self, a: Accumulator, totals: list[Value]) -> Value:
        """The totals of the copies as one vector."""
        while len(totals) > 1:
            totals = [self._both(a, x, y) for x, y in zip(totals[::2], totals[1::2], strict=True)]
        return totals[0]

    def _both(self, a: Accumulator, x: Value, y: Value) -> Value:
        how, real = combination(a.monoid, is_truth=a.kind == I1), a.kind.is_real
        word = how.word(real, a.is_signed)
        return self.e.intrinsic(word, x, y) if how.is_call else self.e.op(word, x, y, "reassoc" if real else "")

    def _folded(self, a: Accumulator, total: Value) -> Value:
        """The lanes of a vector as one number."""
        if self.width == 1:
            return self.e.extract(total, 0)
        how, real = combination(a.monoid, is_truth=a.kind == I1), a.kind.is_real
        name = ("f" if how.is_call and real else "") + how.word(real, a.is_signed)
        target = f"llvm.vector.reduce.{name}.{total.kind.suffix}"
        if name not in FIRST:
            return self.e.call(self.e.module.declare(target, a.kind, total.kind), total)
        function = self.e.module.declare(target, a.kind, a.kind, total.kind)
        return self.e.call(function, Constant(FIRST[name], a.kind), total, flags="reassoc")


class Overlapping(Widened):
    """A loop with a long inside, which is written once: the last round begins so early that its vector is full.

    What it does again, it does as before; totals take only what is new. Neighbours may be far from each other in
    memory.
    """

    def __init__(self, e: Emitter, body: LoopBody, low: Operand, high: Operand, rounds: int) -> None:
        """`rounds` are those of all chunks together, each of which but the last has a multiple of any width."""
        super().__init__(e, body, low, high)
        while self.width > rounds:
            self.width //= 2
        self.is_even = rounds % self.width == 0

    def emit(self) -> list[Value]:
        """Write the loop; the registers with the totals."""
        e = self.e
        e.body += self.body.before
        self._spread_uniform()
        last = e.op("sub", number(self.high, I64), self.width, "nsw")
        lanes = lanes_of([Constant(str(k), I64, k) for k in range(self.width)])

        def body(i: Value, *registers: Value) -> list[Value]:
            at = i if self.is_even else e.intrinsic("smin", i, last)
            (found,) = self._round(at, [list(registers)], None, copies=1)
            if self.is_even or not registers:
                return found
            fresh = e.compare("sge", lanes, e.spread(e.op("sub", i, at, "nsw"), self.width))
            return [e.select(fresh, new, old) for new, old in zip(found, registers, strict=True)]

        starts = [self._wide(a.start) for a in self.accumulators]
        totals = counted(e, self.low, self.high, body, step=self.width, carried=starts, is_scalar=lambda: True)
        return [self._folded(a, total) for a, total in zip(self.accumulators, totals, strict=True)]

    def _read(self, i: Load, known: dict[Value, Value], mask: Value | None) -> Value:
        e, place = self.e, i.operands[0]
        speed = self.body.speed.get(place, 0)
        if speed == 0:
            return e.spread(e.load(i.kind, known.get(place, place)), self.width)
        if speed == 1:
            return super()._read(i, known, mask)
        found: Value = poison(i.kind.wide(self.width))
        for lane in range(self.width):
            found = e.insert(found, e.load(i.kind, self._lane(i.kind, known[place], lane * speed)), lane)
        return found

    def _write(self, i: Store, known: dict[Value, Value], mask: Value | None) -> Value:
        e, (given, place) = self.e, i.operands
        speed = self.body.speed[place]
        if speed == 1:
            return super()._write(i, known, mask)
        value = known.get(given)
        stored: Value = given
        for lane in range(self.width):
            one = given if value is None else e.extract(value, lane)
            stored = e.store(one, self._lane(given.kind, known[place], lane * speed))
        return stored

    def _lane(self, kind: Kind, place: Value, shift: int) -> Value:
        return place if shift == 0 else self.e.address(kind, place, shift)


def masked_load(e: Emitter, wide: Kind, place: Value, mask: Value) -> Value:
    """A vector from memory, as far as the mask goes; the other lanes are 0."""
    name = f"llvm.masked.load.{wide.suffix}.p0"
    function = e.module.declare(name, wide, POINTER, I32, mask.kind, wide)
    return e.call(function, place, number(wide.bytes, I32), mask, zero(wide))


def masked_store(e: Emitter, value: Value, place: Value, mask: Value) -> Value:
    """A vector to memory, as far as the mask goes."""
    name = f"llvm.masked.store.{value.kind.suffix}.p0"
    function = e.module.declare(name, VOID, value.kind, POINTER, I32, mask.kind)
    return e.call(function, value, place, number(value.kind.bytes, I32), mask)


FIRST = {"fadd": "-0.0", "fmul": "1.0"}
"""What a reduction of floats in order begins with."""
