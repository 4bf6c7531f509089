"""`hessian_diagonal` and `laplacian`: the diagonal of the Hessian and its sum, without the Hessian."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.arguments import Count, checked
from ...core.derived import derived
from ...core.errors import InputError, message
from ...core.traced import Traced
from ...core.tree import flatten
from ...core.values import Value, describe, dtype_of, shape_of
from ..calling import entrance
from ..interface.checking import checked_function
from ..interface.inputs import checked_argnums, chosen, replaced
from ..interface.presenting import of_kind
from ..jacobian import hessian
from .along import CurvaturePoint, SecondDerivatives, along, at_point


@checked("fun", "argnums")
def hessian_diagonal(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, chunk_size: Count | None = None
) -> Callable[..., Any]:
    """The diagonal of the Hessian, d2f / dx_i2 for every i, without the Hessian.

    Each value is carried along with its n tangents and its n second derivatives, in one evaluation: twice the work of
    a Jacobian by columns, and nothing of size n x n unless the function itself makes it.

    Parameters
    ----------
    fun : callable
        The function of real numbers; its argument and result may be any containers.
    argnums : int or sequence of int, default 0
        Which positional arguments to differentiate with respect to.
    chunk_size : int, optional
        How many directions to take at once, to bound memory; by default all.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns, for a number, the second derivatives in the containers
        and shapes of the argument; for a result of another shape, arrays of shape (*result, *argument).

    Raises
    ------
    InputError
        If the argument is complex, or no number.

    Notes
    -----
    At a kink the second derivative is that of the side that the library's convention picks: 0 for ReLU and the
    absolute value at 0. Where the chain rule gives 0 * inf, the Hessian itself is computed, which knows limits.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.curvature.hessian_diagonal(lambda x: x[0] ** 2 * x[1] + np.exp(x[1]))(np.array([2.0, 0.0]))
    array([0., 1.])
    >>> point = {"a": 2.0, "b": np.array([1.0, 3.0])}
    >>> ad.curvature.hessian_diagonal(lambda p: p["a"] ** 3 * np.sum(p["b"] ** 2))(point)
    {'a': 120.0, 'b': array([16., 16.])}
    """
    name = "hessian_diagonal"
    checked_function(fun, name)
    argnums, chunk_size = checked_argnums(argnums, name), checked_chunk(chunk_size)

    def diagonal(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        wanted = chosen(args, argnums)
        point = at_point(lambda x: fun(*replaced(args, argnums, x), **kwargs), wanted, name)
        parts = [_along_axes(point, k, chunk_size) for k in range(len(point.inputs))]
        first = parts[0][0]
        by_leaf = [[_shaped(s, x) for s in seconds] for (_, seconds), x in zip(parts, point.inputs, strict=True)]
        return first.restore(
            [
                point.rebuild(_kinds(list(ds), point, v))
                for ds, v in zip(zip(*by_leaf, strict=True), first.values, strict=True)
            ]
        )

    return derived(entrance(diagonal), name, fun, argnums=argnums, chunk_size=chunk_size)  # type: ignore[no-any-return]


@checked("fun", "argnums", "key")
def laplacian(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *,
    probes: Count | None = None, key: Any = None, chunk_size: Count | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """The Laplacian, the sum of d2f / dx_i2 over all i, without the Hessian.

    Each value is carried along with its n tangents and one sum of second derivatives (the forward Laplacian of Li et
    al.), in one evaluation: little more than the work of a Jacobian by columns, where the trace of the Hessian takes
    two such sweeps, and one over the other two to three.

    Parameters
    ----------
    fun : callable
        The function of real numbers; its argument and result may be any containers.
    argnums : int or sequence of int, default 0
        Which positional arguments to differentiate with respect to: the sum is over all numbers in them.
    probes : int, optional
        Estimate it from this number of random directions instead of n: the mean of v' H v over vectors v of random
        signs (Hutchinson), which is right on average, with variance 2 (|H|^2 - |diag H|^2) / probes.
    key : array, optional
        The key of `ad.random` that the directions are drawn from; needed with `probes`.
    chunk_size : int, optional
        How many directions to take at once, to bound memory; by default all.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns the Laplacian of each number of the result, in its
        containers and shapes: a number for a number, the Laplacian of each component for a vector field.

    Raises
    ------
    InputError
        If the argument is complex or no number, or if only one of `probes` and `key` is given.

    References
    ----------
    Li et al., A Computational Framework for Neural Network-based Variational Monte Carlo with Forward Laplacian, 2024.

    Hutchinson, A Stochastic Estimator of the Trace of the Influence Matrix, 1990.

    Notes
    -----
    Kinks and points where the chain rule gives 0 * inf are as for `hessian_diagonal`.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.curvature.laplacian(lambda x: x[0] ** 2 * x[1] + np.exp(x[1]))(np.array([2.0, 0.0]))
    np.float64(1.0)
    >>> def potential(x):  # of a charge: harmonic
    ...     return 1.0 / np.sqrt(np.sum(x**2))
    >>> round(abs(float(ad.curvature.laplacian(potential)(np.array([1.0, 2.0, 2.0])))), 12)
    0.0

    With random directions, in a thousand dimensions:

    >>> estimate = ad.curvature.laplacian(lambda x: np.sum(x**4) + x[0] * x[1], probes=4, key=ad.random.key(0))
    >>> abs(estimate(np.ones(1000)) / 12000.0 - 1.0) < 0.01
    np.True_
    """
    name = "laplacian"
    checked_function(fun, name)
    argnums, chunk_size = checked_argnums(argnums, name), checked_chunk(chunk_size)
    _check_probes(probes, key)

    def sum_of_diagonal(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        wanted = chosen(args, argnums)
        point = at_point(lambda x: fun(*replaced(args, argnums, x), **kwargs), wanted, name)
        if probes is None:
            sets = [({k: b}, whole) for k, x in enumerate(point.inputs) for b, whole in _bases(x, chunk_size)]
        else:
            sets = _drawn(point, probes, key, chunk_size)
        parts = [along(point, d, summed=True, transform=name, is_basis=whole) for d, whole in sets]
        found = parts[0]
        if all([part.is_certain for part in parts]):
            totals = [sum([part.seconds[i] for part in parts[1:]], s) for i, s in enumerate(found.seconds)]
            totals = totals if probes is None else [total * (1.0 / probes) for total in totals]
        else:
            exact = [_by_hessian(point, k, chunk_size) for k in range(len(point.inputs))]
            totals = [
                sum([np.sum(s, axis=0) for s in each[1:]], np.sum(each[0], axis=0)) for each in zip(*exact, strict=True)
            ]
        return found.restore([_like(total, v) for total, v in zip(totals, found.values, strict=True)])

    if probes is not None:
        return derived(entrance(sum_of_diagonal), name, fun, how="<probes>")  # type: ignore[no-any-return]
    return derived(entrance(sum_of_diagonal), name, fun, argnums=argnums, chunk_size=chunk_size)  # type: ignore[no-any-return]


def _bases(x: Value, chunk_size: int | None) -> Iterator[tuple[Any, bool]]:
    """The directions of the axes of a leaf, in chunks; and whether a chunk is all of them."""
    shape = shape_of(x)
    size = math.prod(shape)
    basis = np.eye(size, dtype=dtype_of(x)).reshape(size, *shape)
    if chunk_size is None or len(basis) <= chunk_size:
        yield basis, True
        return
    for start in range(0, len(basis), chunk_size):
        yield basis[start : start + chunk_size], False


def _drawn(point: CurvaturePoint, probes: int, key: Any, chunk_size: int | None) -> list[tuple[dict[int, Any], bool]]:
    """Directions of random signs, in chunks."""
    from ...random.discrete import bernoulli
    from ...random.keys import split

    keys = split(key, len(point.inputs))
    signs = [
        np.where(bernoulli(keys[k], 0.5, (probes, *shape_of(x))), 1.0, -1.0).astype(dtype_of(x))
        for k, x in enumerate(point.inputs)
    ]
    step = probes if chunk_size is None else chunk_size
    return [({k: s[start : start + step] for k, s in enumerate(signs)}, False) for start in range(0, probes, step)]


def _along_axes(point: CurvaturePoint, k: int, chunk_size: int | None) -> tuple[SecondDerivatives, list[Any]]:
    """The second derivatives of each leaf of a result along each axis of one leaf of the argument."""
    parts = [
        along(point, {k: basis}, summed=False, transform="hessian_diagonal", is_basis=is_whole)
        for basis, is_whole in _bases(point.inputs[k], chunk_size)
    ]
    if not all([part.is_certain for part in parts]):
        return parts[0], _by_hessian(point, k, chunk_size)
    if len(parts) == 1:
        return parts[0], parts[0].seconds
    return parts[0], [np.concatenate(each) for each in zip(*[part.seconds for part in parts], strict=True)]


def _shaped(stacked: Any, x: Value) -> Any:
    """The second derivatives along the axes of one leaf, with the axes of the leaf last."""
    return np.reshape(np.moveaxis(stacked, 0, -1), (*shape_of(stacked)[1:], *shape_of(x)))


def _kinds(parts: list[Any], point: CurvaturePoint, value: Value) -> list[Any]:
    """Of a number by a number a number."""
    is_number = shape_of(value) == ()
    return [_like(d, x) if is_number and shape_of(x) == () else d for d, x in zip(parts, point.given, strict=True)]


def _like(x: Any, value: Value) -> Any:
    """A number for a number, of Python's or of NumPy's."""
    if isinstance(x, Traced):
        return of_kind(x, value)
    if shape_of(x) != ():
        return x
    return float(x) if type(value) is float else np.asarray(x)[()]


def _by_hessian(point: CurvaturePoint, k: int, chunk_size: int | None) -> list[Any]:
    """The second derivatives of each leaf of a result along the axes of one leaf, from the Hessian, with limits."""

    def of_leaf(x: Any) -> Any:
        return point.fun(point.rebuild([x if j == k else y for j, y in enumerate(point.inputs)]))

    size = point.sizes[k]
    rank = 2 * len(shape_of(point.inputs[k]))
    found = []
    for block in flatten(hessian(of_leaf, chunk_size=chunk_size)(point.inputs[k]))[0]:
        shape = shape_of(block)
        square = np.reshape(block, (*shape[: len(shape) - rank], size, size))
        found.append(np.moveaxis(np.diagonal(square, axis1=-2, axis2=-1), -1, 0))
    return found


def checked_chunk(chunk_size: Any) -> int | None:
    """How many directions are taken at once."""
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise InputError(
            message(
                "chunk_size has to be a whole number of directions, at least 1, or None for all at once.",
                got=repr(chunk_size),
                fix="Write  chunk_size=100,  for example.",
            )
        )
    return chunk_size


def _check_probes(probes: Any, key: Any) -> None:
    if (probes is None) != (key is None):
        raise InputError(
            message(
                "A stochastic Laplacian needs a number of probes and a key.",
                got="a key alone" if probes is None else "probes alone",
                fix="Write  ad.curvature.laplacian(f, probes=10, key=ad.random.key(0)).",
            )
        )
    if probes is not None and (not isinstance(probes, int) or isinstance(probes, bool) or probes < 1):
        raise InputError(
            message(
                "probes has to be a whole number of random directions, at least 1.",
                got=describe(probes),
                fix="Write  ad.curvature.laplacian(f, probes=10, key=ad.random.key(0)).",
            )
        )
