"""Complex numbers and Fourier transforms in machine code: the same as NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.compile.runtime import ufuncs
from adjoint.compile.runtime.ufuncs import inner_loop

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(6, 5))
Z, W = (RANDOM.normal(size=(6, 5)) + 1j * RANDOM.normal(size=(6, 5)) for _ in range(2))
WAVES = 1j * np.arange(9.0)


def results(found):
    """What a function gives, as a list of arrays."""
    return [x for part in found for x in results(part)] if isinstance(found, tuple) else [np.asarray(found)]


def check(f, *args, rtol=1e-14, hosted=()):
    """Machine code against plain, of the same types; the jitted function."""
    jitted = ad.jit(f)
    want = results(f(*args))
    for _ in range(2):
        for x, y in zip(results(jitted(*args)), want, strict=True):
            assert (x.dtype, x.shape) == (y.dtype, y.shape)
            scale = rtol * np.max(np.abs(y), initial=0.0)
            np.testing.assert_allclose(x, y, rtol=0.0, atol=scale)
    assert jitted.stats()["called by NumPy"] == list(hosted)
    return jitted


ARITHMETIC = {
    "sums": lambda z, w, x: (z + w, z - x, x - z, z + 1, -z),
    "products": lambda z, w, x: (z * w, x * z, 2.5 * z, z * 1j, x * 1j, z**2, np.square(w)),
    "quotients": lambda z, w, x: (z / w, z / x, x / z, 1 / z, z / (3 - 4j)),
    "exponentials": lambda z, w, x: (np.exp(z), np.exp(1j * x), np.exp(-0.5j * x) * w),
    "parts": lambda z, w, x: (z.real, np.imag(z * w), np.conj(z), np.abs(z + w), np.real(x) * 1j),
    "places": lambda z, w, x: (z.T, (z * w)[1:4, ::2], z[::-1] + w, z[2], np.reshape(z * 1j, (5, 6)), z[:, None] * w),
    "joined": lambda z, w, x: (np.concatenate([z, x]), np.stack([w, z * x], axis=1), np.where(x > 0, z, 1j)),
    "gathered": lambda z, w, x: (z[np.array([0, 3, 3])], (z * 2)[:, np.array([1, 1])]),
    "added up": lambda z, w, x: (np.sum(z, axis=0), np.sum(z * w, axis=1), np.mean(z, axis=0)),
    "truths": lambda z, w, x: (np.isfinite(z), np.isfinite(z / x)),
    "a single number on the way": lambda z, w, x: x * np.abs(np.sum(z * w)),
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name):
    """In double precision, and in single."""
    check(ARITHMETIC[name], Z, W, X)
    check(ARITHMETIC[name], Z.astype(np.complex64), W.astype(np.complex64), X.astype(np.float32), rtol=1e-6)


def test_mixed_precisions():
    """The wider type wins, as in NumPy."""
    check(lambda z, x: (z * x, z + 1j, z.astype(np.complex128) * 2), Z.astype(np.complex64), X)
    check(lambda z, x: (z * x, x.astype(np.complex64) + z), Z, X.astype(np.float32))
    check(lambda n: n * 1j, np.arange(5))


@pytest.mark.parametrize("z", [Z[::2, ::-1], np.asfortranarray(Z), np.broadcast_to(Z[0], (3, 5)), Z.T])
def test_any_strides(z):
    """Arguments that do not lie row by row."""
    check(lambda z: (z * 2j, np.fft.fft(z), np.fft.ifft(z, axis=0)), z)


@pytest.mark.parametrize("f", [np.multiply, np.divide, np.add, np.subtract])
def test_special_values(f):
    """Infinities, nan and signs of zeros come out as NumPy has them."""
    s = np.array([0.0, np.inf, np.nan, -0.0, 1.0, -2.0])
    z = np.empty((6, 6), complex)
    z.real, z.imag = s[:, None], s
    a, b = (np.broadcast_to(x, (36, 36)).copy() for x in (z.reshape(-1, 1), z.reshape(1, -1)))
    jitted = ad.jit(lambda a, b: f(a, b))
    with np.errstate(all="ignore"):
        jitted(a, b)
        found, want = jitted(a, b), f(a, b)
    for x, y in ((found.real, want.real), (found.imag, want.imag)):
        np.testing.assert_array_equal(x, y)
        np.testing.assert_array_equal(np.signbit(x)[~np.isnan(x)], np.signbit(y)[~np.isnan(y)])


def test_special_values_of_the_exponential():
    """As C has them, and without an overflow on the way."""
    s = np.array([0.0, np.inf, -np.inf, np.nan, -0.0, 1.0, -2.0, 709.5, 710.0, 711.0, 1500.0, -745.0])
    z = np.empty((len(s), len(s)), complex)
    z.real, z.imag = s[:, None], s
    jitted = ad.jit(lambda z: np.exp(z))
    with np.errstate(all="ignore"):
        jitted(z)
        found, want = jitted(z), np.exp(z)
    for x, y in ((found.real, want.real), (found.imag, want.imag)):
        np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-320)


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("axis", [0, -1])
def test_transforms(dtype, norm, axis):
    """To the last bit, as it is NumPy's own loop that runs."""
    z = Z.astype(dtype)
    way = {"axis": axis, "norm": norm}
    check(lambda z: (np.fft.fft(z, **way), np.fft.ifft(z, **way)), z, rtol=0.0)
    check(lambda z: (np.fft.irfft(z, **way), np.fft.irfft(z, n=7, **way), np.fft.fft(z, n=9, **way)), z, rtol=0.0)
    check(lambda x: (np.fft.rfft(x, **way), np.fft.fft(x, **way), np.fft.rfft(x[:5], **way)), z.real.copy(), rtol=0.0)


def test_transforms_of_several_axes():
    """One axis after the other, in NumPy's order."""
    stack = np.stack([Z, 2 * Z, W])
    check(lambda z: (np.fft.fft2(z), np.fft.ifftn(z), np.fft.fft(z, axis=1)), stack, rtol=0.0)
    check(lambda z: np.fft.fft(np.transpose(z, (1, 0, 2)), axis=1), stack, rtol=0.0)
    check(lambda z: (np.fft.rfft2(z.real), np.fft.irfft2(z)), stack, rtol=0.0)
    check(lambda z: np.fft.fft2(z), stack.astype(np.complex64), rtol=0.0)


def spectral(u):
    """Steps of a differential equation by a transform and back."""
    for _ in range(3):
        h = np.fft.rfft(u)
        u = u - 0.01 * u * np.fft.irfft(WAVES * h) - 0.001 * np.fft.irfft(-(WAVES.imag**2) * h)
    return np.sum(u**3)


def test_derivatives():
    """Of steps that go to the frequencies and back; captured complex arrays are read at every call."""
    u = np.sin(np.arange(16.0))
    jitted = check(ad.value_and_grad(spectral), u)
    before = jitted(u)[0]
    WAVES[:] *= 2.0
    try:
        np.testing.assert_allclose(jitted(u)[0], spectral(u), rtol=1e-13)
        assert jitted(u)[0] != before
    finally:
        WAVES[:] /= 2.0
    check(ad.vmap(ad.grad(spectral)), np.stack([u, 2 * u]))
    check(ad.jacfwd(lambda u: np.fft.irfft(np.fft.rfft(u) * WAVES)), u)
    check(ad.grad(lambda z: np.sum(np.abs(np.fft.fft(z) * z) ** 2)), Z)


def test_in_loops():
    """Complex carries, stacks and constants of loops."""
    check(lambda z: ad.scan(lambda c, _: (np.fft.fft(c) * 0.5j, np.abs(c)), z, length=4), Z)
    check(lambda z, w: ad.scan(lambda c, x: (c * w[0], c + x), z[0], z), Z, W)
    check(lambda z: ad.while_loop(lambda s: s[1] < 3, lambda s: (np.fft.ifft(s[0]) * 2, s[1] + 1), (z, 0))[0], Z)
    gradient = ad.grad(lambda u: np.sum(ad.scan(lambda u, _: (np.fft.irfft(np.fft.rfft(u)) * u, None), u, length=3)[0]))
    check(gradient, np.sin(np.arange(16.0)), rtol=1e-13)


def test_beside_what_numpy_does():
    """Where a step has no machine code, complex numbers are as they were."""
    check(lambda z, x: (np.fft.fft(z), np.sort(x, axis=0) * z), Z, X, hosted=["argsort"])
    check(lambda z, x: (np.log(z) * 2, x * 2), Z, X, hosted=["log", "multiply"])
    check(lambda z: np.sum(z), Z, hosted=["sum"])


def test_loops_of_universal_functions():
    """Only what looks as it should is called."""
    from numpy.fft import _pocketfft_umath

    assert inner_loop(_pocketfft_umath.fft, "Dd->D") == "adjoint_loop_fft_Dd_D"
    assert inner_loop(_pocketfft_umath.fft, "dd->d") is None
    header = ufuncs._Header.from_address(id(np.add))
    assert ufuncs._looks_right(header, np.add)
    assert not ufuncs._looks_right(header, np.subtract)
