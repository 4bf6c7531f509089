"""Processes that are forked while other threads compile, record and compute: each child does all of it, and ends."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("llvmlite")

SCRIPT = """
import multiprocessing, os, signal, threading
import numpy as np
import adjoint as ad

stop = threading.Event()
large = np.ones(300_000)
total = ad.jit(lambda x: np.sum(np.sin(x) * x))
shared = ad.jit(lambda x: x * 2.0)
total(large)

def compiles(k):
    while not stop.is_set():
        k += 7
        ad.jit(lambda x, k=float(k): np.sum(np.tanh(x * k) + np.exp(-x * x) * k))(np.ones(5))
        shared(np.ones(1 + k % 50))
        ad.grad(lambda x: np.sum(np.array([x[0], x[1]])))(np.ones(2))

def computes():
    while not stop.is_set():
        total(large)

def everything(n):
    signal.alarm(60)  # a child that waits for ever is ended by this
    assert abs(total(large) - 300_000 * np.sin(1.0)) < 1e-6
    assert ad.jit(lambda x: np.sum(x * 3.25 + n))(np.ones(7)) == 7 * (3.25 + n)
    assert shared(np.ones(60 + n)).sum() == 2 * (60 + n)
    assert ad.grad(lambda x: np.sum(np.array([x[0], 2.0 * x[1]])))(np.ones(2)).tolist() == [1.0, 2.0]
    assert np.zeros(3).tolist() == [0.0, 0.0, 0.0] and type(np.zeros(3)) is np.ndarray
    return n

threads = [threading.Thread(target=compiles, args=(k,)) for k in range(2)] + [threading.Thread(target=computes)]
for thread in threads:
    thread.start()
try:
    for n in range(15):
        child = os.fork()
        if child == 0:
            try:
                everything(n)
            except BaseException:
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, f"child {n} did not do its work"
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(everything, range(6)) == list(range(6))
finally:
    stop.set()
    for thread in threads:
        thread.join()
print("done")
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forks_while_others_compile():
    """No child finds a lock held, by LLVM, by the pool, by a jitted function, and all of them compute what is right."""
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, timeout=900, check=False
    )
    assert found.stdout == "done\n", found.stderr
