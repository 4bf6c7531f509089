"""Infinite slopes that meet zeros: sure for norms, right or nan for everything else, in every mode and under jit."""

import numpy as np
import pytest
import scipy.special

import adjoint as ad
from adjoint.rules.elementwise import MOST, bends

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
ROOTS = {
    "sinc of a root": (lambda x: np.sinc(np.sqrt(x) / np.pi), -1 / 6),
    "exp of a root without its first term": (lambda x: np.exp(np.sqrt(x)) - np.sqrt(x), 0.5),
    "cosh of a root": (lambda x: np.cosh(np.sqrt(x)), 0.5),
    "1 - cos of a root": (lambda x: 1 - np.cos(np.sqrt(x)), 0.5),
    "a sign between roots": (lambda x: np.abs(x) ** 0.5 * np.sign(x) * np.abs(x) ** 0.5, 1.0),
    "determinant of roots": (lambda x: np.linalg.det(np.sqrt(x) * np.eye(2)), 1.0),
    "transform of roots": (lambda x: np.sum(np.abs(np.fft.fft(np.sqrt(x) * np.ones(2))) ** 2), 4.0),
    "complex roots": (lambda x: np.real(np.sqrt(x + 0j) ** 2), 1.0),
    "bessel function of a root": (lambda x: scipy.special.j0(np.sqrt(x)), -0.25),
    "product of roots": (lambda x: np.expm1(np.sqrt(x)) * np.log1p(np.sqrt(x)), 1.0),
    "root of a product with a kink": (lambda x: np.sqrt(x * np.abs(x)), 1.0),
    "root of a product with a norm": (lambda x: np.sqrt(np.sqrt(x**2) * x), 1.0),
    "root of a power with a fraction": (lambda x: np.sqrt(x**1.5), np.inf),
    "root in a loop": (lambda x: ad.scan(lambda c, _: (np.sqrt(c) ** 2, 0.0), x, np.zeros(2))[0], 1.0),
    "root in a loop with a condition": (
        lambda x: ad.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, np.sqrt(c[1]) ** 2), (0.0, x))[1], 1.0,
    ),
    "root in a branch": (lambda x: ad.cond(x >= 0, lambda x: np.sqrt(x) ** 2, lambda x: x, x), 1.0),
}  # fmt: skip
MODES = {
    "reverse": lambda f, x: ad.grad(f)(x),
    "forward": lambda f, x: ad.jacfwd(f)(x),
    "program": lambda f, x: ad.jit(ad.grad(f))(x),
    "of a program": lambda f, x: ad.grad(ad.jit(f))(x),
    "batch": lambda f, x: ad.vmap(ad.grad(f))(np.stack([x, x]))[0],
}


@pytest.mark.parametrize("mode", [m for m in MODES if m != "batch"])
@pytest.mark.parametrize("name", ROOTS)
def test_right_or_nan(name, mode):
    """A zero that met an infinite slope never decides by itself."""
    f, slope = ROOTS[name]
    found = MODES[mode](f, 0.0)
    assert np.isnan(found) or found == pytest.approx(slope, rel=1e-9)


LOOPS = [name for name in ROOTS if "loop" in name or "branch" in name]


@pytest.mark.parametrize("name", [*LOOPS, "cosh of a root", "product of roots", "root of a product with a kink"])
def test_found(name):
    """These are found, also inside of loops."""
    f, slope = ROOTS[name]
    assert [MODES[mode](f, 0.0) for mode in ("reverse", "forward", "program", "of a program")] == [slope] * 4


FAR = {
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), -800.0, 0.0),
    "one over exp": (lambda x: 1 / np.exp(x), 800.0, 0.0),
    "softplus": (lambda x: np.log(1 + np.exp(x)), 800.0, 1.0),
    "log of exp": (lambda x: np.log(np.exp(x)), -800.0, 1.0),
    "root of exp": (lambda x: np.sqrt(np.exp(x)), -800.0, 0.5 * np.exp(-400.0)),
    "log of a square": (lambda x: np.log(x**2), 1e200, 2e-200),
    "log of a sum": (lambda x: np.log(np.sum(np.exp(x))), np.array([800.0, 800.0]), 0.5),
    "softmax": (lambda x: (np.exp(x) / np.sum(np.exp(x)))[0], np.array([800.0, 800.0]), [0.25, -0.25]),
    "large norm": (lambda x: np.sqrt(np.sum(x**2)), np.full(2, 1e200), 0.5**0.5),
    "small norm": (lambda x: np.sqrt(x @ x), np.full(2, 1e-200), 0.5**0.5),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FAR)
def test_numbers_too_large_or_too_small(name, mode):
    """What leaves the range of the numbers on the way comes back with the right slope."""
    f, x, slope = FAR[name]
    np.testing.assert_allclose(MODES[mode](f, x), slope, rtol=1e-12)


def distances(x):
    """All distances, those of a point to itself included."""
    return np.sqrt(np.sum((x[:, None] - x) ** 2, -1))


def squares(x):
    """All distances, squared, without a root."""
    return np.sum((x[:, None] - x) ** 2, -1)


def apart(x):
    """The distances, without those of a point to itself."""
    return np.sqrt(squares(x) + np.eye(len(x))) - np.eye(len(x))


ENERGIES = {
    "exp(-r)": (lambda x: np.sum(np.exp(-distances(x))), lambda x: np.sum(np.exp(-apart(x)))),
    "exp(-r**2)": (lambda x: np.sum(np.exp(-(distances(x) ** 2))), lambda x: np.sum(np.exp(-squares(x)))),
    "norm": (
        lambda x: np.sum(np.cos(np.linalg.norm(x[:, None] - x, axis=-1))), lambda x: np.sum(np.cos(apart(x))),
    ),
    "scaled": (
        lambda x: np.sum(np.tanh(distances(x @ np.diag([1.5, 0.5])))),
        lambda x: np.sum(np.tanh(apart(x @ np.diag([1.5, 0.5])))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ENERGIES)
def test_distances_of_points_to_themselves(name):
    """Gradients and second derivatives are those of the same sum without the roots of 0."""
    f, same = ENERGIES[name]
    x = np.random.default_rng(0).normal(size=(4, 2))
    want, curvature = ad.grad(same)(x), ad.hessian(same)(x)
    for gradient in (ad.grad(f), ad.jacfwd(f), ad.jit(ad.grad(f)), ad.grad(ad.jit(f))):
        np.testing.assert_allclose(gradient(x), want, rtol=1e-12, atol=1e-12)
    for hessian in (ad.jacfwd(ad.grad(f)), ad.jacrev(ad.grad(f))):
        np.testing.assert_allclose(hessian(x), curvature, rtol=1e-10, atol=1e-10)


NORMS = {
    "sum of squares": lambda x: np.sqrt(np.sum(x**2)),
    "square": lambda x: np.sum(np.sqrt(x * x)),
    "dot product": lambda x: np.sqrt(x @ x),
    "einsum": lambda x: np.sqrt(np.einsum("i,i", x, x)),
    "absolute values": lambda x: np.sqrt(np.sum(np.abs(x) ** 2)),
    "complex": lambda x: np.sqrt(np.sum(np.abs(x + 1j * x) ** 2)),
    "norm of norms": lambda x: np.sqrt(np.sum(np.sqrt(np.outer(x, x) ** 2) ** 2)),
    "standard deviation": lambda x: np.std(x),
    "root of 1 - cos": lambda x: np.sum(np.sqrt(1 - np.cos(x))),
    "arccos": lambda x: np.sum(np.arccos(np.cos(x))),
    "power": lambda x: np.sum((x**2) ** 0.5),
    "power above a half": lambda x: np.sum((x**2) ** 0.75),
    "in a loop": lambda x: ad.scan(lambda c, _: (c + np.sqrt(np.sum(x**2)), 0.0), 0.0, np.zeros(2))[0],
    "gaussian": lambda x: np.exp(-(np.sqrt(np.sum(x**2)) ** 2)),
}


@pytest.mark.parametrize("name", NORMS)
def test_a_norm_is_sure(name):
    """A norm at 0 has slope 0 in every mode; its program stays as small as the function's."""
    f, x = NORMS[name], np.zeros(3)
    for found in (ad.grad(f)(x), ad.jacfwd(f)(x), ad.jit(ad.grad(f))(x), ad.grad(ad.jit(f))(x)):
        np.testing.assert_array_equal(found, x)
    steps = ad.jit(ad.grad(f)).lower(x).program.steps
    assert len(steps) < 300
    assert "limit" not in {step.primitive.name for step in steps}


SQUARED = {
    "absolute value": (lambda x: np.sum(np.abs(x) ** 2), 2.0),
    "absolute value times itself": (lambda x: np.sum(np.abs(x) * np.abs(x)), 2.0),
    "absolute value of a square": (lambda x: np.sum(np.abs(x**2)), 2.0),
    "cosine of an absolute value": (lambda x: np.sum(np.cos(np.abs(x))), -1.0),
    "hypot": (lambda x: np.hypot(x[0], x[1]) ** 2, 2.0),
    "magnitude": (lambda x: np.abs(x[0] + 1j * x[1]) ** 2, 2.0),
    "norm": (lambda x: np.linalg.norm(x) ** 2, 2.0),
}
TWICE = {
    "forward over reverse": lambda f: ad.jacfwd(ad.grad(f)),
    "reverse over reverse": lambda f: ad.jacrev(ad.grad(f)),
    "forward over forward": lambda f: ad.jacfwd(ad.jacfwd(f)),
    "reverse over forward": lambda f: ad.jacrev(ad.jacfwd(f)),
}


@pytest.mark.parametrize("twice", TWICE)
@pytest.mark.parametrize("name", SQUARED)
def test_second_derivatives_of_kinks_that_are_smoothed(name, twice):
    """A slope of 0 at a kink is a mean of two sides: squared, it is none, and a second derivative says nan at worst."""
    f, curvature = SQUARED[name]
    diagonal = np.diag(TWICE[twice](f)(np.zeros(2)))
    assert np.all(np.isnan(diagonal) | (np.abs(diagonal - curvature) < 1e-12))
    kink = lambda x: np.sum(np.abs(x)) + x @ x  # noqa: E731
    np.testing.assert_array_equal(TWICE[twice](kink)(np.zeros(2)), 2 * np.eye(2))


FAR_AWAY = {
    "a root of a large number": (lambda x: np.exp(-np.sqrt(1e100 * x)), 0.0, -np.inf),
    "a fourth root of a large number": (lambda x: np.tanh(np.sqrt(np.sqrt(1e100 * x))), 0.0, np.inf),
    "a root from below": (lambda x: np.sqrt(-x), 0.0, -np.inf),
    "digits that are lost": (lambda x: np.cos(x * x), 1e200, np.nan),
}


@pytest.mark.parametrize("name", FAR_AWAY)
def test_infinities_are_infinite_or_nan(name):
    """Neither points nearby, which are far for a large factor, nor numbers without digits decide."""
    f, x, slope = FAR_AWAY[name]
    for found in (ad.grad(f)(x), ad.jvp(f, (x,), (1.0,))[1], ad.jit(ad.grad(f))(x)):
        assert np.isnan(found) or found == slope


DIRECTIONS = {
    "deviation of roots": lambda v: np.std(np.sqrt(v)),
    "difference of roots": lambda v: np.abs(np.sqrt(v[0]) - np.sqrt(v[1])),
}


@pytest.mark.parametrize("name", DIRECTIONS)
def test_infinities_whose_sign_depends_on_the_direction(name):
    """They are nan in reverse mode, which has no direction."""
    assert np.all(np.isnan(ad.grad(DIRECTIONS[name])(np.zeros(2))))


def test_a_limit_that_was_too_much_does_not_end_others():
    """Partials of partials of partials are given up after a while, for that one step."""
    bends.count = MOST
    assert ad.grad(lambda x: np.sqrt(np.sin(x)) ** 2)(0.0) == 1.0
