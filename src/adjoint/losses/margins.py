"""Losses that look at the margin: by how much the true class is ahead."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Numbers, RealNumbers, checked
from ..typing import Array
from .checks import is_plain, same_shape
from .labels import classes_of, own_and_others
from .reduction import reduced


@checked("targets", "reduction")
def hinge(
    outputs: Numbers,
    targets: Any,
    *,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""What the margin lacks to 1: the loss of support-vector machines.

    .. math:: l(f, y) = \max(0, 1 - m), \qquad m = y f \quad\text{or}\quad m = z_y - \max_{k \ne y} z_k

    Parameters
    ----------
    outputs : array of any shape, or of shape (..., classes)
        Scores: one for each example, or one for each class.
    targets : array of the same shape, or array of integers of shape (...)
        -1 or 1 for each score, or a label from 0 to classes - 1 for each row of scores.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses of the examples.
    sample_weight : array of shape (n,), optional
        A weight for each example. A weighted mean divides by the sum of the weights.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` one for each example.

    Examples
    --------
    >>> from adjoint import losses
    >>> losses.hinge([2.0, 0.5, 0.5], [1, 1, -1], reduction="none")
    array([0. , 0.5, 1.5])
    >>> losses.hinge([[3.0, 1.0, 0.0], [3.0, 1.0, 0.0]], [0, 1], reduction="none")
    array([0., 3.])
    """
    return reduced(np.maximum(1.0 - _margins(outputs, targets, "hinge"), 0.0), reduction, sample_weight)


@checked("targets", "reduction")
def margin(
    outputs: Numbers,
    targets: Any,
    *,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""Minus the margin: negative where the prediction is right, the more the surer it is.

    .. math:: l(f, y) = -m, \qquad m = y f \quad\text{or}\quad m = z_y - \max_{k \ne y} z_k

    It has no lower bound: train on it only with a regulariser, or with outputs that have bounds.

    Parameters
    ----------
    outputs : array of any shape, or of shape (..., classes)
        Scores: one for each example, or one for each class.
    targets : array of the same shape, or array of integers of shape (...)
        -1 or 1 for each score, or a label from 0 to classes - 1 for each row of scores.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses of the examples.
    sample_weight : array of shape (n,), optional
        A weight for each example. A weighted mean divides by the sum of the weights.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` one for each example.

    Examples
    --------
    >>> from adjoint import losses
    >>> losses.margin([2.0, 0.5, 0.5], [1, 1, -1], reduction="none")
    array([-2. , -0.5,  0.5])
    """
    return reduced(-_margins(outputs, targets, "margin"), reduction, sample_weight)


@checked("targets", "reduction")
def zero_one(
    outputs: Numbers,
    targets: Any,
    *,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""1 where the prediction is wrong, else 0: its mean is the rate of errors, 1 - accuracy.

    It is for reports. Its derivative is 0 wherever it has one, so training on it would change nothing: asking for the
    derivative is an error.

    Parameters
    ----------
    outputs : array of any shape, or of shape (..., classes)
        Scores, of which the largest is the prediction; or one score for each example, above 0 for "yes".
    targets : array of integers of shape (...), one-hot of shape (..., classes), or of the shape of the outputs
        Labels from 0 to classes - 1 for rows of scores; for single scores 0 or 1, or -1 or 1. Rows of two axes or more
        that have the shape of the outputs are one-hot.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses of the examples.
    sample_weight : array of shape (n,), optional
        A weight for each example. A weighted mean divides by the sum of the weights.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` one for each example.

    Raises
    ------
    NotDifferentiableError
        If its derivative is asked for.

    Examples
    --------
    >>> from adjoint import losses
    >>> float(losses.zero_one([[3.0, 1.0], [3.0, 1.0], [0.0, 1.0], [0.0, 1.0]], [0, 1, 1, 1]))
    0.25
    """
    if np.ndim(targets) == np.ndim(outputs) and (np.ndim(outputs) < 2 or np.shape(outputs)[-1] == 1):
        scores, answers = same_shape(outputs, targets, "zero_one")
        return reduced(_signs_differ(scores, answers), reduction, sample_weight)
    scores, answers, are_labels = classes_of(outputs, targets, "zero_one")
    return reduced(
        _largest_differ(scores, answers if are_labels else np.argmax(answers, axis=-1)), reduction, sample_weight
    )


@ad.custom_rule
def _signs_differ(scores: Array, answers: Array) -> Any:
    return ((scores > 0) != (answers > 0)).astype(scores.dtype)


@ad.custom_rule
def _largest_differ(scores: Array, labels: Array) -> Any:
    return (np.argmax(scores, axis=-1) != labels).astype(scores.dtype)


@_signs_differ.def_vjp
@_largest_differ.def_vjp
def _refuse(primals: Any, out: Any, cotangent: Array) -> Any:
    raise ad.errors.NotDifferentiableError(
        ad.errors.message(
            "zero_one cannot be trained on: it is 0 or 1, so its derivative is 0 wherever it has one.",
            got=f"outputs of shape {primals[0].shape}",
            fix="Train on  losses.cross_entropy  or  losses.hinge,  and report zero_one:\n"
            "losses.zero_one(ad.stop_gradient(outputs), targets).",
        )
    )


def _margins(outputs: Array, targets: Array, loss: str) -> Any:
    """By how much the true class is ahead."""
    if np.shape(outputs) != np.shape(targets):
        own, others, _ = own_and_others(*classes_of(outputs, targets, loss))
        return own - np.max(others, axis=-1)
    f, y = same_shape(outputs, targets, loss)
    if is_plain(y) and y.size and not (np.abs(y) == 1).all():
        place = tuple(map(int, np.argwhere(np.abs(y) != 1)[0]))
        raise ValueError(
            ad.errors.message(
                f"{loss} needs targets -1 and 1, one for each score.",
                got=f"targets[{', '.join(map(str, place))}] = {float(y[place]):g}",
                fix="Of labels 0 and 1 take  2 * y - 1;  of one-hot rows  np.argmax(targets, axis=-1).",
            )
        )
    return f * y
