"""What losses of alignments, pairs, overlaps and quantiles refuse: every message word by word."""

from __future__ import annotations

import numpy as np
import pytest

from adjoint import losses

Z, F = np.zeros((4, 3)), np.zeros(4)
STEPS = np.zeros((2, 3, 4))
CLASSES = "Labels have to be whole numbers from 0 to 3, as there are 4 classes."
ROOM = "A sequence has more labels than its outputs have room for, with a blank between two that are equal."
LENGTHS = "The lengths of sequences are at most those of the arrays; there is one output or more."
Q = "quantile needs q above 0 and below 1: a number, or one for each output."
ENDS = "Write  q=0.5  for the median,  q=(0.05, 0.95)  for the ends of an interval."

ERRORS = {
    "rows that are ignored": (
        lambda: losses.cross_entropy(Z, np.full((4, 3), 1 / 3), ignore_index=-100),
        "ignore_index is for labels: whole numbers, one for each row of outputs.",
        "got targets: float64[4,3] for outputs of shape (4, 3)",
        "Write  sample_weight  with 0 for rows of probabilities that do not count.",
    ),
    "a label that is another one": (
        lambda: losses.cross_entropy(Z, [0, 1, -1, -100], ignore_index=-100),
        "Labels have to be whole numbers from 0 to 2, as there are 3 classes.",
        "got targets[2] = -1",
        "Count classes from 0:  np.unique(y, return_inverse=True)[1]  numbers them.",
    ),
    "a quantile of all": (lambda: losses.quantile(F, F, q=1.0), Q, "got q=1.0", ENDS),
    "quantiles in percent": (lambda: losses.quantile(Z, F, q=(5, 50, 95)), Q, "got q=(5, 50, 95)", ENDS),
    "too few quantiles": (
        lambda: losses.quantile(Z, F, q=(0.1, 0.9)),
        "quantile needs 2 outputs for each target, one for each q.",
        "got outputs of shape (4, 3) and targets of shape (4,)",
        "Wanted outputs of shape (4, 2).",
    ),
    "a negative for all": (
        lambda: losses.triplet(Z, Z, Z[0]),
        "triplet needs a positive and a negative for each anchor, all of shape (..., d).",
        "got shapes (4, 3), (4, 3) and (3,)",
        "Repeat what is used several times:  np.broadcast_to(x, anchor.shape).",
    ),
    "one pair": (
        lambda: losses.info_nce(Z[:1], Z[:1]),
        "info_nce needs two arrays of shape (n, d), whose rows belong together, and two rows or more.",
        "got outputs of shape (1, 3) and targets of shape (1, 3)",
        "The other rows of a batch are what a row is told apart from.",
    ),
    "an overlap of numbers": (
        lambda: losses.dice(F, F),
        "dice needs outputs of shape (n, ...): an example is what follows the first axis.",
        "got outputs of shape (4,)",
        "Write  outputs[None]  and  targets[None]  for one example.",
    ),
    "steps first": (
        lambda: losses.ctc(STEPS, np.ones((3, 2), int)),
        "ctc needs outputs of shape (..., T, classes) and targets of shape (..., S).",
        "got outputs of shape (2, 3, 4) and targets of shape (3, 2)",
        "Write  np.swapaxes(outputs, 0, 1)  if the first axis is that of steps.",
    ),
    "a blank that is no class": (
        lambda: losses.ctc(STEPS, [[1], [1]], blank=4),
        "blank has to be one of the classes.",
        "got blank=4 for 4 classes",
        "The model needs an output more than there are labels.",
    ),
    "a label that is no class": (
        lambda: losses.ctc(STEPS, [[1], [4]]),
        CLASSES,
        "got targets[1, 0] = 4",
        "Count classes from 0:  np.unique(y, return_inverse=True)[1]  numbers them.",
    ),
    "a blank among the labels": (
        lambda: losses.ctc(STEPS, [[1, 2], [3, 0]]),
        "Labels must not be 0, which stands for no label.",
        "got targets[1, 1] = 0",
        "Count labels from 1, or write  blank=classes - 1.",
    ),
    "no room": (
        lambda: losses.ctc(STEPS, [[1, 2, 3], [2, 2, 3]]),
        ROOM,
        "got 3 outputs for labels that need 4",
        "Take longer sequences or a smaller stride, or leave these out.",
    ),
    "lengths of a batch": (
        lambda: losses.ctc(STEPS, [[1], [2]], output_lengths=3),
        "output_lengths needs a whole number for each sequence.",
        "got output_lengths: int64[]",
        "Pass an array of integers of shape (2,).",
    ),
    "lengths that are too long": (
        lambda: losses.ctc(STEPS, [[1], [2]], output_lengths=[3, 5]),
        LENGTHS,
        "got output_lengths to 5 of 3, target_lengths to 1 of 1",
        "Count the steps behind the model: a stride makes sequences shorter.",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_message(name):
    """What could not be done, where, what was met, what to do."""
    call, what, *rest = ERRORS[name]
    with pytest.raises(ValueError) as error:  # noqa: PT011  (its text is compared below)
        call()
    first, at, *lines = str(error.value).splitlines()
    assert first == what
    assert at.startswith("  at test_messages_of_sequences.py:")
    assert lines[: len(rest)] == [f"  {line}" for line in rest]


def test_labels_that_are_floats():
    """As in all losses of labels."""
    with pytest.raises(TypeError, match=CLASSES):
        losses.ctc(STEPS, [[1.0], [2.0]])
