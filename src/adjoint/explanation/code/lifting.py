"""Data in source: arguments that are not differentiated are read from the call, as those that are.

In a recording they are constants, and what the function computes of them is out of sight. So it is recorded once more,
with arrays of any kind and real numbers as inputs of the program: what is computed of them becomes steps, what is
decided by them becomes checks.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from ...core.tree import flatten
from ...core.values import concrete
from ...transforms.interface.presenting import copied
from ..record.record import record
from ..record.sweeps import sweep_back
from ..show.rows import TraceView
from .arguments import CalledWith


class Lifted(NamedTuple):
    """A view in which data are inputs."""

    view: TraceView
    numbers: dict[str, int]
    """The numbers of the program that they are, by their names."""


def lifted(view: TraceView, call: CalledWith) -> Lifted | None:
    """The same view with data as inputs; None if there are none, or if the function does not do the same with them."""
    whole = view.recorded
    leaves, rebuild = flatten((call.args, call.kwargs))
    names = call.leaf_names()
    inputs = {name: k for k, name in enumerate(whole.names)}
    data = [k for k, name in enumerate(names) if name not in inputs and _is_data(leaves[k])]
    if not data:
        return None
    numbers: dict[str, int] = {}

    def again(*handles: Any) -> Any:
        notebook = handles[0].value.traced_by
        full = [handles[inputs[name]] if name in inputs else x for name, x in zip(names, leaves, strict=True)]
        for k in data:
            full[k] = notebook.input(copied(leaves[k]))
            numbers[names[k]] = full[k].node
        args, kwargs = rebuild(full)
        return call.fun(*args, **kwargs)

    try:
        found = record(again, tuple(map(copied, whole.inputs)), {})
        found = dataclasses.replace(found, title=whole.title, names=whole.names, rebuild=whole.rebuild)
        backward = sweep_back(found, view.given_seeds, is_for_all=True)
        new = TraceView(found, backward, None, seeds=view.given_seeds, collapse=False)
    except Exception:  # functions may need plain arrays: then these are constants, and checked
        return None
    return Lifted(new, numbers) if _is_same(view, new) else None


def _is_data(leaf: Any) -> bool:
    if type(leaf) is np.ndarray:
        return leaf.dtype.kind in "fciub" and leaf.dtype.isnative
    return type(leaf) is float or isinstance(leaf, (np.floating, np.complexfloating))


def _is_same(one: TraceView, other: TraceView) -> bool:
    """Whether both have the same value and gradient: the function may not be what it was, or random."""
    pairs = [*zip(*[flatten(v.recorded.value)[0] for v in (one, other)], strict=True)]
    pairs += [(one.adjoint(k), other.adjoint(k)) for k in range(len(one.recorded.inputs))]
    return all(np.array_equal(concrete(a), concrete(b), equal_nan=True) for a, b in pairs)
