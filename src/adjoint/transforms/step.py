"""A whole Python function as one step of the trace: what `checkpoint` and `custom_rule` have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.errors import DerivativeDroppedError, message
from ..core.primitive import Primitive
from ..core.traced import Traced, settled
from ..core.tree import flatten
from ..core.values import Value, concrete, dtype_of
from ..numpy.dispatch.views import fresh_handle
from ..rules.opaque import Opaque
from .interface.checking import output_leaves
from .stop import read_only
from .vmap import vmap

Flat = Callable[..., tuple[Value, ...]]
"""A function from leaves to a tuple of leaves."""

Mapping = Callable[[Flat, tuple[int | None, ...], int], Flat]
"""How a function of leaves becomes one of batches of leaves: `all_at_once` or `one_by_one`."""

Rebuild = Callable[[list[Value]], Any]
"""A function from leaves to the containers they came from."""


def call_as_step(
    name: str,
    fun: Callable[..., Any],
    args: tuple[Any, ...],
    rules: Callable[[Rebuild, Rebuild], Opaque],
    mapping: Mapping,
) -> Any:
    """Call `fun(*args)`, recorded as one step whose derivative is `rules(rebuild, restore)`.

    `rebuild` puts leaves back into the arguments' containers, `restore` into those of the result, so that rules can be
    written for whole arguments and results. `mapping` is how the function meets a batch. The function must not write
    to its arguments, which others hold as well; it sees them read-only.
    """
    leaves, rebuild = flatten(args)
    if not any(isinstance(leaf, Traced) for leaf in leaves):
        return fun(*args)
    shapes: list[Any] = []

    def flat(*values: Value) -> tuple[Value, ...]:
        outputs, shape = output_leaves(fun(*rebuild([read_only(v) for v in values])), name)
        shapes.append(shape)
        own = {id(trace) for v in values for trace in _traces(v)}
        return tuple([writable(_without_strangers(o, own, name)) for o in outputs])

    found = _step(name, flat, rules(rebuild, lambda parts: shapes[-1](parts)), mapping)(*leaves)
    return shapes[-1](list(found))


def conjugated(c: Value) -> Value:
    """Sweeps use plain transposes; users see conjugated ones."""
    return np.conjugate(c) if dtype_of(c).kind == "c" else c


def writable(x: Value) -> Value:
    """A result that the caller may write to, also if the function returned an argument."""
    whole = concrete(x)
    if not isinstance(whole, np.ndarray) or whole.flags.writeable:
        return x
    return fresh_handle(x) if isinstance(x, Traced) else np.array(x)


def all_at_once(flat: Flat, in_axes: tuple[int | None, ...], size: int) -> Flat:
    """A batch through a function of NumPy code."""
    return vmap(flat, in_axes=in_axes)


def one_by_one(flat: Flat, in_axes: tuple[int | None, ...], size: int) -> Flat:
    """A batch through a function that may be any code, and so has to see plain values."""

    def mapped(*values: Value) -> tuple[Value, ...]:
        found = [flat(*[v if a is None else v[k] for v, a in zip(values, in_axes, strict=True)]) for k in range(size)]
        return tuple([np.stack(parts) for parts in zip(*found, strict=True)])

    return mapped if size else vmap(flat, in_axes=in_axes)


def _step(name: str, flat: Flat, derivative: Opaque, mapping: Mapping) -> Primitive:
    inline = mapping is all_at_once  # NumPy code: a captured program sees the steps inside
    return Primitive(
        name,
        flat,
        derivative=derivative,
        stacking=partial(_stacked, mapping),
        multiple=True,
        inline=inline,
        fails_from=0,
    )


def _stacked(
    mapping: Mapping, primitive: Any, values: Sequence[Value], batched: Sequence[bool], params: dict, size: int
) -> Any:
    """Inside vmap: the step of the mapped function, with the mapped rules."""
    in_axes = tuple([0 if b else None for b in batched])
    flat, rule = primitive.evaluate, primitive.derivative

    def jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Any:
        axes = (tuple([None if t is None else 0 for t in tangents]), (0,) * len(out), in_axes)
        moved = _spread_tangents(tangents, batched, size)
        return vmap(lambda t, o, a: tuple(rule.jvp(t, o, a, {})), in_axes=axes)(moved, tuple(out), tuple(args))

    def vjp(g: Sequence[Value], out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]) -> list[Value]:
        axes = (tuple([None if c is None else 0 for c in g]), (0,) * len(out), in_axes)
        found = vmap(lambda c, o, a: tuple(rule.vjp(c, o, a, {}, needed)), in_axes=axes)(
            tuple(g), tuple(out), tuple(args)
        )
        return [c if c is None or b else c.sum(0) for c, b in zip(found, batched, strict=True)]

    mapped = Opaque(jvp if rule.jvp else None, vjp if rule.vjp else None)
    return _step(primitive.name, mapping(flat, in_axes, size), mapped, mapping)(*values)


def _spread_tangents(tangents: Sequence[Value], batched: Sequence[bool], size: int) -> tuple[Value, ...]:
    from ..rules.stacking import repeated

    return tuple([t if t is None or b else repeated(t, size) for t, b in zip(tangents, batched, strict=True)])


def _traces(x: Value) -> list[Any]:
    found = []
    while isinstance(x, Traced):
        if x.traced_by.level:
            found.append(x.traced_by)
        x = x.value
    return found


def _without_strangers(x: Value, own: set[int], name: str) -> Value:
    """A result that depends on traces other than those of the arguments has used a traced value from outside."""
    x = settled(x)
    if all(id(trace) in own for trace in _traces(x)):
        return x
    raise DerivativeDroppedError(
        message(
            f"The function given to {name} uses a traced value that is not among its arguments.",
            fix="Pass the value as an argument, so that its derivative can be found.",
        )
    )
