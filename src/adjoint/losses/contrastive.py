"""Losses of embeddings: what belongs together is to be near, everything else is not."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import NonNegative, Positive, RealNumbers, checked
from .checks import as_dtype, as_floats
from .reduction import reduced


@checked("reduction")
def triplet(
    anchor: RealNumbers,
    positive: RealNumbers,
    negative: RealNumbers,
    *,
    margin: NonNegative = 1.0,
    reduction: str = "mean",
    sample_weight: RealNumbers | None = None,
) -> Any:
    r"""What a negative lacks to being further away from the anchor than the positive by a margin.

    .. math:: l(a, p, n) = \max(0, \|a - p\| - \|a - n\| + m)

    Parameters
    ----------
    anchor : array of shape (..., d)
        Embeddings.
    positive : array of the same shape
        Embeddings of what belongs to the anchors.
    negative : array of the same shape
        Embeddings of what does not.
    margin : float, default 1.0
        The margin m.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses of the triplets.
    sample_weight : array of shape (n,), optional
        A weight for each triplet. A weighted mean divides by the sum of the weights.

    Returns
    -------
    number or array
        The loss, of the dtype of the anchors. With `reduction="none"` an array of shape (...).

    Notes
    -----
    Two equal embeddings have distance 0, where its derivative is taken to be 0. As the loss of a training, of a model
    that gives three embeddings: `lambda outputs, _: losses.triplet(*outputs)`.

    References
    ----------
    F. Schroff, D. Kalenichenko and J. Philbin, FaceNet: A Unified Embedding for Face Recognition and Clustering, 2015.

    Examples
    --------
    >>> from adjoint import losses
    >>> anchor, near, far = [[0.0, 0.0]], [[3.0, 4.0]], [[0.0, 5.5]]
    >>> losses.triplet(anchor, near, far, reduction="none"), losses.triplet(anchor, near, far, margin=0.25)
    (array([0.5]), np.float64(0.0))
    """
    a = as_floats(anchor, "anchor")
    p, n = [as_dtype(as_floats(x, name), a.dtype) for x, name in ((positive, "positive"), (negative, "negative"))]
    if not a.shape or a.shape != p.shape or a.shape != n.shape:
        raise ValueError(
            ad.errors.message(
                "triplet needs a positive and a negative for each anchor, all of shape (..., d).",
                got=f"shapes {a.shape}, {p.shape} and {n.shape}",
                fix="Repeat what is used several times:  np.broadcast_to(x, anchor.shape).",
            )
        )
    return reduced(np.maximum(_length(a - p) - _length(a - n) + margin, 0.0), reduction, sample_weight)


@checked("reduction")
def info_nce(
    outputs: RealNumbers,
    targets: RealNumbers,
    *,
    temperature: Positive = 0.1,
    symmetric: bool = False,
    reduction: str = "mean",
) -> Any:
    r"""Cross-entropy of finding, among all targets of a batch, the one that belongs to an output.

    .. math:: l_i = -\log \frac{e^{s_{ii} / \tau}}{\sum_j e^{s_{ij} / \tau}}, \qquad
        s_{ij} = \frac{f_i \cdot t_j}{\|f_i\| \, \|t_j\|}

    Parameters
    ----------
    outputs : array of shape (n, d)
        Embeddings f: two or more.
    targets : array of shape (n, d)
        Embeddings t, of another view of the same things, in the same order: the other n - 1 are the negatives.
    temperature : float, default 0.1
        The temperature tau, above 0; it may be a parameter of the model.
    symmetric : bool, default False
        Whether the loss is the mean of this and of finding the output that belongs to a target, as in CLIP.
    reduction : {"mean", "sum", "none"}, default "mean"
        What becomes of the losses of the examples.

    Returns
    -------
    number or array
        The loss, of the dtype of the outputs. With `reduction="none"` one for each example.

    Notes
    -----
    Both sides have a derivative. SimCLR's loss counts the other outputs as negatives, too.

    References
    ----------
    A. van den Oord, Y. Li and O. Vinyals, Representation Learning with Contrastive Predictive Coding, 2018;
    A. Radford and others, Learning Transferable Visual Models From Natural Language Supervision (CLIP), 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import losses
    >>> views = np.eye(4)  # each is found: it is at distance 0, and the others are orthogonal
    >>> round(float(losses.info_nce(views, 3.0 * views)), 6), round(float(losses.info_nce(views, np.ones((4, 4)))), 6)
    (0.000136, 1.386294)
    """
    f = as_floats(outputs)
    t = as_dtype(as_floats(targets, "targets"), f.dtype)
    if f.ndim != 2 or f.shape != t.shape or f.shape[0] < 2:
        raise ValueError(
            ad.errors.message(
                "info_nce needs two arrays of shape (n, d), whose rows belong together, and two rows or more.",
                got=f"outputs of shape {f.shape} and targets of shape {t.shape}",
                fix="The other rows of a batch are what a row is told apart from.",
            )
        )
    logits = (_directions(f) @ np.swapaxes(_directions(t), 0, 1)) / as_dtype(temperature, f.dtype)
    losses = _of_the_diagonal(logits)
    if symmetric:
        losses = 0.5 * (losses + _of_the_diagonal(np.swapaxes(logits, 0, 1)))
    return reduced(losses, reduction)


def _of_the_diagonal(logits: Any) -> Any:
    """Cross-entropy of rows whose true class is their own number."""
    shifted = logits - ad.stop_gradient(np.max(logits, axis=-1, keepdims=True))
    return np.log(np.sum(np.exp(shifted), axis=-1)) - np.diagonal(shifted)


def _directions(x: Any) -> Any:
    """Rows of length 1; a row of zeros stays."""
    length = _length(x)[..., None]
    return x / np.where(length > 0.0, length, 1.0)


def _length(x: Any) -> Any:
    """The Euclidean length of rows, with derivative 0 where it is 0."""
    square = np.sum(x * x, axis=-1)
    is_some = square > 0.0
    return np.where(is_some, np.sqrt(np.where(is_some, square, 1.0)), 0.0)
