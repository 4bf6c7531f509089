"""Products of a Jacobian or a Hessian with many vectors, in one compiled program."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.tree import flatten
from ..grad import grad
from ..interface.checking import output_leaves
from ..interface.inputs import Argnums, chosen, replaced
from ..jit.decorator import jit
from ..jvp import jvp
from ..vjp import vjp
from ..vmap import vmap

LARGEST = 2**23
"""Numbers that the vectors of one evaluation and their products may have; more are found one part after the other."""


def products_of(fun: Callable[..., Any], argnums: Argnums, second: bool) -> Any:
    """The jitted function of tangents, cotangents and arguments that gives all products with one evaluation.

    Tangents and cotangents are tuples of leaves, each with an axis for the vectors in front; an empty tuple means
    that no products are wanted on that side.
    """

    @jit
    def products(tangents: Any, cotangents: Any, args: Any, kwargs: Any) -> Any:
        leaves, rebuild = flatten(chosen(args, argnums))

        def flat(*given: Any) -> Any:
            result = fun(*replaced(args, argnums, rebuild(list(given))), **kwargs)
            return result if second else tuple(output_leaves(result, "jacobian")[0])

        return multiplied(mapped_leaves(flat, len(leaves), second=second), leaves, tangents, cotangents)

    return products


def mapped_leaves(flat: Callable[..., Any], count: int, *, second: bool) -> Callable[..., Any]:
    """The function of leaves whose Jacobian is wanted: for a Hessian the gradient."""
    return grad(flat, tuple(range(count))) if second else flat


def multiplied(mapped: Callable[..., Any], leaves: Sequence[Any], tangents: Any, cotangents: Any) -> tuple[Any, Any]:
    """The products with all tangents, from the right, and with all cotangents, from the left."""
    right: Any = ()
    left: Any = ()
    if tangents:
        right = vmap(lambda *moved: jvp(mapped, tuple(leaves), moved)[1])(*tangents)
    if cotangents:
        pullback = vjp(mapped, *leaves)[1]
        left = vmap(lambda *arrived: pullback(arrived))(*cotangents)
    return right, left


def evaluated(
    products: Any, call: tuple[tuple[Any, ...], dict[str, Any]], inputs: Side, outputs: Side, seeds: tuple[Any, Any]
) -> Any:
    """The numbers of all products with the seeds, in one line: those from the right, then those from the left."""
    found: list[Any] = []
    columns, rows = seeds
    if len(columns) and len(rows) and columns.size + rows.size <= LARGEST:
        right, left = products(inputs.leaves(columns), outputs.leaves(rows), *call)
        found = [outputs.line(right), inputs.line(left)]
    else:
        found += [outputs.line(products(inputs.leaves(s), (), *call)[0])[:n] for s, n in _parts(columns, outputs.size)]
        found += [inputs.line(products((), outputs.leaves(s), *call)[1])[:n] for s, n in _parts(rows, inputs.size)]
    return found[0] if len(found) == 1 else np.concatenate(found)


def _parts(seeds: Any, other: int) -> Iterator[tuple[Any, int]]:
    """Seeds in parts of one length, filled up with zeros, and how many numbers of their products count."""
    count, size = seeds.shape
    most = max(1, LARGEST // max(size + other, 1))
    if 0 < count <= most:
        yield seeds, count * other
        return
    length = math.ceil(count / math.ceil(count / most)) if count else 1
    for start in range(0, count, length):
        part = seeds[start : start + length]
        yield np.concatenate([part, np.zeros((length - len(part), size), part.dtype)]), len(part) * other


class Side:
    """The inputs, or the results, of a function: containers of arrays as one vector."""

    def __init__(self, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[Any]) -> None:
        self.shapes, self.dtypes = shapes, dtypes
        self.ends = np.cumsum([0, *[math.prod(s) for s in shapes]]).tolist()
        self._last: tuple[Any, Any] = (None, None)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self.ends[-1])

    def leaves(self, vectors: Any) -> Any:
        """Vectors as leaves, with an axis for the vectors in front; those made last are kept."""
        if self._last[0] is vectors:
            return self._last[1]
        cuts = zip(self.ends[:-1], self.ends[1:], strict=True)
        found = tuple([
            vectors[:, a:b].reshape(len(vectors), *shape).astype(dtype)
            for (a, b), shape, dtype in zip(cuts, self.shapes, self.dtypes, strict=True)
        ])  # fmt: skip
        self._last = (vectors, found)
        return found

    def line(self, leaves: Any) -> Any:
        """The numbers of leaves with an axis for vectors in front, vector by vector."""
        parts = [np.reshape(x, (len(x), -1)) for x in leaves]
        return (parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)).reshape(-1)
