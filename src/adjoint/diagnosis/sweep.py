"""The sweep back over a watched trace: how large the adjoint of every step is, and where the first bad one is made."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.calls.float_warnings import quiet
from ..core.nans import shown
from ..core.reverse import INPUT, OUTPUT, ReverseTrace
from ..core.values import fit, ieee
from ..transforms.sweeps.back import pulled_back
from .watch import Size, Watched, size_of


class Bad(NamedTuple):
    """Where the first nan or infinity was made that reached the result or the gradient.

    Attributes
    ----------
    what : str
        "nan" or "inf".
    where : str
        "value" if the function itself made it, "derivative" if the sweep back did, "argument" if it was given.
    step : str
        The operation; for an argument its name.
    line : str
        The user's line.
    operands : str
        What the operation was given.
    """

    what: str
    where: str
    step: str
    line: str
    operands: str

    def __str__(self) -> str:
        """In two or three lines."""
        if self.where == "argument":
            return f"There was {_a(self.what)} from the start, in {self.step}."
        of = "" if self.where == "value" else "the derivative of "
        lines = [f"The first {self.what} was made by {of}{self.step}.", f"  at {self.line}"]
        return "\n".join([*lines, f"  got {self.operands}"] if self.operands else lines)


class Swept(NamedTuple):
    """What the sweep back found."""

    adjoints: list[Size | None]
    """For each place; None where nothing arrived."""
    gradients: list[Any]
    """Of the inputs, as `ad.grad` finds them."""
    bad: Bad | None


@quiet
def swept(found: Watched) -> Swept:
    """Sweep back with ones at every result that can move."""
    seeds = [
        (place, 1.0 if type(v) is float else np.ones_like(v))
        for place, v in zip(found.places, found.values, strict=True)
        if place is not None
    ]
    adjoints, made = _adjoints(found, seeds)
    bare = ReverseTrace()  # nobody has a handle of it, and nothing is watched
    bare.extend(found.trace)
    bare.jumps = found.trace.jumps
    gradients = pulled_back(bare, seeds, found.inputs)
    ends = [size_of(g) for g in gradients]
    if not any([end.bad for end in ends]) and made is not None:  # structural zeros have won over it
        adjoints, _ = _adjoints(found, seeds, is_masked=True)
    for k, end in enumerate(ends):
        adjoints[k] = end
    bad = _bad_value(found)
    if bad is None and any([end.bad for end in ends]):
        bad = made or Bad(
            next(e.bad for e in ends if e.bad), "derivative", "the limit of several steps", "<unknown>", ""
        )
    return Swept(adjoints, gradients, bad)


def _adjoints(
    found: Watched, seeds: list[tuple[int, Any]], *, is_masked: bool = False
) -> tuple[list[Size | None], Bad | None]:
    """The plain sweep; the step nearest to the result that made a bad cotangent out of a good one.

    Where it is known that nothing bad reaches the gradient, what is not finite is taken for 0.
    """
    trace = found.trace
    cotangents: list[Any] = [None] * len(trace)
    sizes: list[Size | None] = [None] * len(trace)
    made: Bad | None = None
    for place, seed in seeds:
        cotangents[place] = seed if cotangents[place] is None else cotangents[place] + seed
    for place in range(len(trace) - 1, -1, -1):
        g, cotangents[place] = cotangents[place], None
        primitive, parents, args, out, params = trace[place]
        if g is None:
            continue
        if isinstance(g, list):
            sizes[place] = max([size_of(part) for part in g if part is not None], key=lambda s: s.norm)
        else:
            sizes[place] = size_of(g)
        if primitive is INPUT:
            continue
        if primitive is OUTPUT:
            at: Any = parents[0]
            if cotangents[at] is None:
                cotangents[at] = [None] * len(trace[at][3])
            cotangents[at][params["k"]] = g
            continue
        try:
            shares = primitive.derivative.pull(primitive, g, out, args, params, [p is not None for p in parents])
        except (ZeroDivisionError, OverflowError):
            wide = [ieee(a) for a in args]
            shares = primitive.derivative.pull(
                primitive, ieee(g), ieee(out), wide, params, [p is not None for p in parents]
            )
        for parent, c, value in zip(parents, shares, args, strict=False):
            if c is None or parent is None:
                continue
            fitted = fit(c, value)
            fitted = np.where(np.isfinite(fitted), fitted, 0.0) if is_masked else fitted
            bad = size_of(fitted).bad
            if bad and made is None and not (sizes[place] or size_of(0.0)).bad:
                operands = ", ".join([shown(a) for a in args if isinstance(a, (float, np.ndarray, np.generic))])
                made = Bad(bad, "derivative", primitive.name, trace.seen[place].line, operands)
            cotangents[parent] = fitted if cotangents[parent] is None else cotangents[parent] + fitted
    return sizes, made


def _bad_value(found: Watched) -> Bad | None:
    """Where a result that is not finite comes from: back through operands that are not, to the step that made it."""
    trace = found.trace
    for place, value in zip(found.places, found.values, strict=True):
        bad = size_of(value).bad
        if not bad:
            continue
        if place is None:
            return Bad(bad, "value", "a step that does not depend on the arguments", "<unknown>", "")
        while True:
            primitive, parents, _, _, _ = trace[place]
            before = [p for p in parents if p is not None and trace.seen[p].value.bad]
            if not before:
                break
            place = before[0]
        seen = trace.seen[place]
        if primitive is INPUT:
            return Bad(seen.value.bad, "argument", found.names[place], "", "")
        return Bad(seen.value.bad, "value", primitive.name, seen.line, seen.operands)
    return None


def _a(what: str) -> str:
    return f"an {what}" if what == "inf" else f"a {what}"
