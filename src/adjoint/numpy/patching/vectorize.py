"""`np.vectorize` of traced values: NumPy's class gives no hook, so its method is replaced by one that looks first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.values import dtype_of, shape_of
from .replacements import Answer, divert


def vectorized(self: Any, func: Callable[..., Any], args: Sequence[Any]) -> Any:
    """What `np.vectorize` gives: of the dtype of the first result, unless `otypes` says otherwise."""
    if self.signature is not None:
        return _with_signature(self, func, args)
    arrays = np.broadcast_arrays(*[np.asarray(a) for a in args])
    shape = shape_of(arrays[0])
    rows = zip(*[np.reshape(a, (-1,)) for a in arrays], strict=True)
    results = [func(*row) for row in rows]
    if not results:
        if not self.otypes:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        results = [(0.0,) * len(self.otypes) if len(self.otypes) > 1 else 0.0]
        made = _columns(results, self.otypes)
        empty = tuple([np.reshape(column[:0], shape) for column in made])
        return empty if len(empty) > 1 else empty[0]
    found = tuple([np.reshape(column, shape) for column in _columns(results, self.otypes)])
    return found if isinstance(results[0], tuple) else found[0]


def _with_signature(self: Any, func: Callable[..., Any], args: Sequence[Any]) -> Any:
    """A function of arrays, whose last axes the signature names, for all that is before them."""
    inner = [part.count(",") + 1 if part.strip() else 0 for part in _parts(self.signature.partition("->")[0])]
    count = len(_parts(self.signature.partition("->")[2]))
    if len(args) != len(inner):
        raise TypeError(f"wrong number of positional arguments: expected {len(inner)}, got {len(args)}")
    arrays = [np.asarray(a) for a in args]
    if any([len(shape_of(a)) < n for a, n in zip(arrays, inner, strict=True)]):
        raise ValueError(f"arguments have too few axes for the signature {self.signature}")
    ends = [len(shape_of(a)) - n for a, n in zip(arrays, inner, strict=True)]
    outer = np.broadcast_shapes(*[shape_of(a)[:end] for a, end in zip(arrays, ends, strict=True)])
    wide = [np.broadcast_to(a, outer + shape_of(a)[end:]) for a, end in zip(arrays, ends, strict=True)]
    results = [func(*[a[place] for a in wide]) for place in np.ndindex(*outer)]
    if not results:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    columns = _columns(results, self.otypes)
    found = tuple([np.reshape(column, outer + shape_of(column)[1:]) for column in columns])
    return found if count > 1 else found[0]


def _parts(text: str) -> list[str]:
    """What is between the brackets of one side of a signature."""
    return [part.partition(")")[0] for part in text.split("(")[1:]]


def _columns(results: list[Any], otypes: str | None) -> list[Any]:
    """The results one below the other, for functions with several of them each."""
    rows = [r if isinstance(r, tuple) else (r,) for r in results]
    columns = [np.stack([np.asarray(x) for x in column]) for column in zip(*rows, strict=True)]
    kinds = list(otypes) if otypes else [dtype_of(x) for x in rows[0]]
    return [np.astype(c, np.dtype(k)) if np.dtype(k) != dtype_of(c) else c for c, k in zip(columns, kinds, strict=True)]


def divert_vectorize() -> None:
    """Let NumPy's class take traced values."""
    answer = Answer(ours=vectorized, in_parts=True)
    divert(np.vectorize._vectorize_call, answer, "np.vectorize")  # type: ignore[attr-defined]
