"""The reverse trace with an eye on it: of each step its line, its block, and how large its values are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import InputError, UnsupportedError, message, user_line
from ..core.nans import shown
from ..core.primitive import Primitive
from ..core.reverse import INPUT, OUTPUT, Node, ReverseTrace
from ..core.traced import Ended, Traced, is_of, peel
from ..core.tree import flatten, ways
from ..core.types import Params
from ..core.values import contents, describe, is_inexact
from ..explanation.block import Blocks, blocks_now
from ..explanation.record.record import parameters_of
from ..transforms.calling import run
from ..transforms.interface.checking import checked_input, given_leaves, output_leaves
from ..transforms.interface.inputs import check_places
from ..transforms.interface.presenting import copied, released
from ..transforms.settings import disable_jit


class Size(NamedTuple):
    """How large an array is."""

    norm: float
    """The Euclidean length."""
    rms: float
    """The root of the mean square, which does not depend on how many numbers there are."""
    bad: str
    """"nan" or "inf" if one of its numbers is, else ""."""


def size_of(x: Any) -> Size:
    """The size of a value, computed in double precision and without overflow."""
    x = np.asarray(x)
    if x.dtype.kind not in "fc":
        return Size(0.0, 0.0, "")
    if not np.all(np.isfinite(x)):
        bad = "nan" if np.any(np.isnan(x)) else "inf"
        return Size(math.nan if bad == "nan" else math.inf, math.nan if bad == "nan" else math.inf, bad)
    magnitudes = np.abs(x).astype(float)
    largest = float(np.max(magnitudes, initial=0.0))
    if largest == 0.0:
        return Size(0.0, 0.0, "")
    norm = largest * float(np.linalg.norm((magnitudes / largest).ravel()))
    return Size(norm, norm / math.sqrt(x.size), "")


class Seen(NamedTuple):
    """What was seen of a node."""

    line: str
    blocks: Blocks
    value: Size
    operands: str
    """Filled in where the node made something that is not finite."""


class WatchingTrace(ReverseTrace):
    """What `ad.grad` records, and for each node what was seen of it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Seen] = []

    def append(self, node: Node) -> None:
        """One more node; what is seen of it stands at the same place."""
        super().append(node)
        primitive, _, _, out, _ = node
        if primitive is INPUT:
            self.seen.append(Seen("", (), size_of(out), ""))
        elif primitive is OUTPUT:
            self.seen.append(Seen(user_line(), blocks_now(), size_of(out), ""))
        else:
            self.seen.append(Seen(user_line(), blocks_now(), Size(0.0, 0.0, ""), ""))

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: Params) -> Any:
        """As the reverse trace does; the inside of a checkpointed function is written down as well."""
        if primitive.name == "checkpoint":
            return primitive.evaluate(*args, **params)
        place = len(self)
        out = super().process(primitive, args, params)
        if len(self) > place:
            parts = (
                [peel(self, o) for o in out if is_inexact(peel(self, o))] if primitive.multiple else [peel(self, out)]
            )
            value = size_of(contents(parts[0])) if len(parts) == 1 else _together([size_of(contents(p)) for p in parts])
            operands = ", ".join([shown(contents(a)) for a in args]) if value.bad else ""
            self.seen[place] = self.seen[place]._replace(value=value, operands=operands)
        return out

    def unary(self, primitive: Primitive, x: Traced) -> Any:
        """`process`: the short way is not watched."""
        return self.process(primitive, (x,), {})

    def end(self) -> None:
        """From now on a handle of this trace is its value; what was recorded stays with whoever watches."""
        self.__class__ = EndedWatch


class EndedWatch(Ended, WatchingTrace):  # type: ignore[misc]
    """A watched trace that has ended."""


def _together(sizes: list[Size]) -> Size:
    bad = next((s.bad for s in sizes if s.bad), "")
    norm = math.sqrt(sum([s.norm**2 for s in sizes]))
    return Size(norm, max([s.rms for s in sizes], default=0.0), bad)


class Watched(NamedTuple):
    """A function's trace at one point, as it was seen."""

    trace: WatchingTrace
    names: list[str]
    """Of the inputs, which are the first places of the trace: "w", "layers.0.weight"."""
    inputs: list[Any]
    values: list[Any]
    """The leaves of the result."""
    places: list[int | None]
    """Where in the trace they are; None for what does not depend on the inputs."""


def watched(fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Any, name: str) -> Watched:
    """Run a function under a watched trace; jitted functions and loops are run step by step."""
    leaves, rebuild = flatten(args)
    if any([isinstance(leaf, Traced) for leaf in [*leaves, *flatten(kwargs)[0]]]):
        raise UnsupportedError(
            message(
                f"{name} looks at numbers, and takes no part in derivatives: not inside grad, vmap or jit.",
                fix="Call it outside; or at the plain value,  ad.value(x).",
            )
        )
    moving = _moving(args, leaves, argnums, name)
    trace = WatchingTrace()
    call = list(leaves)
    inputs = [copied(checked_input(leaves[k], name)) for k in moving]
    for k, x in zip(moving, inputs, strict=True):
        call[k] = trace.input(x)
    try:
        with disable_jit(), np.errstate(all="ignore"):  # what a warning would say is what is looked for
            result = run(fun, rebuild(call), kwargs)
        outputs, _ = output_leaves(result, name)
        values = [contents(released(o, trace)) for o in outputs]
        places = [o.node if is_of(o, trace) else None for o in outputs]
    finally:
        trace.end()
    names = _names(fun, args, argnums)
    return Watched(trace, [names[k] for k in moving], inputs, values, places)


def _moving(args: tuple[Any, ...], leaves: list[Any], argnums: Any, name: str) -> list[int]:
    """The leaves that are differentiated with respect to: the real and complex ones of the chosen arguments."""
    if argnums is None:
        chosen = set(range(len(args)))
    else:
        check_places(args, argnums)
        chosen = {n % len(args) for n in ((argnums,) if isinstance(argnums, int) else argnums)}
    found = _reals(args, leaves, chosen)
    if not found:  # of a real function, 3 is 3.0
        leaves[:] = given_leaves(leaves, args)
        found = _reals(args, leaves, chosen)
    if not found:
        raise InputError(
            message(
                f"{name} needs at least one real or complex number to differentiate with respect to.",
                got=", ".join([describe(leaf) for leaf in leaves]) or "no argument",
                fix="Pass a float or  x.astype(float);  choose other arguments with  argnums.",
            )
        )
    return found


def _reals(args: tuple[Any, ...], leaves: list[Any], chosen: set[int]) -> list[int]:
    return [
        k for k, way in enumerate(ways(args)) if way[0] in chosen and _is_number(leaves[k]) and is_inexact(leaves[k])
    ]


def _is_number(x: Any) -> bool:
    return isinstance(x, (float, complex, np.ndarray, np.generic))


def _names(fun: Callable[..., Any], args: tuple[Any, ...], argnums: Any) -> list[str]:
    """What each leaf is called: the way to it, after the name of the argument where there are several."""
    parameters: Sequence[str] = parameters_of(fun, len(args))
    found = []
    for way in ways(args):
        parts = [str(key) for key in way[1:]]
        found.append(".".join(parts if parts and isinstance(argnums, int) else [parameters[way[0]], *parts]))
    return found
