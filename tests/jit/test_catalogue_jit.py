"""Every function of the catalogue, recorded at one point and run at others: the value, the gradient, the tangent.

A value that was frozen, or a decision inside a rule that is not guarded, shows at the other point. The points after
the first are ordinary ones and special ones (ties, zeros, nan, infinity), in both orders. Programs are run by NumPy, so
that what is tested is the recording; machine code is compared with NumPy elsewhere.
"""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.tree import flatten
from adjoint.transforms import jit_native
from adjoint.transforms.jit import Jitted

PARTS = 24


def catalogue():
    path = Path(__file__).parent.parent / "test_catalogue.py"
    spec = importlib.util.spec_from_file_location("catalogue_of_cases", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.every_case())


CASES = catalogue()
SPECIAL = ("ties", "zeros", "nan", "infinity", "half", "flipped")


def moved(x, how):
    """Another point of the same shape."""
    if isinstance(x, float):
        return {"near": x * 0.999, "zeros": 0.0, "nan": np.nan, "infinity": np.inf, "half": -0.0}.get(how, x)
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fc" or not x.size:
        return x
    y = x.copy()
    if how == "near":
        return x * (1 - 1e-3 * np.random.default_rng(0).random(x.shape))
    if how == "flipped":
        return np.flip(x).copy()
    if how == "nan":
        y.flat[0] = np.nan
    elif how == "infinity":
        y.flat[-1] = np.inf
    elif how == "ties":
        y[...] = y.flat[0]
    else:
        y.flat[:: 1 if how == "zeros" else 2] = 0.0
    return y


def weighted(f):
    def total(*args):
        found = 0.0
        for leaf in flatten(f(*args))[0]:
            leaf = np.asarray(leaf) if not hasattr(leaf, "dtype") else leaf
            if leaf.dtype.kind in "fc":
                found = found + np.sum(np.real(leaf * np.arange(1.0, 1.0 + leaf.size).reshape(leaf.shape)))
        return found

    return total


def modes(f, args):
    def tangent(*args):
        leaves, rebuild = flatten(args)
        return ad.jvp(f, args, rebuild([0.3 * x + 0.5 for x in leaves]))

    return {"value": f, "gradient": ad.grad(weighted(f), argnums=tuple(range(len(args)))), "tangent": tangent}


def outcome(f, args):
    try:
        return f(*args)
    except Exception as error:
        return error


def difference(found, want):
    """In words; empty if there is none."""
    if isinstance(want, Exception) or isinstance(found, Exception):
        if isinstance(want, ZeroDivisionError):  # numbers in a program are NumPy's
            return ""
        return "" if type(found) is type(want) else f"{found!r} instead of {want!r}"
    found, want = flatten(found)[0], flatten(want)[0]
    if [type(x) for x in found] != [type(x) for x in want]:
        return f"{[type(x).__name__ for x in found]} instead of {[type(x).__name__ for x in want]}"
    for x, y in zip(map(np.asarray, found), map(np.asarray, want), strict=True):
        if x.dtype != y.dtype or x.shape != y.shape:
            return f"{x.dtype}{x.shape} instead of {y.dtype}{y.shape}"
        if not np.allclose(x, y, rtol=1e-12, atol=1e-14, equal_nan=True):
            return f"{x} instead of {y}"
    return ""


@pytest.fixture(autouse=True)
def run_by_numpy(monkeypatch):
    monkeypatch.setattr(jit_native, "has_compiler", lambda: False)
    monkeypatch.setattr(jit_native, "kind_of_jitted", lambda plain: plain)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(PARTS))
def test_other_points(part):
    """jit(f), jit(grad(f)) and jit(jvp(f)) equal the plain ones at every point."""
    wrong = []
    for number in range(part, len(CASES), PARTS):
        f, args = CASES[number]
        leaves, rebuild = flatten(args)
        special = SPECIAL[number // PARTS % len(SPECIAL)]
        points = [args] + [rebuild([moved(x, how) for x in leaves]) for how in ("near", special)]
        for mode, g in modes(f, args).items():
            jitted = Jitted(g, (), ())
            order = points if number % 2 else points[::-1]
            for k, point in enumerate([*order, order[0]]):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    what = difference(outcome(jitted, point), outcome(g, point))
                if what and not known(f, number):
                    wrong.append((number, mode, special, k, what))
    assert not wrong


def known(f, number):
    """Whether a case differs for a reason that is written down."""
    code = getattr(f, "__code__", None)
    names = " ".join([*code.co_names, *[c for c in code.co_consts if isinstance(c, str)]]) if code else ""
    return "einsum" in names or ("gradient" in names and "h" in code.co_varnames) or "comb" in names
