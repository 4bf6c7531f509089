"""The derivative of a holomorphic function: one complex number df/dz, instead of the gradient of a real function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.errors import InputError, NotDifferentiableError, OutputError, message
from ..core.tree import flatten
from ..core.values import cannot_branch, decidable, describe, dtype_of, shape_of
from .calling import Evaluation
from .interface.inputs import chosen, replaced
from .vjp import vjp


def holomorphic(fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool) -> Evaluation:
    """The function that gives (value, df/dz), as `value_and_grad` does.

    The pullback of a holomorphic function is multiplication by the conjugate of df/dz. That holds for it in the
    directions 1 and i alike, which is how a function that is not holomorphic is found out.
    """

    def value_and_derivative(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        wanted = chosen(args, argnums)
        for leaf in flatten(wanted)[0]:
            if dtype_of(leaf).kind != "c":
                raise InputError(
                    message(
                        "holomorphic=True needs complex arguments.",
                        got=describe(leaf),
                        fix="Pass  complex(x)  or  x.astype(complex).",
                    )
                )
        found = vjp(lambda z: fun(*replaced(args, argnums, z), **kwargs), wanted, has_aux=has_aux)
        value, pullback = found[:2]
        if shape_of(value) != () or dtype_of(value).kind != "c":
            raise OutputError(
                message(
                    "holomorphic=True needs a function that returns one complex number.",
                    got=describe(value),
                    fix="Sum the result to one number, or use  ad.jacobian;  leave  holomorphic  out for a real one.",
                )
            )
        along, rebuild = flatten(pullback(1.0 + 0.0j)[0])
        turned, _ = flatten(pullback(1.0j)[0])
        for d, e in zip(along, turned, strict=True):
            _check(d, e)
        g = rebuild([d.conjugate() for d in along])
        return ((value, found[2]), g) if has_aux else (value, g)

    return value_and_derivative


def _check(along: Any, turned: Any) -> None:
    """Refuse a function whose derivative in the direction i is not i times that in the direction 1."""
    if cannot_branch(along):
        return
    if not np.allclose(decidable(turned), 1j * decidable(along), rtol=1e-5, atol=1e-8, equal_nan=True):
        raise NotDifferentiableError(
            message(
                "The function is not holomorphic here, so there is no df/dz.",
                fix="If it uses  np.real, np.abs  or  np.conj,  take the gradient of a real result.",
            )
        )
