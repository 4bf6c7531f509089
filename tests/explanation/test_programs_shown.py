"""Jitted functions: the program as it was recorded beside what the compiler does together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

import adjoint as ad
from adjoint.explanation.record.programs import programs
from adjoint.transforms.compiler import can_compile

ROOT = Path(__file__).parent.parent.parent
compiled = pytest.mark.skipif(not can_compile(), reason="needs the compiler")

rng = np.random.default_rng(5)
X, T = rng.normal(size=(200, 300)), np.zeros(200)
ARRAYS = {id(X): (X, "X"), id(T): (T, "T")}


def loss(w):
    return np.sum((T - expit(X @ w)) ** 2)


def shown(fun, *args) -> str:
    return str(programs(ad.jit(fun), args, {}, names=["w"], arrays=list(ARRAYS.values())))


def test_only_jitted_functions_have_programs():
    """A plain function is not compiled."""
    assert programs(loss, (np.ones(300),), {}) is None


@compiled
def test_fused_steps():
    """A product, and one loop for everything after it."""
    assert shown(loss, np.ones(300)) == FUSED


FUSED = """\
before: 5 steps   after: 5 steps in 2 kernels
v1 = X @ w        kernel 1, loops of its own:  v1 = X @ w
v2 = σ(v1)        kernel 2, one loop over 200: v2 = σ(v1)
v3 = T - v2                                    v3 = T - v2
v4 = v3²                                       v4 = v3²
v5 = sum(v4)                                   v5 = sum(v4)"""


@compiled
def test_blas_numpy_and_what_is_left_out():
    """Large products go to BLAS, what has no machine code to NumPy; what is not needed, or there already, goes."""

    def fun(w):
        return np.sum(w @ w) + np.sum(np.argsort(w @ w + 1.0 * w))

    assert shown(fun, np.eye(80)) == BLAS


BLAS = """\
before: 8 steps             after: 6 steps in 4 kernels and 1 by NumPy
v1 = w @ w                  kernel 1, BLAS:                  v1 = w @ w
v2 = sum(v1)                kernel 2, one loop over 80 x 80: v2 = sum(v1)
v3 = w @ w   (left out)                                      v5 = v1 + w
v4 = 1·w   (left out)       NumPy:                           v6 = argsort(v5, axis=-1)
v5 = v3 + v4                kernel 3, one loop over 80 x 80: v7 = sum(v6)
v6 = argsort(v5, axis=-1)   kernel 4, in registers:          v8 = v2 + v7
v7 = sum(v6)
v8 = v2 + v7"""


@compiled
def test_elimination_and_transforms():
    """What LAPACK, or machine code in its place, and NumPy's own loops do is named so."""
    text = shown(lambda w: np.linalg.det(w) + np.sum(np.abs(np.fft.fft(w))), np.eye(3))
    assert "elimination:       t2, t3 = eliminate(w)" in text
    assert "a loop of NumPy's: t5 = call(t4, 1" in text
    assert "LAPACK: " in shown(np.linalg.det, np.eye(130))


@compiled
def test_steps_that_the_compiler_writes_as_several():
    """They have names of their own, t1, t2, ..."""
    from scipy.special import logsumexp

    text = shown(lambda w: 2.0 * logsumexp(w), np.ones(20))
    assert "v1 = logsumexp(w)   kernel 1, one loop over 20: t1 = max(w, keepdims=True)" in text
    assert text.splitlines()[-1].strip() == "v2 = 2·t9"


@compiled
def test_guards():
    """A decision of the function is checked in the program."""
    text = shown(lambda w: w * 2.0 if w[0] > 0 else w, np.ones(3))
    assert text.splitlines()[3].split("   ")[0] == "guard: v2 is True"
    assert text.splitlines()[3].endswith(" guard: v2 is True")


def network(w):
    h = np.tanh(w @ w.T)[::2, 1:]
    return np.sum(h**2) + np.linalg.det(w[:3, :3])


def loops(w):
    return np.sum(ad.scan(lambda y, x: (np.sin(y) * x, y), w[0], w)[1])


REWRITTEN = {"unindex", "where"}
"""Steps that the compiler may do without: a sum of pads adds in place, a choice that is the same everywhere is made."""


@pytest.mark.parametrize("change", [lambda fun: fun, ad.grad, ad.hessian], ids=["itself", "grad", "hessian"])
@pytest.mark.parametrize("fun", [network, loops])
def test_every_step_is_somewhere(fun, change):
    """Nothing is missing that the program after the passes uses, and no kernel reads what a later one computes."""
    lowered = ad.jit(change(fun)).lower(rng.normal(size=(12, 5)))
    made: set[int] = set()
    for kernel in lowered.kernels:
        known = {*kernel.program.inputs, *kernel.program.constants, *made}
        for step in kernel.steps:
            assert set(step.args) <= known
            known.update(step.outs)
        made |= known
    program = lowered.optimized
    used = {*program.outputs, *[a for step in program.steps for a in step.args]}
    missing = [step for step in program.steps if not made.issuperset(used.intersection(step.outs))]
    assert {step.primitive.name for step in missing} <= REWRITTEN


def test_inputs_without_names():
    """They are called as in the table of an explanation."""
    text = str(programs(ad.jit(lambda a, b: a * b), (2.0, 3.0), {}))
    assert "v1 = v0·v(-1)" in text


def test_without_the_compiler():
    """Where llvmlite is missing, NumPy takes each step, and that is said."""
    code = (
        "import warnings; warnings.simplefilter('ignore'); import tests.no_llvmlite, numpy as np, adjoint as ad\n"
        "from adjoint.explanation.record.programs import programs\n"
        "print(programs(ad.jit(lambda w: np.sum(np.sin(w) * 2.0)), (np.ones(3),), {}, names=['w'], ascii=True))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip() == WITHOUT


WITHOUT = """\
before: 3 steps   after: 3 steps, one at a time by NumPy, as llvmlite is not installed
v1 = sin(w)       NumPy: v1 = sin(w)
v2 = 2*v1         NumPy: v2 = 2*v1
v3 = sum(v2)      NumPy: v3 = sum(v2)"""
