"""One hidden layer of tanh and the cross-entropy of its softmax, from tiny to the size of handwritten digits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Function, Row


def perceptron(
    title: str, batch: int, inputs: int, hidden: int, classes: int, dtype: Any, asked: dict[str, float]
) -> Row:
    """A row for one size and precision."""

    def data() -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(0)
        X = random.normal(size=(batch, inputs)).astype(dtype)
        return X, np.eye(classes, dtype=dtype)[random.integers(0, classes, batch)]

    def point() -> list[np.ndarray]:
        random = np.random.default_rng(1)
        shapes = ((inputs, hidden), (hidden,), (hidden, classes), (classes,))
        return [(random.normal(size=shape) / np.sqrt(shape[0])).astype(dtype) for shape in shapes]

    def function(library: Any) -> Function:
        np = library.np
        X, Y = (np.asarray(part) for part in data())

        def loss(parameters: Any) -> Any:
            W, b, V, c = parameters
            z = np.tanh(X @ W + b) @ V + c
            top = np.amax(z, axis=1, keepdims=True)
            norm = top + np.log(np.sum(np.exp(z - top), axis=1, keepdims=True))
            return np.sum((norm - z) * Y) / batch

        return loss

    made: list[np.ndarray] = []

    def by_hand(parameters: list[np.ndarray]) -> Any:
        """Everything in place where it can be; the rows of Y sum to 1."""
        if not made:
            made.extend(data())
        (X, Y), (W, b, V, c) = made, parameters
        h = X @ W
        h += b
        np.tanh(h, out=h)
        z = h @ V
        z += c
        z -= z.max(axis=1, keepdims=True)
        e = np.exp(z)
        norm = e.sum(axis=1, keepdims=True)
        z *= Y
        value = (np.log(norm).sum() - z.sum()) / batch
        e /= norm
        e -= Y
        e *= 1.0 / batch
        back = e @ V.T
        slope = h * h
        np.subtract(1.0, slope, out=slope)
        back *= slope
        return value, [X.T @ back, back.sum(axis=0), h.T @ e, e.sum(axis=0)]

    return Row(title, function, point, by_hand, asked=asked, tolerance=1e-7 if dtype is np.float64 else 2e-3)


ALL = {"JAX": 1.0, "PyTorch": 1.0, "torch.compile": 1.0, "NumPy by hand": 1.0}
ROWS = {
    "mlp-16": perceptron("MLP 16-32-4, batch 8, float64", 8, 16, 32, 4, np.float64, {"JAX": 5.0, "NumPy by hand": 3.0}),
    "mlp-64": perceptron(
        "MLP 64-64-10, batch 32, float32", 32, 64, 64, 10, np.float32, {"JAX": 4.0, "NumPy by hand": 2.0}
    ),
    "mlp-784-float32": perceptron("MLP 784-256-10, batch 128, float32", 128, 784, 256, 10, np.float32, ALL),
    "mlp-784-float64": perceptron("MLP 784-256-10, batch 128, float64", 128, 784, 256, 10, np.float64, ALL),
}
