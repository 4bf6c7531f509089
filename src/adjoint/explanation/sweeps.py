"""The two sweeps over a recorded trace, step by step: what each step hands to each of its operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.careful import Cotangent, pull_careful, pull_parts
from ..core.forward import pushed
from ..core.reverse import INPUT, NO_PARAMS, OUTPUT, Node, ReverseTrace, all_finite, pull
from ..core.trace import quiet
from ..core.values import Value, fit, plain
from ..rules.limits import decided, limit_of_gradient
from ..transforms.recording import run
from .notebook import Notebook, Recorder
from .record import Recorded


class Share(NamedTuple):
    """What one step hands to one of its operands on the way back."""

    step: int
    operand: int
    """Which argument of the step."""
    target: int
    handle: Any


class Backward(NamedTuple):
    """A sweep back: the shares in the order of execution, and the adjoint of every place that was reached."""

    shares: list[Share]
    adjoints: dict[int, Any]
    seeds: dict[int, Any]
    """With what the sweep began."""
    is_careful: bool
    """Whether structural zeros and vertices had to be told apart, as the plain sweep was not finite."""


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
def sweep_back(recorded: Recorded, seeds: list[Any]) -> Backward:
    """Pull a seed for each result back: plainly if the gradient is finite, else carefully, as `ad.grad` does."""
    pairs = zip(recorded.outputs, seed_sums(recorded, seeds), strict=True)
    given = {out.node: seed.total for out, seed in pairs if seed is not None}  # the last sum of a value is the whole
    notebook, trace = recorded.notebook, recorded.trace
    try:
        found = _swept(notebook, trace, {place: _Plain(g) for place, g in given.items()}, given)
        if all_finite([plain(found.adjoints[k]) for k in range(len(recorded.inputs)) if k in found.adjoints]):
            return found
    except (ZeroDivisionError, OverflowError):
        pass
    found = _swept(notebook, trace, {place: _Careful(Cotangent(g)) for place, g in given.items()}, given)
    for place, limit in _limits(trace, given, recorded.inputs).items():
        found.adjoints[place] = notebook.named(limit)
    return found


def _limits(trace: Sequence[Node], given: dict[int, Value], inputs: list[Value]) -> dict[int, Value]:
    """The adjoints of the inputs, as `ad.grad` gives them, where they are limits that no step hands on."""
    bare = ReverseTrace()
    for primitive, parents, args, out, params in trace:
        value = tuple([plain(o) for o in out]) if isinstance(out, (tuple, list)) else plain(out)
        bare.append((primitive, parents, tuple([plain(a) for a in args]), value, params))
    seeds = [(place, plain(g)) for place, g in given.items()]
    numbers, doubts = pull_careful(bare, seeds, len(inputs))
    wanted = decided(list(numbers), doubts, lambda: limit_of_gradient(bare, seeds, inputs, run), bare, [])
    pairs = enumerate(zip(numbers, wanted, strict=True))
    return {k: w for k, (n, w) in pairs if w is not None and not np.array_equal(np.asarray(n), w, equal_nan=True)}


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
def sweep_forward(notebook: Notebook, trace: Recorder, tangents: dict[int, Value]) -> dict[int, Any]:
    """Push the tangents of the inputs on through the trace; a place that is not there has a structural zero."""
    found: dict[int, Any] = {place: notebook.named(t) for place, t in tangents.items() if t is not None}
    several: dict[int, Any] = {}
    for place, (primitive, parents, args, out, params) in enumerate(trace):
        if primitive is INPUT:
            continue
        if primitive is OUTPUT:
            tangent = several.get(parents[0], {}).get(params["k"])  # type: ignore[arg-type]
        else:
            moves = [None if p is None else found.get(p) for p in parents]
            if all(t is None for t in moves):
                continue
            if primitive.multiple and (together := getattr(primitive.derivative, "push_together", None)):
                several[place] = dict(enumerate(together(primitive, moves, args, params)[1]))
                continue
            tangent = pushed(primitive, moves, out, args, params)
            if primitive.multiple:
                several[place] = dict(enumerate(tangent))
                continue
        if tangent is not None:
            found[place] = notebook.named(tangent)
    return found


class _Plain:
    """A cotangent as the plain sweep has it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def shown(self, like: Value) -> Any:
        return self.value

    def plus(self, other: _Plain) -> _Plain:
        return _Plain(self.value + other.value)

    def of(self, named: Any) -> _Plain:
        """The same under a number of its own."""
        return _Plain(named)

    def pull(self, trace: ReverseTrace, seeds: list[tuple[int, Any]], count: int) -> list[Any]:
        return [None if c is None else _Plain(c) for c in pull(trace, seeds, count)]


class _Careful:
    """A cotangent in the three parts of the careful sweep."""

    __slots__ = ("value",)

    def __init__(self, value: Cotangent) -> None:
        self.value = value

    def shown(self, like: Value) -> Any:
        return fit(self.value.collapsed(), like)

    def plus(self, other: _Careful) -> _Careful:
        return _Careful(self.value.plus(other.value))

    def of(self, named: Any) -> _Careful:
        return self

    def pull(self, trace: ReverseTrace, seeds: list[tuple[int, Any]], count: int) -> list[Any]:
        return [None if c is None else _Careful(c) for c in pull_parts(trace, seeds, count)]


def _swept(notebook: Notebook, trace: Recorder, seeds: dict[int, Any], given: dict[int, Value]) -> Backward:
    totals: dict[int, Any] = dict(seeds)
    slots: dict[int, list[Any]] = {}
    adjoints: dict[int, Any] = {}
    shares: list[Share] = []
    for place in range(max(seeds, default=-1), -1, -1):
        primitive, parents, _, out, params = trace[place]
        if place in slots:
            handed = _handed(trace[place], slots[place])
        elif place in totals:
            g = totals[place]
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
            shares.append(Share(place, k, target, share.shown(trace[place][2][k])))
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
