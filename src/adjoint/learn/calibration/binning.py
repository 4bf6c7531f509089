"""Bins of the confidence, with the accuracy in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..labels import Array


@dataclass(frozen=True)
class Bins:
    """Bins of the confidence: their edges, and the weight, mean confidence and accuracy of each; nan where empty."""

    edges: Array
    count: Array
    confidence: Array
    accuracy: Array

    def error(self, norm: float = 1, *, debias: bool = False) -> float:
        """The norm of accuracy - confidence over the bins, weighted by their counts."""
        filled = self.count > 0
        share = self.count[filled] / np.sum(self.count)
        gaps = np.abs(self.accuracy - self.confidence)[filled]
        if norm == 1:
            return float(share @ gaps)
        if norm == np.inf:
            return float(np.max(gaps))
        if norm != 2:
            raise ValueError(f"norm has to be 1, 2 or inf, got {norm!r}.")
        squares = gaps**2
        if debias:  # a bin of one example says nothing
            accuracy, count = self.accuracy[filled], self.count[filled]
            noise = accuracy * (1.0 - accuracy) / np.maximum(count - 1.0, 1e-300)
            squares = np.where(count > 1.0, squares - noise, 0.0)
        return float(np.sqrt(max(share @ squares, 0.0)))


def binned(confidence: Array, hit: Array, weights: Array, bins: int, strategy: Literal["uniform", "quantile"]) -> Bins:
    """Predictions collected in bins; an edge belongs to the bin above it, the last one to the last bin."""
    if not (isinstance(bins, (int, np.integer)) and bins > 0):
        raise ValueError(f"bins has to be a positive integer, got {bins!r}.")
    edges = np.linspace(0.0, 1.0, bins + 1)
    if strategy == "quantile":
        inner = np.quantile(confidence, edges[1:-1], weights=weights, method="inverted_cdf") if bins > 1 else edges[:0]
        edges = np.unique(np.concatenate([[0.0], inner, [1.0]]))
    elif strategy != "uniform":
        raise ValueError(f"strategy has to be 'uniform' or 'quantile', got {strategy!r}.")
    places = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, len(edges) - 2)
    count, total, right = (
        np.bincount(places, w, minlength=len(edges) - 1) for w in (weights, weights * confidence, weights * hit)
    )
    with np.errstate(invalid="ignore"):
        return Bins(edges, count, total / count, right / count)
