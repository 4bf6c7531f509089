"""What is asked of rates, factors and trees, and the words when it is not so."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, NoReturn, ParamSpec, TypeVar

import numpy as np

import adjoint as ad

from ..arguments import ArgumentKind, checked
from .recipes import remembered

P = ParamSpec("P")
R = TypeVar("R")
NO_RATES = (list, tuple, dict, set, str, bytes, np.ma.MaskedArray)
LOOKED_AT = ArgumentKind("a number or a schedule", lambda x: not isinstance(x, NO_RATES))
Rate = Annotated[float | Callable[[Any], Any], LOOKED_AT]
"""A step size: a number, or a schedule, which is a function of the number of steps taken."""

_keywords = checked(
    "rate",
    "memory",
    lr="rate=",
    learning_rate="rate=",
    params="optim.adam(1e-3) alone; the parameters go into  init  and  update",
    betas="beta1= and beta2=",
    b1="beta1=",
    b2="beta2=",
    alpha="decay=",
    rho="decay=",
    epsilon="eps=",
    weight_decay="optim.adamw(rate, weight_decay=),  or  optim.chain(optim.weight_decay(strength), ...)",
    max_norm="max=",
    clip_value="max=",
    history_size="memory=",
    step_size="every=",
    gamma="factor=",
    T_max="steps=",
    T_0="first=",
    T_mult="factor=",
    min_lr="minimum=",
    decay_steps="steps=",
    total_steps="steps=",
    warmup_steps="steps=",
    total_iters="steps=",
    eta_min="final=",
    max_lr="peak=",
)


def foreign(make: Callable[P, R]) -> Callable[P, R]:
    """A decorator: what options are called elsewhere is answered with their names here; the result can be pickled."""
    return remembered(_keywords(make))


def refuse(what: str, *, got: str = "", fix: str = "") -> NoReturn:
    """Raise the error, in the form of all of them."""
    raise ad.errors.InputError(ad.errors.message(what, got=got, fix=fix))


def described(x: Any) -> str:
    """`float64[3,4]`, for messages."""
    if isinstance(x, (np.ndarray, np.generic)) and np.ndim(x):
        return f"{x.dtype}[{','.join(map(str, np.shape(x)))}]"
    if isinstance(x, (bool, int, float, complex, str, np.generic)):
        return f"{type(x).__name__} {x}" if not isinstance(x, str) else repr(x)
    return getattr(x, "__name__", None) or type(x).__name__


def is_plain(x: Any) -> bool:
    """Whether a value can be looked at; a traced one is what somebody differentiates with respect to."""
    return type(x) in (int, float) or isinstance(x, np.generic) or type(x) is np.ndarray


def number(x: Any, name: str, argument: str, low: float = 0.0, high: float = math.inf, *, open: bool = False) -> Any:
    """A number between two others, as a Python float so that float32 stays float32; `open`: not `low` itself."""
    if not is_plain(x) and not isinstance(x, (bool, np.ndarray)) and hasattr(x, "dtype"):
        return x
    fits = is_plain(x) and np.ndim(x) == 0 and np.asarray(x).dtype.kind in "fiu"
    if not fits or not (low < x if open else low <= x) or not (x < high if math.isinf(high) else x <= high):
        wanted = f"above {low:g}" if open else f"of at least {low:g}"
        wanted += "" if math.isinf(high) else f" and at most {high:g}"
        refuse(f"{name} needs {argument}, a number {wanted}.", got=f"{argument} = {described(x)}")
    return float(x)


def whole(x: Any, name: str, argument: str, low: int = 1) -> int:
    """An integer of at least `low`."""
    if isinstance(x, bool) or not isinstance(x, (int, np.integer)) or not low <= x <= 2**62:
        refuse(f"{name} needs {argument}, an integer of at least {low}.", got=f"{argument} = {described(x)}")
    return int(x)


def rate_of(rate: Any, name: str) -> Rate:
    """A checked rate: a number above 0, or a schedule."""
    if callable(rate) and not any([np.ndim(leaf) for leaf in ad.tree.leaves(rate)]):  # a model is no schedule
        return rate  # type: ignore[no-any-return]
    if (
        isinstance(rate, str)
        or (isinstance(rate, np.ndarray) and np.ndim(rate))
        or type(rate) is bool
        or not hasattr(rate, "__float__")
    ):
        refuse(
            f"{name} needs a rate: a number, or a schedule, which is a function of the number of steps taken.",
            got=described(rate),
            fix=f"Write  optim.{name}(0.01)  or  optim.{name}(optim.schedule.cosine(0.01, steps=1000)).",
        )
    if is_plain(rate) and not 0 <= float(rate) < math.inf:
        refuse(
            f"{name} needs a rate of at least 0: the steps go against the gradient already.",
            got=f"rate = {rate}",
            fix=f"Write  optim.{name}(0.01).",
        )
    return float(rate) if is_plain(rate) else rate


def at(rate: Rate, count: Any) -> Any:
    """The rate at a step."""
    return rate(count) if callable(rate) else rate


def like(x: Any, leaf: Any) -> Any:
    """A number in the dtype of a leaf, so that it promotes nothing; Python's numbers promote nothing anyway."""
    if type(x) in (float, int):
        return x
    dtype = getattr(leaf, "dtype", np.float64)
    return np.asarray(x).astype(dtype) if is_plain(x) else x.astype(dtype)


def check_trained(params: Any, name: str) -> None:
    """That every leaf is a real number or an array of real numbers."""
    if type(params) is np.ndarray and params.dtype.kind == "f":
        return
    for path, leaf in zip(ad.tree.paths(params), ad.tree.leaves(params), strict=True):
        kind = np.result_type(leaf).kind if isinstance(leaf, (int, float, complex, np.ndarray, np.generic)) else None
        kind = leaf.dtype.kind if kind is None and hasattr(leaf, "dtype") else kind
        if kind != "f":
            where = f" at {path}" if path else ""
            refuse(
                f"{name} needs parameters that are real numbers or arrays of them.",
                got=f"{described(leaf)}{where}",
                fix="Write  1.0  for  1,  x.astype(float)  for whole numbers, and two parameters for a complex one;\n"
                "what is not trained stays outside the tree.",
            )


def check_untied(params: Any, name: str) -> None:
    """That no array of a model stands in two places: each would go its own way from the first step on."""
    if isinstance(params, (np.ndarray, dict, list, tuple)):  # where one array of zeros often begins for several
        return
    first: dict[int, str] = {}
    for path, leaf in zip(ad.tree.paths(params), ad.tree.leaves(params), strict=True):
        other = first.setdefault(id(leaf), path) if isinstance(leaf, np.ndarray) else path
        if other != path:
            refuse(
                f"{name} would take two steps with one array of the model.",
                got=f"{path}, which is {other}",
                fix="Train what there is once:  params, rebuild = nn.partition(model);  rebuild(params)  is the model.",
            )


def check_same(params: Any, given: Any, name: str, other: str = "the gradient") -> None:
    """That a gradient or a step has the containers and shapes of the parameters."""
    if type(params) is np.ndarray and type(given) is np.ndarray and params.shape == given.shape:
        return
    if ad.tree.structure(params) != ad.tree.structure(given):
        refuse(
            f"{name} needs {other} in the containers of the parameters.",
            got=f"parameters {outline(params)} and {other} {outline(given)}",
            fix="Take the gradient with respect to these parameters:  ad.grad(f)(params).",
        )
    for path, p, g in zip(ad.tree.paths(params), ad.tree.leaves(params), ad.tree.leaves(given), strict=True):
        if np.shape(p) != np.shape(g):
            where = f" at {path}" if path else ""
            refuse(
                f"{name} needs {other} in the shapes of the parameters.",
                got=f"parameters of shape {np.shape(p)} and {other} of shape {np.shape(g)}{where}",
            )


def outline(tree: Any) -> str:
    """A tree with a star for each leaf."""
    return str(ad.tree.map(lambda _: "*", tree)).replace("'*'", "*")
