"""The two sweeps over a recorded trace, step by step: what each step hands to each of its operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.calls.float_warnings import quiet
from ...core.forward import pushed
from ...core.reverse import INPUT, OUTPUT, Node, ReverseTrace, pull
from ...core.singular.careful_sweep import pull_parts
from ...core.singular.finite import all_finite
from ...core.singular.structural_zeros import Cotangent
from ...core.trace import NO_PARAMS
from ...core.values import Value, concrete, fit
from .record import Recorded
from .singular import ForAll, Settling, gradient_of, is_close, tangents_of, unsure


class Share(NamedTuple):
    """What one step hands to one of its operands on the way back."""

    step: int
    operand: int
    """Which argument of the step."""
    target: int
    handle: Any
    doubt: Any = False
    """Where it is 0 * inf, so that only the sum at the operand is known, as a limit."""


class Backward(NamedTuple):
    """A sweep back: the shares in the order of execution, and the adjoint of every place that was reached."""

    shares: list[Share]
    adjoints: dict[int, Any]
    seeds: dict[int, Any]
    """With what the sweep began."""
    is_careful: bool
    """Whether structural zeros and vertices had to be told apart, as the plain sweep was not finite."""
    limits: frozenset[int] = frozenset()
    """The places whose adjoint is a limit, as the steps give 0 * inf; nan where there is none."""


class Forward(NamedTuple):
    """A sweep forward: the tangents, and which of them are limits; what is not there has a structural zero."""

    tangents: dict[int, Any]
    limits: frozenset[int] = frozenset()


class Seed(NamedTuple):
    """What the results up to this one add to the adjoint of its value, before anything else arrives there."""

    total: Any
    is_first: bool


def seed_sums(recorded: Recorded, seeds: list[Any]) -> list[Seed | None]:
    """For each result its seed, added up where a value is returned twice; None for what is not traced."""
    totals: dict[int, Any] = {}
    found: list[Seed | None] = []
    for out, seed in zip(recorded.outputs, seeds, strict=True):
        if seed is None:
            found.append(None)
            continue
        is_first = out.node not in totals
        totals[out.node] = seed if is_first else totals[out.node] + seed
        found.append(Seed(totals[out.node], is_first))
    return found


@quiet
def sweep_back(
    recorded: Recorded, seeds: list[Any], *, gradient: list[Value] | None = None, is_for_all: bool = False
) -> Backward:
    """Pull a seed for each result back: plainly if the gradient is finite, else carefully, to end as `ad.grad` does.

    `gradient` is what it has to end in, where that is known from a recording of the same function. `is_for_all` says
    that the steps of the sweep are wanted for all inputs: limits are then used at those of the recording alone.
    """
    given = _given(recorded, seeds)
    found = _plainly_swept(recorded, given)
    if found is not None and _ends_in(found, recorded, gradient):
        return found
    gradient = gradient_of(recorded, given) if gradient is None else gradient
    settle = (ForAll if is_for_all else Settling)(recorded, given, gradient)
    parts = {place: _Careful(Cotangent(g)) for place, g in given.items()}
    return _swept(recorded, parts, given, settle)._replace(limits=frozenset(settle.places))


@quiet
def sweep_back_plainly(recorded: Recorded, seeds: list[Any]) -> Backward:
    """The plain sweep back, also where it does not end in the gradient: what a derivative takes at any other point."""
    found = _plainly_swept(recorded, _given(recorded, seeds))
    return sweep_back(recorded, seeds) if found is None else found


def gradients(recorded: Recorded, seeds: list[Any]) -> list[Value]:
    """The adjoints of the inputs, as `ad.grad` finds them."""
    return gradient_of(recorded, _given(recorded, seeds))


def _given(recorded: Recorded, seeds: list[Any]) -> dict[int, Any]:
    """For each place of a result with what the sweep begins there."""
    pairs = zip(recorded.outputs, seed_sums(recorded, seeds), strict=True)
    return {out.node: seed.total for out, seed in pairs if seed is not None}  # the last sum of a value is the whole


def _plainly_swept(recorded: Recorded, given: dict[int, Any]) -> Backward | None:
    try:
        return _swept(recorded, {place: _Plain(g) for place, g in given.items()}, given)
    except (ZeroDivisionError, OverflowError):
        return None


def _ends_in(found: Backward, recorded: Recorded, gradient: list[Value] | None) -> bool:
    """Whether a sweep ends in finite numbers, and in those of a gradient if that is known."""
    ends = [(k, concrete(found.adjoints[k])) for k in range(len(recorded.inputs)) if k in found.adjoints]
    if not all_finite([g for _, g in ends]):
        return False
    return gradient is None or all([np.all(is_close(g, gradient[k])) for k, g in ends])


def pulled_through(trace: Sequence[Node], members: list[int], seeds: dict[int, Value]) -> dict[int, list[Any]]:
    """What a few steps, taken together, hand to the places outside them, given the adjoints of their results."""
    inside = set(members)
    totals: dict[int, Any] = dict(seeds)
    found: dict[int, list[Any]] = {}
    for place in sorted(members, reverse=True):
        if totals.get(place) is None:
            continue
        if trace[place][0] is OUTPUT:
            slots = totals.setdefault(trace[place][1][0], [None] * len(trace[trace[place][1][0]][3]))  # type: ignore[arg-type, index]
            slots[trace[place][4]["k"]] = totals[place]
            continue
        for k, share in _handed(trace[place], _Plain(totals[place])):
            target = trace[place][1][k]
            if target in inside:
                had = totals.get(target)
                totals[target] = share.value if had is None else had + share.value
            else:
                found.setdefault(target, []).append(share.value)  # type: ignore[arg-type]
    return found


@quiet
def sweep_forward(recorded: Recorded, tangents: dict[int, Value], *, is_settled: bool = True) -> Forward:
    """Push the tangents of the inputs on through the trace, to those that `ad.jvp` finds if `is_settled`."""
    notebook, trace = recorded.notebook, recorded.trace
    known = tangents_of(recorded, tangents) if is_settled else {}
    found: dict[int, Any] = {place: notebook.named(t) for place, t in tangents.items() if t is not None}
    several: dict[int, Any] = {}
    limits: set[int] = set()
    for place, (primitive, parents, args, out, params) in enumerate(trace):
        if primitive is INPUT:
            continue
        if primitive is OUTPUT:
            tangent = several.get(parents[0], {}).get(params["k"])  # type: ignore[arg-type]
        else:
            moves = [None if p is None else found.get(p) for p in parents]
            if all(t is None for t in moves):
                continue
            if primitive.derivative.pushes_together:
                found_together = primitive.derivative.push_together(primitive, moves, args, params)
                several[place] = dict(enumerate(found_together[1]))
                continue
            tangent = pushed(primitive, moves, out, args, params)
            if primitive.multiple:
                several[place] = dict(enumerate(tangent))
                continue
        if tangent is None:
            continue
        if place in known and not np.all(is_close(concrete(tangent), known[place])):
            tangent = known[place]
            limits.add(place)
        found[place] = notebook.named(tangent)
    return Forward(found, frozenset(limits))


class _Plain:
    """A cotangent as the plain sweep has it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def shown(self, like: Value) -> Any:
        return self.value

    def doubt(self) -> Any:
        return False

    def plus(self, other: _Plain) -> _Plain:
        return _Plain(self.value + other.value)

    def of(self, named: Any) -> _Plain:
        """The same under a number of its own."""
        return _Plain(named)

    def pull(self, trace: ReverseTrace, seeds: list[tuple[int, Any]], count: int) -> list[Any]:
        return [None if c is None else _Plain(c) for c in pull(trace, seeds, count)]


class _Careful:
    """A cotangent in the parts of the careful sweep."""

    __slots__ = ("value",)

    def __init__(self, value: Cotangent) -> None:
        self.value = value

    def shown(self, like: Value) -> Any:
        return fit(self.value.collapsed(), like)

    def doubt(self) -> Any:
        return unsure(self.value)

    def plus(self, other: _Careful) -> _Careful:
        return _Careful(self.value.plus(other.value))

    def of(self, named: Any) -> _Careful:
        return self

    def pull(self, trace: ReverseTrace, seeds: list[tuple[int, Any]], count: int) -> list[Any]:
        return [None if c is None else _Careful(c) for c in pull_parts(trace, seeds, count)]


def _swept(
    recorded: Recorded, seeds: dict[int, Any], given: dict[int, Value], settle: Settling | None = None
) -> Backward:
    notebook, trace = recorded.notebook, recorded.trace
    totals: dict[int, Any] = dict(seeds)
    slots: dict[int, list[Any]] = {}
    adjoints: dict[int, Any] = {}
    shares: list[Share] = []
    for place in range(max(seeds, default=-1), -1, -1):
        primitive, parents, _, out, params = trace[place]
        if place in slots:
            handed = _handed(trace[place], slots[place])
        elif place in totals:
            g = totals[place] if settle is None else _Careful(settle(place, totals[place].value))
            adjoints[place] = notebook.named(g.shown(out))
            if primitive is INPUT:
                continue
            if primitive is OUTPUT:
                parent: int = parents[0]  # type: ignore[assignment]
                slots.setdefault(parent, [None] * len(trace[parent][3]))[params["k"]] = g.of(adjoints[place])
                continue
            handed = _handed(trace[place], g.of(adjoints[place]))
        else:
            continue
        for k, share in handed:
            target: int = parents[k]  # type: ignore[assignment]
            shares.append(Share(place, k, target, share.shown(trace[place][2][k]), share.doubt()))
            had = totals.get(target)
            totals[target] = share if had is None else had.plus(share)
    return Backward(shares, adjoints, given, any(isinstance(g, _Careful) for g in seeds.values()))


def _handed(node: Node, g: Any) -> list[tuple[int, Any]]:
    """The cotangents of a step's operands: the sweep of the library over a trace of this step alone."""
    primitive, parents, args, out, params = node
    moving = [k for k, p in enumerate(parents) if p is not None]
    places = {k: n for n, k in enumerate(moving)}
    alone = ReverseTrace()
    for k in moving:
        alone.append((INPUT, (), (), args[k], NO_PARAMS))
    alone.append((primitive, [places.get(k) for k in range(len(parents))], args, out, params))
    seeds, last = [], len(moving)
    several = g if isinstance(g, list) else g.value if isinstance(g.value, list) else None
    if several is None:
        seeds.append((last, g.value))
    else:
        parts = [c if c is None or isinstance(c, (_Plain, _Careful)) else _Plain(c) for c in several]
        g = next(c for c in parts if c is not None)
        for k, c in enumerate(parts):
            if c is not None:
                alone.append((OUTPUT, (last,), (), out[k], {"k": k}))
                seeds.append((len(alone) - 1, c.value))
    found = g.pull(alone, seeds, last)
    return [(k, found[n]) for k, n in places.items() if found[n] is not None]
