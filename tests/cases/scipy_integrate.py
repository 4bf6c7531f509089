"""SciPy's integrals and differential equations."""

import numpy as np
import scipy.integrate as si
from scipy.stats import qmc

from adjoint.testing.laws import LAWS, Case

rng = np.random.default_rng(5)

SAMPLES = rng.normal(size=(2, 5))
PLACES = np.cumsum(rng.uniform(0.2, 1.0, size=5))
RATE = np.array(1.3)
TIMES = np.array([0.1, 0.4, 0.5])
TIGHT = {"rtol": 1e-9, "atol": 1e-11}
FIRST = ("value", "tangent", "adjoint", "linearize")
"""For what takes long: an integral for each derivative."""


def decay(t, y, a):
    return -a * y


def swing(t, y, a, b):
    return [y[1], -a * y[0] - b * y[1]]


def falling(g):
    def ground(t, y):
        return y[0]

    ground.terminal = True
    return si.solve_ivp(lambda t, y: [y[1], -g], (0.0, 9.0), [5.0, 1.0], events=ground, **TIGHT)


def bent(a):
    x = np.linspace(0.0, 1.0, 4)
    return si.solve_bvp(
        lambda x, y: np.array([y[1], -(a**2) * y[0]]),
        lambda left, right: np.array([left[0], right[0] - 1.0]),
        x,
        np.ones((2, 4)),
        tol=1e-8,
    )


SAMPLED = [
    Case("trapezoid", lambda y, x: si.trapezoid(y, x), (SAMPLES, PLACES)),
    Case("simpson", lambda y, x: si.simpson(y, x=x), (SAMPLES, PLACES)),
    Case("simpson, even", lambda y: si.simpson(y[:, :4], dx=0.3), (SAMPLES,)),
    Case("romb", lambda y: si.romb(y, dx=0.1), (SAMPLES,)),
    Case("cumulative_trapezoid", lambda y, x: si.cumulative_trapezoid(y, x, initial=0), (SAMPLES, PLACES)),
    Case("cumulative_trapezoid, columns", lambda y: si.cumulative_trapezoid(y, dx=0.3, axis=0), (SAMPLES,)),
    Case("cumulative_simpson", lambda y, x: si.cumulative_simpson(y, x=x), (SAMPLES, PLACES)),
    Case("cumulative_simpson, even", lambda y: si.cumulative_simpson(y[:, :4], dx=0.3, initial=1.5), (SAMPLES,)),
    Case("cumulative_simpson, short", lambda y: si.cumulative_simpson(y, dx=0.3, axis=0), (SAMPLES,)),
    Case("newton_cotes", lambda a: si.newton_cotes(np.array([0.0, 1.0, 2.0, 3.0]) + a * np.array([0, 1, -1, 0]))[0],
         (np.array(0.2),), tuple([law for law in LAWS if law != "stacking"])),
    Case("fixed_quad", lambda a, b: si.fixed_quad(lambda x: np.exp(-a * x), a, b)[0], (RATE, np.array(2.0))),
]  # fmt: skip

INTEGRALS = [
    Case("quad", lambda a: si.quad(lambda x: np.exp(-a * x), 0, 1)[0], (RATE,)),
    Case("quad args", lambda a, b: si.quad(lambda x, a, b: b * np.exp(-a * x), 0, 1, args=(a, b))[0],
         (RATE, np.array(0.7))),
    Case("quad limits", lambda a, b: si.quad(lambda x: np.exp(-a * x), a / 2, b)[0], (RATE, np.array(2.0))),
    Case("quad infinite", lambda a: si.quad(lambda x: np.exp(-a * x), a, np.inf)[0], (RATE,)),
    Case("quad of a jump", lambda a: si.quad(lambda x: np.where(x < a, a * x, 1.0), 0, 2, points=[a])[0], (RATE,)),
    Case("quad of many", lambda p: si.quad(lambda x: np.sum(np.exp(-p * x)), 0, 1)[0], (np.arange(1.0, 6.0),)),
    Case("quad weighted", lambda a: si.quad(lambda x: np.exp(-a * x), 0, 2, weight="cos", wvar=2.0)[0], (RATE,)),
    Case("quad of a singular end", lambda a: si.quad(lambda x: x ** (a - 1.5), 0, 1)[0], (RATE,), FIRST),
    Case("quad complex", lambda a: si.quad(lambda x: np.exp(1j * a * x), 0, 2, complex_func=True)[0], (RATE,), FIRST),
    Case("quad_vec", lambda a: si.quad_vec(lambda x: np.exp(-a * x * np.arange(3.0)), 0, a)[0], (RATE,)),
    Case("dblquad", lambda a: si.dblquad(lambda y, x: np.exp(-a * x * y), 0, 1, 0, lambda x: a * x)[0], (RATE,), FIRST),
    Case("nquad", lambda a: si.nquad(lambda y, x: a * x * y**2, [[0, 1], [0, a]])[0], (RATE,), FIRST),
    Case("tplquad", lambda a: si.tplquad(lambda z, y, x: a * x * y * z, 0, 1, 0, 1, 0, 1)[0], (RATE,), ("value",)),
    Case("tanhsinh", lambda a: si.tanhsinh(lambda x: np.exp(-a * x), 0, np.inf).integral, (RATE,)),
    Case("tanhsinh of arrays", lambda a, b: si.tanhsinh(lambda x, a: np.exp(-a * x), 0.0, b, args=(a,)).integral,
         (np.array([1.0, 2.0]), np.array([0.5, 0.7])), FIRST),
    Case("nsum", lambda a: si.nsum(lambda k: k ** (-2 * a), 1, np.inf).sum, (RATE,)),
    Case("nsum finite", lambda a: si.nsum(lambda k, a: k**-a, 1, 9, args=(a,)).sum, (np.array([1.0, 2.0]),), FIRST),
    Case("cubature", lambda a: si.cubature(lambda x: np.exp(-a * x[:, 0]), [0.0], [1.0]).estimate, (RATE,)),
    Case("qmc_quad", lambda a: si.qmc_quad(lambda x: np.exp(-a * x[0]), [0.0], np.array([1.0]) * a, n_estimates=2,
         n_points=16, qrng=qmc.Halton(1, seed=np.random.default_rng(0))).integral, (RATE,),
         ("tangent", "adjoint", "orders")),
]  # fmt: skip

EQUATIONS = [
    Case("solve_ivp", lambda a: si.solve_ivp(lambda t, y: -a * y, (0, 0.5), [1.0], **TIGHT).y[:, -1], (RATE,),
         (*FIRST, "orders")),
    Case("solve_ivp args, y0, t_eval",
         lambda a, y: si.solve_ivp(swing, (0, 0.5), y, args=(a, 0.1), t_eval=TIMES, **TIGHT).y,
         (RATE, np.array([1.0, 0.3]))),
    Case("solve_ivp times", lambda s, e, t: si.solve_ivp(decay, (s, e), [1.0], t_eval=t, args=(1.3,), **TIGHT).y,
         (np.array(0.0), np.array(0.6), TIMES), FIRST),
    Case("solve_ivp end", lambda e: si.solve_ivp(decay, (0, e), [1.0], args=(1.3,), **TIGHT).y[:, -1], (RATE,)),
    Case("solve_ivp DOP853", lambda a: si.solve_ivp(decay, (0, 0.5), [1.0], "DOP853", args=(a,), **TIGHT).y[0, -1],
         (RATE,)),
    Case("solve_ivp RK23", lambda a: si.solve_ivp(decay, (0.5, 0), [1.0], "RK23", TIMES[::-1], args=(a,), **TIGHT).y,
         (RATE,), FIRST),
    Case("solve_ivp dense", lambda a, t: si.solve_ivp(decay, (0, 0.5), [1.0], dense_output=True, args=(a,),
         **TIGHT).sol(t), (RATE, TIMES), FIRST),
    Case("solve_ivp events", lambda g: (falling(g).t_events[0], falling(g).y_events[0], falling(g).y[:, -1]),
         (np.array(9.8),), FIRST),
    Case("solve_ivp Radau", lambda a: si.solve_ivp(decay, (0, 0.5), [1.0], "Radau", TIMES, args=(a,), **TIGHT).y,
         (RATE,), ("value", "tangent", "adjoint")),
    Case("solve_ivp BDF", lambda a: si.solve_ivp(decay, (0, 0.5), [1.0], "BDF", TIMES, args=(a,), **TIGHT).y,
         (RATE,), ("value", "tangent")),
    Case("solve_ivp LSODA", lambda a: si.solve_ivp(decay, (0, 0.5), [1.0], "LSODA", TIMES, args=(a,), **TIGHT).y,
         (RATE,), ("value", "tangent")),
    Case("odeint", lambda a: si.odeint(lambda y, t: -a * y, 1.0, [0.0, 0.2, 0.5]), (RATE,),
         ("value", "tangent", "adjoint")),
    Case("solve_bvp", lambda a: bent(a).y[1, 0], (RATE,), FIRST, rtol=1e-4),
]  # fmt: skip

CASES = [*SAMPLED, *INTEGRALS, *EQUATIONS]
