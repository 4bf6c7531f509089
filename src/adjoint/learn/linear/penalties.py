"""Penalties of linear models, in scikit-learn's form, and the parameters that go with them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..labels import Array
from .columns import Columns

Penalty = Literal["l2", "l1", "elastic"]
CONSTRAINTS: dict[str, Any] = {
    "penalty": [StrOptions({"l2", "l1", "elastic"}), None],
    "alpha": [Interval(Real, 0, None, closed="left")],
    "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    "fit_intercept": ["boolean"],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
}


def strengths(estimator: Any, columns: Columns) -> tuple[Array, Array]:
    """Of |theta_j| and of theta_j^2 / 2, for scaled columns, beside the mean of the losses."""
    share = {"l1": 1.0, "elastic": estimator.l1_ratio}.get(estimator.penalty, 0.0)
    alpha = 0.0 if estimator.penalty is None else estimator.alpha
    squares = columns.penalties
    return alpha * share * np.sqrt(squares), alpha * (1.0 - share) * squares
