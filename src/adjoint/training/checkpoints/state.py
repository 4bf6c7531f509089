"""The state of a run as arrays for a file, and back, as far as what is in the file fits the run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import adjoint as ad

from ..history import History
from ..steps import State
from ..task import Arrays
from .files import damaged, load, save

LARGEST = 2**62
"""More steps than any run takes."""
HISTORY = ("names", "values", "norms")
STEPS = ("step_names", "step_values")
"""Parts of a history that not every run has."""


class Saved(NamedTuple):
    """What a checkpoint holds of a run."""

    state: State
    best: tuple[Arrays, Arrays] | None
    history: History
    snapshots: dict[int, Arrays]
    steps: int
    mean: tuple[Arrays, Arrays] | None = None
    """Weights averaged by epoch, and their statistics."""


def write(path: str | os.PathLike[str], saved: Saved, facts: Mapping[str, str]) -> None:
    """Write the state of a run, and what decided it."""
    state = saved.state
    arrays = {
        **_packed("parameters", state.parameters),
        **_packed("statistics", state.statistics),
        **_packed("optimizer", state.optimizer),
        **_packed("averages", state.averages),
        **({} if saved.mean is None else _packed("mean", saved.mean)),
        **({} if saved.best is None else _packed("best", saved.best)),
        **{f"history.{name}": a for name, a in saved.history.saved().items()},
    }
    for epoch, parameters in saved.snapshots.items():
        arrays |= _packed(f"snapshot.{epoch}", parameters)
    more = {
        "steps": saved.steps,
        "snapshots": list(saved.snapshots),
        "has_best": saved.best is not None,
        **({} if saved.mean is None else {"has_mean": True}),
        "not_finite": [name for name, a in arrays.items() if not _is_finite(a)],
    }
    save(path, arrays, {**more, "run": dict(facts)})


def read(path: str | os.PathLike[str], start: Saved, watched: str, facts: Mapping[str, str]) -> Saved:
    """The state that a file holds, if it is one of a run with these facts, which began like this."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy reads headers that only resemble one, and warns
            arrays, its = load(path)
        run = its["run"]
        if not isinstance(run, dict):
            raise ValueError("it does not say of what run it is")
    except Exception as error:  # whatever the readers of archives, arrays and JSON say to bytes that are none
        raise damaged(path, error) from error
    _check_same(path, facts, run)
    try:
        return _restored(start, watched, arrays, its)
    except Exception as error:
        raise damaged(path, error) from error


def _check_same(path: str | os.PathLike[str], mine: Mapping[str, str], its: Mapping[str, Any]) -> None:
    """Refuse the file of another run; the first difference is told."""
    for name in (*mine, *its):
        if mine.get(name) != its.get(name):
            here, there = mine.get(name, "nothing"), its.get(name, "nothing")
            raise ad.errors.InputError(
                ad.errors.message(
                    f"The checkpoint {os.fspath(path)!r} is of another run: {name} differs.",
                    got=f"{there} in the file, {here} here",
                    fix="Call  ad.train  as then, or give  checkpoint=  another name.",
                )
            )


def _restored(start: Saved, watched: str, arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> Saved:
    began = start.state
    steps, epochs = facts["steps"], facts["snapshots"]
    if type(steps) is not int or not 0 <= steps < LARGEST:
        raise ValueError(f"it has taken {steps!r} steps")
    if not isinstance(epochs, list) or any([type(k) is not int for k in epochs]) or len(set(epochs)) != len(epochs):
        raise ValueError(f"it has snapshots of epochs {epochs!r}")
    if not isinstance(facts["not_finite"], list):
        raise ValueError("it does not say what is not finite")
    if found := [name for name, a in arrays.items() if not _is_finite(a) and name not in facts["not_finite"]]:
        raise ValueError(f"{found[0]} has numbers that are not finite")
    return Saved(
        State(*[_unpacked(name, tree, arrays) for name, tree in began._asdict().items()]),
        _unpacked("best", (began.parameters, began.statistics), arrays) if facts["has_best"] else None,
        History.loaded(start.history.names, _of_history(arrays), watched),
        {k: _unpacked(f"snapshot.{k}", began.parameters, arrays) for k in epochs},
        steps,
        _unpacked("mean", (began.parameters, began.statistics), arrays) if facts.get("has_mean") else None,
    )


def _of_history(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of the history, by their names in it."""
    needed = HISTORY + (STEPS if f"history.{STEPS[0]}" in arrays else ())
    return {name: arrays[f"history.{name}"] for name in needed}


def _packed(prefix: str, tree: Any) -> dict[str, np.ndarray]:
    """The leaves of a tree by number, for a file."""
    return {f"{prefix}.{k}": np.asarray(leaf) for k, leaf in enumerate(ad.tree.leaves(tree))}


def _unpacked(prefix: str, tree: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """The tree with the leaves of a file in place of its own, which they have to resemble."""
    leaves, structure = ad.tree.flatten(tree)
    found = []
    for k, leaf in enumerate(leaves):
        want, new = np.asarray(leaf), arrays[f"{prefix}.{k}"]
        if new.shape != want.shape or new.dtype != want.dtype:
            raise ValueError(f"{prefix} {k} is {new.dtype}{list(new.shape)}, not {want.dtype}{list(want.shape)}")
        found.append(new)
    return ad.tree.unflatten(structure, found)


def _is_finite(a: Any) -> bool:
    """Whether all numbers of an array are finite; what are no numbers are."""
    return bool(np.all(np.isfinite(a))) if np.asarray(a).dtype.kind in "fc" else True
