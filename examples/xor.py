"""Exclusive or: no straight line separates it; a network with one hidden layer does.

python examples/xor.py          # add --plot for a picture and a page, xor.png and xor.html
"""

import sys

import numpy as np

import adjoint as ad
from adjoint import losses, nn, optim


def main() -> None:
    """Train a linear model and a network on the same points."""
    rng = np.random.default_rng(0)
    corners = rng.integers(0, 2, (200, 2))
    y = corners[:, 0] ^ corners[:, 1]
    X = 2.0 * corners - 1.0 + rng.normal(0.0, 0.25, (200, 2))
    models = {
        "linear": nn.Dense(2, 2, key=0),
        "network": nn.MLP([2, 8, 2], activation="tanh", key=0),
    }
    fits = {
        name: ad.train(model, losses.cross_entropy, (X, y), optim.adam(0.02), epochs=60, progress=False)
        for name, model in models.items()
    }
    for name, fit in fits.items():
        accuracy = np.mean(np.argmax(fit.model(X), axis=1) == y)
        size = sum([a.size for a in nn.parameters(fit.model).values()])
        print(f"{name:7}  {size:2} parameters  cross-entropy {fit.history['loss'][-1]:.4f}  accuracy {accuracy:.1%}")
    print(f"(guessing has a cross-entropy of log 2 = {np.log(2):.4f})")
    if "--plot" in sys.argv:
        page = fits["network"].page("xor.html").resolve()
        print(f"how the boundary forms, epoch by epoch: {page.as_uri()}")
        picture(fits, X, y)


def picture(fits: dict, X: np.ndarray, y: np.ndarray) -> None:
    """The probability of class 1 over the plane."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    grid = np.stack(np.meshgrid(np.linspace(-2, 2, 150), np.linspace(-2, 2, 150)), axis=-1)
    for axes, (name, fit) in zip(figure.subplots(1, 2), fits.items(), strict=True):
        p = nn.softmax(fit.model(grid))[..., 1]
        shown = axes.imshow(p, origin="lower", extent=(-2, 2, -2, 2), cmap="RdBu_r", vmin=0, vmax=1, alpha=0.75)
        axes.contour(grid[..., 0], grid[..., 1], p, levels=[0.5], colors="black")
        axes.scatter(*X.T, c=y, cmap="RdBu_r", s=16, edgecolors="white", linewidths=0.6)
        axes.set(title=name, xlabel="x1", ylabel="x2")
    figure.colorbar(shown, label="probability of class 1")
    figure.savefig("xor.png", dpi=120)


if __name__ == "__main__":
    main()
