"""The laws, for every primitive of the catalogue."""

import numpy as np
import pytest

from adjoint.core import reverse, values
from adjoint.ir import interpret
from adjoint.ops.declare import CATALOGUE
from adjoint.rules import keeping
from adjoint.testing import LAWS, check_case

from .cases import DIFFERENTIABLE, cases_of

ALL = [(law, name) for name in DIFFERENTIABLE for law in LAWS]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("law", "name"), ALL, ids=[f"{law}[{name}]" for law, name in ALL])
def test_law(law, name):
    """A law holds for a primitive."""
    for case in cases_of(CATALOGUE[name]):
        complex_valued = any(np.iscomplexobj(a) for a in case.args)
        if law == "precision" and complex_valued:
            continue
        check_case(case, [law])


def test_every_primitive_has_a_case():
    """Adding a primitive without a case is noticed."""
    assert [name for name, p in DIFFERENTIABLE.items() if not cases_of(p)] == []


@pytest.fixture
def all_arrays_are_large(monkeypatch):
    """The short-cuts for large arrays are taken at every size."""
    for module in (values, reverse, keeping, interpret):
        monkeypatch.setattr(module, "LARGE", 0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.usefixtures("all_arrays_are_large")
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_laws_of_large_arrays(name):
    """The same laws hold above the size from which memory is saved."""
    for case in cases_of(CATALOGUE[name]):
        check_case(case, ["value", "adjoint", "linearize", "orders", "stacking"])
