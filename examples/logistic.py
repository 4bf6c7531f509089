"""Softmax regression of three classes, what temperature does to its probabilities, and the binary case.

    python examples/logistic.py          # add --plot for a picture, logistic.png

softmax(z; tau) = softmax(z / tau) keeps the order of the classes; tau -> inf makes all equally likely, tau -> 0 gives
the arg max. With two classes, one output and a sigmoid do what two outputs and softmax do.
"""

import sys

import numpy as np

import adjoint as ad
from adjoint import losses, nn, optim

TEMPERATURES = (0.0, 0.1, 1.0, 10.0, 100.0, np.inf)
CENTRES = np.array([[0.0, 2.0], [-2.0, -1.0], [2.0, -1.0]])


def main() -> None:
    """Train, and show what comes out."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = CENTRES[y] + rng.normal(0.0, 1.0, (300, 2))
    fit = ad.train(nn.Dense(2, 3, key=0), losses.cross_entropy, (X, y), optim.adam(0.05), epochs=50, progress=False)
    model, loss = fit.model, fit.history["loss"]
    accuracy = np.mean(np.argmax(model(X), axis=1) == y)
    print(f"cross-entropy {loss[0]:.3f} in the first epoch, {loss[-1]:.3f} in the last; accuracy {accuracy:.1%}\n")

    x = np.array([0.5, 0.5])
    print("probabilities at (0.5, 0.5) by temperature")
    for tau in TEMPERATURES:
        print(f"  tau = {tau:5}   {'   '.join([f'{p:.3f}' for p in nn.softmax(model(x), tau)])}")

    of_two = y < 2
    gradient, by_hand = binary(X[of_two], y[of_two])
    print(f"\nbinary case: gradient {gradient.round(6)}, mean of (f(x) - y) x {by_hand.round(6)}")
    if "--plot" in sys.argv:
        picture(model, X, y, x)


def binary(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of sigmoid(w . x) and binary cross-entropy at some w, by the library and by the formula."""
    w = np.array([0.3, -0.2])
    gradient = ad.grad(lambda w: losses.binary_cross_entropy(X @ w, y))(w)
    return gradient, np.mean((nn.sigmoid(X @ w) - y)[:, None] * X, axis=0)


def picture(model: nn.Dense, X: np.ndarray, y: np.ndarray, x: np.ndarray) -> None:
    """Probabilities over the plane, mixed as colours, and at one point by temperature."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    plane, bars = figure.subplots(1, 2)
    colours = np.array([[31, 119, 180], [255, 127, 14], [44, 160, 44]]) / 255
    grid = np.stack(np.meshgrid(np.linspace(-6, 6, 200), np.linspace(-6, 6, 200)), axis=-1)
    mixed = nn.softmax(model(grid)) @ (0.45 + 0.55 * colours)
    plane.imshow(mixed, origin="lower", extent=(-6, 6, -6, 6))
    plane.scatter(*X.T, c=colours[y], s=14, edgecolors="white", linewidths=0.5)
    plane.plot(*x, "k*", markersize=13)
    plane.set(title="probabilities of three classes", xlabel="x1", ylabel="x2")
    for k in range(3):
        heights = [nn.softmax(model(x), tau)[k] for tau in TEMPERATURES]
        bars.bar(np.arange(6) + 0.27 * (k - 1), heights, 0.25, color=colours[k], label=f"class {k}")
    bars.set_xticks(range(6), ["→ 0", "0.1", "1", "10", "100", "→ ∞"])
    bars.set(title="at the star, by temperature", xlabel="τ", ylabel="probability")
    bars.legend()
    figure.savefig("logistic.png", dpi=120)


if __name__ == "__main__":
    main()
