"""Schedules: step sizes as functions of the number of steps taken, 0 at the first; a rate may be one of them.

They are plain NumPy code, so they run under `ad.jit`, and on an array of counts for a plot.

>>> import numpy as np
>>> from adjoint import optim
>>> rate = optim.schedule.warmup(optim.schedule.cosine(0.1, steps=100), steps=3)
>>> rate(np.array([0, 1, 2, 3, 53, 103])).round(4)
array([0.025, 0.05 , 0.075, 0.1  , 0.05 , 0.   ])
>>> optimizer = optim.adam(rate)

Some take `steps="run"` and are as long as the run of `ad.train` then; `plateau` goes by what is measured.
"""

import adjoint as ad

from .by_count import constant, cosine, diminishing, one_cycle, step, warm_restarts, warmup
from .plateau import plateau

__all__ = ["constant", "cosine", "diminishing", "one_cycle", "plateau", "step", "warm_restarts", "warmup"]

ELSEWHERE = {
    "exponential": "schedule.step(rate, every=1, factor=)",
    "exponential_decay": "schedule.step(rate, every=, factor=)",
    "StepLR": "schedule.step(rate, every=, factor=)",
    "piecewise_constant": "any function of the number of steps:  lambda count: np.where(count < 100, 0.1, 0.01)",
    "linear": "any function of the number of steps:  lambda count: 0.1 * np.maximum(0.0, 1.0 - count / 1000)",
    "CosineAnnealingLR": "schedule.cosine(rate, steps=)",
    "CosineAnnealingWarmRestarts": "schedule.warm_restarts(rate, first=)",
    "ReduceLROnPlateau": "schedule.plateau(rate)",
    "reduce_on_plateau": "schedule.plateau(rate)",
    "cosine_decay": "schedule.cosine(rate, steps=)",
    "warmup_cosine": 'schedule.warmup(schedule.cosine(rate, steps="run"), steps=100)',
    "warmup_cosine_decay": "schedule.warmup(schedule.cosine(rate, steps=900), steps=100)",
    "OneCycleLR": "schedule.one_cycle(peak, steps=)",
}
"""Names that people know from elsewhere, to what does the same here."""

__getattr__ = ad.errors.missing("adjoint.optim.schedule", __all__, ELSEWHERE)


def __dir__() -> list[str]:
    return __all__
