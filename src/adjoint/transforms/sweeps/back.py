"""From cotangents of a trace's results to those of its inputs: the plain sweep, the careful one, limits."""

from __future__ import annotations

import math

import numpy as np

from ...core.calls.float_warnings import quiet
from ...core.reverse import PLAIN, ReverseTrace, Seeds, pull
from ...core.singular.finite import all_finite
from ...core.traced import ARRAY, Traced, is_differentiated
from ...core.values import Value, cannot_branch, zeros_for
from ...rules.residuals import Ghost
from ..calling import run


@quiet
def pulled_back(trace: ReverseTrace, seeds: Seeds, inputs: list[Value], *, is_inside: bool = False) -> list[Value]:
    """Cotangents of the inputs, which are the first places of the trace; zeros where nothing arrives.

    The plain sweep is tried first. If a result is not finite, or an outer derivative is watching (so that structural
    zeros matter to it too), the careful sweep is the one that counts. Inside a step of another trace, what is not
    decided here stays nan: that trace knows more of the cotangents.
    """
    found = (
        None
        if _is_watched(trace, seeds, inputs) or (trace.replaced and has_replaced(trace))
        else _plainly_pulled(trace, seeds, len(inputs))
    )
    is_large = not is_inside and not _is_finite(trace, seeds)
    if found is None or is_large:
        found = _carefully_pulled(found, trace, seeds, inputs, is_inside, is_large)
    if len(found) == 1 and type(found[0]) is float:
        return found
    taken: set[int] = set()  # a result shares memory with nothing else: no seed, no other result
    for _, seed in seeds:
        taken.add(id(seed))
    for k, g in enumerate(found):
        if g is None:
            found[k] = zeros_for(inputs[k])
        elif type(g) is ARRAY:
            if g.base is not None or id(g) in taken:
                found[k] = g.copy()
            taken.add(id(g))
    return found


def _carefully_pulled(
    plainly: list[Value] | None,
    trace: ReverseTrace,
    seeds: Seeds,
    inputs: list[Value],
    is_inside: bool,
    is_large: bool,
) -> list[Value]:
    """Where the plain sweep cannot tell, or values are too large for it to be sure: structural zeros, then limits."""
    from ...core.singular.careful_sweep import pull_careful  # seldom needed, so not when the library is imported
    from ...rules.singular.limits import decided
    from ...rules.singular.limits_sweep import SweepBack

    if plainly is not None:
        return decided(plainly, [None] * len(plainly), SweepBack, trace, seeds, inputs, run, is_large=True)
    found, doubts = pull_careful(trace, seeds, len(inputs), is_asked=not is_inside)
    if is_inside:
        return [g if d is None or g is None else np.where(d, np.nan, g) for g, d in zip(found, doubts, strict=True)]
    return decided(found, doubts, SweepBack, trace, seeds, inputs, run, is_large=is_large)


def has_replaced(trace: ReverseTrace) -> bool:
    """Whether anything was replaced because it was not finite, and would not be a step away."""
    if not trace.replaced:
        return False
    from ...core.singular.replaced import isolated

    return bool(isolated(trace, again=trace.again and trace.again.recorded))


def _is_watched(trace: ReverseTrace, seeds: Seeds, inputs: list[Value]) -> bool:
    """Whether a derivative further out is looking on, or a program that cannot choose between the two sweeps."""
    if not PLAIN.issuperset(map(type, inputs)) and any(map(_is_watching, inputs)):
        return True
    for place, g in seeds:
        out = trace[place][3]
        if (type(g) not in PLAIN and _is_watching(g)) or (type(out) not in PLAIN and _is_watching(out)):
            return True
    return False


def _is_finite(trace: ReverseTrace, seeds: Seeds) -> bool:
    """Whether all that was computed is finite; yes, if a program cannot ask."""
    if not seeds:
        return True
    if len(seeds) == 1 and type(out := trace[seeds[0][0]][3]) is float:
        return math.isfinite(out)
    outs = [trace[place][3] for place, _ in seeds]
    known = [out for out in outs if type(out) is not Ghost]
    return any(map(cannot_branch, known)) or all_finite(known, "the value")


def _is_watching(x: Value) -> bool:
    return isinstance(x, Traced) and (is_differentiated(x) or cannot_branch(x))


def _plainly_pulled(trace: ReverseTrace, seeds: Seeds, count: int) -> list[Value | None] | None:
    try:
        found = pull(trace, seeds, count)
    except (ZeroDivisionError, OverflowError):
        return None
    return found if all_finite(found) else None
