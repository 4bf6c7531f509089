"""A loop with a counter, the only kind of loop that is written; vectors and nests are made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .emit import Emitter
from .instructions import Arithmetic
from .kinds import I64
from .values import Operand, Value, number


def counted(
    e: Emitter,
    low: Operand,
    high: Operand,
    body: Callable[..., Sequence[Value] | None],
    step: int = 1,
    carried: Sequence[Value] = (),
    is_scalar: Callable[[], bool] = bool,
) -> list[Value]:
    """A loop with a counter from `low` below `high`, at least once; `carried` are the first of values it hands on.

    `body(counter)` writes the inside; for carried values it is given their registers too and returns the new ones.
    `is_scalar` says, once the inside is written, that vectors do not pay.
    """
    head, latch, done = e.label("head"), e.label("latch"), e.label("done")
    before = e.block
    e.jump(head)
    e.start(head)
    i = e.phi((number(low, I64), before), name=f"%i.{head}")
    registers = [e.phi((v, before), name=f"%c{k}.{head}") for k, v in enumerate(carried)]
    new = list(body(i, *registers) or ())
    for register, value in zip(registers, new, strict=True):
        register.arrive(value, latch)
    e.jump(latch)
    e.start(latch)
    following = e.add(Arithmetic(f"%n.{head}", I64, "add", (i, number(step, I64)), "nuw nsw"))
    i.arrive(following, latch)
    last = e.compare("sge", following, high)
    e.branch(last, done, head, e.module.scalar_loop() if is_scalar() else "")
    e.start(done)
    return new
