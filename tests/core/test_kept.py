"""Handles that are kept after their trace has ended: running means, lists for plots, caches. They are plain values."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.traced import Traced

POINT = np.array([0.3, 0.7, 1.1])


def keeping(kept):
    """A function that keeps every kind of handle it sees."""

    def f(x):
        y = np.sin(x)
        z = np.zeros(3)
        z[1:] = y[:2]
        kept[:] = [x, y, y[1:], y.reshape(3, 1), y.T[::-1], np.sum(y), x[0], z, x * 2 > 1]
        y[0] = 5.0
        return np.sum(x * x)

    return f


def plainly():
    """What the function keeps without any trace, as values at the end of the call."""
    kept = []
    keeping(kept)(POINT.copy())
    return kept


def raising(f):
    def g(x):
        f(x)
        raise KeyError("after the work is done")

    return g


def swallowed(call):
    with pytest.raises(KeyError):
        call()


TRANSFORMS = {
    "grad": lambda f: ad.grad(f)(POINT),
    "value_and_grad": lambda f: ad.value_and_grad(f)(POINT),
    "vjp": lambda f: ad.vjp(f, POINT),
    "jvp": lambda f: ad.jvp(f, (POINT,), (POINT,)),
    "linearize": lambda f: ad.linearize(f, POINT),
    "jacobian": lambda f: ad.jacobian(f)(POINT),
    "jacfwd": lambda f: ad.jacfwd(f)(POINT),
    "hessian": lambda f: ad.hessian(f)(POINT),
    "nested": lambda f: ad.grad(lambda x: np.sum(ad.grad(f)(x)))(POINT),
    "jvp of grad": lambda f: ad.hvp(f, (POINT,), (POINT,)),
    "explain": lambda f: ad.explain(f)(POINT),
    "exception in grad": lambda f: swallowed(lambda: ad.grad(raising(f))(POINT)),
    "exception in jvp": lambda f: swallowed(lambda: ad.jvp(raising(f), (POINT,), (POINT,))),
    "exception in vjp": lambda f: swallowed(lambda: ad.vjp(raising(f), POINT)),
    "exception in explain": lambda f: swallowed(lambda: ad.explain(raising(f))(POINT)),
}

JITTED = ad.jit(lambda t: t * 2.0)

USES = {
    "array": lambda k: np.array(k),
    "asarray": lambda k: np.asarray(k),
    "product": lambda k: k * 2.0,
    "reflected": lambda k: 2.0 - k,
    "with an array": lambda k: np.ones(np.shape(k)) + k,
    "ufunc": lambda k: np.exp(k),
    "function": lambda k: np.sum(k),
    "like": lambda k: np.zeros_like(k),
    "concatenate": lambda k: np.concatenate([np.ravel(k), [1.0]]),
    "out": lambda k: np.multiply(k, 2.0, out=np.zeros(np.shape(k))),
    "comparison": lambda k: k > 0.5,
    "stored": lambda k: _stored(k),
    "copied": lambda k: copy.deepcopy(k),
    "copy": lambda k: k.copy(),
    "astype": lambda k: k.astype(np.float32),
    "tolist": lambda k: k.tolist(),
    "pickled": lambda k: pickle.loads(pickle.dumps(k)),
    "text": lambda k: repr(k),
    "sum method": lambda k: k.sum(),
    "transposed": lambda k: k.T,
    "pieces": lambda k: list(k) if np.ndim(k) else k,
    "reversed": lambda k: k[::-1] if np.ndim(k) else k,
    "masked": lambda k: k[k > 0.5] if np.ndim(k) else k,
    "grad": lambda k: ad.grad(lambda t: np.sum(t * t))(k),
    "captured by grad": lambda k: ad.grad(lambda t: np.sum(k * t))(2.0),
    "vmap": lambda k: ad.vmap(np.sin)(k) if np.ndim(k) else k,
    "jit": lambda k: JITTED(k),
    "flat": lambda k: list(np.asarray(k).flat),
    "bytes": lambda k: k.tobytes(),
    "float": lambda k: float(k) if np.ndim(k) == 0 else k,
    "format": lambda k: f"{k:.3f}" if np.ndim(k) == 0 else k,
}


def _stored(k):
    target = np.zeros(np.shape(k))
    target[...] = k
    return target


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
def test_a_kept_handle_is_its_value(transform, use):
    """Whatever is done with what was kept gives what the plain function gives; and twice the same."""
    kept = []
    transform(keeping(kept))
    for k, want in zip(kept, plainly(), strict=True):
        if np.asarray(want).dtype.kind == "b":
            assert np.array_equal(np.asarray(k), want)
            continue
        for _ in range(2):
            found, expected = use(k), use(want)
            if isinstance(expected, str):
                assert found.replace("np.float64(", "").rstrip(")") in (expected.replace("np.float64(", "").rstrip(")"))
            elif isinstance(expected, bytes):
                assert found == expected
            else:
                np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=1e-13)
                if use not in (USES["float"], USES["format"], USES["pieces"], USES["reversed"], USES["masked"]):
                    assert not isinstance(found, Traced) or found is k


def test_a_kept_batch_is_the_whole_batch():
    """After vmap a handle stands for all examples, views of it included, also if they were out of date."""
    xs = np.arange(6.0).reshape(2, 3)
    kept = []

    def f(x):
        y = x + 1.0
        view = y[1:]
        y[1] = 10.0
        kept[:] = [x, y, view, y.sum()]
        return y

    ad.vmap(f)(xs)
    whole = xs + 1.0
    whole[:, 1] = 10.0
    for k, want in zip(kept, [xs, whole, whole[:, 1:], whole.sum(1)], strict=True):
        np.testing.assert_array_equal(np.array(k), want)
        np.testing.assert_array_equal(k * 2, want * 2)
        assert np.shape(k) == want.shape
    kept[2][0] = 0.0
    np.testing.assert_array_equal(kept[2], [[0.0, 0.0], whole[1, 1:]])


def test_a_running_mean():
    """The mean of all losses, kept inside the function, stays one plain number: no nesting, no growing memory."""
    state = {"mean": 0.0, "seen": []}

    def loss(w):
        value = np.sum((np.ones(20_000) * w) ** 2)
        state["mean"] = 0.9 * state["mean"] + 0.1 * value
        state["seen"].append(value)
        return value

    gradient = ad.grad(loss)
    gradient(1.0)
    tracemalloc.start()
    for _ in range(500):
        gradient(1.0)
    now, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert now < 2_000_000
    assert float(state["mean"]) == pytest.approx(20_000.0)
    assert np.array(state["seen"]).shape == (501,)
    assert max(state["seen"]) == 20_000.0


def test_an_inner_handle_is_the_outer_traces():
    """What an inner gradient left behind is differentiated by the outer trace, with the right order of traces."""

    def outer(x):
        kept = []
        ad.grad(lambda y: kept.append(y * x) or y * x)(x)
        return kept[0] * x

    assert ad.grad(outer)(3.0) == pytest.approx(27.0)
    assert ad.jvp(outer, (3.0,), (1.0,))[1] == pytest.approx(27.0)
    assert ad.grad(ad.grad(outer))(3.0) == pytest.approx(18.0)
    np.testing.assert_allclose(ad.vmap(ad.grad(outer))(np.array([1.0, 3.0])), [3.0, 27.0])
    assert ad.jit(ad.grad(outer))(3.0) == pytest.approx(27.0)


def test_mixed_levels():
    """A handle left by an inner trace, met by a trace in between, belongs to the outermost of the two that go on."""

    def outer(x):
        def middle(y):
            kept = []
            ad.grad(lambda z: kept.append(z * y) or z)(y)
            return kept[0] * x

        return ad.grad(middle)(x)  # 2 x y at y = x

    assert ad.grad(outer)(3.0) == pytest.approx(12.0)


def test_a_pullback_is_not_disturbed():
    """Writing to what was kept does not reach the numbers that a pullback or a linearisation relies on."""
    kept = []

    def f(x):
        y = np.exp(x)
        kept.append(y)
        return np.sum(y * y)

    _, pullback = ad.vjp(f, POINT)
    _, push = ad.linearize(f, POINT)
    want = pullback(1.0)[0]
    for k in kept:
        k[0] = 100.0
        k[1:][0] = 100.0
        k.T[2] = 100.0
        np.testing.assert_array_equal(k, [100.0] * 3)
    np.testing.assert_array_equal(pullback(1.0)[0], want)
    assert push(np.ones(3)) == pytest.approx(np.sum(want))


def test_a_kept_handle_is_updated_in_place():
    """`kept += x` and `kept[0] = x` outside, and with a traced value inside the next trace."""
    kept = []
    ad.grad(lambda x: kept.append(x * 1.0) or np.sum(x))(POINT)
    buffer = kept[0]
    buffer += 1.0
    buffer[0] = 0.0
    np.testing.assert_allclose(buffer, [0.0, *(POINT[1:] + 1.0)])

    def f(x):
        buffer[1] = x * x
        return np.sum(buffer)

    assert ad.grad(f)(3.0) == 6.0
    np.testing.assert_allclose(buffer, [0.0, 9.0, POINT[2] + 1.0])


def test_a_kept_number_is_a_key():
    """A number left by a trace is found in dicts and sets as the number it is."""
    kept = []
    ad.grad(lambda x: kept.append(x * 2.0) or x)(1.5)
    assert {kept[0]: "three"}[3.0] == "three"
    assert kept[0] in {3.0}


def test_keeping_under_jit_is_refused():
    """A recording would not repeat it; after the refusal what was kept is a plain value all the same."""
    kept = []

    def f(x):
        kept.append(x * 2.0)
        return x

    with pytest.raises(ad.errors.ImpureError, match="changes the captured list 'kept'"):
        ad.jit(f)(POINT)
    np.testing.assert_array_equal(kept[0], POINT * 2.0)
    assert float(kept[0][0]) == 0.6
