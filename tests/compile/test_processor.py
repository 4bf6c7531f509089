"""Machine code for processors that have less than this one."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("llvmlite")

from adjoint.compile.runtime.processor import AVX2, LEVELS, VARIABLE, has_feature

PROGRAM = """
import numpy as np, adjoint as ad
f = ad.jit(lambda x: np.sum(np.exp(np.sin(x)) * x))
x = np.linspace(0.0, 1.0, 1001)
f(x)
np.testing.assert_allclose(f(x), np.sum(np.exp(np.sin(x)) * x), rtol=1e-13)
print(sorted({word for word in ("zmm", "ymm", "xmm") if word in f.lower(x).assembly}))
"""


def run(level):
    """The registers that code for this processor uses, or the error."""
    environment = {**os.environ, VARIABLE: level}
    return subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)


def test_registers_of_the_processor():
    """Plain x86-64 has registers of 128 bits, AVX2 of 256."""
    assert run("x86-64").stdout == "['xmm']\n"
    if all(has_feature(name) for name in AVX2):
        assert run("avx2").stdout == "['xmm', 'ymm']\n"


def test_what_there_is_not():
    """A name that says nothing is refused with those that there are."""
    error = run("sparc").stderr
    assert "names no processor" in error
    assert all(name in error for name in LEVELS)
