"""Universal approximation: a network with one hidden layer comes as close to a function as its width allows.

python examples/approximation.py          # add --plot for a picture, approximation.png
"""

import sys

import numpy as np

from adjoint import losses, nn, optim

WIDTHS = (1, 2, 4, 8, 16)
x = np.linspace(-1.0, 1.0, 200)[:, None]


def target(x: np.ndarray) -> np.ndarray:
    """A function with waves of two lengths, and a kink."""
    return np.sin(3.0 * x) + 0.4 * np.sin(11.0 * x) + 0.3 * np.abs(x)


def main() -> None:
    """Fit networks of growing width."""
    models = {width: fitted(width) for width in WIDTHS}
    print("neurons   parameters   largest error")
    for width, model in models.items():
        size = sum([a.size for a in nn.parameters(model).values()])
        print(f"{width:7}   {size:10}   {np.max(np.abs(model(x) - target(x))):13.4f}")
    if "--plot" in sys.argv:
        picture(models)


def fitted(width: int) -> nn.MLP:
    """A network of tanh neurons after minimising its mean squared error by L-BFGS."""
    start = spread_out(nn.MLP([1, width, 1], activation="tanh", key=0))
    return optim.minimize(lambda model: losses.squared(model(x), target(x)), start, optim.lbfgs(), max_steps=2000).x


def spread_out(model: nn.MLP) -> nn.MLP:
    """The same network with the bends of its neurons side by side, for which biases of 0 would have one place."""
    width = model.layers[0].bias.size
    slopes, places = np.full(width, 0.5 * width + 1.0), np.linspace(-1.0, 1.0, width + 2)[1:-1]
    return nn.replace(model, {"layers.0.weight": slopes[None], "layers.0.bias": -slopes * places})


def picture(models: dict[int, nn.MLP]) -> None:
    """The function and each of its approximations."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3), layout="constrained")
    for axes, (width, model) in zip(figure.subplots(1, len(models), sharey=True), models.items(), strict=True):
        axes.plot(x, target(x), color="0.8", linewidth=6)
        axes.plot(x, model(x), color="C0")
        error = np.max(np.abs(model(x) - target(x)))
        axes.set(title=f"{width} neuron{'s' * (width > 1)}", xlabel=f"largest error {error:.2g}")
    figure.savefig("approximation.png", dpi=120)


if __name__ == "__main__":
    main()
