"""Array manipulation: joining arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.values import dtype_of, shape_of
from ....ops import shape as ops
from ...dispatch.arguments import as_value, axis_of, ndim_of, result_dtype, same_dtype
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements
from ...dispatch.views import arrayed
from ..places import moved


@implements(np.concatenate, exact=True)
def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """`np.concatenate`."""
    parts = [as_value(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        kind = result_dtype(*parts)  # Python's numbers give way to arrays
        parts = [np.asarray(p, kind) if type(p) in (int, float, complex) else p for p in parts]
        parts, axis = [np.reshape(p, (-1,)) for p in parts], 0
    ranks = [ndim_of(p) for p in parts]
    if 0 in ranks:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    _check_ranks(ranks)
    _check_casting(parts, dtype, casting)
    joined = ops.concatenate(*parts, axis=axis_of(axis, ranks[0]))
    return deliver(same_dtype(joined, dtype), out)


def _check_casting(parts: list[Any], dtype: Any, casting: str) -> None:
    """Whether all arrays may become the dtype that is asked for, or the one they have in common."""
    if dtype is None and casting == "same_kind":
        return
    wanted = np.dtype(dtype) if dtype is not None else np.result_type(*[dtype_of(p) for p in parts])
    for p in parts:
        if not np.can_cast(dtype_of(p), wanted, casting):  # type: ignore[arg-type] # NumPy knows which words there are
            raise TypeError(
                f"Cannot cast array data from {dtype_of(p)!r} to {wanted!r} according to the rule {casting!r}"
            )


def _check_ranks(ranks: list[int]) -> None:
    for i, rank in enumerate(ranks):
        if rank != ranks[0]:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly, but the array at "
                f"index 0 has {ranks[0]} dimension(s) and the array at index {i} has {rank} dimension(s)"
            )


@implements(np.stack, exact=True)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """`np.stack`."""
    parts = [as_value(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({shape_of(p) for p in parts}) != 1:
        raise ValueError("all input arrays must have the same shape")
    _check_casting(parts, dtype, casting)
    joined = ops.stack(*parts, axis=axis_of(axis, ndim_of(parts[0]) + 1))
    return deliver(same_dtype(joined, dtype), out)


@implements(np.vstack, exact=True)
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """`np.vstack`."""
    return concatenate([np.atleast_2d(a) for a in tup], 0, dtype=dtype, casting=casting)


@implements(np.hstack, exact=True)
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """`np.hstack`."""
    parts = [np.atleast_1d(a) for a in tup]
    return concatenate(parts, 0 if parts and ndim_of(parts[0]) == 1 else 1, dtype=dtype, casting=casting)


@implements(np.dstack)
def dstack(tup: Any) -> Any:
    """`np.dstack`."""
    return concatenate([np.atleast_3d(a) for a in tup], 2)


@implements(np.column_stack, exact=True)
def column_stack(tup: Any) -> Any:
    """`np.column_stack`."""
    parts = [as_value(a) for a in tup]
    return concatenate([np.reshape(p, (-1, 1)) if ndim_of(p) < 2 else p for p in parts], 1)


@implements(np.block)
def block(arrays: Any) -> Any:
    """`np.block`."""
    leaves: list[Any] = []
    nested = _numbered(arrays, leaves)
    parts = [as_value(leaf) for leaf in leaves]
    return arrayed(moved(lambda *numbers: np.block(_renamed(nested, numbers)), *parts))


def _numbered(arrays: Any, leaves: list[Any]) -> Any:
    """The nested lists with each array replaced by its number; other containers are for NumPy to refuse."""
    if isinstance(arrays, list):
        return [_numbered(a, leaves) for a in arrays]
    if isinstance(arrays, tuple):
        raise TypeError("arrays is a tuple. Only lists can be used to arrange blocks, and np.block does not allow "
                        "implicit conversion from tuple to ndarray.")  # fmt: skip
    leaves.append(arrays)
    return len(leaves) - 1


def _renamed(nested: Any, numbers: Any) -> Any:
    return [_renamed(n, numbers) for n in nested] if isinstance(nested, list) else numbers[nested]
