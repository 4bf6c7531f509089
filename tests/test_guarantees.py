"""What `docs/guarantees.md` and `SECURITY.md` promise of threads, forks, determinism and files."""

from __future__ import annotations

import io
import os
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint import losses, nn, optim

ROOT = Path(__file__).parent.parent
X = np.linspace(0.1, 2.0, 50)


def loss(x):
    """A function with an array that is filled."""
    y = np.zeros(3)
    y[0] = np.sum(np.sin(x) * x)
    y[1] = np.prod(x[:3])
    return np.sum(y)


def test_threads_do_not_see_each_other():
    """While one thread traces, another one has NumPy as it is, and traces functions of its own."""
    inside, outside = threading.Event(), threading.Event()
    met = []

    def held(x):
        inside.set()
        assert outside.wait(10)
        return np.sum(np.zeros(3) + x)

    def other():
        assert inside.wait(10)
        met.append((type(np.zeros(2)), type(np.array([1.0])), ad.grad(loss)(X)))
        outside.set()

    thread = threading.Thread(target=other)
    thread.start()
    ad.grad(held)(1.0)
    thread.join()
    assert met[0][:2] == (np.ndarray, np.ndarray)
    np.testing.assert_array_equal(met[0][2], ad.grad(loss)(X))


def test_one_jitted_function_in_many_threads():
    """First calls and later ones, with several shapes, from eight threads."""
    jitted = ad.jit(ad.grad(loss))
    points = [X[: 10 + k % 3] for k in range(48)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(jitted, points))
    for x, gradient in zip(points, found, strict=True):
        np.testing.assert_allclose(gradient, ad.grad(loss)(x), rtol=1e-14)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_child_computes_the_same():
    """A child calls what its parent has compiled, and compiles what it has not."""
    jitted = ad.jit(ad.grad(loss))
    jitted(X)
    want = jitted(X), ad.grad(loss)(X[:7])
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        same = np.array_equal(jitted(X), want[0]) and np.allclose(jitted(X[:7]), want[1])
        os.write(write, b"1" if same else b"0")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1) == b"1"


def test_the_same_bits_with_any_number_of_threads():
    """Large loops and sums in pieces of a fixed size."""
    x = np.random.default_rng(0).normal(size=300_000)
    jitted = ad.jit(ad.value_and_grad(lambda x: np.sum(np.sin(x) * np.exp(-x * x))))
    found = []
    try:
        for n in (1, 2, 3):
            ad.config.set_threads(n)
            value, gradient = jitted(x)
            found.append((float(value), gradient.tobytes()))
    finally:
        ad.config.set_threads(None)
    assert found[0] == found[1] == found[2]


class Trap:
    """What would run code if it were loaded as a pickle."""

    def __reduce__(self):
        return pytest.fail, ("a file ran code",)


def test_no_file_runs_code(tmp_path):
    """A checkpoint with a pickle in it is refused, not loaded."""
    stored = io.BytesIO()
    np.savez(stored, weights=np.array([Trap()], object))
    for name, content in {"pickle": pickle.dumps(Trap()), "arrays": stored.getvalue()}.items():
        file = tmp_path / name
        file.write_bytes(content)
        model = nn.Dense(1, 1, key=ad.random.key(0))
        with pytest.raises(ad.errors.InputError):
            ad.train(
                model, losses.squared, (np.ones((2, 1)), np.ones((2, 1))), optim.sgd(0.1),
                epochs=1, checkpoint=file, progress=False,
            )  # fmt: skip


def test_tests_that_are_named_exist():
    """A promise names the test that holds it."""
    text = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    for path, test in re.findall(r"`(tests/[\w/]+(?:\.py)?)(?:::(\w+))?`", text):
        assert (ROOT / path).exists()
        assert not test or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8")
