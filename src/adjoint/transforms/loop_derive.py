"""From the program of a body to those of its tangents, its cotangents and its batches.

Nothing here differentiates a program: it is replayed through a walk, and what the walk does is captured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.batch import BatchTrace
from ..core.careful import Cotangent, pull_parts
from ..core.float_warnings import quiet
from ..core.forward import ForwardTrace
from ..core.reverse import ReverseTrace, pull
from ..core.traced import Traced
from ..core.values import Value, shape_of, spread, zeros_for
from ..ir.interpret import replay
from ..ir.program import Program
from ..rules.keeping import all_kept
from ..rules.stacking import repeated
from .loop_capture import Body, captured, chosen, derived, numpys, split

Values = Sequence[Value]
Slots = Sequence[Cotangent | None]
"""The cotangents of several results; None for one that nothing arrives at."""


class Parts(NamedTuple):
    """Which parts a cotangent has besides its finite one."""

    infinite: bool = False
    support: bool = False
    doubt: bool = False
    fragile: bool = False

    def n_values(self) -> int:
        """How many values a cotangent is written as."""
        return 1 + sum(self)


PLAIN, NOTHING = Parts(), Parts(support=True)
"""The parts of an ordinary cotangent, and of one that is structurally zero."""


def parts_of(g: Cotangent | None) -> Parts:
    """The parts that a cotangent has."""
    return NOTHING if g is None else Parts(*[getattr(g, name) is not None for name in Parts._fields])


def joined(a: Parts, b: Parts) -> Parts:
    """The parts of either."""
    return Parts(*[x or y for x, y in zip(a, b, strict=True)])


def as_values(g: Cotangent) -> list[Value]:
    """A cotangent as values: those of the parts it has."""
    return [g.finite, *[getattr(g, name) for name, has in zip(Parts._fields, parts_of(g), strict=True) if has]]


def packed(g: Cotangent | None, parts: Parts, value: Value) -> list[Value]:
    """A cotangent as values: those of its parts, written out."""
    zero, shape = numpys(zeros_for(value)), shape_of(value)
    values = [zero if g is None else g.finite]
    for name in [name for name, has in zip(Parts._fields, parts, strict=True) if has]:
        part = None if g is None else getattr(g, name)
        if part is None:
            part = zero if name == "infinite" else np.full(shape, name == "support" and g is not None)[()]
        values.append(part)
    return [v if shape_of(v) == shape else spread(v, shape) for v in values]


def unpacked(values: Any, parts: Parts) -> Cotangent:
    """The cotangent that the next values of an iterator stand for."""
    return Cotangent(next(values), *[next(values) if has else None for has in parts])


def pushed(values: Values, tangents: Values, program: Program) -> tuple[list[Value], list[Value]]:
    """The outputs of a program and their tangents, given those of the inputs; None for what does not move."""
    walk = ForwardTrace()
    handles = [v if t is None else Traced(v, walk, t) for v, t in zip(values, tangents, strict=True)]
    out = replay(program, handles)
    mine = [isinstance(o, Traced) and o.walk is walk for o in out]
    return (
        [o.value if m else o for o, m in zip(out, mine, strict=True)],
        [o.node if m else None for o, m in zip(out, mine, strict=True)],
    )


def pulled(program: Program, values: Values, moves: Sequence[bool], slots: Slots, *, careful: bool) -> list[Any]:
    """Cotangents of the inputs that move, given those of the outputs; None for the others."""
    trace = ReverseTrace()
    handles = [trace.input(v) if m else v for v, m in zip(values, moves, strict=True)]
    out = replay(program, handles)
    pairs = [(o, g) for o, g in zip(out, slots, strict=True) if g is not None]
    return given_back(trace, pairs, moves, careful=careful)


def given_back(trace: ReverseTrace, pairs: Any, moves: Sequence[bool], *, careful: bool) -> list[Any]:
    """Pull cotangents in parts from the results in a trace to its inputs."""
    seeds = [(o.node, g) for o, g in pairs if isinstance(o, Traced) and o.walk is trace]
    found: Any
    if careful:
        found = pull_parts(trace, seeds, sum(moves))
    else:
        plain = pull(trace, [(place, g.finite) for place, g in seeds], sum(moves))
        found = [None if c is None else Cotangent(c) for c in plain]
    rest = iter(found)
    return [next(rest) if m else None for m in moves]


class Back(NamedTuple):
    """The program of one step back, and the parts of the cotangents it deals with.

    Inputs: hoisted, consts; sums of the consts' cotangents, the carry's cotangents; carry, xs, cotangents of ys.
    Outputs: sums, the carry's cotangents; cotangents of the xs.
    """

    program: Program
    hoisted: tuple[Value, ...]
    consts: tuple[Parts | None, ...]
    carry: tuple[Parts, ...]
    xs: tuple[Parts | None, ...]


def step_back(
    program: Program, sizes: tuple[int, int], examples: Callable[[], Values], moves: Sequence[bool], slots: Slots,
    *, careful: bool,
) -> Back:  # fmt: skip
    """The program of one step back through a body of (consts, carry, xs); slots as of the loop's results."""
    n_consts, n_carry = sizes
    ys = tuple([None if g is None else parts_of(g) for g in slots[n_carry:]])
    moving = moves[n_consts : n_consts + n_carry]
    if careful:
        carry = tuple([parts_of(g) for g in chosen(slots[:n_carry], moving)])
    else:
        carry = (PLAIN,) * sum(moving)
        ys = tuple([None if p is None else PLAIN for p in ys])
    key = ("back", sizes, tuple(moves), ys, carry, careful)

    def make() -> Back:
        return _step_back(program, sizes, [numpys(v) for v in examples()], moves, ys, carry, careful)

    return derived(program, key, make)


def _step_back(
    program: Program, sizes: tuple[int, int], values: Values, moves: Sequence[bool], ys: tuple[Parts | None, ...],
    carry: tuple[Parts, ...], careful: bool,
) -> Back:  # fmt: skip
    n_consts, n_carry = sizes
    moving = split(moves, n_consts, n_carry)
    movers = [chosen(v, m) for v, m in zip(split(values, n_consts, n_carry), moving, strict=True)]
    outputs = [zeros_of(program, o) for o in program.outputs]
    consts: tuple[Parts | None, ...] = (PLAIN,) * len(movers[0])
    xs: tuple[Parts | None, ...] = ()

    def step(*flat: Value) -> list[Value]:
        nonlocal consts, carry, xs
        state = sum([p.n_values() for p in consts if p is not None]) + sum([p.n_values() for p in carry])
        c, back, forth, g = split(flat, n_consts, state, len(values) - n_consts)
        rest, arrived = iter(back), iter(g)
        sums = [None if p is None else unpacked(rest, p) for p in consts]
        came = iter([unpacked(rest, p) for p in carry])
        slots: list[Any] = [next(came) if m else None for m in moving[1]]
        slots += [None if p is None else unpacked(arrived, p) for p in ys]
        found = pulled(program, [*c, *forth], moves, slots, careful=careful)
        of_consts, of_carry, of_xs = [chosen(f, m) for f, m in zip(split(found, *sizes), moving, strict=True)]
        seen = [None if f is None else parts_of(f) for f in of_consts]
        totals = [f if s is None or f is None else s.plus(f) for s, f in zip(sums, of_consts, strict=True)]
        out = _written(totals, consts, movers[0]) + _written(of_carry, carry, movers[1])
        consts = tuple(seen)
        carry = tuple([joined(p, parts_of(f)) if careful else p for p, f in zip(carry, of_carry, strict=True)])
        xs = tuple([None if f is None else parts_of(f) for f in of_xs])
        return out + _written(of_xs, xs, movers[2])

    while True:
        before = consts, carry
        sums = [z for p, v in zip(consts, movers[0], strict=True) if p is not None for z in packed(None, p, v)]
        came = [z for p, v in zip(carry, movers[1], strict=True) for z in packed(None, p, v)]
        arrived = [z for p, o in zip(ys, outputs[n_carry:], strict=True) if p is not None for z in packed(None, p, o)]
        body = captured(step, [*values[:n_consts], *sums, *came, *values[n_consts:], *arrived])
        if before == (consts, carry):
            return Back(body.program, body.hoisted, consts, carry, xs)


def _written(found: Slots, parts: Sequence[Parts | None], likes: Values) -> list[Value]:
    return [
        v
        for g, p, like in zip(found, parts, likes, strict=True)
        if p is not None
        for v in packed(g, p, like)
    ]  # fmt: skip


def zeros_of(program: Program, number: int) -> Value:
    """A zero of the type of a value."""
    type_ = program.types[number]
    return np.zeros(type_.shape, type_.dtype)[()]


def batched(
    program: Program, examples: Callable[[], Values], marks: Sequence[bool], outs: Sequence[bool], size: int
) -> Body:
    """The program for a whole batch: marked inputs and outputs have the batch axis in front."""

    def step(*values: Value) -> list[Value]:
        walk = BatchTrace(size)
        handles = [Traced(v, walk, None) if m else v for v, m in zip(values, marks, strict=True)]
        found = replay(program, handles)
        return [unbatched(o, walk) if m else o for o, m in zip(found, outs, strict=True)]

    return derived(program, ("batch", tuple(marks), tuple(outs), size), lambda: captured(step, examples()))


def unbatched(x: Value, walk: BatchTrace) -> Value:
    """A value with the batch axis in front, whether it differs between the examples or not."""
    return x.value if isinstance(x, Traced) and x.walk is walk else repeated(numpys(x), walk.size)


class ByFormula:
    """The derivative of a primitive with several results that is equal to a formula of others.

    Parameters
    ----------
    formula : `(args, params) -> results`.
    """

    __slots__ = ("formula",)
    is_zero = False
    by_parts = True
    pull_into = None
    vjps = None
    keep = staticmethod(all_kept)

    def __init__(self, formula: Callable[[Values, dict[str, Any]], Values]) -> None:
        self.formula = formula

    def push(self, primitive: Any, tangents: Values, out: Value, args: Values, params: dict) -> list[Value]:
        """The tangents of the results, by the formula."""
        walk = ForwardTrace()
        handles = [a if t is None else Traced(a, walk, t) for a, t in zip(args, tangents, strict=True)]
        found = self.formula(handles, params)
        return [o.node if isinstance(o, Traced) and o.walk is walk else None for o in found]

    def pull(
        self, primitive: Any, g: Values, out: Value, args: Values, params: dict, needed: Sequence[bool]
    ) -> list[Value | None]:
        """The cotangents of the arguments, by the formula."""
        return finite(self._pulled([None if c is None else Cotangent(c) for c in g], args, params, needed, False))

    def pull_careful(
        self, primitive: Any, g: Any, out: Value, args: Values, params: dict, needed: Sequence[bool]
    ) -> list[Cotangent | None]:
        """As `pull`, in parts."""
        return self._pulled(g, args, params, needed, True)

    def _pulled(self, slots: Slots, args: Values, params: dict, needed: Sequence[bool], careful: bool) -> list[Any]:
        trace = ReverseTrace()
        handles = [trace.input(a) if need else a for a, need in zip(args, needed, strict=True)]
        found = self.formula(handles, params)
        pairs = [(o, g) for o, g in zip(found, slots, strict=True) if g is not None]
        return given_back(trace, pairs, needed, careful=careful)


class LoopRule:
    """The derivative of a loop, from two functions.

    Parameters
    ----------
    push : `(tangents, out, args, params) -> results, their tangents`, None where there is none. If `out` is None, the
        results are not known yet; a loop that finds both is one loop instead of two.
    pull : `(slots, out, args, params, needed, careful) -> cotangents of the arguments`, in parts.
    flat : `(*args, **params) -> results`, step by step, for what has to look inside.
    """

    __slots__ = ("_pull", "_push", "flat")
    is_zero = False
    by_parts = True
    pull_into = None
    vjps = None
    keep = staticmethod(all_kept)

    def __init__(
        self,
        push: Callable[..., tuple[Values, Values]],
        pull: Callable[..., list[Any]],
        flat: Callable[..., Sequence[Value]],
    ) -> None:
        self._push = push
        self._pull = pull
        self.flat = flat

    def push(self, primitive: Any, tangents: Values, out: Value, args: Values, params: dict) -> Values:
        """The tangents of the results."""
        return self._push(tangents, out, args, params)[1]

    @quiet
    def push_together(self, primitive: Any, tangents: Values, args: Values, params: dict) -> tuple[Values, Values]:
        """The results and their tangents."""
        if all(t is None for t in tangents):
            out = primitive(*args, **params)
            return out, [None] * len(out)
        return self._push(tangents, None, args, params)

    def pull(
        self, primitive: Any, g: Values, out: Value, args: Values, params: dict, needed: Sequence[bool]
    ) -> list[Value | None]:
        """The cotangents of the arguments, by the plain walk."""
        slots = [None if c is None else Cotangent(c) for c in g]
        return finite(self._pull(slots, out, args, params, needed, False))

    def pull_careful(
        self, primitive: Any, g: Any, out: Value, args: Values, params: dict, needed: Sequence[bool]
    ) -> list[Cotangent | None]:
        """The cotangents of the arguments, by the careful walk."""
        return self._pull(g, out, args, params, needed, True)


def finite(found: Slots) -> list[Value | None]:
    """The ordinary cotangents."""
    return [None if c is None else c.finite for c in found]
