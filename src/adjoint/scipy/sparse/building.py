"""Making sparse matrices of traced values: by their classes, from diagonals, from blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

from ...core.values import shape_of
from ...numpy.dispatch.arguments import as_value, holds_traced, ndim_of
from ...numpy.dispatch.conversions import places
from ...numpy.patching.replacements import Answer, divert, replaces
from ...ops.linalg.patterns import Pattern
from .arithmetic import flavour
from .matrices import fill, is_ours, joined, lifted, made, of_array, version_of
from .products import KINDS


def _init(
    original: Any, self: Any, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, **how: Any
) -> None:
    """The classes themselves: `csr_array((data, indices, indptr))`, `coo_array((data, (i, j)))`, a dense matrix."""
    if is_ours(arg1):
        found = arg1._pattern, arg1._values
    elif _has_traced(arg1):
        found = _parts(type(self), arg1, shape)
    else:
        original(self, arg1, shape, dtype, copy, **how)
        return
    self.__class__ = version_of(self.__class__)
    fill(self, found[0], found[1] if dtype is None else np.astype(found[1], dtype))


def _has_traced(x: Any) -> bool:
    return holds_traced([x])


def _parts(kind: type, arg1: Any, shape: Any) -> tuple[Pattern, Any]:
    """Pattern and elements of what a class is called with."""
    letters = kind.__name__[:3]
    if not isinstance(arg1, tuple):
        whole = of_array(arg1, sparse.csr_array)
        return whole._pattern, whole._values
    if letters == "dia":
        return _of_diagonals(as_value(arg1[0]), np.atleast_1d(_fixed(arg1[1])), tuple(shape))
    if len(arg1) == 2:
        rows, columns = (_fixed(i) for i in arg1[1])
    elif letters == "bsr":
        return _of_blocks(as_value(arg1[0]), _fixed(arg1[1]), _fixed(arg1[2]), shape)
    else:
        minor, starts = _fixed(arg1[1]), _fixed(arg1[2])
        major = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        rows, columns = (minor, major) if letters == "csc" else (major, minor)
        if shape is None:
            other = int(minor.max()) + 1 if len(minor) else 0
            shape = (other, len(starts) - 1) if letters == "csc" else (len(starts) - 1, other)
    if shape is None:
        shape = tuple([int(i.max()) + 1 if len(i) else 0 for i in (rows, columns)])
    return joined(rows, columns, as_value(arg1[0]), (int(shape[0]), int(shape[1])))


def _fixed(index: Any) -> Any:
    """Indices as a plain array; a recording holds for exactly these."""
    return np.asarray(places(as_value(index)))


def _of_diagonals(data: Any, offsets: Any, shape: tuple[int, int]) -> tuple[Pattern, Any]:
    """`dia_array((data, offsets))`: element j of each row of data is in column j."""
    data = np.reshape(data, (1, -1)) if ndim_of(data) == 1 else data
    width = shape_of(data)[1]
    columns = np.broadcast_to(np.arange(width), (len(offsets), width))
    rows = columns - offsets[:, None]
    inside = (rows >= 0) & (rows < shape[0]) & (columns < shape[1])
    k, j = np.nonzero(inside)
    return joined(rows[k, j], j, data[k, j], shape)


def _of_blocks(data: Any, indices: Any, starts: Any, shape: Any) -> tuple[Pattern, Any]:
    """`bsr_array((data, indices, indptr))`."""
    _, high, wide = shape_of(data)
    major = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    rows = np.broadcast_to(major[:, None, None] * high + np.arange(high)[:, None], shape_of(data))
    columns = np.broadcast_to(indices[:, None, None] * wide + np.arange(wide), shape_of(data))
    shape = shape or (int((len(starts) - 1) * high), int((indices.max() + 1) * wide))
    return joined(rows, columns, np.reshape(data, (-1,)), tuple(shape))


BASES = frozenset(("_cs_matrix", "_coo_base", "_dia_base", "_bsr_base", "_lil_base", "_dok_base"))
"""SciPy's classes whose `__init__` makes the matrices, each for a matrix and an array, and one for two formats."""
_makers: dict[Any, str] = {}
for _kind in KINDS:
    for _base in _kind.__mro__[1:]:
        if _base.__name__ in BASES and "__init__" in vars(_base):
            _makers.setdefault(vars(_base)["__init__"], _kind.__name__)
for _maker, _name in _makers.items():
    divert(_maker, Answer(ours=_init, calls_back=True), f"scipy.sparse.{_name}")


def _as_form(a: Any, format: Any) -> Any:
    return a if format is None else a.asformat(format)


def _diagonals(diagonals: Any, offsets: Any, shape: Any, kind: Any) -> Any:
    offsets = np.atleast_1d(_fixed(offsets))
    if len(offsets) == 1 and not (isinstance(diagonals, (list, tuple)) and np.ndim(diagonals[0])):
        lines = [np.atleast_1d(as_value(diagonals))]
        lines = [lines[0][0]] if ndim_of(lines[0]) > 1 else lines
    else:
        lines = [np.atleast_1d(as_value(d)) for d in diagonals]
    if shape is None:
        size = shape_of(lines[0])[0] + abs(int(offsets[0]))
        shape = (size, size)
    rows, columns, values = [], [], []
    for line, k in zip(lines, offsets.tolist(), strict=True):
        length = min(shape[0] + min(k, 0), shape[1] - max(k, 0))
        if shape_of(line)[0] not in (1, length):
            raise ValueError(f"Diagonal length (index {k}: {shape_of(line)[0]} at offset {k}) does not agree")
        rows.append(np.arange(length) - min(k, 0))
        columns.append(np.arange(length) + max(k, 0))
        values.append(np.broadcast_to(line, (length,)))
    found = joined(np.concatenate(rows), np.concatenate(columns), np.concatenate(values), tuple(shape))
    return made(*found, kind)


@replaces("scipy.sparse", "diags", in_parts=True)
def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.diags`."""
    return _as_form(_diagonals(diagonals, offsets, shape, sparse.dia_matrix), format)


@replaces("scipy.sparse", "diags_array", in_parts=True)
def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    """`scipy.sparse.diags_array`."""
    return _as_form(_diagonals(diagonals, offsets, shape, sparse.dia_array), format)


@replaces("scipy.sparse", "spdiags", in_parts=True)
def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> Any:
    """`scipy.sparse.spdiags`."""
    if m is None and n is None:
        m = n = shape_of(as_value(data))[1]
    shape = tuple(m) if n is None else (m, n)
    return _as_form(
        made(*_of_diagonals(as_value(data), np.atleast_1d(_fixed(diags)), shape), sparse.dia_matrix), format
    )


def _ours_in(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any([_ours_in(v) for v in x])
    if isinstance(x, np.ndarray) and x.dtype == object:
        return any([_ours_in(v) for v in x.flat])
    return is_ours(x) or holds_traced([x])


def _any_lifted(a: Any) -> Any:
    """A matrix of ours of anything: sparse, dense, traced."""
    return lifted(a) if sparse.issparse(a) else of_array(a, sparse.csr_array)


def _stacked(grid: list[list[Any]], matrix: bool) -> Any:
    """Blocks put together; None stands for zeros."""
    blocks = [[None if b is None else _any_lifted(b) for b in row] for row in grid]
    heights = [next(b.shape[0] for b in row if b is not None) for row in blocks]
    widths = [next(b.shape[1] for b in column if b is not None) for column in zip(*blocks, strict=True)]
    rows, columns, values = [], [], []
    for i, row in enumerate(blocks):
        for j, b in enumerate(row):
            if b is None:
                continue
            if b.shape != (heights[i], widths[j]):
                raise ValueError(f"blocks[{i},{j}] has incompatible dimensions")
            rows.append(b._pattern.rows + sum(heights[:i]))
            columns.append(b._pattern.columns + sum(widths[:j]))
            values.append(b._values)
    shape = (sum(heights), sum(widths))
    found = joined(np.concatenate(rows), np.concatenate(columns), np.concatenate(values), shape)
    return made(*found, sparse.csr_matrix if matrix else sparse.csr_array)


def _is_matrix(blocks: Any) -> bool:
    """Whether blocks give a matrix: they do unless an array is among them."""
    flat = [b for row in blocks for b in (row if isinstance(row, (list, tuple)) else [row])]
    return not any([isinstance(b, sparse.sparray) for b in flat])


@replaces("scipy.sparse", "block_array", calls_back=True)
def block_array(original: Any, blocks: Any, *, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.block_array`."""
    if not _ours_in(blocks):
        return original(blocks, format=format, dtype=dtype)
    return _as_form(_stacked([list(row) for row in blocks], matrix=False), format)


@replaces("scipy.sparse", "bmat", calls_back=True)
def bmat(original: Any, blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.bmat`."""
    if not _ours_in(blocks):
        return original(blocks, format, dtype)
    return _as_form(_stacked([list(row) for row in blocks], _is_matrix(blocks)), format)


@replaces("scipy.sparse", "hstack", calls_back=True)
def hstack(original: Any, blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.hstack`."""
    if not _ours_in(blocks):
        return original(blocks, format, dtype)
    return _as_form(_stacked([list(blocks)], _is_matrix([blocks])), format)


@replaces("scipy.sparse", "vstack", calls_back=True)
def vstack(original: Any, blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.vstack`."""
    if not _ours_in(blocks):
        return original(blocks, format, dtype)
    return _as_form(_stacked([[b] for b in blocks], _is_matrix([blocks])), format)


@replaces("scipy.sparse", "block_diag", calls_back=True)
def block_diag(original: Any, mats: Any, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.block_diag`."""
    mats = list(mats)
    if not _ours_in(mats):
        return original(mats, format, dtype)
    blocks = [_any_lifted(b) for b in mats]
    grid = [[b if i == j else None for j in range(len(blocks))] for i, b in enumerate(blocks)]
    return _as_form(_stacked(grid, _is_matrix([mats])), format)


@replaces("scipy.sparse", "kron", calls_back=True)
def kron(original: Any, A: Any, B: Any, format: Any = None) -> Any:
    """`scipy.sparse.kron`."""
    if not _ours_in([A, B]):
        return original(A, B, format)
    a, b = _any_lifted(A), _any_lifted(B)
    p, q = a._pattern, b._pattern
    rows = (p.rows[:, None] * q.shape[0] + q.rows).reshape(-1)
    columns = (p.columns[:, None] * q.shape[1] + q.columns).reshape(-1)
    values = np.reshape(a._values[:, None] * b._values, (-1,))
    shape = (p.shape[0] * q.shape[0], p.shape[1] * q.shape[1])
    kind = sparse.csr_matrix if _is_matrix([A, B]) else sparse.csr_array
    return _as_form(made(*joined(rows, columns, values, shape), kind), format)


@replaces("scipy.sparse", "kronsum", calls_back=True)
def kronsum(original: Any, A: Any, B: Any, format: Any = None) -> Any:
    """`scipy.sparse.kronsum`."""
    if not _ours_in([A, B]):
        return original(A, B, format)
    a, b = _any_lifted(A), _any_lifted(B)
    left = kron(original, sparse.eye_array(b.shape[0]), a)
    return _as_form(left + kron(original, b, sparse.eye_array(a.shape[0])), format)


def _triangle(A: Any, inside: Any, format: Any) -> Any:
    a = _any_lifted(A)
    kept = np.flatnonzero(inside(a._pattern.columns - a._pattern.rows))
    pattern = Pattern(a._pattern.rows[kept], a._pattern.columns[kept], a.shape)
    return _as_form(made(pattern, a._values[kept], flavour(A)), format)


@replaces("scipy.sparse", "tril", calls_back=True)
def tril(original: Any, A: Any, k: int = 0, format: Any = None) -> Any:
    """`scipy.sparse.tril`."""
    return _triangle(A, lambda d: d <= k, format) if _ours_in([A]) else original(A, k, format)


@replaces("scipy.sparse", "triu", calls_back=True)
def triu(original: Any, A: Any, k: int = 0, format: Any = None) -> Any:
    """`scipy.sparse.triu`."""
    return _triangle(A, lambda d: d >= k, format) if _ours_in([A]) else original(A, k, format)


@replaces("scipy.sparse", "find", calls_back=True)
def find(original: Any, A: Any) -> Any:
    """`scipy.sparse.find`: the stored elements of a matrix of ours, those that are 0 now too."""
    if not _ours_in([A]):
        return original(A)
    a = _any_lifted(A)
    return a._pattern.rows, a._pattern.columns, a._values


@replaces("scipy.sparse", "swapaxes", "permute_dims", calls_back=True)
def permuted(original: Any, A: Any, *args: Any, **kwargs: Any) -> Any:
    """`scipy.sparse.permute_dims`, `scipy.sparse.swapaxes`."""
    if not is_ours(A):
        return original(A, *args, **kwargs)
    turned = original(sparse.coo_array(np.array([[1.0, 2.0, 3.0]])), *args, **kwargs).shape != (1, 3)
    return A.T if turned else A
