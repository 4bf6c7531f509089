"""`scipy.fftpack`: the older transforms, with their own scales and orders, and operators on periodic sequences."""

import numpy as np
import pytest
from scipy import fftpack

import adjoint as ad
from adjoint.core.errors import UnsupportedError

WEIGHTS = np.random.default_rng(0).normal(size=40)
LINE = WEIGHTS[:5]
COSINES = ("dct", "idct", "dst", "idst")
FUNCTIONS = {
    **{name: (getattr(fftpack, name), (), {}) for name in ("fft", "ifft", "rfft", "irfft", "diff", "hilbert")},
    **{f"{name} {kind}": (getattr(fftpack, name), (kind,), {}) for name in COSINES for kind in (1, 2, 3, 4)},
    "rfft, longer": (fftpack.rfft, (8,), {}),
    "irfft, shorter": (fftpack.irfft, (4,), {}),
    "diff, twice": (fftpack.diff, (2,), {"period": 3.0}),
    "tilbert": (fftpack.tilbert, (0.5,), {}),
    "shift": (fftpack.shift, (0.5,), {}),
    "cc_diff": (fftpack.cc_diff, (0.5, 0.3), {}),
}  # fmt: skip
PLANES = ("fft2", "ifft2", "fftn", "ifftn", "dctn", "idctn", "dstn", "idstn")


def _check(call, x):
    """A gradient, a jitted and a batched one against differences; values are those of SciPy."""

    def f(x):
        y = call(x)
        return np.sum(np.real(y).ravel() * WEIGHTS[: y.size]) + np.sum(np.imag(y).ravel() * WEIGHTS[9 : 9 + y.size])

    wanted = ad.numerical.grad(f)(x)
    for found in (ad.grad(f)(x), ad.jit(ad.grad(f))(x), ad.vmap(ad.grad(f))(np.stack([x, x]))[0]):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ad.value_and_grad(f)(x)[0], f(x), rtol=1e-12, atol=1e-14)
    assert ad.jit(f)(x) == f(x)


@pytest.mark.parametrize(("function", "args", "kwargs"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_lines(function, args, kwargs):
    """Along one axis, of odd and even lengths."""
    _check(lambda x: function(x, *args, **kwargs), LINE)
    _check(lambda x: function(x, *args, **kwargs), WEIGHTS[:6])


@pytest.mark.parametrize("name", PLANES)
def test_planes(name):
    """Along several axes."""
    _check(getattr(fftpack, name), WEIGHTS[:12].reshape(3, 4))


def test_operators_are_constant_in_their_settings_by_name():
    """A traced period is refused: nothing would flow to it."""
    with pytest.raises(UnsupportedError, match=r"scipy\.fftpack\.diff is differentiated with respect to its seq"):
        ad.grad(lambda p: np.sum(fftpack.diff(LINE, 1, p) ** 2))(2.0)
