"""The table that `nn.summary` prints."""

from __future__ import annotations

import dataclasses

import numpy as np

from adjoint import nn


def test_table(capsys):
    """Layers in the order of their calls; those that are not called are there too."""
    model = nn.Sequential(
        nn.Embedding(10, 6, key=0),
        nn.MultiHeadAttention(6, 2, key=0),
        nn.Recurrent(nn.LSTMCell(6, 5, key=0), last=True),
        nn.MLP([5, 4, 3], "prelu", norm="batch", dropout=0.5, key=0),
    )
    nn.summary(model, np.zeros((4, 7), int))
    assert capsys.readouterr().out.splitlines() == [
        "layer                   kind                output     parameters  memory",
        "model                   Sequential          (4, 3)",
        "layers.0                Embedding           (4, 7, 6)          60   480 B",
        "layers.1                MultiHeadAttention  (4, 7, 6)",
        "layers.1.query          Dense               (4, 7, 6)          42   336 B",
        "layers.1.key            Dense               (4, 7, 6)          42   336 B",
        "layers.1.value          Dense               (4, 7, 6)          42   336 B",
        "layers.1.output         Dense               (4, 7, 6)          42   336 B",
        "layers.2                Recurrent           (4, 5)",
        "layers.2.cell           LSTMCell                              240  1.9 kB",
        "layers.3                MLP                 (4, 3)",
        "layers.3.dropout        Dropout",
        "layers.3.layers.0       Dense               (4, 4)             24   192 B",
        "layers.3.norms.0        BatchNorm           (4, 4)              8    64 B",
        "layers.3.activations.0  PReLU               (4, 4)              4    32 B",
        "layers.3.layers.1       Dense               (4, 3)             15   120 B",
        "519 parameters, 4.2 kB; 8 other numbers, 64 B; outputs of layers for these inputs: 7.4 kB",
    ]


def test_without_inputs(capsys):
    """Counts alone; shared arrays count once."""
    nn.summary(nn.share(nn.MLP([3, 3, 3], "tanh", key=0, dtype=np.float32), "layers.1.weight", "layers.0.weight"))
    assert capsys.readouterr().out.splitlines() == [
        "layer          kind   output  parameters  memory",
        "model          MLP",
        "layers.0       Dense                  12    48 B",
        "layers.1       Dense                   3    12 B",
        "activations.0  tanh",
        "15 parameters, 60 B",
    ]


def test_any_model(capsys):
    """A function, and a layer of one's own that branches on values."""

    @dataclasses.dataclass(frozen=True)
    class Own:
        weight: np.ndarray

        def __call__(self, x):
            return x @ self.weight if np.sum(x) > 0 else x

    nn.summary(nn.Function(lambda p, x: x @ p["w"], {"w": np.zeros((3, 2))}), np.zeros((1, 3)))
    nn.summary(Own(np.ones((2, 3))), np.ones(2))
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1::3]] == [
        ["model", "Function", "(1,", "2)", "6", "48", "B"],
        ["model", "Own", "(3,)", "6", "48", "B"],
    ]
