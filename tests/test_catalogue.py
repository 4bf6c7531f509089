"""How many functions can be differentiated: each is called by its plain name, in every mode, and counted."""

import importlib.util
import warnings
from collections import defaultdict
from pathlib import Path

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
from adjoint.numpy import topics
from adjoint.numpy.replacements import REPLACEMENTS
from adjoint.ops import special
from adjoint.ops.declare import UFUNCS, Whole
from adjoint.rules.selecting import Selecting
from adjoint.testing import Case
from adjoint.testing.check import random_like

HERE = Path(__file__).parent
MODES = {ReverseTrace: "reverse", ForwardTrace: "forward", BatchTrace: "batch"}
ASKED = 300


def table(path, *names):
    """The cases of another test file: `Case`s, or (name, function, *arguments)."""
    spec = importlib.util.spec_from_file_location("cases_" + path.replace("/", "_").removesuffix(".py"), HERE / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in names:
        entries = getattr(module, name)
        entries = entries() if callable(entries) else entries
        for entry in entries:
            entry = entry if isinstance(entry, Case) else Case(entry[0], entry[1], tuple(entry[2:]))
            if entry.name not in getattr(module, "RAGGED", ()):  # shapes that differ between examples
                yield entry.function, entry.args


def universal_functions(reshaped=lambda x: x):
    """Every NumPy and SciPy universal function with a slope, at a point of its domain."""
    topics.load()
    special.load()
    for ufunc, primitive in UFUNCS.items():
        derivative = primitive.derivative
        if derivative.is_zero or ufunc.signature is not None:
            continue
        rules = (
            derivative.weights
            if isinstance(derivative, Selecting)
            else getattr(derivative, "partials", [True] * ufunc.nin)
        )
        domain = primitive.domain or [(-1.0, 1.0)] * ufunc.nin
        args = [reshaped(_inside(interval)) for interval in domain]
        moving = [k for k, r in enumerate(rules) if r is not None and not isinstance(domain[k], Whole)]
        if primitive.name == "ldexp":
            args[1] = reshaped(np.array([1, 2]))

        def function(*moved, ufunc=ufunc, args=args, moving=moving):
            full = list(args)
            for k, x in zip(moving, moved, strict=True):
                full[k] = x
            return ufunc(*full)

        if moving:
            yield function, tuple(args[k] for k in moving)


def _inside(interval):
    low, high = interval
    if isinstance(interval, Whole):
        return np.array([int(low), int(low)])
    if np.isfinite(low) and np.isfinite(high):
        return low + (high - low) * np.array([0.4, 0.6])
    return np.array([0.6, 0.9]) + (low if np.isfinite(low) else 0.0)


def every_case():
    yield from universal_functions()
    yield from table("numpy/test_moving.py", "EVERY_LAW")
    yield from table("numpy/test_mathematics.py", "TABLE")
    yield from table("numpy/test_statistics.py", "TABLE")
    yield from table("ops/test_linalg.py", "CASES")
    yield from table("ops/test_fourier.py", "cases")
    yield from table("scipy/test_linalg.py", "CASES")
    yield from table("scipy/test_special.py", "CASES")


@pytest.fixture(scope="module")
def counted():
    """The names of the functions that met a traced value, by mode."""
    seen = defaultdict(set)
    ufunc_hook, function_hook = Traced.__array_ufunc__, Traced.__array_function__

    def note(x, name):
        while isinstance(x, Traced):
            seen[MODES.get(type(x.walk))].add(name)
            x = x.value

    def on_ufunc(self, ufunc, method, *inputs, **kwargs):
        note(self, f"ufunc {ufunc.__name__}" + ("" if method == "__call__" else f".{method}"))
        return ufunc_hook(self, ufunc, method, *inputs, **kwargs)

    def on_function(self, function, types, args, kwargs):
        note(self, f"{function.__module__}.{function.__name__}")
        return function_hook(self, function, types, args, kwargs)

    Traced.__array_ufunc__, Traced.__array_function__ = on_ufunc, on_function
    for module, entries in REPLACEMENTS.items():
        for name, ours in entries.items():
            entries[name] = _noting(ours, f"{module}.{name}", note)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for function, args in every_case():
                value, pullback = ad.vjp(function, *args)
                pullback(random_like(value, np.random.default_rng(0)))
                ad.jvp(function, args, args)
                ad.vmap(function)(*[np.stack([a, a]) for a in args])
        yield seen
    finally:
        Traced.__array_ufunc__, Traced.__array_function__ = ufunc_hook, function_hook


def _noting(function, name, note):
    def noted(*args, **kwargs):
        for x in args:
            if isinstance(x, Traced):
                note(x, name)
        return function(*args, **kwargs)

    return noted


@pytest.mark.parametrize("mode", ["reverse", "forward", "batch"])
def test_how_many_functions(counted, mode):
    """At least 300 public functions, called through their plain names, in each mode."""
    assert len(counted[mode]) >= ASKED, sorted(counted[mode])


def test_no_mode_is_left_behind(counted):
    """What one mode can do, the others can do: rule tables that drift apart would show here."""
    assert counted["reverse"] == counted["forward"]
    assert counted["reverse"] - counted["batch"] == set()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("reshaped", [lambda x: x[0], lambda x: np.resize(x, 5000)], ids=["number", "large"])
def test_reverse_is_the_adjoint_of_forward_at_every_size(reshaped):
    """Of large arrays the trace keeps only what a rule asks for, so no rule may ask for more than it says."""
    for function, args in universal_functions(lambda x: np.asarray(reshaped(x))):
        value, pullback = ad.vjp(function, *args)
        leaves, rebuild = flatten(value)
        pulled = pullback(rebuild([np.ones(np.shape(v), np.asarray(v).dtype) for v in leaves]))
        pushed = flatten(ad.jvp(function, args, args)[1])[0]
        want = sum(np.sum(np.real(t)) for t in pushed)
        found = sum(np.sum(c * x) for c, x in zip(pulled, args, strict=True))
        np.testing.assert_allclose(found, want, rtol=1e-8, atol=1e-9)  # x / y does not change along (x, y)
