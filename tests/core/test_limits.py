"""Slopes that are 0 and infinite at once: the derivative is their limit, or nan, in every mode."""

import numpy as np
import pytest

import adjoint as ad

ZERO, ONE = np.zeros(2), np.ones(2)
INF = np.inf
NUMBERS = {
    "sqrt, squared": (lambda x: np.sqrt(x) ** 2, 0.0, 1.0),
    "sqrt times sqrt": (lambda x: np.sqrt(x) * np.sqrt(x), 0.0, 1.0),
    "sqrt, cubed": (lambda x: np.sqrt(x) ** 3, 0.0, 0.0),
    "fourth root, to the fourth": (lambda x: np.sqrt(np.sqrt(x)) ** 4, 0.0, 1.0),
    "cbrt, cubed": (lambda x: np.cbrt(x) ** 3, 0.0, 1.0),
    "cbrt of a cube": (lambda x: np.cbrt(x**3), 0.0, 1.0),
    "powers that are inverse": (lambda x: (x**0.3) ** (1 / 0.3), 0.0, 1.0),
    "powers that add up": (lambda x: x**0.7 * x**0.3, 0.0, 1.0),
    "sqrt of a fourth power": (lambda x: np.sqrt(x**4), 0.0, 0.0),
    "sqrt of a fifth power": (lambda x: np.sqrt(x**5), 0.0, 0.0),
    "root of a square": (lambda x: (x**2) ** 0.5, 0.0, 0.0),
    "root of a square and a slope": (lambda x: np.sqrt(x**2) + 3 * x, 0.0, 3.0),
    "exp of log": (lambda x: np.exp(np.log(x)), 0.0, 1.0),
    "x log x": (lambda x: x * np.log(x), 0.0, -INF),
    "x squared log x": (lambda x: x**2 * np.log(x), 0.0, 0.0),
    "scaled": (lambda x: 5 * np.sqrt(2 * x) ** 2 + 3 * x, 0.0, 13.0),
    "arcsin of sqrt, squared": (lambda x: np.arcsin(np.sqrt(x)) ** 2, 0.0, 1.0),
    "arccos, squared": (lambda x: np.arccos(x) ** 2, 1.0, -2.0),
    "arccosh, squared": (lambda x: np.arccosh(x) ** 2, 1.0, 2.0),
    "cos of arccos": (lambda x: np.cos(np.arccos(x)), 1.0, 1.0),
    "arccos of cos": (lambda x: np.arccos(np.cos(x)), 0.0, 0.0),
    "a root away from 0": (lambda x: np.sqrt(x - 1) ** 2 * x, 1.0, 1.0),
    "a root of a difference": (lambda x: np.sqrt(2 - 2 * np.cos(x)), 0.0, 0.0),
    "tan of cbrt, cubed": (lambda x: np.tan(np.cbrt(x)) ** 3, 0.0, 1.0),
    "finite and infinite": (lambda x: np.sqrt(x) ** 2 + np.sqrt(x), 0.0, INF),
    "identically 0": (lambda x: np.sqrt(0 * x), 0.0, 0.0),
}
ARRAYS = {
    "some elements": (
        lambda x: np.sum(np.sqrt(x) ** 2 * np.array([1.0, 2.0, 3.0])), np.array([0.0, 1.0, 4.0]), [1.0, 2.0, 3.0],
    ),
    "one element": (lambda x: (np.sqrt(x) ** 2)[0] * 2, np.array([0.0, 1.0]), [2.0, 0.0]),
    "a branch": (lambda x: np.sum(np.where(x >= 0, np.cbrt(x) ** 3, -x)), np.array([0.0, -1.0]), [1.0, -1.0]),
    "a branch not taken": (lambda x: np.sum(np.where(x > 0, np.sqrt(x) ** 2, 0.0)), np.array([0.0, 4.0]), [0.0, 1.0]),
    "ties": (lambda x: np.max(np.sqrt(x) ** 2), np.zeros(4), [0.25] * 4),
    "clipped": (lambda x: np.sum(np.clip(np.cbrt(x) ** 3, -1, 1)), np.array([0.0, 0.5, 3.0]), [1.0, 1.0, 0.0]),
    "dot product": (lambda x: np.sqrt(x) @ np.sqrt(x), np.array([0.0, 4.0]), [1.0, 1.0]),
    "product": (lambda x: np.prod(np.sqrt(x)) ** 2, np.array([0.0, 4.0]), [4.0, 0.0]),
    "root of a product": (lambda x: np.sqrt(x[0] * x[1]), np.array([0.0, 1.0]), [INF, 0.0]),
    "norm": (np.linalg.norm, ZERO, [0.0, 0.0]),
    "norm of a difference": (lambda x: np.linalg.norm(x - 1.0), ONE, [0.0, 0.0]),
    "norm and a slope": (lambda x: np.sqrt(x @ x) + 3 * x[0], ZERO, [3.0, 0.0]),
    "norm, squared": (lambda x: np.linalg.norm(x) ** 2, ZERO, [0.0, 0.0]),
    "norm of order 3": (lambda x: np.sum(np.abs(x) ** 3) ** (1 / 3), ZERO, [0.0, 0.0]),
    "norm of order 1.5": (lambda x: np.sum(np.abs(x) ** 1.5) ** (1 / 1.5), ZERO, [0.0, 0.0]),
    "norm of order 8": (lambda x: np.sum(x**8) ** (1 / 8), ZERO, [0.0, 0.0]),
    "norm of order 20": (lambda x: np.sum(x**20) ** (1 / 20), ZERO, [0.0, 0.0]),
    "hypot": (lambda x: np.hypot(x[0], x[1]), ZERO, [0.0, 0.0]),
    "standard deviation": (np.std, ONE, [0.0, 0.0]),
    "distances": (
        lambda x: np.sum(np.sqrt((x[:, None] - x) ** 2)), np.array([0.0, 1.0, 1.0]), [-4.0, 2.0, 2.0],
    ),
}  # fmt: skip
POINTS = NUMBERS | ARRAYS
UNDEFINED = {
    "root of an absolute value": (lambda x: np.sqrt(np.abs(x)), 0.0),
    "quarter power of a square": (lambda x: (x**2) ** 0.25, 0.0),
    "log of a square": (lambda x: np.log(x**2), 0.0),
    "depends on the direction": (lambda x: np.cbrt(np.sum(x**3)), ZERO),
    "too large for any number": (lambda x: np.log(np.exp(x)), 1e5),
}
MODES = {
    "reverse": lambda f, x: ad.grad(f)(x),
    "forward": lambda f, x: ad.jacfwd(f)(x),
    "pullback of two results": lambda f, x: ad.vjp(lambda x: (f(x), 2 * f(x)), x)[1]((0.5, 0.25))[0],
    "batch": lambda f, x: ad.vmap(ad.grad(f))(np.stack([x, x + 0.25]))[0],
    "checkpoint": lambda f, x: ad.grad(ad.checkpoint(f))(np.asarray(x)),
}
JITTED = {
    "program of the gradient": lambda f, x: after(ad.jit(ad.grad(f)), x),
    "gradient of a program": lambda f, x: ad.grad(ad.jit(f))(x),
    "program of the tangent": lambda f, x: after(ad.jit(ad.jacfwd(f)), x),
    "tangent of a program": lambda f, x: ad.jacfwd(ad.jit(f))(x),
}
FEW = ["sqrt, squared", "cbrt of a cube", "x log x", "some elements", "norm", "ties", "a branch not taken"]

SECOND = {"sqrt, squared": 0.0, "sqrt, cubed": np.nan, "sqrt of a fourth power": 2.0, "cbrt of a cube": 0.0}


def after(jitted, x):
    """The result at a singular point of a function that was recorded at a regular one."""
    jitted(x + 0.25)
    jitted(x)
    return jitted(x)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", POINTS)
def test_the_limit(name, mode):
    """Every mode finds the derivative."""
    f, x, want = POINTS[name]
    np.testing.assert_allclose(MODES[mode](f, x), want, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", JITTED)
@pytest.mark.parametrize("name", [n if n in FEW else pytest.param(n, marks=pytest.mark.slow) for n in POINTS])
def test_the_limit_in_a_program(name, mode):
    """Programs find it too, those that were recorded elsewhere included."""
    f, x, want = POINTS[name]
    np.testing.assert_allclose(JITTED[mode](f, x), want, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", UNDEFINED)
def test_no_limit(name):
    """Where sides or directions do not agree, or numbers are too large, reverse mode says nan."""
    f, x = UNDEFINED[name]
    assert np.all(np.isnan(ad.grad(f)(x)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_steps_of_its_own_do_not_end_the_order_of_a_zero():
    """A zero cotangent that comes to a checkpoint or a jitted function is not one that nothing is asked for with."""
    for root in (ad.checkpoint(np.sqrt), ad.jit(np.sqrt)):
        assert ad.grad(lambda x, root=root: root(x) ** 2)(0.0) == 1.0
    assert ad.grad(lambda x: ad.checkpoint(lambda u: u**2)(np.sqrt(x)))(0.0) == 1.0
    np.testing.assert_array_equal(ad.vjp(np.sqrt, np.array([0.0, 4.0]))[1](np.array([0.0, 1.0]))[0], [0.0, 0.25])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "want"), SECOND.items())
def test_second_order_is_never_wrong(name, want):
    """The derivative of a limit is a limit, or nan if it has none; that of a kink follows the absolute value."""
    f = POINTS[name][0]
    for outer in (ad.jacfwd, ad.jacrev):
        for inner in (ad.jacfwd, ad.jacrev):
            np.testing.assert_allclose(outer(inner(f))(0.0), want, rtol=1e-12)
            assert outer(inner(lambda x: np.sqrt(x**2) + x**2))(0.0) == 2.0
            np.testing.assert_allclose(outer(inner(f))(4.0), outer(inner(lambda x: f(x) + 0 * x))(4.0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_large_arrays():
    """Of large arrays steps keep shapes only; then a norm is still 0 at a perfect fit, and a limit found or nan."""
    target = np.linspace(1.0, 2.0, 5000)
    assert not np.any(ad.grad(lambda x: np.sqrt(np.sum((x - target) ** 2)))(target))
    x = np.where(np.arange(5000) % 2, target, 0.0)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(np.sqrt(x) ** 2 * target))(x), target)
    found = ad.grad(lambda x: np.sum(np.sqrt(x + 0 * target) ** 2))(x)
    np.testing.assert_allclose(found, np.where(x == 0, np.nan, 1.0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_low_precision(dtype):
    """Numbers of low precision have the same limits, in their own type."""
    for f, want in ((lambda x: np.sum(np.sqrt(x) ** 2), 1.0), (np.linalg.norm, 0.0)):
        for found in (ad.grad(f)(np.zeros(3, dtype)), ad.jacfwd(f)(np.zeros(3, dtype))):
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, [want] * 3)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_two_arguments():
    """One argument at the end of its domain does not decide on which side of a kink the other is."""
    g = ad.grad(lambda x, y: np.sqrt(x) ** 2 * np.sqrt(y**2) + np.sqrt(y**2) + x, (0, 1))(0.0, 0.0)
    assert g == (1.0, 0.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_product_that_is_too_large():
    """What overflows for one factor is infinite for that one alone, in both modes."""
    x = np.array([1e200, 1e200, 1e-200])
    for gradient in (ad.grad(np.prod), ad.jacfwd(np.prod)):
        np.testing.assert_array_equal(gradient(x), [1.0, 1.0, np.inf])


CANCELLING = {
    "(1 - sqrt)(1 + sqrt)": (lambda x: (1 - np.sqrt(x)) * (1 + np.sqrt(x)), -1.0),
    "sqrt - sqrt + x": (lambda x: np.sqrt(x) - np.sqrt(x) + x, 1.0),
    "(2 - sqrt)(2 + sqrt) + 3x": (lambda x: (2 - np.sqrt(x)) * (2 + np.sqrt(x)) + 3 * x, 2.0),
}


@pytest.mark.parametrize(("f", "slope"), CANCELLING.values(), ids=CANCELLING.keys())
def test_infinite_slopes_that_cancel_leave_a_limit(f, slope):
    """Two steps with infinite slopes of different sign: what is left over is found, or nan, in both modes."""
    reverse, forward = ad.grad(f)(0.0), ad.jvp(f, (0.0,), (1.0,))[1]
    assert np.isnan(reverse) or reverse == pytest.approx(slope)
    assert np.isnan(forward) or forward == pytest.approx(slope)
