"""Products that threads share: pieces of a fixed size, so that results do not depend on how many threads there are."""

from __future__ import annotations

from collections.abc import Callable

from ..assembly.emit import Emitter
from ..assembly.kinds import I64, POINTER, VOID
from ..assembly.values import Parameter, Value, number

Piece = Callable[[Emitter, Value, Value, Value, Value], None]
"""Writes one piece into a function of its own, given its number and the addresses of the operands and the result."""


def in_pieces(outside: Emitter, count: int, piece: Piece) -> Callable[[Value, Value, Value], None]:
    """What writes the call that does all pieces, given the addresses."""
    e = Emitter(outside.module)
    context, which = Parameter("%context", POINTER), Parameter("%number", I64)
    a, b, c = [e.load(POINTER, e.address(POINTER, context, k)) for k in range(3)]
    piece(e, which, a, b, c)
    e.give()
    body = e.define("piece", (context, which))
    given = outside.allocate(POINTER.wide(4), align=64)
    run = e.module.declare("adjoint_parallel", VOID, POINTER, POINTER, I64)

    def call(a: Value, b: Value, c: Value) -> None:
        for k, address in enumerate((a, b, c)):
            outside.store(address, outside.address(POINTER, given, k))
        outside.call(run, body, given, number(count, I64))

    return call


def bounds(e: Emitter, which: Value, length: int, whole: int) -> tuple[Value, Value]:
    """Where a piece begins, and how long it is: the last one may be shorter."""
    first = e.op("mul", which, length, "nsw")
    left = e.op("sub", whole, first, "nsw")
    return first, e.select(e.compare("slt", left, length), left, length)
