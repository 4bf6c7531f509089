"""The functions of `statistics` on traced numbers: the values are those of `statistics`, rounded once."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...core.traced import Traced
from ...ops.declare import ratio
from ...rules.opaque import Opaque
from ...rules.stacking import aligned
from ..dispatch.arguments import holds_traced
from ..patching.replacements import Answer, divert
from .mathematics import in_python

Slopes = Callable[[Any, Sequence[Any]], Sequence[Any]]


def _mean(args: Sequence[Any]) -> Any:
    return sum(args) / len(args)


def _spread(over: int) -> Slopes:
    return lambda out, args: [2.0 * (a - _mean(args)) / (len(args) - over) for a in args]


def _deviation(over: int) -> Slopes:
    return lambda out, args: [ratio(a - _mean(args), out) / (len(args) - over) for a in args]


SLOPES: dict[str, Slopes] = {
    "mean": lambda out, args: [1.0 / len(args)] * len(args),
    "fmean": lambda out, args: [1.0 / len(args)] * len(args),
    "geometric_mean": lambda out, args: [out / (len(args) * a) for a in args],
    "harmonic_mean": lambda out, args: [ratio(out, a) ** 2 / len(args) for a in args],
    "variance": _spread(1),
    "pvariance": _spread(0),
    "stdev": _deviation(1),
    "pstdev": _deviation(0),
}
"""For each function, the slopes of its result in the numbers of its sample."""


def _step(name: str, original: Callable[..., Any]) -> Primitive:
    def push(tangents: Sequence[Any], out: Any, args: Sequence[Any], params: Any) -> Any:
        slopes = SLOPES[name](out, args)
        return sum([t * s for t, s in zip(tangents, slopes, strict=True) if t is not None])

    def evaluate(*args: Any) -> Any:
        if all([type(a) is float for a in args]):
            return original(args)
        rows = zip(*[np.ravel(a).tolist() for a in np.broadcast_arrays(*args)], strict=True)
        return np.array([original(row) for row in rows]).reshape(np.broadcast_shapes(*[np.shape(a) for a in args]))

    return Primitive(f"statistics.{name}", evaluate, derivative=Opaque(jvp=push), stacking=aligned, fails_from=0)


def _version(name: str) -> Callable[..., Any]:
    steps: list[Primitive] = []

    def chosen(original: Callable[..., Any], data: Any, *args: Any, **kwargs: Any) -> Any:
        numbers = list(data) if not isinstance(data, Traced) else [data[k] for k in range(len(data))]
        if not holds_traced(numbers) or args or kwargs:
            return original(numbers, *args, **kwargs)
        if not steps:
            steps.append(_step(name, original))
        return steps[0](*[in_python(x) for x in numbers])

    return chosen


def teach() -> None:
    """Let the functions of `statistics` take traced numbers."""
    for name in SLOPES:
        divert(getattr(statistics, name), Answer(ours=_version(name), calls_back=True), f"statistics.{name}")
