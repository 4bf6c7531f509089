"""`vmap`: a function of one example becomes a function of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.arguments import Axes, Count, checked
from ..core.batch import BatchTrace
from ..core.derived import derived
from ..core.errors import BatchError, BatchSizeError, InputError, message
from ..core.traced import Traced, snapshot
from ..core.tree import flatten, paths
from ..core.values import Value, describe, shape_of, spread
from .calling import entrance, run
from .interface.checking import checked_function, output_leaves, refuse_subclass


@checked("fun")
def vmap(
    fun: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0, *, chunk_size: Count | None = None
) -> Callable[..., Any]:
    """A function that maps `fun` over an axis of its arguments, evaluating all examples at once.

    vmap(f)(xs) == stack([f(x) for x in xs]). A value that `fun` stores elsewhere is the whole batch afterwards.

    Parameters
    ----------
    fun : callable
        The function of one example.
    in_axes : int, None, or containers of them, default 0
        The axis to map over, for each argument; None for an argument that is the same for all examples. Nested as the
        arguments are, or one entry for a whole argument, or one integer for all of them.
    out_axes : int, None, or containers of them, default 0
        Where the new axis goes in the results.
    chunk_size : int, optional
        How many examples to evaluate at once, to bound memory; by default all.

    Returns
    -------
    callable
        A function with the parameters of `fun` whose arguments have the axis to map over.

    Raises
    ------
    BatchSizeError
        When it is called with arguments that cannot be mapped over together.
    BatchError
        When `fun` asks for the value of one example, as `if x > 0` does.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.vmap(np.dot, in_axes=(0, None))(np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    """
    checked_function(fun, "vmap")
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise InputError(
            message(
                "chunk_size has to be a whole number of examples, at least 1, or None for all at once.",
                got=repr(chunk_size),
                fix="Write  chunk_size=100,  for example.",
            )
        )

    def mapped(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        leaves, rebuild = flatten(args)
        axes = _axes_for_leaves(in_axes, args)
        named, rebuild_named = flatten(kwargs)
        leaves, axes = leaves + named, axes + [0] * len(named)

        def call(parts: list[Any]) -> Any:
            split = len(parts) - len(named)
            return run(fun, rebuild(parts[:split]), rebuild_named(parts[split:]))

        size = _batch_size(leaves, axes, functools.partial(_leaf_name, fun, args, kwargs), args)
        if chunk_size is None or size <= chunk_size:
            return _mapped_at_once(call, leaves, axes, size, out_axes)
        chunks = [
            _mapped_at_once(
                call, _chunk(leaves, axes, start, chunk_size), axes, min(chunk_size, size - start), out_axes
            )
            for start in range(0, size, chunk_size)
        ]
        return _joined(chunks, out_axes)

    return derived(  # type: ignore[no-any-return]
        entrance(mapped), "vmap", fun, in_axes=in_axes, out_axes=out_axes, chunk_size=chunk_size
    )


def _mapped_at_once(
    call: Callable[[list[Any]], Any], leaves: list[Any], axes: list[int | None], size: int, out_axes: Any
) -> Any:
    trace = BatchTrace(size)
    try:
        result = call([_batched(x, axis, trace) for x, axis in zip(leaves, axes, strict=True)])
        outputs, shape = output_leaves(result, "vmap")
        places = _axes_for_leaves((out_axes,), (shape(outputs),), "out_axes")
        return shape([_writable(_unbatched(o, axis, trace)) for o, axis in zip(outputs, places, strict=True)])
    finally:
        trace.end()


def _batched(x: Any, axis: int | None, trace: BatchTrace) -> Any:
    if axis is None:
        return x
    refuse_subclass(x, "vmap does not map over")
    moved = np.moveaxis(x, axis, 0)
    return Traced(snapshot(moved) if isinstance(moved, Traced) else moved, trace, None)


def _unbatched(x: Value, axis: int | None, trace: BatchTrace) -> Value:
    if isinstance(x, Traced) and x.traced_by is trace:
        if axis is None:
            raise BatchError(
                message(
                    "A result with out_axes=None has to be the same for all examples.",
                    got=describe(x),
                    fix="Give an axis for this result.",
                )
            )
        return _moved(x.value, axis)
    x = snapshot(x)
    if axis is None:
        return x
    x = x if isinstance(x, Traced) else np.asarray(x)
    return _moved(spread(x, (trace.size, *shape_of(x))), axis)


def _moved(x: Value, axis: int) -> Value:
    """A result with the axis of the batch where it is wanted."""
    rank = len(shape_of(x))
    if not -rank <= axis < rank:
        raise BatchSizeError(
            message(
                f"vmap cannot put the new axis at {axis} of a result that has {rank} axes with it.",
                got=f"out_axes={axis} for {describe(x)}",
                fix=f"Give an axis from {-rank} to {rank - 1} in  out_axes.",
            )
        )
    return np.moveaxis(x, 0, axis)


def _writable(x: Value) -> Value:
    """A result that the caller may write to: one that is spread over the batch has one memory for all examples."""
    return x.copy() if type(x) is np.ndarray and not x.flags.writeable else x


def _axes_for_leaves(
    axes: Any, args: tuple[Any, ...], what: str = "in_axes", *, is_inside: bool = False
) -> list[int | None]:
    """One axis for each leaf of the arguments: an entry of `axes` holds for everything below it."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(flatten(args)[0])
    if not isinstance(axes, (tuple, list)) or len(axes) != len(args):
        raise BatchSizeError(_wrong_length(axes, args, what, is_inside))
    found: list[int | None] = []
    for entry, arg in zip(axes, args, strict=True):
        if entry is None or isinstance(entry, int):
            found += [entry] * len(flatten(arg)[0])
        elif isinstance(arg, dict) and isinstance(entry, dict) and set(arg) == set(entry):
            found += _axes_for_leaves([entry[k] for k in sorted(arg)], tuple([arg[k] for k in sorted(arg)]), what)
        elif isinstance(arg, (tuple, list)):
            found += _axes_for_leaves(entry, tuple(arg), what, is_inside=what == "in_axes")
        else:
            raise BatchSizeError(
                message(
                    f"An entry of {what} is not nested like what it belongs to.",
                    got=f"{entry!r} for {describe(arg)}",
                    fix="Give an integer, None, or the same containers with integers and None in them.",
                )
            )
    return found


def _wrong_length(axes: Any, args: tuple[Any, ...], what: str, is_inside: bool) -> str:
    """What is wrong with axes that are not as many as what they belong to."""
    things = "parts of a container" if is_inside else "results" if what == "out_axes" else "arguments"
    is_listed = isinstance(axes, (tuple, list))
    fitting = (*axes, *[None] * len(args))[: len(args)] if is_listed else ()
    fix = fitting if any([entry is not None for entry in fitting]) else _one_mapped(args)
    return message(
        f"{what} of vmap has to be one axis, or one entry for each of the {len(args)} {things}.",
        got=f"{len(axes)} for {len(args)}: {axes!r}" if is_listed else f"{what}={axes!r}",
        fix=f"Write  {fix}  there." if is_inside else f"Write  {what}={fix}.",
    )


def _one_mapped(args: tuple[Any, ...]) -> tuple[int | None, ...]:
    """Axes that map over the first argument that has any."""
    first = next((k for k, arg in enumerate(args) if all([shape_of(x) for x in flatten(arg)[0]])), 0)
    return tuple([0 if k == first else None for k in range(max(len(args), 1))])


def _batch_size(leaves: list[Any], axes: list[int | None], name_of: Callable[[int], str], args: tuple[Any, ...]) -> int:
    """How many examples there are: the same for every leaf that is mapped over."""
    sizes: dict[int, int] = {}
    for k, (x, axis) in enumerate(zip(leaves, axes, strict=True)):
        if axis is None:
            continue
        shape = shape_of(x)
        if not _has(x, axis):
            having = [a if a is None or _has(leaf, a) else None for leaf, a in zip(leaves, axes, strict=True)]
            raise BatchSizeError(
                message(
                    f"vmap cannot map over axis {axis} of the argument {name_of(k)}, which does not have it.",
                    got=f"{name_of(k)}: {describe(x)}",
                    fix=_without(args, having, k, "it")
                    or "Pass an array that has one entry for each example along it.",
                )
            )
        sizes.setdefault(shape[axis], k)
    if not sizes:
        raise BatchSizeError(
            message(
                "vmap needs at least one argument to map over.",
                got="in_axes=None for all arguments" if leaves else "no arguments",
                fix=f"Write  in_axes={_one_mapped(args)},  or call the function itself.",
            )
        )
    if len(sizes) > 1:
        found = [f"{n} in axis {axes[k]} of {name_of(k)}: {describe(leaves[k])}" for n, k in sizes.items()]
        raise BatchSizeError(
            message(
                "vmap got arguments of different sizes along the axes to map over.",
                got=", ".join(found),
                fix=_without(args, axes, max(sizes.values()), "one"),
            )
        )
    return next(iter(sizes))


def _has(x: Any, axis: int) -> bool:
    return -len(shape_of(x)) <= axis < len(shape_of(x))


def _without(args: tuple[Any, ...], axes: list[int | None], leaf: int, which: str) -> str:
    """What to write if a leaf is the same for all examples; nothing if no other leaf would be mapped."""
    count = len(flatten(args)[0])
    if not [axis for k, axis in enumerate(axes) if k != leaf and axis is not None]:
        return ""
    if leaf >= count:
        return "An argument that is given by name is mapped: pass it by position, and None for it in  in_axes."
    changed = _entry(args, [None if k == leaf else axis for k, axis in enumerate(axes[:count])])
    if not flatten(changed)[0] and len(axes) == count:  # in an object, which has one entry
        return ""
    return f"If {which} is the same for all examples, write  in_axes={changed!r}."


def _entry(arg: Any, axes: list[int | None]) -> Any:
    """The shortest entry of `in_axes` that stands for the axes of the leaves."""
    if len(set(axes)) < 2:
        return axes[0] if axes else None
    if not isinstance(arg, (dict, tuple, list)):
        return None  # what is neither has one entry
    keys = sorted(arg) if isinstance(arg, dict) else range(len(arg))
    found, start = [], 0
    for key in keys:
        count = len(flatten(arg[key])[0])
        found.append(_entry(arg[key], axes[start : start + count]))
        start += count
    return dict(zip(keys, found, strict=True)) if isinstance(arg, dict) else tuple(found)


def _leaf_name(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], leaf: int) -> str:
    """What to call a leaf: the argument's own name, and the way to the leaf in it."""
    import inspect

    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):  # a builtin that does not say
        parameters = ()  # type: ignore[assignment]
    known = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    named = [(known[k] if k < len(known) else f"number {k}", arg) for k, arg in enumerate(args)]
    named += [(name, kwargs[name]) for name in sorted(kwargs)]
    return [name + inside for name, arg in named for inside in paths((arg,))][leaf]


def _chunk(leaves: list[Any], axes: list[int | None], start: int, length: int) -> list[Any]:
    return [
        x if axis is None else np.moveaxis(np.moveaxis(x, axis, 0)[start : start + length], 0, axis)
        for x, axis in zip(leaves, axes, strict=True)
    ]


def _joined(chunks: list[Any], out_axes: Any) -> Any:
    parts = [flatten(c) for c in chunks]
    axes = _axes_for_leaves((out_axes,), (chunks[0],), "out_axes")
    joined = [
        leaves[0] if axis is None else np.concatenate(leaves, axis)
        for leaves, axis in zip(zip(*[leaves for leaves, _ in parts], strict=True), axes, strict=True)
    ]
    return parts[0][1](joined)
