"""What an optimiser is: a pair of functions, `init` and `update`; chains and groups of them; how a step is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import adjoint as ad

from ..arguments import checked, fitting
from ..typing import Tree
from .checks import check_same, check_trained, check_untied, described, refuse
from .recipes import again, remembered

T = TypeVar("T")
LOOP = (
    "its state is a value.  Write  step, state = optimizer.update(gradient, state, params);  "
    "params = optim.apply(params, step),  or use  ad.train  or  optim.minimize"
)
"""What stands in place of a step that changes parameters where they are."""


class Optimizer(NamedTuple):
    """An optimiser: how its state begins, and what step it takes.

    The new parameters are the old ones plus the step:

        state = optimizer.init(params)
        step, state = optimizer.update(gradient, state, params)
        params = optim.apply(params, step)

    Parameters, gradients, steps and states are trees of numbers and arrays; a state keeps its shapes and dtypes, so
    that all of it runs under `ad.jit` and as the carry of `ad.scan`.

    Parameters
    ----------
    init : callable
        `params -> state`.
    update : callable
        `(gradient, state, params, **context) -> (step, state)`. What a driver knows besides the gradient it gives as
        keywords, of which an optimiser takes what it needs: `value`, the function's value at `params`; `function`, the
        function of the parameters alone, for line searches and curvature (an `Objective` brings compiled derivatives);
        `donate=True`, if the old state is not used again, so that its memory may be.

    Examples
    --------
    One of your own, which takes steps in the direction of the gradient's signs:

    >>> import numpy as np, adjoint as ad
    >>> from adjoint import optim
    >>> def signs(rate):
    ...     def update(gradient, state, params=None, **context):
    ...         return ad.tree.map(lambda g: -rate * np.sign(g), gradient), state
    ...     return optim.Optimizer(lambda params: (), update)
    >>> optimizer = optim.chain(optim.clip(1.0), signs(0.1))
    >>> params = {"w": np.array([1.0, -2.0])}
    >>> state = optimizer.init(params)
    >>> step, state = optimizer.update(ad.grad(lambda p: np.sum(p["w"] ** 2))(params), state, params)
    >>> optim.apply(params, step)
    {'w': array([ 0.9, -1.9])}
    """

    init: Callable[[Any], Any]
    update: Callable[..., tuple[Any, Any]]

    def __repr__(self) -> str:
        return f"<optimiser {name_of(self)}>"

    def __reduce__(self) -> Any:
        """Pickled as the call that made it; one of your own as its two functions."""
        recipe = getattr(self.update, "recipe", None)
        return (Optimizer, tuple(self)) if recipe is None else (again, (recipe.frozen(),))

    def __getattr__(self, name: str) -> Any:
        if name in ("step", "zero_grad", "minimize", "apply_gradients"):
            raise AttributeError(f"an optimiser has no {name!r}: {LOOP}")
        raise AttributeError(f"'Optimizer' object has no attribute {name!r}")


def optimizer(
    init: Callable[[Any], Any], update: Callable[..., tuple[Any, Any]], name: str, **facts: bool
) -> Optimizer:
    """A pair that checks what it is given, and knows its name and its facts.

    `takes_gradient`: it has to come before whatever turns the gradient into a step. `makes_step`: what comes out is a
    step. `vector`: it works on one vector, and trees are raveled around it. `residuals`: its function gives residuals.
    """

    def checked_init(params: Tree) -> Any:
        check_trained(params, name)
        check_untied(params, name)
        return init(params)

    def checked_update(gradient: Tree, state: Tree, params: Tree | None = None, **context: Any) -> tuple[Any, Any]:
        if params is not None and gradient is not None:
            check_same(params, gradient, name)
        return update(gradient, state, params, **context)

    checked_update.name = name  # type: ignore[attr-defined]
    checked_update.facts = frozenset([fact for fact, holds in facts.items() if holds])  # type: ignore[attr-defined]
    return Optimizer(checked_init, checked_update)


def has(optimizer: Optimizer, fact: str) -> bool:
    """Whether something is known of an optimiser; of a user's own nothing is."""
    return fact in getattr(optimizer.update, "facts", ())


@checked()
def needs_function(optimizer: Optimizer) -> bool:
    """Whether an optimiser evaluates the function at other places, as a line search does, and decides by its values.

    Parameters
    ----------
    optimizer : Optimizer
        One of this room, or of your own, which does not.

    Returns
    -------
    bool
        Whether `update` needs `function`; then it runs quickest outside `ad.jit`, with a jitted function.

    Examples
    --------
    >>> from adjoint import optim
    >>> optim.needs_function(optim.lbfgs()), optim.needs_function(optim.adam(1e-3))
    (True, False)
    """
    return has(optimizer, "vector")


def name_of(optimizer: Optimizer) -> str:
    """The name for messages."""
    return getattr(optimizer.update, "name", "an optimiser of your own")


@remembered
@checked()
def chain(*optimizers: Optimizer) -> Optimizer:
    """One optimiser of several: each gets what the one before it returned.

    What changes gradients (`clip`, `weight_decay`) comes first, then the optimiser proper, then what changes steps
    (`scale`, `clip`). The state is the tuple of their states.

    Parameters
    ----------
    *optimizers : Optimizer
        In the order in which they are applied.

    Returns
    -------
    Optimizer
        The chain.

    Raises
    ------
    InputError
        If one of them is no optimiser, or one that needs a gradient comes after one that has made a step of it.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.chain(optim.clip_by_norm(1.0), optim.weight_decay(0.1), optim.sgd(0.5))
    >>> w = np.array([1.0, 2.0])
    >>> step, state = optimizer.update(np.array([3.0, 4.0]), optimizer.init(w), w)
    >>> step  # -0.5 * (gradient / 5 + 0.1 * w)
    array([-0.35, -0.5 ])
    """
    if not optimizers:
        refuse(
            "chain needs at least one optimiser.",
            got="none",
            fix="Write  optim.chain(optim.clip(1.0), optim.adam(1e-3)).",
        )
    before = None
    for each in optimizers:
        check_optimizer(each, "chain")
        if before is not None and has(each, "takes_gradient"):
            refuse(
                f"{name_of(each)} needs the gradient, but {name_of(before)} before it has already made a step of it.",
                got=" -> ".join([name_of(o) for o in optimizers]),
                fix=f"Put {name_of(each)} before {name_of(before)}, or choose one of them.",
            )
        before = each if has(each, "makes_step") else before

    def init(params: Tree) -> Any:
        return tuple([o.init(params) for o in optimizers])

    def update(gradient: Tree, state: Tree, params: Tree | None = None, **context: Any) -> tuple[Any, Any]:
        new, passed = [], gradient
        for each, own in zip(optimizers, state, strict=True):
            passed, own = each.update(passed, own, params, **context)
            new.append(own)
        return passed, tuple(new)

    facts = ("takes_gradient", "makes_step", "vector", "residuals")
    name = f"chain({', '.join([name_of(o) for o in optimizers])})"
    return optimizer(init, update, name, **{fact: any([has(o, fact) for o in optimizers]) for fact in facts})


@remembered
@checked()
def groups(optimizers: Mapping[str, Optimizer]) -> Optimizer:
    """One optimiser of several, each for the parameters whose path fits its pattern.

    Parameters
    ----------
    optimizers : dict of str to Optimizer
        Patterns with stars for paths (`ad.tree.paths`), or the word `"matrices"` for arrays of two axes or more. A
        parameter belongs to the first pattern that it fits; each has to fit one.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`; its state is a dict of their states, by pattern.

    Raises
    ------
    InputError
        If a parameter fits no pattern, or a pattern fits no parameter that those before it have left.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.groups({"head.*": optim.sgd(1.0), "*": optim.sgd(0.01)})
    >>> params = {"body": {"w": np.ones(2)}, "head": {"w": np.ones(2)}}
    >>> step, state = optimizer.update(params, optimizer.init(params), params)
    >>> step
    {'body': {'w': array([-0.01, -0.01])}, 'head': {'w': array([-1., -1.])}}
    """
    if not optimizers:
        refuse("groups needs a pattern at least.", got="{}", fix='Write  optim.groups({"*": optim.adam(1e-3)}).')
    for pattern, each in optimizers.items():
        check_optimizer(each, f"groups, for {pattern!r},")
        if has(each, "vector"):
            refuse(
                f"{name_of(each)} looks at the function of all parameters, so it has no group of its own.",
                got=f"{pattern!r}: {name_of(each)}",
                fix="Use it alone, or  optim.adam  and its like in groups.",
            )

    def init(params: Tree) -> Any:
        parts = _parts(params, _owners(params, tuple(optimizers)))
        return {pattern: each.init(parts[pattern]) for pattern, each in optimizers.items()}

    def update(gradient: Tree, state: Tree, params: Tree | None = None, **context: Any) -> tuple[Any, Any]:
        owners = _owners(gradient if params is None else params, tuple(optimizers))
        slopes, given = _parts(gradient, owners), None if params is None else _parts(params, owners)
        steps: dict[str, Any] = {}
        new = {}
        for pattern, each in optimizers.items():
            own = None if given is None else given[pattern]
            found, new[pattern] = each.update(slopes[pattern], state[pattern], own, **context)
            steps |= found
        paths = iter(ad.tree.paths(gradient))
        return ad.tree.map(lambda _: steps[next(paths)], gradient), new

    name = f"groups({', '.join([name_of(each) for each in optimizers.values()])})"
    return optimizer(init, update, name, takes_gradient=True, makes_step=True)


@checked("params", "step")
def apply(params: T, step: Tree) -> T:
    """The parameters after a step: each leaf plus its step, in the dtype that it had.

    Parameters
    ----------
    params : any containers of arrays
        The parameters.
    step : any containers of arrays
        The step, in the same containers.

    Returns
    -------
    same as `params`
        The new parameters.

    Raises
    ------
    InputError
        If the two do not have the same structure.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optim.apply({"b": 1.0, "w": np.ones(2)}, {"b": 0.5, "w": np.array([-1.0, 1.0])})
    {'b': 1.5, 'w': array([0., 2.])}
    """
    check_same(params, step, "apply", other="the step")
    return ad.tree.map(lambda p, s: p + s, params, step)


def check_optimizer(found: Any, name: str) -> None:
    """That it is a pair of functions."""
    if (
        isinstance(found, tuple)
        and len(found) == 2
        and callable(found[0])
        and callable(found[1])
        and hasattr(found, "update")
    ):
        return
    called = f"optim.{getattr(found, '__name__', 'adam')}" if callable(found) else "optim.adam"
    refuse(
        f"{name} needs an optimiser.",
        got=described(found),
        fix=f"Write  {called}(1e-3),  or  optim.Optimizer(init, update)  for one of your own.",
    )


def _owners(tree: Tree, patterns: tuple[str, ...]) -> list[str]:
    """The pattern that each leaf belongs to."""
    paths, leaves = ad.tree.paths(tree), ad.tree.leaves(tree)
    fits = {pattern: fitting(pattern, paths, leaves)[0] for pattern in patterns}
    owners = [next((p for p in patterns if fits[p][k]), "") for k in range(len(paths))]
    for path, owner in zip(paths, owners, strict=True):
        if not owner:
            rest = 'Add  "*": optim.adam(1e-3)  at the end.'
            refuse(f"{path} fits none of the groups.", got=", ".join(patterns), fix=rest)
    for pattern in patterns:
        if pattern not in owners:
            refuse(
                "A group has no parameters: no path fits it that does not fit one before it.",
                got=f"{pattern!r}, and the paths {', '.join(paths)}",
                fix="Put what is more special first; stars stand for anything.",
            )
    return owners


def _parts(tree: Tree, owners: list[str]) -> dict[str, dict[str, Any]]:
    """The leaves of each group, by their paths."""
    found: dict[str, dict[str, Any]] = {owner: {} for owner in owners}
    for path, leaf, owner in zip(ad.tree.paths(tree), ad.tree.leaves(tree), owners, strict=True):
        found[owner][path] = leaf
    return found
