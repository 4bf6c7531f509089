"""Containers (dicts, lists, tuples, named tuples, dataclasses, nested in any way) as flat lists of leaves: optree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .classes import NAMESPACE as NAMESPACE
from .classes import register_dataclass
from .errors import InputError
from .traced import Traced

_ENDLESS = "An argument is a {} that holds itself, or is nested without end: its numbers cannot be taken out of it."

LEAVES = frozenset((float, int, np.ndarray, np.float64, np.float32, complex, Traced))
"""Types that are a leaf for sure, so that the plainest calls need no look at containers (nor an import of optree)."""


def flatten(tree: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """The leaves in order, and the function that puts leaves back into the containers."""
    kind = type(tree)
    if kind in LEAVES:
        return [tree], _first
    if (kind is list or kind is tuple) and LEAVES.issuperset(map(type, tree)):
        return list(tree), kind
    if kind is dict and not tree:
        return [], dict
    import optree

    try:
        leaves, structure = optree.tree_flatten(tree, namespace=NAMESPACE)
    except RecursionError:
        raise InputError(_ENDLESS.format(type(tree).__name__)) from None
    new = {type(leaf) for leaf in leaves} - LEAVES
    if any([register_dataclass(kind) for kind in new]):
        return flatten(tree)
    return leaves, lambda new: optree.tree_unflatten(structure, new)


def _first(leaves: list[Any]) -> Any:
    return leaves[0]


def paths(args: Any) -> list[str]:
    """Where in its argument each leaf is, for messages: `['w'][0]`."""
    return ["".join([f"[{step!r}]" for step in path[1:]]) for path in ways(args)]


def ways(args: Any) -> list[tuple[Any, ...]]:
    """The keys that lead to each leaf."""
    import optree

    flatten(args)
    found, _, _ = optree.tree_flatten_with_path(args, namespace=NAMESPACE)
    return found


def holder(tree: Any, way: Sequence[Any]) -> Any:
    """The container that holds the leaf at the end of a way; None if its containers cannot be asked by keys."""
    for key in way[:-1]:
        by_name = isinstance(key, str) and not isinstance(tree, dict)
        try:
            tree = getattr(tree, key) if by_name else tree[key]
        except (AttributeError, LookupError, TypeError):
            return None
    return tree


def same_structure(tree: Any, other: Any) -> bool:
    """Whether two trees have the same containers."""
    kind = type(tree)
    if kind in LEAVES and type(other) in LEAVES:
        return True
    if (
        (kind is tuple or kind is list)
        and type(other) is kind
        and LEAVES.issuperset(map(type, tree))
        and LEAVES.issuperset(map(type, other))
    ):
        return len(tree) == len(other)
    import optree

    flatten(tree), flatten(other)
    return bool(optree.tree_structure(tree, namespace=NAMESPACE) == optree.tree_structure(other, namespace=NAMESPACE))


def containers(leaves: Sequence[Any], structure: Any) -> list[tuple[type, Any]]:
    """The class and the settings of every container of a structure that is more than a tuple, a list or a dict."""
    found: list[tuple[type, Any]] = []

    def note(kind: type, settings: Any, children: Any) -> None:
        if kind is not tuple and kind is not list and kind is not dict:
            keyed = issubclass(kind, dict) and isinstance(settings, (list, tuple))  # the factory, if any, and the keys
            found.append((kind, settings[0] if keyed and isinstance(settings, tuple) else None if keyed else settings))

    structure.walk(leaves, note)
    return found
