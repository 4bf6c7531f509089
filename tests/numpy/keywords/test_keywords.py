"""Every function of the catalogue with keywords drawn at random: what a traced argument gives is what NumPy gives.

Value, dtype and shape, or the class of the error; on empty arrays, arrays without axes and every kind of number.
"""

import warnings
import zlib

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import AdjointError, BatchError
from adjoint.core.tree import flatten

from .draws import by_name, drawn, functions_under_test

FUNCTIONS = functions_under_test()
REFUSED = {"numpy.linalg.lstsq"}
"""Functions that refuse what NumPy computes: where the rank is not full."""


ILL_CONDITIONED = {"numpy.polyfit": 1e-6}
"""How many digits are left where places that are drawn may be close to each other."""


def outcome(call):
    """The result, or the error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:
            return error


def traced(name, args, keywords, kinds):
    """The call as a function of its arrays of these kinds, and those arrays; shapes and counts are no arrays."""
    leaves, rebuild = flatten((args, keywords))
    places = [
        k
        for k, x in enumerate(leaves)
        if isinstance(x, np.ndarray) and x.dtype.kind in kinds and (k == 0 or x.shape or x.dtype.kind not in "iu")
    ]

    def call(*values):
        full = list(leaves)
        for k, v in zip(places, values, strict=True):
            full[k] = v
        again, words = rebuild(full)
        return by_name(name)(*again, **words)

    return call, [leaves[k] for k in places]


def reverse(call, arrays):
    """By the reverse trace; the pullback of ones runs as well."""
    value, pullback = ad.vjp(call, *arrays)
    leaves, rebuild = flatten(value)
    if all(np.all(np.isfinite(x)) for x in arrays):
        pullback(rebuild([np.ones(np.shape(v), np.asarray(v).dtype) for v in leaves]))
    return value


def forward(call, arrays):
    """By the forward trace."""
    return ad.jvp(call, tuple(arrays), tuple(np.ones_like(x) for x in arrays))[0]


def batch(call, arrays):
    """As the only example of a batch."""
    leaves, rebuild = flatten(ad.vmap(call)(*[x[None] for x in arrays]))
    return rebuild([v[0] for v in leaves])


def machine_code(call, arrays):
    """By the second call of the jitted function."""
    compiled = ad.jit(call)
    first, second = (outcome(lambda: compiled(*arrays)) for _ in range(2))
    assert isinstance(first, Exception) == isinstance(second, Exception), (first, second)
    if isinstance(second, Exception):
        raise second
    return second


TRANSFORMS = {
    "reverse": (reverse, "fc"),
    "forward": (forward, "fc"),
    "batch": (batch, "fciub"),
    "jit": (machine_code, "fciub"),
}


def difference(want, got, loose=1e-9):
    """What differs, or an empty text."""
    if isinstance(want, Exception):
        fits = isinstance(got, type(want)) or type(got).__name__ == type(want).__name__
        return "" if fits else f"wanted {want!r}, got {got!r}"
    if isinstance(got, Exception):
        return f"raised {got!r}"
    wanted, found = flatten(want)[0], flatten(got)[0]
    if len(wanted) != len(found):
        return f"{len(wanted)} results, got {len(found)}"
    for w, f in zip(map(np.asarray, wanted), map(np.asarray, found), strict=True):
        if (w.dtype, w.shape) != (f.dtype, f.shape):
            return f"wanted {w.dtype}{w.shape}, got {f.dtype}{f.shape}"
        loose = {4: 1e-4, 2: 5e-3}.get(w.real.itemsize, loose)
        if w.dtype.kind == "c":  # an infinite product is one of many
            w, f = (np.where(np.isfinite(v), v, np.nan) for v in (w, f))
        same = np.allclose(w, f, loose, loose, equal_nan=True) if w.dtype.kind in "fc" else np.array_equal(w, f)
        if not same:
            return f"wanted {w}, got {f}"
    return ""


def check(name, transform, rounds):
    """Draw arguments and compare."""
    run, kinds = TRANSFORMS[transform]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for _ in range(rounds):
        args, keywords = drawn(FUNCTIONS[name], rng)
        call, arrays = traced(name, args, keywords, kinds)
        if not arrays or (".linalg." in name and not all(np.all(np.isfinite(x)) for x in arrays)):
            continue  # what LAPACK does with infinite matrices differs from build to build
        want, got = outcome(lambda: call(*arrays)), outcome(lambda: run(call, arrays))
        if isinstance(got, BatchError) or (isinstance(got, AdjointError) and name in REFUSED):
            continue
        assert not (told := difference(want, got, ILL_CONDITIONED.get(name, 1e-9))), (
            f"{transform}: {name}(*{args}, **{keywords}): {told}"
        )


@pytest.mark.parametrize(
    ("transform", "rounds"),
    [("reverse", 150), ("forward", 60), ("batch", 150), pytest.param("jit", 5, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_calls(name, transform, rounds):
    """Many keywords of every function, under every transformation."""
    check(name, transform, rounds)
