"""What single layers refuse: every message word by word."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn

ERRORS = {
    "groups that do not divide": (
        lambda: nn.Conv2d(4, 6, 3, groups=3, key=0),
        "Conv2d: groups has to divide inputs and outputs.",
        "got groups=3, inputs=4, outputs=6",
    ),
    "groups that are none": (
        lambda: nn.Conv1d(4, 6, 3, groups=0, key=0),
        "Conv1d: groups has to be a whole number, 1 or more.",
        "got groups=0",
    ),
    "a dilation for too many axes": (
        lambda: nn.Conv1d(4, 6, 3, dilation=(1, 2), key=0),
        "Conv1d: dilation has to be one number, or one for each of 1 axes.",
        "got dilation=(1, 2)",
    ),
    "an image that a dilated kernel does not fit on": (
        lambda: nn.Conv2d(1, 1, 3, dilation=3, padding="valid", key=0)(np.zeros((6, 8, 1))),
        "Conv2d takes arrays of shape (..., height, width, 1), at least 7 x 7 large.",
        "got float64[6,8,1]",
        "Channels come last:  np.moveaxis(x, 1, -1)  if they are on axis 1; a grey image has one:  x[..., None].",
    ),
    "more cut off than there is": (
        lambda: nn.ConvTranspose2d(1, 1, 2, padding=2, key=0),
        "ConvTranspose2d: padding has to be smaller than the kernel.",
        "got padding=2, kernel=(2, 2)",
    ),
    "channels that do not fit": (
        lambda: nn.ConvTranspose1d(2, 1, 2, key=0)(np.zeros((5, 3))),
        "ConvTranspose1d takes arrays of shape (..., length, 2), at least 1 large.",
        "got float64[5,3]",
        "Channels come last:  np.moveaxis(x, 1, -1)  if they are on axis 1; a grey image has one:  x[..., None].",
    ),
    "groups of a norm": (
        lambda: nn.GroupNorm(4, 6),
        "GroupNorm: groups has to divide width.",
        "got groups=4, width=6",
    ),
    "a norm of other rows": (
        lambda: nn.RMSNorm(3)(np.zeros((2, 4))),
        "RMSNorm takes arrays of shape (..., 3).",
        "got x = float64[2,4]",
        "Make it for these:  RMSNorm(4, ...).",
    ),
    "heads that cannot be turned": (
        lambda: nn.TransformerBlock(6, 2, key=0),
        "MultiHeadAttention: width / heads has to be even for rotary positions.",
        "got width=6, heads=2",
    ),
    "another norm": (
        lambda: nn.TransformerBlock(4, 2, norm="batch", key=0),
        "TransformerBlock: norm has to be 'layer' or 'rms'.",
        "got norm='batch'",
    ),
    "an odd axis": (
        lambda: nn.rotary(np.zeros((2, 3))),
        "rotary takes arrays of shape (..., t, d) with d even.",
        "got x = float64[2,3]",
    ),
    "positions of other places": (
        lambda: nn.rotary(np.zeros((2, 4)), np.arange(3)),
        "rotary needs a position for each of 2 places.",
        "got positions of shape (3,)",
    ),
    "blocks that are numbers": (
        lambda: nn.Repeat(lambda key: 3, 2, key=0),
        "Repeat needs blocks that can be called: block(x).",
        "got block = 3",
        "Give layers.",
    ),
    "a cache of what sees all": (
        lambda: extended(causal=False),
        "A cache is for causal attention: a place that is done sees nothing of what follows.",
        "got causal=False",
        "Write  causal=True.",
    ),
    "a cache that is full": (
        lambda: extended(causal=True),
        "The cache has room for 2 places.",
        "got 3 more behind 0",
        "Write  start(shape, capacity)  with a larger capacity.",
    ),
    "blocks that differ": (
        lambda: nn.Repeat([nn.Dense(2, 2, key=0), nn.Dense(2, 2, bias=False, key=0)]),
        "Repeat needs blocks that are alike: the same layers, shapes and options.",
        "got block 1 differs from block 0",
        "Put blocks that differ into  nn.Sequential.",
    ),
    "blocks of other shapes": (
        lambda: nn.Repeat([nn.Dense(2, 2, key=0), nn.Dense(2, 3, key=0)]),
        "Repeat needs blocks that are alike: the same layers, shapes and options.",
        "got block 1 differs from block 0",
        "Put blocks that differ into  nn.Sequential.",
    ),
    "too few blocks": (
        lambda: nn.Repeat([nn.Dense(2, 2, key=0)], 3),
        "Repeat needs as many blocks as depth says.",
        "got block: 1 of them, depth=3",
    ),
    "no depth": (
        lambda: nn.Repeat(nn.Dense(2, 2, key=0)),
        "Repeat: depth has to be a whole number, 1 or more.",
        "got depth=None",
    ),
    "a class for a block": (
        lambda: nn.Repeat(nn.Dense, 3),
        "Repeat needs a block, or a function that makes one from a key.",
        "got <class 'adjoint.nn.layers.dense.Dense'>",
        "Write  nn.Repeat(lambda key: nn.TransformerBlock(16, 4, key=key), 12, key=0).",
    ),
    "no key for blocks": (
        lambda: nn.Repeat(lambda key: nn.Dense(2, 2, key=key), 3),
        "Repeat needs a key for the blocks that the function makes.",
        "got key=None",
        "Write  key=0,  or a key.",
    ),
    "a block that changes the shape": (
        lambda: nn.Repeat(nn.Dense(2, 3, key=0), 1)(np.zeros((4, 2))),
        "A block of Repeat gives what it takes, so that the next one can go on from it.",
        "got shape (4, 2) in, (4, 3) out",
        "Put blocks of other shapes into  nn.Sequential.",
    ),
}


def extended(*, causal):
    """Three places for a cache of two."""
    block = nn.TransformerBlock(4, 2, causal=causal, key=0)
    return block.extend(np.zeros((3, 4)), block.start((), 2))


@pytest.mark.parametrize("name", ERRORS)
def test_messages(name):
    """What is wanted, what was given, and what to do."""
    call, what, *rest = ERRORS[name]
    with pytest.raises(ad.errors.InputError) as error:
        call()
    first, at, *lines = str(error.value).splitlines()
    assert first == what
    assert at.startswith("  at test_messages_of_layers.py:")
    assert [line for line in lines if not line.startswith("  in ")] == [f"  {line}" for line in rest]
