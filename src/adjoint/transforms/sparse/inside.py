"""Sparse derivatives inside `jit`, `vmap` and other derivatives: the entries of a given pattern, which is static."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.errors import InputError, message
from ...core.tree import flatten
from ...core.values import describe, dtype_of, may_hold, shape_of
from ..interface.checking import checked_inputs, output_leaves
from ..interface.inputs import Argnums, chosen, replaced
from ..jvp import jvp
from .evaluating import Side, mapped_leaves, multiplied
from .given import lacking, trial_vector
from .sets import scipy_sparse
from .sparsity import Sparsity


@dataclass(frozen=True, eq=False, repr=False)
class SparseValues:
    """A sparse matrix whose entries take part in programs, batches and derivatives.

    What `ad.sparse.jacobian` and `ad.sparse.hessian` give there. It is a container of one array: `jit` and `vmap`
    return it with plain entries, which `tocsr` makes a sparse array of.

    Parameters
    ----------
    data : array
        The entries, row by row; inside `vmap` those of one example.
    pattern : Sparsity
        Where they are.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> def chain(x):
    ...     return np.sum(np.diff(x) ** 4)
    >>> x = np.array([0.0, 1.0, 3.0])
    >>> hessian = ad.sparse.hessian(chain, pattern=ad.sparse.hessian_sparsity(chain)(x))
    >>> ad.jit(lambda x, v: hessian(x) @ v)(x, np.array([1.0, 0.0, 0.0]))
    array([ 12., -12.,   0.])
    """

    data: Any
    pattern: Sparsity = field(metadata={"static": True})

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return self.pattern.shape

    @property
    def indices(self) -> Any:
        """The columns of the entries, as in `scipy.sparse.csr_array`."""
        return self.pattern.matrix.indices

    @property
    def indptr(self) -> Any:
        """Where the entries of each row begin, as in `scipy.sparse.csr_array`."""
        return self.pattern.matrix.indptr

    def __repr__(self) -> str:
        m, n = self.shape
        return f"<sparse values {m} x {n}, {self.pattern.nnz} entries: {describe(self.data)}>"

    def __abs__(self) -> SparseValues:
        """The sizes of the entries."""
        return SparseValues(np.abs(self.data), self.pattern)

    def __matmul__(self, other: Any) -> Any:
        """The product with a vector, or with the columns of a matrix."""
        columns = shape_of(other)
        if len(columns) not in (1, 2) or columns[0] != self.shape[1]:
            raise InputError(
                message(
                    f"A sparse matrix of {self.shape[1]} columns is multiplied with as many rows.",
                    got=describe(other),
                )
            )
        data = self.data if len(columns) == 1 else self.data[:, None]
        return self._summing() @ (data * other[self.indices])

    def _summing(self) -> Any:
        """The map from the entries to the sums of the rows."""
        count = self.pattern.nnz
        parts = (np.ones(count, dtype_of(self.data)), np.arange(count), self.indptr)
        return scipy_sparse().csr_array(parts, shape=(self.shape[0], count))

    def toarray(self) -> Any:
        """The dense matrix.

        Returns
        -------
        array
            With 0 where there are no entries.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> square = ad.sparse.jacobian(lambda x: x**2, pattern=np.eye(2))
        >>> ad.jit(lambda x: square(x).toarray())(np.array([1.0, 2.0]))
        array([[2., 0.],
               [0., 4.]])
        """
        m, n = self.shape
        rows, columns = np.repeat(np.arange(m), np.diff(self.indptr)), self.indices
        places = np.full(m * n, self.pattern.nnz)
        places[rows * n + columns] = np.arange(self.pattern.nnz)
        padded = np.concatenate([self.data, np.zeros(1, dtype_of(self.data))])
        return np.reshape(np.take(padded, places), (m, n))

    def tocsr(self) -> Any:
        """The same as a sparse array of SciPy's, once the entries are plain numbers.

        Returns
        -------
        scipy.sparse.csr_array
            With entries of its own.

        Raises
        ------
        InputError
            If the entries are those of a batch.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> square = ad.sparse.jacobian(lambda x: x**2, pattern=np.eye(2))
        >>> ad.jit(square)(np.array([1.0, 2.0])).tocsr().toarray()
        array([[2., 0.],
               [0., 4.]])
        """
        if not isinstance(self.data, np.ndarray) or self.data.ndim != 1:
            raise InputError(
                message(
                    "A sparse array of SciPy's has one row of plain numbers as its entries.",
                    got=describe(self.data),
                    fix="Of a batch take one example:  ad.tree.map(lambda data: data[0], values).tocsr().",
                )
            )
        parts = (self.data.copy(), self.indices.copy(), self.indptr.copy())
        return scipy_sparse().csr_array(parts, shape=self.shape)


def values_of(
    fun: Any,
    argnums: Argnums,
    call: tuple[tuple[Any, ...], dict[str, Any]],
    planned: Any,
    transform: str,
    *,
    second: bool,
) -> SparseValues:
    """The entries by the products that the plan says, and one more, which tries the pattern: nan if it lacks entries.

    `planned(shape, inputs, outputs)` gives the pattern and its plan, given the shapes of both sides.
    """
    args, kwargs = call
    wanted = chosen(args, argnums)
    leaves, rebuild = flatten(wanted)
    checked_inputs(leaves, (wanted,) if isinstance(argnums, int) else wanted, transform)
    inputs = Side([shape_of(x) for x in leaves], [dtype_of(x) for x in leaves])

    def flat(*given: Any) -> Any:
        result = fun(*replaced(args, argnums, rebuild(list(given))), **kwargs)
        return result if second else tuple(output_leaves(result, transform)[0])

    mapped = mapped_leaves(flat, len(leaves), second=second)
    vector = trial_vector(inputs.size)
    trial = [
        t[0] if shape_of(x) else dtype_of(x).type(t[0])
        for t, x in zip(inputs.leaves(vector[None]), leaves, strict=True)
    ]
    values, moved = jvp(mapped, tuple(leaves), tuple(trial))
    outputs = Side([shape_of(y) for y in values], [dtype_of(y) for y in values])
    right = outputs.line([np.reshape(y, (1, *shape_of(y))) for y in moved]) if values else np.zeros(0)
    pattern, plan = planned((outputs.size, inputs.size), inputs.shapes, outputs.shapes)
    if not plan.pattern.nnz:
        if may_hold(np.not_equal(right, 0)):
            raise InputError(message(f"The pattern given to {transform} has no entries, but the function has slopes."))
        return SparseValues(np.zeros(0, inputs.dtypes[0] if inputs.dtypes else float), pattern)
    columns, rows = plan.seeds()
    found = multiplied(
        mapped, leaves, inputs.leaves(columns) if len(columns) else (), outputs.leaves(rows) if len(rows) else ()
    )
    lines = [side.line(part) for side, part in zip((outputs, inputs), found, strict=True) if len(part)]
    data = np.take(lines[0] if len(lines) == 1 else np.concatenate(lines), plan.places)
    _, differs = lacking(SparseValues(data, pattern), vector.astype(dtype_of(data)), right)
    return SparseValues(np.where(np.any(differs), np.nan, data), pattern)
