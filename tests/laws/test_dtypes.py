"""The law of dtypes over the whole catalogue: truth values, integers, half and single precision, in every mode."""

import zlib

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import AdjointError
from tests.cases import constants
from tests.cases.catalogue import Entry, every_entry
from tests.laws.dtypes import KINDS, MODES

pytestmark = pytest.mark.filterwarnings("ignore")
X = np.array([0.31, -1.27, 0.84, 2.13, -0.46])
ENTRIES = [*every_entry(), *[Entry(f"constant {name}", f, (X,)) for name, f in constants.CONSTANT.items()]]
LEFT = {
    "fractional_matrix_power": "real or complex by its values, which a batch and a derivative cannot have",
    "comb, repetition": "of large numbers in other arithmetic",
    "piecewise (5,)": "a batch calls the functions with all elements; -x of truth values is refused",
    "piecewise (2, 3)": "a batch calls the functions with all elements; -x of truth values is refused",
    "lu_solve": "of singular matrices",
    "ufunc cbrt": "SciPy's of that name has no loops for small integers and halves, and is NumPy's here",
    "ufunc exp2": "SciPy's of that name has no loops for small integers and halves, and is NumPy's here",
    "ufunc expm1": "SciPy's of that name has no loops for small integers and halves, and is NumPy's here",
    "ufunc log1p": "SciPy's of that name has no loops for small integers and halves, and is NumPy's here",
}
"""Entries for which the law is not required, and why."""


def _failures(mode, entries, kinds_of):
    """What went wrong, by entry and kind; refusals by name are none."""
    found = []
    for entry in entries:
        if any([entry.name.startswith(name) for name in LEFT]):
            continue
        for kind in kinds_of(entry):
            try:
                MODES[mode](entry.function, entry.args, kind)
            except AdjointError:
                continue
            except Exception as error:
                found.append((entry.name, kind, f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"))
    return found


def _one(entry):
    return [KINDS[zlib.crc32(entry.name.encode()) % len(KINDS)]]


@pytest.mark.parametrize(("mode", "part"), [("vmap", 2), ("derivative", 2), ("jit", 24)])
def test_every_kind_somewhere(mode, part):
    """A part of the catalogue, each entry with one kind of number."""
    assert _failures(mode, ENTRIES[::part], _one) == []


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_everywhere(mode, kind):
    """The whole catalogue in every mode."""
    assert _failures(mode, ENTRIES, lambda entry: [kind]) == []


ROWS = {
    "gradient": (np.gradient, np.array([[1, 5, 2, 200], [4, 0, 255, 3]], np.uint8)),
    "square": (np.square, np.array([[True, False], [True, True]])),
    "average": (lambda x: np.average(x, weights=x), np.array([[100, 100, 3], [90, 80, 7]], np.int8)),
    "prod": (np.prod, np.array([[100, 100, 3], [90, 80, 7]], np.int8)),
    "mean": (np.mean, np.array([[100, 100, 3], [90, 80, 7]], np.uint8)),
    "add.reduce where": (lambda x: np.add.reduce(x, where=x > 50), np.array([[100, 100, 3], [90, 80, 7]], np.int16)),
    "method": (lambda x: x.mean() + x.cumprod(), np.array([[100, 100, 3], [90, 80, 7]], np.uint8)),
    "einsum": (lambda x: np.einsum("i,i->", x, x), np.array([[100, 100, 3], [90, 80, 7]], np.int8)),
}


@pytest.mark.parametrize("name", ROWS)
def test_batches_of_integers_are_numpys(name):
    """Where arithmetic on the way wraps around, a batch wraps around at the same places."""
    function, rows = ROWS[name]
    want, got = np.stack([function(row) for row in rows]), ad.vmap(function)(rows)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-15)  # of integers exactly
