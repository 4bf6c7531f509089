"""Incremental gradient descent for networks of any depth, loss and regulariser, written out; `ad.train` does the same.

    python examples/igd.py          # add --plot for a page, igd.html

The algorithm IGD for a perceptron of d layers: the first has tanh, those in between ReLU, the last softmax. Each input
is extended by a 1, so a weight matrix has its biases in the first column.
"""

import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

import adjoint as ad
from adjoint import data, losses, nn, optim

Array = np.ndarray


def network(W: list[Array], x: Array) -> Array:
    """Forward propagation: y(x)."""
    for s, Ws in enumerate(W, start=1):
        z = np.concatenate([np.ones_like(x[..., :1]), x], axis=-1) @ Ws.T
        x = nn.softmax(z) if s == len(W) else np.tanh(z) if s == 1 else nn.relu(z)
    return x


def igd(D: list, W: list[Array], eta: float, loss: Callable, R: Callable, lam: float, converged: Callable) -> list:
    """Train the weights W of the layers on examples (x, c), each with the objective loss(c - y(x)) + lam / n R(W)."""

    def objective(W: list[Array], x: Array, c: Array) -> float:
        delta = c - network(W, x)
        return loss(delta) + lam / len(D) * R(W)

    @ad.jit
    def step(W: list[Array], x: Array, c: Array) -> list[Array]:
        slopes = ad.grad(objective)(W, x, c)
        return [Ws - eta * slope for Ws, slope in zip(W, slopes, strict=True)]  # minus: one step down, not up

    step(W, *D[0])  # records it; what is called from here on is machine code, with the same roundings every time
    t = 0
    while t == 0 or not converged(D, partial(network, W), t):
        t += 1
        for x, c in D:
            W = step(W, x, c)
    return W


def main() -> None:
    """Train on two half moons, by the algorithm and by the library."""
    rng, angle = np.random.default_rng(0), np.linspace(0.0, np.pi, 60)
    moons = [np.stack([np.cos(angle), np.sin(angle)], 1), np.stack([1 - np.cos(angle), 0.4 - np.sin(angle)], 1)]
    X, labels = np.concatenate(moons) + rng.normal(0.0, 0.12, (120, 2)), np.repeat([0, 1], 60)
    C, sizes, eta, lam = data.one_hot(labels), [2, 8, 8, 2], 0.05, 0.01
    W = [rng.normal(0.0, (a + 1) ** -0.5, (b, a + 1)) for a, b in pairwise(sizes)]
    squared, R = lambda delta: np.sum(delta**2), losses.l2(1.0)

    by_hand = igd(list(zip(X, C, strict=True)), W, eta, squared, R, lam, lambda D, y, t: t == 100)
    fit = ad.train(
        nn.Function(network, W), lambda y, c: squared(c - y), (X, C), optim.sgd(eta),
        regularizer=lambda W: lam / len(X) * R(W), epochs=100, batch_size=1, shuffle=False, progress=False,
    )  # fmt: skip
    right = np.mean(np.argmax(network(by_hand, X), axis=1) == labels)
    same = all(map(np.array_equal, by_hand, fit.model.params))
    print(f"{fit.steps:,} steps of one example: {right:.1%} of the examples are classified correctly")
    print(f"the weights of ad.train with batches of one example are {'the same to the last bit' if same else 'others'}")
    if "--plot" in sys.argv:
        print(f"The decision boundary, epoch by epoch: {fit.page('igd.html').resolve().as_uri()}")


if __name__ == "__main__":
    main()
