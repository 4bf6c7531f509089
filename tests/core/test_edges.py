"""The edges of what can be traced: elements left out, bytes and records, batches of none, whole numbers."""

import contextlib
import math
import pickle
import re
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.primitive import Primitive
from adjoint.core.traced import LOCAL
from adjoint.host.forking import Lock
from adjoint.numpy.patching import tracing
from adjoint.rules.opaque import Opaque
from adjoint.rules.stacking import leading
from adjoint.transforms.calling import run


@pytest.mark.parametrize(
    "transform", [ad.grad, ad.jacfwd, ad.hessian, lambda f: lambda x: ad.vmap(ad.grad(f))(x[None])]
)
def test_what_is_left_out_gives_no_warning(transform):
    """With where= NumPy does not look at the other elements, so it does not warn of them; warnings are errors here."""
    transform(lambda x: np.sum(np.divide(1.0, x, out=np.zeros(2), where=x != 0)))(np.array([0.0, 2.0]))


LOSSES = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "objects": lambda x: np.array([x[0], x[1]], dtype=object),
    "records": lambda x: np.array([(x[0], x[1])], dtype=[("a", float), ("b", float)])["a"],
}


@pytest.mark.parametrize("name", LOSSES)
def test_no_conversion_loses_a_derivative(name):
    """Bytes, objects and records hold plain numbers only."""
    with pytest.raises(ad.errors.DerivativeDroppedError):
        ad.grad(lambda x: np.sum(LOSSES[name](x)))(np.ones(2))


def test_a_buffer_of_constants_may_be_pickled():
    """Nothing is lost: it is a plain array."""

    def f(x):
        weights = np.zeros(2)
        weights[1] = 3.0
        return np.sum(x * pickle.loads(pickle.dumps(weights)))

    assert ad.grad(f)(np.ones(2)).tolist() == [0.0, 3.0]


EMPTY = {
    "interp": lambda x: np.interp(x, np.arange(3.0), x),
    "convolve": lambda x: np.convolve(x, x),
    "median": np.median,
    "pinv": lambda x: np.linalg.pinv(x[:, None]),
    "jacobian": ad.jacrev(ad.jacfwd(lambda x: np.sum(x**2))),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_batch_of_none(name):
    """A batch without examples has results of the right shape."""
    shape = np.shape(EMPTY[name](np.ones(3)))
    assert ad.vmap(EMPTY[name])(np.zeros((0, 3))).shape == (0, *shape)


def test_second_derivative_with_respect_to_nothing():
    """An empty argument has an empty Hessian, in both orders."""
    for second in (ad.jacrev(ad.jacfwd(np.sum)), ad.hessian(np.sum)):
        assert second(np.zeros(0)).shape == (0, 0)


def test_compositions_take_a_plain_array_first():
    """np.matvec and its like, a constant first."""
    A, x = np.arange(6.0).reshape(2, 3), np.ones(3)
    np.testing.assert_allclose(ad.jacobian(lambda x: np.matvec(A, x))(x), A)
    np.testing.assert_allclose(ad.jacobian(lambda x: np.vecdot(A, x))(x), A)
    np.testing.assert_allclose(ad.vmap(lambda x: np.matvec(A, x))(A), A @ A.T)


@pytest.mark.parametrize("whole", [round, math.floor, math.ceil, int])
def test_a_batch_is_no_integer(whole):
    """Inside vmap there is no one number to round."""
    assert ad.grad(lambda x: x * whole(x))(2.7) == whole(2.7)
    with pytest.raises(ad.errors.BatchError):
        ad.vmap(lambda x: x * whole(x))(np.ones(1))


def is_free(lock):
    """Whether another thread gets it."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: lock.acquire(blocking=False) and lock.release() is None).result()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_ctrl_c_leaves_no_lock_held():
    """A signal at any time, as the processor has it: Python 3.14 would leave a lock of its own held."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before, lock, met = signal.signal(signal.SIGALRM, interrupt), Lock(), 0
    try:
        for k in range(300):
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 2e-5 + k * 1e-7)
                while True:
                    with lock:
                        met += 1
            assert is_free(lock)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert met


def test_all_locks_are_such_locks():
    """But for one that is never waited for."""
    files = [f for f in Path(ad.__file__).parent.rglob("*.py") if "Lock()" in f.read_text(encoding="utf-8")]
    assert files
    assert [f.name for f in files if re.search(r"threading\.R?Lock\(", f.read_text(encoding="utf-8"))] == [
        "branches.py"
    ]


def test_ctrl_c_leaves_nothing_behind():
    """Whenever it comes, NumPy has its own functions back: Python looks for it when a call begins or comes back."""
    own = np.array, np.zeros
    watched = {run.__code__, tracing.enter.__code__, tracing.leave.__code__, Lock.__enter__.__code__}

    def interrupted(at):
        left = at

        def watch(frame, event, argument):
            nonlocal left
            if frame.f_code in watched and event in ("call", "c_return"):
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt

        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            ad.grad(lambda x: np.sum(np.array([x, x])))(1.0)
        except KeyboardInterrupt:
            return True
        finally:
            sys.setprofile(before)
        return False

    points = 0
    while interrupted(points + 1):
        points += 1
        assert (np.array, np.zeros) == own
        assert LOCAL.depth == 0
        assert is_free(tracing._lock)
    assert points >= 8


def writing(x):
    x[0] = 0.0
    return np.sum(x**2)


STEPS = {
    "checkpoint": ad.checkpoint(writing),
    "custom_rule": ad.custom_rule(writing, jvp=lambda primals, out, tangents: 2 * np.sum(primals[0] * tangents[0])),
}
TRANSFORMS = {
    "grad": ad.grad, "jacfwd": ad.jacfwd, "hessian": ad.hessian, "vmap": lambda f: lambda x: ad.vmap(f)(x[None]),
}  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("step", STEPS)
def test_a_step_may_not_write_to_its_arguments(step, transform):
    """The trace holds them too, so its derivatives would be those of other numbers."""
    with pytest.raises(ValueError, match="read-only"):
        TRANSFORMS[transform](lambda x: STEPS[step](x * 1.0))(np.ones(3))


def test_what_a_step_returns_may_be_written_to():
    """Also if it returns an argument."""

    def f(x):
        y = ad.checkpoint(lambda a: a)(x)
        y[0] = 0.0
        return np.sum(y**2)

    x = np.array([1.0, 2.0])
    assert ad.grad(f)(x).tolist() == [0.0, 4.0]
    assert ad.hessian(f)(x).tolist() == [[0.0, 0.0], [0.0, 2.0]]
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x.astype(np.float32)) * np.sum(x),
        lambda x: np.sum(np.float32(1.1) * np.sum(x) * np.ones(2, np.float32)),
        lambda x: np.sum(np.maximum(np.sum(x) / 3, np.array([0.1], np.float32))),
        lambda x: np.sum(np.arctan2(np.ones(2, np.float32), np.sum(x))),
    ],
    ids=["product", "arrays", "maximum", "arctan2"],
)
def test_numbers_keep_their_precision(f):
    """A double-precision number does not give way to single-precision arrays, as in NumPy; a Python number does."""
    x = np.array([1.0, 2.0, 1e-9])
    value, gradient = ad.value_and_grad(f)(x)
    assert value.dtype == np.asarray(f(x)).dtype == np.float64
    assert value == f(x)
    np.testing.assert_allclose(gradient, ad.jit(ad.grad(f))(x), rtol=1e-12)


def test_a_python_number_gives_way():
    """With a Python float as input, single precision wins, as it does in NumPy."""
    assert ad.vjp(lambda x: x * np.ones(2, np.float32), 1.1)[0].dtype == np.float32
    assert ad.vjp(lambda x: x * np.ones(2, np.float32), np.float64(1.1))[0].dtype == np.float64


@pytest.mark.parametrize("n", [3, 100, 5000])
def test_large_derivatives_give_no_warning(n):
    """That they are finite is found by a sum of squares, which may overflow by itself; warnings are errors here."""
    _, tangent = ad.jvp(lambda x: x * 1e200, (np.ones(n),), (np.ones(n),))
    gradient = ad.grad(lambda x: np.sum(x * 1e200))(np.ones(n))
    _, largest = ad.jvp(np.max, (np.arange(n) * 1e200,), (np.ones(n),))
    assert np.all(tangent == 1e200)
    assert np.all(gradient == 1e200)
    assert largest == 1.0


@pytest.mark.parametrize("product", [lambda x, c: x * c, lambda x, c: c * x, lambda x, c: c @ x])
def test_a_plain_array_may_change_before_the_sweep_back(product):
    """What a product was taken with counts, not what the array holds later."""
    c = np.array([[1.0, 2.0], [3.0, 4.0]])
    value, pullback = ad.vjp(lambda x: product(x, c), np.eye(2))
    expected = pullback(np.ones_like(value))
    c[:] = 0.0
    assert np.all(np.equal(pullback(np.ones_like(value)), expected))
    assert np.any(np.not_equal(expected, 0.0))


def test_the_tangent_of_a_rule_may_be_smaller_than_its_result():
    """It is spread out forward, so its cotangent is summed on the way back."""
    rule = Opaque(jvp=lambda tangents, out, args, params: 2.0 * tangents[0])
    repeated = Primitive("repeated", lambda x: np.stack([2.0 * x, 2.0 * x]), derivative=rule, stacking=leading)
    assert np.all(ad.grad(lambda x: np.sum(repeated(x)))(np.ones(3)) == 4.0)
