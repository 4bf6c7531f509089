"""Stopping rules: when `minimize` has gone far enough, and the sentence that says so.

Rules combine: `a | b` stops when one of them says so, `a & b` when both do at the same step.

>>> import numpy as np
>>> from adjoint import optim
>>> rule = optim.stop.gradient(1e-3) | optim.stop.steps(50)
>>> print(optim.minimize(lambda w: np.sum(w**2), np.array([1.0, 2.0]), optim.sgd(0.1), stop=rule).stopped)
The norm of the gradient is 0.000929, below 0.001.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import adjoint as ad

from ..arguments import checked
from .checks import described, number, refuse, whole

__all__ = ["Progress", "Rule", "gradient", "step", "steps", "validation", "value"]

ELSEWHERE = {
    "patience": "stop.validation(loss, patience=)",
    "early_stopping": "stop.validation(loss, patience=)",
    "max_steps": "stop.steps(most), or max_steps= of optim.minimize",
    "tol": "stop.gradient(eps)",
}
"""Names that people know from elsewhere, to what does the same here."""

__getattr__ = ad.errors.missing("adjoint.optim.stop", __all__, ELSEWHERE)


def __dir__() -> list[str]:
    return __all__


class Progress:
    """What a rule gets to see at every point.

    Parameters
    ----------
    steps : int
        How many steps were taken to get there.
    value : float
        The function's value there.
    before : float
        The value at the point before; nan at the start.
    gradient_norm : float
        The Euclidean norm of the gradient.
    step_norm : float
        The Euclidean norm of the last step; inf at the start.
    params : callable
        Gives the parameters when called.

    Examples
    --------
    >>> from adjoint import optim
    >>> here = optim.stop.Progress(3, 1.0, 1.5, 0.1, 0.2, lambda: None)
    >>> optim.stop.steps(3).begin()(here)
    'The 3 steps that were allowed are taken.'
    """

    __slots__ = ("before", "gradient_norm", "params", "step_norm", "steps", "value")

    def __init__(
        self, steps: int, value: float, before: float, gradient_norm: float, step_norm: float, params: Callable[[], Any]
    ) -> None:
        self.steps, self.value, self.before = steps, value, before
        self.gradient_norm, self.step_norm, self.params = gradient_norm, step_norm, params


Check = Callable[[Progress], str]


@dataclass(frozen=True)
class Rule:
    """A stopping rule; a run begins with it anew, as some rules remember what they have seen.

    Parameters
    ----------
    begin : callable
        Takes nothing and gives the check: a function from `Progress` to a sentence, which is empty to go on.

    Examples
    --------
    >>> from adjoint import optim
    >>> below = optim.stop.Rule(lambda: lambda here: "Low enough." if here.value < 1.0 else "")
    >>> optim.minimize(lambda w: w**2, 3.0, optim.sgd(0.1), stop=below).stopped
    'Low enough.'
    """

    begin: Callable[[], Check]

    def __or__(self, other: Rule) -> Rule:
        def begin() -> Check:
            one, two = self.begin(), check_rule(other).begin()

            def either(here: Progress) -> str:
                first, second = one(here), two(here)
                return first or second

            return either

        return Rule(begin)

    def __and__(self, other: Rule) -> Rule:
        def begin() -> Check:
            one, two = self.begin(), check_rule(other).begin()

            def both(here: Progress) -> str:
                first, second = one(here), two(here)
                return f"{first} {second}" if first and second else ""

            return both

        return Rule(begin)


@checked()
def step(eps: float) -> Rule:
    """Stop when a step is short: |w_(t+1) - w_t|^2 < eps.

    Parameters
    ----------
    eps : float
        The bound of the squared length.

    Returns
    -------
    Rule
        The rule.

    Examples
    --------
    >>> from adjoint import optim
    >>> optim.minimize(lambda w: w**2, 1.0, optim.sgd(0.1), stop=optim.stop.step(1e-6)).stopped
    'The squared length of the last step is 8.92e-07, below 1e-06.'
    """
    eps = number(eps, "stop.step", "eps")

    def check(here: Progress) -> str:
        square = here.step_norm * here.step_norm
        return f"The squared length of the last step is {square:.3g}, below {eps:g}." if square < eps else ""

    return Rule(lambda: check)


@checked()
def gradient(eps: float) -> Rule:
    """Stop when the gradient is short: |g| < eps.

    Parameters
    ----------
    eps : float
        The bound of its Euclidean norm.

    Returns
    -------
    Rule
        The rule.

    Examples
    --------
    >>> from adjoint import optim
    >>> optim.minimize(lambda w: w**2, 1.0, optim.sgd(0.1), stop=optim.stop.gradient(1e-3)).stopped
    'The norm of the gradient is 0.000811, below 0.001.'
    """
    eps = number(eps, "stop.gradient", "eps")

    def check(here: Progress) -> str:
        found = here.gradient_norm
        return f"The norm of the gradient is {found:.3g}, below {eps:g}." if found < eps else ""

    return Rule(lambda: check)


@checked()
def value(eps: float, *, relative: float = 0.0) -> Rule:
    """Stop when the value hardly changes any more: |f(w_(t+1)) - f(w_t)| < eps + relative * |f(w_t)|.

    Parameters
    ----------
    eps : float
        The bound of the change.
    relative : float, optional
        The bound as a share of the value.

    Returns
    -------
    Rule
        The rule.

    Examples
    --------
    >>> from adjoint import optim
    >>> optim.minimize(lambda w: w**2, 1.0, optim.sgd(0.1), stop=optim.stop.value(1e-3)).stopped
    'The value changed by 0.000696 in the last step, less than 0.001.'
    """
    eps = number(eps, "stop.value", "eps")
    relative = number(relative, "stop.value", "relative")

    def check(here: Progress) -> str:
        change, bound = abs(here.value - here.before), eps + relative * abs(here.before)
        return f"The value changed by {change:.3g} in the last step, less than {bound:.3g}." if change < bound else ""

    return Rule(lambda: check)


@checked()
def steps(most: int) -> Rule:
    """Stop after so many steps.

    Parameters
    ----------
    most : int
        How many.

    Returns
    -------
    Rule
        The rule.

    Examples
    --------
    >>> from adjoint import optim
    >>> optim.minimize(lambda w: w**2, 1.0, optim.sgd(0.1), stop=optim.stop.steps(7)).stopped
    'The 7 steps that were allowed are taken.'
    """
    most = whole(most, "stop.steps", "most", 0)
    return Rule(lambda: lambda here: f"The {most} steps that were allowed are taken." if here.steps >= most else "")


@checked("loss")
def validation(loss: Callable[[Any], Any], *, patience: int = 10, every: int = 1, eps: float = 0.0) -> Rule:
    """Stop when another loss, that of validation data, has not become smaller for some time.

    Parameters
    ----------
    loss : callable
        The validation loss, a function of the parameters.
    patience : int, optional
        How many times in a row it may fail to become smaller.
    every : int, optional
        After how many steps it is looked at.
    eps : float, optional
        By how much it has to become smaller to count.

    Returns
    -------
    Rule
        The rule.

    Examples
    --------
    >>> from adjoint import optim
    >>> rule = optim.stop.validation(lambda w: (w - 0.5) ** 2, patience=3)
    >>> optim.minimize(lambda w: w**2, 1.0, optim.sgd(0.1), stop=rule).stopped
    'The validation loss, 0.000144 at step 3, has not become smaller in 3 looks.'
    """
    if not callable(loss):
        refuse("stop.validation needs a function of the parameters.", got=described(loss))
    patience = whole(patience, "stop.validation", "patience")
    every = whole(every, "stop.validation", "every")
    eps = number(eps, "stop.validation", "eps")

    def begin() -> Check:
        best, best_step, failures = math.inf, 0, 0

        def check(here: Progress) -> str:
            nonlocal best, best_step, failures
            if here.steps % every:
                return ""
            found = float(loss(here.params()))
            if found < best - eps or best == math.inf:
                best, best_step, failures = found, here.steps, 0
                return ""
            failures += 1
            if failures < patience:
                return ""
            return f"The validation loss, {best:.3g} at step {best_step}, has not become smaller in {failures} looks."

        return check

    return Rule(begin)


def check_rule(found: Any) -> Rule:
    """A rule, or the error that it is none."""
    if not isinstance(found, Rule):
        refuse(
            "A stopping rule was expected.",
            got=described(found),
            fix="Write  optim.stop.gradient(1e-6) | optim.stop.step(1e-12),  for example.",
        )
    return found
