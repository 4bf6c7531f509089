"""A linear model beside the network, where rows are few: as much of it as suits the rows that groups left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import nn

from ..labels import Array
from ..linear.logistic import LogisticRegression
from ..linear.ridge import Ridge
from .descent import loss_of
from .packed import PackedNetwork

FEW = range(20, 1001)
"""Numbers of rows for it: with fewer its share cannot be judged, with more networks find what is linear."""
SHARES = np.linspace(0.0, 1.0, 11)


@nn.layer
class Blended:
    """share x line + (1 - share) x network, of logits or numbers."""

    network: PackedNetwork
    line: nn.Dense
    share: np.ndarray

    def __call__(self, x: Any) -> Any:
        """Logits or numbers."""
        return self.share * self.line(x) + (1.0 - self.share) * self.network(x)

    def features(self, x: Any) -> Any:
        """Those of the network."""
        return self.network.features(x)


def line_of(X: Array, y: Array, weights: Array, *, classifies: bool) -> nn.Dense | None:
    """A linear model of rows with targets (n, outputs); None if there is none, as some class is missing."""
    if not classifies:
        found: Any = Ridge(alpha="loo").fit(X, y[:, 0], sample_weight=weights)
        return _dense(found.coef_[:, None], np.atleast_1d(found.intercept_))
    codes = np.argmax(y, axis=1)
    if len(np.unique(codes)) < y.shape[1]:
        return None
    found = LogisticRegression().fit(X, codes, sample_weight=weights)
    if y.shape[1] == 2:
        signs = np.array([-0.5, 0.5])
        return _dense(found.coef_.T * signs, found.intercept_ * signs)
    return _dense(found.coef_.T, found.intercept_)


def mean_of(lines: list[nn.Dense]) -> nn.Dense:
    """The mean of linear models is one."""
    return _dense(*[np.mean([getattr(line, name) for line in lines], axis=0) for name in ("weight", "bias")])


def best_share(line: Array, network: Array, y: Array, weights: Array, *, classifies: bool) -> float:
    """The share of the line that suits rows which neither has seen."""
    losses = [loss_of(s * line + (1.0 - s) * network, y, weights, classifies=classifies) for s in SHARES]
    return float(SHARES[np.argmin(losses)])


def _dense(weight: Array, bias: Array) -> nn.Dense:
    made: Any = nn.Dense
    found: nn.Dense = made(weight=np.ascontiguousarray(weight, dtype=np.float64), bias=np.asarray(bias, np.float64))
    return found
