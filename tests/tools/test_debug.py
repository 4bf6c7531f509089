"""Tools to look inside: `ad.debug`, `ad.config.disable_jit`, `ad.config.clear_caches`, `ad.eval_shape`."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import adjoint as ad


def said(capsys):
    return capsys.readouterr().out.splitlines()


def speaking(x):
    ad.debug.print("x = {}, twice {y}", x, y=2 * x)
    return x * x


@pytest.mark.parametrize("wrap", [
    lambda f: f, ad.jit, ad.grad, lambda f: ad.jit(ad.grad(f)), lambda f: ad.grad(ad.jit(f)),
    lambda f: ad.jit(ad.jit(f)),
    lambda f: lambda x: ad.jvp(f, (x,), (1.0,)), lambda f: lambda x: ad.jvp(ad.jit(f), (x,), (1.0,)),
    lambda f: ad.grad(ad.checkpoint(f)), lambda f: lambda x: ad.vjp(ad.jit(f), x)[1](1.0), ad.value_and_grad,
], ids=range(11))  # fmt: skip
def test_print_once_for_each_call(wrap, capsys):
    """Once for every evaluation of the function, also under jit, and not again for its derivative."""
    g = wrap(speaking)
    for x in (1.5, 2.0, 1.5):
        g(x)
        assert said(capsys) == [f"x = {x}, twice {2 * x}"]


def test_print_in_branches(capsys):
    """Only what is on the path that is taken in the end."""

    @ad.jit
    def f(x):
        ad.debug.print("start")
        if x > 1.0:
            ad.debug.print("large {}", x)
        return x

    for x in (0.5, 2.0, 0.7, 3.0):
        f(x)
        assert said(capsys) == ["start", *([f"large {x}"] if x > 1 else [])]
    assert f.stats()["recordings"] == 2


def test_print_for_each_example(capsys):
    """vmap: one line an example, in order; nested, the outer batch first."""

    def g(x, y):
        ad.debug.print("{} {}", x, y)
        return x + y

    for f in (ad.vmap(g), ad.jit(ad.vmap(g))):
        for _ in range(2):
            f(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
            assert said(capsys) == ["1.0 3.0", "2.0 4.0"]
    ad.vmap(ad.vmap(g, (None, 0)), (0, None))(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    assert said(capsys) == ["1.0 3.0", "1.0 4.0", "2.0 3.0", "2.0 4.0"]


def test_print_in_loops(capsys):
    """A loop with a callback is run step by step."""

    def f(xs):
        def body(total, x):
            ad.debug.print("at {}", x)
            return total + x, None

        return ad.scan(body, 0.0, xs)[0]

    for g in (f, ad.grad(f), ad.jit(f), ad.jit(ad.grad(f))):
        for _ in range(2):
            g(np.array([1.0, 2.0]))
            assert said(capsys)[-2:] == ["at 1.0", "at 2.0"]


def test_print_before_an_error(capsys):
    """What was said before the function raised is said."""

    def f(x):
        ad.debug.print("before {}", x)
        raise ValueError("no")

    for g in (f, ad.jit(f), ad.grad(f)):
        with pytest.raises(ValueError, match="no"):
            g(1.0)
        assert said(capsys) == ["before 1.0"]


def collected(seen, x):
    seen.append(x)


def test_callback_gets_plain_values_of_its_own():
    """Containers, keywords, arrays that it may keep and write to; strings and objects as they are."""
    seen = []

    def f(x):
        ad.debug.callback(lambda *a, **k: seen.append((a, k)), {"x": x, "n": 3}, "text", y=x * 2)
        return np.sum(x)

    x = np.array([1.0, 2.0])
    for g in (f, ad.grad(f), ad.jit(f)):
        seen.clear()
        g(x)
        (((tree, text), words),) = seen
        assert type(tree["x"]) is np.ndarray
        assert (tree["n"], text) == (3, "text")
        np.testing.assert_array_equal(words["y"], 2 * x)
        tree["x"][:] = 0
        assert x[0] == 1.0


@pytest.mark.parametrize("call", [lambda: ad.debug.callback(3, 1.0), lambda: ad.debug.print(3.0)])
def test_callback_refuses(call):
    """What is no function, what is no text."""
    with pytest.raises(ad.errors.InputError):
        call()


def bad_log(x):
    y = x - 3.0
    return np.sum(np.log(y) ** 2)


def bad_slope(x):
    y = np.sqrt(x)
    return np.sum(y * np.log(x))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("wrap", [
    ad.jit, ad.grad, lambda f: ad.jit(ad.grad(f)), lambda f: ad.grad(ad.jit(f)), ad.hessian,
    lambda f: lambda x: ad.jvp(f, (x,), (x,)), lambda f: lambda x: ad.vjp(f, x)[1](1.0), ad.jacobian,
    lambda f: lambda x: ad.vmap(f)(x[None]), lambda f: ad.vmap(ad.grad(lambda x: f(np.array([x])))),
], ids=range(10))  # fmt: skip
def test_nans_name_the_step_and_the_line(wrap):
    """Under every transformation, the step that made the first nan, with its line."""
    x = np.array([4.0, 2.0])
    with (
        ad.debug.nans(),
        pytest.raises(ad.errors.NanError, match=r"(?s)made by log.*bad_log\(\):  return np.sum\(np.log"),
    ):
        wrap(bad_log)(x)
    with ad.debug.nans():
        wrap(bad_log)(x + 10)  # nothing to find


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nans_of_the_derivative_and_harmless_ones():
    """A nan that only the derivative has names the line of the function; one that is masked is none."""
    with ad.debug.nans(), pytest.raises(ad.errors.NanError, match=r"bad_slope\(\)"):
        ad.grad(bad_slope)(np.array([1.0, 0.0]))
    with ad.debug.nans():
        masked = ad.grad(lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)))(np.array([2.0, -1.0]))
    np.testing.assert_allclose(masked, [0.5, 0.0])
    with ad.debug.nans(), pytest.raises(ad.errors.NanError, match="from the start"):
        ad.grad(bad_log)(np.array([np.nan, 5.0]))
    assert np.isnan(ad.grad(bad_log)(np.array([2.0]))).all()  # and outside nothing is raised


def test_nans_are_this_threads():
    """Another thread is not looked at."""
    found = []
    with ad.debug.nans(), np.errstate(all="ignore"):
        thread = threading.Thread(target=lambda: found.append(ad.grad(lambda x: x * np.nan)(1.0)))
        thread.start()
        thread.join()
    assert np.isnan(found[0])


def test_disable_jit():
    """Functions run as they are, loops step by step, and jit is back afterwards; also when an error ends it."""
    seen = []

    def f(x):
        seen.append(x)
        return ad.scan(lambda c, x: (seen.append(x) or c + x, None), 0.0, x)[0]

    g = ad.jit(f)
    x = np.array([1.0, 2.0])
    with ad.config.disable_jit():
        assert g(x) == 3.0
        assert len(seen) == 3
        assert ad.grad(lambda x: ad.cond(x > 0, np.sin, np.cos, x))(1.0) == np.cos(1.0)
        assert ad.grad(lambda x: ad.switch(np.int64(1), [np.sin, np.cos], x))(1.0) == -np.sin(1.0)
        np.testing.assert_allclose(
            ad.vmap(lambda c: ad.while_loop(lambda s: s < 10, lambda s: s * 2, c))(np.array([1.0, 3.0])), [16.0, 12.0]
        )
    h = ad.jit(lambda x: 2 * x)
    h(1.0)
    with pytest.raises(TypeError), ad.config.disable_jit():
        h("text", h(2.0))
    assert h(3.0) == 6.0
    assert h.stats()["recordings"] == 1
    with pytest.raises(ad.errors.ImpureError):
        g(x)


def test_clear_caches():
    """Recordings are forgotten, and made again."""
    f = ad.jit(lambda x: ad.scan(lambda c, x: (c + x, None), 0.0, x)[0])
    for _ in range(2):
        assert f(np.arange(3.0)) == 3.0
        assert f(np.arange(4.0)) == 6.0
        assert f.stats()["recordings"] == 2
        ad.config.clear_caches()
        assert f.stats()["recordings"] == 0


SHAPES = [
    lambda A: A @ A.T, lambda A: np.linalg.cholesky(A.T @ A), np.linalg.svd, np.sort, np.fft.rfft, lambda A: A[1:, 0],
    lambda A: (np.max(A, 0), np.argmax(A, 1)), lambda A: {"a": np.concatenate([A, A]), "b": np.std(A)}, np.median,
    lambda A: np.linalg.solve(A[:4], A[:4, 0]), lambda A: scipy.special.gamma(A).astype(np.float32) * 2.0,
    lambda A: scipy.special.logsumexp(A, axis=0), ad.grad(lambda A: np.sum(A**2)), ad.hessian(lambda A: np.sum(A**2)),
    lambda A: ad.scan(lambda c, x: (c + x, c), np.zeros(4), A), lambda A: np.einsum("ij,kj->ik", A, A),
    lambda A: ad.vmap(np.sum)(A), ad.jit(lambda A: A * 2), np.linalg.pinv, lambda A: scipy.linalg.expm(A[:4]),
    lambda A: 3, lambda A: np.zeros(3), lambda A: A > 0,
]  # fmt: skip


@pytest.mark.parametrize("f", SHAPES, ids=range(len(SHAPES)))
def test_eval_shape_agrees_with_evaluation(f):
    """Shapes, dtypes and containers of the real result."""
    A = np.random.default_rng(0).normal(size=(5, 4))
    real = ad.tree.map(lambda x: (np.shape(x), np.asarray(x).dtype), f(A))
    found = ad.tree.map(lambda s: (s.shape, s.dtype), ad.eval_shape(f, A))
    assert str(found) == str(real)


def test_eval_shape_takes_shapes_and_no_memory():
    """What it returns is what it takes; sizes that no memory could hold are no matter."""
    A = ad.eval_shape(lambda x: np.outer(x, x), np.zeros(10**6))
    assert str(A) == "float64[1000000,1000000]"
    assert str(ad.eval_shape(lambda A: np.sum(np.exp(A) @ A, axis=0), A)) == "float64[1000000]"
    found = ad.eval_shape(lambda x, n: x.reshape(n, -1), np.zeros(6, np.float32), 2)
    assert found == ad.eval_shape(lambda: np.zeros((2, 3), np.float32))
    with pytest.raises(ad.errors.InputError, match="depend on values"):
        ad.eval_shape(lambda x: x[x > 0], np.zeros(3))
