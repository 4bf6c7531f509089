"""The laws every primitive and every function of the NumPy face obeys, run over tables of cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arguments import checked
from ..core.errors import InputError, message
from ..core.tree import flatten
from ..core.values import describe
from ..transforms.grad import grad
from ..transforms.jvp import jvp, linearize
from ..transforms.taylor.expansion import expanded
from ..transforms.vjp import vjp
from ..transforms.vmap import vmap
from .check import _difference, inner, moved_along, random_like


@dataclass(frozen=True)
class Case:
    """One function at one point.

    Parameters
    ----------
    name : str
        What the case is called in tests and messages.
    function : callable
        A function of the arguments that are differentiated; constants are closed over.
    args : tuple
        Floating-point numbers and arrays.
    laws : tuple of str, optional
        Which laws to run; by default all.
    rtol : float, default 1e-6
        The relative tolerance, in units that are right for float64.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.testing.check_case(ad.testing.Case("sine", np.sin, (np.array([0.3, 0.7]),)))
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    laws: tuple[str, ...] = ()
    rtol: float = 1e-6

    def at(self, dtype: Any) -> tuple[Any, ...]:
        """The arguments in another precision.

        Parameters
        ----------
        dtype : dtype
            That of real arguments; complex ones get the complex dtype of the same precision.

        Returns
        -------
        tuple
            The arguments.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> ad.testing.Case("sine", np.sin, (np.array([0.3, 0.7]),)).at(np.float32)
        (array([0.3, 0.7], dtype=float32),)
        """
        leaves, rebuild = flatten(self.args)
        return rebuild([_as_precise(x, dtype) for x in leaves])


def value_law(case: Case) -> None:
    """Inside every trace the value is NumPy's, with its dtype and shape."""
    plain = _arrays(case.function(*case.args))
    for traced in (
        vjp(case.function, *case.args)[0],
        jvp(case.function, case.args, random_like(case.args, _rng()))[0],
    ):
        for want, got in zip(plain, _arrays(traced), strict=True):
            assert got.shape == want.shape, f"shape {got.shape} instead of {want.shape}"
            assert got.dtype == want.dtype, f"dtype {got.dtype} instead of {want.dtype}"
            np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13 * (1 + np.max(np.abs(want), initial=0.0)))


def tangent_law(case: Case) -> None:
    """The tangent is the limit of a difference quotient."""
    t = random_like(case.args, _rng())
    tangent = jvp(case.function, case.args, t)[1]
    step = 6e-6
    estimate = _difference(
        moved_along(case.function, case.args, t, step), moved_along(case.function, case.args, t, -step), step
    )
    _close(tangent, estimate, case.rtol)


def adjoint_law(case: Case) -> None:
    """<g, J t> = <J* g, t>."""
    rng = _rng()
    t = random_like(case.args, rng)
    value, tangent = jvp(case.function, case.args, t)
    g = random_like(value, rng)
    pulled = vjp(case.function, *case.args)[1](g)
    _near(inner(pulled, t), inner(g, tangent), 1e-9)


def linearize_law(case: Case) -> None:
    """A recorded trace, swept forward, pushes a tangent to the same numbers as the one along with the values."""
    t = random_like(case.args, _rng())
    tangent = jvp(case.function, case.args, t)[1]
    pushed = linearize(case.function, *case.args)[1](*t)
    for want, got in zip(_arrays(tangent), _arrays(pushed), strict=True):
        assert got.dtype == want.dtype, f"dtype {got.dtype} instead of {want.dtype}"
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


def orders_law(case: Case) -> None:
    """The four ways to a second derivative agree with each other and with a difference of first derivatives."""
    rng = _rng()
    t, s = random_like(case.args, rng), random_like(case.args, rng)
    g = random_like(case.function(*case.args), rng)

    def along_forward(*args: Any) -> Any:
        return inner_traced(g, jvp(case.function, args, t)[1])

    def along_reverse(*args: Any) -> Any:
        return inner_traced(vjp(case.function, *args)[1](g), t)

    numbers = tuple(range(len(case.args)))
    found = {
        "forward over forward": jvp(along_forward, case.args, s)[1],
        "forward over reverse": jvp(along_reverse, case.args, s)[1],
        "reverse over forward": inner(grad(along_forward, numbers)(*case.args), s),
        "reverse over reverse": inner(grad(along_reverse, numbers)(*case.args), s),
    }
    step = 6e-6
    ahead = moved_along(along_forward, case.args, s, step)
    behind = moved_along(along_forward, case.args, s, -step)
    found["difference"] = (ahead - behind) / (2 * step)
    want = float(found["forward over reverse"])
    for name, got in found.items():
        _near(float(got), want, 10 * case.rtol if name == "difference" else 1e-8, name)


def stacking_law(case: Case) -> None:
    """vmap of the function is the stack of its values; vmap of the gradient, the stack of gradients."""
    rng = _rng()
    leaves, rebuild = flatten(case.args)
    examples = [rebuild([x * (1 + 0.03 * rng.uniform(size=np.shape(x))) for x in leaves]) for _ in range(3)]
    stacked = rebuild([np.stack([flatten(e)[0][k] for e in examples]) for k in range(len(leaves))])

    def gradient(*args: Any) -> Any:
        value, pullback = vjp(case.function, *args)
        return pullback(random_like(flatten(value)[1](_arrays(case.function(*case.args))), _rng()))

    for function in (case.function, gradient):
        together = _arrays(vmap(function)(*stacked))
        alone = [_arrays(function(*e)) for e in examples]
        for k, got in enumerate(together):
            want = np.stack([a[k] for a in alone])
            assert got.shape == want.shape, f"shape {got.shape} instead of {want.shape}"
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(want), initial=0.0)))


def precision_law(case: Case) -> None:
    """float32 in, float32 out: value, tangent, gradient and Taylor coefficients."""
    args = case.at(np.float32)
    with np.errstate(invalid="ignore"):  # some kernels of BLAS raise the flag for lanes that they do not use
        plain = _arrays(case.function(*args))
    value, tangent = jvp(case.function, args, random_like(args, _rng()))
    for want, got, moved in zip(plain, _arrays(value), _arrays(tangent), strict=True):
        assert got.dtype == want.dtype, f"value of {got.dtype} instead of {want.dtype}"
        assert moved.dtype == want.dtype, f"tangent of {moved.dtype} for a value of {want.dtype}"
    for coefficient in expanded(lambda x: case.function(*x), args, random_like(args, _rng()), 3, "taylor"):
        for want, got in zip(plain, _arrays(coefficient), strict=True):
            assert got.dtype == want.dtype, f"Taylor coefficient of {got.dtype} for a value of {want.dtype}"
    value, pullback = vjp(case.function, *args)
    exact = vjp(case.function, *case.at(np.float64))[1]
    g = random_like(value, _rng())
    wide = flatten(g)[1]([np.asarray(c).astype(np.result_type(c, np.float64)) for c in flatten(g)[0]])
    for got, want, x in zip(_arrays(pullback(g)), _arrays(exact(wide)), flatten(args)[0], strict=True):
        assert got.dtype == x.dtype, f"gradient of {got.dtype} for an argument of {x.dtype}"
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3 * (1 + np.max(np.abs(want), initial=0.0)))


def taylor_law(case: Case) -> None:
    """Taylor coefficients are nested derivatives along the direction, over factorials.

    From the third order on, of which nested derivatives take long, they are derivatives of the coefficient before.
    """
    t = random_like(case.args, _rng())

    def coefficient(order: int) -> Callable[..., Any]:
        return lambda *args: expanded(lambda x: case.function(*x), args, t, order, "taylor")[order]

    found = expanded(lambda x: case.function(*x), case.args, t, 4, "taylor")
    nested: Callable[..., Any] = case.function
    for order, got in enumerate(found):
        if order:
            nested = _along(nested if order < 3 else coefficient(order - 1), t)
        scale = (1, 1, 2, 3, 4)[order]
        for a, b, value in zip(_arrays(got), _arrays(nested(*case.args)), _arrays(found[0]), strict=True):
            assert a.dtype == value.dtype, f"coefficient {order} of {a.dtype} for a value of {value.dtype}"
            atol = 1e-8 * (1 + np.max(np.abs(b / scale), initial=0.0))
            np.testing.assert_allclose(a, b / scale, rtol=1e-7, atol=atol, err_msg=f"order {order}")


def _along(function: Callable[..., Any], t: Any) -> Callable[..., Any]:
    return lambda *args: jvp(function, args, t)[1]


LAWS: dict[str, Callable[[Case], None]] = {
    "value": value_law,
    "tangent": tangent_law,
    "adjoint": adjoint_law,
    "linearize": linearize_law,
    "orders": orders_law,
    "stacking": stacking_law,
    "taylor": taylor_law,
    "precision": precision_law,
}


@checked()
def check_case(case: Case, laws: Sequence[str] = ()) -> None:
    """Run the laws of a case.

    Parameters
    ----------
    case : Case
        A function and a point.
    laws : sequence of str, optional
        Which laws to run, out of `LAWS`; by default those of the case.

    Raises
    ------
    AssertionError
        If a law does not hold; it names the law and the case.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.testing.check_case(ad.testing.Case("exp", np.exp, (0.5,)), laws=("value", "tangent"))
    """
    if not isinstance(case, Case):
        raise InputError(
            message(
                "check_case needs a case.", got=describe(case), fix='Write  check_case(Case("sin", np.sin, (1.0,))).'
            )
        )
    for name in laws or case.laws or LAWS:
        try:
            LAWS[name](case)
        except AssertionError as problem:
            raise AssertionError(f"{name} law of {case.name}: {problem}") from None


def inner_traced(a: Any, b: Any) -> Any:
    """The real inner product, as something that can be differentiated."""
    return sum(np.sum(np.real(np.conjugate(x) * y)) for x, y in zip(flatten(a)[0], flatten(b)[0], strict=True))


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def _as_precise(x: Any, dtype: Any) -> Any:
    x = np.asarray(x)
    return x.astype(np.result_type(dtype, np.complex64) if x.dtype.kind == "c" else dtype)


def _arrays(tree: Any) -> list[Any]:
    return [np.asarray(x) for x in flatten(tree)[0]]


def _close(got: Any, want: Any, rtol: float) -> None:
    for a, b in zip(_arrays(got), _arrays(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * (1 + np.max(np.abs(b), initial=0.0)))


def _near(got: float, want: float, rtol: float, name: str = "") -> None:
    assert abs(got - want) <= rtol * (1 + abs(want)), f"{name} {got!r} instead of {want!r}"
