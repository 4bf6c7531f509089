"""scipy.integrate: the laws over a table of cases, closed forms, results as SciPy has them, refusals."""

import numpy as np
import pytest
import scipy.integrate as si
from scipy.integrate import quad, solve_ivp

import adjoint as ad
from adjoint.core.tree import flatten
from adjoint.numpy.patching.replacements import REPLACEMENTS
from adjoint.testing.laws import LAWS
from tests.cases.scipy_integrate import CASES, EQUATIONS, INTEGRALS, RATE, TIGHT, TIMES, bent, decay, falling

SMOOTH = ("value", "tangent", "adjoint", "linearize", "orders", "stacking")
"""Of an integral that SciPy finds, Taylor series are nested derivatives, and single precision is SciPy's."""


def laws_of(case):
    return case.laws or (tuple(LAWS) if case not in INTEGRALS and case not in EQUATIONS else SMOOTH)


@pytest.mark.parametrize(
    ("case", "law"),
    [
        pytest.param(case, law, id=f"{case.name}-{law}", marks=[pytest.mark.slow] if case.name == "tplquad" else [])
        for case in CASES
        for law in laws_of(case)
    ],
)
def test_law(case, law):
    """Every function obeys the laws."""
    LAWS[law](case)


def test_every_function_has_a_case():
    """What is said to differentiate is held to it."""
    ad.grad(np.sin)(1.0)
    names = {name for name, answer in REPLACEMENTS["scipy.integrate"].items() if answer.kind == "differentiates"}
    assert names - {case.name.split()[0].strip(",") for case in CASES} == set()
    public = {name for name in si.__all__ if name[0] != "_" and not hasattr(getattr(si, name), "__path__")}
    modules = {"lsoda", "vode", "dop", "odepack", "quadpack"}
    assert public - set(REPLACEMENTS["scipy.integrate"]) - modules == {"IntegrationWarning", "ODEintWarning"} & public


QUICK = [case for case in CASES if not case.laws or case.name in ("solve_ivp dense", "solve_ivp events")]


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_jit(case):
    """Compiled, the value is SciPy's, and the derivative the same; at another point too."""

    def loss(*args):
        return sum(np.sum(np.abs(x) ** 2) for x in flatten(case.function(*args))[0])

    value, gradient = ad.jit(loss), ad.jit(ad.grad(loss))
    for scale in (1.0, 1.05):
        args = tuple([scale * x for x in case.args])
        np.testing.assert_allclose(value(*args), loss(*args), rtol=1e-12)
        np.testing.assert_allclose(gradient(*args), ad.grad(loss)(*args), rtol=1e-7, atol=1e-10)


CLOSED = {
    "decay": (
        lambda a, m: solve_ivp(lambda t, y: -a * y, (0, 2), [1.0], m, **TIGHT).y[0, -1],
        lambda a: np.exp(-2 * a),
    ),
    "logistic": (
        lambda a, m: solve_ivp(lambda t, y: a * y * (1 - y), (0, 2), [0.1], m, **TIGHT).y[0, -1],
        lambda a: 0.1 * np.exp(2 * a) / (1 + 0.1 * (np.exp(2 * a) - 1)),
    ),
    "oscillator": (
        lambda a, m: solve_ivp(lambda t, y: [y[1], -(a**2) * y[0]], (0, 2), [1.0, 0.0], m, **TIGHT).y[0, -1],
        lambda a: np.cos(2 * a),
    ),
}


@pytest.mark.parametrize(
    ("name", "method"),
    [(n, m) for n in CLOSED for m in ("RK45", "DOP853")] + [("logistic", m) for m in ("Radau", "BDF", "LSODA")],
)
def test_closed_forms(name, method):
    """The derivative is as accurate as the tolerances ask."""
    f, exact = CLOSED[name]
    found = ad.jvp(lambda a: f(a, method), (1.3,), (1.0,))[1]
    assert found == pytest.approx(ad.grad(exact)(1.3), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_stiff(method):
    """Two rates that are a thousand apart; a step of an explicit method would be unstable."""

    def last(a):
        matrix = np.array([[-1000.0, 999.0], [0.0, -1.0]]) * a
        return solve_ivp(lambda t, y: matrix @ y, (0, 2), [2.0, 1.0], method, t_eval=[2.0], rtol=1e-7, atol=1e-9).y[
            :, -1
        ]

    value, tangent = ad.jvp(last, (1.3,), (1.0,))
    np.testing.assert_allclose(value, np.exp(-2.6), rtol=1e-5)
    np.testing.assert_allclose(tangent, -2 * np.exp(-2.6), rtol=1e-5)


def test_stiff_and_not_linear():
    """Robertson's reactions: two methods agree with each other and with differences, though rates are 1e9 apart."""

    def last(k, method):
        def rates(t, y):
            a, b = 0.04 * y[0] - k * y[1] * y[2], 3e7 * y[1] ** 2
            return [-a, a - b, b]

        return solve_ivp(rates, (0, 4), [1.0, 0.0, 0.0], method, t_eval=[4.0], rtol=1e-7, atol=1e-10).y[:, -1]

    found = [ad.jvp(lambda k, m=m: last(k, m), (1e4,), (1.0,))[1] for m in ("Radau", "LSODA")]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    np.testing.assert_allclose(found[0], (last(1.01e4, "Radau") - last(0.99e4, "Radau")) / 200, rtol=1e-3)


def test_a_falling_ball():
    """The time when it hits the ground, its speed then, to second order."""
    when, speed = lambda g: (1 + np.sqrt(1 + 10 * g)) / g, lambda g: -np.sqrt(1 + 10 * g)
    for found, exact in ((lambda g: falling(g).t_events[0][0], when), (lambda g: falling(g).y[1, -1], speed)):
        assert found(9.8) == pytest.approx(exact(9.8))
        assert ad.grad(found)(9.8) == pytest.approx(ad.grad(exact)(9.8))
        assert ad.hessian(found)(9.8) == pytest.approx(ad.hessian(exact)(9.8))


def test_integrals_by_closed_forms():
    """Under the integral sign, at the limits, in a singular end, twice."""
    gauss = lambda a: quad(lambda x: np.exp(-a * x * x), -np.inf, np.inf)[0]  # noqa: E731
    assert ad.hessian(gauss)(1.3) == pytest.approx(0.75 * np.sqrt(np.pi) * 1.3**-2.5, rel=1e-7)
    assert ad.grad(lambda a: quad(lambda x: x ** (a - 1.5), 0, 1)[0])(1.3) == pytest.approx(-1 / 0.8**2, rel=1e-7)
    edge = lambda a: quad(lambda x: np.where(x < a, x, 0.0), 0, 2, points=[a])[0]  # noqa: E731
    assert ad.grad(edge)(1.3) == pytest.approx(1.3)
    assert ad.hessian(edge)(1.3) == pytest.approx(1.0)


def test_results_are_scipys():
    """All fields of results are there, with SciPy's values; numbers of evaluations too."""
    kept = []

    def f(a):
        kept.append(solve_ivp(decay, (0, 0.5), [1.0], args=(a,), dense_output=True, events=lambda t, y, a: y[0] - 0.7))
        return kept[-1].y[0, -1]

    plain = f(1.3)
    ad.grad(f)(1.3)
    theirs, ours = kept
    assert type(ours) is type(theirs)
    assert list(ours) == list(theirs)
    assert ours.y[0, -1] == plain
    for name in ("nfev", "njev", "nlu", "status", "message", "success"):
        assert ours[name] == theirs[name], name
    np.testing.assert_array_equal(ad.value(ours.t), theirs.t)
    np.testing.assert_array_equal(ad.value(ours.t_events[0]), theirs.t_events[0])
    np.testing.assert_array_equal(ad.value(ours.sol(TIMES)), theirs.sol(TIMES))


def test_full_output():
    """Of quad: the estimate of the error and the facts are constants."""

    def f(a):
        value, error, facts = quad(lambda x: np.exp(-a * x), 0, 1, full_output=1)
        assert facts["neval"] == 21
        return value + error

    assert ad.grad(f)(1.3) == pytest.approx(ad.grad(lambda a: (1 - np.exp(-a)) / a)(1.3))


def test_boundary_values():
    """The solution, its slope and the parameters of an equation."""
    assert ad.grad(lambda a: bent(a).sol(0.3)[0])(1.3) == pytest.approx(
        ad.grad(lambda a: np.sin(0.3 * a) / np.sin(a))(1.3), rel=1e-6
    )

    def first_frequency(a):
        x = np.linspace(0, 1, 5)
        start = np.stack([np.sin(np.pi * x), np.pi * np.cos(np.pi * x)])
        return si.solve_bvp(
            lambda x, y, k: np.array([y[1], -(k[0] ** 2) * a * y[0]]),
            lambda left, right, k: np.array([left[0], right[0], left[1] - 1.0]),
            x, start, p=[3.0], tol=1e-6,
        ).p[0]  # fmt: skip

    assert ad.grad(first_frequency)(1.3) == pytest.approx(ad.grad(lambda a: np.pi / np.sqrt(a))(1.3), rel=1e-5)


def test_nothing_traced():
    """Inside a trace, what has nothing to do with it is SciPy's own, and plain."""

    def f(a):
        found = solve_ivp(decay, (0, 1), [1.0], args=(1.0,))
        assert type(found.y) is np.ndarray
        return a * found.y[0, -1] * quad(np.exp, 0, 1)[0]

    assert ad.grad(f)(2.0) == pytest.approx(np.exp(-1) * (np.e - 1), rel=1e-3)


def test_batches_of_different_lengths():
    """Examples may take different numbers of steps, if the times are given; otherwise they are refused."""
    rates = np.array([1.0, 300.0])

    def last(a, **how):
        return solve_ivp(decay, (0, 1), [1.0], args=(a,), **how, **TIGHT).y[0, -1]

    found = ad.vmap(ad.grad(lambda a: last(a, t_eval=[0.01])))(rates)
    np.testing.assert_allclose(found, -0.01 * np.exp(-0.01 * rates), rtol=1e-5)
    with pytest.raises(ad.errors.UnsupportedError, match="t_eval="):
        ad.vmap(last)(rates)


REFUSED = {
    "tanhsinh with log": lambda a: si.tanhsinh(lambda x: -a * x, 0, 1, log=True).integral,
    "nsum is differentiated only for": lambda a: si.nsum(lambda k: 1 / k**a, np.array([1, 2]), np.inf).sum[0],
    "RK45": lambda a: si.RK45(lambda t, y: -a * y, 0, [1.0], 1).step(),
    "Radau": lambda a: si.Radau(lambda t, y: -y, 0, np.array([a]), 1).step(),
    "ode": lambda a: si.ode(lambda t, y: -a * y).set_initial_value([1.0]).integrate(1),
    "OdeSolution": lambda a: si.OdeSolution([0, a], [None]),
    "quad with a weight": lambda a: quad(np.exp, 0, a, weight="sin", wvar=1.0)[0],
    "solve_bvp with a singular": lambda a: si.solve_bvp(
        lambda x, y: a * y, lambda p, q: p - 1, [0, 1], np.ones((1, 2)), S=np.zeros((1, 1))
    ),
    "qmc_quad with log": lambda a: si.qmc_quad(lambda x: -a * x[0], [0], [1], log=True).integral,
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """By the name of SciPy's function, at the user's line, with a fix."""
    with pytest.raises(ad.errors.UnsupportedError, match=f"scipy.integrate.{name}") as caught:
        ad.grad(REFUSED[name])(1.3)
    assert "test_integrate.py" in str(caught.value)


def test_series_and_integrals_by_elements():
    """Closed forms; SciPy's result keeps its fields."""
    kept = []

    def zeta(p):
        kept.append(si.nsum(lambda k: 1 / k**p, 1, np.inf))
        return kept[-1].sum

    zeta(2.0)
    assert ad.grad(zeta)(2.0) == pytest.approx(-0.9375482543158437, rel=1e-10)
    assert ad.hessian(zeta)(2.0) == pytest.approx(1.9892802342989010, rel=1e-8)
    assert list(kept[0]) == list(kept[1])
    assert type(kept[0]) is type(kept[1])


def test_the_bridge():
    """A compiled right-hand side and an exact Jacobian: SciPy's result, in the containers of the state."""
    from adjoint.scipy import integrate

    def robertson(t, y):
        a, b = 0.04 * y["x"] - 1e4 * y["y"] * y["z"], 3e7 * y["y"] ** 2
        return {"x": -a, "y": a - b, "z": b}

    def flat(t, y):
        a, b = 0.04 * y[0] - 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return np.array([-a, a - b, b])

    def half(t, y):
        return y["x"] - 0.9

    how = {"method": "BDF", "rtol": 1e-6, "atol": 1e-9, "dense_output": True}
    theirs = solve_ivp(flat, (0, 40), [1.0, 0.0, 0.0], events=lambda t, y: y[0] - 0.9, **how)
    ours = integrate.solve_ivp(robertson, (0, 40), {"x": 1.0, "y": 0.0, "z": 0.0}, events=half, **how)
    np.testing.assert_allclose(ours.y["x"][-1], theirs.y[0, -1], rtol=1e-5)
    np.testing.assert_allclose(ours.t_events[0], theirs.t_events[0], rtol=1e-4)
    np.testing.assert_allclose(ours.y_events[0]["x"], [0.9])
    np.testing.assert_allclose(ours.sol(3.0)["x"], theirs.sol(3.0)[0], rtol=1e-4)
    assert ours.sol(np.array([1.0, 3.0]))["z"].shape == (2,)
    vector = integrate.solve_ivp(flat, (0, 40), [1.0, 0.0, 0.0], **how)
    np.testing.assert_allclose(vector.y[:, -1], theirs.y[:, -1], rtol=1e-4)


def test_the_bridge_sparse_and_differentiated():
    """A long state with a sparse Jacobian; and through a derivative."""
    from adjoint.scipy import integrate

    def heat(t, u):
        return 100.0 * np.concatenate([[0.0], u[2:] - 2 * u[1:-1] + u[:-2], [0.0]])

    u = np.sin(np.linspace(0, np.pi, 120))
    ours, theirs = [f(heat, (0, 0.1), u, method="BDF") for f in (integrate.solve_ivp, solve_ivp)]
    np.testing.assert_allclose(ours.y[:, -1], theirs.y[:, -1], atol=1e-3)
    found = ad.grad(
        lambda g: integrate.solve_ivp(lambda t, y: {"x": y["v"], "v": -g}, (0, 1), {"x": 1.0, "v": 0.0}).y["x"][-1]
    )
    assert found(9.8) == pytest.approx(-0.5)


def test_sampled_places():
    """The case of one point, and SciPy's errors."""
    assert ad.vjp(lambda y: si.cumulative_trapezoid(y, dx=1.0, initial=0), np.ones(1))[0].tolist() == [0.0]
    with pytest.raises(ValueError, match="strictly increasing"):
        ad.grad(lambda a: np.sum(si.cumulative_simpson(a * np.ones(3), x=[0.0, 0.0, 1.0])))(float(RATE))
