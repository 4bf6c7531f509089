"""`sparse_jacobian`, `sparse_hessian`, `sparsity`, `hessian_sparsity`: derivatives most of which are 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.arguments import checked
from ...core.derived import derived
from ...core.tree import flatten
from ..calling import entrance
from ..interface.checking import checked_function
from ..interface.inputs import checked_argnums
from .finding import is_inside
from .matrices import Sparse
from .sets import scipy_sparse


@checked("fun", "argnums", "pattern")
def sparse_jacobian(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, pattern: Any = None
) -> Callable[..., Any]:
    """The Jacobian as a sparse array, from as few products with vectors as its pattern allows.

    The pattern is found from one recording of the function; columns (or rows, or both) that share no entries get one
    colour and are found by one product. All this is kept for arguments of the same kind, and found anew where the
    function takes another branch. A later call is one compiled evaluation.

    Parameters
    ----------
    fun : callable
        The function; its arguments and result may be any containers of real numbers and arrays.
    argnums : int or sequence of int, default 0
        Which positional arguments to differentiate with respect to.
    pattern : sparse array, Sparsity or array_like of bool, optional
        Where there can be entries, if you know better than the recording tells. It is tried with a random vector in
        every call.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns a `scipy.sparse.csr_array`: a row for each number of the
        result, a column for each number of the arguments, in the order in which `ad.tree.ravel` lines them up.
        Entries that can differ from 0 are stored even where they are 0. Inside `jit`, `vmap` and other derivatives
        it returns a `SparseValues`, for which the pattern has to be given: `.data`, `@`, `.toarray()`, `.tocsr()`.

    Raises
    ------
    InputError
        When a given pattern has the wrong shape or lacks entries.
    UnsupportedError
        When it is called inside `jit`, `vmap` or a derivative without a pattern, or when too much depends on
        everything.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> J = ad.sparse.jacobian(lambda x: np.diff(x) ** 2)(np.array([1.0, 3.0, 4.0]))
    >>> J.shape, J.nnz
    ((2, 3), 4)
    >>> J.toarray()
    array([[-4.,  4.,  0.],
           [ 0., -2.,  2.]])
    """
    return _matrix(fun, argnums, pattern, "sparse_jacobian", second=False)


@checked("fun", "argnums", "pattern")
def sparse_hessian(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, pattern: Any = None
) -> Callable[..., Any]:
    """The matrix of second derivatives as a sparse array, from as few products with vectors as its pattern allows.

    As `sparse_jacobian`. Since the matrix is symmetric, an entry may be found in its row or in its column (a star
    colouring), which takes fewer products: two for an arrow of any size, three for a tridiagonal matrix.

    Parameters
    ----------
    fun : callable
        The function; plain NumPy code that returns one real number.
    argnums : int or sequence of int, default 0
        Which positional arguments to differentiate with respect to.
    pattern : sparse array, Sparsity or array_like of bool, optional
        Where there can be entries, or one triangle of that, if you know better than the recording tells.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns a symmetric `scipy.sparse.csr_array`, with a row and a
        column for each number of the arguments.

    Raises
    ------
    OutputError
        When `fun` returns anything but one real number.
    InputError
        When a given pattern has the wrong shape or lacks entries.
    UnsupportedError
        When it is called inside `jit`, `vmap` or a derivative without a pattern, or when too much depends on
        everything.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> H = ad.sparse.hessian(lambda x: np.sum(np.diff(x) ** 2))(np.zeros(4))
    >>> H.toarray()
    array([[ 2., -2.,  0.,  0.],
           [-2.,  4., -2.,  0.],
           [ 0., -2.,  4., -2.],
           [ 0.,  0., -2.,  2.]])
    """
    return _matrix(fun, argnums, pattern, "sparse_hessian", second=True)


@checked("fun", "argnums", "pattern")
def sparsity(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Which results depend on which inputs: the pattern of the Jacobian.

    It holds for the branch that is taken at the point. Of `np.where` and `np.maximum`, all operands count.

    Parameters
    ----------
    fun : callable
        The function; its arguments and result may be any containers of real numbers and arrays.
    argnums : int or sequence of int, default 0
        Which positional arguments count as inputs.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns a `Sparsity`: `.matrix` (a `scipy.sparse.csr_array` of
        bool), `.colors`, `.products`, `.plot()`; small ones print as a picture.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> print(ad.sparse.sparsity(lambda x: x[1:] * x[0])(np.ones(4)))
    0 1 . .
    0 . 1 .
    0 . . 1
    """
    return _pattern(fun, argnums, "sparsity", second=False)


@checked("fun", "argnums", "pattern")
def hessian_sparsity(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Which pairs of inputs meet in a way that is not linear: the pattern of the Hessian.

    Parameters
    ----------
    fun : callable
        The function; plain NumPy code that returns one real number.
    argnums : int or sequence of int, default 0
        Which positional arguments count as inputs.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns a `Sparsity`, as `sparsity` does.

    Raises
    ------
    OutputError
        When `fun` returns anything but one real number.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> print(ad.sparse.hessian_sparsity(lambda x: np.sum(x[1:] ** 2 * x[0]) + x[0])(np.ones(4)))
    . 0 0 0
    0 1 . .
    0 . 1 .
    0 . . 1
    """
    return _pattern(fun, argnums, "hessian_sparsity", second=True)


def _matrix(fun: Any, argnums: Any, pattern: Any, transform: str, *, second: bool) -> Callable[..., Any]:
    checked_function(fun, transform)
    argnums = checked_argnums(argnums, transform)
    scipy_sparse()
    found = Sparse(fun, argnums, pattern, transform, second=second)
    named = None if pattern is None else found  # whose name says that it cannot be found by name

    def evaluated(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if pattern is not None and is_inside(flatten((args, kwargs))[0]):
            return found.values(fun, args, kwargs)  # where a program is recorded, this function is a copy of its own
        return found.matrix(args, kwargs)

    return derived(entrance(evaluated), transform, fun, argnums=argnums, pattern=named)  # type: ignore[no-any-return]


def _pattern(fun: Any, argnums: Any, transform: str, *, second: bool) -> Callable[..., Any]:
    checked_function(fun, transform)
    argnums = checked_argnums(argnums, transform)
    scipy_sparse()
    found = Sparse(fun, argnums, None, transform, second=second)
    return derived(entrance(found.sparsity), transform, fun, argnums=argnums)  # type: ignore[no-any-return]
