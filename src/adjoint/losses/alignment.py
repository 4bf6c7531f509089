"""Connectionist temporal classification: the loss of sequences whose labels have no places."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import RealNumbers, Size, checked
from .checks import as_dtype, as_floats, is_plain
from .labels import INDEX, check_labels
from .reduction import reduced

FAR = -1e30
"""The logarithm of nothing: its exponential is 0, and differences of it are not nan."""


@checked("targets", "reduction", "output_lengths", "target_lengths")
def ctc(
    outputs: RealNumbers,
    targets: Any,
    *,
    output_lengths: Any = None,
    target_lengths: Any = None,
    blank: Size = 0,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""Minus the logarithm of the probability of a sequence of labels, wherever in the outputs they stand.

    .. math:: l(z, y) = -\log \sum_{\pi \in B^{-1}(y)} \prod_t p_t(\pi_t)

    The sum is over all alignments: a label, or a blank, for each of the T outputs, such that y is left when repetitions
    are made one and blanks are taken out. The forward algorithm adds them up in T steps, with logarithms.

    Parameters
    ----------
    outputs : array of shape (..., T, classes)
        Logits: what a model gives before softmax, for each of T steps.
    targets : array of integers of shape (..., S)
        Labels from 0 to classes - 1, none of them blank. Those behind the end of a sequence are negative, or whatever
        is there if `target_lengths` are given.
    output_lengths : array of integers of shape (...), optional
        How many of the T outputs belong to each sequence. All of them by default.
    target_lengths : array of integers of shape (...), optional
        How many labels each sequence has. By default those that are not negative.
    blank : int, default 0
        The class that stands for no label.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses of the sequences.
    sample_weight : array of shape (n,), optional
        A weight for each sequence. A weighted mean divides by the sum of the weights.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` an array of shape (...).

    Raises
    ------
    ValueError
        If a sequence has fewer outputs than its labels need: one each, and a blank between two that are equal. Where
        values are not known yet, under jit, such a sequence has the loss inf and no gradient.

    Notes
    -----
    PyTorch takes outputs of shape (T, n, classes) that went through log_softmax, and its mean divides the loss of each
    sequence by its number of labels first.

    References
    ----------
    A. Graves, S. Fernández, F. Gomez and J. Schmidhuber, Connectionist Temporal Classification: Labelling Unsegmented
    Sequence Data with Recurrent Neural Networks, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import losses
    >>> even = np.zeros((1, 2, 3))  # of the 9 alignments of two outputs, "1 1", "- 1" and "1 -" give the label 1
    >>> round(float(np.exp(-losses.ctc(even, [[1]])) * 9), 6)
    3.0
    """
    z, labels, length, ends = _sequences(outputs, targets, output_lengths, target_lengths, blank)
    logs = z - ad.stop_gradient(np.max(z, axis=-1, keepdims=True))
    logs = logs - np.log(np.sum(np.exp(logs), axis=-1, keepdims=True))
    states = _between_blanks(labels, blank)
    shape = (*states.shape[:-1], z.shape[-2], states.shape[-1])
    gains = np.take_along_axis(logs, np.broadcast_to(states[..., None, :], shape), axis=-1)
    reached, so_far = _forward(np.where(gains > FAR, gains, FAR), _may_skip(states, blank), length)
    last = np.take_along_axis(reached, 2 * ends[..., None], axis=-1)[..., 0]
    before = np.take_along_axis(reached, np.maximum(2 * ends[..., None] - 1, 0), axis=-1)[..., 0]
    total = _log_of_sum(last, np.where(ends > 0, before, FAR))
    return reduced(np.where(total > 0.5 * FAR, -total - so_far, np.inf), reduction, sample_weight)


def _forward(gains: Any, may_skip: Any, length: Any) -> tuple[Any, Any]:
    """The logarithms of the probabilities of all states behind the last output, and what was taken off all of them.

    The largest is 0 after every step, so that in single precision the digits of the others do not get lost among those
    of a sum over a thousand steps.
    """
    start = np.full((*gains.shape[:-2], gains.shape[-1]), FAR, gains.dtype)
    start[..., 0] = 0.0

    def step(carry: Any, given: Any) -> tuple[Any, None]:
        (reached, so_far), (t, gain) = carry, given
        new = _log_of_sum(reached, _moved(reached, 1), np.where(may_skip, _moved(reached, 2), FAR)) + gain
        largest = ad.stop_gradient(np.max(new, axis=-1))
        new, total = new - largest[..., None], so_far + largest
        if length is None:
            return (new, total), None
        goes_on = t < length
        return (np.where(goes_on[..., None], new, reached), np.where(goes_on, total, so_far)), None

    steps = (np.arange(gains.shape[-2]), np.moveaxis(gains, -2, 0))
    carry, _ = ad.scan(step, (start, np.zeros(gains.shape[:-2], gains.dtype)), steps)
    return carry


def _moved(reached: Any, by: int) -> Any:
    """What was reached this many states earlier."""
    front = np.full_like(reached[..., :by], FAR)
    return np.concatenate([front, reached[..., :-by]], axis=-1)[..., : reached.shape[-1]]


def _log_of_sum(*logs: Any) -> Any:
    """log(e^a + e^b + ...), which nothing overflows in."""
    largest = logs[0]
    for other in logs[1:]:
        largest = np.maximum(largest, other)
    largest = ad.stop_gradient(largest)
    return largest + np.log(sum([np.exp(one - largest) for one in logs]))


def _between_blanks(labels: Any, blank: int) -> Any:
    """The states: a blank in front of each label, and one at the end."""
    none = np.full_like(labels[..., None], blank)
    pairs = np.concatenate([none, labels[..., None]], axis=-1).reshape(*labels.shape[:-1], 2 * labels.shape[-1])
    return np.concatenate([pairs, np.full((*labels.shape[:-1], 1), blank, labels.dtype)], axis=-1)


def _may_skip(states: Any, blank: int) -> Any:
    """Whether the blank in front of a state may be left out: not between two labels that are equal."""
    earlier = np.concatenate([np.full_like(states[..., :2], blank), states[..., :-2]], axis=-1)[..., : states.shape[-1]]
    return (states != blank) & (states != earlier)


def _sequences(outputs: Any, targets: Any, output_lengths: Any, target_lengths: Any, blank: int) -> Any:
    """Logits, labels in range, the lengths of outputs (None for all) and of labels; refused if they do not fit."""
    z = as_floats(outputs)
    labels = targets if isinstance(targets, np.ndarray) else np.asarray(targets)
    if z.ndim < 2 or labels.ndim != z.ndim - 1 or labels.shape[:-1] != z.shape[:-2] or not z.shape[-2]:
        raise ValueError(
            ad.errors.message(
                "ctc needs outputs of shape (..., T, classes) and targets of shape (..., S).",
                got=f"outputs of shape {z.shape} and targets of shape {labels.shape}",
                fix="Write  np.swapaxes(outputs, 0, 1)  if the first axis is that of steps.",
            )
        )
    classes = z.shape[-1]
    if not blank < classes:
        raise ValueError(
            ad.errors.message(
                "blank has to be one of the classes.",
                got=f"blank={blank!r} for {classes} classes",
                fix="The model needs an output more than there are labels.",
            )
        )
    if labels.size and labels.dtype.kind not in "iu":
        check_labels(labels, classes)
    labels = as_dtype(labels, INDEX)
    ends = (
        np.sum(labels >= 0, axis=-1) if target_lengths is None else _lengths(target_lengths, labels, "target_lengths")
    )
    length = None if output_lengths is None else _lengths(output_lengths, labels, "output_lengths")
    counts = np.arange(labels.shape[-1]) < ends[..., None]
    inner = np.where(counts, labels, (blank + 1) % classes)
    _check_values(inner, counts, z.shape, length, ends, blank)
    return z, inner, length, ends


def _lengths(lengths: Any, labels: Any, name: str) -> Any:
    """One whole number for each sequence."""
    found = lengths if isinstance(lengths, np.ndarray) else np.asarray(lengths)
    if found.shape != labels.shape[:-1] or found.dtype.kind not in "iu":
        raise ValueError(
            ad.errors.message(
                f"{name} needs a whole number for each sequence.",
                got=f"{name}: {found.dtype}[{','.join(map(str, found.shape))}]",
                fix=f"Pass an array of integers of shape {labels.shape[:-1]}.",
            )
        )
    return as_dtype(found, INDEX)


def _check_values(labels: Any, counts: Any, shape: tuple[int, ...], length: Any, ends: Any, blank: int) -> None:
    """Raise if plain labels are out of range or blank, or have no room in their outputs."""
    if not is_plain(labels) or not is_plain(ends) or not (length is None or is_plain(length)):
        return
    steps, classes = shape[-2:]
    check_labels(labels, classes)
    have = np.full(ends.shape, steps) if length is None else length
    if (have > steps).any() or (have < 1).any() or (ends > labels.shape[-1]).any() or (ends < 0).any():
        raise ValueError(
            ad.errors.message(
                "The lengths of sequences are at most those of the arrays; there is one output or more.",
                got=f"output_lengths to {have.max()} of {steps}, target_lengths to {ends.max()} of {labels.shape[-1]}",
                fix="Count the steps behind the model: a stride makes sequences shorter.",
            )
        )
    if ((labels == blank) & counts).any():
        raise ValueError(
            ad.errors.message(
                f"Labels must not be {blank}, which stands for no label.",
                got=f"targets[{', '.join(map(str, np.argwhere((labels == blank) & counts)[0]))}] = {blank}",
                fix="Count labels from 1, or write  blank=classes - 1.",
            )
        )
    needed = ends + np.sum((labels[..., 1:] == labels[..., :-1]) & counts[..., 1:], axis=-1)
    if (needed > have).any():
        place = tuple(np.argwhere(needed > have)[0])
        raise ValueError(
            ad.errors.message(
                "A sequence has more labels than its outputs have room for, with a blank between two that are equal.",
                got=f"{int(have[place])} outputs for labels that need {int(needed[place])}",
                fix="Take longer sequences or a smaller stride, or leave these out.",
            )
        )
