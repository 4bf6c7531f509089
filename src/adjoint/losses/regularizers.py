"""Regularisers and priors: functions of a model's parameters that are added to its loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Count, Finite, Patterns, checked, fitting
from ..typing import Array, Tree

HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
Regularizer = Callable[[Any], Any]


@checked()
def l2(strength: Finite, *, only: Patterns = "*") -> Regularizer:
    r"""The sum of the squares of the parameters, times a strength.

    .. math:: R(w) = \lambda \sum_i w_i^2

    The gradient is 2 lambda w, so a `weight_decay` of other libraries is twice this strength. Added to a *mean* of n
    squared errors it is ridge regression with alpha = n lambda; added to their sum, with alpha = lambda.

    Parameters
    ----------
    strength : float
        The factor lambda, at least 0.
    only : str or sequence of str, default "*"
        Patterns of the names of the parameters that count: `"*weight"` leaves biases out, `"matrices"` all with fewer
        than two axes.

    Returns
    -------
    callable
        A function of parameters, a dict of arrays by name or any other containers, that returns a number.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import losses
    >>> penalty = losses.l2(0.1, only="*weight")
    >>> float(penalty({"layers.0.weight": np.array([1.0, 2.0]), "layers.0.bias": np.array([3.0])}))
    0.5
    """
    _check(strength, "strength")
    return lambda parameters: strength * _total(_squares, parameters, only)


@checked()
def l1(strength: Finite, *, only: Patterns = "*") -> Regularizer:
    r"""The sum of the sizes of the parameters, times a strength: it moves small ones to 0.

    .. math:: R(w) = \lambda \sum_i |w_i|

    At 0 the derivative is taken to be 0.

    Parameters
    ----------
    strength : float
        The factor lambda, at least 0.
    only : str or sequence of str, default "*"
        Patterns of the names of the parameters that count: `"*weight"` leaves biases out, `"matrices"` all with fewer
        than two axes.

    Returns
    -------
    callable
        A function of parameters, a dict of arrays by name or any other containers, that returns a number.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import losses
    >>> float(losses.l1(0.1)({"w": np.array([1.0, -2.0])})).__round__(6)
    0.3
    """
    _check(strength, "strength")
    return lambda parameters: strength * _total(_sizes, parameters, only)


@checked()
def elastic(l1: Finite, l2: Finite, *, only: Patterns = "*") -> Regularizer:
    r"""Both: sizes and squares of the parameters, each times its strength.

    .. math:: R(w) = \lambda_1 \sum_i |w_i| + \lambda_2 \sum_i w_i^2

    scikit-learn's `ElasticNet(alpha, l1_ratio)` has l1 = 2 alpha l1_ratio and l2 = alpha (1 - l1_ratio) beside the mean
    of squared errors.

    Parameters
    ----------
    l1 : float
        The strength of the sizes, at least 0.
    l2 : float
        The strength of the squares, at least 0.
    only : str or sequence of str, default "*"
        Patterns of the names of the parameters that count: `"*weight"` leaves biases out, `"matrices"` all with fewer
        than two axes.

    Returns
    -------
    callable
        A function of parameters, a dict of arrays by name or any other containers, that returns a number.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import losses
    >>> float(losses.elastic(0.5, 0.25)({"w": np.array([1.0, -2.0])}))
    2.75
    """
    _check(l1, "l1")
    _check(l2, "l2")
    return lambda parameters: l1 * _total(_sizes, parameters, only) + l2 * _total(_squares, parameters, only)


@checked()
def gaussian_prior(sigma: Finite, *, n: Count = 1, only: Patterns = "*") -> Regularizer:
    r"""Minus the logarithm of a normal density of the parameters around 0, over n.

    .. math:: -\tfrac1n \log p(w) = \tfrac1n \sum_i \left(\frac{w_i^2}{2 \sigma^2} + \log \sigma
        + \tfrac12 \log 2\pi\right)

    Minus the logarithm of the posterior is the *sum* of the losses of n examples plus this with n = 1; divided by n,
    the *mean* loss plus this with their number as `n`. But for a constant it is `l2(1 / (2 * n * sigma**2))`.

    Parameters
    ----------
    sigma : float
        The standard deviation of each parameter, above 0.
    n : int, default 1
        The number of examples, if it is added to a mean over them.
    only : str or sequence of str, default "*"
        Patterns of the names of the parameters that count: `"*weight"` leaves biases out, `"matrices"` all with fewer
        than two axes.

    Returns
    -------
    callable
        A function of parameters, a dict of arrays by name or any other containers, that returns a number.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import losses
    >>> round(float(losses.gaussian_prior(1.0)({"w": np.zeros(1)})), 4)  # log(2 pi) / 2
    0.9189
    """
    _check(sigma, "sigma", above=True)
    _check(n, "n", above=True)

    def prior(parameters: Tree) -> Any:
        count = _total(np.size, parameters, only)
        return (_total(_squares, parameters, only) / (2 * sigma**2) + count * (_log(sigma) + HALF_LOG_TAU)) / n

    return prior


@checked()
def laplace_prior(b: Finite, *, n: Count = 1, only: Patterns = "*") -> Regularizer:
    r"""Minus the logarithm of a Laplace density of the parameters around 0, over n.

    .. math:: -\tfrac1n \log p(w) = \tfrac1n \sum_i \left(\frac{|w_i|}{b} + \log 2 b\right)

    But for a constant it is `l1(1 / (n * b))`.

    Parameters
    ----------
    b : float
        The mean size of each parameter, above 0.
    n : int, default 1
        The number of examples, if it is added to a mean over them.
    only : str or sequence of str, default "*"
        Patterns of the names of the parameters that count: `"*weight"` leaves biases out, `"matrices"` all with fewer
        than two axes.

    Returns
    -------
    callable
        A function of parameters, a dict of arrays by name or any other containers, that returns a number.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import losses
    >>> round(float(losses.laplace_prior(0.5)({"w": np.array([1.0, -1.0])})), 4)
    4.0
    """
    _check(b, "b", above=True)
    _check(n, "n", above=True)

    def prior(parameters: Tree) -> Any:
        return (_total(_sizes, parameters, only) / b + _total(np.size, parameters, only) * _log(2 * b)) / n

    return prior


def _squares(w: Array) -> Any:
    return np.sum(w * w)


def _sizes(w: Array) -> Any:
    return np.sum(np.abs(w))


def _log(x: Array) -> Any:
    """Of a Python number one of Python's, which leaves single precision single."""
    return math.log(x) if isinstance(x, (int, float)) else np.log(x)


def _check(number: Any, name: str, above: bool = False) -> None:
    """Raise if a plain number is negative or nan; or 0, if it has to be above."""
    if isinstance(number, (int, float)) and not (number > 0 if above else number >= 0):
        raise ValueError(
            ad.errors.message(
                f"{name} has to be {'above' if above else 'at least'} 0.",
                got=f"{name}={number!r}",
                fix="A wide prior hardly counts." if above else "0 switches it off.",
            )
        )


def _total(term: Callable[[Any], Any], parameters: Tree, only: Patterns) -> Any:
    """The sum of a term over the parameters that count."""
    first, *rest = [term(w) for w in _chosen(parameters, only)]
    return sum(rest, start=first)


def _chosen(parameters: Tree, only: Patterns) -> list[Any]:
    """The parameters whose names fit a pattern; each pattern has to fit one."""
    if len(only) == 0:  # also of an array, which has no truth
        raise ValueError(ad.errors.message("only= has to have a pattern at least.", got=f"only = {only!r}"))
    names, leaves = ad.tree.paths(parameters), ad.tree.leaves(parameters)
    fits, missing = fitting(only, names, leaves)
    if missing is not None:
        close = get_close_matches(missing, names, n=3, cutoff=0.0)
        raise ValueError(
            ad.errors.message(
                "A pattern in only= fits no parameter.",
                got=f"only={missing!r}",
                fix=f"Names are as in  {', '.join(close)}." if close else "There are no parameters.",
            )
        )
    return [leaf for leaf, it in zip(leaves, fits, strict=True) if it]
