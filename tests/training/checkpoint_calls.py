"""Calls of `ad.train` as texts, so that each can be made anew: from other lines, and in another process."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import data, losses, nn, optim

X = np.random.default_rng(0).normal(size=(24, 2))
Y = (X[:, :1] - 0.5 * X[:, 1:]) ** 2

PRELUDE = """
SCALE = {SCALE}
def helper(z):
    "{DOC}"
    return {HELPER}
def with_default(z, y, factor={DEFAULT}):
    return factor * np.mean((z - y) ** 2)
def scaled(factor):
    return lambda z, y: np.mean(factor * (z - y) ** 2)
def nested(z, y):
    return np.mean([np.sum(SCALE * helper(z) - y)] * 2) ** 2 * 1e-3
@dataclass(frozen=True)
class Net:
    w: Any
    power: float
    def __call__(self, x):
        return {CALL}
class Stream:
    def __init__(self, size):
        self.size = size
    def __iter__(self):
        for k in range(0, 24, self.size):
            yield X[k:k + self.size], {TARGETS}
"""
TEXTS = {
    "SCALE": "2.0",
    "DOC": "of a user",
    "HELPER": "np.tanh(z)",
    "DEFAULT": "1.5",
    "CALL": "x @ self.w ** self.power",
    "TARGETS": "Y[k:k + self.size]",
}
CALL = {
    "model": "nn.MLP([2, 4, 1], activation='tanh', dropout=0.2, norm='batch', key=0)",
    "loss": "losses.squared",
    "data": "(X, Y)",
    "optimizer": "optim.adam(0.01)",
    "epochs": "3",
    "batch_size": "8",
}


def call(path: Any, *changes: dict[str, str], line: int = 1) -> Any:
    """The run of these texts, compiled from this line on."""
    said: dict[str, str] = {}
    for change in changes:
        said |= change
    names = {"np": np, "ad": ad, "nn": nn, "optim": optim, "losses": losses, "data": data, "partial": partial,
             "dataclass": dataclass, "Any": Any, "X": X, "Y": Y, "__name__": "__main__", "path": path}  # fmt: skip
    prelude = PRELUDE
    for name, text in {**TEXTS, **said}.items():
        prelude = prelude.replace("{" + name + "}", text)
    exec(compile("\n" * line + prelude, f"file {line}", "exec"), names)
    options = {**CALL, **{name: text for name, text in said.items() if name not in TEXTS}}
    asked = "\n" * line + ", ".join([f"{name}={text}" for name, text in options.items()])
    return eval(compile(f"ad.train(checkpoint=path, progress=False, {asked})", f"line {line}", "eval"), names)


def bits(fit: Any) -> dict[str, bytes]:
    """All numbers of a fit."""
    arrays = {**nn.parameters(fit.model), **nn.statistics(fit.model)}
    arrays |= {name: fit.history[name] for name in fit.history if name != "seconds"}
    arrays |= {f"optimizer {k}": a for k, a in enumerate(ad.tree.leaves(fit.optimizer_state))}
    return {name: np.asarray(a).tobytes().hex() for name, a in arrays.items()}


if __name__ == "__main__":
    import json

    for path, changes in json.loads(sys.argv[1]):
        sys.stdout.write(json.dumps(bits(call(Path(path), changes, line=40))) + "\n")
