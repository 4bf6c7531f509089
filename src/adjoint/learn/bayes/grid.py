"""A posterior of one or two parameters on a grid: everything by sums, nothing approximated but by the grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

import adjoint as ad

from ..labels import Array


@dataclass(frozen=True)
class PosteriorGrid:
    """Probabilities of the points of a grid.

    Attributes
    ----------
    axes : dict of str to array
        The values of each parameter.
    probability : array, an axis for each parameter
        Of each point; they sum to one.
    density : array
        The probability over the size of the point's cell; its maximum is the mode.
    log_evidence : float
        The logarithm of the integral of likelihood times prior: what divides in Bayes' theorem.
    """

    axes: dict[str, Array]
    probability: Array
    density: Array
    log_evidence: float

    @property
    def mean(self) -> dict[str, float]:
        """The mean of each parameter."""
        return {name: float(np.sum(self._along(name) * self.probability)) for name in self.axes}

    @property
    def std(self) -> dict[str, float]:
        """The standard deviation of each parameter."""
        mean = self.mean
        square = {name: np.sum((self._along(name) - mean[name]) ** 2 * self.probability) for name in self.axes}
        return {name: float(np.sqrt(value)) for name, value in square.items()}

    @property
    def mode(self) -> dict[str, float]:
        """The point of greatest density: the maximum a posteriori, up to the step of the grid."""
        best = np.unravel_index(np.argmax(self.density), self.density.shape)
        return {name: float(values[k]) for (name, values), k in zip(self.axes.items(), best, strict=True)}

    def marginal(self, name: str) -> PosteriorGrid:
        """The posterior of one parameter, whatever the other one is."""
        others = tuple(k for k, each in enumerate(self.axes) if each != name)
        probability = np.sum(self.probability, axis=others)
        values = self.axes[name]
        return PosteriorGrid({name: values}, probability, probability / cells(values), self.log_evidence)

    def credible(self, mass: float = 0.9) -> Array:
        """The smallest set of points with this probability, by highest density: True where a point is in it."""
        if not 0.0 < mass < 1.0:
            raise ValueError(f"mass has to be a float in the range (0.0, 1.0), got {mass!r}.")
        order = np.argsort(-self.density, axis=None, kind="stable")
        sums = np.cumsum(self.probability.ravel()[order])
        inside = np.zeros(self.probability.size, dtype=bool)
        inside[order[: int(np.searchsorted(sums, mass)) + 1]] = True
        return inside.reshape(self.probability.shape)

    def interval(self, name: str | None = None, mass: float = 0.9) -> tuple[float, float]:
        """The ends of the credible set of one parameter."""
        only = self.marginal(next(iter(self.axes)) if name is None else name)
        values = next(iter(only.axes.values()))[only.credible(mass)]
        return float(values[0]), float(values[-1])

    def predictive(self, function: Callable[..., Any]) -> Array:
        """The mean of a function of the parameters, as p(y | x, w): an average over all models, not the best one."""
        values = np.asarray(_on_grid(function, self.axes))
        return np.tensordot(self.probability.ravel(), values, axes=1)

    def plot(self, ax: Any = None, *, mass: float = 0.9) -> Any:
        """Draw the density with its mode and its credible set, and return the axes of matplotlib."""
        if ax is None:
            from matplotlib import pyplot  # needed for pictures alone

            ax = pyplot.subplots(layout="constrained")[1]
        (name, values), *rest = self.axes.items()
        ax.set_xlabel(name)
        if not rest:
            ax.plot(values, self.density)
            ax.fill_between(
                values, self.density, where=list(self.credible(mass)), alpha=0.3, label=f"{mass:.0%} credible"
            )
            ax.axvline(self.mode[name], linestyle="--", label="mode")
            ax.set_ylabel("density")
        else:
            other, others = rest[0]
            ax.contourf(values, others, self.density.T, levels=12, cmap="Blues")
            ax.contour(values, others, self.credible(mass).T.astype(float), levels=[0.5], colors="black")
            ax.plot(self.mode[name], self.mode[other], "k+", label="mode")
            ax.set_ylabel(other)
        ax.legend()
        return ax

    def _along(self, name: str) -> Array:
        """The values of a parameter, in the shape of the grid."""
        shape = [-1 if each == name else 1 for each in self.axes]
        return self.axes[name].reshape(shape)


def posterior_grid(
    log_likelihood: Callable[..., Any], log_prior: Callable[..., Any] | None, grid: Mapping[str, Any]
) -> PosteriorGrid:
    """The posterior of one or two parameters, on a grid: likelihood times prior, divided by the evidence.

    Parameters
    ----------
    log_likelihood : callable
        A function of the parameters, in the order of `grid`, that gives the logarithm of the likelihood of all data.
    log_prior : callable or None
        The logarithm of the prior density, of the same parameters; None is a flat one, of density 1.
    grid : dict of str to array
        The values of each parameter, increasing.

    Returns
    -------
    PosteriorGrid
        With `probability`, `density`, `mean`, `std`, `mode`, `marginal`, `credible`, `interval`, `predictive`, `plot`.

    Examples
    --------
    Seven heads in ten throws, and a flat prior: the mode is 7/10, the mean 8/12, the evidence 1/11 of the 120 orders.

    >>> def heads(p):
    ...     return 7 * np.log(p) + 3 * np.log1p(-p)
    >>> coin = posterior_grid(heads, None, {"p": np.linspace(0.0005, 0.9995, 1000)})
    >>> round(coin.mode["p"], 2), round(coin.mean["p"], 3), round(float(120 * np.exp(coin.log_evidence)), 4)
    (0.7, 0.667, 0.0909)
    """
    axes = {name: np.asarray(values, dtype=np.float64) for name, values in grid.items()}
    if not 1 <= len(axes) <= 2:
        raise ValueError(f"posterior_grid takes one or two parameters, got {len(axes)}.")
    for name, values in axes.items():
        if values.ndim != 1 or len(values) < 2 or not np.all(np.diff(values) > 0.0):
            raise ValueError(f"posterior_grid needs increasing values, at least two; those of {name!r} are not.")
    shape = tuple(map(len, axes.values()))
    logs = np.asarray(_on_grid(log_likelihood, axes), dtype=np.float64)
    if log_prior is not None:
        logs = logs + np.asarray(_on_grid(log_prior, axes), dtype=np.float64)
    if logs.shape != (np.prod(shape),):
        raise ValueError(f"log_likelihood and log_prior have to give one number, got the shape {logs.shape[1:]}.")
    if np.any(np.isnan(logs)) or np.all(np.isneginf(logs)):
        raise ValueError("log_likelihood + log_prior is nan at a point of the grid, or -inf everywhere.")
    weighted = logs.reshape(shape) + sum(np.log(each) for each in np.ix_(*map(cells, axes.values())))
    log_evidence = float(logsumexp(weighted))
    probability = np.exp(weighted - log_evidence)
    return PosteriorGrid(axes, probability, np.exp(logs.reshape(shape) - log_evidence), log_evidence)


def cells(values: Array) -> Array:
    """The length that each point stands for: half way to its neighbours."""
    steps = np.diff(values)
    return 0.5 * (np.append(steps, 0.0) + np.append(0.0, steps))


def _on_grid(function: Callable[..., Any], axes: dict[str, Array]) -> Any:
    """A function of the parameters at all points, one axis for these."""
    points = [each.ravel() for each in np.meshgrid(*axes.values(), indexing="ij")]
    return ad.vmap(function)(*points)
