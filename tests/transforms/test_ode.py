"""`odeint`: against closed forms and SciPy, in every mode, in containers, and where it cannot go on."""

import numpy as np
import pytest
import scipy.integrate

import adjoint as ad
from adjoint import errors
from adjoint.testing.laws import LAWS, Case

TIMES = np.array([0.0, 0.3, 1.0])
START, RATES = np.array([1.0, 1.3]), np.array([1.5, 1.0, 3.0, 1.0])


def predators(y, t, p):
    """Lotka and Volterra's equations."""
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]])


def forced(y, t, a):
    return -a * y + np.sin(3 * t)


CASES = [
    Case("fixed", lambda y, p: ad.odeint(predators, y, TIMES, p, steps=4), (START, RATES)),
    Case("RK4", lambda y, p: ad.odeint(predators, y, TIMES, p, steps=2, method="RK4"), (START, RATES)),
    Case("adaptive", lambda y, p: ad.odeint(predators, y, TIMES, p, rtol=1e-9, atol=1e-9), (START, RATES)),
    Case("RK23", lambda y, a: ad.odeint(forced, y, TIMES, a, method="RK23", rtol=1e-7), (START, np.array(0.7))),
    Case("times", lambda t, a: ad.odeint(forced, START, t, a, rtol=1e-10, atol=1e-10), (TIMES, np.array(0.7))),
    Case("backwards", lambda t, a: ad.odeint(forced, START, t, a, rtol=1e-10), (TIMES[::-1].copy(), np.array(0.7))),
    Case("complex", lambda y: ad.odeint(lambda y, t: 1j * y * y, y, TIMES, rtol=1e-9), (np.array([0.3 + 0.5j]),)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("law", [law for law in LAWS if law != "precision"])
def test_law(case, law):
    """Values, both modes, second order and batches."""
    if law != "taylor" or case.name == "fixed":  # one is enough for a loop of loops
        LAWS[law](case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_jit(case):
    """Compiled, before and after the derivative."""
    value = case.function(*case.args)
    np.testing.assert_allclose(ad.jit(case.function)(*case.args), value, rtol=1e-12)
    loss = lambda *args: np.sum(np.abs(case.function(*args)) ** 2)  # noqa: E731
    want = ad.grad(loss)(*case.args)
    for transform in (ad.jit(ad.grad(loss)), ad.grad(ad.jit(loss))):
        np.testing.assert_allclose(transform(*case.args), want, rtol=1e-9, atol=1e-12)


def test_hessian_under_jit():
    """Forward over reverse, compiled; a closed form."""
    f = lambda a: ad.odeint(lambda y, t: -a * y, 1.0, np.array([0.0, 0.5, 2.0]), rtol=1e-10, atol=1e-12)[-1]  # noqa: E731
    assert ad.jit(ad.hessian(f))(0.4) == pytest.approx(4 * np.exp(-0.8), rel=1e-8)
    assert ad.hessian(f)(0.4) == pytest.approx(4 * np.exp(-0.8), rel=1e-8)


def test_closed_forms():
    """An oscillator in a dict, with derivatives in its frequency and in time."""
    t = np.linspace(0.0, 3.0, 7)

    def oscillator(w, t):
        def slope(y, t):
            return {"x": y["v"], "v": -(w**2) * y["x"]}

        return ad.odeint(slope, {"x": 1.0, "v": 0.0}, t, rtol=1e-10, atol=1e-10)["x"]

    np.testing.assert_allclose(oscillator(1.7, t), np.cos(1.7 * t), atol=1e-8)
    np.testing.assert_allclose(ad.jacobian(oscillator)(1.7, t), -t * np.sin(1.7 * t), atol=1e-7)
    np.testing.assert_allclose(
        np.diagonal(ad.jacobian(oscillator, 1)(1.7, t))[1:], -1.7 * np.sin(1.7 * t)[1:], atol=1e-7
    )
    # the first time moves all states, as the solution starts there
    np.testing.assert_allclose(ad.jacobian(oscillator, 1)(1.7, t)[1:, 0], 1.7 * np.sin(1.7 * t)[1:], atol=1e-7)


@pytest.mark.parametrize("method", ["RK23", "RK45"])
def test_as_accurate_as_scipy(method):
    """At the same tolerances, and with about as many steps."""
    t = np.linspace(0.0, 10.0, 11)
    exact = scipy.integrate.solve_ivp(
        lambda t, y: predators(y, t, RATES), (0, 10), START, t_eval=t, rtol=1e-12, atol=1e-12
    ).y.T
    theirs = scipy.integrate.solve_ivp(
        lambda t, y: predators(y, t, RATES), (0, 10), START, t_eval=t, rtol=1e-6, atol=1e-6, method=method
    )
    ours, facts = ad.odeint(predators, START, t, RATES, rtol=1e-6, atol=1e-6, method=method, full_output=True)
    assert facts["success"]
    assert np.max(np.abs(ours - exact)) < 2 * np.max(np.abs(theirs.y.T - exact))
    assert facts["steps"] < 1.5 * theirs.nfev / (3 if method == "RK23" else 6)


def test_orders():
    """Twice the steps divide the error by two to the order."""
    f = lambda y, t: y * np.cos(t)  # noqa: E731
    for method, order in {"Euler": 1, "midpoint": 2, "Heun": 2, "RK23": 3, "RK4": 4, "RK45": 5}.items():
        few, many = [
            abs(ad.odeint(f, 1.0, np.array([0.0, 2.0]), method=method, steps=n)[-1] - np.exp(np.sin(2.0)))
            for n in (20, 40)
        ]
        assert np.log2(few / many) == pytest.approx(order, abs=0.35)


def test_checkpoints_change_nothing():
    """Less memory, the same derivative, for both kinds of steps."""
    for how in ({"steps": 12}, {"rtol": 1e-8}):
        f = lambda a, how=how, **more: ad.odeint(forced, 1.0, np.array([0.0, 3.0]), a, **how, **more)[-1]  # noqa: E731
        want = ad.grad(f)(0.7)
        assert ad.grad(lambda a: f(a, checkpoint_every=3))(0.7) == pytest.approx(want, rel=1e-12)
        assert ad.jit(ad.grad(lambda a: f(a, checkpoint_every=3)))(0.7) == pytest.approx(want, rel=1e-12)


def test_where_it_cannot_go_on():
    """Nan from a pole on, also if the slope is nan, or if there are too many steps; what was before is there."""
    t = np.array([0.0, 0.5, 2.0, 3.0])
    found, facts = ad.odeint(lambda y, t: y * y, 1.0, t, full_output=True)
    np.testing.assert_allclose(found, [1.0, 2.0, np.nan, np.nan], rtol=1e-7)
    assert not facts["success"]
    found = ad.odeint(lambda y, t: np.where(t > 1.0, np.nan, y), 1.0, t)
    assert np.isfinite(found).tolist() == [True, True, False, False]
    found = ad.odeint(lambda y, t: -y, 1.0, t, max_steps=3)
    assert np.isnan(found[-1])


def test_kinds_of_states():
    """Lists as SciPy takes them, numbers, single precision, one time alone."""
    rotate = lambda y, t: [y[1], -y[0]]  # noqa: E731
    np.testing.assert_allclose(ad.odeint(rotate, np.array([1.0, 0.0]), [0.0, 1.0])[-1], [np.cos(1), -np.sin(1)], 1e-7)
    found = ad.odeint(rotate, [1.0, 0], [0, 1])
    assert isinstance(found, list)
    assert float(found[0][-1]) == pytest.approx(np.cos(1))
    single = ad.odeint(rotate, np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0]), rtol=1e-4, atol=1e-4)
    assert single.dtype == np.float32
    assert ad.odeint(rotate, START, [0.0]).tolist() == [START.tolist()]
    assert ad.odeint(lambda y, t: -y, 1.0, [0.0, 0.0, 1.0]).tolist()[:2] == [1.0, 1.0]


def test_a_slope_that_branches():
    """Python decides in every step."""
    how = {"t": [0.0, 0.5, 1.0], "steps": 5}
    found = ad.odeint(lambda y, t: -y if t < 0.6 else 0.0 * y, 1.0, **how)
    np.testing.assert_allclose(found, ad.odeint(lambda y, t: np.where(t < 0.6, -y, 0.0), 1.0, **how), rtol=1e-13)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ad.odeint(1.0, 1.0, [0.0, 1.0]), errors.InputError, "odeint"),
        (lambda: ad.odeint(forced, 1.0, 1.0, 0.5), errors.InputError, "np.array"),
        (lambda: ad.odeint(forced, 1.0, [0.0, 1.0], 0.5, method="RK9"), errors.InputError, "'RK23', 'RK45'"),
        (lambda: ad.odeint(forced, 1.0, [0.0, 1.0], 0.5, method="RK4"), errors.InputError, "steps=100"),
        (lambda: ad.odeint(forced, 1.0, [0.0, 1.0], 0.5, steps=0), errors.InputError, "positive integer"),
        (lambda: ad.odeint(lambda y, t: np.ones(3), START, [0.0, 1.0]), errors.OutputError, "shapes of y0"),
        (lambda: ad.odeint(lambda y, t: 1j * y, START, [0.0, 1.0]), errors.OutputError, "complex"),
        (lambda: ad.odeint(lambda y, t: {"b": y["a"]}, {"a": 1.0}, [0.0, 1.0]), errors.OutputError, "containers"),
        (lambda: ad.odeint(forced, {"a": 1.0, "b": 1.0, "c": 2.0}, [0.0, 1.0], 0.5, rtol=[1e-3, 1e-3]),
         errors.InputError, "containers as those of y0"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    """By the name of the function, and with what to write."""
    with pytest.raises(error, match=text):
        call()
