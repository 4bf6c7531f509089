"""numpy.fft: the laws over a table of cases, and closed-form answers."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing.laws import LAWS, Case

rng = np.random.default_rng(2)
LINE = rng.normal(size=7)
PLANE = rng.normal(size=(4, 6))
SOLID = rng.normal(size=(3, 4, 5))
REAL_ONLY = ("rfft", "ihfft", "rfft2", "rfftn")


def in_complex(x):
    return x + 1j * rng.normal(size=x.shape)


def cases():
    """Every transform with its keywords, on real and complex signals."""
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        function = getattr(np.fft, name)
        line = LINE if name in REAL_ONLY else in_complex(LINE)
        for words in ({}, {"n": 5}, {"n": 10, "norm": "ortho"}, {"n": 8, "norm": "forward"}, {"norm": "backward"}):
            yield Case(f"{name} {words}", lambda x, f=function, words=words: f(x, **words), (line,))
        yield Case(f"{name} real, first axis", lambda x, f=function: f(x, axis=0), (PLANE,))
        yield Case(f"{name} one element", lambda x, f=function: f(x, n=1), (LINE,))
    for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"):
        function = getattr(np.fft, name)
        solid = SOLID if name in REAL_ONLY else in_complex(SOLID)
        for words in (
            {},
            {"s": (3, 7), "axes": (0, 2)},
            {"axes": (2, 1), "norm": "ortho"},
            {"s": (-1, 6), "axes": (1, 2)},
            {"axes": (1,), "norm": "forward"},
        ):
            yield Case(f"{name} {words}", lambda x, f=function, words=words: f(x, **words), (solid,))
    for name in ("fftshift", "ifftshift"):
        function = getattr(np.fft, name)
        yield Case(name, function, (in_complex(SOLID),))
        yield Case(f"{name} one axis", lambda x, f=function: f(x, axes=1), (SOLID,))
        yield Case(f"{name} two axes", lambda x, f=function: f(x, axes=(0, 2)), (SOLID,))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_law(case, law):
    """Every transform obeys the laws, in both precisions."""
    LAWS[law](case)


def test_energy():
    """Parseval: sum |fft(x)|**2 = n sum x**2, so the gradient is 2 n x; for rfft each inner frequency counts once."""
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2))(LINE), 14 * LINE, rtol=1e-12)
    weights = np.array([1.0, 2.0, 2.0, 2.0])
    found = ad.grad(lambda x: np.sum(weights * np.abs(np.fft.rfft(x)) ** 2))(LINE)
    np.testing.assert_allclose(found, 14 * LINE, rtol=1e-12)


def test_ignored_imaginary_parts():
    """irfft does not read the imaginary part of the first and, for even lengths, the last frequency."""
    spectrum = in_complex(rng.normal(size=5))
    found = ad.grad(lambda y: np.sum(np.arange(8.0) * np.fft.irfft(y)))(spectrum)
    assert found[0].imag == found[4].imag == 0.0
    assert found[0] == pytest.approx(28 / 8)
    odd = ad.grad(lambda y: np.sum(np.arange(9.0) * np.fft.irfft(y, 9)))(spectrum)
    assert odd[0].imag == 0.0
    assert odd[4].imag != 0.0


def test_out():
    """The result is written to out= as well."""

    def into(x):
        y = np.zeros(7, complex)
        np.fft.fft(x, out=y)
        return np.sum(np.abs(y) ** 2)

    np.testing.assert_allclose(ad.grad(into)(LINE), 14 * LINE, rtol=1e-12)


def test_frequencies_are_constants():
    """fftfreq and rfftfreq pass through; a spectral derivative is differentiated with them."""

    def slope(x):
        return np.real(np.fft.ifft(2j * np.pi * np.fft.fftfreq(7) * np.fft.fft(x)))

    found = ad.jacobian(slope)(LINE)
    np.testing.assert_allclose(found, -found.T, atol=1e-13)


def test_wrong_lengths():
    """A length below one is refused, as NumPy does."""
    with pytest.raises(ValueError, match="Invalid number of FFT data points"):
        ad.grad(lambda x: np.sum(np.abs(np.fft.fft(x, 0))))(LINE)
