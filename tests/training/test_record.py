"""The record of a training run: what belongs together, and what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.training.record import Record
from tests.training import records


def test_curves_by_quantity():
    """The loss first, then the others as they come; training before validation."""
    one = np.ones(2)
    curves = {"validation_accuracy": one, "rate": one, "validation_loss": one, "accuracy": one, "loss": one}
    assert Record("r", curves=curves).quantities == {
        "loss": ["loss", "validation_loss"],
        "rate": ["rate"],
        "accuracy": ["accuracy", "validation_accuracy"],
    }
    assert Record("r", curves={"accuracy": one}).quantities == {"accuracy": ["accuracy"]}


def test_norms_by_layer():
    """The arrays of a layer together, as one vector; an array without a layer is its own."""
    norms = {"a.weight": np.array([3.0]), "a.bias": np.array([4.0]), "w": np.array([2.0])}
    found = Record("r", gradient_norms=norms).layer_norms
    assert {name: v.tolist() for name, v in found.items()} == {"a": [5.0], "w": [2.0]}


def test_frames_have_to_fit():
    """As many pictures as frames."""
    with pytest.raises(ad.errors.InputError) as caught:
        Record("r", frames=[0, 1], weights={"w": [np.ones(3)]})
    first, _, *rest = str(caught.value).splitlines()
    assert [first, *rest] == [
        "A record needs a picture of w for each of its frames.",
        "  got 1 pictures for 2 frames",
        "  Give as many arrays as there are epochs in frames.",
    ]
    with pytest.raises(ad.errors.InputError, match="picture of boundary"):
        Record("r", frames=[0, 1], boundary=records.moons().boundary)
