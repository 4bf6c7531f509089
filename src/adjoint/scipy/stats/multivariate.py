"""Distributions of vectors and matrices: SciPy's formulas, but for what it finds from eigenvectors or with BLAS.

The density of the normal distribution needs the inverse and the determinant of a covariance, which are smooth, also
where eigenvalues coincide and eigenvectors are not.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc
import scipy.stats
from scipy.stats import _kde, _multivariate

from ...core.errors import UnsupportedError, message
from ...core.traced import LOCAL, Traced
from ...core.values import contents, shape_of
from ...numpy.dispatch.arguments import holds_differentiated, holds_traced
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.imported import adopt
from ...numpy.patching.replacements import Answer, divert, set_attribute
from .samples import sampled


def install() -> None:
    """Take over traced arguments."""
    _take(_multivariate._PSD, "__init__", square_root)
    _take(_multivariate.wishart_gen, "_cholesky_logdet", cholesky)
    _take(_multivariate.wishart_gen, "_logpdf", wishart)
    _take(_multivariate.invwishart_gen, "_logpdf", inverse_wishart)
    _take(_multivariate.dirichlet_multinomial_gen, "logpmf", in_batches_of_whole(dirichlet_multinomial))
    taken = {(_multivariate.dirichlet_multinomial_gen, "logpmf")}
    if hasattr(_multivariate, "normal_inverse_gamma_gen"):
        for name in ("logpdf", "pdf"):
            _take(_multivariate.normal_inverse_gamma_gen, name, functools.partial(one_more_axis, name))
            taken.add((_multivariate.normal_inverse_gamma_gen, name))
    for kind in _distributions():
        for name in ("cdf", "logcdf", "rvs", "fit"):
            if name in vars(kind):
                _take(kind, name, functools.partial(not_differentiated, name))
        for name in OF_NUMBERS:
            if name in vars(kind) and (kind, name) not in taken:
                _take(
                    kind, name, functools.partial(sampled, f"scipy.stats.{kind.__name__.removesuffix('_gen')}.{name}")
                )
    adopt_density_estimates()


OF_NUMBERS = ("logpdf", "pdf", "logpmf", "pmf", "entropy", "mean", "mode", "var", "cov")
"""Methods whose own code takes traced values, but decides on them; in a batch for each example."""


def in_batches_of_whole(ours: Callable[..., Any]) -> Callable[..., Any]:
    """Ours, for one example after the other where it decides on values."""

    def call(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return sampled(f"scipy.stats.{ours.__name__}", functools.partial(ours, original), *args, **kwargs)

    return call


def _distributions() -> set[type]:
    base = _multivariate.multi_rv_generic
    return {type(x) for x in vars(scipy.stats).values() if isinstance(x, base)}


def _take(owner: Any, name: str, ours: Callable[..., Any]) -> None:
    def chosen(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        traced = holds_traced(args) or holds_traced(kwargs.values())
        return ours(original, *args, **kwargs) if traced else original(*args, **kwargs)

    function = vars(owner)[name]
    divert(getattr(function, "__func__", function), Answer(ours=chosen, calls_back=True), f"scipy.stats.{name}")


def square_root(original: Callable[..., Any], self: Any, M: Any, *args: Any, **kwargs: Any) -> None:
    """A root of the inverse of a covariance, by Cholesky's method; SciPy's own one, for the values, checks it."""
    depth, LOCAL.depth = LOCAL.depth, 0
    try:
        ranks = []
        for example in np.reshape(contents(M), (-1, *shape_of(M))):  # one, or those of a batch
            original(self, example, *args, **kwargs)
            ranks.append(self.rank)
    finally:
        LOCAL.depth = depth
    if min(ranks, default=len(M)) < len(M):
        raise UnsupportedError(
            message(
                "A singular covariance of scipy.stats is not differentiated: its rank would change.",
                fix="Add a small multiple of the identity, as in  cov + 1e-9 * np.eye(n).",
            )
        )
    symmetric = 0.5 * (M + np.swapaxes(M, -1, -2))
    root = np.linalg.cholesky(symmetric)
    self._M = M
    self.U = np.transpose(np.linalg.inv(root))
    self.log_pdet = 2.0 * np.sum(np.log(np.diagonal(root)))
    self._pinv = None


def cholesky(original: Callable[..., Any], self: Any, scale: Any) -> tuple[Any, Any]:
    """Cholesky's factor, and the logarithm of the determinant."""
    factor = np.linalg.cholesky(0.5 * (scale + np.transpose(scale)))
    return factor, 2.0 * np.sum(np.log(np.diagonal(factor)))


def _stack(x: Any) -> Any:
    """Matrices along the first axis; SciPy has them along the last one."""
    x = np.moveaxis(x, -1, 0)
    return 0.5 * (x + np.swapaxes(x, -1, -2))


def wishart(
    original: Callable[..., Any], self: Any, x: Any, dim: int, df: Any, scale: Any, log_det_scale: Any, C: Any
) -> Any:
    """The logarithm of Wishart's density."""
    x = _stack(x)
    trace = np.trace(np.linalg.solve(C @ np.transpose(C), x), axis1=-2, axis2=-1)
    constant = 0.5 * df * (dim * math.log(2.0) + log_det_scale) + sc.multigammaln(0.5 * df, dim)
    return 0.5 * (df - dim - 1) * np.linalg.slogdet(x)[1] - 0.5 * trace - constant


def inverse_wishart(
    original: Callable[..., Any], self: Any, x: Any, dim: int, df: Any, log_det_scale: Any, C: Any
) -> Any:
    """The logarithm of the density of the inverse."""
    x = _stack(x)
    trace = np.trace(np.linalg.solve(x, C @ np.transpose(C)), axis1=-2, axis2=-1)
    constant = 0.5 * df * (dim * math.log(2.0) - log_det_scale) + sc.multigammaln(0.5 * df, dim)
    return -0.5 * trace - 0.5 * (df + dim + 1) * np.linalg.slogdet(x)[1] - constant


def dirichlet_multinomial(original: Callable[..., Any], self: Any, x: Any, alpha: Any, n: Any) -> Any:
    """The logarithm of the probability."""
    a, total, n, x = _multivariate._dirichlet_multinomial_check_parameters(alpha, n, x)
    found = sc.gammaln(total) + sc.gammaln(n + 1) - sc.gammaln(n + total)
    found = found + np.sum(sc.gammaln(x + a) - (sc.gammaln(a) + sc.gammaln(x + 1)), axis=-1)
    return np.where(np.equal(n, np.sum(x, axis=-1)), found, -np.inf)


def one_more_axis(name: str, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """SciPy assigns to elements of its result, which has to be an array: one axis of length 1 in front."""
    shape = np.broadcast_shapes(*[np.shape(a) for a in (*args, *kwargs.values())])
    if shape:
        return original(self, *args, **kwargs)
    words = {word: np.reshape(a, (1,)) for word, a in kwargs.items()}
    return original(self, *[np.reshape(a, (1,)) for a in args], **words)[0]


FIXES = {
    "cdf": "Write it as an integral, or for independent components as a product of  scipy.stats.norm.cdf.",
    "rvs": "Draw standard numbers and transform them, as in  mean + np.linalg.cholesky(cov) @ z,  or use  ad.random.",
    "fit": "Minimise  -np.sum(logpdf)  with  ad.optim.minimize.",
}


def not_differentiated(name: str, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """What has no rule: integrals over regions in space, draws."""
    title = f"scipy.stats.{type(self).__name__.removesuffix('_gen')}.{name}"
    if not holds_differentiated((*args, *kwargs.values())):
        return as_constant(title, functools.partial(original, self), args, kwargs)
    raise UnsupportedError(message(f"{title} is not differentiated.", fix=FIXES.get(name, FIXES["cdf"])))


def adopt_density_estimates() -> None:
    """`gaussian_kde`: its sums over the data are compiled, all else is NumPy's code."""
    from ...host.frames.ownership import NUMPY_CODE

    NUMPY_CODE.add(_kde.__name__)
    adopt(vars(_kde))
    _take_object(_kde.gaussian_kde, "evaluate", lambda self, points: np.exp(_log_density(self, points)))
    set_attribute(_kde.gaussian_kde, "__call__", _kde.gaussian_kde.evaluate)
    _take_object(_kde.gaussian_kde, "logpdf", _log_density)


def _take_object(owner: Any, name: str, ours: Callable[..., Any]) -> None:
    """A method whose object may hold traced values."""

    def chosen(original: Callable[..., Any], self: Any, x: Any) -> Any:
        if isinstance(x, Traced) or holds_traced([x]) or any([isinstance(v, Traced) for v in vars(self).values()]):
            return ours(self, x)
        return original(self, x)

    divert(vars(owner)[name], Answer(ours=chosen, calls_back=True), f"scipy.stats.gaussian_kde.{name}")


def _log_density(self: Any, x: Any) -> Any:
    """The logarithm of the sum of kernels."""
    points = np.atleast_2d(np.asarray(x))
    d, m = np.shape(points)
    if d != self.d:
        if d != 1 or m != self.d:
            raise ValueError(f"points have dimension {d}, dataset has dimension {self.d}")
        points = np.reshape(points, (self.d, 1))
    white, centres = np.linalg.solve(self.cho_cov, points), np.linalg.solve(self.cho_cov, self.dataset)
    away = np.sum((white[:, :, None] - centres[:, None, :]) ** 2, axis=0)
    size = np.sum(np.log(np.diagonal(self.cho_cov))) + 0.5 * self.d * math.log(2.0 * math.pi)
    return sc.logsumexp(np.log(self.weights) - 0.5 * away, axis=1) - size
