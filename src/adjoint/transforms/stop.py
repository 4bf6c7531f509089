"""`stop_gradient` and `value`: the two ways to say that no derivative is wanted."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..core.traced import Traced
from ..core.tree import flatten
from ..core.values import decidable
from ..ops.shape import stopped

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """The same value as a constant: nothing is differentiated through it.

    Parameters
    ----------
    x : any containers
        Numbers and arrays, traced or not; containers are taken leaf by leaf.

    Returns
    -------
    same as `x`
        The same values, with derivative 0.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.grad(lambda x: x * ad.stop_gradient(x))(3.0)
    3.0
    """
    leaves, rebuild = flatten(x)
    return rebuild([stopped(leaf) if isinstance(leaf, Traced) else leaf for leaf in leaves])


def value(x: T) -> T:
    """The plain number or array under a traced value, for printing, logging or plain code.

    Parameters
    ----------
    x : any containers
        Numbers and arrays, traced or not; containers are taken leaf by leaf.

    Returns
    -------
    same as `x`
        The plain values. Arrays that were traced are read-only.

    Examples
    --------
    >>> import adjoint as ad
    >>> seen = []
    >>> ad.grad(lambda x: seen.append(ad.value(x)) or x**2)(3.0), seen
    (6.0, [3.0])
    """
    leaves, rebuild = flatten(x)
    return rebuild([read_only(decidable(leaf)) if isinstance(leaf, Traced) else leaf for leaf in leaves])


def read_only(x: Any) -> Any:
    """The same numbers, not to be written to."""
    if isinstance(x, Traced):
        return Traced(read_only(x.value), x.traced_by, x.node)
    if not isinstance(x, np.ndarray):
        return x
    view = x.view()
    view.flags.writeable = False
    return view
