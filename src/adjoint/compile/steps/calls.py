"""Calls of the inner loops of universal functions, for stacks of any strides."""

from __future__ import annotations

import math
from typing import NamedTuple

from ...ir.program import Step
from ..assembly.counted_loop import counted
from ..assembly.emit import Emitter
from ..assembly.kinds import I8, I64, POINTER, VOID, block_of, memory_kind
from ..assembly.values import Parameter, Value, number
from ..code.kernel_function import KernelFunction
from ..program.indices import row_major
from ..runtime.ufuncs import inner_loop
from .bodies import in_rows

COMPLEX = "FD"
"""The letters of pairs."""


class Part(NamedTuple):
    """An operand or the result: where it is, and its strides in bytes, along axes of the stack and along its own."""

    address: Value
    outer: tuple[int, ...]
    inner: tuple[int, ...]
    sizes: tuple[int, ...]
    """Of its own axes."""


def call(kernel: KernelFunction, step: Step) -> None:
    """Write the call of a universal function's loop."""
    params = step.params
    letters = params["types"].replace("->", "")
    (out,) = step.outs
    shape = kernel.plan.types[out].shape
    shape = shape[:-1] if letters[-1] in COMPLEX else shape
    own = {a % len(shape) for a in params["axes"][-1]}
    stack = tuple([n for k, n in enumerate(shape) if k not in own])
    values = [*step.args, out]
    parts = [_part(kernel, v, c, a, stack) for v, c, a in zip(values, letters, params["axes"], strict=True)]
    name = inner_loop(params["ufunc"], params["types"])
    assert name is not None
    _write(kernel, name, _names(params["ufunc"].signature), parts, stack)
    length = max([math.prod(p.sizes) for p in parts])
    kernel.work += math.prod(stack) * 5 * length * length.bit_length() + 100


def _names(signature: str) -> list[list[str]]:
    """The names of the axes of each operand and result."""
    parts = signature.replace("->", ",").replace(" ", "").strip("()").split("),(")
    return [[name for name in part.split(",") if name] for part in parts]


def _part(kernel: KernelFunction, v: int, letter: str, axes: tuple[int, ...], stack: tuple[int, ...]) -> Part:
    """A value as an operand: pairs have to be neighbours."""
    plan = kernel.plan
    t = plan.types[v]
    pair = letter in COMPLEX
    size = t.dtype.itemsize
    place = plan.layout(v)
    if place is None or (pair and place.strides[-1] != 1):
        address, strides = in_rows(kernel, v), row_major(t.shape)
    else:
        address, strides = kernel.pointer(place.base), place.strides
        if place.offset:
            address = kernel.e.address(memory_kind(t.dtype), address, place.offset, flags="")
    shape = t.shape[:-1] if pair else t.shape
    steps = [s * size for s in strides[: len(shape)]]
    own = [a % len(shape) for a in axes]
    rest = [0 if shape[k] == 1 else steps[k] for k in range(len(shape)) if k not in own]
    rest = [0] * (len(stack) - len(rest)) + rest
    return Part(address, tuple(rest), tuple([steps[a] for a in own]), tuple([shape[a] for a in own]))


def _write(
    kernel: KernelFunction, name: str, names: list[list[str]], parts: list[Part], stack: tuple[int, ...]
) -> None:
    """A function that calls the loop for the longest axis of the stack, inside loops over the others."""
    e = Emitter(kernel.module)
    given = [Parameter(f"%p{k}", POINTER) for k in range(len(parts))]
    longest = max(range(len(stack)), key=lambda k: stack[k], default=None)
    lengths = {n: size for part, own in zip(parts, names, strict=True) for n, size in zip(own, part.sizes, strict=True)}
    count = 1 if longest is None else stack[longest]
    sizes = _numbers(e, [count, *lengths.values()])
    outer = [0 if longest is None else part.outer[longest] for part in parts]
    steps = _numbers(e, [*outer, *[s for part in parts for s in part.inner]])
    places = e.allocate(block_of(len(parts), POINTER))
    loop = e.module.declare(name, VOID, POINTER, POINTER, POINTER)
    rest = [k for k in range(len(stack)) if k != longest and stack[k] > 1]

    def level(depth: int, at: list[Value]) -> None:
        if depth < len(rest):
            counted(e, 0, stack[rest[depth]], lambda i: level(depth + 1, moved(at, rest[depth], i)))
            return
        for k, p in enumerate(at):
            e.store(p, e.address(POINTER, places, k))
        e.call(loop, places, sizes, steps)

    def moved(at: list[Value], axis: int, i: Value) -> list[Value]:
        return [
            e.address(I8, p, e.op("mul", i, part.outer[axis], "nsw"), flags="") if part.outer[axis] else p
            for p, part in zip(at, parts, strict=True)
        ]

    level(0, list(given))
    e.give()
    kernel.e.call(e.define("loop", given), *[part.address for part in parts])


def _numbers(e: Emitter, values: list[int]) -> Value:
    """Integers in memory."""
    place = e.allocate(block_of(len(values), I64), align=8)
    for k, value in enumerate(values):
        e.store(number(value, I64), e.address(I64, place, k))
    return place
