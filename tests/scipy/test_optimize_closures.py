"""Solvers inside differentiated functions: where traced values may be, nesting, loops, programs, batches."""

import functools
import types
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import quad
from scipy.optimize import brentq, curve_fit, lsq_linear, minimize, minimize_scalar, newton, root
from scipy.sparse.linalg import aslinearoperator

import adjoint as ad
from adjoint import errors

WEIGHTS = np.array([1.0, 2.0, 3.0])


class Model:
    """An object that holds a traced value in a list in a dict."""

    def __init__(self, a):
        self.parts = {"w": [a, 2.0 * a]}

    def equation(self, x):
        """The equation of sqrt(2 a)."""
        return x * x - self.parts["w"][1]

    def __call__(self, x):
        """The equation of sqrt(a)."""
        return x * x - self.parts["w"][0]


@dataclass(frozen=True)
class Frozen:
    """A frozen dataclass."""

    a: float

    def equation(self, x):
        """The equation of sqrt(a)."""
        return x * x - self.a


class Slotted:
    """An object without a dict."""

    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a

    def equation(self, x):
        """The equation of sqrt(a)."""
        return x * x - self.a


class Hidden:
    """An object whose slot has a name that only its class can say."""

    __slots__ = ("__a",)

    def __init__(self, a):
        self.__a = a

    def equation(self, x):
        """The equation of sqrt(a)."""
        return x * x - self.__a


def by_keyword(a):
    """The default of a keyword."""

    def equation(x, *, q=a):
        return x * x - q

    return brentq(equation, 0.0, 9.0)


def changed_later(a):
    """What happens to variables, lists and arrays after the call is not seen."""
    k, several, array = a, [a], np.zeros(2)
    array[1] = a
    root = brentq(lambda x: 3.0 * x * x - k - several[0] - array[1], 0.0, 9.0)
    k, array[1] = 7.0, 100.0
    several.append(k)
    return root + 0.0 * array[0]


def in_a_loop(a):
    """Every equation has the k of its own round."""
    return sum([brentq(lambda x: x * x - a * k, 0.0, 20.0) for k in (1.0, 4.0)]) / 3.0


def recursive(a):
    """A function that calls itself."""

    def equation(x, n):
        return x * x - a if n == 0 else equation(x, n - 1)

    return brentq(lambda x: equation(x, 3), 0.0, 9.0)


def nested(a):
    """A solver inside the function of a solver."""

    def outer(x):
        return brentq(lambda y: y**3 - a * x, 0.0, 30.0) - a**0.5

    return brentq(outer, 0.01, 20.0)


PLACES = {
    "closure": lambda a: brentq(lambda x: x * x - a, 0.0, 9.0),
    "args": lambda a: brentq(lambda x, q: x * x - q, 0.0, 9.0, args=(a,)),
    "default": lambda a: brentq(lambda x, q=a: x * x - q, 0.0, 9.0),
    "keyword": by_keyword,
    "partial": lambda a: brentq(functools.partial(lambda q, x: x * x - q, a), 0.0, 9.0),
    "method": lambda a: brentq(Model(0.5 * a).equation, 0.0, 9.0),
    "object": lambda a: brentq(Model(a), 0.0, 9.0),
    "frozen": lambda a: brentq(Frozen(a).equation, 0.0, 9.0),
    "slots": lambda a: brentq(Slotted(a).equation, 0.0, 9.0),
    "private slots": lambda a: brentq(Hidden(a).equation, 0.0, 9.0),
    "global": lambda a: brentq(lambda x: 2.0 * x * x - a * WEIGHTS[1], 0.0, 9.0),
    "jitted": lambda a: brentq(ad.jit(lambda x: x * x - a), 0.0, 9.0),
    "gradient": lambda a: brentq(ad.grad(lambda x: x**3 / 3.0 - a * x), 0.1, 9.0),
    "branch": lambda a: brentq(lambda x: x * x - a if x > 1.0 else x - 1.0, 0.2, 9.0),
    "changed later": changed_later,
    "loop": in_a_loop,
    "recursive": recursive,
    "nested": nested,
    "result": lambda a: minimize(lambda x: (x[0] ** 2 - a) ** 2, [1.0], tol=1e-12).x[0],
    "checkpoint": lambda a: ad.checkpoint(lambda b: brentq(lambda x: x * x - b, 0.0, 9.0))(a),
    "cond": lambda a: ad.cond(a > 0.0, lambda b: brentq(lambda x: x * x - b, 0.0, 9.0), lambda b: b, a),
}


@pytest.mark.parametrize("f", PLACES.values(), ids=PLACES.keys())
def test_a_traced_value_may_be_anywhere(f):
    """Every one of these is the square root: value, both modes, second order, batch, program."""
    a, other = 2.0, 2.9
    slope, curvature = 0.5 / np.sqrt(a), -0.25 * a**-1.5
    np.testing.assert_allclose(ad.value_and_grad(f)(a), (np.sqrt(a), slope), rtol=1e-6)
    np.testing.assert_allclose(ad.jvp(f, (a,), (1.0,)), (np.sqrt(a), slope), rtol=1e-6)
    np.testing.assert_allclose(ad.grad(ad.grad(f))(a), curvature, rtol=1e-5)
    np.testing.assert_allclose(ad.vmap(ad.grad(f))(np.array([a, other])), 0.5 / np.sqrt([a, other]), rtol=1e-6)
    compiled = ad.jit(ad.value_and_grad(f))
    for x in (a, other):
        np.testing.assert_allclose(compiled(x), (np.sqrt(x), 0.5 / np.sqrt(x)), rtol=1e-6)


def test_in_the_body_of_scan():
    """A solver in a loop that is captured once runs at every step, with derivatives."""

    def looped(a):
        return ad.scan(lambda c, x: (brentq(lambda r: r * r - c * x, 0.0, 99.0),) * 2, a, WEIGHTS)[0]

    def closed(a):
        for x in WEIGHTS:
            a = np.sqrt(a * x)
        return a

    for f in (looped, ad.jit(looped)):
        np.testing.assert_allclose(ad.value_and_grad(f)(2.0), ad.value_and_grad(closed)(2.0), rtol=1e-8)


def test_scan_has_no_derivative_where_there_is_none():
    """A loop must not branch, so nan comes out; where that is seen, the reason is looked for."""

    def looped(a):
        def body(c, x):
            return brentq(lambda r: r * r - c * x, 0.0, 99.0, maxiter=2, disp=False), x

        return ad.scan(body, a, WEIGHTS)[0]

    with pytest.raises(errors.NotDifferentiableError, match="did not arrive"):
        ad.jvp(looped, (2.0,), (1.0,))


STATE = {"k": 1.0}


def test_what_changes_before_the_sweep_back_is_not_seen():
    """Global variables and what they hold are as they were when the solver was called."""

    def f(a):
        STATE["k"] = 2.0
        root = brentq(lambda x: x - a * STATE["k"], 0.0, 99.0)
        STATE["k"] = 7.0
        return root

    assert ad.value_and_grad(f)(3.0) == (6.0, 2.0)


def test_functions_may_count_and_collect():
    """Functions see variables and lists of the user's own while the solver runs."""
    calls, seen = 0, []

    def equation(x, a):
        nonlocal calls
        calls += 1
        seen.append(x)
        return x * x - a

    ad.grad(lambda a: brentq(equation, 0.0, 9.0, args=(a,)))(2.0)
    assert calls >= len(seen) > 5


def test_what_functions_keep_belongs_to_one_run():
    """Results that are kept from one evaluation to the next are not those of other values, runs or derivatives."""

    def kept(a):
        state = []

        def equation(x):
            if not state:
                state.append(2.0 * a)
            return x * x - state[0]

        return brentq(equation, 0.0, 9.0, xtol=1e-14)

    def known(a):
        results = {}

        def equation(x):
            if x not in results:
                results[x] = x * x - 2.0 * a
            return results[x]

        return brentq(equation, 0.0, 9.0, xtol=1e-14)

    for f in (kept, known):
        numbers = np.array([2.0, 3.0, 5.0])
        jitted, both = ad.jit(f), ad.jit(ad.grad(f))
        np.testing.assert_allclose([jitted(a) for a in numbers], np.sqrt(2.0 * numbers), rtol=1e-12)
        np.testing.assert_allclose(ad.vmap(f)(numbers), np.sqrt(2.0 * numbers), rtol=1e-12)
        np.testing.assert_allclose([ad.grad(f)(a) for a in numbers], 1.0 / np.sqrt(2.0 * numbers), rtol=1e-9)
        np.testing.assert_allclose([both(a) for a in numbers], 1.0 / np.sqrt(2.0 * numbers), rtol=1e-9)
        np.testing.assert_allclose(ad.jvp(f, (2.0,), (1.0,))[1], 0.5, rtol=1e-9)


def _last(a):
    seen = []
    minimize(lambda x: (x[0] - a) ** 2, [0.0], callback=lambda x: seen.append(x.copy()))
    return seen[-1][0]


def _written(a):
    last = np.zeros(1)

    def equation(x):
        last[0] = x
        return x**2 - a

    brentq(equation, 0.0, 9.0)
    return last[0]


def _kept(a):
    state = []

    def equation(x):
        if not state:
            state.append(2.0 * a)
        return x - state[0]

    return equation(brentq(equation, 0.0, 9.0) + 1.0)


def _in_a_loop(a):
    best, total = {"x": 0.0}, 0.0
    for _ in range(2):
        total = total + best["x"]

        def equation(x):
            best["x"] = x
            return x**2 - a

        brentq(equation, 0.0, 9.0)
    return total


@pytest.mark.parametrize("f", [_last, _written, _kept, _in_a_loop])
def test_what_functions_collect_is_not_gone_on_with(f):
    """They collect plain numbers: a derivative would be lost, and a program would repeat those of the first run."""
    for run in (ad.grad(f), ad.jit(f), ad.jit(ad.grad(f))):
        with pytest.raises(errors.ImpureError, match="used after the call"):
            run(2.0)


def test_counts_are_not_gone_on_with_in_programs():
    """A derivative may take the number of evaluations for a constant; a program would repeat that of its first run."""

    def f(a):
        count = 0

        def equation(x):
            nonlocal count
            count += 1
            return x**2 - a

        return brentq(equation, 0.0, 9.0) * count

    np.testing.assert_allclose(ad.grad(f)(2.0), f(2.0) / 4.0, rtol=1e-9)
    with pytest.raises(errors.ImpureError, match="used after the call"):
        ad.jit(f)(2.0)
    with pytest.raises(errors.ImpureError, match="used after the call"):
        ad.vmap(f)(np.array([2.0, 3.0]))


def test_covariance_of_a_fit():
    """That of a straight line, in closed form: it goes with the square of the noise."""
    t, noise = np.linspace(0.0, 1.0, 8), np.array([1.0, -2.0, 0.5, 1.5, -1.0, 0.3, -0.7, 0.4])

    def variance(a):
        return curve_fit(lambda t, k, c: k * t + c, t, 2.0 * t + a * noise)[1][0, 0]

    np.testing.assert_allclose(ad.grad(variance)(0.1), 2.0 * variance(0.1) / 0.1, rtol=1e-5)
    np.testing.assert_allclose(ad.jit(ad.grad(variance))(0.1), 2.0 * variance(0.1) / 0.1, rtol=1e-5)


def test_third_derivative():
    """Nested modes, and a Taylor series."""
    f = PLACES["closure"]
    np.testing.assert_allclose(ad.derivative(f, 3)(2.0), 0.375 * 2.0**-2.5, rtol=1e-8)


def test_starting_points_have_no_derivative():
    """Neither have brackets, tolerances and initial guesses."""
    assert ad.grad(lambda a: newton(lambda x: x * x - 3.0, a))(2.0) == 0.0
    assert ad.grad(lambda a: brentq(lambda x: x * x - 3.0, 0.0 * a, 9.0 * a, xtol=1e-12 * a))(2.0) == 0.0


def test_solver_in_a_solver():
    """The minimum over p of the minimum over x, in closed form."""

    def inner(p, a):
        return minimize(lambda x: (x[0] - p * a) ** 2 + x[0] ** 2, [0.0], tol=1e-10).fun

    def outer(a):
        return minimize_scalar(lambda p: inner(p, a) + (p - 1.0) ** 2, tol=1e-12).x

    def closed(a):
        return 2.0 / (2.0 + a * a)

    for f, g in ((outer, closed), (ad.grad(outer), ad.grad(closed))):
        np.testing.assert_allclose(f(1.3), g(1.3), rtol=1e-5)
        np.testing.assert_allclose(ad.jit(f)(1.3), g(1.3), rtol=1e-5)


def test_a_program_meets_errors_anew():
    """A bracket without a change of sign raises at the call that has it, and at no other."""
    for f in (lambda a: brentq(lambda x: x * x - a, 0.0, 3.0),):
        for compiled in (ad.jit(f), ad.jit(ad.grad(f))):
            for _ in range(2):
                with pytest.raises(ValueError, match="different signs"):
                    compiled(100.0)
                compiled(2.0)


def test_outcomes_are_decisions_of_a_program():
    """A program that was recorded for a success is not run where there is none."""

    def f(a):
        found = minimize(lambda x: (x[0] - a) ** 4, [0.0], options={"maxiter": 3})
        return found.x[0] if found.success else -1.0

    compiled = ad.jit(f)
    for a in (1e-3, 50.0, 1e-3):
        np.testing.assert_allclose(compiled(a), f(a))


REFUSED = {
    "multiple": (lambda a: minimize(lambda x: (x[0] + x[1] - a) ** 2, [0.0, 0.0]).x[0], "singular"),
    "kink": (lambda a: minimize(lambda x: np.abs(x[0] - a), [0.0], method="Nelder-Mead").x[0], "singular"),
    "given up": (lambda a: brentq(lambda x: x * x - a, 0.0, 5.0, maxiter=3, disp=False), "did not arrive"),
    "few steps": (
        lambda a: minimize(
            lambda x: a * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2, [-2.0, 1.0], options={"maxiter": 2}
        ).x[0],
        "did not arrive|singular",
    ),
    "on a bound": (lambda a: minimize(lambda x: (x[0] - a) ** 2, [3.0], bounds=[(2.0, None)]).x[0], "hold it back"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("f", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_what_has_no_derivative_is_refused(f, text):
    """By both modes and in programs; the value alone is as ever."""
    ad.jit(f)(2.0)
    for derivative in (ad.grad(f), ad.derivative(f), ad.jit(ad.grad(f))):
        with pytest.raises(errors.NotDifferentiableError, match=text):
            derivative(2.0)


def test_messages():
    """Word by word, but for the line of the user's."""
    with pytest.raises(errors.NotDifferentiableError) as caught:
        ad.grad(REFUSED["given up"][0])(2.0)
    what, where, *rest = str(caught.value).splitlines()
    assert what == "scipy.optimize.brentq did not arrive at a solution, so the solution has no derivative."
    assert where.startswith("  at test_optimize_closures.py:")
    assert rest == [
        "  got a point from which Newton's step is longer than 0.001 (1 + |x|)",
        "  Raise the number of iterations, lower the tolerance, or begin closer to the solution;",
        "    at a kink, smooth the function. If no derivative is wanted, use  ad.stop_gradient.",
    ]
    with pytest.raises(errors.NotDifferentiableError) as caught:
        ad.grad(REFUSED["multiple"][0])(2.0)
    what, where, *rest = str(caught.value).splitlines()
    assert what.startswith(
        "The solution of scipy.optimize.minimize has no derivative: the Jacobian of its equation is "
    )
    assert rest == [
        "  got a solution that is not isolated, or a multiple root",
        "  Use  ad.stop_gradient  for the solution, or add what makes it unique.",
    ]


class Holder:
    """A class whose attribute is no part of any object."""

    value = 0.0


def test_a_value_that_cannot_be_followed_is_refused():
    """As one in an attribute of a class: never a number without its derivative."""

    def f(a):
        Holder.value = a
        return brentq(lambda x: x * x - Holder.value, 0.0, 9.0)

    with pytest.raises(errors.UnsupportedError, match="cannot be followed"):
        ad.grad(f)(2.0)
    Holder.value = 0.0


def test_active_bounds_move_the_minimum():
    """Held coordinates move with their bound, the others with the rest."""

    def f(a):
        return minimize(
            lambda x: (x[0] - 5.0) ** 2 + (x[1] - x[0] * a) ** 2, [0.0, 0.0], bounds=[(None, a), (None, None)]
        ).x

    found = ad.jacobian(f)(2.0)
    np.testing.assert_allclose(found, [1.0, 4.0], rtol=1e-4)


def test_nothing_to_solve():
    """An empty batch, and no unknowns."""
    assert ad.vmap(lambda a: brentq(lambda x: x * x - a, 0.0, 9.0))(np.zeros(0)).shape == (0,)
    assert ad.grad(lambda a: np.sum(root(lambda x: x - a, np.ones(0)).x) + a)(2.0) == 1.0


def test_matrices_of_every_kind():
    """Dense, sparse, and known by their products."""
    for a in (np.eye(2), sparse.csr_array(np.eye(2)), aslinearoperator(np.eye(2))):
        assert ad.grad(lambda b: np.sum(lsq_linear(a, b * np.ones(2)).x))(3.0) == pytest.approx(2.0)


def test_results_keep_their_fields():
    """They are SciPy's, and print."""
    seen = []

    def f(a):
        seen.append(minimize(lambda x: (x[0] - a) ** 2 + a, [0.0]))
        return seen[-1].fun + seen[-1]["x"][0] + seen[-1].get("jac")[0]

    np.testing.assert_allclose(ad.grad(f)(2.0), 2.0, rtol=1e-6)
    plain = minimize(lambda x: (x[0] - 2.0) ** 2 + 2.0, [0.0])
    assert set(plain) == set(seen[0])
    assert "success: True" in repr(seen[0])
    assert isinstance(seen[0], type(plain))


class Settings:
    """An object of the user's own, without traced values in it."""

    k = 0.0

    def equation(self, t, x):
        """With an attribute that changes from call to call."""
        return t**3 - x * self.k


@pytest.mark.parametrize("how", ["closure", "method", "integral"])
def test_attributes_that_change_later(how):
    """The derivative is that of the call as it was: the sweep back comes after the last change."""

    def f(x):
        settings, total = Settings(), 0.0
        for k in (1.0, 2.0, 3.0):
            settings.k = k
            if how == "closure":
                total = total + brentq(lambda t: t**3 - x * settings.k, 0.0, 10.0)
            elif how == "method":
                total = total + brentq(settings.equation, 0.0, 10.0, args=(x,))
            else:
                total = total + quad(lambda t: (x * settings.k) ** (1 / 3) * 2.0 * t, 0.0, 1.0)[0]
        return total

    wanted = sum([k ** (1 / 3) for k in (1.0, 2.0, 3.0)]) * 2.0 ** (-2 / 3) / 3.0
    for derivative in (ad.grad(f), ad.jit(ad.grad(f)), lambda x: ad.jvp(f, (x,), (1.0,))[1]):
        assert derivative(2.0) == pytest.approx(wanted, rel=1e-9)


class Notes:
    """An object that a function writes to."""

    def __init__(self, a=0.0):
        self.a, self.last = a, 0.0

    def miss(self, x):
        """What is solved, and what it keeps."""
        self.last = x
        return x * x - self.a


LAST, TABLE = 0.0, {"last": 0.0}


def by_attribute(a, notes=None):
    notes = notes or Notes()

    def miss(x):
        notes.last = x
        return x * x - a

    return brentq(miss, 0.0, 9.0) + notes.last


def by_large_array(a):
    buffer = np.zeros(5000)

    def miss(x):
        buffer[0] = ad.value(x)
        return x * x - a

    return brentq(miss, 0.0, 9.0) + buffer[0]


def by_object_with_a_traced_value(a):
    notes = Notes(a)
    return brentq(notes.miss, 0.0, 9.0) + notes.last


def by_list_with_a_traced_value(a):
    seen = [a]

    def miss(x):
        seen.append(x)
        return x * x - seen[0]

    return brentq(miss, 0.0, 9.0) + seen[-1]


def by_namespace(a):
    return by_attribute(a, types.SimpleNamespace(last=0.0))


def by_function(a):
    def miss(x):
        miss.last = x
        return x * x - a

    return brentq(miss, 0.0, 9.0) + miss.last


def by_global(a):
    def miss(x):
        global LAST
        LAST = x
        return x * x - a

    return brentq(miss, 0.0, 9.0) + LAST


def by_global_table(a):
    def miss(x):
        TABLE["last"] = x
        return x * x - a

    return brentq(miss, 0.0, 9.0) + TABLE["last"]


WRITING = {f.__name__: f for f in (by_attribute, by_large_array, by_object_with_a_traced_value, by_namespace)} | {
    f.__name__: f for f in (by_list_with_a_traced_value, by_function, by_global, by_global_table)
}


@pytest.mark.parametrize("name", WRITING)
def test_what_a_function_writes_is_not_read_later(name):
    """Wherever it is kept, it is a plain number, or lost with a copy: neither a slope nor a program follows it."""
    f = WRITING[name]
    assert f(2.0) == pytest.approx(2.0 * np.sqrt(2.0))
    for transformed in (ad.grad(f), ad.jit(f), ad.jit(ad.grad(f))):
        with pytest.raises(errors.ImpureError, match="is used after the call"):
            transformed(2.0)


def test_what_is_written_and_never_read_is_no_matter():
    """An attribute that is only set, one that only counts, and another one that is read."""
    notes = types.SimpleNamespace(shift=1.0, count=0, shown=None)

    def f(a):
        def miss(x):
            notes.count += 1
            notes.shown = x
            return x * x - a

        return brentq(miss, 0.0, 9.0) + notes.shift

    assert ad.grad(f)(2.0) == pytest.approx(0.5 / np.sqrt(2.0))
