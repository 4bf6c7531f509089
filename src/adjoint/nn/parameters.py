"""The parameters of a model as a dict of arrays, and the way back."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Model, checked
from .layer import described
from .walking import LeafPlace, is_array, is_trained, places

Arrays = dict[str, Any]


@checked()
def parameters(model: Model) -> Arrays:
    """Every trained array of a model by its name.

    Trained are the arrays of real numbers that are not fields made with `nn.statistic`. An array that stands in several
    places is one parameter, under its first name.

    Parameters
    ----------
    model : any containers
        A layer, or any tree of arrays.

    Returns
    -------
    dict of str to ndarray
        The arrays, in the order of `ad.tree.leaves`.

    Raises
    ------
    InputError
        If a part of the model is neither an array, a number, nor a container.

    Examples
    --------
    >>> from adjoint import nn
    >>> {name: array.shape for name, array in nn.parameters(nn.MLP([2, 3, 1], key=0)).items()}
    {'layers.0.weight': (2, 3), 'layers.0.bias': (3,), 'layers.1.weight': (3, 1), 'layers.1.bias': (1,)}
    """
    at, leaves, _ = places(model)
    return {name: leaves[k] for name, (k, *_) in _trained(at, leaves).items()}


@checked()
def count_parameters(model: Model) -> int:
    """How many numbers of a model are trained.

    Parameters
    ----------
    model : any containers
        A layer, or any tree of arrays.

    Returns
    -------
    int
        The number; an array that stands in several places counts once.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.count_parameters(nn.MLP([64, 32, 10], key=0))
    2410
    """
    return sum([int(np.size(array)) for array in parameters(model).values()])


@checked()
def statistics(model: Model) -> Arrays:
    """Every array of a model that is not trained, by its name: running statistics and whole numbers.

    Parameters
    ----------
    model : any containers
        A layer, or any tree of arrays.

    Returns
    -------
    dict of str to ndarray
        The arrays, in the order of `ad.tree.leaves`.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.statistics(nn.BatchNorm(2))
    {'mean': array([0., 0.]), 'variance': array([1., 1.])}
    """
    at, leaves, _ = places(model)
    return {p.name: x for p, x in zip(at, leaves, strict=True) if is_array(x, p) and not is_trained(p, x)}


@checked("freeze")
def partition(model: Model, freeze: str | Iterable[str] = ()) -> tuple[Arrays, Callable[..., Any]]:
    """The parameters of a model, and the function that puts others in their place.

    The way to differentiate with respect to a model: `rebuild(parameters)` is the model again, also for traced values.

    Parameters
    ----------
    model : any containers
        A layer, or any tree of arrays.
    freeze : str or iterable of str, default ()
        Patterns of names, as `"layers.0.*"`: these arrays stay as they are, and are left out of the parameters.

    Returns
    -------
    parameters : dict of str to ndarray
        As `nn.parameters` gives them, without those that are frozen.
    rebuild : callable
        `rebuild(parameters, statistics=None)`: the model with these arrays, shared ones in all their places. Statistics
        may be given in part.

    Raises
    ------
    InputError
        If a pattern fits no name.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> from adjoint import nn
    >>> params, rebuild = nn.partition(nn.MLP([2, 3, 1], key=0), freeze="layers.0.*")
    >>> list(params)
    ['layers.1.weight', 'layers.1.bias']
    >>> gradient = ad.grad(lambda p: np.sum(rebuild(p)(np.ones((5, 2))) ** 2))(params)
    >>> gradient["layers.1.bias"].shape
    (1,)
    """
    at, leaves, structure = places(model)
    found = _trained(at, leaves)
    free = {name: spots for name, spots in found.items() if name not in _chosen(freeze, list(found), "freeze")}
    others = {p.name: k for k, p in enumerate(at) if is_array(leaves[k], p) and not is_trained(p, leaves[k])}
    moving = {k for spots in free.values() for k in spots}
    base = [None if k in moving else leaf for k, leaf in enumerate(leaves)]

    def rebuild(parameters: Mapping[str, Any], statistics: Mapping[str, Any] | None = None) -> Any:
        """The model with these arrays."""
        if parameters.keys() != free.keys():
            _refuse_names(parameters.keys(), free.keys())
        new = list(base)
        for name, spots in free.items():
            for k in spots:
                new[k] = parameters[name]
        for name, value in (statistics or {}).items():
            if name not in others:
                raise _unknown(name, list(others), "statistics")
            new[others[name]] = value
        return ad.tree.unflatten(structure, new)

    return {name: leaves[k] for name, (k, *_) in free.items()}, rebuild


@checked()
def replace(model: Model, arrays: Mapping[str, Any]) -> Any:
    """A new model with other arrays at these names.

    Parameters
    ----------
    model : any containers
        A layer, or any tree of arrays.
    arrays : dict of str to array_like
        By the names that `nn.parameters` and `nn.statistics` give, or by any other name of a shared array; these have
        the shape and get the dtype of what they replace.

    Returns
    -------
    any containers
        The model, with the arrays that are not named as they were. A shared array is replaced in all its places.

    Raises
    ------
    InputError
        If there is no array of that name, or its shape is another one.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> model = nn.replace(nn.Dense(2, 1, key=0), {"weight": [[1.0], [2.0]]})
    >>> model(np.array([3.0, 4.0]))
    array([11.])
    """
    at, leaves, structure = places(model)
    spots = {p.name: k for k, p in enumerate(at) if is_array(leaves[k], p)}
    new = list(leaves)
    for name, value in arrays.items():
        if name not in spots:
            raise _unknown(name, list(spots), "arrays")
        old = leaves[spots[name]]
        fitted = _fitted(name, value, old)
        new = [fitted if leaf is old else other for leaf, other in zip(leaves, new, strict=True)]
    return ad.tree.unflatten(structure, new)


@checked()
def share(model: Model, name: str, other: str) -> Any:
    """A new model in which the array called `name` is the one called `other`: one parameter, in two places.

    Parameters
    ----------
    model : any containers
        A layer, or any tree of arrays.
    name : str
        The array that is given up.
    other : str
        The array that takes its place.

    Returns
    -------
    any containers
        The model. `nn.parameters` has the array once, under the name that comes first.

    Raises
    ------
    InputError
        If there is no array of such a name, or the shapes differ.

    Examples
    --------
    >>> from adjoint import nn
    >>> model = nn.share(nn.MLP([3, 3, 3], key=0), "layers.1.weight", "layers.0.weight")
    >>> list(nn.parameters(model))
    ['layers.0.weight', 'layers.0.bias', 'layers.1.bias']
    """
    at, leaves, structure = places(model)
    spots = {p.name: k for k, p in enumerate(at) if is_array(leaves[k], p)}
    for asked in (name, other):
        if asked not in spots:
            raise _unknown(asked, list(spots), "arrays")
    new = list(leaves)
    new[spots[name]] = _fitted(name, leaves[spots[other]], leaves[spots[name]])
    return ad.tree.unflatten(structure, new)


def _trained(at: tuple[LeafPlace, ...], leaves: list[Any]) -> dict[str, list[int]]:
    """Where the array of each parameter stands; one that stands in several places goes by its first name."""
    names: dict[int, str] = {}
    found: dict[str, list[int]] = {}
    for k, (place, leaf) in enumerate(zip(at, leaves, strict=True)):
        if is_trained(place, leaf):
            found.setdefault(names.setdefault(id(leaf), place.name), []).append(k)
    return found


def _chosen(patterns: str | Iterable[str], names: list[str], argument: str) -> set[str]:
    """The names that fit one of the patterns, each of which has to fit one."""
    chosen: set[str] = set()
    for pattern in [patterns] if isinstance(patterns, str) or not isinstance(patterns, Iterable) else patterns:
        if not isinstance(pattern, str):
            raise ad.errors.InputError(
                ad.errors.message(
                    f"{argument} has patterns of names, as text.",
                    got=described(pattern),
                    fix=f"Write  {argument}={(names or ['weight'])[0]!r}.",
                )
            )
        fitting = fnmatch.filter(names, pattern)
        if not fitting:
            raise _unknown(pattern, names, argument)
        chosen.update(fitting)
    return chosen


def _unknown(name: str, names: list[str], argument: str) -> Exception:
    inside = fnmatch.filter(names, f"{name}.*")
    close = [f"{name}.*"] if inside else difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    meant = f"Did you mean  {', '.join(map(repr, close))}?\n" if close else ""
    return ad.errors.InputError(
        ad.errors.message(
            f"{argument}: the model has no such array.",
            got=f"{name!r}",
            fix=f"{meant}The names are {_listed(names)}.",
        )
    )


def _listed(names: Iterable[str]) -> str:
    given = list(names)
    return ", ".join(map(repr, given[:12])) + (f" and {len(given) - 12} more" if len(given) > 12 else "") or "none"


def _refuse_names(given: Iterable[str], wanted: Iterable[str]) -> None:
    missing, extra = [n for n in wanted if n not in given], [n for n in given if n not in wanted]
    what = [f"{_listed(missing)} missing"] if missing else []
    what += [f"{_listed(extra)} besides"] if extra else []
    raise ad.errors.InputError(
        ad.errors.message(
            "rebuild takes a dict with the names of the parameters, all of them and no others.",
            got="; ".join(what),
            fix="Frozen arrays are not among them; statistics are the second argument.",
        )
    )


def _fitted(name: str, value: Any, old: Any) -> Any:
    """A new array in the place of an old one; None stays None for no array at all."""
    if not isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
    if np.shape(value) != np.shape(old):
        raise ad.errors.InputError(
            ad.errors.message(
                f"The array {name!r} has the shape {np.shape(old)}.", got=described(value), fix="Give that shape."
            )
        )
    if value.dtype.kind not in "biuf" and not np.can_cast(value.dtype, old.dtype):
        raise ad.errors.InputError(
            ad.errors.message(
                f"The array {name!r} has the dtype {old.dtype}.", got=described(value), fix="Give that dtype."
            )
        )
    return value if value.dtype == old.dtype else value.astype(old.dtype)
