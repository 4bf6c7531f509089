"""Sparse matrices with traced elements: a constant pattern, and the elements as a traced vector.

Such a matrix is of a class that is derived from SciPy's own (`csr_array`, ...), so that `issparse` and `isinstance` say
what they say of the plain one; its methods are here, and what is not here is refused by name.
"""

from __future__ import annotations

import functools
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sparse

from ...core.errors import UnsupportedError, message
from ...core.traced import Traced
from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.dispatch.conversions import places
from ...ops.linalg.patterns import Pattern, pattern_product
from ...ops.linalg.sparse import Matrix, multiplied


def is_ours(x: Any) -> bool:
    """Whether it is a sparse matrix with traced elements."""
    return hasattr(type(x), "_plain_kind")


def joined(rows: Any, columns: Any, values: Any, shape: tuple[int, int]) -> tuple[Pattern, Any]:
    """The pattern of these places, and the elements in its order; those at the same place are added."""
    rows, columns = (np.asarray(places(i)).astype(np.intp).reshape(-1) for i in (rows, columns))
    key = rows * shape[1] + columns
    if len(key) and (rows.min() < 0 or columns.min() < 0 or rows.max() >= shape[0] or columns.max() >= shape[1]):
        raise ValueError("index exceeds the dimensions of the matrix")
    if len(key) == 0 or np.all(np.diff(key) > 0):
        return Pattern(rows, columns, shape), values
    unique, where = np.unique(key, return_inverse=True)
    pattern = Pattern(unique // shape[1], unique % shape[1], shape)
    if len(unique) == len(key):
        return pattern, values[np.argsort(key)]
    adding = sparse.csr_array((np.ones(len(key)), (where, np.arange(len(key)))), shape=(len(unique), len(key)))
    return pattern, multiplied(values, matrix=Matrix(adding))


def lifted(a: Any) -> Any:
    """A sparse SciPy matrix as one of ours, with plain elements."""
    if is_ours(a):
        return a
    csr = sparse.csr_array(a, copy=True)
    csr.sum_duplicates()
    rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    return made(Pattern(rows, csr.indices.astype(np.intp), csr.shape), csr.data, type(a))


def of_array(a: Any, kind: type) -> Any:
    """A dense matrix: every element is one that may move, those that are 0 now too."""
    a = as_value(a)
    m, n = shape_of(a) if ndim_of(a) == 2 else (1, *shape_of(a))
    rows, columns = np.divmod(np.arange(m * n), max(n, 1))
    return made(Pattern(rows, columns, (m, n)), np.reshape(a, (-1,)), kind)


def made(pattern: Pattern, values: Any, kind: type) -> Any:
    """The matrix with these elements, of our version of a SciPy class."""
    ours = version_of(kind)
    found: Any = object.__new__(ours)
    fill(found, pattern, values)
    return found


def fill(target: Any, pattern: Pattern, values: Any) -> None:
    """Give a matrix its pattern and its elements."""
    vars(target).update(_pattern=pattern, _values=values, _shape=pattern.shape, maxprint=50)


@functools.cache
def version_of(kind: type) -> type:
    """Our version of a SciPy class: what is no method of ours is refused by name.

    Its methods are copied, not inherited: a SciPy matrix becomes one of ours in its place, which Python allows
    only if the classes have the same bases.
    """
    if hasattr(kind, "_plain_kind"):
        return kind
    members: dict[str, Any] = {
        name: value
        for name, value in vars(TracedElements).items()
        if name not in ("__dict__", "__weakref__", "__doc__")
    }
    for name in dir(kind):
        if not name.startswith("_") and name not in members:
            members[name] = property(functools.partial(_refuse, name))
    is_matrix = issubclass(kind, sparse.spmatrix)
    return type(kind.__name__, (kind,), {**members, "_plain_kind": kind, "_is_matrix": is_matrix})


def _refuse(name: str, self: Any) -> NoReturn:
    raise UnsupportedError(
        message(
            f"A sparse matrix with traced elements has no  {name}.",
            got=f"{type(self).__name__} of shape {self.shape} with {self.nnz} elements",
            fix="Use  A.toarray(),  or build what is needed from  A.data,  rows and columns.",
        )
    )


class TracedElements:
    """What sparse matrices with traced elements can do."""

    _pattern: Pattern
    _values: Any
    _plain_kind: type
    _is_matrix: bool
    __array_priority__ = 10_000.0

    # What there is

    shape = property(lambda self: self._pattern.shape)
    ndim = property(lambda self: 2)
    nnz = property(lambda self: self._pattern.size)
    size = property(lambda self: self._pattern.size)
    dtype = property(lambda self: dtype_of(self._values))
    row = property(lambda self: self._pattern.rows)
    col = property(lambda self: self._pattern.columns)
    coords = property(lambda self: (self._pattern.rows, self._pattern.columns))
    format = property(lambda self: self._plain_kind.__name__[:3])
    has_canonical_format = has_sorted_indices = True

    def _ordered(self) -> tuple[Any, Any, Any]:
        """Elements, indices and where rows begin; for the classes by columns, columns."""
        p = self._pattern
        if self.format != "csc":
            return self._values, p.columns, p.starts
        order = np.lexsort((p.rows, p.columns))
        return self._values[order], p.rows[order], np.searchsorted(p.columns[order], np.arange(p.shape[1] + 1))

    data = property(lambda self: self._ordered()[0])
    indices = property(lambda self: self._ordered()[1])
    indptr = property(lambda self: self._ordered()[2])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with traced elements: {self._pattern!r}>"

    __str__ = __repr__

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use getnnz()")

    def __bool__(self) -> bool:
        raise ValueError("The truth value of an array with more than one element is ambiguous.")

    def getnnz(self, axis: Any = None) -> Any:
        """How many elements are stored, in all or along an axis."""
        if axis is None:
            return self.nnz
        ends = (self._pattern.columns, self._pattern.rows)[axis % 2]
        return np.bincount(ends, minlength=self.shape[1 - axis % 2])

    def _with(self, values: Any, pattern: Pattern | None = None, kind: type | None = None) -> Any:
        return made(self._pattern if pattern is None else pattern, values, kind or self._plain_kind)

    def _as(self, letters: str) -> Any:
        flavour = "matrix" if self._is_matrix else "array"
        return self._with(self._values, kind=getattr(sparse, f"{letters}_{flavour}"))

    # Other forms

    def tocsr(self, copy: bool = False) -> Any:
        """By rows."""
        return self._as("csr")

    def tocsc(self, copy: bool = False) -> Any:
        """By columns."""
        return self._as("csc")

    def tocoo(self, copy: bool = False) -> Any:
        """By places."""
        return self._as("coo")

    def asformat(self, format: Any, copy: bool = False) -> Any:
        """In another form; all forms compute alike."""
        return self if format is None else self._as(format)

    def tolil(self, copy: bool = False) -> Any:
        """As lists."""
        return self._as("lil")

    def todok(self, copy: bool = False) -> Any:
        """As a dict."""
        return self._as("dok")

    def tobsr(self, blocksize: Any = None, copy: bool = False) -> Any:
        """By blocks."""
        return self._as("bsr")

    def copy(self) -> Any:
        """Another matrix with the same elements."""
        return self._with(self._values + 0.0 if isinstance(self._values, Traced) else np.array(self._values))

    def sum_duplicates(self) -> None:
        """Nothing is there twice."""

    sort_indices = eliminate_zeros = prune = sum_duplicates

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Any:
        """With elements of another type."""
        return self._with(np.astype(self._values, dtype))

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        """The whole matrix, dense."""
        p = self._pattern
        adding = sparse.csr_array(
            (np.ones(p.size), (p.rows * p.shape[1] + p.columns, np.arange(p.size))),
            shape=(p.shape[0] * p.shape[1], p.size),
        )
        return np.reshape(multiplied(self._values, matrix=Matrix(adding)), p.shape)

    todense = toarray

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        """Rows as columns."""
        p = self._pattern
        order = np.lexsort((p.rows, p.columns))
        turned = Pattern(p.columns[order], p.rows[order], p.shape[::-1])
        return self._with(self._values[order], turned)

    T = property(transpose)
    H = property(lambda self: self.transpose().conj())

    def conjugate(self, copy: bool = True) -> Any:
        """The conjugate elements."""
        return self._with(np.conjugate(self._values))

    conj = conjugate
    real = property(lambda self: self._with(np.real(self._values)))
    imag = property(lambda self: self._with(np.imag(self._values)))

    def power(self, n: Any, dtype: Any = None) -> Any:
        """Each element to a power."""
        return self._with(self._values**n)

    def __neg__(self) -> Any:
        return self._with(-self._values)

    def __abs__(self) -> Any:
        return self._with(np.abs(self._values))

    def __pow__(self, n: Any) -> Any:
        if not self._is_matrix:
            return self.power(n)
        found: Any = self
        for _ in range(n - 1):
            found = found @ self
        return found if n else lifted(sparse.eye_array(self.shape[0]))

    # Sums

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The sum of all, or along an axis."""
        if axis is None:
            return np.sum(self._values)
        along = axis % 2
        found = pattern_product(self._values, np.ones(self.shape[along]), pattern=self._pattern, transposed=along == 0)
        return np.expand_dims(found, along) if self._is_matrix else found

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The mean of all, or along an axis."""
        count = self.shape[0] * self.shape[1] if axis is None else self.shape[axis % 2]
        return self.sum(axis) / count

    def diagonal(self, k: int = 0) -> Any:
        """A diagonal."""
        p = self._pattern
        here = np.flatnonzero(p.columns - p.rows == k)
        length = max(0, min(p.shape[0] + min(k, 0), p.shape[1] - max(k, 0)))
        adding = sparse.csr_array((np.ones(len(here)), (p.rows[here] + min(k, 0), here)), shape=(length, p.size))
        return multiplied(self._values, matrix=Matrix(adding))

    def trace(self, offset: int = 0) -> Any:
        """The sum of a diagonal."""
        return np.sum(self.diagonal(offset))

    def nonzero(self) -> Any:
        """The places of the elements."""
        return self._pattern.rows, self._pattern.columns
