"""Labels of classes: whole numbers, or one-hot rows and probabilities, whichever they are by their shape."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Count, RealNumbers, checked
from ..typing import Array
from .checks import as_dtype, as_floats, described, is_plain, refuse_nan

INDEX = np.dtype(np.int64)
"""The dtype of indices that machine code reads by itself."""

BINARY = {
    "cross_entropy": "losses.binary_cross_entropy  with targets of the shape of the outputs:  y[..., None]",
    "focal": "binary=True  with targets of the shape of the outputs:  y[..., None]",
    "hinge": "targets -1 and 1 of the shape of the outputs:  2 * y[..., None] - 1",
    "margin": "targets -1 and 1 of the shape of the outputs:  2 * y[..., None] - 1",
    "zero_one": "targets of the shape of the outputs:  y[..., None]",
}
"""What to write for one output and two classes."""


def classes_of(outputs: Array, targets: Array, loss: str) -> tuple[Any, Any, bool]:
    """Logits, targets, and whether the targets are numbers of classes (else one probability for each class)."""
    outputs = as_floats(outputs)
    targets = targets if isinstance(targets, np.ndarray) else np.asarray(targets)
    if not outputs.shape or (targets.shape != outputs.shape and targets.shape != outputs.shape[:-1]):
        raise ValueError(_misfit(outputs.shape, targets.shape, loss))
    if outputs.shape[-1] == 1:
        raise ValueError(_one_output(outputs.shape, loss))
    if targets.shape == outputs.shape:
        _check_probabilities(targets)
        return outputs, as_dtype(targets, outputs.dtype), False
    check_labels(targets, outputs.shape[-1])
    return outputs, as_dtype(targets, INDEX), True


def _misfit(outputs: tuple[int, ...], targets: tuple[int, ...], loss: str) -> str:
    """The message for shapes that do not fit, with advice for the usual cases."""
    advice = f"Wanted targets of shape {outputs[:-1]} (labels) or {outputs} (one-hot, probabilities)."
    if outputs and targets == (*outputs[:-1], 1):
        advice = f"Write  targets[..., 0]  for labels of shape {outputs[:-1]}."
    if len(outputs) == len(targets) + 2 and outputs[: len(targets)] == targets:
        advice += "\nFor one label for each sequence take the last output:  nn.Recurrent(cell, last=True)."
    if outputs == targets[:-1] or len(outputs) < 1 or outputs[-1:] == (1,):
        advice += "\nFor one output and two classes there is  losses.binary_cross_entropy."
    return ad.errors.message(
        f"{loss} needs a label, or a probability for each class, for each row of outputs.",
        got=f"outputs of shape {outputs} and targets of shape {targets}",
        fix=advice,
    )


def _one_output(outputs: tuple[int, ...], loss: str) -> str:
    """The message for one output, of which the softmax is 1 whatever it is."""
    other = f",  or use  {BINARY[loss]}" if loss in BINARY else ""
    fix = f"For two classes give the model two outputs{other}."
    return ad.errors.message(
        f"{loss} needs an output for each class.", got=f"outputs of shape {outputs}: one class", fix=fix
    )


@checked("labels")
def check_labels(labels: RealNumbers, classes: Count) -> None:
    """Raise if labels are not whole numbers from 0 to `classes` - 1.

    Traced labels have no values to look at: of these the dtype alone is checked.

    Parameters
    ----------
    labels : array of integers
        The labels, of any shape.
    classes : int
        How many classes there are: the length of the last axis of a model's outputs.

    Raises
    ------
    TypeError
        If the labels are not integers.
    ValueError
        If one is out of range.

    Examples
    --------
    >>> from adjoint import losses
    >>> losses.check_labels([0, 2, 1], 3)
    >>> losses.check_labels([1, 2, 3], 3)
    Traceback (most recent call last):
        ...
    ValueError: Labels have to be whole numbers from 0 to 2, as there are 3 classes.
      at ...
      got targets[2] = 3
      Count classes from 0:  np.unique(y, return_inverse=True)[1]  numbers them.
      in check_labels(labels = list, classes = int 3)
    """
    labels = labels if isinstance(labels, np.ndarray) else np.asarray(labels)
    whole = f"Labels have to be whole numbers from 0 to {classes - 1}, as there are {classes} classes."
    if labels.dtype.kind not in "iu":
        raise TypeError(
            ad.errors.message(
                whole,
                got=f"targets: {described(labels)}",
                fix="Write  y.astype(int)  if these are numbers of classes;  np.unique(y, return_inverse=True)[1] "
                "numbers any others.",
            )
        )
    if not is_plain(labels) or not labels.size or (labels.min() >= 0 and labels.max() < classes):
        return
    place = tuple(map(int, np.argwhere((labels < 0) | (labels >= classes))[0]))
    raise ValueError(
        ad.errors.message(
            whole,
            got=f"targets[{', '.join(map(str, place))}] = {int(labels[place])}",
            fix="Count classes from 0:  np.unique(y, return_inverse=True)[1]  numbers them.",
        )
    )


def _check_probabilities(targets: Array) -> None:
    """Raise if plain rows are not probabilities."""
    if not is_plain(targets) or not targets.size:
        return
    refuse_nan(targets, "targets")
    total = targets.sum(axis=-1)
    wrong = (np.abs(total - 1) > 1e-3) | (targets.min(axis=-1) < 0)
    if wrong.any():
        place = tuple(map(int, np.argwhere(wrong)[0]))
        where = f"targets[{', '.join(map(str, place))}]" if place else "targets"
        raise ValueError(
            ad.errors.message(
                "Targets with one number for each class have to be probabilities: none negative, 1 in all.",
                got=f"{where} = {np.array2string(targets[place], precision=4, threshold=8)}",
                fix="Pass one-hot rows, as  data.one_hot(labels)  gives them, or divide by the sum of each row.",
            )
        )


def picked(rows: Array, labels: Array) -> Any:
    """Of each row the number at its label."""
    return np.take_along_axis(rows, labels[..., None], axis=-1)[..., 0]


def own_and_others(logits: Array, targets: Array, are_labels: bool) -> tuple[Any, Any, Any]:
    """The logit of the true class, all logits with -inf in its place, and which that is."""
    classes = logits.shape[-1]
    is_own = targets[..., None] == np.arange(classes) if are_labels else targets > 0.5
    own = picked(logits, targets) if are_labels else np.sum(np.where(is_own, logits, 0.0), axis=-1)
    return own, np.where(is_own, -np.inf, logits), is_own
