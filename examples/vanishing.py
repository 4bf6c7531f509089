"""Vanishing and exploding gradients: the gradient of each layer's weights in networks of depth 20.

    python examples/vanishing.py          # add --plot for a picture, vanishing.png

On the way back, each layer multiplies by its weights and by the slope of its activation. The sigmoid's slope is at most
1/4, so little arrives at the first layers. ReLU's is 0 or 1, and first weights of variance 2 / inputs keep the size.
With weights twice as large the factors are above 1, and gradients explode: they are about 2^19 times larger.
"""

import sys

import numpy as np

import adjoint as ad
from adjoint import losses, nn

DEPTH, WIDTH = 20, 64


def main() -> None:
    """Compare three networks."""
    norms = {
        "sigmoid": gradient_norms(network("sigmoid")),
        "ReLU": gradient_norms(network("relu")),
        "ReLU, weights doubled": gradient_norms(ad.tree.map(lambda a: 2.0 * a, network("relu"))),
    }
    layers = (1, 5, 10, 15, 20)
    print(f"{'gradient norm of layer':24}" + "".join([f"{k:>10}" for k in layers]))
    for name, found in norms.items():
        print(f"{name:24}" + "".join([f"{found[k - 1]:10.1e}" for k in layers]))
    if "--plot" in sys.argv:
        picture(norms)


def network(activation: str) -> nn.MLP:
    """Twenty dense layers; the first weights fit the activation."""
    return nn.MLP([WIDTH] * DEPTH + [10], activation=activation, key=0)


def gradient_norms(model: nn.MLP) -> list[float]:
    """The norms of the gradients of the weights, from the first layer to the last, on random data."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(256, WIDTH)), rng.integers(0, 10, 256)
    gradient = ad.grad(lambda model: losses.cross_entropy(model(X), y))(model)  # a model is a tree, and so is this
    return [float(np.linalg.norm(layer.weight)) for layer in gradient.layers]


def picture(norms: dict[str, list[float]]) -> None:
    """Norms by layer."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for name, found in norms.items():
        axes.semilogy(range(1, DEPTH + 1), found, "o-", markersize=5, label=name)
    axes.set(xlabel="layer", ylabel="norm of the gradient of its weights", title=f"{DEPTH} layers of {WIDTH} neurons")
    axes.set_xticks([1, 5, 10, 15, 20])
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig("vanishing.png", dpi=120)


if __name__ == "__main__":
    main()
