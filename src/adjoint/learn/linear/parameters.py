"""Parameters that linear models share: what they may be, and what is said when steps run out."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

WITH_INTERCEPT: dict[str, Any] = {"fit_intercept": ["boolean"]}
BY_STEPS: dict[str, Any] = {
    **WITH_INTERCEPT,
    "tol": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
}
PENALISED: dict[str, Any] = {
    **BY_STEPS,
    "penalty": [StrOptions({"l2", "l1", "elastic"}), None],
    "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
    "l1_ratio": [Interval(Real, 0, 1, closed="both")],
}


def check_converged(estimator: Any, converged: bool, *, stacklevel: int) -> None:
    """Warn if steps ran out, with what may be the reason."""
    if converged:
        return
    reasons = {
        "regressor": "A loss with kinks has no gradient to go by: smooth it.",
        "classifier": "Without a penalty, classes that a line tells apart have no optimum.",
    }
    text = (
        f"{type(estimator).__name__} has not converged after {estimator.n_iter_} steps (max_iter={estimator.max_iter})"
    )
    reason = reasons[estimator.__sklearn_tags__().estimator_type]
    warnings.warn(f"{text}: increase max_iter or tol. {reason}", ConvergenceWarning, stacklevel=stacklevel + 1)
