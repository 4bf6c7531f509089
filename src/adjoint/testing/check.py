"""`check_grads`: compare derivatives of any order, in every mode, with differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from ..core.arguments import NonNegative, Seed, checked, number, whole
from ..core.errors import GradientCheckError, InputError, message
from ..core.tree import flatten
from ..core.values import describe, dtype_of
from ..transforms.interface.checking import checked_inputs, given_leaves
from ..transforms.jvp import jvp
from ..transforms.vjp import vjp

MODES = ("forward", "reverse")


@checked("fun")
def check_grads(
    fun: Callable[..., Any],
    args: Sequence[Any],
    order: Annotated[int, whole(1, 20)] = 1,
    modes: Sequence[str] = MODES,
    *,
    rtol: NonNegative | None = None,
    atol: NonNegative | None = None,
    step: Annotated[float, number(0.0, 1.0, above=True)] | None = None,
    seed: Seed = 0,
) -> None:
    """Check the derivatives of a function at a point, up to an order, in all compositions of the modes.

    Forward mode is compared with a central difference along a random direction t; reverse mode has to be its adjoint,
    <g, J t> = <J* g, t>. For higher orders the derivatives themselves are checked in the same way.

    Parameters
    ----------
    fun : callable
        A function of numbers, arrays or containers of them.
    args : tuple
        Where to check; all leaves are real or complex floating-point numbers.
    order : int, default 1
        The highest order of derivative.
    modes : sequence of str, default ("forward", "reverse")
        "forward", "reverse" or both.
    rtol : float, optional
        The relative tolerance; the default suits the precision of the arguments.
    atol : float, optional
        The absolute tolerance; the default suits the precision of the arguments.
    step : float, optional
        The step of the difference; the default suits the precision of the arguments.
    seed : int, default 0
        The seed of the random directions.

    Raises
    ------
    GradientCheckError
        If a derivative disagrees, with the two numbers, the mode and the order.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint.testing import check_grads
    >>> check_grads(lambda x: np.sum(np.sin(x) ** 3), (np.array([0.3, 0.7]),), order=3)
    """
    unknown = set(modes) - set(MODES)
    if not modes:
        raise InputError(message("check_grads needs modes, at least one of them.", fix="Leave  modes=  out for all."))
    if unknown:
        raise ValueError(f"modes must be among {', '.join(MODES)}; got {', '.join(sorted(unknown))}")
    if not isinstance(args, (tuple, list)):
        raise InputError(
            message(
                "check_grads takes the arguments as one tuple.",
                got=describe(args),
                fix="Write  check_grads(f, (x,)).",
            )
        )
    leaves, rebuild = flatten(tuple(args))
    inputs = given_leaves(leaves, tuple(args))
    args = rebuild(inputs)
    inputs = checked_inputs(inputs, tuple(args), "check_grads")
    precision = max((float(np.finfo(dtype_of(x)).eps) for x in inputs), default=2.2e-16)
    rtol = precision**0.5 * 40 if rtol is None else rtol
    atol = precision**0.5 * 40 if atol is None else atol
    step = precision ** (1 / 3) if step is None else step
    _check(fun, tuple(args), order, tuple(modes), rtol, atol, step, np.random.default_rng(seed), "")


def _check(
    fun: Callable[..., Any], args: tuple[Any, ...], order: int, modes: tuple[str, ...], rtol: float, atol: float,
    step: float, rng: np.random.Generator, path: str,
) -> None:  # fmt: skip
    t = random_like(args, rng)
    value, tangent = jvp(fun, args, t)
    g = random_like(value, rng)
    if "forward" in modes:
        moved = (moved_along(fun, args, t, step), moved_along(fun, args, t, -step))
        estimate = inner(g, _difference(*moved, step))
        _compare(inner(g, tangent), estimate, f"forward{path}", "the central difference", rtol, atol)
    if "reverse" in modes:
        pulled = vjp(fun, *args)[1](g)
        _compare(inner(pulled, t), inner(g, tangent), f"reverse{path}", "the adjoint of forward mode", rtol, atol)
    if order <= 1:
        return
    if "forward" in modes:
        _check(lambda *a: jvp(fun, a, t)[1], args, order - 1, modes, rtol, atol, step, rng, f" over forward{path}")
    if "reverse" in modes:
        _check(lambda *a: vjp(fun, *a)[1](g), args, order - 1, modes, rtol, atol, step, rng, f" over reverse{path}")


def random_like(tree: Any, rng: np.random.Generator) -> Any:
    """A container of random numbers with the shapes and dtypes of another."""
    leaves, rebuild = flatten(tree)
    return rebuild([_random_leaf(x, rng) for x in leaves])


def _random_leaf(x: Any, rng: np.random.Generator) -> Any:
    shape, dtype = np.shape(x), np.asarray(x).dtype
    if dtype.kind not in "fc":
        return np.zeros(shape, dtype)
    r = rng.normal(size=shape)
    r = r + 1j * rng.normal(size=shape) if dtype.kind == "c" else r
    return float(r) if type(x) is float else np.asarray(r).astype(dtype)


def moved_along(fun: Callable[..., Any], args: tuple[Any, ...], t: Any, step: float) -> Any:
    """The function a step along a direction."""
    leaves, rebuild = flatten(args)
    moves, _ = flatten(t)
    # the step is made in the argument's own precision, or it would not be the one that is divided by
    return fun(*rebuild([x + np.asarray(step).astype(np.asarray(x).dtype) * m if type(x) is not float else x + step * m
                         for x, m in zip(leaves, moves, strict=True)]))  # fmt: skip


def _difference(ahead: Any, behind: Any, step: float) -> Any:
    forward, rebuild = flatten(ahead)
    backward, _ = flatten(behind)
    return rebuild([(np.asarray(a) - np.asarray(b)) / (2 * step) for a, b in zip(forward, backward, strict=True)])


def inner(a: Any, b: Any) -> float:
    """The real inner product of two containers, Re<a, b>."""
    pairs = zip(flatten(a)[0], flatten(b)[0], strict=True)
    return float(sum(np.sum(np.real(np.conjugate(x) * y), dtype=float) for x, y in pairs))


def _compare(got: float, want: float, mode: str, against: str, rtol: float, atol: float) -> None:
    if abs(got - want) <= atol + rtol * abs(want) or (np.isnan(got) and np.isnan(want)):
        return
    raise GradientCheckError(
        f"{mode} mode disagrees with {against}: {got!r} instead of {want!r} (difference {abs(got - want):.1e})."
    )
