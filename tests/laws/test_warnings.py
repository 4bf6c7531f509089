"""The law of warnings: where NumPy gives none, neither does a derivative or a batch; and where it does, so do they."""

import itertools
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.tree import flatten
from tests.cases import linalg, mathematics, moving, statistics
from tests.cases.catalogue import entry_of

TABLES = {
    "moving": moving.EVERY_LAW,
    "mathematics": mathematics.TABLE,
    "statistics": statistics.TABLE,
    "linalg": linalg.CASES,
}
LEFT_OUT = ("empty_like", "piecewise")
ENTRIES = {name: [e for e in map(entry_of, table) if not e.name.startswith(LEFT_OUT)] for name, table in TABLES.items()}
"""NumPy's compositions. `empty_like` holds what happens to be in memory; a batch calls the functions of `piecewise`
with all elements."""
SCALES = (0.0, 1e200, 1e-200, np.inf)
MODES = {
    "reverse": lambda f, args: _pulled_back(*ad.vjp(f, *args)),
    "forward": lambda f, args: ad.jvp(f, args, args),
    "batch": lambda f, args: ad.vmap(f)(*_leaves(lambda x: np.stack([x, x]), args)),
}


def _pulled_back(value, pullback):
    """With cotangents of 1."""
    leaves, rebuild = flatten(value)
    return pullback(rebuild([np.ones_like(x) for x in leaves]))


def _leaves(change, args):
    leaves, rebuild = flatten(args)
    return rebuild([change(np.asarray(x)) for x in leaves])


def _at(args, scale):
    """The arguments, far away from where they are; of each array every other element."""

    def moved(x):
        if x.dtype.kind != "f":
            return x
        every_other = np.arange(x.size).reshape(x.shape) % 2 == 0
        return np.where(every_other, x * scale, x)[()]

    with np.errstate(all="ignore"):
        return _leaves(moved, args)


def _warned(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run()
        except Exception:  # refused, by NumPy or by us
            return None
    return any([issubclass(w.category, RuntimeWarning) for w in caught])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("table", TABLES)
def test_no_warning_but_numpys(table, mode):
    """The whole catalogue, at four scales."""
    found, count = [], 0
    for entry, scale in itertools.product(ENTRIES[table], SCALES):
        args = _at(entry.args, scale)
        if _warned(lambda e=entry, a=args: e.function(*a)) is False:
            warned = _warned(lambda e=entry, a=args: MODES[mode](e.function, a))
            found += [(entry.name, scale)] if warned else []
            count += warned is not None
    assert found == []
    assert count > 2 * len(ENTRIES[table])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", [np.sqrt, lambda x: np.prod(1e200 * x), lambda x: np.mean(1.0 / (x - x)), np.log])
def test_numpys_warnings_are_given(f, mode):
    """Also by one example of a batch alone."""
    assert _warned(lambda: f(np.full(2, -1e10)))
    assert _warned(lambda: MODES[mode](f, (np.full(2, -1e10),)))
    assert _warned(lambda: ad.vmap(lambda x: np.prod(x))(np.array([[1.0, 2.0], [1e200, 1e200]])))
