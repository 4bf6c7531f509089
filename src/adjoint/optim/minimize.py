"""`minimize`: any optimiser on any plain function, to the point where a stopping rule says that it is enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import adjoint as ad

from ..arguments import checked
from ..typing import Array, Tree
from .base import Optimizer, apply, check_optimizer, has, name_of
from .checks import check_trained, described, refuse, whole
from .gradients import norm
from .lbfgs import lbfgs
from .objective import Objective
from .result import Result
from .reuse import cached
from .stop import Progress, Rule, check_rule, gradient

PATH_NUMBERS = 1000
"""Points with more numbers than this are kept only on request."""

LOWEST = -1e100
"""No function that has a minimum has it below."""

STALLED = 20
"""After so many steps without any change of the value, none will come."""


@checked(
    "f",
    "x0",
    "optimizer",
    "stop",
    method="optimizer=, as  optim.minimize(f, x0, optim.lbfgs())",
    jac="f alone: its gradient is computed",
    hess="f alone: its Hessian is computed if the optimiser wants it, as  optim.newton()  does",
    tol="stop=optim.stop.gradient(1e-6)",
    maxiter="max_steps=",
    options="max_steps= and stop=",
)
def minimize(
    f: Callable[..., Any],
    x0: Tree,
    optimizer: Optimizer | None = None,
    *,
    stop: Rule | None = None,
    max_steps: int = 10_000,
    jit: bool = True,
    args: tuple[Any, ...] = (),
    path: bool | None = None,
) -> Result:
    """Minimise a function of any containers of arrays.

    Optimisers that need the gradient alone run as one compiled step (value, gradient, update). Those that look at the
    function, such as `lbfgs`, run step by step on one vector with compiled derivatives. Compiled functions are kept
    for the next call with the same `f`.

    Parameters
    ----------
    f : callable
        `f(x, *args)`, plain NumPy code that returns one real number; for `gauss_newton` and `levenberg_marquardt` the
        residuals, half of whose sum of squares is then minimised.
    x0 : any containers of arrays
        Where to start.
    optimizer : Optimizer, optional
        How; without it, `lbfgs()`.
    stop : Rule, optional
        When to stop; without it, when the norm of the gradient is below 1e-6 (1e-3 in float32).
    max_steps : int, optional
        When to give up.
    jit : bool, optional
        Whether the function is compiled.
    args : tuple, optional
        Further arguments of the function, such as data.
    path : bool, optional
        Whether the points are kept; without it, those of at most 1,000 numbers.

    Returns
    -------
    Result
        The point, its value, the way to it, and why it stopped.

    Raises
    ------
    InputError
        If the start is not made of real numbers, the value there is not finite, or the optimiser is none.
    OutputError
        If the function does not return one real number.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> def rosenbrock(x):
    ...     return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2
    >>> found = optim.minimize(rosenbrock, np.array([-1.2, 1.0]), optim.lbfgs())
    >>> print(found)
    lbfgs: value ... after ... steps
      x              [1. 1.]
      gradient norm  ...
      stopped        The norm of the gradient is ..., below 1e-06.

    Any containers, and data as further arguments:

    >>> t = np.linspace(0.0, 1.0, 20)
    >>> def loss(p, t, y):
    ...     return np.mean((p["a"] * t + p["b"] - y) ** 2)
    >>> found = optim.minimize(loss, {"a": 0.0, "b": 0.0}, args=(t, 3.0 * t + 1.0))
    >>> {name: round(float(p), 6) for name, p in found.x.items()}
    {'a': 3.0, 'b': 1.0}
    """
    optimizer = lbfgs() if optimizer is None else optimizer
    check_optimizer(optimizer, "minimize")
    if not callable(f):
        refuse("minimize needs a function.", got=described(f), fix="Write  optim.minimize(f, x0).")
    if not isinstance(args, tuple):
        refuse(
            "minimize takes further arguments as a tuple.", got=f"args = {described(args)}", fix="Write  args=(data,)."
        )
    max_steps = whole(max_steps, "minimize", "max_steps", 0)
    check_trained(x0, "minimize")
    x0 = x0 if type(x0) is np.ndarray else ad.tree.map(lambda p: np.float64(p) if type(p) is float else p, x0)
    leaves = [x0] if type(x0) is np.ndarray else ad.tree.leaves(x0)
    if not leaves:
        refuse("minimize needs at least one parameter.", got=repr(x0))
    if stop is None:
        stop = gradient(1e-3 if any([p.dtype.itemsize < 8 for p in leaves]) else 1e-6)
    keeps = sum([np.size(p) for p in leaves]) <= PATH_NUMBERS if path is None else path
    run = _on_vector if has(optimizer, "vector") else _on_trees
    points, name = run(f, x0, optimizer, args, jit), name_of(optimizer)
    with np.errstate(all="ignore"):  # values that are not finite are met with a sentence, or a shorter step
        return _followed(points, check_rule(stop), max_steps, keeps, name, f, args)


class Point(NamedTuple):
    """Where a run is: parameters when called, the function there, and the length of the step that led there."""

    params: Callable[[], Any]
    value: float
    gradient_norm: float
    step_norm: float
    best: Callable[[], Any]


def _followed(
    points: Iterator[Point], stop: Rule, max_steps: int, keeps: bool, name: str, f: Any, args: tuple[Any, ...]
) -> Result:
    """Follow the points until there is a reason to stop."""
    check, before, values, path, count, same = stop.begin(), math.nan, [], [], 0, 0
    for point in points:
        value = point.value
        if not count and not math.isfinite(value):
            _refuse_start(value, point.params())
        values.append(value)
        if keeps:
            path.append(point.params())
        why = check(Progress(count, value, before, point.gradient_norm, point.step_norm, point.params))
        converged = bool(why)
        same = same + 1 if value == before else 0
        why = why or _breakdown(point, value, same, count, max_steps)
        if why:
            break
        before, count = value, count + 1
    x, value, gradient_norm = point.best() or (point.params(), point.value, point.gradient_norm)
    trail = path if path else None
    if trail and isinstance(trail[0], (np.ndarray, np.generic)):
        trail = np.stack(trail)  # type: ignore[assignment]
    objective = (lambda x: f(x, *args)) if args else f
    return Result(x, value, gradient_norm, count, why, converged, np.array(values), trail, name, objective)


def _breakdown(point: Point, value: float, same: int, count: int, max_steps: int) -> str:
    """Why a run cannot go on, whatever its rule says."""
    if math.isnan(value):
        return f"The value became nan at step {count}: the steps are too long, or leave the domain of the function."
    if value < LOWEST or math.isinf(value):
        words = "the function seems to have no lower bound" if value < 0 else "the steps are too long"
        return f"The value became {value:.3g} at step {count}: {words}."
    if math.isnan(point.gradient_norm):
        return f"The gradient became nan at step {count}."
    if point.gradient_norm == 0.0:
        return "The gradient is 0: a stationary point."
    if point.step_norm == 0.0:
        return "The last step was 0: no smaller value was found in its direction."
    if same >= STALLED:
        return f"The value has not changed in the last {same} steps."
    return f"The {max_steps} steps that were allowed are taken." if count >= max_steps else ""


def _on_trees(f: Any, x0: Tree, optimizer: Optimizer, args: tuple[Any, ...], jit: bool) -> Iterator[Point]:
    """The points of an optimiser that needs the gradient: value, gradient, update and step are one function."""

    def advance(x: Tree, state: Tree, *args: Any) -> Any:
        value, g = ad.value_and_grad(f)(x, *args)
        step, state = optimizer.update(g, state, x, value=value, function=lambda p: f(p, *args))
        return apply(x, step), state, value, norm(g), norm(step)

    run = cached((_on_trees, f, optimizer), lambda: ad.jit(advance)) if jit else advance
    x, state, last = x0, optimizer.init(x0), math.inf
    while True:
        new, after, value, gradient_norm, step_norm = run(x, state, *args)
        yield Point(partial(_same, x), float(value), float(gradient_norm), last, partial(_best, after, value))
        x, state, last = new, after, float(step_norm)


def _best(state: Tree, value: Array) -> Any:
    """The best point that an optimiser has kept, with its value, if it keeps one."""
    states = [state] if isinstance(state, dict) else list(state) if isinstance(state, tuple) else []
    kept = [s for s in states if isinstance(s, dict) and "best" in s]
    if not kept or not kept[0]["best_value"] < value:
        return None
    return kept[0]["best"], float(kept[0]["best_value"]), float("nan")


def _on_vector(f: Any, x0: Tree, optimizer: Optimizer, args: tuple[Any, ...], jit: bool) -> Iterator[Point]:
    """The points of an optimiser that looks at the function: on one vector, with what it knows of the next point."""
    objective = Objective(f, x0, args, jit)
    unravel, x = objective.unravel, objective.start
    residuals = has(optimizer, "residuals")
    state, last = optimizer.init(x), math.inf
    evaluate = _half_square(objective) if residuals else _by_line(objective)
    value, g = evaluate(x)
    while True:
        yield Point(partial(unravel, x), float(value), math.sqrt(g.dot(g)), last, _nothing)
        step, state = optimizer.update(g, state, x, value=value, function=objective, donate=True)
        x = x + step
        last = math.sqrt(step.dot(step))
        known = state.get("known") if isinstance(state, dict) else None
        value, g = evaluate(x) if known is None else known


def _by_line(objective: Objective) -> Callable[[Any], Any]:
    """Value and gradient by the function that line searches use, so that only one is compiled."""
    return lambda x: objective.along(x, np.zeros_like(x), 0.0)[1:3]


def _half_square(objective: Objective) -> Callable[[Any], Any]:
    """Value and gradient of half the sum of squared residuals; the optimiser finds residuals and Jacobian again."""
    computed, last = objective.residuals_and_jacobian, [None, None]

    def remembered(x: Tree) -> Any:
        if last[0] is not x:
            last[:] = x, computed(x)
        return last[1]

    objective.residuals_and_jacobian = remembered

    def evaluate(x: Tree) -> tuple[Any, Any]:
        r, jacobian = objective.residuals_and_jacobian(x)
        return 0.5 * (r.dot(r)), r.dot(jacobian)

    return evaluate


def _refuse_start(value: float, x: Tree) -> None:
    refuse(
        "minimize needs a start where the function is finite.",
        got=f"the value {value} at {str(x).replace(chr(10), ' ')[:80]}",
        fix="Start inside the function's domain;  with ad.debug.nans():  names the step that made a nan.",
    )


def _nothing() -> None:
    return None


def _same(x: Tree) -> Any:
    return x
