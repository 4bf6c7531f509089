"""A solver's run as one step: plain values go in, whatever traces, and nothing of what the solver does is recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...core.rule import Rule
from ...core.traced import CONSTANTS, Traced, contents, settled, snapshot
from ...core.tree import flatten
from ...host.forking import Lock
from ...rules.stacking import one_by_one
from .collected import Collected
from .copies import Copies
from .plain import plainly
from .raised import meeting
from .reach import Reach

NUMBERS = (np.ndarray, np.generic, bool, int, float, complex)


class Callbacks:
    """Arguments of a solver, functions among them, with the values that are behind them, as they are now.

    What becomes later of variables, lists and arrays that the functions use is not seen. A solver is taught so:

        callbacks = Callbacks(f, x0, args)
        if not callbacks.is_traced:
            return original(f, x0, args)
        return callbacks.solved(name, solve, rule)

    where `solve(f, x0, args)` sees plain values, at every run of a program anew, and the rule evaluates the user's
    function with its surroundings by `f, x0, args = callbacks.parts(values)`, given the arguments of the step.
    """

    def __init__(self, *parts: Any) -> None:
        reach = Reach(parts)
        self._live: tuple[Reach, tuple[Any, ...]] | None = reach, parts
        """As they came, so that functions may count and collect while the call lasts."""
        self.collected: Collected | None = None
        self.values = [_copied(h) for h in reach.handles]
        """The values behind all handles: traced ones, and plain arrays that the function made."""
        holes = [Traced(None, CONSTANTS, None) for _ in self.values]
        self._parts = Copies(reach, holes, freeze=True).of(parts)
        self._reach = Reach(self._parts)
        self._reach.handles = holes

    @property
    def is_traced(self) -> bool:
        """Whether a traced value is anywhere behind the arguments."""
        return any([isinstance(v, Traced) for v in self.values])

    def parts(self, values: Sequence[Any], *, live: bool = False) -> tuple[Any, ...]:
        """The arguments with these values, plain or traced, in the place of `values`.

        What functions keep from one call to the next, as in a dict of known results, begins each time as it was when
        the solver was called: it belongs to these values. Only the first run changes what is the user's own.
        """
        if live and self._live is not None:
            (reach, given), self._live = self._live, None
            copies = Copies(reach, values)
            made: tuple[Any, ...] = copies.of(given)
            if self.collected is not None:
                self.collected.begin(copies.of)
            return made
        return Copies(self._reach, values, freeze=True).of(self._parts)  # type: ignore[no-any-return]

    def solved(self, name: str, solve: Callable[..., Any], derivative: Rule) -> Any:
        """`solve(*parts)` on plain values, as one step of all that trace, with this derivative.

        The result may be in containers. The numbers and arrays in it are results of the step; the rule is one of a
        primitive with several results, the first of which says which other things came out.
        """
        step = SolverStep(name, solve, self)
        primitive = Primitive(
            name, step.evaluate, derivative=derivative, stacking=one_by_one, multiple=True, fails_from=0
        )
        if self._live is not None:
            self.collected = Collected(self._live[0], self.values)
        try:
            found = primitive(*self.values)
        finally:
            self._live, collected, self.collected = None, self.collected, None
        if collected is not None:
            collected.refuse_if_read(name)
        return step.rebuilt(found)


class SolverStep:
    """A solver with its arguments, as a function of the values behind them."""

    def __init__(self, name: str, solve: Callable[..., Any], callbacks: Callbacks) -> None:
        self.name, self.solve, self.callbacks = name, solve, callbacks
        self._outcomes: list[tuple[list[Any], Any]] = []
        self._lock = Lock()

    def evaluate(self, *values: Any) -> tuple[Any, ...]:
        """The number of the outcome, and the numbers and arrays in the result."""
        if self.callbacks.collected is not None:
            values = tuple(map(_copied, values))
        parts = self.callbacks.parts(values, live=True)
        with plainly(), meeting(self.name, values):
            found, restore = flatten(self.solve(*parts))
        leaves = [settled(x) for x in found]
        rest = [None if isinstance(x, NUMBERS) else x for x in leaves]
        with self._lock:
            known = [k for k, (other, _) in enumerate(self._outcomes) if other == rest]
            if not known:
                self._outcomes.append((rest, restore))
            number = known[0] if known else len(self._outcomes) - 1
        return (number, *[x for x in leaves if isinstance(x, NUMBERS)])

    def rebuilt(self, results: Sequence[Any]) -> Any:
        """The result with these numbers and arrays; a program relies on the outcome being the same."""
        rest, restore = self._outcomes[_decided(results[0])]
        given = iter(results[1:])
        return restore([next(given) if x is None else x for x in rest])


def _copied(x: Any) -> Any:
    """The value of a handle; an array of its own."""
    x = snapshot(x)
    return np.array(x) if type(x) is np.ndarray else x


def _decided(number: Any) -> int:
    """Which outcome there was: of a batch, that of the first example; in the body of a loop, that of the first run."""
    number = settled(number)
    while isinstance(number, Traced) and not number.traced_by.is_capture:
        if number.traced_by.lead and not len(number.value):  # an empty batch: that of the example in its place
            return 0
        number = number.value[0] if number.traced_by.lead else number.value
    if isinstance(number, Traced):
        return int(number.traced_by.decided(number) if number.traced_by.guards_allowed else contents(number))
    return int(number)
