"""`vmap`: a function of one example becomes a function of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.batch import BatchTrace
from ..core.errors import BatchError, message
from ..core.nans import are_looked_for, looking_for_nans
from ..core.traced import Traced, snapshot
from ..core.tree import flatten
from ..core.values import Value, describe, shape_of, spread
from .recording import output_leaves, run


def vmap(
    fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, chunk_size: int | None = None
) -> Callable[..., Any]:
    """A function that maps `fun` over an axis of its arguments, evaluating all examples at once.

    vmap(f)(xs) == stack([f(x) for x in xs]). A value that `fun` keeps elsewhere is the whole batch afterwards.

    Parameters
    ----------
    fun : the function of one example.
    in_axes : the axis to map over, for each argument; None for an argument that is the same for all examples.
        Nested as the arguments are, or one entry for a whole argument, or one integer for all.
    out_axes : where the new axis goes in the results.
    chunk_size : how many examples to evaluate at once, to bound memory; None for all.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.vmap(np.dot, in_axes=(0, None))(np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    """

    @functools.wraps(fun, assigned=("__name__", "__doc__"), updated=())
    def mapped(*args: Any, **kwargs: Any) -> Any:
        if are_looked_for():
            return looking_for_nans(mapped, args, kwargs)
        leaves, rebuild = flatten(args)
        axes = _axes_for_leaves(in_axes, args)
        named, rebuild_named = flatten(kwargs)
        leaves, axes = leaves + named, axes + [0] * len(named)

        def call(parts: list[Any]) -> Any:
            split = len(parts) - len(named)
            return run(fun, rebuild(parts[:split]), rebuild_named(parts[split:]))

        size = _batch_size(leaves, axes)
        if chunk_size is None or size <= chunk_size:
            return _mapped_at_once(call, leaves, axes, size, out_axes)
        chunks = [
            _mapped_at_once(
                call, _chunk(leaves, axes, start, chunk_size), axes, min(chunk_size, size - start), out_axes
            )
            for start in range(0, size, chunk_size)
        ]
        return _joined(chunks, out_axes)

    return mapped


def _mapped_at_once(
    call: Callable[[list[Any]], Any], leaves: list[Any], axes: list[int | None], size: int, out_axes: Any
) -> Any:
    walk = BatchTrace(size)
    try:
        result = call([_batched(x, axis, walk) for x, axis in zip(leaves, axes, strict=True)])
        outputs, shape = output_leaves(result, "vmap")
        places = _axes_for_leaves((out_axes,), (shape(outputs),))
        return shape([_writable(_unbatched(o, axis, walk)) for o, axis in zip(outputs, places, strict=True)])
    finally:
        walk.end()


def _batched(x: Any, axis: int | None, walk: BatchTrace) -> Any:
    if axis is None:
        return x
    moved = np.moveaxis(x, axis, 0)
    return Traced(snapshot(moved) if isinstance(moved, Traced) else moved, walk, None)


def _unbatched(x: Value, axis: int | None, walk: BatchTrace) -> Value:
    if isinstance(x, Traced) and x.walk is walk:
        if axis is None:
            raise BatchError(
                message(
                    "A result with out_axes=None has to be the same for all examples.",
                    got=describe(x),
                    fix="Give an axis for this result.",
                )
            )
        return np.moveaxis(x.value, 0, axis)
    x = snapshot(x)
    if axis is None:
        return x
    x = x if isinstance(x, Traced) else np.asarray(x)
    return np.moveaxis(spread(x, (walk.size, *shape_of(x))), 0, axis)


def _writable(x: Value) -> Value:
    """A result that the caller may write to: one that is spread over the batch has one memory for all examples."""
    return x.copy() if type(x) is np.ndarray and not x.flags.writeable else x


def _axes_for_leaves(axes: Any, args: tuple[Any, ...]) -> list[int | None]:
    """One axis for each leaf of the arguments: an entry of `axes` holds for everything below it."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(flatten(args)[0])
    if len(axes) != len(args):
        raise ValueError(f"vmap got {len(args)} arguments and {len(axes)} entries in in_axes")
    found: list[int | None] = []
    for entry, arg in zip(axes, args, strict=True):
        if entry is None or isinstance(entry, int):
            found += [entry] * len(flatten(arg)[0])
        elif isinstance(arg, dict):
            found += _axes_for_leaves([entry[k] for k in sorted(arg)], tuple([arg[k] for k in sorted(arg)]))
        else:
            found += _axes_for_leaves(entry, tuple(arg))
    return found


def _batch_size(leaves: list[Any], axes: list[int | None]) -> int:
    sizes = set()
    for x, axis in zip(leaves, axes, strict=True):
        if axis is None:
            continue
        shape = shape_of(x)
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"vmap cannot map over axis {axis} of {describe(x)}")
        sizes.add(shape[axis])
    if not sizes:
        raise ValueError("vmap needs at least one argument to map over")
    if len(sizes) > 1:
        raise ValueError(f"vmap got arguments of different sizes along the mapped axes: {sorted(sizes)}")
    return sizes.pop()


def _chunk(leaves: list[Any], axes: list[int | None], start: int, length: int) -> list[Any]:
    return [
        x if axis is None else np.moveaxis(np.moveaxis(x, axis, 0)[start : start + length], 0, axis)
        for x, axis in zip(leaves, axes, strict=True)
    ]


def _joined(chunks: list[Any], out_axes: Any) -> Any:
    parts = [flatten(c) for c in chunks]
    axes = _axes_for_leaves((out_axes,), (chunks[0],))
    joined = [
        leaves[0] if axis is None else np.concatenate(leaves, axis)
        for leaves, axis in zip(zip(*[leaves for leaves, _ in parts], strict=True), axes, strict=True)
    ]
    return parts[0][1](joined)
