"""Threads, deep programs, memory, exceptions, coroutines: traces share no state, so there is nothing to disturb."""

import asyncio
import contextlib
import gc
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.calls.suppressed_errors import REFUSED
from adjoint.core.traced import Traced


def nested(x):
    """A gradient inside a gradient."""
    return x * ad.grad(lambda y: np.sin(x * y) * y)(x)


def nested_by_hand(x):
    return x * (np.cos(x * x) * x * x + np.sin(x * x))


def test_threads_differentiate_at_the_same_time():
    """Many threads with nested gradients get what one thread gets."""
    points = np.linspace(0.1, 2.0, 200)
    want = [ad.numerical.grad(nested_by_hand)(float(x)) for x in points]
    barrier = threading.Barrier(8)

    def work(part):
        barrier.wait()
        return [ad.grad(nested)(float(x)) for x in part]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, np.split(points, 8)))
    np.testing.assert_allclose(np.concatenate(found), want, rtol=1e-7)


def test_a_traced_value_may_cross_threads():
    """Work handed to a pool inside the function is differentiated too."""

    def f(x):
        with ThreadPoolExecutor(2) as pool:
            return sum(pool.map(lambda k: ad.grad(lambda y: np.sin(x * y))(x) * k, [1.0, 2.0]))

    want = ad.grad(lambda x: 3.0 * np.cos(x * x) * x)(0.7)
    assert ad.grad(f)(0.7) == pytest.approx(want, rel=1e-14)


def test_numpy_gets_its_own_functions_back():
    """Array makers are replaced only while a function is traced, also when it raises."""
    before = np.array, np.zeros, np.full, np.asarray
    with pytest.raises(ZeroDivisionError):
        ad.grad(lambda x: x * (1 // 0))(1.0)
    ad.grad(lambda x: np.array([x, x]).sum())(1.0)
    assert (np.array, np.zeros, np.full, np.asarray) == before


def test_other_threads_see_plain_arrays():
    """While one thread traces, np.zeros in another is plain."""
    seen = []

    def f(x):
        worker = threading.Thread(target=lambda: seen.append(type(np.zeros(2))))
        worker.start()
        worker.join()
        return x * 2.0

    ad.grad(f)(1.0)
    assert seen == [np.ndarray]


def test_a_long_loop_does_not_recurse():
    """A hundred thousand steps, forward and back."""

    def f(x):
        y = x
        for _ in range(100_000):
            y = y * 0.99999 + 1e-5
        return y

    assert ad.grad(f)(2.0) == pytest.approx(0.99999**100_000, rel=1e-9)
    assert ad.jvp(f, (2.0,), (1.0,))[1] == pytest.approx(0.99999**100_000, rel=1e-9)


@pytest.mark.parametrize(
    "transform", [ad.grad, ad.hessian, ad.jacfwd, lambda f: ad.vmap(ad.grad(lambda x: f(x)), in_axes=None)]
)
def test_nothing_is_left_after_a_call(transform):
    """Every intermediate array dies with the call."""
    alive = []

    class Tagged(np.ndarray):
        """An array that can be watched."""

    def f(x):
        constant = np.arange(3.0).view(Tagged)
        alive.append(weakref.ref(constant))
        y = np.sin(x) * constant
        if isinstance(y, Traced):
            alive.append(weakref.ref(y))
        return np.sum(y)

    if transform in (ad.grad, ad.hessian, ad.jacfwd):
        transform(f)(np.ones(3))
    else:
        ad.vmap(ad.grad(f))(np.ones((2, 3)))
    gc.collect()
    assert alive
    assert [ref() for ref in alive if ref() is not None] == []


def test_memory_is_freed_without_the_garbage_collector():
    """There are no reference cycles in a trace."""
    gc.collect()
    gc.disable()
    try:
        refs = []

        def f(x):
            y = np.exp(x) * x
            y[0] = x[1] * 2.0
            refs.append(weakref.ref(y))
            return np.sum(y[1:])

        ad.grad(f)(np.ones(3))
        assert [r() for r in refs] == [None]
    finally:
        gc.enable()


def test_an_exception_leaves_nothing_open():
    """After an error, the next call is as the first."""

    def f(x):
        if x > 1:
            raise KeyError("user")
        return x**2

    with pytest.raises(KeyError, match="user"):
        ad.grad(f)(2.0)
    with pytest.raises(KeyError, match="user"):
        ad.hessian(lambda x: f(x[0]))(np.array([2.0]))
    assert ad.grad(ad.grad(f))(0.5) == 2.0


def test_coroutines_and_generators_interleave():
    """Gradients taken in coroutines and generators that take turns do not mix."""

    async def descend(x):
        for _ in range(20):
            x = x - 0.1 * ad.grad(lambda y: (y - 3.0) ** 2)(x)
            await asyncio.sleep(0)
        return x

    async def both():
        return await asyncio.gather(descend(0.0), descend(5.0))

    first, second = asyncio.run(both())
    assert first == pytest.approx(3.0 - 3.0 * 0.8**20)
    assert second == pytest.approx(3.0 + 2.0 * 0.8**20)

    def gradients(f, x):
        while True:
            x = x - 0.1 * ad.grad(f)(x)
            yield x

    a, b = gradients(lambda y: y**2, 1.0), gradients(lambda y: y**4, 1.0)
    assert [next(a), next(b), next(a), next(b)] == pytest.approx([0.8, 0.6, 0.64, 0.6 - 0.4 * 0.6**3])


def test_a_generator_inside_the_function():
    """Generators that yield traced values are plain Python."""

    def powers(x):
        y = 1.0
        for _ in range(4):
            y = y * x
            yield y

    assert ad.grad(lambda x: sum(powers(x)))(2.0) == 1 + 4 + 12 + 32


def test_perturbations_are_not_confused():
    """d/dx [x * d/dy (x + y)] = 1, in every mode."""
    for inner in (lambda f: ad.grad(f), lambda f: lambda y: ad.jvp(f, (y,), (1.0,))[1]):
        for outer in (lambda f: ad.grad(f), lambda f: lambda y: ad.jvp(f, (y,), (1.0,))[1]):
            assert outer(lambda x: x * inner(lambda y: x + y)(1.0))(1.0) == 1.0


def test_a_leaked_value_is_only_a_constant():
    """A traced value kept from an earlier call does not disturb later ones."""
    kept = []
    ad.grad(lambda x: kept.append(x * 2.0) or x**2)(3.0)
    assert ad.grad(lambda x: x * ad.value(kept[0]))(1.0) == 6.0


def test_changing_a_constant_after_use_changes_nothing():
    """What was recorded is what was computed."""
    weights = np.ones(3)
    places = np.array([0, 1])
    mask = np.array([True, False, True])

    def f(x):
        y = np.sum(x * weights) + np.sum(x[places]) + np.sum(np.where(mask, x, 0.0))
        weights[:] = 100.0
        places[:] = 2
        mask[:] = False
        return y

    assert ad.grad(f)(np.zeros(3)).tolist() == [3.0, 2.0, 2.0]


def test_a_pullback_outlives_changes_of_its_arguments():
    """The pullback belongs to the point where it was made."""
    x = np.array([1.0, 2.0])
    y, pullback = ad.vjp(lambda x: x**2 * np.exp(x), x)
    want = pullback(np.ones(2))[0]
    x[:] = 0.0
    y[:] = 0.0
    np.testing.assert_array_equal(pullback(np.ones(2))[0], want)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x, lambda x: np.asfortranarray(x), lambda x: x[::-1][::-1], lambda x: np.repeat(x, 2, 0)[::2],
        lambda x: x.astype(">f8"), lambda x: _read_only(x), lambda x: x.T.copy().T, lambda x: _mapped(x),
    ],
    ids=["plain", "fortran", "negative strides", "strided", "big-endian", "read-only", "transposed", "memory-mapped"],
)  # fmt: skip
def test_every_layout_works(make):
    """The layout in memory does not matter."""
    x = np.arange(6.0).reshape(2, 3) + 1
    f = lambda x: np.sum(np.sin(x[0]) * x[1] ** 2) + np.prod(x.T @ np.ones(2))  # noqa: E731
    np.testing.assert_allclose(ad.grad(f)(make(x)), ad.grad(f)(x), rtol=1e-14)
    np.testing.assert_allclose(ad.jacfwd(f)(make(x)), ad.grad(f)(x), rtol=1e-14)


def _read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def _mapped(x):
    import tempfile
    from pathlib import Path

    path = Path(tempfile.mkdtemp()) / "x.npy"
    np.save(path, x)
    return np.load(path, mmap_mode="r")


def test_empty_and_zero_dimensional_arrays():
    """Sizes 0 and 1 are sizes like others."""
    assert ad.grad(lambda x: np.sum(x**2))(np.zeros(0)).shape == (0,)
    assert ad.jacobian(lambda x: x**2)(np.zeros(0)).shape == (0, 0)
    assert ad.grad(np.tanh)(np.array(0.0)) == 1.0
    g = ad.grad(lambda x: x**2)(np.array(3.0))
    assert isinstance(g, np.ndarray)
    assert g.shape == ()
    assert g == 6.0


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.complex128])
def test_the_dtype_is_kept(kind):
    """Value, gradient and tangent have the dtype that came in."""
    x = np.array([0.5, 1.5], kind)
    value, g = ad.value_and_grad(lambda x: np.sum(np.abs(np.sin(x) * 2.0) ** 2))(x)
    assert g.dtype == kind
    assert value.dtype == np.finfo(kind).dtype
    y, t = ad.jvp(lambda x: np.exp(x) * 3.0, (x,), (x,))
    assert y.dtype == t.dtype == kind


def test_python_floats_in_python_floats_out():
    """Numbers stay numbers."""
    value, g = ad.value_and_grad(lambda x: x**3)(2.0)
    assert type(value) is float
    assert type(g) is float
    assert type(ad.grad(lambda x: np.sum(np.ones(3) * x))(2.0)) is float
    assert type(ad.grad(lambda x: x**2)(np.float32(2.0))) is np.float32
    assert type(ad.grad(lambda x: np.abs(x) ** 2)(1 + 1j)) is complex


def test_lists_of_traced_numbers():
    """Where NumPy takes a list, it may hold traced values."""
    x = 0.7
    for name in ("sum", "prod", "mean", "max", "min", "std", "var", "median"):
        listed = lambda x, name=name: getattr(np, name)([x, x**2, [3.0 * x][0]])  # noqa: E731
        assert ad.grad(listed)(x) == pytest.approx(ad.numerical.grad(listed)(x), rel=1e-6)
    assert ad.grad(lambda x: np.array([[x, 1.0], [x**2, x]])[1].sum())(2.0) == 5.0
    assert ad.grad(lambda x: np.sum([[x, 2.0], [x, x]], axis=0)[0])(2.0) == 2.0


def test_complex_gradients_point_uphill():
    """df/dx + i df/dy: for |z|^2 that is 2z, for Re(z^2) it is 2 conj(z)."""
    assert ad.grad(lambda z: np.abs(z) ** 2)(3 + 4j) == pytest.approx(6 + 8j)
    assert ad.grad(lambda z: np.real(z * z))(3 + 4j) == pytest.approx(6 - 8j)
    assert ad.grad(lambda z: np.imag(z))(3 + 4j) == pytest.approx(1j)


def test_integers_are_fine_as_constants():
    """Integers and booleans may stand anywhere, except where a derivative is asked for."""
    assert ad.grad(lambda x, n: x**n)(2.0, 3) == 12.0
    assert ad.grad(lambda x, n: np.sum(x * n))(np.ones(2), np.array([1, 2])).tolist() == [1.0, 2.0]
    assert ad.grad(lambda x, m: np.sum(x[m]))(np.ones(2), np.array([True, False])).tolist() == [1.0, 0.0]
    with pytest.raises(ad.errors.InputError):
        ad.grad(lambda x, n: x**n, argnums=1)(2.0, np.int64(3))


@pytest.mark.parametrize("size", [3, 10_000])
def test_results_share_no_memory(size):
    """Every gradient may be written to, and writing to one changes nothing else."""
    x = np.ones(size)
    a, b = ad.grad(lambda x, y: np.sum(x + y), argnums=(0, 1))(x, x)
    v = np.ones(size)
    (c,) = ad.vjp(lambda x: x + 0.0, x)[1](v)
    d = ad.grad(lambda x: np.sum(x.reshape(-1, 1)))(x)
    for g in (a, b, c, d):
        g *= 2.0
        assert np.all(g == 2.0)
    assert np.all(x == 1.0)
    assert np.all(v == 1.0)


def test_the_first_function_met_while_tracing_is_known():
    """Topics are loaded when one of their functions is met, while other names stand on the numpy module."""
    program = "import numpy as np, adjoint as ad; print(ad.grad(lambda x: np.median(x))(np.array([1.0, 2.0, 4.0])))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[0. 1. 0.]\n"


def test_views_of_views_do_not_recurse():
    """Thousands of views, each of the one before, are read and written through."""

    def f(x):
        y = x * 1.0
        view = y
        while len(view) > 2:
            view = view[1:]
        view[1] = view[0] ** 2
        return y[-1]

    assert ad.grad(f)(np.arange(5000.0))[-2:].tolist() == [2 * 4998.0, 0.0]


def test_views_see_what_stop_gradient_did_to_their_base():
    """The numbers are the same and the derivative is not: a view notices."""

    def f(x):
        y = x * 1.0
        view = y[1:]
        np.copyto(y, ad.stop_gradient(y))
        return np.sum(view**2) + np.sum(x)

    assert ad.grad(f)(np.ones(3)).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("size", [60, 6000])
def test_reading_and_writing_elements_of_small_and_large_arrays(size):
    """Cotangents of large arrays are updated in place; the result is that of forward mode."""

    def f(x):
        y = x * 1.0
        y[3] = x[2] * y[3]
        y[10:20] = y[0:10] * x[1]
        z = y + x
        y[3] = 2.0
        a = z[3] * y[11] + np.sum(y[:5] * z[5:10]) + x[4] * x[4] + x[3]
        z[::2] *= x[1]
        return a + np.sum(z[np.array([1, 1, 5])]) + np.sum(y[50:] ** 2) * 1e-3 + np.sum(z) * 1e-2

    x = np.random.default_rng(0).normal(size=size)
    _, push = ad.linearize(f, x)
    gradient = ad.grad(f)(x)
    for place in [*range(20), 51]:
        t = np.zeros(size)
        t[place] = 1.0
        assert gradient[place] == pytest.approx(push(t), rel=1e-12)
    assert np.dot(gradient, x) == pytest.approx(ad.jvp(f, (x,), (x,))[1], rel=1e-12)


def caught_first(x):
    """A conversion is tried; what is wrong comes later."""
    try:
        return x.__float__() * x
    except TypeError:
        raise ValueError("no number") from None


def caught_and_gone(x):
    with contextlib.suppress(TypeError):
        x.__float__()
    return x * [1.0][3]


CAUGHT = pytest.mark.filterwarnings("ignore:[^\\n]*\\n  The function caught this:RuntimeWarning")


@CAUGHT
@pytest.mark.parametrize("transform", [ad.grad, ad.vmap, lambda f: ad.jit(ad.grad(f))], ids=["grad", "vmap", "jit"])
@pytest.mark.parametrize("f", [caught_first, caught_and_gone])
def test_a_refusal_that_was_caught_is_over(f, transform):
    """An error that the function raises afterwards is its own."""
    with pytest.raises((ValueError, IndexError), match=r"no number|out of range") as found:
        transform(f)(np.ones(3)[0] if transform is not ad.vmap else np.ones(3))
    assert not isinstance(found.value, ad.AdjointError)


@CAUGHT
def test_refusals_are_forgotten():
    """A refusal that the function itself has caught is not taken for the cause of a later error in the same frame."""

    def cautious(x):
        try:
            return x.__float__()
        except TypeError:
            return x

    assert ad.grad(cautious)(4.0) == 1.0
    assert not REFUSED
