"""What was not selected contributes no cotangent; a zero out of arithmetic is not such a zero."""

import numpy as np
import pytest

import adjoint as ad


def overwritten(x):
    y = np.sqrt(x)
    y[0] = 3.0 * x[1]
    return np.sum(y)


def overwritten_by_mask(x):
    y = np.log(x)
    y[x <= 0] = 0.0
    return np.sum(y)


def rows_masked_before_a_product(x):
    a = np.log(x)[:, None] * np.ones((3, 2))
    return np.sum(np.where(x[:, None] > 0, a @ np.array([[1.0, 2.0], [3.0, 4.0]]), 0.0))


def masked_mean(x):
    m = x > 0
    return np.sum(np.where(m, np.log(np.where(m, x, 1.0)), 0.0)) / np.sum(m)


def safe_ratio(x):
    return np.sum(np.where(x != 0, x / x * x, 0.0))


def distances(x):
    gaps = x[:, None] - x[None, :]
    return np.sum(np.sqrt(gaps**2))


FAR_OUT = 1.6993417021166355e-17  # 1 / cosh(20)**2

POINTS = {
    "sqrt behind where": (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), [0.0, 1.0, 4.0], [0.0, 0.5, 0.25]),
    "log(0) behind a mask": (lambda x: np.sum(np.log(x)[x > 0]), [0.0, 1.0, 4.0], [0.0, 1.0, 0.25]),
    "0/0 behind where": (safe_ratio, [0.0, 1.0, 2.0], [1.0, 1.0, 1.0]),
    "norm after where": (
        lambda x: np.linalg.norm(np.where(x > 5, np.log(x - 5), 0.0)), [0.0, 1.0, 4.0], [0.0, 0.0, 0.0],
    ),
    "indexed away": (lambda x: np.sqrt(x)[1:].sum(), [0.0, 1.0, 4.0], [0.0, 0.5, 0.25]),
    "taken": (lambda x: np.log(x)[[1, 2, 1]].sum(), [0.0, 1.0, 4.0], [0.0, 2.0, 0.25]),
    "overwritten": (overwritten, [0.0, 1.0, 4.0], [0.0, 3.5, 0.25]),
    "overwritten by a mask": (overwritten_by_mask, [0.0, 1.0, 4.0], [0.0, 1.0, 0.25]),
    "clipped": (lambda x: np.sum(np.clip(np.log(x), -2.0, 1.0)), [0.0, 1.0, 4.0], [0.0, 1.0, 0.0]),
    "not the maximum": (lambda x: np.max(np.log(x)), [0.0, 1.0, 4.0], [0.0, 0.0, 0.25]),
    "not the larger": (lambda x: np.sum(np.maximum(np.log(x), -3.0)), [0.0, 1.0, 4.0], [0.0, 1.0, 0.25]),
    "not the median": (lambda x: np.median(np.log(x)), [0.0, 2.0, 4.0], [0.0, 0.5, 0.0]),
    "sorted away": (lambda x: np.sort(np.sqrt(x))[1:].sum(), [0.0, 1.0, 4.0], [0.0, 0.5, 0.25]),
    "masked rows of a product": (rows_masked_before_a_product, [0.0, 1.0, 2.0], [0.0, 10.0, 5.0]),
    "double where": (masked_mean, [0.0, 1.0, 2.0], [0.0, 0.5, 0.25]),
    "multiplied after selecting": (
        lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0) * np.array([2.0, 3.0, 4.0])),
        [0.0, 1.0, 4.0], [0.0, 1.5, 1.0],
    ),
    "reduced where": (lambda x: np.sum(np.sqrt(x), where=x > 0), [0.0, 1.0, 4.0], [0.0, 0.5, 0.25]),
    "select": (lambda x: np.sum(np.select([x > 0], [np.sqrt(x)], 0.0)), [0.0, 1.0, 4.0], [0.0, 0.5, 0.25]),
    "root of squares": (lambda x: np.sqrt(np.sum(x**2)), [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    "root of a dot product": (lambda x: np.sqrt(x @ x), [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    "norm": (np.linalg.norm, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    "standard deviation": (np.std, [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]),
    "hypot": (lambda x: np.sum(np.hypot(x, 0.0 * x)), [0.0, 3.0, -4.0], [0.0, 1.0, -1.0]),
    "pairwise distances": (distances, [0.0, 1.0, 3.0], [-4.0, 0.0, 4.0]),
    "a slope under the root": (lambda x: np.sum(np.sqrt(x)), [0.0, 1.0, 4.0], [np.inf, 0.5, 0.25]),
    "power below one": (lambda x: np.sum((x**2) ** 0.5), [0.0, 1.0, 2.0], [0.0, 1.0, 1.0]),
    "exp of log": (lambda x: np.sum(np.exp(np.log(x))), [0.0, 1.0, 4.0], [1.0, 1.0, 1.0]),
    "log of a square stays nan": (lambda x: np.sum(np.log(x**2)), [0.0, 1.0, 4.0], [np.nan, 2.0, 0.5]),
    "a share too small to see stays nan": (
        lambda x: np.logaddexp.reduce(np.log(x)), [0.0, 1.0, 3.0], [np.nan, 0.25, 0.25],
    ),
    "abs": (lambda x: np.sum(np.abs(x)), [0.0, 1.0, -4.0], [0.0, 1.0, -1.0]),
    "relu": (lambda x: np.sum(np.maximum(x, 0)), [0.0, 1.0, -4.0], [0.0, 1.0, 0.0]),
    "relu, other way round": (lambda x: np.sum(np.maximum(0.0, x)), [0.0, 1.0, -4.0], [0.0, 1.0, 0.0]),
    "ties of max": (np.max, [2.0, 2.0, 1.0], [0.5, 0.5, 0.0]),
    "ties of maximum": (lambda x: np.maximum(x[0], x[1]), [2.0, 2.0, 1.0], [0.5, 0.5, 0.0]),
    "product with a zero": (np.prod, [0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
    "x log x": (lambda x: np.sum(np.where(x > 0, x * np.log(x), 0.0)), [0.0, 1.0, np.e], [0.0, 1.0, 2.0]),
    "tanh far out": (lambda x: np.sum(np.tanh(x)), [20.0, 0.0, -20.0], [FAR_OUT, 1.0, FAR_OUT]),
    "softplus far out": (lambda x: np.sum(np.logaddexp(0.0, x)), [-800.0, 0.0, 800.0], [0.0, 0.5, 1.0]),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", POINTS)
def test_reverse(name):
    """One sweep back gives the closed form, finite where it is."""
    f, x, want = POINTS[name]
    np.testing.assert_allclose(ad.grad(f)(np.array(x)), want, rtol=1e-14, atol=1e-300)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [n for n in POINTS if n != "tanh far out"])
def test_forward(name):
    """Forward mode agrees at the same points."""
    f, x, want = POINTS[name]
    np.testing.assert_allclose(ad.jacfwd(f)(np.array(x)), want, rtol=1e-14)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [n for n in POINTS if n not in {"log(0) behind a mask", "overwritten by a mask"}])
def test_inside_vmap(name):
    """So does the gradient of each example of a batch (masks that change shapes cannot be mapped)."""
    f, x, want = POINTS[name]
    np.testing.assert_allclose(ad.vmap(ad.grad(f))(np.array([x, x])), [want, want], rtol=1e-14, atol=1e-300)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_second_order_behind_where():
    """The second derivative of a branch not taken is zero as well, in all four compositions."""

    def f(x):
        return np.sum(np.where(x > 0, x**1.5, 0.0))

    def along(x):
        return ad.jvp(f, (x,), (np.ones(2),))[1]

    x = np.array([0.0, 4.0])
    want = [0.0, 0.375]
    np.testing.assert_allclose(np.diag(ad.hessian(f)(x)), want)
    np.testing.assert_allclose(ad.jacrev(ad.grad(f))(x).sum(0), want)
    np.testing.assert_allclose(ad.grad(along)(x), want)
    np.testing.assert_allclose(ad.jacfwd(along)(x), want)


def test_no_warning_the_plain_function_would_not_give():
    """Rules meet infinities silently: warnings are errors in this suite."""
    assert ad.grad(np.sqrt)(0.0) == np.inf
    assert ad.grad(lambda x: np.sum(np.sqrt(x)))(np.zeros(2)).tolist() == [np.inf, np.inf]
    assert ad.jacfwd(lambda x: np.sqrt(x))(np.zeros(1)).tolist() == [[np.inf]]
    assert ad.grad(lambda x: np.tanh(x))(800.0) == 0.0


def test_the_plain_functions_warning_is_still_given():
    """What plain NumPy warns of is warned of."""
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        ad.grad(lambda x: np.sum(np.log(x)))(np.zeros(2))


@pytest.mark.parametrize("f", [np.sqrt, lambda x: x**0.5, np.arccos])
def test_second_order_at_a_vertical_tangent(f):
    """Where the first derivative is infinite the second is not a finite number, in any composition."""
    x = 1.0 if f is np.arccos else 0.0
    for outer in (ad.jacfwd, ad.jacrev):
        for inner in (ad.jacfwd, ad.jacrev):
            assert not np.isfinite(outer(inner(f))(x))


def test_second_order_at_a_norm_of_zero():
    """The second derivative of the norm follows the convention of the absolute value: 0 at the kink."""
    f = lambda x: np.sqrt(np.sum(x**2)) + x[0] ** 2  # noqa: E731
    np.testing.assert_array_equal(ad.jacrev(ad.grad(f))(np.zeros(2)), [[2.0, 0.0], [0.0, 0.0]])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows_of_a_jacobian_do_not_disturb_each_other():
    """A row asks for one element only; the infinite slope of another has no part in it."""
    np.testing.assert_array_equal(ad.jacobian(np.log)(np.array([0.0, 4.0])), [[np.inf, 0.0], [0.0, 0.25]])
    (g,) = ad.vjp(lambda x: 1 / x, np.array([0.0, 2.0]))[1](np.array([0.0, 1.0]))
    np.testing.assert_array_equal(g, [0.0, -0.25])


def test_a_seed_that_varies_keeps_its_derivative():
    """A cotangent that is 0 at a point still has a slope there."""

    def f(c):
        return ad.vjp(np.sqrt, np.array([1.0, 4.0]))[1](c * np.array([1.0, 0.0]))[0].sum()

    assert ad.grad(f)(0.0) == 0.5
    assert ad.jvp(f, (0.0,), (1.0,))[1] == 0.5
