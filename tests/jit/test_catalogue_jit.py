"""Every function of the catalogue, recorded at one point and run at others: the value, the gradient, the tangent.

A value that was frozen, or a decision inside a rule that is not guarded, shows at the other point. The points after
the first are ordinary ones and special ones (ties, zeros, nan, infinity), in both orders. Programs are run by NumPy, so
that what is tested is the recording; machine code is compared with NumPy elsewhere.
"""

import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.tree import flatten
from adjoint.transforms.jit import native as jit_native
from adjoint.transforms.jit.jit import Jitted
from tests.cases.catalogue import every_entry
from tests.cases.points import moved, weighted

PARTS = 24
ENTRIES = every_entry()


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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(PARTS))
def test_other_points(part):
    """jit(f), jit(grad(f)) and jit(jvp(f)) equal the plain ones at every point."""
    wrong = []
    for entry in ENTRIES[part::PARTS]:
        leaves, rebuild = flatten(entry.args)
        points = [entry.args] + [rebuild([moved(x, how) for x in leaves]) for how in ("near", entry.special)]
        order = points[::-1] if entry.special_first else points
        for mode, g in modes(entry.function, entry.args).items():
            jitted = Jitted(g, (), ())
            for k, point in enumerate([*order, order[0]]):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    what = difference(outcome(jitted, point), outcome(g, point))
                if what and entry.special not in entry.differs_at:
                    wrong.append((entry.name, mode, entry.special, k, what))
    assert not wrong
