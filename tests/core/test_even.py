"""Smooth even functions of a norm have second derivatives where the norm has none: these, or nan, in every mode."""

import itertools

import numpy as np
import pytest

import adjoint as ad

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
W = np.array([0.3, 0.5, -0.2, 1.7])
NORMS = {
    "norm": np.linalg.norm,
    "root of a sum": lambda x: np.sqrt(np.sum(x**2)),
    "root of a product": lambda x: np.sqrt(x @ x),
    "hypot": lambda x: np.hypot(np.hypot(x[0], x[1]), x[2]),
    "axis": lambda x: np.linalg.norm(x[None], axis=1)[0],
}
EVEN = {
    "cos": (lambda r: np.cos(r / 2), -0.25),
    "square": (lambda r: r**2, 2.0),
    "product": (lambda r: r * r, 2.0),
    "fourth power": (lambda r: r**4, 0.0),
    "gaussian": (lambda r: np.exp(-(r**2)), -2.0),
    "cosh": (np.cosh, 1.0),
    "log1p": (lambda r: np.log1p(r**2), 2.0),
    "root": (lambda r: np.sqrt(1 + r**2), 1.0),
    "lorentzian": (lambda r: 1 / (1 + r**2), -2.0),
    "hypot": (lambda r: np.hypot(1.0, r), 1.0),
    "sinc": (np.sinc, -(np.pi**2) / 3),
}
"""Functions of the norm, and their second derivatives at 0."""


def _written(x, s):
    out = np.zeros(4)
    out[:3], out[3] = x / 2, s
    return out


JOINED = {
    "nothing": lambda x, s: s * W[3],
    "concatenate": lambda x, s: np.concatenate([x / 2, np.array([s])]) @ W,
    "append": lambda x, s: np.append(x / 2, s) @ W,
    "hstack": lambda x, s: np.dot(np.hstack([x / 2, s]), W),
    "array": lambda x, s: np.sum(np.array([x[0] / 2, x[1] / 2, x[2] / 2, s]) * W),
    "stack": lambda x, s: np.sum(np.stack([x[0], s]) * W[2:]),
    "written": lambda x, s: _written(x, s) @ W,
    "einsum": lambda x, s: np.einsum("i,i", np.append(x / 2, s), W),
    "where": lambda x, s: np.where(W[3] == W, s, np.append(x, 0.0)) @ W,
    "index": lambda x, s: np.append(x, s)[-1] * W[3] + x[0],
    "matrix": lambda x, s: (np.stack([np.append(x, s), np.append(-x, s)]) @ W)[1],
    "sum": lambda x, s: s * W[3] + 3 * x[0] - x[1],
}
ROWS = np.eye(3)
MODES = {
    "hessian": ad.hessian,
    "jacobian of grad": lambda f: ad.jacobian(ad.grad(f)),
    "forward over reverse": lambda f: ad.jacfwd(ad.grad(f)),
    "reverse over reverse": lambda f: ad.jacrev(ad.grad(f)),
    "forward over forward": lambda f: ad.jacfwd(ad.jacfwd(f)),
    "reverse over forward": lambda f: ad.jacrev(ad.jacfwd(f)),
    "hvp": lambda f: lambda x: np.stack([ad.hvp(f, (x,), (t,)) for t in ROWS]),
    "grad of a product": lambda f: lambda x: np.stack([ad.grad(lambda y, t=t: ad.grad(f)(y) @ t)(x) for t in ROWS]),
    "jvp of grad": lambda f: lambda x: np.stack([ad.jvp(ad.grad(f), (x,), (t,))[1] for t in ROWS]),
}
ALL = list(itertools.product(JOINED, EVEN, NORMS, MODES))


def check(joined, even, norm, mode, how=lambda f: f):
    """The matrix of second derivatives is that number times the unit matrix; where a series is needed it may be nan."""
    curve, curvature = EVEN[even]
    found = how(MODES[mode](lambda x: JOINED[joined](x, curve(NORMS[norm](x)))))(np.zeros(3))
    want = W[3] * curvature * np.eye(3)
    if even == "sinc":
        want = np.where(np.isnan(found), np.nan, want)
    np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("joined", JOINED)
def test_even_functions_of_a_norm(joined):
    """Each way to join, with the others by turns."""
    k = list(JOINED).index(joined)
    check(joined, list(EVEN)[k % 11], list(NORMS)[k % 5], list(MODES)[k % 9])


@pytest.mark.slow
@pytest.mark.parametrize("joined", JOINED)
@pytest.mark.parametrize("mode", MODES)
def test_every_even_function_of_a_norm(joined, mode):
    """All of them, plain and, by turns, jitted."""
    for k, (even, norm) in enumerate(itertools.product(EVEN, NORMS)):
        check(joined, even, norm, mode, ad.jit if k % 11 == 3 else lambda f: f)


def test_even_functions_in_programs():
    """A program that was recorded elsewhere finds them, too."""
    hessian = ad.jit(ad.hessian(lambda x: JOINED["append"](x, np.cos(np.linalg.norm(x) / 2))))
    hessian(np.ones(3))
    np.testing.assert_allclose(hessian(np.zeros(3)), -0.25 * W[3] * np.eye(3), rtol=1e-12, atol=1e-12)


UNDEFINED = {
    "norm and its square": lambda x: np.linalg.norm(x) + np.linalg.norm(x) ** 2,
    "norm times a slope": lambda x: np.linalg.norm(x) * x[0],
    "depends on the direction": lambda x: x[0] ** 3 * x[1] / np.linalg.norm(x) ** 2,
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_no_second_derivative(name):
    """What has none, as directions or sides differ, is nan."""
    assert np.all(np.isnan(np.diag(ad.hessian(UNDEFINED[name])(np.zeros(2)))))


def test_third_derivatives_are_not_known():
    """The derivative of a limit of a limit is nan."""
    f = lambda x: np.cos(np.linalg.norm(x))  # noqa: E731
    assert np.all(np.isnan(ad.grad(lambda x: ad.hessian(f)(x)[0, 0])(np.zeros(2))))


def test_rounding_errors_are_no_slopes():
    """Beside the diagonal all terms cancel: what is left of them is 0, also where one number is looked at alone."""
    check("nothing", "square", "norm", "forward over forward")
