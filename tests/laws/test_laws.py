"""The laws, for every primitive of the catalogue."""

import numpy as np
import pytest

from adjoint.core import reverse, values
from adjoint.core.quick import operators
from adjoint.ir import interpret
from adjoint.numpy.dispatch import assignment
from adjoint.ops import indexing, reduction
from adjoint.ops.declare import CATALOGUE, declare
from adjoint.rules import linear, residuals
from adjoint.rules.reducing import Reducing
from adjoint.testing import LAWS, check_case
from tests.cases.primitives import BY_HAND, CUBE, DIFFERENTIABLE, cases_of

ADD_A_CASE = (
    "no case: give each of these a line of arguments in BY_HAND of tests/cases/primitives.py, "
    "or in CASES of tests/cases/primitives_linalg.py"
)
ALL = [(law, name) for name in DIFFERENTIABLE for law in LAWS]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("law", "name"), ALL, ids=[f"{law}[{name}]" for law, name in ALL])
def test_law(law, name):
    """A law holds for a primitive."""
    for case in cases_of(CATALOGUE[name]):
        check_case(case, [law])


def test_every_primitive_has_a_case():
    """Adding a primitive without a case is noticed."""
    assert [name for name, p in DIFFERENTIABLE.items() if not cases_of(p)] == [], ADD_A_CASE


@pytest.fixture
def all_arrays_are_large(monkeypatch):
    """The short-cuts for large arrays are taken at every size."""
    for module in (values, reverse, operators, assignment, residuals, linear, indexing, reduction, interpret):
        monkeypatch.setattr(module, "LARGE", 0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.usefixtures("all_arrays_are_large")
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_laws_of_large_arrays(name):
    """The same laws hold above the size from which memory is saved."""
    for case in cases_of(CATALOGUE[name]):
        check_case(case, ["value", "adjoint", "linearize", "orders", "stacking"])


@pytest.mark.parametrize("selects", [True, False])
def test_a_sum_of_squares_selects_nothing(selects, monkeypatch):
    """Its share 2 * x is 0 at 0 and not nearby: an entry that calls it a selection does not pass the laws."""
    monkeypatch.setitem(BY_HAND, "sum_of_squares", [((CUBE,), {"axis": (-2,), "keepdims": True})])
    declare(
        "sum_of_squares",
        lambda x, *, axis, keepdims: np.add.reduce(x * x, axis=axis, keepdims=keepdims),
        Reducing(lambda out, x, *, axis, keepdims: 2 * x, selects=selects),
    )
    try:
        cases = cases_of(CATALOGUE["sum_of_squares"])
    finally:
        del CATALOGUE["sum_of_squares"]
    if selects:
        with pytest.raises(AssertionError, match=r"^orders law of sum_of_squares, zeros: "):
            [check_case(case, ["orders"]) for case in cases]
        with pytest.raises(AssertionError, match=r"^taylor law of sum_of_squares"):
            [check_case(case) for case in cases]
    else:
        [check_case(case) for case in cases]
