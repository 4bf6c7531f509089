"""`health`: how large a gradient is at every step, block and parameter, and what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..core.arguments import NonNegative, Positive, checked
from ..core.errors import InputError, OutputError, message
from ..core.reverse import INPUT, OUTPUT
from ..core.values import describe, dtype_of, shape_of
from ..explanation.block import Blocks
from ..host.frames.tracebacks import FOLDING
from ..transforms.interface.checking import checked_function
from ..transforms.interface.inputs import checked_argnums
from .report import Health, Row, Step
from .sweep import Swept, swept
from .watch import Size, Watched, size_of, watched


@checked("fun", "argnums")
def health(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    *,
    vanishing: NonNegative = 1e-3,
    exploding: Positive = 1e3,
) -> Callable[..., Health]:
    """Look at a gradient: its size at every step, in every block and for every parameter, and what is wrong with it.

    On the way back from the result, a gradient is multiplied with one derivative after the other. Where these stay
    below 1 in size it vanishes, where they stay above 1 it explodes. Blocks are named with `ad.block`; without any,
    each parameter is one. The function is run once and swept back once, step by step, also inside jitted functions
    and loops.

    Parameters
    ----------
    fun : callable
        The function; plain NumPy code that returns one real number, as a loss does.
    argnums : int or sequence of int, default 0
        Which positional arguments to differentiate with respect to: the parameters.
    vanishing : float, default 1e-3
        A gradient has vanished if its root mean square is below this times that of the block nearest to the result.
    exploding : float, default 1e3
        It has exploded if it is above this times that.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns a `Health`: `value`, `gradient_norm`, `steps`, `blocks`,
        `parameters`, `vanishing` and `exploding` (names of blocks), `first_bad` (where the first nan or infinity was
        made, with the line), `is_healthy`. It prints as a table; `plot()` draws it.

    Raises
    ------
    OutputError
        If the function does not return one real number.
    InputError
        If the chosen arguments have no real or complex number, or the limits are not in order.

    Notes
    -----
    The gradient of a block is the one with respect to what it hands on to steps outside it. At kinks gradients are
    those of `ad.grad`: a ReLU whose inputs are all negative hands nothing back, and what is before it has "zero".

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> def loss(weights, x):
    ...     for k, w in enumerate(weights):
    ...         with ad.block(f"layer {k}"):
    ...             x = 1.0 / (1.0 + np.exp(-w * x))
    ...     return (x - 1.0) ** 2
    >>> print(ad.debug.health(loss, vanishing=0.02)([1.0] * 4, 0.5))
    block       value  gradient       rms     ratio  verdict
    layer 0  6.22e-01  7.86e-03  7.86e-03  1.15e-02  vanishing
    layer 1  6.51e-01  3.46e-02  3.46e-02  5.07e-02  healthy
    layer 2  6.57e-01  1.54e-01  1.54e-01  2.25e-01  healthy
    layer 3  6.59e-01  6.83e-01  6.83e-01  1.00e+00  healthy
    vanishing: layer 0
    >>> ad.debug.health(loss)([1.0] * 8, 0.5).vanishing
    ['layer 0', 'layer 1', 'layer 2']
    """
    checked_function(fun, "health")
    argnums = checked_argnums(argnums, "health")
    if not 0.0 <= vanishing < 1.0 < exploding:
        raise InputError(
            message(
                "A gradient vanishes below some ratio under 1, and explodes above one over 1.",
                got=f"vanishing={vanishing!r}, exploding={exploding!r}",
                fix="Write  ad.debug.health(f, vanishing=1e-3, exploding=1e3).",
            )
        )

    def looked_at(*args: Any, **kwargs: Any) -> Health:
        with FOLDING:
            found = watched(fun, args, kwargs, argnums, "health")
            _check_value(found.values)
            return _report(found, swept(found), vanishing, exploding)

    return looked_at


def _check_value(values: list[Any]) -> None:
    if len(values) != 1 or shape_of(values[0]) != () or dtype_of(values[0]).kind not in "f":
        raise OutputError(
            message(
                "health needs a function that returns one real number.",
                got=", ".join([describe(v) for v in values]) or "nothing",
                fix="Sum the result, or take its mean.",
            )
        )


def _report(found: Watched, back: Swept, vanishing: float, exploding: float) -> Health:
    labels = _labels(found)
    steps = [
        Step(node[0].name, seen.line, labels.get(seen.blocks, ""), seen.value.norm, _norm(back.adjoints[place]))
        for place, (node, seen) in enumerate(zip(found.trace, found.trace.seen, strict=True))
        if node[0] is not INPUT and node[0] is not OUTPUT
    ]
    parameters = _judged(_parameters(found, back), vanishing, exploding)
    blocks = _judged(_blocks(found, back, labels), vanishing, exploding) or parameters
    whole = math.sqrt(sum([size_of(g).norm ** 2 for g in back.gradients]))
    return Health(float(found.values[0]), whole, steps, blocks, parameters, back.bad)


def _parameters(found: Watched, back: Swept) -> list[tuple[str, Size, Size]]:
    """Name, value and gradient, in the order of first use; those never used come last."""
    first: dict[int, int] = {}
    for place, (_, parents, _, _, _) in enumerate(found.trace):
        for p in parents:
            if p is not None and p < len(found.inputs):
                first.setdefault(p, place)
    order = sorted(range(len(found.inputs)), key=lambda k: first.get(k, len(found.trace)))
    return [(found.names[k], size_of(found.inputs[k]), size_of(back.gradients[k])) for k in order]


def _blocks(found: Watched, back: Swept, labels: dict[Blocks, str]) -> list[tuple[str, Size, Size]]:
    """Name, what the block hands on, and the gradient with respect to that."""
    handed: dict[Blocks, dict[int, None]] = {blocks: {} for blocks in labels}
    seen = found.trace.seen
    for place, (_, parents, _, _, _) in enumerate(found.trace):
        for p in parents:
            if p is not None and seen[p].blocks and seen[p].blocks != seen[place].blocks:
                handed[seen[p].blocks][p] = None
    for p in found.places:
        if p is not None and seen[p].blocks:
            handed[seen[p].blocks][p] = None
    rows = []
    for blocks, places in handed.items():
        if places:
            gradients = [a for a in [back.adjoints[p] for p in places] if a is not None]
            rows.append((labels[blocks], _joint([seen[p].value for p in places]), _joint(gradients)))
    return rows


def _labels(found: Watched) -> dict[Blocks, str]:
    """What each block is called, in the order of execution; one that is entered again gets a number."""
    names: dict[Blocks, str] = {}
    count: dict[str, int] = {}
    for seen in found.trace.seen:
        if seen.blocks and seen.blocks not in names:
            name = "/".join([n for n, _ in seen.blocks])
            count[name] = count.get(name, 0) + 1
            names[seen.blocks] = name
    met: dict[str, int] = {}
    for blocks, name in names.items():
        if count[name] > 1:
            met[name] = met.get(name, 0) + 1
            names[blocks] = f"{name} {met[name]}"
    return names


def _judged(rows: list[tuple[str, Size, Size]], vanishing: float, exploding: float) -> list[Row]:
    """With the last one that has a gradient as the measure."""
    measure = next((g.rms for _, _, g in reversed(rows) if g.rms > 0.0 and not g.bad), 1.0)
    found = []
    for name, value, gradient in rows:
        ratio = gradient.rms / measure
        verdict = gradient.bad or (
            "zero"
            if gradient.rms == 0.0
            else "vanishing"
            if ratio < vanishing
            else "exploding"
            if ratio > exploding
            else "healthy"
        )
        found.append(Row(name, value.norm, gradient.norm, gradient.rms, ratio, verdict))
    return found


def _joint(sizes: Iterable[Size]) -> Size:
    sizes = list(sizes)
    if not sizes:
        return Size(0.0, 0.0, "")
    bad = next((s.bad for s in sizes if s.bad), "")
    return Size(math.sqrt(sum([s.norm**2 for s in sizes])), float(np.max([s.rms for s in sizes])), bad)


def _norm(size: Size | None) -> float:
    return 0.0 if size is None else size.norm
