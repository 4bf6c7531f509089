"""`classify`: what kind of stationary point a point is, by the eigenvalues of the Hessian there."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.arguments import NonNegative, Tree, checked
from ...core.errors import InputError, OutputError, UnsupportedError, message
from ...core.hints import public_name
from ...core.traced import Traced
from ...core.tree import flatten
from ...core.values import describe, dtype_of, shape_of
from ...host.frames.tracebacks import FOLDING
from ..grad import value_and_grad
from ..interface.checking import checked_function
from ..jacobian import hessian
from .along import at_point


@dataclass(frozen=True)
class Classification:
    """What `ad.curvature.classify` found.

    Attributes
    ----------
    kind : str
        "minimum", "maximum", "saddle" or "undecided".
    reason : str
        Why, in a sentence.
    value : float
        The function at the point.
    eigenvalues : ndarray
        Those of the Hessian, in ascending order.
    eigenvectors : ndarray
        Their directions, one in each column, in the order of `ad.tree.ravel`.
    gradient_norm : float
        The length of the gradient.
    gradient_tolerance : float
        Up to which length the gradient counted as zero.
    eigenvalue_tolerance : float
        Up to which size an eigenvalue counted as zero.
    """

    kind: str
    reason: str
    value: float
    eigenvalues: np.ndarray
    eigenvectors: np.ndarray
    gradient_norm: float
    gradient_tolerance: float
    eigenvalue_tolerance: float

    def __str__(self) -> str:
        """In three lines."""
        few = self.eigenvalues if len(self.eigenvalues) <= 6 else self.eigenvalues[[0, 1, 2, -3, -2, -1]]
        shown = [f"{e:.4g}" for e in few]
        shown = shown if len(self.eigenvalues) <= 6 else [*shown[:3], "...", *shown[3:]]
        return (
            f"{self.kind}: {self.reason}\n"
            f"  eigenvalues    {' '.join(shown)} (zero up to {self.eigenvalue_tolerance:.1e})\n"
            f"  gradient norm  {self.gradient_norm:.4g} (zero up to {self.gradient_tolerance:.1e})"
        )


@checked("fun", "x")
def classify(fun: Callable[..., Any], x: Tree, *args: Any, tolerance: NonNegative | None = None) -> Classification:
    """Whether a point is a minimum, a maximum or a saddle of a function, by the eigenvalues of its Hessian.

    All eigenvalues positive make a strict local minimum, all negative ones a maximum, both signs a saddle. What is
    zero up to the tolerance decides nothing: x**4 has a minimum at 0 that second derivatives do not show.

    Parameters
    ----------
    fun : callable
        The function, of one real number as result.
    x : array or containers
        The point; as the optimisers of `ad.optim` find it, for example.
    *args : any containers
        Further arguments of the function, which are held.
    tolerance : float, optional
        What counts as zero, relative to the largest eigenvalue s by size: eigenvalues up to tolerance * s, and
        gradients up to tolerance * s * max(1, |x|), which is a step of Newton's of relative length `tolerance`. By
        default the square root of the precision of x: 1.5e-8 for float64.

    Returns
    -------
    Classification
        `kind` ("minimum", "maximum", "saddle" or "undecided"), `reason`, `value`, `eigenvalues`, `eigenvectors`,
        `gradient_norm`, `gradient_tolerance`, `eigenvalue_tolerance`. A point whose gradient is not zero is
        undecided, and so is one near which the function does not go as its derivatives at the point say: there is a
        kink.

    Raises
    ------
    InputError
        If the point is complex or no number.
    OutputError
        If the function does not return one real number.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> found = ad.curvature.classify(lambda x: x[0] ** 2 - x[1] ** 2, np.zeros(2))
    >>> print(found)
    saddle: eigenvalues of both signs
      eigenvalues    -2 2 (zero up to 3.0e-08)
      gradient norm  0 (zero up to 3.0e-08)
    >>> ad.curvature.classify(lambda x: x**4, 0.0).kind, ad.curvature.classify(np.cos, 0.0).kind
    ('undecided', 'maximum')
    """
    checked_function(fun, "classify", "ad.curvature.classify(f, x)")
    refuse_traced(flatten((x, args))[0], "classify")
    with FOLDING:
        return _classified(fun, x, args, tolerance)


def _classified(fun: Callable[..., Any], x: Any, args: tuple[Any, ...], tolerance: float | None) -> Classification:
    point = at_point(lambda p: fun(p, *args), x, "classify")
    if not sum(point.sizes):
        raise InputError(
            message(
                "classify needs a point with at least one number.",
                got=", ".join([describe(v) for v in point.given]),
                fix="Pass the array that the function depends on.",
            )
        )
    dtype = np.result_type(*[dtype_of(v) for v in point.inputs])
    start = np.concatenate([np.reshape(v, -1) for v in point.inputs]).astype(dtype)
    tolerance = float(np.sqrt(np.finfo(dtype).eps)) if tolerance is None else tolerance
    if not tolerance >= 0:
        raise InputError(message("A tolerance is a number from 0 on.", got=describe(tolerance)))

    def of_vector(v: Any) -> Any:
        leaves, begin = [], 0
        for value, given, size in zip(point.inputs, point.given, point.sizes, strict=True):
            part = np.reshape(v[begin : begin + size], shape_of(value))
            leaves.append(part if shape_of(given) else part[()])
            begin += size
        return one_number(point.fun(point.rebuild(leaves)), "classify")

    value, gradient = value_and_grad(of_vector)(start)
    matrix = hessian(of_vector)(start)
    norm = float(np.linalg.norm(gradient))
    if not (np.all(np.isfinite(matrix)) and np.isfinite(norm)):
        nans = np.full(len(start), np.nan)
        why = "the derivatives are not finite"
        return Classification("undecided", why, float(value), nans, np.eye(len(start)), norm, np.nan, np.nan)
    eigenvalues, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    largest = float(np.max(np.abs(eigenvalues), initial=0.0))
    zero, flat = tolerance * largest, tolerance * largest * max(1.0, float(np.linalg.norm(start)))
    kind, why = _kind(eigenvalues, norm, zero, flat)
    if norm <= flat and _has_kink(of_vector, start, float(value), gradient, eigenvalues, vectors):
        kind, why = "undecided", "the function has a kink here: it does not go as its derivatives say"
    return Classification(kind, why, float(value), eigenvalues, vectors, norm, flat, zero)


def _kind(eigenvalues: np.ndarray, norm: float, zero: float, flat: float) -> tuple[str, str]:
    if norm > flat:
        return "undecided", "the gradient is not zero, so this is no stationary point"
    above, below = np.sum(eigenvalues > zero), np.sum(eigenvalues < -zero)
    if above and below:
        return "saddle", "eigenvalues of both signs"
    if above == len(eigenvalues):
        return "minimum", "all eigenvalues are positive"
    if below == len(eigenvalues):
        return "maximum", "all eigenvalues are negative"
    count = len(eigenvalues) - above - below
    return "undecided", f"{count} of {len(eigenvalues)} eigenvalues are zero, and higher derivatives decide"


def _has_kink(f: Any, x: np.ndarray, value: float, gradient: Any, eigenvalues: np.ndarray, vectors: Any) -> bool:
    """Whether the function leaves its quadratic otherwise than a smooth one does, on any side of any eigenvector.

    What it is off by, over the square of the step, falls with the step if the function is smooth. It stays where the
    second derivative is another one on that side, and grows where the slope or the value is; so does rounding,
    whence the bounds.
    """
    eps = float(np.finfo(x.dtype).eps)
    steps = np.array([1.0, 1.0 / 8.0, 1.0 / 64.0]) * eps**0.25 * max(1.0, float(np.max(np.abs(x))))
    largest, noise = float(np.max(np.abs(eigenvalues))), 1e3 * eps * abs(value)
    chosen = range(len(x)) if len(x) <= MANY else (0, len(x) - 1)
    for k in chosen:
        slope, bend = float(np.dot(gradient, vectors[:, k])), float(eigenvalues[k])
        for side in (-steps, steps):
            moved = np.array([float(f((x + h * vectors[:, k]).astype(x.dtype))) for h in side])
            off = np.abs(moved - (value + side * slope + 0.5 * side**2 * bend))
            if not np.all(np.isfinite(off)):
                return True
            sizes = off / steps**2
            is_torn = off[0] > noise and sizes[0] > 100.0 * largest and sizes[1] > 0.4 * sizes[0]
            is_even = off[2] > noise and all([0.4 * a < b < 2.5 * a for a, b in itertools.pairwise(sizes)])
            if is_torn or (is_even and sizes[0] > 0.1 * max(abs(bend), eps**0.5 * largest)):
                return True
    return False


MANY = 50
"""Up to how many directions are all looked along; beyond, those of the smallest and the largest eigenvalue."""


def one_number(value: Any, name: str) -> Any:
    """What the function returned, if it is one real number."""
    leaves = flatten(value)[0]
    if len(leaves) != 1 or leaves[0] is not value or shape_of(value) != () or dtype_of(value).kind != "f":
        raise OutputError(
            message(
                f"{name} needs a function that returns one real number.",
                got=describe(value),
                fix="Sum the result, or take its norm.",
            )
        )
    return value


def refuse_traced(leaves: list[Any], name: str) -> None:
    """What gives words cannot be part of a derivative, a batch or a program."""
    if any([isinstance(leaf, Traced) for leaf in leaves]):
        raise UnsupportedError(
            message(
                f"{name} decides on numbers, and takes no part in derivatives: not inside grad, vmap or jit.",
                fix=f"Call it outside; or at the plain value,  ad.{public_name(name)}(f, ad.value(x)).",
            )
        )
