"""Negative logarithms of likelihoods: Gaussian with a given, learned or estimated sigma, Poisson; and KL divergence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Axis, Base, Bounds, Numbers, RealNumbers, checked
from ..typing import Array
from .checks import as_dtype, as_floats, refuse_negative, same_shape
from .classification import in_base
from .labels import classes_of
from .reduction import reduced, weights_of

HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


@checked("outputs", "targets", "reduction")
def gaussian(
    outputs: Numbers,
    targets: Any,
    *,
    sigma: Bounds | None = 1.0,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""Minus the logarithm of the density of the targets, normal around the outputs.

    .. math:: l(f, y) = \log \sigma + \tfrac12 \log 2\pi + \frac{(y - f)^2}{2 \sigma^2}

    For a given sigma it is the squared loss, but for constants. The sigma that fits best can be estimated after
    training (`estimate_sigma`), or learned, for each example another one, from further outputs of the model.

    Parameters
    ----------
    outputs : array, or pair of arrays
        The means. With `sigma=None` means and logarithms of sigma: a pair of arrays of the shape of the targets, or one
        array whose last axis has the means first, then as many logarithms: of shape (n, 2) for n targets, (n, 2 d) for
        targets of shape (n, d).
    targets : array
        What is observed, of the shape of the means.
    sigma : float or array or None, default 1.0
        The standard deviation, above 0; it may be a parameter that is trained. None: it is among the outputs.
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
    >>> import numpy as np
    >>> from adjoint import losses
    >>> round(float(losses.gaussian([1.0, 2.0], [1.5, 2.0], sigma=0.5)), 4)
    0.4758
    >>> outputs = np.array([[1.0, np.log(0.5)], [2.0, np.log(0.5)]])  # each with its own sigma
    >>> round(float(losses.gaussian(outputs, [1.5, 2.0], sigma=None)), 4)
    0.4758
    """
    if sigma is None:
        mean, log_sigma = _mean_and_log_sigma(outputs, targets)
        f, y = same_shape(mean, targets, "gaussian")
        log_sigma = as_dtype(log_sigma, f.dtype)
        losses = log_sigma + HALF_LOG_TAU + 0.5 * ((y - f) * np.exp(-log_sigma)) ** 2
        return reduced(losses, reduction, sample_weight)
    f, y = same_shape(outputs, targets, "gaussian")
    if isinstance(sigma, (int, float)) and not sigma > 0:
        raise ValueError(
            ad.errors.message(
                "sigma has to be above 0.", got=f"sigma={sigma!r}", fix="Write  sigma=None  if it is among the outputs."
            )
        )
    s = as_dtype(sigma, f.dtype)
    return reduced(np.log(s) + HALF_LOG_TAU + 0.5 * ((y - f) / s) ** 2, reduction, sample_weight)


def _mean_and_log_sigma(outputs: Array, targets: Array) -> tuple[Any, Any]:
    """The two halves of the outputs, each of the shape of the targets."""
    have: Any
    want = np.shape(targets)
    if isinstance(outputs, (tuple, list)):
        have = tuple(map(np.shape, outputs))
        if have == (want, want):
            return as_floats(outputs[0]), as_floats(outputs[1])
    else:
        outputs = as_floats(outputs)
        have = outputs.shape
    if have == (*want, 2):
        return outputs[..., 0], outputs[..., 1]
    if want and have == (*want[:-1], 2 * want[-1]):
        return outputs[..., : want[-1]], outputs[..., want[-1] :]
    wide = (*want[:-1], 2 * want[-1]) if len(want) > 1 else (*want, 2)
    raise ValueError(
        ad.errors.message(
            "gaussian with sigma=None needs a mean and a logarithm of sigma for each target.",
            got=f"outputs of shape {have} and targets of shape {want}",
            fix=f"Wanted outputs of shape {wide}, or a pair of arrays of shape {want}.",
        )
    )


@checked("targets")
def estimate_sigma(
    outputs: Numbers,
    targets: Any,
    *,
    axis: Axis | tuple[Axis, ...] | None = None,
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""The standard deviation under which the targets are likeliest, given the outputs of a trained model.

    .. math:: \hat\sigma^2 = \frac1n \sum_i (y_i - f_i)^2

    Parameters
    ----------
    outputs : array
        What the model predicts.
    targets : array of the same shape
        What is observed.
    axis : int or tuple of int, optional
        The axes to estimate over: 0 gives a sigma for each of several outputs. Default all, one sigma.
    sample_weight : array of shape (n,), optional
        A weight for each example.

    Returns
    -------
    number or array
        Sigma, whose square is the estimate of the variance.

    Examples
    --------
    >>> from adjoint import losses
    >>> float(losses.estimate_sigma([1.0, 2.0, 3.0, 4.0], [1.5, 1.5, 3.5, 3.5]))
    0.5
    """
    f, y = same_shape(outputs, targets, "estimate_sigma")
    if sample_weight is None:
        return np.sqrt(np.mean((y - f) ** 2, axis=axis))
    weight = np.broadcast_to(weights_of(f, sample_weight), f.shape)
    return np.sqrt(np.sum(weight * (y - f) ** 2, axis=axis) / np.sum(weight, axis=axis))


@checked("targets", "reduction")
def poisson(
    outputs: Numbers,
    targets: Any,
    *,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""Minus the logarithm of the probability of counts, from the logarithm of their rate.

    .. math:: l(f, y) = e^f - y f

    The term log y!, which does not depend on the outputs, is left out.

    Parameters
    ----------
    outputs : array
        Logarithms of rates.
    targets : array of the same shape
        Counts, at least 0.
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
    >>> import numpy as np, adjoint as ad
    >>> from adjoint import losses
    >>> ad.grad(losses.poisson)(np.log([3.0]), [5])  # rate minus count
    array([-2.])
    """
    f, y = same_shape(outputs, targets, "poisson")
    refuse_negative(y, "poisson")
    return reduced(np.exp(f) - y * f, reduction, sample_weight)


@checked("targets", "reduction")
def kl_divergence(
    outputs: Numbers,
    targets: Any,
    *,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
    base: Base = None,
) -> Any:
    r"""How far the probabilities of the logits are from given ones: cross-entropy minus the entropy of the targets.

    .. math:: l(z, t) = \sum_k t_k (\log t_k - \log p_k), \qquad p = \text{softmax}(z)

    Parameters
    ----------
    outputs : array of shape (..., classes)
        Logits.
    targets : array of shape (..., classes)
        Probabilities. 0 log 0 counts as 0.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses of the examples.
    sample_weight : array of shape (n,), optional
        A weight for each example. A weighted mean divides by the sum of the weights.
    base : float, optional
        The base of the logarithm: 2 gives bits. Default e.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` one for each example.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import losses
    >>> p, t = np.array([[0.25, 0.75]]), np.array([[0.5, 0.5]])
    >>> round(float(losses.kl_divergence(np.log(p), t)), 4)
    0.1438
    >>> round(float(losses.kl_divergence(np.log(t), t)), 4)
    0.0
    """
    z, t, are_labels = classes_of(outputs, targets, "kl_divergence")
    if are_labels:
        raise ValueError(
            ad.errors.message(
                "kl_divergence needs a probability for each class.",
                got=f"outputs of shape {z.shape} and targets of shape {t.shape}",
                fix="For labels it is  losses.cross_entropy.",
            )
        )
    shifted = z - ad.stop_gradient(np.max(z, axis=-1, keepdims=True))
    log_total = np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))
    known = t > 0
    logs = np.log(np.where(known, t, 1.0)) - (shifted - log_total)
    losses = np.sum(np.where(known, t * logs, 0.0), axis=-1)
    return reduced(in_base(losses, base), reduction, sample_weight)
