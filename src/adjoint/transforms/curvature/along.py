"""Second derivatives of a function along directions, by one evaluation for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import InputError, NotDifferentiableError, message
from ...core.forward import met
from ...core.traced import Traced, is_of
from ...core.tree import flatten
from ...core.values import Value, describe, dtype_of, numpy_number, shape_of, zeros_for
from ..calling import run
from ..interface.checking import checked_inputs, given_leaves, output_leaves
from ..interface.presenting import finished
from ..sweeps.forward import is_certain
from .second_order import Motion, SecondOrderTrace

Directions = dict[int, Any]
"""For each leaf of the argument that moves, its part of each direction, along the first axis."""


class CurvaturePoint(NamedTuple):
    """Where second derivatives are taken, and of what."""

    fun: Callable[[Any], Any]
    """A function of one argument, which may be any containers."""
    given: list[Any]
    """The leaves of the argument as they were given."""
    inputs: list[Value]
    rebuild: Callable[[list[Any]], Any]

    @property
    def sizes(self) -> list[int]:
        """How many numbers each leaf has."""
        return [math.prod(shape_of(x)) for x in self.inputs]


class SecondDerivatives(NamedTuple):
    """What was found: for each leaf of the result."""

    values: list[Value]
    seconds: list[Any]
    restore: Callable[[list[Any]], Any]
    """From one value for each leaf of the result to its containers."""
    is_certain: bool
    """Whether they are finite, and no tangent that is 0 met an infinite slope: else the Hessian decides."""


def at_point(fun: Callable[[Any], Any], x: Any, transform: str) -> CurvaturePoint:
    """The argument, checked to be real."""
    leaves, rebuild = flatten(x)
    given = given_leaves(leaves, (x,))
    inputs = checked_inputs(given, (x,), transform)
    if not inputs:
        raise InputError(
            message(
                f"{transform} needs an array or a number to differentiate with respect to.",
                got="none",
                fix="Choose an argument that has numbers with  argnums.",
            )
        )
    for value in inputs:
        refuse_complex(value, transform)
    return CurvaturePoint(fun, given, inputs, rebuild)


def refuse_complex(x: Value, transform: str) -> None:
    """There are no second derivatives along complex directions here."""
    if dtype_of(x).kind == "c":
        raise InputError(
            message(
                f"{transform} is for functions of real numbers.",
                got=describe(x),
                fix="Write the function of the real and the imaginary part:  lambda x, y: f(x + 1j * y).",
            )
        )


def along(
    point: CurvaturePoint, directions: Directions, *, summed: bool, transform: str, is_basis: bool = False
) -> SecondDerivatives:
    """The second derivatives along each direction, or their sum."""
    size = len(next(iter(directions.values())))
    trace = SecondOrderTrace(size, summed)
    inputs = [
        Traced(x, trace, Motion(directions[k], None, is_basis and len(shape_of(x)) == 1)) if k in directions else x
        for k, x in enumerate(point.inputs)
    ]
    before, met.vertex = met.vertex, False
    try:
        outputs, restore = output_leaves(run(point.fun, (point.rebuild(inputs),), {}), transform)
        values = [numpy_number(finished(o, trace), point.given) for o in outputs]
        for value in values:
            refuse_complex_result(value, transform)
        seconds = [_seconds(o, v, trace) for o, v in zip(outputs, values, strict=True)]
    finally:
        trace.end()
        in_doubt, met.vertex = met.vertex, before
    return SecondDerivatives(values, seconds, restore, not in_doubt and is_certain([*seconds, *values]))


def refuse_complex_result(y: Value, transform: str) -> None:
    """A result is real, or taken apart by the user."""
    if dtype_of(y).kind == "c":
        raise NotDifferentiableError(
            message(
                f"{transform} is for functions that return real numbers.",
                got=describe(y),
                fix="Take it of  np.real  and  np.imag  of the result one after the other.",
            )
        )


def _seconds(out: Any, value: Value, trace: SecondOrderTrace) -> Any:
    found = out.node.seconds if is_of(out, trace) else None
    if found is None:
        return zeros_for(value) if trace.summed else np.zeros((trace.size, *shape_of(value)), _kind(value))
    return found


def _kind(value: Value) -> np.dtype:
    kind = dtype_of(value)
    return kind if kind.kind == "f" else np.dtype(float)
