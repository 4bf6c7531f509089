"""The law of second derivatives, for every primitive of the catalogue: those of the forward trace are the Hessian's."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.ops.declare import CATALOGUE
from tests.cases.primitives import DIFFERENTIABLE, cases_of


def along_a_surface(case):
    """A function of two numbers that moves every argument along a bent surface, so that no term of the law is 0."""
    random = np.random.default_rng(11)
    args = [np.asarray(a) for a in case.args]
    ways = [[1e-2 * random.normal(size=a.shape) for _ in range(3)] for a in args]

    def f(u):
        moved = [a + u[0] * p + u[1] * q + u[0] * (u[0] - u[1]) * r for a, (p, q, r) in zip(args, ways, strict=True)]
        total = 0.0
        for k, y in enumerate(ad.tree.leaves(case.function(*moved))):
            weights = np.cos(np.arange(np.size(y)) + k).reshape(np.shape(y))
            total = total + np.sum(weights * (np.real(y) + 0.5 * np.imag(y)))
        return total

    return f


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_second_derivatives(name):
    """Diagonal and sum."""
    for case in cases_of(CATALOGUE[name]):
        f, u = along_a_surface(case), np.zeros(2)
        want = np.diagonal(ad.hessian(f)(u))
        if not np.all(np.isfinite(want)):
            continue
        scale = 1e-8 * max(1e-4, float(np.max(np.abs(want))))
        np.testing.assert_allclose(ad.curvature.hessian_diagonal(f)(u), want, rtol=1e-7, atol=scale, err_msg=case.name)
        np.testing.assert_allclose(ad.curvature.laplacian(f)(u), np.sum(want), rtol=1e-7, atol=scale, err_msg=case.name)
