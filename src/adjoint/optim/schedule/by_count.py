"""Schedules that go by the number of steps alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import Rate, at, foreign, number, rate_of, whole
from .length import Length, as_inner, length, of_length

Schedule = Callable[[Any], Any]
LAST = 2**53
"""More steps than any run takes."""


@foreign
def constant(rate: float) -> Schedule:
    """The same rate at every step.

    Parameters
    ----------
    rate : float
        The rate.

    Returns
    -------
    callable
        `count -> rate`.

    Examples
    --------
    >>> from adjoint import optim
    >>> optim.schedule.constant(0.1)(7)
    0.1
    """
    rate = number(rate, "schedule.constant", "rate")
    return lambda count: rate + 0.0 * count


@foreign
def step(rate: float, *, every: int, factor: float = 0.1) -> Schedule:
    """The rate times `factor` after every so many steps: rate * factor ** floor(count / every).

    Parameters
    ----------
    rate : float
        The rate at the start.
    every : int
        After how many steps it changes.
    factor : float, optional
        What it is multiplied with then.

    Returns
    -------
    callable
        `count -> rate`.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optim.schedule.step(0.1, every=10, factor=0.5)(np.array([0, 9, 10, 25]))
    array([0.1  , 0.1  , 0.05 , 0.025])
    """
    rate = number(rate, "schedule.step", "rate")
    every = whole(every, "schedule.step", "every")
    factor = number(factor, "schedule.step", "factor", open=True)
    return lambda count: rate * factor ** (count // every)


@foreign
def cosine(rate: float, *, steps: Length, final: float = 0.0) -> Schedule:
    """Half a period of a cosine, from the rate to `final`, which stays:

        final + (rate - final) * (1 + cos(pi * min(count, steps) / steps)) / 2

    Parameters
    ----------
    rate : float
        The rate at the start.
    steps : int or "run"
        How many steps it takes to the end; `"run"`: as many as the run has.
    final : float, optional
        The rate at the end.

    Returns
    -------
    callable
        `count -> rate`.

    References
    ----------
    Loshchilov and Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optim.schedule.cosine(0.1, steps=10)(np.array([0, 5, 10, 20])).round(6)
    array([0.1 , 0.05, 0.  , 0.  ])
    """
    rate = number(rate, "schedule.cosine", "rate")
    steps = length(steps, "schedule.cosine")
    final = number(final, "schedule.cosine", "final")
    return of_length(
        steps, lambda n: lambda count: final + (rate - final) * (1.0 + np.cos(math.pi * np.minimum(count, n) / n)) / 2.0
    )


@foreign
def warm_restarts(rate: float, *, first: int, factor: int = 1, final: float = 0.0) -> Schedule:
    """One half cosine after the other, each from the rate to `final`, each `factor` times as long as the one before.

    In a cycle of T steps, of which t are taken,

        final + (rate - final) * (1 + cos(pi * t / T)) / 2

    As PyTorch's `CosineAnnealingWarmRestarts`.

    Parameters
    ----------
    rate : float
        The rate at the start of each cycle.
    first : int
        How many steps the first cycle has.
    factor : int, optional
        How much longer each cycle is than the one before.
    final : float, optional
        The rate that each cycle goes to.

    Returns
    -------
    callable
        `count -> rate`.

    References
    ----------
    Loshchilov and Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optim.schedule.warm_restarts(0.1, first=10, factor=2)(np.array([0, 5, 9, 10, 20, 30])).round(4)
    array([0.1   , 0.05  , 0.0024, 0.1   , 0.05  , 0.1   ])
    """
    rate = number(rate, "schedule.warm_restarts", "rate")
    first = whole(first, "schedule.warm_restarts", "first")
    factor = whole(factor, "schedule.warm_restarts", "factor")
    final = number(final, "schedule.warm_restarts", "final")
    starts = _starts(first, factor)

    def scheduled(count: Any) -> Any:
        # by comparisons, not by a logarithm, which is a last bit too small at some of the starts
        cycle = sum([1.0 * (count >= start) for start in starts[1:]], 0.0)
        size = first * float(factor) ** cycle
        taken = count % first if factor == 1 else count - (size - first) / (factor - 1.0)
        return final + (rate - final) * (1.0 + np.cos(math.pi * taken / size)) / 2.0

    return scheduled


def _starts(first: int, factor: int) -> list[int]:
    """The steps at which cycles start, if these become longer."""
    starts, size = [0], first
    while factor > 1 and starts[-1] + size < LAST:
        starts.append(starts[-1] + size)
        size *= factor
    return starts


@foreign
def warmup(rate: Rate, *, steps: int) -> Schedule:
    """A rate that grows evenly for so many steps, and then follows a number or another schedule.

    At step k < `steps` it is (k + 1) / (steps + 1) of what comes first afterwards.

    Parameters
    ----------
    rate : float or callable
        What comes after; a schedule starts to count there.
    steps : int
        How many steps it takes to grow.

    Returns
    -------
    callable
        `count -> rate`.

    References
    ----------
    Goyal et al., Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optim.schedule.warmup(0.1, steps=4)(np.arange(6))
    array([0.02, 0.04, 0.06, 0.08, 0.1 , 0.1 ])
    """
    rate = rate_of(rate, "schedule.warmup")
    steps = whole(steps, "schedule.warmup", "steps")

    def scheduled(count: Any) -> Any:
        return np.minimum((count + 1.0) / (steps + 1.0), 1.0) * at(rate, np.maximum(count - steps, 0))

    return as_inner(scheduled, rate)


@foreign
def one_cycle(
    peak: float, *, steps: Length, rise: float = 0.3, start: float | None = None, final: float | None = None
) -> Schedule:
    """Up to the peak and down to almost nothing, in one cycle of half cosines; as PyTorch's `OneCycleLR`.

    The peak is reached at step `rise * steps - 1`, the end at `steps - 1`.

    Parameters
    ----------
    peak : float
        The largest rate.
    steps : int or "run"
        How many steps the cycle has; `"run"`: as many as the run.
    rise : float, optional
        The share of the steps that go up.
    start : float, optional
        The first rate; without it, peak / 25.
    final : float, optional
        The last rate; without it, start / 10,000.

    Returns
    -------
    callable
        `count -> rate`.

    References
    ----------
    Smith and Topin, Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optim.schedule.one_cycle(1.0, steps=20)(np.array([0, 5, 12, 19])).round(4)
    array([0.04, 1.  , 0.5 , 0.  ])
    """
    peak = number(peak, "schedule.one_cycle", "peak", open=True)
    steps = length(steps, "schedule.one_cycle", 2)
    rise = number(rise, "schedule.one_cycle", "rise", 0.0, 1.0)
    first = peak / 25.0 if start is None else number(start, "schedule.one_cycle", "start")
    last = first / 1e4 if final is None else number(final, "schedule.one_cycle", "final")

    def cycle(steps: int) -> Schedule:
        top = rise * steps - 1.0

        def scheduled(count: Any) -> Any:
            up = np.clip(count / top, 0.0, 1.0) if top > 0 else np.ones_like(count, float)
            down = np.zeros_like(count, float)
            if steps - 1.0 > top:
                down = np.clip((count - top) / (steps - 1.0 - top), 0.0, 1.0)
            rising = peak + (first - peak) * (1.0 + np.cos(math.pi * up)) / 2.0
            falling = last + (peak - last) * (1.0 + np.cos(math.pi * down)) / 2.0
            return np.where(count <= top, rising, falling)

        return scheduled

    return of_length(steps, cycle)


@foreign
def diminishing(rate: float, *, power: float = 0.5) -> Schedule:
    """A rate that goes to 0 so slowly that the steps can still go anywhere: rate / (count + 1) ** power.

    Parameters
    ----------
    rate : float
        The rate at the start.
    power : float, optional
        How fast it falls, above 0 and at most 1: the sum of all rates is infinite.

    Returns
    -------
    callable
        `count -> rate`.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optim.schedule.diminishing(1.0)(np.array([0, 3, 99]))
    array([1. , 0.5, 0.1])
    """
    rate = number(rate, "schedule.diminishing", "rate")
    power = number(power, "schedule.diminishing", "power", 0.0, 1.0, open=True)
    return lambda count: rate / (count + 1.0) ** power
