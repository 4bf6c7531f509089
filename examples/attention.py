"""Attention on a toy task: a small transformer block learns to write a sequence backwards.

    python examples/attention.py          # add --plot for a picture, attention.png

Each place of the output has to look at one place of the input; the attention weights show where it looks.
"""

import sys

import numpy as np

import adjoint as ad
from adjoint import losses, nn, optim

SYMBOLS, LENGTH, WIDTH = 10, 8, 32


@nn.layer
class Transformer:
    """Symbols and places become vectors; attention and a network add to them, each after a normalisation."""

    symbols: nn.Embedding
    places: nn.Embedding
    norms: tuple[nn.LayerNorm, nn.LayerNorm]
    attention: nn.MultiHeadAttention
    network: nn.MLP
    output: nn.Dense

    def __init__(self, key: int) -> None:
        keys = ad.random.split(ad.random.key(key), 5)
        nn.set_fields(
            self,
            symbols=nn.Embedding(SYMBOLS, WIDTH, key=keys[0]),
            places=nn.Embedding(LENGTH, WIDTH, key=keys[1]),
            norms=(nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)),
            attention=nn.MultiHeadAttention(WIDTH, heads=1, key=keys[2]),
            network=nn.MLP([WIDTH, 2 * WIDTH, WIDTH], activation="relu", key=keys[3]),
            output=nn.Dense(WIDTH, SYMBOLS, key=keys[4]),
        )

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Logits of shape (n, length, symbols), for symbols of shape (n, length)."""
        h = self.symbols(x) + self.places.weight
        h = h + self.attention(self.norms[0](h))
        h = h + self.network(self.norms[1](h))
        return self.output(h)

    def looks_at(self, x: np.ndarray) -> np.ndarray:
        """The attention weights, of shape (n, length, length)."""
        h = self.norms[0](self.symbols(x) + self.places.weight)
        query, key = self.attention.query(h), self.attention.key(h)
        return nn.softmax(query @ np.swapaxes(key, -1, -2) / np.sqrt(WIDTH))


def main() -> None:
    """Train on random sequences, test on others."""
    X, X_test = np.split(np.random.default_rng(0).integers(0, SYMBOLS, (1500, LENGTH)), [1000])
    fit = ad.train(Transformer(0), losses.cross_entropy, (X, X[:, ::-1]), optim.adam(5e-3), epochs=3, progress=False)
    written = np.argmax(fit.model(X_test), axis=-1)
    loss = ", ".join([f"{value:.4f}" for value in fit.history["loss"]])
    print(f"{fit.steps} steps; loss by epoch: {loss}")
    right = np.mean(written == X_test[:, ::-1])
    print(f"{X_test[0]} -> {written[0]}; in new sequences, {right:.1%} of the symbols are right")
    if "--plot" in sys.argv:
        picture(np.mean(fit.model.looks_at(X_test), axis=0))


def picture(weights: np.ndarray) -> None:
    """Where each place looks."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4.2), layout="constrained")
    axes = figure.subplots()
    figure.colorbar(axes.imshow(weights, cmap="Blues", vmin=0, vmax=1), label="attention weight")
    axes.set(xlabel="place of the input", ylabel="place of the output", title="reversing a sequence")
    figure.savefig("attention.png", dpi=120)


if __name__ == "__main__":
    main()
