"""Data for training: batches in a seeded order, from arrays, memory maps, frames and streams.

>>> import numpy as np
>>> from adjoint import data
>>> X, y = np.arange(10.0).reshape(5, 2), np.arange(5)
>>> [labels.tolist() for _, labels in data.batches(X, y, batch_size=2, seed=0)]
[[2, 4], [3, 0], [1]]
"""

import adjoint as ad

from .batches import Batches, batches
from .checks import check
from .frames import as_arrays
from .labels import class_weights, one_hot
from .order import order
from .scaling import Standardizer, standardize
from .splitting import split

__all__ = [
    "Batches", "Standardizer", "as_arrays", "batches", "check", "class_weights", "one_hot", "order", "split",
    "standardize",
]  # fmt: skip

ELSEWHERE = {
    "DataLoader": "data.batches(X, y, batch_size=32)",
    "TensorDataset": "data.batches(X, y, batch_size=32)",
    "Dataset": "data.batches(X, y, batch_size=32), or any iterable of batches",
    "loader": "data.batches(X, y, batch_size=32)",
    "shuffle": "data.batches(X, y, shuffle=True), or data.order(n, seed, epoch)",
    "train_test_split": "data.split(X, y, test_size=0.2)",
    "random_split": "data.split(X, y, test_size=0.2)",
    "StandardScaler": "data.standardize(X), then .apply(X)",
    "normalize": "data.standardize(X), then .apply(X)",
    "standardise": "data.standardize(X), then .apply(X)",
    "Standardiser": "data.Standardizer",
    "normalise": "data.standardize(X), then .apply(X)",
    "scale": "data.standardize(X), then .apply(X)",
    "to_categorical": "data.one_hot(labels, classes)",
    "compute_class_weight": "data.class_weights(labels)",
}
"""Names that people know from elsewhere, to what does the same here."""

__getattr__ = ad.errors.missing("adjoint.data", __all__, ELSEWHERE)


def __dir__() -> list[str]:
    return __all__
