"""Numbers as truth values: a program relies on which of the two it is, not on the number."""

import operator

import numpy as np
import pytest

import adjoint as ad


def counted(q):
    n = 0
    while q:
        q, n = q - q, n + 1
        if n > 2:  # inf - inf is nan, which is true
            break
    return n + q


def asserted(q):
    assert q, "zero"
    return q * 2


FUNCTIONS = {
    "if": lambda q: q * 2 if q else q + 1,
    "not": lambda q: q + 3 if not q else q * 2,
    "and": lambda q: (q and 2.0) + q,
    "or": lambda q: (q or 1.0) * 2,
    "bool": lambda q: q * 2 if bool(q) else q + 1,
    "while": counted,
    "assert": asserted,
    "filter": lambda q: sum(filter(None, [q, q * 2, q * 0]), 1.0) + q,
    "any": lambda q: q * 2 if any([q * 0, q]) else q + 1,
    "all": lambda q: q * 2 if all([q, q + 1]) else q + 1,
    "next": lambda q: next((v for v in [q, q + q] if v), q - 1) * 2,
    "key": lambda q: max([q * 0, q], key=bool) + 1,
    "truth": lambda q: q * 2 if operator.truth(q) else q + 1,
    "a computed one": lambda q: q * 2 if np.sin(q) * 0 + q else q + 1,
    "conditional": lambda q: 1.0 if (not q) == (not (q * 2)) else q,
}
KINDS = {
    "float": float,
    "float32": np.float32,
    "complex": complex,
    "one element": lambda v: np.array([[v]]),
}


def outcome(f, x):
    """What a call gives, or the kind of its error."""
    try:
        return f(x)
    except AssertionError as error:
        return type(error)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_two_recordings_at_most(name):
    """One for all numbers that are true, nan among them, and one for zeros."""
    f = FUNCTIONS[name]
    for kind in KINDS.values():
        g = ad.jit(f)
        for value in (1.0, 2.0, -3.5, 4.0, 0.0, 5.0, -0.0, 6.0, np.inf, 0.0):
            with np.errstate(invalid="ignore"):
                want, have = outcome(f, kind(value)), outcome(g, kind(value))
            assert type(want) is type(have)
            assert np.array_equal(want, have, equal_nan=True) if want is not AssertionError else have is want
        assert g.recordings <= 3  # inf - inf is nan, which is true


def test_derivatives_guard_the_same():
    """Also inside a gradient, jitted or around a jitted function."""
    f = FUNCTIONS["if"]
    inner, outer = ad.jit(f), ad.jit(ad.grad(f))
    for value in (1.0, 2.0, 3.0, 0.0, 4.0):
        assert ad.grad(inner)(value) == outer(value) == (2.0 if value else 1.0)
    assert inner.recordings == 2
    assert outer.recordings == 2


def test_several_elements_have_no_truth():
    """Whatever they are: the error is NumPy's, and who catches it needs one recording."""

    def caught(q):
        try:
            return q * 2 if q else q
        except ValueError:
            return q * 3

    f = ad.jit(caught)
    for k in range(4):
        assert np.array_equal(f(np.ones(2) + k), 3 * (np.ones(2) + k))
    assert f.recordings == 1
    with pytest.raises(ValueError, match="ambiguous"):
        ad.jit(FUNCTIONS["if"])(np.ones(2))
