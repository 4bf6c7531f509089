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
    "piecewise (5,) ?": "a batch calls the functions with all elements; -x of truth values is refused",
    "piecewise (2, 3) ?": "a batch calls the functions with all elements; -x of truth values is refused",
    "lu_solve": "of singular matrices",
    "pad reflect odd (2, 3) h": "a sine of single precision, another last digit in a program; exp(80) shows 80 of them",
}
"""Entries for which the law is not required, some for one kind alone, and why."""


def _failures(mode, entries, kinds_of):
    """What went wrong, by entry and kind; refusals by name are none."""
    found = []
    for entry in entries:
        for kind in kinds_of(entry):
            if any([f"{entry.name} {kind}".startswith(name) for name in LEFT]):
                continue
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
    "item": (lambda x: x[0].item() * 3 + x.item(1), np.array([[200, 100], [7, 250]], np.uint8)),
    "tolist": (lambda x: x.tolist()[1] * 3, np.array([[200, 100], [7, 250]], np.int16)),
    "power of a truth value": (lambda x: (x[0] > 100) ** 2 + (x > 100) ** 2, np.array([[200, 100], [7, 250]])),
}


@pytest.mark.parametrize("name", ROWS)
def test_batches_of_integers_are_numpys(name):
    """Where arithmetic on the way wraps around, a batch wraps around at the same places."""
    function, rows = ROWS[name]
    want, got = np.stack([function(row) for row in rows]), ad.vmap(function)(rows)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-15)  # of integers exactly


@pytest.mark.parametrize("kind", "?BQq")
@pytest.mark.parametrize("width", [3, 5000])
def test_extremes_in_programs_are_exact(kind, width):
    """Largest and smallest ones, with a mask and a start: no bit is lost, and of truth values no process."""
    bits = np.random.default_rng(0).integers(0, 2**64, (4, width), np.uint64)
    x = bits > 2**63 if kind == "?" else bits.astype(kind)
    start = x[0, 0]

    def f(x):
        masked = {"axis": 1, "where": x > start, "initial": start}
        return x.max(1), x.min(0), x.max(1, initial=start), np.max(x, **masked), np.min(x, **masked)

    for got, want in zip(ad.jit(f)(x), f(x), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("f", [lambda x: int(x[0]) + 2**70, lambda x: 2**70 * int(x[0]), lambda x: x[1].item() * 3])
def test_integers_beyond_64_bits_in_programs(f):
    """They are Python's, which have no end."""
    x = np.array([3, 2**63 + 5], np.uint64)
    jitted = ad.jit(f)
    assert [jitted(x), jitted(x + np.uint64(1))] == [f(x), f(x + np.uint64(1))]
