"""The public methods of distributions: what is checked before SciPy's code runs on traced values.

- A batch is one more axis in front, as all methods are functions of each element.
- Counts (`n` of the binomial distribution) and places of discrete distributions have no derivative: the first are
  refused, the others constant.
- At shapes where SciPy's formula is another one (`kappa4` at h = 0), a derivative in them is refused.
- What is refused further down is refused by the name of the method.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.stats
from scipy.stats import _distn_infrastructure as infrastructure

from ...core.errors import (
    AssignmentError,
    DerivativeDroppedError,
    NotDifferentiableError,
    UnsupportedError,
    message,
)
from ...core.traced import Traced
from ...core.values import contents, decidable, shape_of
from ...numpy.dispatch.arguments import as_value, holds_differentiated, holds_traced
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.replacements import Answer, divert
from ...ops.shape import stopped
from ..batches import is_batched
from .elements import by_elements
from .sampling import rvs

OF_PLACES = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")
OF_LEVELS = ("ppf", "isf")
OF_SHAPES = ("entropy", "support", "median", "mean", "var", "std")
OTHERS = ("stats", "moment", "interval")

MOMENTS = ("mean", "var", "std", "stats", "moment", "entropy")


class LimitingShape(NamedTuple):
    """Values of a shape at which SciPy's formula is a limit, which says nothing of the slope."""

    centres: tuple[float, ...]
    near: float = 0.0
    """How close to them digits of the slope are lost."""
    methods: tuple[str, ...] | None = None
    """Of which methods it is so; of all, if none are named."""


LIMITS: dict[tuple[str, str], LimitingShape] = {
    ("kappa4", "h"): LimitingShape((0.0,), 1e-4),
    ("kappa4", "k"): LimitingShape((0.0,), 1e-4),
    ("pearson3", "skew"): LimitingShape((0.0,), 1e-3),
    ("ncx2", "nc"): LimitingShape((0.0,)),
    ("argus", "chi"): LimitingShape((0.0,), 1e-4),
    ("triang", "c"): LimitingShape((0.0, 1.0)),
    ("trapezoid", "d"): LimitingShape((0.0, 1.0), 0.0, MOMENTS),
    ("genextreme", "c"): LimitingShape((0.0,), 1e-4, MOMENTS),
    ("tukeylambda", "lam"): LimitingShape((0.0,), 1e-2, ("var", "std", "stats", "moment")),
    ("truncexpon", "b"): LimitingShape((0.0,), 1e-4),
}


def install() -> None:
    """Take over traced arguments in all public methods."""
    for owner in (infrastructure.rv_generic, infrastructure.rv_continuous, infrastructure.rv_discrete):
        for name in (*OF_PLACES, *OF_LEVELS, *OF_SHAPES, *OTHERS):
            if name in vars(owner):
                _take(owner, name, functools.partial(method, name))
        if "rvs" in vars(owner):
            _take(owner, "rvs", rvs)
    for owner in {kind for kind in _kinds() for kind in kind.__mro__ if "fit" in vars(kind)}:
        for name in ("fit", "fit_loc_scale"):
            if name in vars(owner):
                _take(owner, name, functools.partial(refused, name))
    for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "rvs"):
        for owner in {kind for kind in _kinds() if name in vars(kind)}:
            if owner not in (infrastructure.rv_generic, infrastructure.rv_continuous, infrastructure.rv_discrete):
                _take(owner, name, functools.partial(method, name) if name != "rvs" else rvs)


def _kinds() -> set[type]:
    """The classes of SciPy's distributions."""
    return {type(x) for x in vars(scipy.stats).values() if isinstance(x, infrastructure.rv_generic)} | {
        infrastructure.rv_continuous,
        infrastructure.rv_generic,
    }


def _take(owner: Any, name: str, ours: Callable[..., Any]) -> None:
    def chosen(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if holds_traced(args) or holds_traced(kwargs.values()):
            return ours(original, *args, **kwargs)
        return original(*args, **kwargs)

    divert(vars(owner)[name], Answer(ours=chosen, calls_back=True), f"scipy.stats.{name}")


def method(name: str, original: Callable[..., Any], self: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A method on traced arguments."""
    check_shapes(self, name, args, kwargs)
    if isinstance(self, infrastructure.rv_discrete):
        if name in ("ppf", "isf", "median", "interval"):
            return _constant_but_for_loc(name, original, self, args, kwargs)
        if name in OF_PLACES:
            places = (0, self.numargs + 1)
            args = tuple([_fixed(x) if k in places else x for k, x in enumerate(args)])
            kwargs = {word: _fixed(x) if word in ("k", "loc") else x for word, x in kwargs.items()}
    return by_name(f"scipy.stats.{self.name}.{name}", _stacked(name, original, self), args, kwargs)


def _fixed(x: Any) -> Any:
    return stopped(np.asarray(x) * 1.0) if isinstance(x, Traced) else x


def _stacked(name: str, original: Callable[..., Any], self: Any) -> Callable[..., Any]:
    """The method as a function of each element, inside a batch; what is no number stays what it is.

    Plain arrays are operands as traced ones are: an axis of theirs is not the one of the batch.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        leaves = [as_value(x) if isinstance(x, (list, tuple)) else x for x in (*args, *kwargs.values())]
        if not any([is_batched(x) for x in leaves]):
            return original(self, *args, **kwargs)
        places = [k for k, x in enumerate(leaves) if isinstance(x, (Traced, np.ndarray))]

        def on_values(part: int | None, *values: Any) -> Any:
            full = list(leaves)
            shape = np.broadcast_shapes(*[shape_of(v) for v in values])
            for k, v in zip(places, values, strict=True):  # SciPy does not look at all of them for the result's shape
                full[k] = v if shape_of(v) == shape else np.broadcast_to(v, shape)
            found = original(self, *full[: len(args)], **dict(zip(kwargs, full[len(args) :], strict=True)))
            return found if part is None else found[part]

        count = _number_of_results(name, leaves)
        given, title = [leaves[k] for k in places], f"{self.name}.{name}"
        if count is None:
            return by_elements(title, functools.partial(on_values, None), *given)
        return tuple([by_elements(title, functools.partial(on_values, part), *given) for part in range(count)])

    return call


def _number_of_results(name: str, leaves: Sequence[Any]) -> int | None:
    """How many results a method has; None for one that is not in a tuple."""
    if name in ("interval", "support"):
        return 2
    if name == "stats":
        letters = next((x for x in leaves if isinstance(x, str)), "mv")
        return len(letters) if len(letters) > 1 else None
    return None


def _constant_but_for_loc(name: str, original: Callable[..., Any], self: Any, args: Any, kwargs: Any) -> Any:
    """Quantiles of a discrete distribution are whole numbers, which move with the location alone."""
    found = as_constant(f"scipy.stats.{self.name}.{name}", functools.partial(original, self), args, kwargs)
    loc = location(self, args if name == "median" else args[1:], kwargs)
    if not isinstance(loc, Traced):
        return found
    move = loc - stopped(loc)
    return tuple([part + move for part in found]) if isinstance(found, tuple) else found + move


def location(self: Any, args: Sequence[Any], kwargs: Any) -> Any:
    """The location among the arguments."""
    return kwargs.get("loc", args[self.numargs] if len(args) > self.numargs else 0)


def shapes_of(self: Any, name: str, args: Sequence[Any], kwargs: Any) -> dict[str, Any]:
    """The shape parameters that were given, by name."""
    skip = 1 if name in (*OF_PLACES, *OF_LEVELS, "moment", "interval") else 0
    names = [part.strip() for part in (self.shapes or "").split(",") if part.strip()]
    found = dict(zip(names, args[skip:], strict=False))
    return {**found, **{word: x for word, x in kwargs.items() if word in names}}


def check_shapes(self: Any, name: str, args: Sequence[Any], kwargs: Any) -> None:
    """Refuse derivatives in shapes that have none."""
    given = shapes_of(self, name, args, kwargs)
    moving = {word: x for word, x in given.items() if holds_differentiated([x])}
    if not moving:
        return
    for word, x in moving.items():
        if _is_count(self, word, given):
            raise NotDifferentiableError(
                message(
                    f"scipy.stats.{self.name}.{name} has no derivative with respect to {word}, a whole number.",
                    fix=f"Pass it as a constant,  ad.stop_gradient({word}),  or leave it out of  argnums.",
                )
            )
        limit = LIMITS.get((self.name, word))
        if limit is not None and (limit.methods is None or name in limit.methods):
            _check_limit(limit, f"scipy.stats.{self.name}.{name}", word, decidable(x))


def _is_count(self: Any, word: str, given: dict[str, Any]) -> bool:
    """Whether a shape has to be a whole number."""
    infos = {info.name: info for info in self._shape_info()} if hasattr(self, "_shape_info") else {}
    if len(given) != len(infos) or word not in infos or not infos[word].integrality:
        return False
    shifted = {name: np.asarray(contents(x), float) + (0.37 if name == word else 0.0) for name, x in given.items()}
    return not np.any(self._argcheck(*[shifted[name] for name in infos]))


def _check_limit(limit: LimitingShape, name: str, word: str, x: Any) -> None:
    for centre in limit.centres:
        if np.any(np.abs(x - centre) <= limit.near):
            raise NotDifferentiableError(
                message(
                    f"{name} has no known derivative with respect to {word} at {centre:g}, "
                    "where SciPy's formula is a limit.",
                    fix=f"Pass  ad.stop_gradient({word}),  or a value that is not so close.",
                )
            )


def by_name(name: str, call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call; what cannot be differentiated is refused by the name of the method."""
    try:
        return call(*args, **kwargs)
    except (DerivativeDroppedError, NotDifferentiableError, UnsupportedError, AssignmentError, AttributeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        if reason.startswith(name.rpartition(".")[0] + "."):
            raise
        raise UnsupportedError(
            message(
                f"{name} is not differentiated with respect to these arguments: {reason}.",
                fix="Pass  ad.stop_gradient(p)  for parameters that are constants, or write the formula with NumPy's "
                "functions and those of  scipy.special.",
            )
        ) from error


def refused(name: str, original: Callable[..., Any], self: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Estimates are the result of a search: the user's own can be differentiated."""
    if not holds_differentiated((*args, *kwargs.values())):
        return as_constant(f"scipy.stats.{self.name}.{name}", functools.partial(original, self), args, kwargs)
    raise UnsupportedError(
        message(
            f"scipy.stats.{self.name}.{name} is not differentiated: it searches for parameters.",
            fix=f"Minimise  -np.sum(scipy.stats.{self.name}.logpdf(data, *p))  with  ad.optim.minimize,  and give the "
            "solution a rule with  ad.custom_rule  if its derivative is wanted.",
        )
    )
