"""Containers of arrays as lists of leaves, the same for every library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any


def leaves(tree: Any) -> list[Any]:
    """All arrays and numbers of lists, tuples, dicts and dataclasses, in order."""
    if is_dataclass(tree):
        return [leaf for part in parts(tree).values() for leaf in leaves(part)]
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
    if is_dataclass(tree):
        return replace(tree, **{name: mapped(change, part) for name, part in parts(tree).items()})  # type: ignore[type-var]
    if isinstance(tree, dict):
        return {key: mapped(change, tree[key]) for key in sorted(tree)}
    if isinstance(tree, (list, tuple)):
        return type(tree)([mapped(change, part) for part in tree])
    return change(tree)


def parts(x: Any) -> dict[str, Any]:
    """The fields of a dataclass that are no settings."""
    found = {f.name: getattr(x, f.name) for f in fields(x)}
    return {name: part for name, part in found.items() if not isinstance(part, str)}
