"""`checkpoint_every`: a scan of scans, whose outer one keeps its carries while the inner one computes them again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.values import Value, shape_of
from ..ir.capture import example
from .loop_capture import Body, captured, numpys, split
from .loop_scan import apply


def in_segments(
    body: Body, carry: list[Value], items: list[Value], length: int, every: int, **how: Any
) -> tuple[Value, ...]:
    """The results of the loop, taken in segments of `every` steps, and what is left over after them."""
    reverse = how["reverse"]
    whole = length // every * every
    parts, done = [], 0
    for steps, run in ((whole, _segments), (length - whole, _plainly)):
        if steps:
            start = length - done - steps if reverse else done
            found = run(body, carry, [x[start : start + steps] for x in items], steps, every, how)
            carry, ys = split(found, len(carry))
            parts.append(ys)
            done += steps
    order = parts[::-1] if reverse else parts
    stacks = order[0] if len(order) == 1 else [np.concatenate(pieces) for pieces in zip(*order, strict=True)]
    return (*carry, *stacks)


def _plainly(
    body: Body, carry: list[Value], items: list[Value], length: int, every: int, how: dict[str, Any]
) -> tuple[Value, ...]:
    return apply(body, carry, items, length=length, **how)


def _segments(
    body: Body, carry: list[Value], items: list[Value], length: int, every: int, how: dict[str, Any]
) -> tuple[Value, ...]:
    count = length // every
    stacks = [np.reshape(x, (count, every, *shape_of(x)[1:])) for x in items]
    n_outside = len(body.hoisted)

    def segment(*flat: Value) -> tuple[Value, ...]:
        outside, inner, slices = split(flat, n_outside, len(carry))
        return apply(Body(body.program, ()), inner, slices, outside, length=every, **how)

    examples = [*[numpys(example(v)) for v in (*body.hoisted, *carry)], *[example(x)[0] for x in stacks]]
    outer = captured(segment, examples)
    found = apply(outer, carry, stacks, body.hoisted, length=count, **how)
    last, ys = split(found, len(carry))
    return (*last, *[np.reshape(y, (length, *shape_of(y)[2:])) for y in ys])
