"""Vectors instead of numbers: the inside of an innermost loop, written for one element, turned into that for many.

LLVM can do this too, but looks at every way to do it for tens of milliseconds. The inside is straight code of few kinds
of instructions, of which three things have to be known: which registers are the same for all elements (those are
computed before the loop), which count along with the loop (indices and addresses), and which hold data. The last round
is a vector too, with a mask, so that every element is computed by the same instructions wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .emit import Emitter
from .engine import has_feature
from .inside import SIZES, Inside, Sum
from .scalar.vector import PURE, versions

CHEAP_LINES = 14
"""An inside of so few lines is written several times in one round, so that the processor never waits."""


def vector_bytes() -> int:
    """The width of this processor's registers."""
    return 64 if has_feature("avx512f") else 32 if has_feature("avx2") else 16


class Widened(Inside):
    """One innermost loop over `counter` from `low` below `high`, whose inside is `lines`."""

    def __init__(self, e: Emitter, lines: list[str], counter: str, low: Any, high: Any, sums: list[Sum]) -> None:
        super().__init__(lines, counter, sums)
        self.e = e
        self.low, self.high = low, high
        self._splats: dict[tuple[str, str], str] = {}
        trips = high - low if isinstance(low, int) else None
        self.width = vector_bytes() // max([SIZES[t] for t in self.types if t != "i1"], default=8)
        if trips is not None and trips < self.width:
            self.width = 1 << max(0, (trips - 1).bit_length())
        cheap = len(self.inside) <= CHEAP_LINES
        self.copies = 4 if cheap and (trips is None or trips >= 8 * self.width) else 1

    def wide(self, kind: str) -> str:
        """The type of a vector."""
        return f"<{self.width} x {kind}>"

    def emit(self) -> list[str]:
        """Write the loops; the registers with the totals."""
        e = self.e
        e.lines += self.before
        self._splat_uniform()
        starts = [self._splat(s.kind, s.start) for s in self.sums]
        totals = [list(starts) for _ in range(self.copies)]
        stride = self.width * self.copies
        if isinstance(self.low, int):
            rounds = (self.high - self.low) // stride
            at: Any = self.low + rounds * stride
            if rounds == 1:
                totals = self._round(str(self.low), totals, None)
            elif rounds > 1:
                totals = self._loop(str(self.low), str(at), stride, totals)
        else:
            span = e.op(f"sub nsw i64 {self.high}, {self.low}")
            whole = e.op(f"and i64 {span}, {-stride}")
            at = e.op(f"add nsw i64 {self.low}, {whole}")
            low = str(self.low)
            totals = self._guarded(low, at, totals, lambda: self._loop(low, at, stride, totals))
        joined = [self._joined(s, [t[k] for t in totals]) for k, s in enumerate(self.sums)]
        joined = self._rest(at, joined)
        return [self._folded(s, total) for s, total in zip(self.sums, joined, strict=True)]

    def _loop(self, low: str, high: str, stride: int, totals: list[list[str]]) -> list[list[str]]:
        from .loops import counted

        flat = [t for copy in totals for t in copy]
        n = len(self.sums)
        carried = [(self.wide(self.sums[k % n].kind), t) for k, t in enumerate(flat)] if n else ()

        def body(i: str, *registers: str) -> list[str]:
            given = [list(registers[c * n : (c + 1) * n]) for c in range(self.copies)]
            return [t for copy in self._round(i, given, None) for t in copy]

        new = counted(self.e, low, high, body, step=stride, carried=carried, is_scalar=lambda: True)
        return [new[c * n : (c + 1) * n] for c in range(self.copies)]

    def _guarded(
        self, low: str, high: str, totals: list[list[str]], loop: Callable[[], list[list[str]]]
    ) -> list[list[str]]:
        """The sums after a loop, unless its range is empty."""
        e = self.e
        some, after = e.label("some"), e.label("after")
        e.branch(e.op(f"icmp slt i64 {low}, {high}"), some, after)
        outside = e.block
        e.start(some)
        new = loop()
        inside = e.block
        e.jump(after)
        e.start(after)
        return [
            [
                e.op(f"phi {self.wide(s.kind)} [ {old}, %{outside} ], [ {found}, %{inside} ]")
                for s, old, found in zip(self.sums, olds, founds, strict=True)
            ]
            for olds, founds in zip(totals, new, strict=True)
        ]

    def _rest(self, at: Any, totals: list[str]) -> list[str]:
        """What is left after the last whole round: vectors with a mask."""
        if isinstance(at, int):
            left = self.high - at
            while left >= self.width:
                (totals,) = self._round(str(at), [totals], None, copies=1)
                at, left = at + self.width, left - self.width
            if left:
                lanes = ", ".join([f"i1 {str(k < left).lower()}" for k in range(self.width)])
                (totals,) = self._round(str(at), [totals], f"<{lanes}>", copies=1)
            return totals
        from .loops import counted

        e = self.e
        numbers = ", ".join([f"i64 {k}" for k in range(self.width)])

        def body(i: str, *registers: str) -> list[str]:
            remaining = e.op(f"sub nsw i64 {self.high}, {i}")
            mask = e.op(f"icmp ugt {self.wide('i64')} {self._splat_now('i64', remaining)}, <{numbers}>")
            return self._round(i, [list(registers)], mask, copies=1)[0]

        def loop() -> list[list[str]]:
            carried = [(self.wide(s.kind), t) for s, t in zip(self.sums, totals, strict=True)]
            return [counted(e, at, high, body, step=self.width, carried=carried, is_scalar=lambda: True)]

        high = str(self.high)
        return self._guarded(at, high, [totals], loop)[0]

    def _round(self, i: str, totals: list[list[str]], mask: str | None, copies: int | None = None) -> list[list[str]]:
        """The inside, once for each copy."""
        new = []
        for c in range(copies or self.copies):
            counter = i
            if c:
                shift = c * self.width
                counter = str(int(i) + shift) if i.isdigit() else self.e.op(f"add nuw nsw i64 {i}, {shift}")
            names = {self.counter: counter, **{s.inside: t for s, t in zip(self.sums, totals[c], strict=True)}}
            self._copy(names, mask)
            found = [names[s.new] for s in self.sums]
            if mask is not None:
                found = [
                    self.e.op(f"select {self.wide('i1')} {mask}, {self.wide(s.kind)} {f}, {self.wide(s.kind)} {t}")
                    for s, f, t in zip(self.sums, found, totals[c], strict=True)
                ]
            new.append(found)
        return new

    def _copy(self, names: dict[str, str], mask: str | None) -> None:
        op = self.e.op
        for what, parts in self.inside:
            if what == "scalar":
                name, text = parts
                names[name] = op(re.sub(r"%[\w.]+", lambda m: names.get(m.group(), m.group()), text))
            elif what == "load":
                name, kind, place = parts
                names[name] = self._read(kind, names[place], mask)
            elif what == "store":
                kind, value, place = parts
                self._write(kind, self._operand(kind, value, names), names[place], mask)
            elif what == "value":
                name, pattern, working, operands = parts
                given = [self._operand(k, o, names) for k, o in operands]
                types = {k: self.wide(k) for k in SIZES}
                names[name] = op(pattern.format(*given, w=self.wide(working), **types))
            else:
                name, kind, symbol, operands = parts
                names[name] = self._called(kind, symbol, [self._operand(kind, o, names) for o in operands])

    def _operand(self, kind: str, operand: str, names: dict[str, str]) -> str:
        if operand in names:
            return names[operand]
        return self._splats.get((kind, operand)) or self._splat(kind, operand)

    def _splat(self, kind: str, operand: str) -> str:
        """The same number in every lane."""
        if not operand.startswith("%"):
            return f"<{', '.join([f'{kind} {operand}'] * self.width)}>"
        found = self._splats.get((kind, operand))
        return found if found is not None else self._splat_now(kind, operand)

    def _splat_now(self, kind: str, register: str) -> str:
        wide = self.wide(kind)
        first = self.e.op(f"insertelement {wide} poison, {kind} {register}, i64 0")
        return self.e.op(f"shufflevector {wide} {first}, {wide} poison, <{self.width} x i32> zeroinitializer")

    def _splat_uniform(self) -> None:
        """Spread what is the same for all elements, before the loop begins."""
        for what, parts in self.inside:
            if what == "value":
                pairs = parts[3]
            elif what == "call":
                pairs = [(parts[1], o) for o in parts[3]]
            elif what == "store":
                pairs = [(parts[0], parts[1])]
            else:
                continue
            for kind, operand in pairs:
                if operand.startswith("%") and operand not in self.data and (kind, operand) not in self._splats:
                    self._splats[kind, operand] = self._splat_now(kind, operand)

    def _suffix(self, kind: str) -> str:
        return f"v{self.width}" + {"double": "f64", "float": "f32"}.get(kind, kind)

    def _read(self, kind: str, place: str, mask: str | None) -> str:
        wide = self.wide(kind)
        if mask is None:
            return self.e.op(f"load {wide}, ptr {place}, align {SIZES[kind]}")
        signature = f"{wide} {{}}(ptr, i32, {self.wide('i1')}, {wide})"
        name = self.e.module.declare(f"llvm.masked.load.{self._suffix(kind)}.p0", signature)
        arguments = f"ptr {place}, i32 {SIZES[kind]}, {self.wide('i1')} {mask}, {wide} zeroinitializer"
        return self.e.op(f"call {wide} {name}({arguments})")

    def _write(self, kind: str, value: str, place: str, mask: str | None) -> None:
        wide = self.wide(kind)
        if mask is None:
            self.e.do(f"store {wide} {value}, ptr {place}, align {SIZES[kind]}")
            return
        signature = f"void {{}}({wide}, ptr, i32, {self.wide('i1')})"
        name = self.e.module.declare(f"llvm.masked.store.{self._suffix(kind)}.p0", signature)
        self.e.do(f"call void {name}({wide} {value}, ptr {place}, i32 {SIZES[kind]}, {self.wide('i1')} {mask})")

    def _called(self, kind: str, symbol: str, given: list[str]) -> str:
        """An intrinsic, or a function of the C library: its vector version, or one call for each lane."""
        wide = self.wide(kind)
        arguments = ", ".join([f"{wide} {g}" for g in given])
        if symbol.startswith("llvm."):
            base = symbol.rsplit(".", 1)[0]
            name = self.e.module.declare(
                f"{base}.{self._suffix(kind)}", f"{wide} {{}}({', '.join([wide] * len(given))})"
            )
            return self.e.op(f"call {wide} {name}({arguments})")
        plain = symbol.removeprefix("adjoint_")
        for version, lanes in versions(plain, len(given), SIZES[kind]):
            if lanes == self.width:
                name = self.e.module.declare(version, f"{wide} {{}}({', '.join([wide] * len(given))}) {PURE}")
                return self.e.op(f"call {wide} {name}({arguments})")
        found = "poison"
        for k in range(self.width):
            one = [self.e.op(f"extractelement {wide} {g}, i64 {k}") for g in given]
            result = self.e.op(f"call {kind} @{symbol}({', '.join([f'{kind} {o}' for o in one])})")
            found = self.e.op(f"insertelement {wide} {found}, {kind} {result}, i64 {k}")
        return found

    # Totals

    def _joined(self, s: Sum, totals: list[str]) -> str:
        """The totals of the copies as one vector."""
        while len(totals) > 1:
            totals = [self._both(s, a, b) for a, b in zip(totals[::2], totals[1::2], strict=True)]
        return totals[0]

    def _both(self, s: Sum, x: str, y: str) -> str:
        wide = self.wide(s.kind)
        word = REDUCTIONS[s.name][s.kind in ("double", "float")]
        if s.name in ("max", "min"):
            name = (
                ("maximum" if s.name == "max" else "minimum")
                if s.kind in ("double", "float")
                else (("s" if s.is_signed else "u") + s.name)
            )
            target = self.e.module.declare(f"llvm.{name}.{self._suffix(s.kind)}", f"{wide} {{}}({wide}, {wide})")
            return self.e.op(f"call {wide} {target}({wide} {x}, {wide} {y})")
        flag = " reassoc" if s.kind in ("double", "float") else ""
        return self.e.op(f"{word}{flag} {wide} {x}, {y}")

    def _folded(self, s: Sum, total: str) -> str:
        """The lanes of a vector as one number."""
        wide, real = self.wide(s.kind), s.kind in ("double", "float")
        if self.width == 1:
            return self.e.op(f"extractelement {wide} {total}, i64 0")
        if s.name in ("max", "min"):
            name = ("fmaximum" if s.name == "max" else "fminimum") if real else (("s" if s.is_signed else "u") + s.name)
        else:
            name = REDUCTIONS[s.name][real]
        start = f"{s.kind} {'-0.0' if name == 'fadd' else '1.0'}, " if name in ("fadd", "fmul") else ""
        signature = f"{s.kind} {{}}({s.kind + ', ' if start else ''}{wide})"
        target = self.e.module.declare(f"llvm.vector.reduce.{name}.{self._suffix(s.kind)}", signature)
        flag = "reassoc " if start else ""
        return self.e.op(f"call {flag}{s.kind} {target}({start}{wide} {total})")


REDUCTIONS = {
    "sum": ("add", "fadd"), "prod": ("mul", "fmul"), "any": ("or", "or"), "all": ("and", "and"), "max": ("", ""),
    "min": ("", ""),
}  # fmt: skip
"""The instruction of a reduction, for integers and for floats."""
