"""Penalties of linear models, in scikit-learn's form."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..labels import Array
from .columns import Columns

Penalty = Literal["l2", "l1", "elastic"]


def strengths(estimator: Any, columns: Columns) -> tuple[Array, Array]:
    """Of |theta_j| and of theta_j^2 / 2, for scaled columns, beside the mean of the losses."""
    share = {"l1": 1.0, "elastic": estimator.l1_ratio}.get(estimator.penalty, 0.0)
    alpha = 0.0 if estimator.penalty is None else estimator.alpha
    each = by_column("alpha", alpha, len(columns.scale))
    of_ones = np.sqrt(columns.penalties)
    return share * of_ones * columns.penalised(each * columns.scale**2), (1.0 - share) * columns.penalised(each)


def by_column(name: str, value: Any, columns: int) -> Any:
    """A strength for all columns as it is, and one for each column checked."""
    if np.ndim(value) == 0:
        return value
    found = np.asarray(value, dtype=np.float64)
    if found.shape != (columns,) or not np.all(found > 0.0):
        raise ValueError(
            f"{name} has to be one number, or one above 0 for each of {columns} columns, got {np.shape(value)} numbers "
            f"from {np.min(found):g} on."
        )
    return found
