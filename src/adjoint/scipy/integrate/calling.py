"""A call of one of SciPy's integrators, taken apart: its arguments by name, the values behind them, the plain run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.traced import Traced
from ...transforms.callbacks.plain import plain_function, plainly
from ...transforms.callbacks.reach import Reach
from ...transforms.callbacks.solver import Callbacks

Given = dict[str, Any]
"""The arguments of a call by name."""
SCIPY = "scipy.integrate"


class SolverCall:
    """A call of a function, of which `functions` names the arguments that are called back."""

    def __init__(
        self, name: str, original: Callable[..., Any], args: tuple[Any, ...], kwargs: Given, *functions: str
    ) -> None:
        self.name, self.original, self.functions = f"{SCIPY}.{name}", original, functions
        self.signature = signature_of(original)
        self.given: Given = dict(self.signature.bind(*args, **kwargs).arguments)
        self.callbacks = Callbacks(self.given, list(Reach(self.given).handles))
        """Their parts are the arguments by name, and the values behind them, to know them again."""

    @property
    def is_traced(self) -> bool:
        """Whether a traced value is anywhere behind the arguments."""
        return self.callbacks.is_traced

    def plain(self) -> Any:
        """What SciPy gives where nothing that is traced has a part in it."""
        given, _ = self.callbacks.parts(self.callbacks.values)
        with plainly():
            return self.run(given)

    def run(self, given: Given) -> Any:
        """Call SciPy's function with arguments by name."""
        bound = inspect.BoundArguments(self.signature, given)  # type: ignore[arg-type]
        return self.original(*bound.args, **bound.kwargs)

    def looked_at(self, given: Given) -> Given:
        """The arguments with functions whose results are looked at: no traced value may come out of them."""
        return {k: plain_function(self.name, v) if k in self.functions and callable(v) else v for k, v in given.items()}


@functools.cache
def signature_of(original: Callable[..., Any]) -> inspect.Signature:
    """The parameters of a SciPy function."""
    return inspect.signature(original)


def as_tuple(args: Any) -> tuple[Any, ...]:
    """Extra arguments of a function: SciPy takes one that is no tuple as well, and None for no others."""
    return () if args is None else tuple(args) if isinstance(args, (tuple, list)) else (args,)


def bytes_of(values: Sequence[Any]) -> list[bytes]:
    """Plain values as something that can be compared."""
    return [np.asarray(v).tobytes() for v in values]


ROOM = (64, 1024, 16384)
"""For how many steps there is room at least, if their number must not be seen: more if examples of a batch differ."""


def with_room(asked: SolverCall, solve: Callable[[int], Any], fix: str) -> Any:
    """What is solved with room for so many steps that all examples of a batch have results of the same shapes."""
    for least in ROOM:
        try:
            return solve(least)
        except ValueError as error:  # of np.stack
            if "same shape" not in str(error) or not _is_batch(asked.callbacks.values):
                raise
    raise UnsupportedError(
        message(f"Inside vmap, the examples of {asked.name} have results of different lengths.", fix=fix)
    )


def _is_batch(values: Sequence[Any]) -> bool:
    """Whether one of the values is a batch."""
    return any([isinstance(x, Traced) and x.traced_by.lead for v in values for x in _layers(v)])


def _layers(x: Any) -> Iterator[Any]:
    while isinstance(x, Traced):
        yield x
        x = x.value
