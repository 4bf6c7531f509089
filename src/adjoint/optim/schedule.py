"""Schedules: step sizes as functions of the number of steps taken, 0 at the first; a rate may be one of them.

They are plain NumPy code, so they run under `ad.jit`, and on an array of counts for a plot.

>>> import numpy as np
>>> from adjoint import optim
>>> rate = optim.schedule.warmup(optim.schedule.cosine(0.1, steps=100), steps=3)
>>> rate(np.array([0, 1, 2, 3, 53, 103])).round(4)
array([0.025, 0.05 , 0.075, 0.1  , 0.05 , 0.   ])
>>> optimizer = optim.adam(rate)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad

from .checks import Rate, at, foreign, number, rate_of, whole

Schedule = Callable[[Any], Any]

__all__ = ["constant", "cosine", "diminishing", "one_cycle", "step", "warmup"]

ELSEWHERE = {
    "exponential": "schedule.step(rate, every=1, factor=)",
    "exponential_decay": "schedule.step(rate, every=, factor=)",
    "StepLR": "schedule.step(rate, every=, factor=)",
    "piecewise_constant": "any function of the number of steps:  lambda count: np.where(count < 100, 0.1, 0.01)",
    "linear": "any function of the number of steps:  lambda count: 0.1 * np.maximum(0.0, 1.0 - count / 1000)",
    "CosineAnnealingLR": "schedule.cosine(rate, steps=)",
    "cosine_decay": "schedule.cosine(rate, steps=)",
    "warmup_cosine": "schedule.warmup(schedule.cosine(rate, steps=900), steps=100)",
    "warmup_cosine_decay": "schedule.warmup(schedule.cosine(rate, steps=900), steps=100)",
    "OneCycleLR": "schedule.one_cycle(peak, steps=)",
}
"""Names that people know from elsewhere, to what does the same here."""

__getattr__ = ad.errors.missing("adjoint.optim.schedule", __all__, ELSEWHERE)


def __dir__() -> list[str]:
    return __all__


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
def cosine(rate: float, *, steps: int, final: float = 0.0) -> Schedule:
    """Half a period of a cosine, from the rate to `final`, which stays:

        final + (rate - final) * (1 + cos(pi * min(count, steps) / steps)) / 2

    Parameters
    ----------
    rate : float
        The rate at the start.
    steps : int
        How many steps it takes to the end.
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
    steps = whole(steps, "schedule.cosine", "steps")
    final = number(final, "schedule.cosine", "final")
    return lambda count: final + (rate - final) * (1.0 + np.cos(math.pi * np.minimum(count, steps) / steps)) / 2.0


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

    return scheduled


@foreign
def one_cycle(
    peak: float, *, steps: int, rise: float = 0.3, start: float | None = None, final: float | None = None
) -> Schedule:
    """Up to the peak and down to almost nothing, in one cycle of half cosines; as PyTorch's `OneCycleLR`.

    The peak is reached at step `rise * steps - 1`, the end at `steps - 1`.

    Parameters
    ----------
    peak : float
        The largest rate.
    steps : int
        How many steps the cycle has.
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
    steps = whole(steps, "schedule.one_cycle", "steps", 2)
    rise = number(rise, "schedule.one_cycle", "rise", 0.0, 1.0)
    first = peak / 25.0 if start is None else number(start, "schedule.one_cycle", "start")
    last = first / 1e4 if final is None else number(final, "schedule.one_cycle", "final")
    top = rise * steps - 1.0

    def scheduled(count: Any) -> Any:
        up = np.clip(count / top, 0.0, 1.0) if top > 0 else np.ones_like(count, float)
        down = (
            np.clip((count - top) / (steps - 1.0 - top), 0.0, 1.0) if steps - 1.0 > top else np.zeros_like(count, float)
        )
        rising = peak + (first - peak) * (1.0 + np.cos(math.pi * up)) / 2.0
        falling = last + (peak - last) * (1.0 + np.cos(math.pi * down)) / 2.0
        return np.where(count <= top, rising, falling)

    return scheduled


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
