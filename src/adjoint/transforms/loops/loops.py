"""Loops and branches that stay loops and branches: `scan`, `fori_loop`, `map`, `while_loop`, `cond`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...capture.environment.discover import may_catch
from ...core.arguments import Count, Index, Size, Tree, Truth, checked
from ...core.errors import BatchError, InputError, message
from ...core.traced import Traced
from ...core.values import Value, describe, dtype_of, shape_of
from ...ir.capture import GuardRefusedError
from ...ir.loops import ScanOperands, WhileOperands, split
from ..interface.checking import checked_function
from ..settings import is_off
from . import cond as loop_cond
from . import scan as loop_scan
from . import while_loop as loop_while
from .bodies import branches, carry_leaves, checked_length, condition, flat_body, item_leaves, stable
from .capture import leading_example, speculating
from .fallback import is_batch, is_for_python, keeping_nothing, scan_unrolled, takes_no_step, while_unrolled


@checked("f", "init", "xs", "checkpoint_every", "memory", "length")
def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Tree,
    xs: Tree = None,
    length: Size | None = None,
    reverse: bool = False,
    *,
    checkpoint_every: Count | None = None,
    memory: Count | None = None,
) -> tuple[Any, Any]:
    """A loop that carries a state along and takes one slice of its input in each step.

    The same as this, but `f` is called once or twice, not once in every step, and the loop stays a loop in jitted code:

        carry, ys = init, []
        for x in xs:
            carry, y = f(carry, x)
            ys.append(y)
        return carry, np.stack(ys)

    Parameters
    ----------
    f : callable
        `(carry, x) -> (carry, y)`; it may use traced values from outside. A body that branches on values (`if x > 0`)
        is run as a Python loop; `np.where` and `ad.cond` keep it rolled.
    init : any containers
        The first carry. Its types have to stay the same from step to step.
    xs : any containers of arrays, optional
        What is taken apart along the first axis.
    length : int, optional
        The number of steps; needed if there are no `xs`.
    reverse : bool, default False
        Whether to start with the last slice; the `ys` stay in the order of the `xs`.
    checkpoint_every : int, optional
        Keep only one carry in so many for the sweep back, and compute the others again there.
    memory : int, optional
        How many bytes the carries kept for the sweep back may take; the ones to keep are chosen so that the fewest
        steps have to be repeated.

    Returns
    -------
    tuple
        The last carry, and the stacked `y`.

    Raises
    ------
    OutputError
        If `f` does not return a pair, or the carry changes its type.
    ValueError
        If the lengths do not agree.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.scan(lambda total, x: (total + x, total * x), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 2., 9.]))
    >>> ad.grad(lambda a: ad.scan(lambda y, _: (y + a * y, None), 1.0, length=3)[0])(0.5)
    6.75
    """
    checked_function(f, "scan", "ad.scan(f, init, xs)")
    carry, restore = carry_leaves(init, "scan")
    items, restore_items = item_leaves(xs, "scan")
    n = checked_length(items, length, "scan")
    body = flat_body(f, init, restore, restore_items, "scan")
    every, budget = _checked_budget(checkpoint_every, memory)
    if is_off() and n:
        with contextlib.suppress(BatchError):
            return scan_unrolled(f, carry, restore, items, restore_items, n, reverse)
    how: dict[str, Any] = {"reverse": bool(reverse), "memory": budget}

    def attempt(speculative: bool) -> tuple[Sequence[Value], bool]:
        examples = [leading_example(x) for x in items]
        step, first = stable(body, carry, examples, "scan", speculative=speculative)
        loop = ScanOperands((), tuple(first), tuple(items))
        if every and n:
            return loop_scan.in_segments(step, loop, n, every, **how), step.speculates
        return loop_scan.apply(step, loop, length=n, **how), step.speculates

    try:
        with keeping_nothing(f, calls=False) if n else contextlib.nullcontext():
            found = speculating(attempt)
    except Exception as error:
        if not is_for_python(error) or not (isinstance(error, GuardRefusedError) or (n and may_catch(f))):
            raise
        return scan_unrolled(f, carry, restore, items, restore_items, n, reverse)
    last, ys = split(found, len(carry))
    return restore(last), body.restore(ys)


@checked("f", "xs")
def map(f: Callable[[Any], Any], xs: Tree) -> Any:
    """`f` of each slice along the first axis, one after the other, stacked; `ad.vmap` takes all at once.

    Parameters
    ----------
    f : callable
        A function of one slice.
    xs : any containers of arrays
        All with the same length along the first axis.

    Returns
    -------
    any containers of arrays
        The results, stacked along a new first axis.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.map(lambda x: x**2, np.array([1.0, 2.0, 3.0]))
    array([1., 4., 9.])
    """
    checked_function(f, "map", "ad.map(f, xs)")
    return scan(lambda _, x: ((), f(x)), (), xs)[1]


@checked("body", "lower", "upper", "init")
def fori_loop(lower: Index, upper: Index, body: Callable[[Any, Any], Any], init: Tree) -> Any:
    """The state after `body(i, state)` for i = lower, ..., upper - 1.

    Parameters
    ----------
    lower : int
        The first i.
    upper : int
        One more than the last i. If a bound depends on what is being jitted or mapped, the loop is a `while_loop`.
    body : callable
        `(i, state) -> state`, where i is a NumPy integer.
    init : any containers
        The first state.

    Returns
    -------
    any containers
        The last state.

    Raises
    ------
    InputError
        If a bound is not an integer.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.fori_loop(0, 5, lambda i, total: total + i, 0)
    np.int64(10)
    """
    checked_function(body, "fori_loop", "ad.fori_loop(0, n, body, init)")
    for bound in (lower, upper):
        if dtype_of(bound).kind not in "iu" or shape_of(bound) != ():
            raise InputError(
                message("The bounds of fori_loop have to be integers.", got=describe(bound), fix="Pass  int(n).")
            )
    if not isinstance(lower, Traced) and not isinstance(upper, Traced) and lower < upper:
        return scan(lambda state, i: (body(i, state), None), init, np.arange(lower, upper))[0]
    last = while_loop(
        lambda state: state[0] < upper, lambda state: (state[0] + 1, body(state[0], state[1])), (lower, init)
    )
    return last[1]


@checked("cond", "body", "init")
def while_loop(cond: Callable[[Any], Any], body: Callable[[Any], Any], init: Tree) -> Any:
    """The first state for which a condition no longer holds.

    The same as this, but the functions are called once or twice, and the loop stays a loop in jitted code:

        state = init
        while cond(state):
            state = body(state)
        return state

    Its derivative is that of the steps that were taken; for the sweep back their states are kept.

    Parameters
    ----------
    cond : callable
        `state -> truth value`.
    body : callable
        `state -> state`, of the same types.
    init : any containers
        The first state.

    Returns
    -------
    any containers
        The last state.

    Examples
    --------
    >>> import adjoint as ad
    >>> def root(a):
    ...     return ad.while_loop(lambda y: abs(y * y - a) > 1e-12, lambda y: (y + a / y) / 2, 1.0)
    >>> round(float(root(4.0)), 12), round(ad.grad(root)(4.0), 12)
    (2.0, 0.25)
    """
    checked_function(cond, "while_loop", "ad.while_loop(cond, body, init)")
    checked_function(body, "while_loop", "ad.while_loop(cond, body, init)")
    carry, restore = carry_leaves(init, "while_loop")
    if is_off():
        with contextlib.suppress(BatchError):
            return while_unrolled(cond, body, carry, restore)
    step = flat_body(lambda state, _: (body(state), None), init, restore, lambda _: None, "while_loop")

    def attempt(speculative: bool) -> tuple[Sequence[Value], bool]:
        of_body, first = stable(step, carry, [], "while_loop", speculative=speculative)
        of_cond = condition(cond, first, restore)
        return loop_while.apply(of_cond, of_body, WhileOperands((), (), tuple(first))), of_body.speculates

    try:
        with keeping_nothing(cond, body, calls=False):
            *last, _ = speculating(attempt)
        return restore(last)
    except Exception as error:
        catches = is_for_python(error, *carry) and (isinstance(error, GuardRefusedError) or may_catch(cond, body))
        if not catches and not (is_for_python(error) and takes_no_step(cond, carry, restore)):
            raise
    return while_unrolled(cond, body, carry, restore)


@checked("true_fun", "false_fun")
def cond(pred: Truth, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """`true_fun(*operands)` if a truth value holds, else `false_fun(*operands)`.

    In jitted code and in loops it stays a branch. Both functions have to give the same containers and shapes there;
    inside `vmap`, where examples may differ, both are evaluated.

    Parameters
    ----------
    pred : bool
        One truth value, which may be traced; a number holds if it is not 0.
    true_fun : callable
        Called if it holds.
    false_fun : callable
        Called if it does not.
    *operands : any containers
        What the chosen function is called with.

    Returns
    -------
    any containers
        What the chosen function returns.

    Raises
    ------
    InputError
        If `pred` is an array of truth values.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.map(lambda x: ad.cond(x > 0, np.sqrt, lambda x: -x, x), np.array([4.0, -3.0]))
    array([2., 3.])
    """
    checked_function(true_fun, "cond", "ad.cond(pred, f, g, x)")
    checked_function(false_fun, "cond", "ad.cond(pred, f, g, x)")
    if shape_of(pred) != ():
        raise InputError(
            message("cond needs one truth value.", got=describe(pred), fix="Use  np.where,  np.any  or  np.all.")
        )
    if not isinstance(pred, Traced):
        return true_fun(*operands) if pred else false_fun(*operands)
    place = pred if dtype_of(pred).kind == "b" else pred != 0
    take = lambda: true_fun(*operands) if pred else false_fun(*operands)  # noqa: E731
    return _one_of((false_fun, true_fun), place, operands, "cond", take)


@checked("functions")
def switch(index: Index, functions: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """`functions[index](*operands)`; an index below 0 counts as 0, one that is too large as the last.

    As `cond` for more than two cases: in jitted code and in loops it stays a branch, and inside `vmap`, where examples
    may differ, all functions are evaluated. They have to give the same containers and shapes there.

    Parameters
    ----------
    index : int
        Which function to call; one integer, which may be traced.
    functions : sequence of callables
        All take the operands.
    *operands : any containers
        What the chosen function is called with.

    Returns
    -------
    any containers
        What the chosen function returns.

    Raises
    ------
    InputError
        If there is no function, or the index is not one integer.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.map(lambda i: ad.switch(i, [np.sin, np.cos, np.exp], 0.0), np.array([0, 1, 2]))
    array([0., 1., 1.])
    """
    if callable(functions) or not isinstance(functions, (tuple, list)):
        raise InputError(
            message(
                "switch takes its functions in one list.",
                got=describe(functions),
                fix="Write  ad.switch(i, [f, g, h], x).",
            )
        )
    functions = tuple(functions)
    for function in functions:
        checked_function(function, "switch", "ad.switch(i, [f, g, h], x)")
    if not functions:
        raise InputError(message("switch needs at least one function.", fix="Write  ad.switch(i, [f, g, h], x)."))
    if shape_of(index) != () or dtype_of(index).kind not in "iub":
        raise InputError(
            message("switch needs one integer to choose by.", got=describe(index), fix="Use  ad.cond  for a condition.")
        )
    if not isinstance(index, Traced):
        return functions[min(max(int(index), 0), len(functions) - 1)](*operands)
    if len(functions) == 1:
        return functions[0](*operands)
    place = np.clip(index.astype(int), 0, len(functions) - 1)
    return _one_of(functions, place, operands, "switch", lambda: functions[int(place)](*operands))


def _one_of(
    functions: Sequence[Callable[..., Any]],
    place: Value,
    operands: tuple[Any, ...],
    transform: str,
    take: Callable[[], Any],
) -> Any:
    """One of several functions as one step, or what it gives if Python chooses: `take()`."""
    if is_off():
        with contextlib.suppress(BatchError):
            return take()
    try:
        with keeping_nothing(*functions, calls=True) if not is_batch(place) else contextlib.nullcontext():
            return _hoped(functions, place, operands, transform)
    except Exception as error:
        if not is_for_python(error, place):
            raise
    return take()


def _hoped(functions: Sequence[Callable[..., Any]], place: Value, operands: tuple[Any, ...], transform: str) -> Any:
    """The step, as if the branch taken met no singular point."""
    restored: list[Callable[[list[Any]], Any]] = []

    def attempt(speculative: bool) -> tuple[Sequence[Value], bool]:
        bodies, leaves, restore = branches(functions, operands, transform, speculative=speculative)
        restored.append(restore)
        return loop_cond.apply(place, bodies, leaves), bodies[0].speculates

    found = speculating(attempt)
    return restored[-1](list(found))


def _checked_budget(every: int | None, memory: int | None) -> tuple[int, int]:
    for name, given in (("checkpoint_every", every), ("memory", memory)):
        if given is not None and (not isinstance(given, (int, np.integer)) or isinstance(given, bool) or given < 1):
            raise InputError(message(f"{name} has to be a positive integer.", got=describe(given)))
    if every is not None and memory is not None:
        raise InputError(
            message(
                "checkpoint_every and memory are two ways to say the same thing.", fix="Give one of them to  ad.scan."
            )
        )
    return int(every or 0), int(memory or 0)
