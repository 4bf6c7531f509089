"""scipy.optimize: the laws over a table of cases, jit, and that no function is left out."""

import numpy as np
import pytest
import scipy.optimize as so

import adjoint as ad
from adjoint.numpy.patching.replacements import REPLACEMENTS
from adjoint.testing.laws import LAWS
from tests.cases.scipy_optimize import CASES, NOISY, ROOTS

NOT_NUMBERS = {
    "BFGS", "Bounds", "BroydenFirst", "HessianUpdateStrategy", "InverseJacobian", "KrylovJacobian",
    "LbfgsInvHessProduct", "LinearConstraint", "NonlinearConstraint", "OptimizeResult", "RootResults", "SR1",
    "bracket", "check_grad", "line_search", "linprog_verbose_callback", "show_options",
}  # fmt: skip
"""Classes, and functions whose results have no derivative by their nature."""

pytestmark = pytest.mark.filterwarnings("ignore")
"""Solvers say that they lost precision, that steps are small, and so on."""


@pytest.mark.parametrize("law", ["value", "tangent", "adjoint"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_law(case, law):
    """Every solver obeys the laws of first derivatives: value, tangent equal to differences, adjoint."""
    if law in case.laws:
        LAWS[law](case)


@pytest.mark.parametrize("case", [c for c in CASES if c.name in NOISY], ids=lambda case: case.name)
def test_wide_differences(case):
    """Where the last digits of a solver jump, its tangent equals differences over a distance."""
    move = tuple([0.3 + np.cos(np.arange(np.size(a))).reshape(np.shape(a)) for a in case.args])

    def at(h):
        moved = case.function(*[a + h * m for a, m in zip(case.args, move, strict=True)])
        return np.concatenate([np.ravel(x) for x in ad.tree.leaves(moved)])

    found = ad.jvp(case.function, case.args, move)[1]
    wide, wider = (at(0.01) - at(-0.01)) / 0.02, (at(0.02) - at(-0.02)) / 0.04
    np.testing.assert_allclose(np.ravel(found), (4.0 * wide - wider) / 3.0, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("law", ["linearize", "orders", "stacking", "taylor"])
@pytest.mark.parametrize(
    "case", [c for c in CASES if c.name in ("brentq", "newton array", "root", "nnls")], ids=lambda c: c.name
)
def test_higher_law(case, law):
    """Second derivatives in all nestings, batches and Taylor series."""
    LAWS[law](case)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["linearize", "orders", "stacking", "taylor"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_higher_law(case, law):
    """The same for every solver."""
    LAWS[law](case)


def _total(case):
    return lambda *args: np.sum(np.concatenate([np.ravel(x) for x in ad.tree.leaves(case.function(*args))]) ** 2)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_jit(case):
    """A compiled program runs the solver anew for new values, and so does its gradient."""
    first, second = case.args, tuple([1.01 * a for a in case.args])
    total = _total(case)
    for f in (total, ad.grad(total)):
        compiled = ad.jit(f)
        np.testing.assert_allclose(compiled(*first), f(*first), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(compiled(*second), f(*second), rtol=1e-9, atol=1e-12)


def test_roots_need_one_recording():
    """The solver is one step of the program: other values do not make another program."""
    compiled = ad.jit(ad.grad(_total(ROOTS[0])))
    for a in (2.0, 3.0, 4.5):
        compiled(a)
    assert compiled.recordings == 1


def test_every_function_that_differentiates_has_a_case():
    """Whoever teaches one more function writes a case for it."""
    ad.grad(lambda a: so.brentq(lambda x: x - a, 0.0, 3.0))(1.0)
    known = {case.name.split()[0] for case in CASES}
    taught = {name for name, answer in REPLACEMENTS["scipy.optimize"].items() if answer.kind == "differentiates"}
    assert taught - NOT_NUMBERS - known == set()


def test_every_public_name_has_an_answer():
    """Functions and classes of scipy.optimize, as documented."""
    ad.grad(lambda a: so.brentq(lambda x: x - a, 0.0, 3.0))(1.0)
    names = {n for n in so.__all__ if callable(getattr(so, n))} - {"NoConvergence", "OptimizeWarning"}
    assert names - set(REPLACEMENTS["scipy.optimize"]) == set()
