"""Small artificial records of training runs."""

from __future__ import annotations

import numpy as np

from adjoint.training.record import Boundary, Record


def spread(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def digits(epochs: int = 23, frames: int = 24) -> Record:
    """A run like that of 64-64-10 on images of 8 by 8 pixels, with validation."""
    epoch = np.arange(1, epochs + 1)
    loss = 2.3 * np.exp(-epoch / 3.5) + 0.012
    validation = 2.3 * np.exp(-epoch / 3.2) + 0.11 + 0.0016 * (epoch - 9) ** 2 * (epoch > 9)
    grid = np.linspace(-1, 1, 8)
    blobs = np.exp(-3 * ((grid[:, None, None] - spread(1, 64)) ** 2 + (grid[:, None] - spread(2, 64)) ** 2))
    learned = (blobs * np.sign(spread(3, 64))).reshape(64, 64)
    weights: dict[str, list[np.ndarray]] = {"layers.0.weight": [], "layers.1.weight": [], "layers.2.weight": []}
    for k in range(frames):
        t = 1 - np.exp(-4 * k / frames)
        weights["layers.0.weight"].append(0.18 * (1 - t) * spread(4, 64, 64) + t * (learned + 0.05 * spread(9, 64, 64)))
        weights["layers.1.weight"].append(0.2 * spread(5, 64, 64) + 0.2 * t * spread(6, 64, 64))
        weights["layers.2.weight"].append(0.2 * spread(7, 64, 10) + 0.4 * t * spread(8, 64, 10))
    norms = {
        f"layers.{k}.{kind}": size * np.exp(-epoch / 9) * (0.7 + 0.3 * k) * (1 + 0.15 * spread(20 + k, epochs))
        for k in range(3)
        for kind, size in (("weight", 0.9), ("bias", 0.3))
    }
    return Record(
        "MLP 64-64-64-10 on digits",
        {"parameters": "8,970", "optimizer": "Adam, 1e-3", "batch": "32", "samples": "1,437 + 360 for validation",
         "stopped": "after 23 epochs", "best": "epoch 11, weights kept", "time": "0.04 s", "speed": "742,000 samples/s",
         "seed": "0"},
        {"loss": loss, "validation_loss": validation, "accuracy": 1 - 0.9 * np.exp(-epoch / 2.8),
         "validation_accuracy": 0.975 - 0.85 * np.exp(-epoch / 2.5)},
        norms,
        [round(k) for k in np.linspace(0, epochs, frames)],
        weights,
    )  # fmt: skip


def moons(frames: int = 13, side: int = 80, *, classes: int = 0) -> Record:
    """A run on two inputs: two moons with a logit, or so many classes around the middle."""
    epochs = 60
    epoch = np.arange(1, epochs + 1)
    angle = np.pi * np.linspace(0, 1, 90)
    if classes:
        label = np.arange(180) % classes
        turn = 2 * np.pi * label / classes + 0.25 * spread(1, 180)
        points = (1.1 + 0.3 * spread(2, 180))[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    else:
        label = np.repeat([0, 1], 90)
        upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        points = np.concatenate([upper, [1.0, 0.45] - upper]) + 0.12 * spread(3, 180, 2)
    low, high = points.min(axis=0) - 0.4, points.max(axis=0) + 0.4
    x, y = np.meshgrid(np.linspace(low[0], high[0], side), np.linspace(low[1], high[1], side))
    values, weights = [], {"layers.0.weight": [], "layers.0.bias": [], "layers.1.weight": []}
    for k in range(frames):
        t = k / max(1, frames - 1)
        if classes:
            turn = np.arctan2(y, x) + 0.8 * (1 - t) * np.hypot(x, y) + np.pi / classes
            values.append((np.floor(turn / (2 * np.pi / classes)) % classes).astype(int))
        else:
            values.append((0.3 + 8 * t) * (0.25 - y + t * 0.75 * np.sin(2.4 * (x + 0.15))))
        weights["layers.0.weight"].append(spread(4, 2, 16) + 1.5 * t * spread(5, 2, 16))
        weights["layers.0.bias"].append(t * spread(6, 16))
        weights["layers.1.weight"].append((0.5 + t) * spread(7, 16, max(1, classes)))
    return Record(
        "Two moons" if not classes else f"{classes} petals",
        {"parameters": "65", "optimizer": "SGD, 0.1", "stopped": "after 60 epochs"},
        {"loss": 0.7 * np.exp(-epoch / 15) + 0.02 + 0.01 * np.abs(spread(8, epochs))},
        {f"layers.{k}.{kind}": (0.4 + k) * np.exp(-epoch / 30) for k in range(2) for kind in ("weight", "bias")},
        [round(k) for k in np.linspace(0, epochs, frames)],
        weights,
        Boundary((low[0], high[0]), (low[1], high[1]), values, points, label),
    )


def vanishing(depth: int = 20) -> Record:
    """A deep run whose gradients vanish on the way back; its loss becomes nan."""
    epoch = np.arange(1, 31)
    loss = 0.69 + 0.05 * np.exp(-epoch / 8)
    loss[25:] = np.nan
    norms = {
        f"layers.{k}.{kind}": np.exp(-0.9 * (depth - 1 - k)) * np.exp(-epoch / 40) * (1 + 0.2 * spread(k, 30))
        for k in range(depth)
        for kind in ("weight", "bias")
    }
    return Record("Sigmoid, 20 layers", {"stopped": "epoch 26: the loss is nan"}, {"loss": loss}, norms)
