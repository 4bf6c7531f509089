"""Handwritten digits: a network of 64-64-10 on scikit-learn's images of 8 x 8 pixels.

python examples/digits.py          # add --plot for a picture, digits.png
"""

import sys
import time
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import adjoint as ad
from adjoint import data, losses, nn, optim


def accuracy(outputs: np.ndarray, y: np.ndarray) -> float:
    """The fraction of digits that are recognised."""
    return np.mean(np.argmax(outputs, axis=-1) == y)


def main() -> None:
    """Train twice: the second time, nothing has to be compiled."""
    images, labels = load_digits(return_X_y=True)
    X, X_test, y, y_test = data.split((images / 16.0).astype(np.float32), labels, stratify=labels, seed=1)
    model = nn.MLP([64, 64, 10], activation="relu", key=0, dtype=np.float32)
    nn.summary(model, X[:32])
    for compiled in (False, True):
        start = time.perf_counter()
        fit = ad.train(
            model, losses.cross_entropy, (X, y), optim.adam(1e-3), epochs=20, batch_size=32,
            validation=(X_test, y_test), metrics={"accuracy": accuracy}, progress=False,
        )  # fmt: skip
        print(f"20 epochs {'once compiled' if compiled else 'with compiling'}: {time.perf_counter() - start:.3f} s")
    print(f"accuracy {accuracy(fit.model(X), y):.1%}, on {len(X_test)} new digits {fit.history['accuracy'][-1]:.1%}")
    if "--plot" in sys.argv:
        picture(fit, X_test, y_test)


def picture(fit: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Learning curves, and digits that were taken for others."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axes = left.subplots()
    epochs = np.arange(1, len(fit.history["loss"]) + 1)
    axes.semilogy(epochs, fit.history["loss"], label="training")
    axes.semilogy(epochs, fit.history["validation_loss"], label="validation")
    axes.set(xlabel="epoch", title="cross-entropy", xticks=[1, 5, 10, 15, 20])
    axes.legend()
    found = np.argmax(fit.model(X), axis=1)
    wrong = np.flatnonzero(found != y)
    for tile, k in zip(right.subplots(2, 2).flat, wrong[:4], strict=False):
        tile.imshow(X[k].reshape(8, 8), cmap="Greys")
        tile.set(title=f"{y[k]}, taken for {found[k]}", xticks=[], yticks=[])
    figure.savefig("digits.png", dpi=120)


if __name__ == "__main__":
    main()
