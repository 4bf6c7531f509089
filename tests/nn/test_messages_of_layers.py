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
}


@pytest.mark.parametrize("name", ERRORS)
def test_messages(name):
    """What is wanted, what was given, and what to do."""
    call, what, *rest = ERRORS[name]
    with pytest.raises(ad.errors.InputError) as error:
        call()
    first, at, *lines = str(error.value).splitlines()
    assert first == what
    assert at.startswith("  at test_messages_of_layers.py:")
    assert lines == [f"  {line}" for line in rest]
