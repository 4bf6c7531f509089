"""Losses of classifiers with one output for two classes, or with several questions of yes or no."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Base, Fraction, RealNumbers, checked
from ..typing import Array
from .checks import as_dtype, check_share, check_weights, is_plain, same_shape
from .classification import in_base
from .reduction import reduced


@checked("targets", "reduction", "class_weight")
def binary_cross_entropy(
    outputs: RealNumbers,
    targets: Any,
    *,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
    class_weight: RealNumbers | None = None,
    label_smoothing: Fraction = 0.0,
    base: Base = None,
) -> Any:
    r"""Minus the logarithm of the probability of the true answer, from the logit of "yes".

    .. math:: l(z, t) = -t \log \sigma(z) - (1 - t) \log(1 - \sigma(z)) = \log(1 + e^z) - t z

    Parameters
    ----------
    outputs : array
        Logits: what a model gives before the sigmoid.
    targets : array of the same shape
        0 or 1, or probabilities between them. Arrays of other shapes are refused, not broadcast.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses of the examples.
    sample_weight : array of shape (n,), optional
        A weight for each example. A weighted mean divides by the sum of the weights.
    class_weight : pair of floats, optional
        The weights of 0 and of 1, multiplied with the weight of the example.
    label_smoothing : float, default 0.0
        How far targets are moved towards 1/2: 0.1 makes 0.05 of 0, and 0.95 of 1.
    base : float, optional
        The base of the logarithm: 2 gives bits. Default e.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` one for each example.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> from adjoint import losses
    >>> losses.binary_cross_entropy(np.array([0.0, 1e4, -1e4]), [1, 1, 1], reduction="none")
    array([6.93147181e-01, 0.00000000e+00, 1.00000000e+04])
    >>> ad.grad(losses.binary_cross_entropy)(np.array([0.0]), [1])  # sigmoid minus target
    array([-0.5])
    """
    z, answers = binary_targets(outputs, targets, "binary_cross_entropy")
    t, count = _smoothed(answers, label_smoothing), None
    if class_weight is None:
        # of the two forms log(1 + e^z) - t z and log(1 + e^-z) + (1 - t) z, the one in which nothing cancels
        is_one = t > 0.5
        against = np.where(is_one, -z, z)
        losses = np.logaddexp(0.0, against) - np.where(is_one, 1.0 - t, t) * against
    else:
        zero, one = pair(class_weight, z)
        losses = zero * (1.0 - t) * np.logaddexp(0.0, z) + one * t * np.logaddexp(0.0, -z)
        count = zero * (1.0 - answers) + one * answers  # of what was given, as in cross_entropy
    return reduced(in_base(losses, base), reduction, sample_weight, count=count)


def binary_targets(outputs: Array, targets: Array, loss: str) -> tuple[Any, Any]:
    """Logits and targets between 0 and 1."""
    z, t = same_shape(outputs, targets, loss)
    if is_plain(t) and t.size and not (t.min() >= 0 and t.max() <= 1):
        place = tuple(map(int, np.argwhere((t < 0) | (t > 1))[0]))
        raise ValueError(
            ad.errors.message(
                f"{loss} needs targets from 0 to 1.",
                got=f"targets[{', '.join(map(str, place))}] = {float(t[place]):g}",
                fix="Of labels -1 and 1 take  (y + 1) / 2;  for more than two classes there is  losses.cross_entropy.",
            )
        )
    return z, t


def _smoothed(targets: Array, share: float) -> Any:
    """Targets moved towards 1/2."""
    if not share:
        return targets
    check_share(share, "label_smoothing")
    return (1 - share) * targets + 0.5 * share


def pair(class_weight: Any, logits: Array) -> tuple[Any, Any]:
    """The weights of 0 and 1."""
    weights = as_dtype(class_weight, logits.dtype)
    if weights.shape != (2,):
        raise ValueError(
            ad.errors.message(
                "class_weight needs two weights, of 0 and of 1.",
                got=f"class_weight of shape {weights.shape}",
                fix="Write  class_weight=(1.0, 3.0)  if a 1 counts as three examples.",
            )
        )
    check_weights(class_weight, "class_weight")
    return weights[0], weights[1]
