"""A schedule that goes by what is measured: a smaller rate when nothing becomes better."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..checks import Rate, at, foreign, number, rate_of, refuse, whole
from .length import as_inner


class PlateauRule(NamedTuple):
    """When a rate becomes smaller, and by how much."""

    factor: float
    patience: int
    cooldown: int
    minimum: float
    threshold: float

    def start(self) -> dict[str, Any]:
        """What is known before anything was measured; a part of the state of an optimiser."""
        return {
            "factor": np.float64(1.0),
            "best": np.float64(math.inf),
            "waited": np.int64(0),
            "resting": np.int64(0),
        }

    def after(self, known: dict[str, Any], value: float, rate: float) -> dict[str, Any]:
        """What is known after a value, at a rate that has not been made smaller."""
        factor, best = known["factor"], float(known["best"])
        better = value < (best - self.threshold * abs(best) if math.isfinite(best) else best)
        waited, resting = (0, int(known["resting"])) if better else (int(known["waited"]) + 1, int(known["resting"]))
        if resting > 0:
            waited, resting = 0, resting - 1
        if waited > self.patience:
            least = min(1.0, self.minimum / rate) if rate > 0.0 else 0.0
            factor, waited, resting = np.float64(max(float(factor) * self.factor, least)), 0, self.cooldown
        return {
            "factor": factor,
            "best": np.float64(value if better else best),
            "waited": np.int64(waited),
            "resting": np.int64(resting),
        }


@foreign
def plateau(
    rate: Rate,
    *,
    factor: float = 0.1,
    patience: int = 10,
    cooldown: int = 0,
    minimum: float = 0.0,
    threshold: float = 1e-4,
) -> Callable[[Any], Any]:
    """A rate that is multiplied with `factor` when the loss has not become smaller for more than `patience` epochs.

    `ad.train` measures the validation loss after each epoch, or without validation data the loss, and
    `optim.minimize` the value after each step; a loop of your own tells it by `optim.observe`. What is known, such as
    the best value, is a part of the optimiser's state. As PyTorch's `ReduceLROnPlateau`.

    Parameters
    ----------
    rate : float or callable
        The rate at the start, or a schedule that goes by the number of steps besides.
    factor : float, optional
        What the rate is multiplied with, between 0 and 1.
    patience : int, optional
        So many epochs may pass without a smaller loss.
    cooldown : int, optional
        So many epochs after a change do not count.
    minimum : float, optional
        The rate does not become smaller than this.
    threshold : float, optional
        A loss is smaller if it is so by more than this share of the best one.

    Returns
    -------
    callable
        `count -> rate`, before any change; a rate of an optimiser, alone or inside `warmup`.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.sgd(optim.schedule.plateau(0.1, factor=0.5, patience=1))
    >>> state = optimizer.init(np.zeros(2))
    >>> for loss in (1.0, 0.5, 0.6, 0.6):
    ...     state = optim.observe(optimizer, state, loss)
    >>> optim.rates(optimizer, state)
    {'rate': 0.05}
    """
    rate = rate_of(rate, "schedule.plateau")
    if hasattr(rate, "watches"):
        refuse(
            "A plateau inside another one is not watched.", got="plateau(plateau(...))", fix="Leave one of them out."
        )
    rule = PlateauRule(
        number(factor, "schedule.plateau", "factor", 0.0, 1.0),
        whole(patience, "schedule.plateau", "patience", 0),
        whole(cooldown, "schedule.plateau", "cooldown", 0),
        number(minimum, "schedule.plateau", "minimum"),
        number(threshold, "schedule.plateau", "threshold", 0.0, 1.0),
    )
    scheduled: Any = as_inner(lambda count: at(rate, count) + 0.0 * count, rate)
    scheduled.watches = rule
    return scheduled  # type: ignore[no-any-return]
