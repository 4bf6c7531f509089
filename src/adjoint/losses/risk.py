"""Empirical risk: the loss of a model on data; and how much larger it is on data that were not trained on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arguments import Tree, checked


@checked("X", "y")
def empirical_risk(model: Callable[[Any], Any], loss: Callable[..., Any], X: Tree, y: Tree) -> Any:
    r"""The mean loss of a model on data.

    .. math:: \hat R(f) = \frac1n \sum_i l(f(x_i), y_i)

    Parameters
    ----------
    model : callable
        Gives outputs for inputs.
    loss : callable
        `loss(outputs, targets)`, a mean over examples.
    X : array or containers of arrays
        The inputs.
    y : array or containers of arrays
        The targets.

    Returns
    -------
    number
        The risk.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import losses
    >>> float(losses.empirical_risk(lambda x: 2 * x, losses.squared, np.array([1.0, 2.0]), np.array([2.0, 5.0])))
    0.5
    """
    return loss(model(X), y)


@checked()
def generalization_gap(
    model: Callable[[Any], Any], loss: Callable[..., Any], train: tuple[Any, Any], test: tuple[Any, Any]
) -> Any:
    """By how much the risk on new data exceeds the risk on the data of the training.

    Parameters
    ----------
    model : callable
        Gives outputs for inputs.
    loss : callable
        `loss(outputs, targets)`, a mean over examples.
    train : pair (X, y)
        What the model was trained on.
    test : pair (X, y)
        What it was not.

    Returns
    -------
    number
        Risk on `test` minus risk on `train`.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import losses
    >>> train, test = (np.array([1.0]), np.array([2.0])), (np.array([2.0]), np.array([5.0]))
    >>> float(losses.generalization_gap(lambda x: 2 * x, losses.squared, train, test))
    1.0
    """
    return empirical_risk(model, loss, *test) - empirical_risk(model, loss, *train)
