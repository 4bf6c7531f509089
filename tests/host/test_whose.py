"""Whose code it is: the answer follows from a module's name and its global names, not from its folder."""

import json.decoder  # noqa: F401  (so that it is there)
import sys
import types

import numpy as np
import pandas  # noqa: F401
import pytest
import scipy.special  # noqa: F401

import adjoint as ad
from adjoint.host.frames.ownership import Owner, owner_of, owner_of_module, takes_handles


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("adjoint.core.traced", Owner.OURS),
        ("numpy.linalg", Owner.LIBRARY),
        ("scipy.special._logsumexp", Owner.LIBRARY),
        ("pandas.core.frame", Owner.COMPILED),
        ("json.decoder", Owner.PYTHON),
        ("builtins", Owner.PYTHON),
        ("_pytest.fixtures", Owner.INSTALLED),
        (__name__, Owner.USER),
        ("a_module_that_nobody_knows", Owner.USER),
    ],
)
def test_owners(name, owner):
    """Every kind of module, by its name."""
    assert owner_of_module(name) is owner


@pytest.mark.parametrize("place", ["/home/somebody", "/usr/lib/python3/site-packages"])
def test_what_computes_with_numpy_is_the_users(place):
    """Also where its name is one of Python's, and wherever it is; NumPy's functions by name are enough."""
    for names in ({"np": np}, {"zeros": np.zeros}, {"exp": np.exp}, {"table": np.ones(2)}):
        for name in ("some_package.models", "profile"):
            module = {"__name__": name, "__file__": f"{place}/{name}.py", **names}
            assert owner_of(module) is Owner.USER
            assert takes_handles(module)


def test_an_extension_module_makes_a_package_compiled(monkeypatch):
    """From its import on, all modules of the package have plain arrays; earlier answers are forgotten."""
    names = {"__name__": "package_of_this_test.models", "np": np}
    assert owner_of(names) is Owner.USER
    extension = types.ModuleType("package_of_this_test.quick")
    extension.__file__ = "quick.cpython-311-x86_64-linux-gnu.so"
    monkeypatch.setitem(sys.modules, extension.__name__, extension)
    assert owner_of(names) is Owner.COMPILED
    assert not takes_handles(names)


def test_messages_name_the_users_line_not_pythons():
    """An error inside the standard library is reported where the user's code called it."""
    import fractions

    with pytest.raises(ad.AdjointError) as caught:
        ad.grad(lambda x: fractions.Fraction(x) * x)(1.0)
    assert "at test_whose.py" in str(caught.value)
