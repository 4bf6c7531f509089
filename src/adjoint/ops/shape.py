"""Moving elements without changing them: each op's transpose is another op of this file, or a sum."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.entry.facts import AN_ARRAY, AS_FIRST, CHEAP, Facts, Form, Kernel
from ..core.entry.moves import ZERO, Index, Indices, Piece, Pieces, Same, Shape, View, constant, identity, squeezed
from ..core.primitive import Primitive
from ..core.traced import ARRAY, FLOAT64
from ..core.values import cast, dtype_of, shape_of, sum_to
from ..rules.linear import Linear
from ..rules.stacking import all_batched, leading, padded
from .declare import CONSTANT, declare

Axes = tuple[int, ...]


def _stack_reshape(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    return primitive(values[0], shape=(size, *params["shape"]))


def _stack_transpose(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    return primitive(values[0], axes=(0, *[a + 1 for a in params["axes"]]))


def _stack_broadcast(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    shape = params["shape"]
    return primitive(padded(values[0], len(shape)), shape=(size, *shape))


def _inverse(axes: Axes) -> Axes:
    return tuple(int(a) for a in np.argsort(axes))


def _permuted(axes: Axes) -> Indices:
    places = [ZERO] * len(axes)
    for k, a in enumerate(axes):
        places[a] = Index(k, 1, 0)
    return tuple(places)


def _repeated(have: Shape, want: Shape) -> Indices:
    extra = len(want) - len(have)
    return tuple([ZERO if n == 1 else Index(k + extra, 1, 0) for k, n in enumerate(have)])


def _turned(shape: Shape, axis: Axes) -> Indices:
    axes = {a % len(shape) for a in axis}
    return tuple([Index(k, -1, n - 1) if k in axes else Index(k, 1, 0) for k, n in enumerate(shape)])


def _rolled(shapes: Sequence[Shape], *, shift: Axes, axis: Axes) -> Iterator[Piece]:
    """What has been moved over the end is put in front, along every axis."""
    (shape,) = shapes
    shifts = [0] * len(shape)
    for s, a in zip(shift, axis, strict=True):
        shifts[a] += s
    ends = [(s % n if n else 0, n) for s, n in zip(shifts, shape, strict=True)]
    ways = [[(s, n - s, 0), (n - s, 0, s)] if s else [(n, 0, 0)] for s, n in ends]
    for parts in itertools.product(*ways):
        yield Piece(
            0,
            tuple([length for length, _, _ in parts]),
            tuple([Index(k, 1, source) for k, (_, source, _) in enumerate(parts)]),
            tuple([Index(k, 1, target) for k, (_, _, target) in enumerate(parts)]),
        )


def _one_after_the_other(shapes: Sequence[Shape], *, axis: int) -> Iterator[Piece]:
    start, rank = 0, len(shapes[0])
    for k, shape in enumerate(shapes):
        target = tuple([Index(a, 1, start if a == axis % rank else 0) for a in range(rank)])
        yield Piece(k, shape, identity(rank), target)
        start += shape[axis]


def _one_above_the_other(shapes: Sequence[Shape], *, axis: int) -> Iterator[Piece]:
    places = identity(len(shapes[0]))
    place = axis % (len(places) + 1)
    for k, shape in enumerate(shapes):
        yield Piece(k, shape, places, (*places[:place], constant(k), *places[place:]))


reshape = declare(
    "reshape",
    lambda x, *, shape: np.asarray(x).reshape(shape),  # of a number, an array without axes
    Linear(lambda g, out, x, *, shape: reshape(g, shape=shape_of(x)), structural=True),
    stacking=_stack_reshape,
    moves=View(lambda have, want, *, shape: squeezed(have, want), in_order=True),
    form=Form(source="np.reshape({0}, {shape})"),
    axisless=AN_ARRAY,
)
transpose = declare(
    "transpose",
    lambda x, *, axes: np.transpose(x, axes),
    Linear(lambda g, out, x, *, axes: transpose(g, axes=_inverse(axes)), structural=True),
    stacking=_stack_transpose,
    moves=View(lambda have, want, *, axes: _permuted(axes)),
    form=Form(source="np.transpose({0}, {axes})"),
    axisless=AS_FIRST,
)
broadcast_to = declare(
    "broadcast_to",
    lambda x, *, shape: np.broadcast_to(x, shape),
    Linear(lambda g, out, x, *, shape: sum_to(g, shape_of(x)), structural=True),
    stacking=_stack_broadcast,
    moves=View(lambda have, want, *, shape: _repeated(have, want)),
    form=Form(source="np.broadcast_to({0}, {shape})"),
    axisless=AN_ARRAY,
)
flip = declare(
    "flip",
    lambda x, *, axis: np.flip(x, axis),
    Linear(lambda g, out, x, *, axis: flip(g, axis=axis), structural=True),
    stacking=leading,
    moves=View(lambda have, want, *, axis: _turned(have, axis)),
    form=Form(source="np.flip({0}, {axis})"),
)
roll = declare(
    "roll",
    lambda x, *, shift, axis: np.roll(x, shift, axis),
    Linear(lambda g, out, x, *, shift, axis: roll(g, shift=tuple(-s for s in shift), axis=axis), structural=True),
    stacking=leading,
    moves=Pieces(_rolled),
    form=Form(source="np.roll({0}, {shift}, {axis})"),
)


def _split(g: Any, out: Any, args: Sequence[Any], params: dict, needed: Sequence[bool]) -> list[Any]:
    axis, start, parts = params["axis"], 0, []
    trailing = (slice(None),) * (-axis - 1)
    for a, need in zip(args, needed, strict=True):
        stop = start + shape_of(a)[axis]
        parts.append(g[(..., slice(start, stop), *trailing)] if need else None)
        start = stop
    return parts


concatenate = declare(
    "concatenate",
    lambda *xs, axis: np.concatenate(xs, axis),
    Linear(variadic=_split, structural=True),
    stacking=all_batched,
    moves=Pieces(_one_after_the_other),
    form=Form(source="np.concatenate([{all}], {axis})"),
)


def _unstack(g: Any, out: Any, args: Sequence[Any], params: dict, needed: Sequence[bool]) -> list[Any]:
    if type(g) is ARRAY and g.ndim == 1 and g.dtype is FLOAT64:
        return g.tolist()  # type: ignore[no-any-return]  # numbers, also where none is needed
    trailing = (slice(None),) * (-params["axis"] - 1)
    return [g[(..., k, *trailing)] if need else None for k, need in enumerate(needed)]


def _astype(x: Any, *, dtype: Any) -> Any:
    """Numbers of NumPy's stay numbers, as with its own method."""
    return x.astype(dtype) if isinstance(x, (np.ndarray, np.generic)) else np.dtype(dtype).type(x)


stack = declare(
    "stack",
    lambda *xs, axis: np.array(xs) if type(xs[0]) is float else np.stack(xs, axis),
    Linear(variadic=_unstack, structural=True),
    stacking=all_batched,
    moves=Pieces(_one_above_the_other),
    form=Form(source="np.stack([{all}], {axis})"),
)
astype = declare(
    "astype",
    _astype,
    Linear(lambda g, out, x, *, dtype: cast(g, dtype_of(x)), structural=True),
    stacking=leading,
    moves=Same(),
    kernel=Kernel("astype", "fiub", CHEAP, "converted"),
    axisless=AS_FIRST,
)
item = Primitive(
    "item",
    lambda x: x.item() if isinstance(x, (np.generic, np.ndarray)) and x.shape == () else x,
    derivative=Linear(lambda g, out, x: cast(g, dtype_of(x)), structural=True),
    stacking=lambda primitive, values, batched, params, size: values[0],
    facts=Facts(moves=Same()),
)
"""An array without axes as a Python number, whose precision gives way to that of an array."""
constant_astype = Primitive("astype", _astype, derivative=CONSTANT, stacking=leading, facts=astype.facts)
"""To integers, truth values and text: numbers that nothing is differentiated through."""

stopped = declare(
    "stop_gradient",
    lambda x: x,
    CONSTANT,
    note="a constant by request",
    moves=Same(),
    scalar=lambda x: x,
    kernel=Kernel("identity", "fiub", CHEAP, "same"),
    axisless=AS_FIRST,
)
"""What `ad.stop_gradient` makes of a value."""
