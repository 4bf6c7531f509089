"""The arrays of a model by name: which are trained, which are statistics, and which layers it is made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import adjoint as ad

REMEMBERED = 256
"""Structures whose names are kept."""

_names: dict[Any, tuple[LeafPlace, ...]] = {}


class LeafPlace(NamedTuple):
    """Where a leaf is: its name, whether it may be trained, and whether it is a field of a dataclass."""

    name: str
    trained: bool
    field: bool


def places(model: Any) -> tuple[tuple[LeafPlace, ...], list[Any], Any]:
    """The place of each leaf, the leaves in the order of `ad.tree.leaves`, and the structure."""
    leaves, structure = ad.tree.flatten(model)
    found = _names.get(structure)
    if found is None:
        found = tuple(_places(model, "", trained=True, field=False))
        if len(_names) >= REMEMBERED:
            _names.clear()
        _names[structure] = found
    return found, leaves, structure


def _places(node: Any, name: str, *, trained: bool, field: bool) -> Iterator[LeafPlace]:
    inner = children(node)
    if inner is None:
        yield LeafPlace(name, trained, field)
        return
    marks = {f.name: f for f in dataclasses.fields(node)} if is_dataclass(node) else {}
    for key, child in inner:
        kept = trained and (key not in marks or marks[key].metadata.get("trained", True))
        yield from _places(child, joined(name, key), trained=kept, field=bool(marks))


def children(node: Any) -> list[tuple[str, Any]] | None:
    """Names and values one level down; None for a leaf."""
    structure = ad.tree.structure(node)
    if structure.is_leaf():
        return None
    level = structure.one_level()
    if level is None:
        return []
    return list(zip([str(e) for e in structure.entries()], level.flatten_up_to(node), strict=True))


def layers(model: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The model and everything inside it that can be called, with names, from the outside in."""
    inner = children(model)
    if callable(model) and not isinstance(model, type):
        yield name, model
    for key, child in inner or ():
        yield from layers(child, joined(name, key))


def is_dataclass(node: Any) -> bool:
    """Whether this is an object of a dataclass."""
    return dataclasses.is_dataclass(node) and not isinstance(node, type)


def joined(name: str, key: str) -> str:
    """The name one level down."""
    return f"{name}.{key}" if name else key


def is_trained(place: LeafPlace, leaf: Any) -> bool:
    """Whether a leaf is a parameter: an array of real numbers at a place that is trained."""
    return place.trained and is_array(leaf, place) and np.issubdtype(leaf.dtype, np.inexact)


def is_array(leaf: Any, place: LeafPlace) -> bool:
    """Whether a leaf is an array; what nobody would know how to treat is refused."""
    if isinstance(leaf, (np.ndarray, np.generic)):
        return True
    if isinstance(leaf, float) and place.trained and not place.field:
        raise ad.errors.InputError(
            ad.errors.message(
                f"Is the number {place.name or 'given'} to be trained?",
                got=f"the Python float {leaf!r}, which is not an array",
                fix="Write  np.array(0.5)  for a number that is trained; keep other numbers in a field of a dataclass.",
            )
        )
    if isinstance(leaf, (bool, int, float, complex, str)) or leaf is None:
        return False
    if isinstance(leaf, type) and not place.name:
        raise ad.errors.InputError(
            ad.errors.message(
                "A model is an object, not a class.",
                got=f"the class {leaf.__name__}",
                fix=f"Write  {leaf.__name__}(...).",
            )
        )
    if callable(leaf) and not place.name and not hasattr(leaf, "__name__"):
        kind = type(leaf).__name__
        raise ad.errors.InputError(
            ad.errors.message(
                f"The arrays of {kind} cannot be found, as it is not a dataclass.",
                got=f"an object of class {kind}",
                fix=f"Write  @dataclass(frozen=True)  or  @nn.layer  above  class {kind},  and its fields in it.",
            )
        )
    if callable(leaf) and not place.name:
        raise ad.errors.InputError(
            ad.errors.message(
                "A model that is a plain function has no parameters of its own.",
                got=f"the function {getattr(leaf, '__name__', type(leaf).__name__)}",
                fix="Write  nn.Function(predict, params)  for a function  predict(params, x).",
            )
        )
    raise ad.errors.InputError(
        ad.errors.message(
            f"The model's part {place.name or 'itself'} is neither an array nor a container of arrays.",
            got=f"an object of class {type(leaf).__name__}",
            fix="Make its class a frozen dataclass, or a container with  ad.tree.register.\n"
            "What has no arrays can be a field marked as static.",
        )
    )
