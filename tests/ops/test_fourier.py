"""numpy.fft: the laws over a table of cases, and closed-form answers."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing.laws import LAWS
from tests.cases.fourier import LINE, cases, in_complex, rng


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
