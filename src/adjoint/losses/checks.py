"""Whether outputs and targets fit together.

Shapes and dtypes are looked at in every call, which costs nothing once a function is recorded. Values are looked at
where they are plain, not where they are traced: so a jitted loss does not check its labels at every call, and
`check_targets` does it for the whole of the data before a training starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import checked

Shape = tuple[int, ...]
FLOAT64 = np.dtype(np.float64)


@checked("outputs")
def check_targets(loss: Callable[..., Any], outputs: Any, targets: Any) -> None:
    """Raise what `loss(outputs, targets)` would, looking at all targets and computing nothing.

    A training calls it once, for all of its data, as a jitted loss does not look at values.

    Parameters
    ----------
    loss : callable
        Any loss: one of these, a partial or lambda of one, or your own.
    outputs : array, Shape, or containers of these
        What the outputs for these targets look like, as `ad.eval_shape(model, X)` gives it.
    targets : array or containers of arrays
        The targets.

    Raises
    ------
    TypeError
        If the dtype of the targets does not fit.
    ValueError
        If their shape or a value does not.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> from adjoint import losses
    >>> X, W, y = np.ones((4, 2)), np.ones((2, 3)), np.array([0, 1, 2, 3])
    >>> losses.check_targets(losses.cross_entropy, ad.eval_shape(lambda x: x @ W, X), y)
    Traceback (most recent call last):
        ...
    ValueError: Labels have to be whole numbers from 0 to 2, as there are 3 classes.
      at ...
      got targets[3] = 3
      Count classes from 0:  np.unique(y, return_inverse=True)[1]  numbers them.
    """
    ad.eval_shape(lambda outputs: loss(outputs, targets), outputs)


def as_dtype(x: Any, dtype: np.dtype) -> Any:
    """An array of this dtype, traced if it was."""
    x = x if isinstance(x, np.ndarray) else np.asarray(x)
    return x if x.dtype == dtype else x.astype(dtype)


def as_floats(outputs: Any, name: str = "outputs") -> Any:
    """The outputs as an array of floating-point numbers; its dtype is the one that the loss is computed in."""
    outputs = outputs if isinstance(outputs, np.ndarray) else np.asarray(outputs)
    if outputs.dtype.kind == "f":
        return outputs
    if outputs.dtype.kind in "iub":
        return outputs.astype(FLOAT64)
    raise TypeError(
        ad.errors.message(
            f"{name} have to be real numbers.",
            got=f"{name}: {described(outputs)}",
            fix="Pass an array of floats; of complex outputs, their real part or their absolute value.",
        )
    )


def is_plain(x: Any) -> bool:
    """Whether these are values to look at, and not handles of values to come."""
    return type(x) is np.ndarray


def described(x: Any) -> str:
    """`float32[32,10]`."""
    return f"{x.dtype}[{','.join(map(str, x.shape))}]"


def same_shape(outputs: Any, targets: Any, loss: str) -> tuple[Any, Any]:
    """Outputs and targets in the dtype of the outputs, one target for each output: nothing is broadcast."""
    outputs = as_floats(outputs)
    targets = as_floats(targets, "targets")
    if outputs.shape != targets.shape:
        raise ValueError(
            ad.errors.message(
                f"{loss} needs one target for each output.",
                got=f"outputs of shape {outputs.shape} and targets of shape {targets.shape}",
                fix=_same_shape_advice(outputs.shape, targets.shape),
            )
        )
    refuse_nan(targets, "targets")
    return outputs, as_dtype(targets, outputs.dtype)


def _same_shape_advice(outputs: Shape, targets: Shape) -> str:
    if outputs == (*targets, 1):
        return f"Write  targets[..., None],  or  outputs[..., 0];  wanted targets of shape {outputs}."
    if targets == (*outputs, 1):
        return f"Write  targets[..., 0];  wanted targets of shape {outputs}."
    return f"Wanted targets of shape {outputs}."


def refuse_nan(x: Any, name: str) -> None:
    """Raise if plain values have a nan, and say where."""
    if is_plain(x) and x.dtype.kind == "f" and np.isnan(x).any():
        place = tuple(map(int, np.argwhere(np.isnan(x))[0]))
        raise ValueError(
            ad.errors.message(
                f"{name} must not have nan.",
                got=f"nan at {name}[{', '.join(map(str, place))}]",
                fix="Leave these examples out, or give them a target and  sample_weight  0.",
            )
        )


def refuse_negative(counts: Any, loss: str) -> None:
    """Raise if plain counts are below 0, and say where."""
    if is_plain(counts) and np.any(counts < 0):
        place = tuple(map(int, np.argwhere(counts < 0)[0]))
        raise ValueError(
            ad.errors.message(
                f"{loss} needs counts, which are not negative.",
                got=f"{counts[place]:g} at targets[{', '.join(map(str, place))}]",
                fix="Leave these examples out, or take another loss, such as  losses.squared.",
            )
        )


def check_weights(weights: Any, name: str) -> None:
    """Raise if plain weights are negative, not finite, or all zero."""
    weights = np.asarray(weights) if not isinstance(weights, np.ndarray) else weights
    if not is_plain(weights) or not weights.size:
        return
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any() or not weights.any():
        got = f"{float(weights[wrong][0]):g}" if wrong.any() else "0 for all of them"
        raise ValueError(
            ad.errors.message(
                f"{name} needs finite weights that are not negative, and not all of them 0.",
                got=f"{name}: {got}",
                fix="A weight of 2 counts as an example given twice, 0 leaves it out.",
            )
        )


def check_share(share: float, name: str) -> None:
    """Raise if this is not from 0 to 1, without 1 itself."""
    if not 0 <= share < 1:
        raise ValueError(
            ad.errors.message(f"{name} has to be at least 0 and below 1.", got=f"{name}={share!r}", fix="0.1 is usual.")
        )
