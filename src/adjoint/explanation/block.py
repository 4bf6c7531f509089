"""`block`: a name for a few steps, so that an explanation can show them as one."""

from __future__ import annotations

import itertools
from contextlib import ContextDecorator
from contextvars import ContextVar

from ..core.errors import ArgumentError, message
from ..core.values import describe

Blocks = tuple[tuple[str, int], ...]
"""The blocks around a step, from the outermost in: a name, and a number that tells one entry from the next."""

_current: ContextVar[Blocks] = ContextVar("blocks", default=())
_entries = itertools.count()


class block(ContextDecorator):  # noqa: N801  (a function to its users)
    """Give the steps inside a name: `ad.explain` shows them as one row, box or group.

    It does not change what is computed. It is a context manager and a decorator; blocks nest.

    Parameters
    ----------
    name : str
        What the rows, the graph and the page call it.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> def f(x):
    ...     with ad.block("layer"):
    ...         h = np.tanh(2.0 * x + 1.0)
    ...     return h**2
    >>> print(ad.explain(f, digits=2)(0.5))
    forward primal trace         reverse adjoint trace
    v0 = x                0.5    ∇x = ∂f/∂x = ∇v0          0.27
    v1 = h = layer(x)     0.96   ∇x = ∇h through layer     0.27
    v2 = h²               0.93   ∇h = ∇v2 · 2·h            1.93
    f = v2                0.93   ∇v2 = ∂f/∂v2                 1
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ArgumentError(message("block needs name, a text.", got=f"name = {describe(name)}"))
        self.name = name

    def __enter__(self) -> None:
        _current.set((*_current.get(), (self.name, next(_entries))))

    def __exit__(self, *exception: object) -> None:
        _current.set(_current.get()[:-1])  # no token is kept: one block may be open in several threads


def blocks_now() -> Blocks:
    """The blocks that the running code stands in."""
    return _current.get()
