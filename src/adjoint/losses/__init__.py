"""Losses as plain NumPy functions of outputs and targets: stable from logits, with weights, of any dtype.

>>> import numpy as np, adjoint as ad
>>> from adjoint import losses
>>> logits = np.log([[0.2, 0.5, 0.3]])
>>> round(float(losses.cross_entropy(logits, [1], base=2)), 6)
1.0
"""

import adjoint as ad

from .binary import binary_cross_entropy
from .checks import check_targets
from .classification import cross_entropy
from .focal import focal
from .labels import check_labels
from .likelihood import estimate_sigma, gaussian, kl_divergence, poisson
from .margins import hinge, margin, zero_one
from .regression import absolute, huber, squared
from .regularizers import elastic, gaussian_prior, l1, l2, laplace_prior
from .risk import empirical_risk, generalization_gap

__all__ = [
    "absolute", "binary_cross_entropy", "check_labels", "check_targets", "cross_entropy", "elastic", "empirical_risk",
    "estimate_sigma", "focal", "gaussian", "gaussian_prior", "generalization_gap", "hinge", "huber", "kl_divergence",
    "l1", "l2", "laplace_prior", "margin", "poisson", "squared", "zero_one",
]  # fmt: skip

ELSEWHERE = {
    "mse": "losses.squared",
    "mse_loss": "losses.squared",
    "MSELoss": "losses.squared, a function: no brackets",
    "mean_squared_error": "losses.squared",
    "l2_loss": "losses.squared",
    "mae": "losses.absolute",
    "l1_loss": "losses.absolute",
    "L1Loss": "losses.absolute, a function: no brackets",
    "mean_absolute_error": "losses.absolute",
    "smooth_l1": "losses.huber",
    "smooth_l1_loss": "losses.huber",
    "SmoothL1Loss": "losses.huber, a function: no brackets",
    "HuberLoss": "losses.huber, a function: no brackets",
    "CrossEntropyLoss": "losses.cross_entropy, a function: no brackets",
    "crossentropy": "losses.cross_entropy",
    "softmax_cross_entropy": "losses.cross_entropy",
    "softmax_cross_entropy_with_integer_labels": "losses.cross_entropy",
    "categorical_crossentropy": "losses.cross_entropy",
    "sparse_categorical_crossentropy": "losses.cross_entropy",
    "log_loss": "losses.cross_entropy, of logits",
    "nll_loss": "losses.cross_entropy, of logits: without log_softmax",
    "NLLLoss": "losses.cross_entropy, of logits: without log_softmax",
    "nll": "losses.cross_entropy, losses.gaussian or losses.poisson",
    "GaussianNLLLoss": "losses.gaussian",
    "PoissonNLLLoss": "losses.poisson",
    "bce": "losses.binary_cross_entropy, of logits: without a sigmoid",
    "BCELoss": "losses.binary_cross_entropy, of logits: without a sigmoid",
    "BCEWithLogitsLoss": "losses.binary_cross_entropy, a function: no brackets",
    "bce_with_logits": "losses.binary_cross_entropy",
    "binary_cross_entropy_with_logits": "losses.binary_cross_entropy",
    "sigmoid_binary_cross_entropy": "losses.binary_cross_entropy",
    "binary_crossentropy": "losses.binary_cross_entropy",
    "kl_div": "losses.kl_divergence",
    "KLDivLoss": "losses.kl_divergence, a function: no brackets",
    "accuracy": "1 - losses.zero_one(outputs, targets)",
    "generalisation_gap": "losses.generalization_gap",
    "ridge": "losses.l2(strength)",
    "lasso": "losses.l1(strength)",
}
"""Names that people know from elsewhere, to what does the same here."""

__getattr__ = ad.errors.missing("adjoint.losses", __all__, ELSEWHERE)


def __dir__() -> list[str]:
    return __all__
