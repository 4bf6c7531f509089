"""Containers (dicts, lists, tuples, named tuples, dataclasses, nested in any way) as flat lists of leaves: optree."""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from .traced import Traced

LEAVES = frozenset((float, int, np.ndarray, np.float64, np.float32, complex, Traced))
"""Types that are a leaf for sure, so that the plainest calls need no look at containers (nor an import of optree)."""

SETTINGS = (str, bytes, bool, FunctionType, BuiltinFunctionType, np.ufunc)
"""Types that are part of a dataclass's structure, as the name of an activation: they are nobody's parameter."""

NAMESPACE = "adjoint"


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

    leaves, structure = optree.tree_flatten(tree, namespace=NAMESPACE)
    new = {type(leaf) for leaf in leaves} - LEAVES
    if any([_register_dataclass(kind) for kind in new]):
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

    found, _, _ = optree.tree_flatten_with_path(args, namespace=NAMESPACE)
    return found


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


def _register_dataclass(kind: type) -> bool:
    """Teach optree a dataclass the first time one is met; say whether that was needed."""
    if not hasattr(kind, "__dataclass_fields__"):
        return False
    names = tuple([name for name, field in kind.__dataclass_fields__.items() if field.init])

    def split(x: Any) -> tuple[tuple[Any, ...], tuple[tuple[str, Any], ...], tuple[str, ...]]:
        fields = [(name, getattr(x, name)) for name in names]
        leaves = [(name, part) for name, part in fields if not isinstance(part, SETTINGS)]
        settings = tuple([field for field in fields if isinstance(field[1], SETTINGS)])
        return tuple([part for _, part in leaves]), settings, tuple([name for name, _ in leaves])

    def join(settings: Any, parts: Any) -> Any:
        fixed = dict(settings)
        free = [name for name in names if name not in fixed]
        return kind(**fixed, **dict(zip(free, parts, strict=True)))

    register(kind, split, join)
    return True


def register(kind: type, split: Callable[[Any], Any], join: Callable[[Any, Any], Any]) -> None:
    """Teach optree a class: how its objects are taken apart, and put together; the last word counts."""
    import optree

    if optree.register_pytree_node.get(kind, namespace=NAMESPACE) is not None:
        optree.unregister_pytree_node(kind, namespace=NAMESPACE)
    optree.register_pytree_node(kind, split, join, namespace=NAMESPACE)
