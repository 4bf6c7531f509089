"""Loop nests as functions of their own: equal ones are written once, however often a program has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .elements import FLAT, Elements
from .emit import Emitter, Module, llvm_type
from .engine import has_feature
from .indices import Place, identity
from .inside import NoVectorError, Sum
from .plan import Plan
from .widen import Widened

WIDE = ' "prefer-vector-width"="512"'
"""LLVM is shy of the widest vectors, because of processors that slow down for them; those of today do not."""
FEW = 64
"""Elements up to which short code matters more than its speed."""
BLOCK = 4096
"""Elements that are summed into one register before the sum goes on: rounding errors stay as small as NumPy's."""


class Resources:
    """What a loop function is given: pointers to arrays and single numbers, in the order in which it asks for them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.names: dict[Any, str] = {}
        self.written: set[int] = set()

    def pointer(self, v: int) -> str:
        """The parameter with the address of a value."""
        return self.names.setdefault(("pointer", v), f"%p{len(self.names)}")

    def register(self, v: int, k: int) -> str:
        """The parameter with element `k` of a value that lives in registers."""
        return self.names.setdefault(("register", v, k), f"%p{len(self.names)}")

    def parameters(self) -> str:
        """The parameter list."""
        parts = []
        for key, name in self.names.items():
            if key[0] == "pointer":
                parts.append(f"ptr {'noalias ' if key[1] in self.written else 'readonly '}{name}")
            else:
                parts.append(f"{llvm_type(self.plan.types[key[1]].dtype)} {name}")
        return ", ".join(parts)


def counted(
    e: Emitter,
    low: str,
    high: str,
    body: Callable[..., Any],
    step: int = 1,
    carried: Any = (),
    is_scalar: Callable[[], bool] = bool,
) -> list[str]:
    """A loop with a counter from `low` below `high`, at least once; `carried` are (type, start) of values it hands on.

    `body(counter)` writes the inside; for carried values it is given their registers too and returns the new ones.
    `is_scalar` says, once the inside is written, that vectors do not pay.
    """
    head, latch, done = e.label("head"), e.label("latch"), e.label("done")
    before = e.block
    i, following = f"%i.{head}", f"%n.{head}"
    e.jump(head)
    e.start(head)
    lines = e.lines
    lines.append(f"  {i} = phi i64 [ {low}, %{before} ], [ {following}, %{latch} ]")
    registers = []
    for k, (kind, start) in enumerate(carried):
        registers.append(f"%c{k}.{head}")
        lines.append(f"  %c{k}.{head} = phi {kind} [ {start}, %{before} ], [ <next{k}.{head}>, %{latch} ]")
    place = len(lines)
    new = list(body(i, *registers) or ())
    for k, register in enumerate(new):
        for line in range(place - len(new), place):
            lines[line] = lines[line].replace(f"<next{k}.{head}>", register)
    e.jump(latch)
    e.start(latch)
    e.do(f"{following} = add nuw nsw i64 {i}, {step}")
    last = e.op(f"icmp sge i64 {following}, {high}")
    e.do(f"br i1 {last}, label %{done}, label %{head}{e.module.scalar_loop() if is_scalar() else ''}")
    e.start(done)
    return new


def by_vectors(
    e: Emitter,
    low: Any,
    high: Any,
    body: Callable[..., Any],
    accumulators: list[tuple[str, str, str, bool]] = [],
    is_scalar: Callable[[], bool] = bool,
) -> list[str]:
    """An innermost loop, by vectors if its inside allows it; else LLVM may try, unless that `is_scalar`.

    `accumulators` are (type, first value, reduction, whether it has a sign), as for `LoopFunction.nest`.
    """
    before, outside = e.block, e.lines
    counter = f"%i.{e.label('in')}"
    registers = [f"{counter}.{k}" for k in range(len(accumulators))]
    e.lines = []
    new = list(body(counter, *registers) or ())
    lines, e.lines = e.lines, outside
    try:
        if e.block != before:
            raise NoVectorError
        sums = [Sum(a[2], a[0], a[3], a[1], r, n) for a, r, n in zip(accumulators, registers, new, strict=True)]
        made = Widened(e, lines, counter, low, high, sums)
    except NoVectorError:
        e.block = before
        e.module.wants_vectors = e.module.wants_vectors or not is_scalar()
        return counted(e, str(low), str(high), body, carried=[a[:2] for a in accumulators], is_scalar=is_scalar)
    return made.emit()


class LoopFunction:
    """A function that loops over a range of a shape and does something at each place."""

    def __init__(self, module: Module, plan: Plan, level: int) -> None:
        self.module = module
        self.plan = plan
        self.resources = Resources(plan)
        self.e = Emitter(module)
        self.elements = Elements(plan, self.e, level, self.resources)

    def nest(
        self,
        ranges: list[tuple[Any, Any]],
        body: Callable[[Place], Any],
        accumulators: list[tuple[str, str, str, bool]] | None = None,
        finish: Callable[[Place, list[str]], None] | None = None,
        flat: bool = False,
    ) -> None:
        """Loops over all axes, the last one innermost.

        `accumulators` (type, first value, reduction, whether it has a sign) live in registers through the innermost
        loop; `body` returns what they become, `finish` gets their last values. A long innermost loop with accumulators
        is cut into blocks.
        """
        x = self.elements
        place = FLAT if flat else identity(len(ranges))
        x.variables = [""] * len(ranges)
        x.ranges = [(r if isinstance(r[0], int) else (0, 0)) for r in ranges]
        last = len(ranges) - 1
        outside = self.module.straight
        numbers = [r[1] - r[0] for r in ranges if isinstance(r[0], int)]
        few = len(numbers) == len(ranges) and math.prod(numbers) <= FEW
        self.module.straight = outside or few  # functions are called, not written out, where there is little to do

        def level(axis: int) -> None:
            low, high = ranges[axis]
            if axis < last:
                counted(self.e, str(low), str(high), lambda i: enter(axis, i))
            elif accumulators and isinstance(low, int) and high - low <= BLOCK:
                innermost(low, high)
            elif accumulators:
                counted(self.e, str(low), str(high), lambda b: block(b, str(high)), step=BLOCK)
            else:
                vectors(low, high)

        def enter(axis: int, i: str) -> None:
            x.variables[axis] = i
            level(axis + 1)

        def block(b: str, high: str) -> None:
            end = self.e.op(f"add nsw i64 {b}, {BLOCK}")
            short = self.e.op(f"icmp slt i64 {end}, {high}")
            innermost(b, self.e.op(f"select i1 {short}, i64 {end}, i64 {high}"))

        def innermost(low: Any, high: Any) -> None:
            new = vectors(low, high)
            x.forget()
            assert finish is not None
            finish(place, new)

        def vectors(low: Any, high: Any) -> list[str]:
            return by_vectors(self.e, low, high, inside, accumulators or [], is_scattered)

        def is_scattered() -> bool:
            return x.scattered > 0 and not x.is_dear

        def inside(i: str, *registers: str) -> Any:
            x.variables[last] = i
            x.scattered, x.is_dear, x.innermost = 0, False, last
            x.forget()
            self.registers = registers
            return body(place)

        level(0)
        self.module.straight = outside

    def end(self, stem: str, extra: str = "", result: str = "void", value: str = "") -> str:
        """Finish the function; its name, which is that of an equal one if there is one."""
        parameters = ", ".join([p for p in (extra, self.resources.parameters()) if p])
        body = "\n".join(self.e.lines)
        wide = WIDE if has_feature("avx512f") else ""
        last = f"ret {result} {value}".rstrip()
        text = f"({parameters}) nounwind{wide} {{\nentry:\n{body}\n  {last}\n}}"
        return self.module.function(stem, f"internal {result}", text)


def identity_of(name: str, dtype: np.dtype) -> Any:
    """What a reduction starts from."""
    if name == "prod":
        return 1
    if name in ("sum", "any"):
        return 0
    if name == "all":
        return True
    if dtype.kind == "f":
        return -np.inf if name == "max" else np.inf
    if dtype.kind == "b":
        return name == "min"
    bounds = np.iinfo(dtype)
    return bounds.min if name == "max" else bounds.max
