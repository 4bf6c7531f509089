"""Arithmetic of sparse matrices with traced elements, with each other, with plain ones and with dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

from ...core.traced import Traced
from ...core.values import shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.dispatch.conversions import places
from ...ops.linalg.patterns import Pattern, pattern_product
from ...ops.linalg.sparse import Matrix, multiplied
from .matrices import TracedElements, fill, joined, lifted, made


def flavour(a: Any) -> Any:
    """The class by rows of a matrix's flavour: of matrices or arrays."""
    return sparse.csr_matrix if isinstance(a, sparse.spmatrix) else sparse.csr_array


def matmul(a: Any, b: Any) -> Any:
    """a @ b for a matrix of ours and anything."""
    if sparse.issparse(b):
        return _matmul_sparse(a, lifted(b))
    b = as_value(b)
    if ndim_of(b) == 0 or ndim_of(b) > 2 or shape_of(b)[0] != a.shape[1]:
        raise ValueError(f"matmul: dimension mismatch of {a.shape} and {shape_of(b)}")
    return pattern_product(a._values, b, pattern=a._pattern, transposed=False)


def rmatmul(a: Any, b: Any) -> Any:
    """b @ a for a matrix of ours and anything."""
    if sparse.issparse(b):
        return _matmul_sparse(lifted(b), a)
    b = as_value(b)
    if ndim_of(b) == 0 or ndim_of(b) > 2 or shape_of(b)[-1] != a.shape[0]:
        raise ValueError(f"matmul: dimension mismatch of {shape_of(b)} and {a.shape}")
    turned = np.transpose(b) if ndim_of(b) == 2 else b
    found = pattern_product(a._values, turned, pattern=a._pattern, transposed=True)
    return np.transpose(found) if ndim_of(b) == 2 else found


def _matmul_sparse(a: Any, b: Any) -> Any:
    """The product of two sparse matrices: every pair of elements that meet, added where they meet."""
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"matmul: dimension mismatch of {a.shape} and {b.shape}")
    p, q = a._pattern, b._pattern
    counts = np.diff(q.starts)[p.columns]
    first = np.repeat(np.arange(p.size), counts)
    ahead = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    second = q.starts[p.columns[first]] + ahead
    products = a._values[first] * b._values[second]
    pattern, values = joined(p.rows[first], q.columns[second], products, (a.shape[0], b.shape[1]))
    return made(pattern, values, flavour(a))


def add(a: Any, b: Any, sign: float = 1.0) -> Any:
    """a + b, or a - b."""
    if not sparse.issparse(b):
        b = as_value(b)
        if ndim_of(b) == 0:
            if isinstance(b, Traced) or b != 0:
                raise NotImplementedError("adding a nonzero scalar to a sparse array is not supported")
            return a
        return a.toarray() + sign * b
    b = lifted(b)
    if a.shape != b.shape:
        raise ValueError(f"inconsistent shapes: {a.shape} and {b.shape}")
    p, q = a._pattern, b._pattern
    values = np.concatenate([a._values, sign * b._values])
    both = joined(np.concatenate([p.rows, q.rows]), np.concatenate([p.columns, q.columns]), values, a.shape)
    return made(*both, flavour(a))


def multiply(a: Any, b: Any) -> Any:
    """Element by element; what is not stored stays 0."""
    if sparse.issparse(b):
        b = lifted(b)
        if 1 in b.shape and b.shape != a.shape:
            return multiply(a, b.toarray())
        if a.shape != b.shape:
            raise ValueError(f"inconsistent shapes: {a.shape} and {b.shape}")
        p, q = a._pattern, b._pattern
        _, mine, others = np.intersect1d(
            p.rows * a.shape[1] + p.columns, q.rows * a.shape[1] + q.columns, assume_unique=True, return_indices=True
        )
        pattern = Pattern(p.rows[mine], p.columns[mine], a.shape)
        return made(pattern, a._values[mine] * b._values[others], flavour(a))
    b = as_value(b)
    if ndim_of(b) == 0:
        return made(a._pattern, a._values * b, a._plain_kind)
    if np.broadcast_shapes(shape_of(b), a.shape) != a.shape:
        return a.toarray() * b
    whole = np.broadcast_to(b, a.shape)
    return made(a._pattern, a._values * whole[a._pattern.rows, a._pattern.columns], a._plain_kind)


def divide(a: Any, b: Any) -> Any:
    """a / b for a number or a dense matrix."""
    if sparse.issparse(b):
        return a.toarray() / (b.toarray())
    b = as_value(b)
    return multiply(a, 1.0 / b)


def item(a: Any, key: Any) -> Any:
    """a[key]: an element, a row, a column, a part."""
    rows, columns, is_part = _resolved(a, key)
    if not is_part:
        return _elements(a, rows, columns)
    shape = (len(rows), len(columns))
    p = a._pattern
    inside = sparse.csr_array((np.arange(1, p.size + 1), p.columns, p.starts), shape=p.shape)[rows][:, columns].tocoo()
    pattern, values = joined(inside.row, inside.col, a._values[inside.data - 1], shape)
    return made(pattern, values, a._plain_kind)


def _elements(a: Any, rows: Any, columns: Any) -> Any:
    """Single elements at these places, as an array: 0 where none is stored."""
    p = a._pattern
    key, wanted = p.rows * a.shape[1] + p.columns, rows * a.shape[1] + columns
    flat = np.reshape(wanted, (-1,))
    where = np.searchsorted(key, flat)
    known = where < p.size
    known[known] = key[where[known]] == flat[known]
    pick = sparse.csr_array((np.ones(known.sum()), (np.flatnonzero(known), where[known])), shape=(len(flat), p.size))
    found = multiplied(a._values, matrix=Matrix(pick))
    return np.reshape(found, np.shape(wanted)) if np.shape(wanted) else found[0]


def _resolved(a: Any, key: Any) -> tuple[Any, Any, bool]:
    """Rows and columns of a key, and whether every row meets every column."""
    if sparse.issparse(key):
        key = key.nonzero()
    if not isinstance(key, tuple):
        key = (key, slice(None))
    if len(key) != 2:
        raise IndexError("a sparse matrix has two axes")
    parts = [k if isinstance(k, slice) else np.asarray(places(k) if isinstance(k, Traced) else k) for k in key]
    lines = [
        np.arange(n)[k] if isinstance(k, slice) or k.dtype.kind == "b" else np.where(k < 0, k + n, k)
        for k, n in zip(parts, a.shape, strict=True)
    ]
    if any(isinstance(k, slice) for k in parts):
        return np.atleast_1d(lines[0]), np.atleast_1d(lines[1]), True
    rows, columns = np.broadcast_arrays(*lines)
    return rows, columns, False


def assign(a: Any, key: Any, value: Any) -> tuple[Pattern, Any]:
    """The pattern and the elements after `a[key] = value`."""
    rows, columns, is_part = _resolved(a, key)
    if is_part:
        rows, columns = np.broadcast_arrays(rows[:, None], columns)
    value = lifted(value).toarray() if sparse.issparse(value) else as_value(value)
    value = np.reshape(np.broadcast_to(value, rows.shape), (-1,))
    rows, columns = rows.reshape(-1), columns.reshape(-1)
    p = a._pattern
    kept = np.flatnonzero(~np.isin(p.rows * a.shape[1] + p.columns, rows * a.shape[1] + columns))
    values = np.concatenate([a._values[kept], value])
    return joined(np.concatenate([p.rows[kept], rows]), np.concatenate([p.columns[kept], columns]), values, a.shape)


def _set(self: Any, key: Any, value: Any) -> None:
    fill(self, *assign(self, key, value))


def _setdiag(self: Any, values: Any, k: int = 0) -> None:
    length = min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0))
    at = np.arange(length)
    _set(self, (at - min(k, 0), at + max(k, 0)), values)


def _dot(self: Any, b: Any) -> Any:
    """`A.dot(b)`, also with a number."""
    return multiply(self, b) if _is_number(b) else matmul(self, b)


def _is_number(b: Any) -> bool:
    return not sparse.issparse(b) and ndim_of(as_value(b)) == 0


def _times(self: Any, b: Any) -> Any:
    """`*`: a product of matrices for the classes of matrices, else element by element."""
    return matmul(self, b) if self._is_matrix and not _is_number(b) else multiply(self, b)


def _rtimes(self: Any, b: Any) -> Any:
    return rmatmul(self, b) if self._is_matrix and not _is_number(b) else multiply(self, b)


METHODS: dict[str, Any] = {
    "__matmul__": matmul,
    "__rmatmul__": rmatmul,
    "_matmul_dispatch": _dot,
    "_rmatmul_dispatch": rmatmul,
    "dot": _dot,
    "__add__": add,
    "__radd__": add,
    "__sub__": lambda self, b: add(self, b, -1.0),
    "__rsub__": lambda self, b: add(-self, b),
    "__mul__": _times,
    "__rmul__": _rtimes,
    "multiply": multiply,
    "__truediv__": divide,
    "__getitem__": item,
    "__setitem__": _set,
    "setdiag": _setdiag,
    "getrow": lambda self, i: item(self, (slice(i, i + 1), slice(None))),
    "getcol": lambda self, i: item(self, (slice(None), slice(i, i + 1))),
    "mT": TracedElements.T,
    "getH": lambda self: self.transpose().conj(),
}
"""What matrices do with other operands, by the names of SciPy's methods."""
for _name, _method in METHODS.items():
    setattr(TracedElements, _name, _method)
