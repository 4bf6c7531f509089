"""SciPy's generic methods, which integrate and search for roots: with traced arguments, steps with rules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import _distn_infrastructure as infrastructure

from ...numpy.patching.replacements import Answer, divert
from ...ops.shape import stopped
from . import numerical
from .elements import apply_where


def install() -> None:
    """Take over traced arguments in the methods of SciPy's base classes."""
    for name in ("_cdf", "_entropy", "_logcdf", "_logsf"):
        taken(infrastructure.rv_continuous, name, OURS[name])
    for name in ("_ppf", "_munp"):
        taken(infrastructure.rv_generic, name, OURS[name])


def taken(owner: Any, name: str, ours: Callable[..., Any]) -> None:
    """Let a SciPy method hand traced arguments to ours, which gets a plain version of it first."""
    function = vars(owner)[name]
    plain: list[Callable[..., Any]] = []

    def chosen(*args: Any, **kwargs: Any) -> Any:
        return ours(plain[0], *args, **kwargs)

    divert(function, Answer(ours=chosen, in_parts=True), f"scipy.stats.{name.lstrip('_')}")
    plain.append(_original(function))


def _original(function: Any) -> Callable[..., Any]:
    """What a diverted function does without traced values."""
    return function.__kwdefaults__["_chosen"].args[0]  # type: ignore[no-any-return]


def cdf(plain: Callable[..., Any], self: Any, x: Any, *shapes: Any) -> Any:
    """The integral of the density."""
    return numerical.integrated(self, functools.partial(plain, self))(x, *shapes)


def ppf(plain: Callable[..., Any], self: Any, q: Any, *shapes: Any) -> Any:
    """The root of the distribution function; of a discrete one constant in pieces."""
    if isinstance(self, infrastructure.rv_discrete):
        return numerical.step(f"{self.name}.ppf", functools.partial(plain, self), lambda t, out, args: 0.0 * out)(
            stopped(q), *[stopped(s) for s in shapes]
        )
    return numerical.solved(self, functools.partial(plain, self))(q, *shapes)


def sf(plain: Callable[..., Any], self: Any, x: Any, *shapes: Any) -> Any:
    """The integral of the density, from the other side."""
    return numerical.integrated(self, functools.partial(plain, self), upper=True)(x, *shapes)


def isf(plain: Callable[..., Any], self: Any, q: Any, *shapes: Any) -> Any:
    """The root of the survival function."""
    return numerical.solved(self, functools.partial(plain, self), upper=True)(q, *shapes)


def entropy(plain: Callable[..., Any], self: Any, *shapes: Any) -> Any:
    """The mean of minus the logarithm of the density."""

    def integrand(t: Any, *p: Any) -> Any:
        density = self._pdf(t, *p)
        inside = density > 0
        return np.where(inside, -density * np.log(np.where(inside, density, 1.0)), 0.0)

    value = np.vectorize(functools.partial(plain, self), otypes="d")
    return numerical.whole(self, "entropy", value, integrand)(*shapes)


def moment(plain: Callable[..., Any], self: Any, n: Any, *shapes: Any) -> Any:
    """The mean of a power."""
    value = functools.partial(plain, self, n)
    return numerical.whole(self, "moment", value, lambda t, *p: t**n * self._pdf(t, *p))(*shapes)


def _median(self: Any, shapes: Any) -> Any:
    return stopped(self._ppf(0.5, *[stopped(s) for s in shapes]))


def logcdf(plain: Callable[..., Any], self: Any, x: Any, *shapes: Any) -> Any:
    """Below the median by the distribution function, above it by the survival function."""
    return apply_where(
        x < _median(self, shapes),
        (x, *shapes),
        lambda x, *p: np.log(self._cdf(x, *p)),
        lambda x, *p: np.log1p(-self._sf(x, *p)),
    )


def logsf(plain: Callable[..., Any], self: Any, x: Any, *shapes: Any) -> Any:
    """Above the median by the survival function, below it by the distribution function."""
    return apply_where(
        x > _median(self, shapes),
        (x, *shapes),
        lambda x, *p: np.log(self._sf(x, *p)),
        lambda x, *p: np.log1p(-self._cdf(x, *p)),
    )


OURS: dict[str, Callable[..., Any]] = {
    "_cdf": cdf, "_sf": sf, "_ppf": ppf, "_isf": isf, "_entropy": entropy, "_munp": moment, "_logcdf": logcdf,
    "_logsf": logsf,
}  # fmt: skip
"""What stands for a method that integrates or searches, by its name."""
