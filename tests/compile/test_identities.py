"""Products with the identity have the bits of the product, without its cost."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.compile.program.expand import expanded
from adjoint.ops.contraction import matmul

SIZE = 20


def matrices():
    """Ordinary numbers, negative zeros, and infinities and nan that meet zeros in their column or row."""
    plain = np.random.default_rng(0).normal(size=(SIZE, SIZE))
    zeros, one, several = plain.copy(), plain.copy(), plain.copy()
    zeros[::3] = -0.0
    one[3, 4] = np.inf
    several[3, 4], several[5, 4], several[7, 1] = np.inf, -np.inf, np.nan
    return [plain, zeros, one, several]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("side", ["left", "right"])
def test_bits_of_the_product(side, dtype):
    """Signs of zeros and nan included."""

    def f(x):
        identity = np.eye(SIZE, dtype=dtype)
        return identity @ x if side == "left" else x @ identity

    jitted = ad.jit(f)
    for x in matrices():
        x = x.astype(dtype)
        with np.errstate(invalid="ignore"):
            for _ in range(2):
                found, wanted = np.asarray(jitted(x)), f(x)
                np.testing.assert_array_equal(found, wanted)
                np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(wanted[wanted == 0]))


def test_jacobian_has_no_product():
    """The tangents of all inputs at once are the identity: its product with a matrix is the matrix."""
    weights = np.random.default_rng(1).normal(size=(SIZE, SIZE))
    f = ad.jit(ad.jacfwd(lambda x: np.tanh(weights @ x)))
    x = np.linspace(-1.0, 1.0, SIZE)
    np.testing.assert_allclose(f(x), (1.0 - np.tanh(weights @ x) ** 2)[:, None] * weights, rtol=1e-12)
    program = expanded(f.lower(x).optimized)
    assert [len(program.types[s.outs[0]].shape) for s in program.steps if s.primitive is matmul] == [1]
