"""Batches one example after the other, so that functions may branch on the values of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.traced import Traced, settled


def each_example(f: Callable[..., Sequence[Any]], deciding: Sequence[Any], following: Sequence[Any]) -> list[Any]:
    """`f(deciding, following)`, example by example if the values that decide are a batch; Nones stay.

    A batch of values that merely follow, as tangents do, is left to the function.
    """
    deciding, following = [settled(x) for x in deciding], [settled(x) for x in following]
    top = max([x.traced_by for x in deciding if isinstance(x, Traced)], key=lambda t: t.level, default=None)
    inner = [x for x in following if isinstance(x, Traced) and top is not None and x.traced_by.level > top.level]
    if top is None or not top.lead or inner or not top.size:  # type: ignore[attr-defined]
        return list(f(deciding, following))

    def one(x: Any, k: int) -> Any:
        return x.value[k] if isinstance(x, Traced) and x.traced_by is top else x

    found = [
        f([one(x, k) for x in deciding], [one(x, k) for x in following])
        for k in range(top.size)  # type: ignore[attr-defined]
    ]
    return [None if parts[0] is None else Traced(np.stack(parts), top, None) for parts in zip(*found, strict=True)]
