"""Draw the health of a network of 20 sigmoid layers against one of ReLUs, for `docs/health.md`.

The picture differs from machine to machine in the last digits of its numbers, so nothing compares it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import adjoint as ad

FILE = Path(__file__).parent.parent / "docs" / "health.svg"
LAYERS, WIDTH = 20, 64


def sigmoid(z: Any) -> Any:
    """A slope of a quarter at most."""
    return 1.0 / (1.0 + np.exp(-z))


def relu(z: Any) -> Any:
    """A slope of 1 or 0."""
    return np.maximum(z, 0.0)


def looked_at(activation: Callable[[Any], Any], gain: float) -> Any:
    """The health of one network, weights drawn with variance gain^2 / width."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(32, WIDTH)), random.normal(size=(32, WIDTH))
    weights = [random.normal(size=(WIDTH, WIDTH)) * gain / np.sqrt(WIDTH) for _ in range(LAYERS)]

    def loss(weights: list[np.ndarray]) -> Any:
        h = x
        for k, w in enumerate(weights):
            with ad.block(f"layer {k + 1}"):
                h = activation(h @ w)
        return np.mean((h - y) ** 2)

    return ad.debug.health(loss)(weights)


def main() -> None:
    """Write the picture."""
    settings = {"svg.fonttype": "none", "svg.hashsalt": "health", "font.size": 9}
    with mpl.rc_context(settings):
        figure = Figure(figsize=(6.4, 3.4), layout="constrained")
        axes = figure.subplots()
        looked_at(sigmoid, 1.0).plot(axes, label="sigmoid")
        looked_at(relu, np.sqrt(2.0)).plot(axes, label="ReLU, weights of variance 2 / width")
        looked_at(relu, 3.0).plot(axes, label="ReLU, weights of variance 9 / width")
        axes.set_xlabel("layer, from the inputs to the loss")
        axes.set_xticks(range(1, LAYERS + 1, 2))
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = re.sub(r' d="[^"]*"', lambda d: re.sub(r"(\.\d)\d+", r"\1", d.group()), out.getvalue())
    FILE.write_text(text, encoding="utf-8")
    print(f"wrote docs/health.svg, {len(text) // 1024} KB")


if __name__ == "__main__":
    main()
