"""Loops that threads share: results do not depend on how many there are, or on who else is calling."""

import os
import threading

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad

RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(600, 1100))
VECTOR = RNG.normal(size=700_003)


def several(x):
    return np.tanh(x).sum(), (x * x).sum(axis=0), np.sin(x).sum(axis=1), x.max(axis=0), (x * 2).min(), np.exp(-x * x)


def differences(x):
    return (np.tanh(x[1:] - x[:-1]) ** 2).sum() + (x[:, 1:] * x[:, :-1]).sum()


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


CASES = {
    "rows and columns": (several, MATRIX),
    "one sum": (lambda x: ((x * x).sum(), np.sin(x).sum(), x.max(), (x > 0).sum()), VECTOR),
    "pads": (ad.grad(differences), MATRIX),
    "pads of a vector": (ad.grad(rosenbrock), VECTOR),
}


@pytest.fixture
def default_threads():
    yield
    ad.config.set_threads(None)


def bits(result):
    return [np.asarray(x).tobytes() for x in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", CASES)
def test_threads_change_nothing(name, default_threads):
    """To the last bit, for any number of threads, from many threads at once and in a fork."""
    fun, x = CASES[name]
    jitted = ad.jit(fun)
    first = jitted(x)
    ad.config.set_threads(1)
    want = bits(jitted(x))
    for have, expected in zip(jitted(x), first, strict=True) if isinstance(first, tuple) else [(jitted(x), first)]:
        np.testing.assert_allclose(have, expected, rtol=1e-9, atol=1e-9)
    for n in (2, 3, 7):
        ad.config.set_threads(n)
        assert bits(jitted(x)) == want
    wrong = []

    def call():
        for _ in range(3):
            if bits(jitted(x)) != want:
                wrong.append(threading.get_ident())

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong
    child = os.fork()
    if child == 0:
        os._exit(0 if bits(jitted(x)) == want else 1)
    assert os.waitpid(child, 0)[1] == 0
