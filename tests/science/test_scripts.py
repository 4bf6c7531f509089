"""Scripts of NumPy, SciPy and pandas, differentiated and compiled as they stand."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("pandas")

SCRIPTS = {
    "burgers": ("misfit", [-2.0, 0.9, 0.1], 1e-7),
    "conductivity": ("objective", np.linspace(-0.2, 0.3, 64), 1e-7),
    "deconvolution": ("objective", None, 1e-7),
    "epidemic": ("negative_log_posterior", [-0.7, -1.6, 1.6], 1e-5),
    "equation_of_state": ("cost", [3.64, 0.0427], 1e-5),
    "gaussian_process": ("negative_log_likelihood", [0.1, 0.3, 0.2, -1.5, 0.1, 0.4], 1e-7),
    "kalman": ("negative_log_likelihood", [-1.0, -1.2, -0.5, 1.0], 1e-7),
    "kinetics": ("chi2", [-0.5, -1.2], 1e-5),
    "light_curve": ("mismatch", [0.5, 0.9, 0.05, 0.01], 1e-7),
    "portfolio": ("shortfall", [0.1, -0.1, 0.2, 0.0, 2.0], 5e-3),  # the solver inside ends at about seven digits
    "registration": ("dissimilarity", np.r_[0.05, 0.02, 0.3, -0.2, np.linspace(-0.3, 0.4, 8)], 1e-7),
    "survival": ("negative_log_likelihood", [0.2, 1.8, -0.1, 0.3, 0.1], 1e-7),
}
"""Function, parameters, and how near differences come to the derivative, which the script's tolerances decide."""


def slope(f, x, direction, step=1e-4):
    """The derivative along a direction, by central differences of two lengths."""

    def difference(h):
        return (f(x + h * direction) - f(x - h * direction)) / (2 * h)

    return (4 * difference(step / 2) - difference(step)) / 3


@pytest.mark.parametrize("name", SCRIPTS)
def test_derivatives_of_a_script(name):
    """Both modes agree with differences, compiled values and gradients with plain ones, at one place and the next."""
    function, x, tolerance = SCRIPTS[name]
    script = importlib.import_module(f"tests.science.{name}")
    f, x = getattr(script, function), script.guess() if x is None else np.array(x)
    direction = np.cos(np.arange(len(x))) * np.abs(x) ** (name == "equation_of_state")  # whose numbers are small
    wanted = slope(f, x, direction)
    value, gradient = ad.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-12)
    assert gradient @ direction == pytest.approx(wanted, rel=tolerance)
    assert ad.jvp(f, (x,), (direction,))[1] == pytest.approx(gradient @ direction, rel=1e-9)
    compiled, compiled_gradient = ad.jit(f), ad.jit(ad.grad(f))
    for place in (x, x, x + 1e-3 * direction):
        assert compiled(place) == pytest.approx(f(place), rel=1e-11)
        np.testing.assert_allclose(compiled_gradient(place), ad.grad(f)(place), rtol=1e-8, atol=1e-11)


def test_the_scripts_know_nothing_of_this_library():
    """Every one of them is in the table, is short, and is plain NumPy, SciPy and pandas."""
    files = [f for f in Path(__file__).parent.glob("*.py") if f.name not in ("__init__.py", Path(__file__).name)]
    assert {f.stem for f in files} == set(SCRIPTS)
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert "adjoint" not in text
        assert len(text.splitlines()) <= 60
        assert callable(
            inspect.getattr_static(importlib.import_module(f"tests.science.{file.stem}"), SCRIPTS[file.stem][0])
        )
