"""The moving average of all weights, step by step, as a part of the step's machine code."""

from __future__ import annotations

from typing import Any

from ..task import Arrays, copies

Averages = tuple[Arrays, Arrays]
"""Averaged parameters and statistics."""


def started(parameters: Arrays, statistics: Arrays) -> Averages:
    """Before the first step, which takes its weights as they are."""
    return copies(parameters), copies(statistics)


def moved(averages: Averages, new: Averages, number: Any, decay: float) -> Averages:
    """The averages after step `number`, counted from 0, has made new weights.

    With w_k from step k and the decay d, they are the means in which w_k counts d ** (t - k), for k = 1, ..., t: the
    weights from before the first step have no share.

        a_t = (1 - s_t) a_(t-1) + s_t w_t,        s_t = (1 - d) / (1 - d ** t)
    """
    share = (1.0 - decay) / (1.0 - decay ** (number + 1))
    parameters, statistics = [
        {name: _mixed(old[name], a, share) for name, a in now.items()} for old, now in zip(averages, new, strict=True)
    ]
    return parameters, statistics


def _mixed(old: Any, new: Any, share: Any) -> Any:
    """Of real numbers the mean; whole numbers, as counts, are those of the last step."""
    if new.dtype.kind != "f":
        return new
    own = share.astype(new.dtype)
    return (1.0 - own) * old + own * new
