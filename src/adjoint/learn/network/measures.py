"""What is measured on rows that are held out, beside the loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from ..labels import Array


def accuracy(outputs: Any, codes: Array) -> float:
    """The share of right labels."""
    return float(np.mean(np.argmax(outputs, axis=1) == codes))


def explained(values: Any, y: Array) -> float:
    """R squared; nan of fewer than two rows."""
    return float(r2_score(y, values)) if len(y) > 1 else float("nan")
