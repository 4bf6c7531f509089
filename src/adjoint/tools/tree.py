"""Containers of arrays as trees: `ad.tree.map`, `leaves`, `flatten`, `ravel`, `register` for classes of your own.

Dicts, lists, tuples, named tuples, dataclasses and registered classes are containers, None is an empty one, and
everything else is a leaf. These are the containers that every function of the library takes and returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, overload

import numpy as np
import optree

from ..core import tree as _tree
from ..core.arguments import checked
from ..core.errors import InputError, message
from ..core.hints import missing
from ..core.values import describe, dtype_of, shape_of
from .classes import register as register
from .classes import static as static

K = TypeVar("K")
T = TypeVar("T")
__all__ = [
    "flatten",
    "leaves",
    "map",
    "map_with_path",
    "paths",
    "ravel",
    "register",
    "static",
    "structure",
    "unflatten",
]


def __dir__() -> list[str]:
    return __all__


@overload
def map(fun: Callable[..., Any], tree: dict[K, Any], *others: Any) -> dict[K, Any]: ...
@overload
def map(fun: Callable[..., Any], tree: list[Any], *others: Any) -> list[Any]: ...
@overload
def map(fun: Callable[..., Any], tree: T, *others: Any) -> T: ...
@checked()
def map(fun: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """`fun` of each leaf, in the containers of the tree; with several trees, of their leaves at the same places.

    Parameters
    ----------
    fun : callable
        Takes one leaf of each tree.
    tree : any containers
        What is mapped over.
    *others : any containers
        More trees, with the structure of the first.

    Returns
    -------
    any containers
        The containers of `tree` with the results in place of the leaves.

    Raises
    ------
    InputError
        If the trees do not have the same structure.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.tree.map(lambda p, g: p - 0.1 * g, {"b": 3.0, "w": np.ones(2)}, {"b": 10.0, "w": np.ones(2)})
    {'b': 2.0, 'w': array([0.9, 0.9])}
    """
    if not callable(fun):
        raise InputError(
            message("tree.map needs a function.", got=describe(fun), fix="Write  ad.tree.map(np.zeros_like, tree).")
        )
    own, rebuild = _tree.flatten(tree)
    return rebuild([fun(*at) for at in zip(own, *[_leaves_of(other, tree) for other in others], strict=True)])


@overload
def map_with_path(fun: Callable[..., Any], tree: dict[K, Any], *others: Any) -> dict[K, Any]: ...
@overload
def map_with_path(fun: Callable[..., Any], tree: list[Any], *others: Any) -> list[Any]: ...
@overload
def map_with_path(fun: Callable[..., Any], tree: T, *others: Any) -> T: ...
@checked()
def map_with_path(fun: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """As `map`, with the path of the leaf, as `paths` gives it, in front of the leaves.

    Parameters
    ----------
    fun : callable
        Takes the path and one leaf of each tree.
    tree : any containers
        What is mapped over.
    *others : any containers
        More trees, with the structure of the first.

    Returns
    -------
    any containers
        The containers of `tree` with the results in place of the leaves.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.tree.map_with_path(lambda path, x: x if path == "b" else 0.0 * x, {"b": 3.0, "w": [1.0, 2.0]})
    {'b': 3.0, 'w': [0.0, 0.0]}
    """
    names = iter(paths(tree))
    return map(lambda *at: fun(next(names), *at), tree, *others)


@checked()
def leaves(tree: Any) -> list[Any]:
    """The leaves in order: dicts by their sorted keys, everything else as it stands.

    Parameters
    ----------
    tree : any containers
        What is taken apart.

    Returns
    -------
    list
        The leaves.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.tree.leaves({"b": [1.0, 2.0], "a": (3.0, None)})
    [3.0, 1.0, 2.0]
    """
    return _tree.flatten(tree)[0]


@checked()
def paths(tree: Any) -> list[str]:
    """A name for each leaf, in the order of `leaves`: keys, attributes and places, with dots between them.

    Parameters
    ----------
    tree : any containers
        The tree whose leaves are named.

    Returns
    -------
    list of str
        The names.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.tree.paths({"layers": [{"weight": 1.0, "bias": 2.0}], "scale": 3.0})
    ['layers.0.bias', 'layers.0.weight', 'scale']
    """
    leaves(tree)  # dataclasses become known
    ways = optree.tree_accessors(tree, namespace=_tree.NAMESPACE)
    return [".".join([str(getattr(step, "field", step.entry)) for step in way]) for way in ways]


@checked()
def structure(tree: Any) -> Any:
    """The containers without the leaves: equal for trees of the same form, and what `unflatten` needs.

    Parameters
    ----------
    tree : any containers
        The tree.

    Returns
    -------
    optree.PyTreeSpec
        The structure, which can be compared and hashed.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.tree.structure({"a": 1.0, "b": (2.0, 3.0)}) == ad.tree.structure({"a": 0.0, "b": (0.0, 0.0)})
    True
    """
    return flatten(tree)[1]


@checked()
def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves in order, and the structure that `unflatten` puts leaves into.

    Parameters
    ----------
    tree : any containers
        What is taken apart.

    Returns
    -------
    leaves : list
        As `leaves` gives them.
    structure : optree.PyTreeSpec
        As `structure` gives it.

    Examples
    --------
    >>> import adjoint as ad
    >>> leaves, structure = ad.tree.flatten({"a": 1.0, "b": (2.0, 3.0)})
    >>> ad.tree.unflatten(structure, [2 * x for x in leaves])
    {'a': 2.0, 'b': (4.0, 6.0)}
    """
    _tree.flatten(tree)  # dataclasses become known
    found, form = optree.tree_flatten(tree, namespace=_tree.NAMESPACE)
    return found, form


@checked()
def unflatten(structure: Any, leaves: Iterable[Any]) -> Any:
    """The tree of a structure with these leaves.

    Parameters
    ----------
    structure : optree.PyTreeSpec
        What `flatten` or `structure` returned.
    leaves : iterable
        One leaf for each of the structure, in order.

    Returns
    -------
    any containers
        The tree.

    Raises
    ------
    InputError
        If there are too many or too few leaves.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.tree.unflatten(ad.tree.structure({"a": 1.0, "b": 2.0}), [3.0, 4.0])
    {'a': 3.0, 'b': 4.0}
    """
    if not isinstance(structure, optree.PyTreeSpec) or not isinstance(leaves, (list, tuple, Iterator)):
        raise InputError(
            message(
                "tree.unflatten takes a structure, and its leaves in a list.",
                got=f"{describe(structure)} and {describe(leaves)}",
                fix="Write  leaves, structure = ad.tree.flatten(tree),  then  ad.tree.unflatten(structure, leaves).",
            )
        )
    given = list(leaves)
    if len(given) != structure.num_leaves:
        raise InputError(
            message(
                f"The structure has {structure.num_leaves} leaves.",
                got=f"{len(given)} leaves",
                fix="Give one leaf for each that  ad.tree.flatten  returned.",
            )
        )
    return optree.tree_unflatten(structure, given)


@checked()
def ravel(tree: T) -> tuple[Any, Callable[[Any], T]]:
    """All numbers of a tree as one vector, and the function that turns a vector into the tree again.

    The way from parameters in containers to code that wants one array, as SciPy's optimisers do. It can be
    differentiated in both directions. The vector has the dtype that NumPy gives to all leaves together; on the way back
    every leaf has its own dtype again, and a Python number comes back as one of NumPy's.

    Parameters
    ----------
    tree : any containers of numbers and arrays
        What is taken apart.

    Returns
    -------
    vector : ndarray
        The numbers, in the order of `leaves`.
    unravel : callable
        The function from such a vector to a tree of the same structure.

    Raises
    ------
    InputError
        If a leaf is not a number or an array.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> vector, unravel = ad.tree.ravel({"b": 3.0, "w": np.array([[1.0, 2.0]])})
    >>> vector, unravel(2 * vector)
    (array([3., 1., 2.]), {'b': np.float64(6.0), 'w': array([[2., 4.]])})
    """
    own, rebuild = _tree.flatten(tree)
    for k, leaf in enumerate(own):
        if dtype_of(leaf).kind not in "fciub":
            raise InputError(
                message(
                    "ravel needs a tree of numbers and arrays.",
                    got=f"{describe(leaf)} at {paths(tree)[k] or 'the top'}",
                    fix="Keep what is not a number outside the tree.",
                )
            )
    shapes, dtypes = [shape_of(x) for x in own], [dtype_of(x) for x in own]
    sizes = [math.prod(s) for s in shapes]
    total = sum(sizes)
    vector = np.concatenate([np.ravel(x) for x in own]) if own else np.zeros(0)

    def unravel(vector: Any) -> T:
        """The tree whose numbers are those of the vector."""
        if shape_of(vector) != (total,):
            raise InputError(
                message(
                    f"The tree holds {total} numbers, so it is made from a vector of shape ({total},).",
                    got=describe(vector),
                )
            )
        parts, start = [], 0
        for size, shape, dtype in zip(sizes, shapes, dtypes, strict=True):
            part = np.reshape(vector[start : start + size], shape)
            parts.append(_cast(part, dtype)[()])
            start += size
        return rebuild(parts)

    return vector, unravel


def _leaves_of(other: Any, tree: Any) -> list[Any]:
    """The leaves of a tree that has to have the structure of another one."""
    if not _tree.same_structure(tree, other):
        raise InputError(
            message(
                "The trees do not have the same structure.",
                got=f"{_outline(tree)} and {_outline(other)}",
                fix="All trees given to  ad.tree.map  need the same containers with the same keys.",
            )
        )
    return _tree.flatten(other)[0]


def _outline(tree: Any) -> str:
    own, rebuild = _tree.flatten(tree)
    return str(rebuild(["*"] * len(own))).replace("'*'", "*")


def _cast(x: Any, dtype: np.dtype) -> Any:
    """A part in the dtype that its leaf had; a vector that became complex keeps what it is."""
    return x if dtype_of(x) == dtype or not np.can_cast(dtype_of(x), dtype, "same_kind") else x.astype(dtype)


__getattr__ = missing("ad.tree", __all__)
