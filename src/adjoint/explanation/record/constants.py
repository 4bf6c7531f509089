"""What a function computes of arrays that do not depend on its inputs: `X.T @ X` in `(X.T @ X) @ w`.

Such arrays are plain while it is explained, and NumPy computes with them out of sight. So it is recorded once more,
with handles for the arrays that it captures, makes, or is given as constants: what is computed of them becomes steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...capture.environment.clone import Clones
from ...capture.environment.discover import look
from ...core.traced import LOCAL
from ...core.tree import flatten
from ...ir.fold import reached, read_by
from ...ir.program import GUARD, Step
from ...transforms.interface.presenting import copied
from .record import Recorded, function_of, record
from .recorder import Notebook

KINDS = "fciub"


class ConstantWork(NamedTuple):
    """The steps of a function that depend on none of its inputs."""

    recorded: Recorded | None
    """The recording that has them; None if there is none, as the function needs its arrays as they are."""
    steps: list[Step]
    """What is taken inside a checkpointed call is taken again on the way back: see `again`."""
    unseen: list[np.ndarray]
    """Arrays that the function made in ways that were not seen, and that met an input."""

    def again(self, reached: frozenset[int]) -> list[Step]:
        """The steps that are taken again, given the checkpointed calls that the sweep back passes."""
        calls = {} if self.recorded is None else self.recorded.notebook.calls
        return [step for step in self.steps for call in calls.get(step.outs[0], ()) if call in reached]


NO_WORK = ConstantWork(None, [], [])


def work_on_constants(
    whole: Recorded, fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ConstantWork:
    """Run the function once more, and write down what it computes of constants as well."""
    given = [array for array, _ in look(fun, *flatten((args, kwargs))[0]).met_arrays]
    for objects in (True, False):  # a function may ask which of two objects it has
        found = _recorded_again(whole, fun, args, kwargs, objects=objects)
        if found is not None and _is_same(whole, found[0]):
            return ConstantWork(found[0], _of_constants(found[0]), _unseen(found[0], [*given, *found[1]]))
    return ConstantWork(None, [], _unseen(whole, given))


def _recorded_again(
    whole: Recorded, fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], *, objects: bool
) -> tuple[Recorded, list[np.ndarray]] | None:
    """A recording with handles for all arrays, and the arrays that the function has made.

    None if it needs plain ones, as for compiled code: then what it computes of them is not seen.
    """
    leaves, rebuild = flatten((args, kwargs))
    made: list[np.ndarray] = []

    def again(*handles: Any) -> Any:
        notebook: Notebook = handles[0].value.traced_by
        full = [notebook.captured(copied(x)) if _is_array(x) else x for x in leaves]
        for k, handle in zip(whole.moving, handles, strict=True):
            full[k] = handle

        def lifted(array: np.ndarray) -> Any:
            made.append(array)
            return notebook.captured(array) if array.dtype.kind in "fc" else array

        copy = Clones(notebook, (function_of(fun),), objects=objects).of(function_of(fun))
        again_args, again_kwargs = rebuild(full)
        before, LOCAL.lifted = LOCAL.lifted, lifted
        try:
            return copy(*again_args, **again_kwargs)
        finally:
            LOCAL.lifted = before

    try:
        return record(again, tuple(map(copied, whole.inputs)), {}), made
    except Exception:
        return None


def _is_array(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype.kind in KINDS


def _is_same(one: Recorded, other: Recorded) -> bool:
    """Whether both gave the same: the function may not be what it was, or random."""
    pairs = zip(flatten(one.value)[0], flatten(other.value)[0], strict=True)
    return all([np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc") for a, b in pairs])


def _of_constants(recorded: Recorded) -> list[Step]:
    """The steps of the function that no input reaches."""
    program = recorded.notebook.program
    own = program.steps[: recorded.steps]
    moving = reached(own, program.inputs)
    return [step for step in own if step.primitive is not GUARD and moving.isdisjoint(step.args)]


def _unseen(recorded: Recorded, known: list[np.ndarray]) -> list[np.ndarray]:
    """Plain arrays that met an input, and that are neither known, nor views of such, nor hold the same elements."""
    notebook = recorded.notebook
    read = read_by(notebook.program.steps[: recorded.steps])
    found = [array for array, _, number in notebook.arrays.values() if number in read and array.size > 1]
    roots, ordered = {id(_root(x)) for x in known}, [np.sort(x, axis=None) for x in known]
    unknown = [x for x in found if id(_root(x)) not in roots]
    return [x for x in unknown if not any([np.array_equal(np.sort(x, axis=None), y) for y in ordered])]


def _root(x: np.ndarray) -> np.ndarray:
    """The array in whose memory this one lies."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x
