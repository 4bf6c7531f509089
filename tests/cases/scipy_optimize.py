"""Cases for scipy.optimize: every solver once, with traced values in arguments and in closures."""

from __future__ import annotations

import numpy as np
import scipy.optimize as so

import adjoint as ad
from adjoint.testing.laws import Case

SMOOTH = ("value", "tangent", "adjoint", "linearize", "orders", "stacking", "taylor")
"""All laws but that of single precision: solvers work in double precision."""

A = np.array([0.8, 1.3])
NUMBER = (np.float64(2.0),)
T = np.linspace(0.0, 1.0, 6)
DATA = 2.0 * np.exp(-1.3 * T) + np.array([0.02, -0.03, 0.01, 0.02, -0.01, 0.03])
MATRIX = np.array([[1.0, 0.4, -0.2], [0.3, -1.1, 0.5], [-0.7, 0.2, 0.9], [0.1, 0.8, -0.3]])
RIGHT = np.array([0.7, -0.4, 0.5, 0.9])


def square(x, a):
    """The equation of a square root."""
    return x * x - a


def bowl(x, a):
    """A function with its minimum at (a0, a0 a1)."""
    return 0.25 * (x[0] - a[0]) ** 4 + (x[0] - a[0]) ** 2 + 2.0 * (x[1] - x[0] * a[1]) ** 2


def slope(x, a):
    """The gradient of the bowl."""
    return ad.grad(bowl)(x, a)


def valley(x, a):
    """A function of one number with its minimum at a."""
    return (x - a) ** 2 + 0.1 * (x - a) ** 4 + np.sin(a)


def exponential(t, a, k):
    """A model of two parameters."""
    return a * np.exp(-k * t)


def pair(x, a):
    """Two equations whose solution is (sqrt(a), 1/sqrt(a))."""
    return np.array([x[0] * x[0] - a, x[0] * x[1] - 1.0])


NOISY = (
    "minimize jac", "minimize constraint", "fmin_ncg", "fmin_slsqp", "direct", "brute", "least_squares",
    "least_squares robust", "least_squares bounds", "leastsq", "curve_fit", "approx_fprime",
)  # fmt: skip
"""Solvers whose last digits jump, so that only wide differences say anything."""


def case(name, function, args=NUMBER, rtol=1e-5):
    """A case under the laws of smooth functions."""
    laws = tuple([law for law in SMOOTH if law != "tangent" or name not in NOISY])
    return Case(name, function, args, laws=laws, rtol=rtol)


BOX = [(-5.0, 5.0)] * 2
EXACT = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-13}

ROOTS = [
    *[
        case(name, lambda a, f=getattr(so, name): f(lambda x: square(x, a), 0.0, 9.0))
        for name in ("brentq", "brenth", "ridder", "bisect", "toms748")
    ],
    case("brentq args", lambda a: so.brentq(square, 0.0, 9.0, args=(a,), full_output=True)[1].root),
    case("newton", lambda a: so.newton(square, 1.0, args=(a,), tol=1e-13)),
    case("newton array", lambda a: so.newton(lambda x: x**3 - a, np.ones(2), tol=1e-13), (A,)),
    case("root_scalar", lambda a: so.root_scalar(square, args=(a,), bracket=[0, 5]).root),
    case("root_scalar slope", lambda a: so.root_scalar(lambda x: (x * x - a, 2 * x), x0=1.0, fprime=True).root),
    case("root", lambda a: so.root(pair, [1.0, 1.0], args=(a,), tol=1e-13).x),
    case("root lm", lambda a: so.root(lambda x: pair(x, a), [1.0, 1.0], method="lm", tol=1e-14).x),
    case("fsolve", lambda a: so.fsolve(pair, [1.0, 1.0], args=(a,), xtol=1e-13)),
    case("fixed_point", lambda a: so.fixed_point(lambda x: 0.5 * (x + a / x), 1.0, xtol=1e-13)),
    *[
        case(name, lambda a, f=getattr(so, name): f(lambda x: (a - x * x) / 3.0, A[:1], f_tol=1e-13, alpha=1.0))
        for name in ("broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing")
    ],
    case("newton_krylov", lambda a: so.newton_krylov(lambda x: x * x - a, np.array([1.3]), f_tol=1e-12)),
]

MINIMA = [
    case("minimize", lambda a: so.minimize(bowl, [1.0, 1.0], args=(a,), tol=1e-10).x, (A,)),
    case("minimize fun", lambda a: so.minimize(lambda x: bowl(x, a) + np.sum(a**2), [1.0, 1.0], tol=1e-10).fun, (A,)),
    case("minimize jac", lambda a: so.minimize(bowl, A, args=(a,), jac=slope, method="Newton-CG", tol=1e-10).x, (A,)),
    case(
        "minimize bounds",
        lambda a: so.minimize(bowl, [1.0, 0.2], args=(a,), bounds=[(None, 0.5 * a[1]), (0.0, None)], tol=1e-10).x,
        (A,),
    ),
    case(
        "minimize constraint",
        lambda a: (
            so.minimize(
                lambda x: x[0] ** 2 + 2.0 * x[1] ** 2,
                [1.0, 1.0],
                constraints=[{"type": "eq", "fun": lambda x: x[0] * a[0] + x[1] - a[1]}],
                tol=1e-12,
            ).x
        ),
        (A,),
    ),
    case("fmin", lambda a: so.fmin(bowl, A, (a,), xtol=1e-10, ftol=1e-15, disp=0), (A,)),
    case("fmin_powell", lambda a: so.fmin_powell(bowl, A, (a,), xtol=1e-10, ftol=1e-15, disp=0), (A,)),
    case("fmin_cg", lambda a: so.fmin_cg(bowl, A, slope, (a,), gtol=1e-10, disp=0), (A,)),
    case("fmin_bfgs", lambda a: so.fmin_bfgs(bowl, A, slope, (a,), gtol=1e-10, disp=0), (A,)),
    case("fmin_ncg", lambda a: so.fmin_ncg(bowl, A, slope, args=(a,), avextol=1e-12, disp=0), (A,)),
    case("fmin_l_bfgs_b", lambda a: so.fmin_l_bfgs_b(bowl, A, slope, (a,), pgtol=1e-11, factr=1.0)[0], (A,)),
    case(
        "fmin_tnc",
        lambda a: so.fmin_tnc(bowl, A, slope, (a,), messages=0, ftol=1e-16, xtol=1e-16, pgtol=1e-11, maxfun=500)[0],
        (A,),
    ),
    case(
        "fmin_slsqp",
        lambda a: so.fmin_slsqp(
            lambda x: x[0] ** 2 + 2.0 * x[1] ** 2, A, ieqcons=[lambda x: x[0] + x[1] - a], iprint=0, acc=1e-15
        ),
    ),
    case(
        "fmin_cobyla",
        lambda a: so.fmin_cobyla(
            lambda x: (x[0] - a) ** 2 + (x[1] - 1) ** 2, [1.0, 1.0], [lambda x: 9.0 - x[0]], rhoend=1e-10, catol=1e-12
        ),
    ),
    case("minimize_scalar", lambda a: so.minimize_scalar(valley, args=(a,), tol=1e-12).x),
    case("minimize_scalar fun", lambda a: so.minimize_scalar(lambda x: valley(x, a), bounds=(0, 5)).fun),
    case("brent", lambda a: so.brent(valley, args=(a,), tol=1e-12)),
    case("golden", lambda a: so.golden(valley, args=(a,), tol=1e-12)),
    case("fminbound", lambda a: so.fminbound(valley, 0.0, 5.0, args=(a,), xtol=1e-10)),
]

SEARCHES = [
    case(
        "differential_evolution",
        lambda a: so.differential_evolution(bowl, BOX, (a,), rng=1, tol=1e-8, popsize=4, maxiter=5).x,
        (A,),
    ),
    case(
        "basinhopping",
        lambda a: so.basinhopping(bowl, A, niter=1, rng=1, minimizer_kwargs={"args": (a,), "tol": 1e-10}).x,
        (A,),
    ),
    case("dual_annealing", lambda a: so.dual_annealing(bowl, BOX, (a,), rng=1, maxiter=3).x, (A,), 1e-4),
    case("shgo", lambda a: so.shgo(bowl, BOX, (a,), n=20, options={"ftol": 1e-14}).x, (A,), 1e-4),
    case("direct", lambda a: so.direct(valley_of_one, [(0.0, 5.0)], args=(a,), f_min_rtol=1e-15, len_tol=1e-9).x),
    case("brute", lambda a: so.brute(valley_of_one, [(0.0, 5.0)], (a,), Ns=5, finish=fine), NUMBER),
]  # fmt: skip


def valley_of_one(x, a):
    """The valley as a function of a vector of one number."""
    return valley(x[0], a)


def fine(f, x0, args=(), **options):
    """Polish a minimum to many digits."""
    return so.fmin(f, x0, args, xtol=1e-11, ftol=1e-15, full_output=True, disp=0)


LINEAR = [
    case(
        "least_squares",
        lambda a: so.least_squares(lambda p: exponential(T, *p) - a * DATA, [1.0, 1.0], **EXACT).x,
    ),
    case(
        "least_squares robust",
        lambda a: (
            so.least_squares(
                lambda p, a: exponential(T, p[0], p[1]) - a * DATA,
                [1.0, 1.0],
                args=(a,),
                loss="soft_l1",
                f_scale=0.1,
                **EXACT,
            ).x
        ),
    ),
    case(
        "least_squares bounds",
        lambda a: (
            so.least_squares(
                lambda p: exponential(T, p[0], p[1]) - DATA, [1.0, 0.5], bounds=([0.0, 0.0], [9.0, 0.6 * a]), **EXACT
            ).x
        ),
    ),
    case(
        "leastsq", lambda a: so.leastsq(lambda p: exponential(T, *p) - a * DATA, [1.0, 1.0], xtol=1e-13, ftol=1e-13)[0]
    ),
    case("curve_fit", lambda y: so.curve_fit(exponential, T, y, p0=[2.0, 1.0], xtol=1e-13, ftol=1e-13)[0], (DATA,)),
    case("nnls", lambda b: so.nnls(MATRIX, b)[0], (RIGHT,)),
    case("nnls matrix", lambda a: so.nnls(a, RIGHT), (MATRIX,)),
    case("lsq_linear", lambda a, b: so.lsq_linear(a, b, bounds=(-0.5, 0.4), tol=1e-14).x, (MATRIX, RIGHT)),
    case(
        "linprog",
        lambda c, b: so.linprog(c, A_ub=[[1.0, 2.0], [3.0, 1.0]], b_ub=b).x,
        (np.array([-1.0, -1.2]), np.array([4.0, 6.0])),
    ),
    case("isotonic_regression", lambda y: so.isotonic_regression(y).x, (np.array([1.0, 3.0, 2.0, 5.0, 4.5]),)),
    case("rosen", so.rosen, (np.array([1.0, 1.2, 0.7]),)),
    case("rosen_der", so.rosen_der, (np.array([1.0, 1.2, 0.7]),)),
    case("rosen_hess", so.rosen_hess, (np.array([1.0, 1.2, 0.7]),)),
    case("rosen_hess_prod", so.rosen_hess_prod, (np.array([1.0, 1.2, 0.7]), np.array([0.3, 1.0, 2.0]))),
    case("approx_fprime", lambda x: so.approx_fprime(x, lambda y: np.sum(y**3)), (A,)),
]

CASES = [*ROOTS, *MINIMA, *SEARCHES, *LINEAR]
