"""Programs that mix whole arrays with single elements, around every size at which the library changes course."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.values import LARGE


def written(x):
    y = np.zeros(len(x))
    y[0] = x[0] * 2
    y[1:] = x[:-1] ** 2
    return np.sum(y * x)


def updated(x):
    y = x * 1.0
    y[1] = y[0] * x[2]
    y += x
    y[2:] *= y[:-2]
    return np.sum(np.sin(y))


def gathered(x):
    half = np.arange(len(x))[::-1] // 2
    return np.sum(x[half] * x) + x[-1] * x[0]


def chained(x):
    y = np.zeros_like(x)
    for k in range(4):
        y[k + 1] = y[k] + x[k] * x[k + 1]
    return np.sum(y) * x[3] + y[2]


def scattered(x):
    y = np.zeros(len(x))
    np.add.at(y, np.array([0, 1, 0]), x[:3])
    return y @ x


PROGRAMS = {
    "a sum and an element": lambda x: np.sum(x * x) + x[-1],
    "elements": lambda x: x[0] * x[0] + 2 * x[5],
    "one element": lambda x: x[0],
    "neighbours": lambda x: np.sum(x[1:] * x[:-1]) + x[1],
    "written": written,
    "updated": updated,
    "gathered": gathered,
    "chained": chained,
    "scattered": scattered,
    "largest": lambda x: np.max(x) * x[1] + np.min(x),
    "accumulated": lambda x: np.cumsum(x)[-1] * x[0],
    "moments": lambda x: np.mean(x) + x[2] * np.std(x),
    "taken": lambda x: np.take(x, [1, 1, 2]).sum() * np.sum(x),
    "joined": lambda x: np.sum(np.concatenate([x[:2], x]) ** 2) + x[0],
    "soft": lambda x: np.log(np.sum(np.exp(x))) - x[2],
    "chosen": lambda x: np.sum(np.where(x > x[0], x, x[1])),
    "turned": lambda x: np.sum(x[::-1] * x) + x[::2].sum() * x[1],
    "spread": lambda x: np.sum(np.broadcast_to(x[0], x.shape) * x) + x[1],
    "padded": lambda x: np.sum(np.pad(x, 1) ** 2) + x[0],
    "outer": lambda x: np.sum(np.outer(x[:3], x) ** 2) + x[1],
    "halves": lambda x: sum(np.sum(p) ** 2 for p in np.array_split(x, 2)) + x[4],
    "picked": lambda x: x[np.argmax(x)] * x[0],
}


def point(n):
    rng = np.random.default_rng(n)
    return rng.normal(size=n), rng.normal(size=n)


def agree(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * (1 + np.max(np.abs(want))))


@pytest.mark.parametrize("n", [LARGE, LARGE + 1])
@pytest.mark.parametrize("name", PROGRAMS)
def test_nestings(name, n):
    """First derivatives in every mode and batch, second ones in every order, where arrays begin to be large."""
    f, (x, t) = PROGRAMS[name], point(n)
    both = np.stack([x, x])
    gradient = ad.grad(f)
    along = lambda x: ad.jvp(f, (x,), (t,))[1]  # noqa: E731
    pushed = lambda x: ad.linearize(f, x)[1](t)  # noqa: E731
    step = 1e-6
    agree(np.sum(gradient(x) * t) / 1e3, (f(x + step * t) - f(x - step * t)) / (2e3 * step))
    agree(along(x), np.sum(gradient(x) * t))
    agree(pushed(x), along(x))
    agree(ad.vmap(gradient)(both), np.stack([gradient(x)] * 2))
    agree(ad.vmap(along)(both), [along(x)] * 2)
    agree(ad.vmap(pushed)(both), [along(x)] * 2)
    second = ad.jvp(gradient, (x,), (t,))[1]
    agree(ad.grad(along)(x), second)
    agree(ad.grad(pushed)(x), second)
    agree(ad.vjp(gradient, x)[1](t)[0], second)
    agree(ad.linearize(gradient, x)[1](t), second)
    agree(ad.vmap(lambda c: ad.vjp(gradient, x)[1](c)[0])(np.stack([t, t]))[1], second)
    agree(ad.vmap(lambda c: ad.jvp(gradient, (x,), (c,))[1])(np.stack([t, t]))[1], second)


@pytest.mark.parametrize("name", PROGRAMS)
def test_jitted_gradient_of_a_large_array(name):
    """The gradient is captured above the size from which arrays are large, and gives the same numbers."""
    f, (x, _) = PROGRAMS[name], point(LARGE + 1)
    compiled = ad.jit(ad.grad(f))
    agree(compiled(x), ad.grad(f)(x))
    agree(compiled(x + 0.1), ad.grad(f)(x + 0.1))


SIZES = [8, 9, 10, 32, 33, 64, 65, 256, 257, LARGE, LARGE + 1, 100_001, 400_001]
"""Around the sizes at which something else happens: elements in registers, quick tests, loops, products, threads."""


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_jitted_nestings(name, n):
    """Gradients, tangents, batches and second derivatives as programs."""
    f, (x, t) = PROGRAMS[name], point(n)
    gradient = ad.grad(f)
    along = lambda x: ad.jvp(f, (x,), (t,))[1]  # noqa: E731
    curved = lambda x: np.sum(gradient(x) * t)  # noqa: E731
    for transform, at in ((gradient, x), (along, x), (ad.grad(curved), x), (ad.vmap(gradient), np.stack([x, -x]))):
        compiled = ad.jit(transform)
        agree(compiled(at), transform(at))
        agree(compiled(at), transform(at))
    agree(ad.grad(ad.jit(f))(x), gradient(x))
    agree(ad.linearize(ad.jit(f), x)[1](t), along(x))


SINGLE = {
    "scaled": lambda x: x.astype(np.float32) * 1.1,
    "divided": lambda x: x.astype(np.float32) / 1.1 + x[1] * x.astype(np.float32),
    "raised": lambda x: np.abs(x.astype(np.float32)) ** 2.3,
    "summed": lambda x: np.sum(1.1 * x.astype(np.float32)),
    "there and back": lambda x: (x.astype(np.float32) * 0.3).astype(float) * 1.1,
    "half": lambda x: x.astype(np.float16) * 1.1,
}


@pytest.mark.parametrize("n", [3, LARGE, LARGE + 1])
@pytest.mark.parametrize("name", SINGLE)
def test_linearize_rounds_as_jvp(name, n):
    """A Python number beside an array of lower precision gives way in a recorded trace as in a forward one."""
    f, (x, t) = SINGLE[name], point(n)
    np.testing.assert_array_equal(ad.linearize(f, x)[1](t), ad.jvp(f, (x,), (t,))[1])


@pytest.mark.parametrize("n", [3, LARGE + 1])
@pytest.mark.parametrize(
    "f",
    [lambda x: x, lambda x: x.copy(), lambda x: x[1:], lambda x: np.sum(x) + np.zeros(x.shape), lambda x: x[None]],
    ids=["itself", "copy", "view", "spread", "reshaped"],
)
def test_results_are_the_callers_own(f, n):
    """Whatever its size, a result can be written to and shares memory with no argument."""
    x, t = point(n)
    found = [*ad.jvp(f, (x,), (t,)), ad.linearize(f, x)[1](t)]
    found += ad.vmap(lambda x: ad.jvp(f, (x,), (t,))[1])(np.stack([x, x])), ad.vjp(f, x)[1](f(x))[0]
    for result in found:
        assert result.flags.writeable
        assert not np.shares_memory(result, x)
        assert not np.shares_memory(result, t)
