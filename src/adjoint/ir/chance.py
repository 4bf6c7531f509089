"""Random numbers that a function draws without an argument saying so: a recording would repeat them for ever."""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np
import numpy.random.bit_generator as bit_generator

_local = threading.local()
_unseeded = bit_generator.randbits  # type: ignore[attr-defined]


def _watched(bits: int) -> int:
    """What an unseeded generator asks for its seed; noted while a function is recorded in this thread."""
    for chance in getattr(_local, "under_way", ()):
        chance.unseeded = True
    return int(_unseeded(bits))


class Chance:
    """Whether hidden random numbers are drawn while a function is recorded."""

    def __init__(self) -> None:
        self.unseeded = False
        self._then = _states()

    def __enter__(self) -> Chance:
        bit_generator.randbits = _watched  # type: ignore[attr-defined]
        _local.under_way = (*getattr(_local, "under_way", ()), self)
        return self

    def __exit__(self, *error: Any) -> None:
        _local.under_way = _local.under_way[:-1]

    def drawn(self) -> str:
        """What was drawn from, in words; empty if nothing was."""
        if self.unseeded:
            return "a generator without a seed"
        now = _states()
        if not np.array_equal(self._then[0], now[0]) or self._then[1] != now[1]:
            return "NumPy's hidden random generator"
        return "" if self._then[2] == now[2] else "Python's hidden random generator"


def _states() -> tuple[Any, ...]:
    state = np.random.get_state(legacy=False)
    place = (state["state"]["pos"], state.get("has_gauss"), state.get("gauss"))
    return state["state"]["key"].copy(), place, random.getstate()


class SettingAside:
    """A step that draws for purposes of its own, as an estimate of a norm does, leaves NumPy's generator as it was."""

    def __enter__(self) -> None:
        self.state = np.random.get_state(legacy=False) if getattr(_local, "under_way", ()) else None

    def __exit__(self, *error: Any) -> None:
        if self.state is not None:
            np.random.set_state(self.state)
