"""Functions that import SciPy themselves, while they are traced for the first time."""

import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np, adjoint as ad
def f(a):
    {statement}
    return {call}
assert not any(name.startswith("scipy") for name in __import__("sys").modules)
first = {run}(1.5)
np.testing.assert_allclose(first, {run}(1.5), rtol=1e-12)
np.testing.assert_allclose(first, {expected}, rtol=1e-9)
"""

CASES = {
    "a name": ("from scipy.linalg import expm", "expm(np.array([[a]]))[0, 0]", "ad.grad(f)", "np.exp(1.5)"),
    "a lazy module": ("import scipy", "scipy.linalg.expm(np.array([[a]]))[0, 0]", "ad.jit(f)", "np.exp(1.5)"),
    "a solver": ("from scipy.optimize import brentq", "brentq(lambda x: x - a**2, 0, 5)", "ad.jit(ad.grad(f))", "3.0"),
    "with generators of its own": ("from scipy import stats", "stats.norm.logpdf(a)", "ad.jit(ad.grad(f))", "-1.5"),
}


@pytest.mark.parametrize(("statement", "call", "run", "expected"), CASES.values(), ids=CASES)
def test_the_first_call_knows_what_it_imports(statement, call, run, expected):
    """SciPy's modules are taught when they are complete, before the function goes on."""
    program = PROGRAM.format(statement=statement, call=call, run=run, expected=expected)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def test_modules_of_scipy_that_come_one_after_the_other():
    """A twin that is made long after the first trace has arrays that can be filled, as those of the first one have."""
    program = """
import numpy as np, adjoint as ad, scipy.linalg
ad.grad(lambda a: scipy.linalg.expm(np.array([[a]]))[0, 0])(1.0)
import scipy.signal
ad.grad(lambda x: np.sum(scipy.signal.lfilter([1.0], [1.0, 0.5], x)))(np.ones(3))
import scipy.ndimage
np.testing.assert_allclose(ad.grad(lambda x: np.sum(scipy.ndimage.gaussian_filter(x, 1.0)))(np.ones(5)), np.ones(5))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
