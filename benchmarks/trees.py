"""Containers of arrays as lists of leaves, the same for every library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def leaves(tree: Any) -> list[Any]:
    """All arrays and numbers of lists, tuples and dicts, in order."""
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for part in tree for leaf in leaves(part)]
    return [tree]


def rebuilt(tree: Any, values: list[Any]) -> Any:
    """The same container with other leaves."""
    rest = iter(values)
    return mapped(lambda _: next(rest), tree)


def mapped(change: Callable[[Any], Any], tree: Any) -> Any:
    """The same container with every leaf changed."""
    if isinstance(tree, dict):
        return {key: mapped(change, tree[key]) for key in sorted(tree)}
    if isinstance(tree, (list, tuple)):
        return type(tree)([mapped(change, part) for part in tree])
    return change(tree)
