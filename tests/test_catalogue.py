"""How many functions can be differentiated: each is called by its plain name, in every mode, and counted."""

import warnings
from collections import defaultdict

import numpy as np
import pytest
import scipy.linalg
import scipy.special  # noqa: F401

import adjoint as ad
from adjoint.core.batch import BatchTrace
from adjoint.core.forward import ForwardTrace
from adjoint.core.reverse import ReverseTrace
from adjoint.core.traced import Traced
from adjoint.core.tree import flatten
from adjoint.numpy.dispatch import protocols  # noqa: F401 - gives handles the hooks that are counted
from adjoint.numpy.dispatch.registry import FUNCTIONS
from adjoint.numpy.patching.constructors import MAKERS
from adjoint.testing.check import random_like
from tests.cases import moving
from tests.cases.catalogue import every_entry, universal_functions
from tests.cases.constants import CONSTANT, QUESTIONS

MODES = {ReverseTrace: "reverse", ForwardTrace: "forward", BatchTrace: "batch"}
ASKED = 300
FILES = ("save", "savetxt", "savez", "savez_compressed")
"""They write the values, whatever trace those are in."""


@pytest.fixture(scope="module")
def counted():
    """The names of the functions that met a traced value: by mode, and in any table of cases."""
    seen = defaultdict(set)
    ufunc_hook, function_hook = Traced.__array_ufunc__, Traced.__array_function__

    def note(x, name):
        while isinstance(x, Traced):
            seen[MODES.get(type(x.traced_by))].add(name)
            x = x.value

    def on_ufunc(self, ufunc, method, *inputs, **kwargs):
        note(self, f"ufunc {ufunc.__name__}" + ("" if method == "__call__" else f".{method}"))
        return ufunc_hook(self, ufunc, method, *inputs, **kwargs)

    def on_function(self, function, types, args, kwargs):
        note(self, f"{function.__module__}.{function.__name__}")
        return function_hook(self, function, types, args, kwargs)

    Traced.__array_ufunc__, Traced.__array_function__ = on_ufunc, on_function
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for entry in every_entry():
                function, args = entry.function, entry.args
                value, pullback = ad.vjp(function, *args)
                pullback(random_like(value, np.random.default_rng(0)))
                ad.jvp(function, args, args)
                ad.vmap(function)(*[np.stack([a, a]) for a in args])
            modes = {mode: set(names) for mode, names in seen.items()}
            for case in moving.NO_BATCH:
                ad.vjp(case.function, *case.args)
            for function in (*CONSTANT.values(), *QUESTIONS.values()):
                ad.vjp(lambda x, f=function: (f(x), x)[1], moving.LINE)
            for function in CONSTANT.values():
                ad.vmap(function)(np.stack([moving.LINE, moving.LINE * 0.5]))
        yield {**modes, "any": set().union(*seen.values())}
    finally:
        Traced.__array_ufunc__, Traced.__array_function__ = ufunc_hook, function_hook


@pytest.mark.parametrize("mode", ["reverse", "forward", "batch"])
def test_how_many_functions(counted, mode):
    """At least 300 public functions, called through their plain names, in each mode."""
    assert len(counted[mode]) >= ASKED, sorted(counted[mode])


def test_every_composition_has_a_case(counted):
    """A function of the NumPy face that no law is run on is noticed."""
    known = {f"{f.__module__}.{f.__name__}" for f in FUNCTIONS}
    missing = known - counted["any"] - {f"numpy.{name}" for name in (*MAKERS, *FILES)}
    assert missing == set(), "no case: add one for each of these to the file of its topic in tests/cases/"


def test_no_mode_is_left_behind(counted):
    """What one mode can do, the others can do: rule tables that drift apart would show here."""
    assert counted["reverse"] == counted["forward"]
    assert counted["reverse"] - counted["batch"] == set()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("reshaped", [lambda x: x[0], lambda x: np.resize(x, 5000)], ids=["number", "large"])
def test_reverse_is_the_adjoint_of_forward_at_every_size(reshaped):
    """Of large arrays the trace keeps only what a rule asks for, so no rule may ask for more than it says."""
    for entry in universal_functions(lambda x: np.asarray(reshaped(x))):
        function, args = entry.function, entry.args
        value, pullback = ad.vjp(function, *args)
        leaves, rebuild = flatten(value)
        pulled = pullback(rebuild([np.ones(np.shape(v), np.asarray(v).dtype) for v in leaves]))
        pushed = flatten(ad.jvp(function, args, args)[1])[0]
        want = sum(np.sum(np.real(t)) for t in pushed)
        found = sum(np.sum(c * x) for c, x in zip(pulled, args, strict=True))
        np.testing.assert_allclose(found, want, rtol=1e-8, atol=1e-9)  # x / y does not change along (x, y)
