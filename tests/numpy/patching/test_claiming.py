"""Plain arrays that a traced value is stored into become handles, where nobody can tell; they are refused elsewhere."""

import sys
import types

import numpy as np
import pytest

import adjoint as ad
from adjoint.host.code.versions import IS_KNOWN
from adjoint.host.frames.stores import evaluated, store_of

Y = np.array([1.0, 2.0, 3.0, 4.0])
X = np.array([0.5, -1.5, 0.7, 2.0])
PICK = [2, 0]


def copied(q):
    v = Y.copy()
    v += q
    return np.sum(v**2)


def computed(q):
    v = 2 * Y
    v[0] = q[0]
    return np.sum(v**2)


def grid(q):
    v = np.arange(8) * 1.0
    v[0] = q[0]
    v[2:4], v[-1] = q[:2], q[1]
    return np.sum(v**3)


def keys(q):
    v, k, n = np.outer(Y, Y), 1, [3]
    v[k, k + 1] = q[0]
    v[:, n[0] - 1] = q
    v[PICK, 0] = q[:2]
    v[len(n) :, tuple(n[:1])] = q[1:, None]
    v[np.array([True, False, False, True])] *= q
    v[-1, ...] += q
    return np.sum(v**2)


def in_loop(q):
    v = Y * 1.0
    for i in range(4):
        v[i] = q[i] * v[i - 1]
    return np.sum(v**2)


def truths(q):
    m = np.zeros(4, bool)
    m |= q > 0
    return np.sum(q * m)


def counts(q):
    n = np.zeros(4, int)
    n += 1
    n += q > 0
    return np.sum(q * n)


def added_at(q):
    n = np.zeros(2, int)
    np.add.at(n, (q > 0).astype(int), 1)
    return np.sum(q**2) * n[1]


def attribute(q):
    holder = types.SimpleNamespace(v=Y * 3.0)
    holder.v[1] = q[0]
    holder.v[2:] = q[2:]
    return np.sum(holder.v**2)


def closed_over(q):
    v = Y * 3.0

    def fill(k):
        v[k] = q[k]

    fill(0)
    fill(3)
    return np.sum(v**2)


def two_names(q):
    v = Y * 1.0
    w = v
    v -= q
    w[0] = q[1]
    return np.sum(v**2) + np.sum(w)


def handed_down(q):
    def fill(a, k):
        a[k] = q[k]
        a *= q

    v = Y * 1.0
    fill(v, 1)
    return np.sum(v**2)


def complex_ones(q):
    v = np.ones(4) + 1j
    v[0], v[1:3] = q[0], q[1:3] * 1j
    return np.sum(np.abs(v) ** 2)


TAKEN = (
    copied, computed, grid, keys, in_loop, truths, counts, added_at, attribute, closed_over, two_names, handed_down,
    complex_ones,
)  # fmt: skip


@pytest.mark.skipif(not IS_KNOWN, reason="the code of this interpreter is not read")
@pytest.mark.parametrize("f", TAKEN, ids=lambda f: f.__name__)
def test_arrays_of_variables_alone_take_traced_values(f):
    """Eagerly, under jit and vmap, whoever made the array; the plain arrays that it was made of stay."""
    before, points = Y.copy(), np.stack([X, 1.5 * X])
    want = [ad.numerical.grad(f)(x) for x in points]
    jitted = ad.jit(ad.grad(f))
    for x, slopes in zip(points, want, strict=True):
        np.testing.assert_allclose(ad.grad(f)(x), slopes, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(jitted(x), slopes, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(ad.jit(f)(x), f(x), rtol=1e-14)
    if f is not keys:  # its mask is plain, but chooses rows by values that are not
        np.testing.assert_allclose(ad.vmap(f)(points), [f(x) for x in points], rtol=1e-14)
    np.testing.assert_array_equal(Y, before)


def seen_by_a_view(q):
    v = Y * 1.0
    w = v[:]
    v[0] = q[0]
    return np.sum(w**2)


def a_view(q):
    v = np.outer(Y, Y)
    w = v[0]
    w[1] = q[0]
    return np.sum(v**2)


def in_a_list(q):
    v = Y * 1.0
    kept = [v]
    v[0] = q[0]
    return np.sum(kept[0] ** 2)


def in_a_dict(q):
    v = Y * 1.0
    kept = {"v": v}
    v += q
    return np.sum(kept["v"] ** 2)


def iterated_over(q):
    v = Y * 1.0
    rest = iter(v)
    v[1] = q[0]
    return sum([e**2 for e in rest])


def as_memory(q):
    v = Y * 1.0
    memory = memoryview(v)
    v[1] = q[0]
    return memory[1] * q[0]


def given(q, v=Y * 1.0):
    v[0] = q[0]
    return np.sum(v**2)


def of_the_module(q):
    Y[0] = q[0]
    return np.sum(Y)


REFUSED = (seen_by_a_view, a_view, in_a_list, in_a_dict, iterated_over, as_memory, given, of_the_module)


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_arrays_that_anybody_else_holds_do_not(f):
    """A view, a container, an iterator, a default and a module would see the old elements."""
    before = Y.copy()
    with pytest.raises(ad.errors.DerivativeDroppedError, match="plain array"):
        ad.grad(f)(X)
    np.testing.assert_array_equal(Y, before)


def test_a_traced_key_is_no_value():
    """What NumPy asks for its value may be the key, which is not what is stored."""

    def f(q):
        v = Y * 1.0
        m = q > 0
        v[m] = 7.0
        k = np.argmax(q)
        v[k] = 2.0
        return np.sum(v * q)

    for transform in (f, ad.jit(f)):
        assert transform(X) == pytest.approx(np.dot([7.0, 2.0, 7.0, 2.0], X), rel=1e-14)
    np.testing.assert_allclose(ad.jit(ad.grad(f))(X), [7.0, 2.0, 7.0, 2.0])


def test_numpys_errors_stay():
    """An index out of range and a shape that does not fit are NumPy's errors, and the array stays what it was."""

    def f(q):
        v = Y * 1.0
        with pytest.raises(IndexError):
            v[7] = q[0]
        with pytest.raises(ValueError, match="broadcast"):
            v[:2] = q[:3]
        v[0] = q[0]
        return np.sum(v**2)

    np.testing.assert_allclose(ad.grad(f)(X), [2 * X[0], 0.0, 0.0, 0.0])


def test_keys_with_effects_are_not_read_again():
    """A key that calls anything but pure functions is not computed twice: the value is refused."""
    calls = []

    def place():
        calls.append(1)
        return 0

    def f(q):
        v = Y * 1.0
        v[place()] = q[0]
        return np.sum(v)

    with pytest.raises(ad.errors.DerivativeDroppedError):
        ad.grad(f)(X)
    assert calls == [1]


def test_keys_are_read():
    """The instructions of a key give what the statement itself uses."""
    found = []

    class Probe:
        def __float__(self):
            frame = sys._getframe(1)
            store = store_of(frame)
            found.append((store.place.variable, evaluated(frame, store.key)))
            return 0.0

    grid, i, box = np.zeros((3, 4)), 1, types.SimpleNamespace(k=2)
    grid[i, -i] = Probe()
    grid[(i + 1) * 1, box.k] = Probe()
    grid[i][3] = Probe() if found[2:] else 0.0
    assert found == [("grid", (1, -1)), ("grid", (2, 2))]


def _kept_by_a_caller(q):
    kept = []

    def fill(a):
        a[0] = q[0]

    v = Y * 1.0
    kept.append(v)
    fill(v)
    return np.sum(kept[0] ** 2)


def _kept_by_a_generator(q):
    def fill(a):
        a += q

    v = Y * 1.0
    held = iter([v])
    fill(v)
    return np.sum(next(held) ** 2)


def _handed_down_twice(q):
    def inner(b):
        b[1] = q[1]

    def outer(a):
        inner(a)
        a *= q

    v = Y * 1.0
    outer(v)
    return np.sum(v**2)


@pytest.mark.skipif(not IS_KNOWN, reason="the code of this interpreter is not read")
@pytest.mark.parametrize("f", [_kept_by_a_caller, _kept_by_a_generator, _handed_down_twice], ids=lambda f: f.__name__)
def test_arrays_that_are_handed_down(f):
    """Parameters may count no reference of their own: who else holds the array is seen, or it is refused."""
    try:
        found = ad.grad(f)(X)
    except ad.errors.DerivativeDroppedError:
        assert f is not _handed_down_twice
    else:
        np.testing.assert_allclose(found, ad.numerical.grad(f)(X), rtol=1e-6, atol=1e-8)
