"""Random words: Philox 4x64-10, four words at a time, the same as `ops/words.py` reads from NumPy."""

from __future__ import annotations

import math

from ...ir.program import Step
from ..assembly.counted_loop import counted
from ..assembly.emit import Emitter
from ..assembly.kinds import I64, I128, POINTER
from ..assembly.values import Operand, Parameter, Value, number
from ..code.kernel_function import KernelFunction
from .bodies import in_rows

ROUNDS = 10
FACTORS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
STRIDES = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
"""What the key grows by from one round to the next."""
BLOCK = 4
WORK = 60
"""What a block costs, in additions."""


def words(kernel: KernelFunction, step: Step) -> None:
    """`random_words`: for each of the keys, `count` words in a row."""
    types = kernel.plan.types
    (v,), (keys, first) = step.outs, step.args
    count = step.params["count"]
    rows = math.prod(types[v].shape[:-1])
    if rows * count == 0:
        return
    e = Emitter(kernel.module)
    given = [Parameter("%to", POINTER, "noalias"), Parameter("%keys", POINTER), Parameter("%first", POINTER)]

    addresses: list[Value] = list(given)

    def row(i: Operand) -> None:
        to, pair, start = addresses
        if rows > 1:
            i = number(i, I64)
            to, pair = _moved(e, to, e.op("mul", i, count)), _moved(e, pair, e.op("mul", i, 2))
            start = _moved(e, start, i) if types[first].shape else start
        _row(e, to, [e.load(I64, _moved(e, pair, k)) for k in range(2)], e.load(I64, start), step.params)

    if rows == 1:
        row(0)
    else:
        counted(e, 0, rows, row, is_scalar=lambda: True)
    e.give()
    kernel.e.call(e.define("words", given), kernel.pointer(v), in_rows(kernel, keys), in_rows(kernel, first))
    kernel.work += WORK * rows * -(-count // BLOCK)


def _row(e: Emitter, to: Value, key: list[Value], first: Value, params: dict[str, int]) -> None:
    """The words of one key: all whole blocks, and what is left of the last one."""
    count = params["count"]
    whole, left = divmod(count, BLOCK)

    def block(i: Operand, size: int = BLOCK) -> None:
        steps = e.op("add", number(i, I64), 1)
        low = e.op("add", first, steps)
        carry = e.convert("zext", e.compare("ult", low, steps), I64)
        part = e.op("add", carry, params["part"])
        found = _mixed(e, key, [low, part, number(0, I64), number(params["region"], I64)])
        place = _moved(e, to, e.op("mul", number(i, I64), BLOCK))
        for k, word in enumerate(found[:size]):
            e.store(word, _moved(e, place, k))

    if whole == 1:
        block(0)
    elif whole:
        counted(e, 0, whole, block, is_scalar=lambda: True)
    if left:
        block(whole, left)


def _mixed(e: Emitter, key: list[Value], counter: list[Value]) -> list[Value]:
    """The four words at a counter."""
    a, b, c, d = counter
    k, m = key
    for turn in range(ROUNDS):
        if turn:
            k, m = [e.op("add", x, stride) for x, stride in zip((k, m), STRIDES, strict=True)]
        (p, low_p), (q, low_q) = [_product(e, x, factor) for x, factor in zip((a, c), FACTORS, strict=True)]
        a, b, c, d = e.op("xor", e.op("xor", q, b), k), low_q, e.op("xor", e.op("xor", p, d), m), low_p
    return [a, b, c, d]


def _product(e: Emitter, x: Value, factor: int) -> tuple[Value, Value]:
    """The upper and the lower half of a product."""
    full = e.op("mul", e.convert("zext", x, I128), factor)
    return e.convert("trunc", e.op("lshr", full, 64), I64), e.convert("trunc", full, I64)


def _moved(e: Emitter, base: Value, index: Operand) -> Value:
    return base if index == 0 else e.address(I64, base, index)
