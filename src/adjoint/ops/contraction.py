"""Products that sum: matmul, the contraction of two labelled arrays, convolution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.entry.algebra import Labels, Shape
from ..core.entry.facts import PRODUCT, Form
from ..core.primitive import Primitive
from ..core.traced import ARRAY, Traced
from ..core.values import shape_of
from ..rules.multilinear import Multilinear
from ..rules.stacking import one_by_one, padded
from . import costs
from .declare import declare
from .shape import flip


def _swap(x: Any) -> Any:
    return np.swapaxes(x, -1, -2) if isinstance(x, Traced) else x.swapaxes(-1, -2)


def _to_first(g: Any, out: Any, x: Any, y: Any) -> Any:
    if type(y) is ARRAY and y.ndim == 2 and len(shape_of(x)) > 1:
        return g @ y.T
    nx, ny = len(shape_of(x)), len(shape_of(y))
    if ny == 1:
        return g * y if nx == 1 else g[..., None] * y
    if nx == 1:
        return np.matmul(y, g[..., None])[..., 0]
    return g @ _swap(y)


def _to_second(g: Any, out: Any, x: Any, y: Any) -> Any:
    if type(x) is ARRAY and x.ndim == 2 and len(shape_of(y)) > 1:
        return x.T @ g
    nx, ny = len(shape_of(x)), len(shape_of(y))
    if nx == 1:
        return g * x if ny == 1 else x[:, None] * g[..., None, :]
    if ny == 1:
        return np.matmul(g[..., None, :], x)[..., 0, :]
    return _swap(x) @ g


def _of_matrices(
    primitive: Primitive, g: Any, out: Any, args: Any, params: Any, needed: Sequence[bool]
) -> Sequence[Any]:
    """`Rule.pull`, the short way for two plain matrices."""
    x, y = args
    if type(x) is ARRAY and type(y) is ARRAY and x.ndim == y.ndim == 2:
        return g @ y.T if needed[0] else None, x.T @ g if needed[1] else None
    return _to_first(g, out, x, y) if needed[0] else None, _to_second(g, out, x, y) if needed[1] else None


def _labels_of_matrices(a: Shape, b: Shape) -> tuple[Labels, Labels, Labels]:
    """i, k and j for the last axes, as far as they are there, and numbers for those of a stack."""
    batch = max(len(a), len(b), 2) - 2
    rows, columns = ["i"] if len(a) > 1 else [], ["j"] if len(b) > 1 else []
    first = [*range(batch - (len(a) - 2), batch), *rows, "k"]
    second = [*range(batch - (len(b) - 2), batch), "k", *columns]
    return first, second, [*range(batch), *rows, *columns]


def _stack_matmul(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    x, y = values
    if any(len(shape_of(v)) == b for v, b in zip(values, batched, strict=True)):
        raise ValueError("matmul: an operand does not have enough dimensions (has 0, requires 1)")
    x_is_vector = len(shape_of(x)) - batched[0] == 1
    y_is_vector = len(shape_of(y)) - batched[1] == 1
    # vectors one below the other are a matrix: one product instead of one for each, which would read the other again
    if batched[0] and not batched[1] and x_is_vector and len(shape_of(y)) <= 2:
        return primitive(x, y)
    if batched[1] and not batched[0] and y_is_vector and len(shape_of(x)) <= 2:
        return primitive(y, x if x_is_vector else _swap(x))
    x = x[..., None, :] if x_is_vector else x
    y = y[..., :, None] if y_is_vector else y
    rank = max(len(shape_of(v)) - b for v, b in zip((x, y), batched, strict=True))
    x, y = (padded(v, rank) if b else v for v, b in zip((x, y), batched, strict=True))
    out = primitive(x, y)
    out = out[..., 0] if y_is_vector else out
    if x_is_vector:
        out = out[..., 0] if y_is_vector else out[..., 0, :]
    return out


matmul = declare(
    "matmul",
    np.matmul,
    Multilinear(_to_first, _to_second, together=_of_matrices),
    stacking=_stack_matmul,
    form=Form("@", PRODUCT),
    ufunc=np.matmul,
    contracts=_labels_of_matrices,
)


def _contract(x: Any, y: Any, *, first: str, second: str, result: str) -> Any:
    """One matrix product for each combination of the labels that both operands and the result have."""
    if np.size(x) + np.size(y) < SMALL:
        return np.einsum(f"{first},{second}->{result}", x, y)
    shared = [c for c in first if c in second and c in result]
    summed = [c for c in first if c in second and c not in result]
    rows = [c for c in first if c not in second]
    columns = [c for c in second if c not in first]
    size = {**dict(zip(first, np.shape(x), strict=True)), **dict(zip(second, np.shape(y), strict=True))}

    def arranged(a: Any, labels: str, *groups: list[str]) -> Any:
        order = [labels.index(c) for group in groups for c in group]
        return np.transpose(a, order).reshape([size[c] for c in shared] + [_product(size, g) for g in groups[1:]])

    product = arranged(x, first, shared, rows, summed) @ arranged(y, second, shared, summed, columns)
    labels = [*shared, *rows, *columns]
    return product.reshape([size[c] for c in labels]).transpose([labels.index(c) for c in result])


def _product(size: dict[str, int], labels: list[str]) -> int:
    return math.prod([size[c] for c in labels])


def _stack_contract(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    taken = params["first"] + params["second"]
    new = next(c for c in LABELS if c not in taken)
    first, second = (new * b + p for b, p in zip(batched, (params["first"], params["second"]), strict=True))
    return primitive(*values, first=first, second=second, result=new + params["result"])


SMALL = 256
"""Below so many elements NumPy's own loop is quicker than a call of BLAS."""
LABELS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
contract = declare(
    "contract",
    _contract,
    Multilinear(
        lambda g, out, x, y, *, first, second, result: contract(g, y, first=result, second=second, result=first),
        lambda g, out, x, y, *, first, second, result: contract(g, x, first=result, second=first, result=second),
    ),
    stacking=_stack_contract,
    note="no label occurs twice in one operand, and each occurs in two of the three arrays",
    contracts=lambda x, y, *, first, second, result: (first, second, result),
    form=Form(source="np.einsum({subscripts}, {0}, {1})"),
)


def _all_against(g: Any, out: Any, x: Any, y: Any, *, mode: str) -> Any:
    return convolve(g, flip(y, axis=(-1,)), mode="valid" if mode == "full" else "full")


def _to_kernel(g: Any, out: Any, x: Any, y: Any, *, mode: str) -> Any:
    if mode == "full":
        return convolve(g, flip(x, axis=(-1,)), mode="valid")
    return flip(convolve(x, flip(g, axis=(-1,)), mode="valid"), axis=(-1,))


convolve = declare(
    "convolve",
    lambda x, y, *, mode: np.convolve(x, y, mode),
    Multilinear(_all_against, _to_kernel),
    stacking=one_by_one,
    note="of two vectors; the first is the longer one if the mode is valid",
    form=Form(source="np.convolve({0}, {1}, {mode})"),
    cost=costs.convolution,
)
