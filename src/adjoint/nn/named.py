"""Activations by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from ..arguments import checked
from . import activations, checks

NAMES = (
    "elu", "gelu", "identity", "leaky_relu", "log_softmax", "relu", "sigmoid", "silu", "softmax", "softplus", "tanh",
)  # fmt: skip
ELSEWHERE = {"swish": "silu", "linear": "identity", "none": "identity", "logistic": "sigmoid", "hardmax": "softmax"}


@checked("function")
def activation(function: str | Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The activation of a name; a function is given back as it is.

    Parameters
    ----------
    function : str or callable
        "elu", "gelu", "identity", "leaky_relu", "log_softmax", "relu", "sigmoid", "silu", "softmax", "softplus" or
        "tanh"; or any function of an array.

    Returns
    -------
    callable
        The function.

    Raises
    ------
    InputError
        If there is no activation of this name.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.activation("relu")(-1.0)
    np.float64(0.0)
    """
    if callable(function):
        return function
    name = function.lower().replace("-", "_").replace(" ", "_") if isinstance(function, str) else None
    if name in NAMES:
        found: Callable[[Any], Any] = getattr(activations, name)
        return found
    if name == "prelu":
        fix = (
            'Its slopes are trained, so it is a layer:  nn.PReLU(width).  nn.MLP(..., activation="prelu")  makes them.'
        )
        raise checks.refuse("prelu is not a plain function.", f"activation={function!r}", fix)
    close = [ELSEWHERE[name]] if name in ELSEWHERE else difflib.get_close_matches(name or "", NAMES, n=3, cutoff=0.5)
    meant = f"Did you mean  {', '.join(map(repr, close))}?\n" if close else ""
    raise checks.refuse(
        "There is no activation of this name.",
        f"activation={function!r}",
        f"{meant}The names are {', '.join(NAMES)}, prelu; a function of an array works too.",
    )
