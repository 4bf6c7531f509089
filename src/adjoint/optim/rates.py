"""The rate of an optimiser at a state: by the steps it has counted, and by what it was told of the loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arguments import Count, checked
from ..typing import Tree
from .base import Optimizer, has
from .checks import at, described, refuse
from .schedule.length import closed


def started(rate: Any) -> dict[str, Any]:
    """The part of a first state that the rate needs: a count, and for a plateau what is known."""
    rule = getattr(rate, "watches", None)
    return {"count": np.int64(0), **({} if rule is None else {"plateau": rule.start()})}


def counted(state: Mapping[str, Any]) -> dict[str, Any]:
    """That part after one more step."""
    return {"count": state["count"] + 1, **({"plateau": state["plateau"]} if "plateau" in state else {})}


def rate_at(rate: Any, state: Mapping[str, Any]) -> Any:
    """The rate of the next step."""
    eta = at(rate, state["count"])
    return eta * state["plateau"]["factor"] if "plateau" in state else eta


@checked("state")
def rates(optimizer: Optimizer, state: Tree) -> dict[str, float]:
    """The rates of the step that comes next.

    Parameters
    ----------
    optimizer : Optimizer
        Any optimiser.
    state : any containers
        Its state.

    Returns
    -------
    dict of str to float
        `{"rate": 0.1}`; of groups one for each, as `{"rate[head.*]": 0.01, "rate[*]": 0.0001}`; empty if the optimiser
        has no rate, as one with a line search, or is of your own.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.chain(optim.clip(1.0), optim.sgd(optim.schedule.step(0.1, every=1, factor=0.5)))
    >>> w = np.zeros(2)
    >>> step, state = optimizer.update(w, optimizer.init(w), w)
    >>> optim.rates(optimizer, state)
    {'rate': 0.05}
    """
    return rates_of(optimizer, state)


def rates_of(optimizer: Optimizer, state: Tree) -> dict[str, float]:
    """The same of a state that is known to be a tree, as `ad.train` asks at every epoch."""
    inner = getattr(optimizer.update, "inner", None)
    _check_state(optimizer, state, "rates")
    if isinstance(inner, Mapping):
        parts = {name: rates_of(each, state[name]) for name, each in inner.items()}
        return {f"rate[{name}]{key.removeprefix('rate')}": x for name, own in parts.items() for key, x in own.items()}
    if inner is not None:
        return {key: x for each, own in zip(inner, state, strict=True) for key, x in rates_of(each, own).items()}
    rate = getattr(optimizer.update, "rate", None)
    if rate is None or not has(optimizer, "makes_step"):
        return {}
    return {"rate": float(rate_at(rate, state))}


@checked("state", "value")
def observe(optimizer: Optimizer, state: Tree, value: float) -> Any:
    """The state of an optimiser that was told a loss, for rates that go by it: `optim.schedule.plateau`.

    `ad.train` tells it after each epoch. A state of an optimiser with other rates stays as it is.

    Parameters
    ----------
    optimizer : Optimizer
        Any optimiser.
    state : any containers
        Its state.
    value : float
        What was measured; nan is no smaller than anything.

    Returns
    -------
    any containers
        The state after.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.adam(optim.schedule.plateau(0.1, patience=0))
    >>> state = optimizer.init(np.zeros(2))
    >>> for loss in (0.3, 0.4):
    ...     state = optim.observe(optimizer, state, loss)
    >>> optim.rates(optimizer, state)["rate"]
    0.01...
    """
    inner = getattr(optimizer.update, "inner", None)
    _check_state(optimizer, state, "observe")
    if isinstance(inner, Mapping):
        parts = {name: observe(each, state[name], value) for name, each in inner.items()}
        return state if all([parts[name] is state[name] for name in parts]) else parts
    if inner is not None:
        links = tuple([observe(each, own, value) for each, own in zip(inner, state, strict=True)])
        return state if all([new is old for new, old in zip(links, state, strict=True)]) else links
    rate: Any = getattr(optimizer.update, "rate", None)
    if not hasattr(rate, "watches"):
        return state
    known = rate.watches.after(state["plateau"], float(value), float(at(rate, state["count"])))
    return {**state, "plateau": known}


def _check_state(optimizer: Optimizer, state: Any, name: str) -> None:
    """That a state has the form of those of the optimiser, as far as rates go."""
    inner, rate = (getattr(optimizer.update, what, None) for what in ("inner", "rate"))
    if isinstance(inner, Mapping):
        fits = isinstance(state, Mapping) and state.keys() == inner.keys()
    elif inner is not None:
        fits = isinstance(state, tuple) and len(state) == len(inner)
    else:
        fits = rate is None or (isinstance(state, Mapping) and state.keys() >= started(rate).keys())
    if not fits:
        refuse(
            f"{name} needs state, one of this optimiser.",
            got=f"state = {described(state)}",
            fix="Pass what  optimizer.init  or  optimizer.update  gave.",
        )


def is_watching(optimizer: Optimizer) -> bool:
    """Whether an optimiser has a rate that goes by the loss."""
    inner = getattr(optimizer.update, "inner", None)
    if inner is not None:
        return any([is_watching(each) for each in (inner.values() if isinstance(inner, Mapping) else inner)])
    return hasattr(getattr(optimizer.update, "rate", None), "watches")


@checked("state")
def for_steps(optimizer: Optimizer, steps: Count, state: Tree | None = None) -> Optimizer:
    """The optimiser for a run of so many steps, which its schedules with `steps="run"` follow.

    `ad.train` and `optim.minimize` call it.

    Parameters
    ----------
    optimizer : Optimizer
        Any optimiser.
    steps : int
        How many steps the run has.
    state : any containers, optional
        The state that the run starts with, if it has counted steps already: the schedules begin there.

    Returns
    -------
    Optimizer
        The same one, if it has no such schedule.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.for_steps(optim.sgd(optim.schedule.cosine(0.1, steps="run")), 100)
    >>> optim.rates(optimizer, {"count": np.int64(50)})
    {'rate': 0.05}
    """
    return _for_steps(optimizer, steps, 0 if state is None else _steps_counted(optimizer, state))  # type: ignore[no-any-return]


def _for_steps(x: Any, steps: int, start: int) -> Any:
    """Whatever an optimiser was made with, with closed schedules; the same if it had no open ones."""
    if isinstance(x, Mapping):
        new = {name: _for_steps(each, steps, start) for name, each in x.items()}
        return x if all([new[name] is x[name] for name in x]) else new
    recipe = getattr(x.update, "recipe", None) if isinstance(x, Optimizer) else None
    if recipe is None:
        return closed(x, steps, start)
    args = dict(enumerate(recipe.args))
    new_args, options = _for_steps(args, steps, start), _for_steps(recipe.options, steps, start)
    unchanged = new_args is args and options is recipe.options
    return x if unchanged else recipe.make(*new_args.values(), **options)


def _steps_counted(optimizer: Optimizer, state: Any) -> int:
    """How many steps an optimiser has counted; 0 if it counts none."""
    inner = getattr(optimizer.update, "inner", None)
    if inner is not None:
        names = list(inner) if isinstance(inner, Mapping) else range(len(inner))
        return max([_steps_counted(inner[name], state[name]) for name in names])
    return int(state["count"]) if isinstance(state, Mapping) and "count" in state else 0
