"""What becomes of each function of `scipy.signal`."""

from __future__ import annotations

import scipy.signal
import scipy.signal.windows

from ...numpy.patching.replacements import constant, refuses, replaces, runs_through
from ..batches import in_batches
from .modules import MODULES
from .peaks import find_peaks

__all__ = ["find_peaks"]

CONVOLUTIONS = (
    "convolve", "convolve2d", "correlate", "correlate2d", "deconvolve", "fftconvolve", "oaconvolve", "upfirdn",
)  # fmt: skip
FILTERS = (
    "decimate", "detrend", "envelope", "filtfilt", "hilbert", "hilbert2", "lfilter", "lfilter_zi", "lfiltic",
    "minimum_phase", "resample", "resample_poly", "savgol_coeffs", "savgol_filter", "sosfilt", "sosfilt_zi",
    "sosfiltfilt", "wiener",
)  # fmt: skip
SELECTIONS = ("medfilt", "medfilt2d", "order_filter")
SPECTRA = (
    "closest_STFT_dual_window", "coherence", "csd", "czt", "czt_points", "istft", "lombscargle", "periodogram",
    "spectrogram", "stft", "vectorstrength", "welch", "zoom_fft",
)  # fmt: skip
WAVES = (
    "chirp", "cspline1d", "cspline1d_eval", "gauss_spline", "gausspulse", "get_window", "qspline1d", "qspline1d_eval",
    "sawtooth", "sweep_poly",
)  # fmt: skip
DESIGNS = (
    "bessel", "bilinear", "bilinear_zpk", "butter", "buttord", "cheb1ap", "cheb1ord", "cheb2ap", "cheb2ord", "cheby1",
    "cheby2", "ellip", "ellipap", "ellipord", "firls", "firwin", "firwin2", "firwin_2d", "gammatone", "iircomb",
    "iirdesign", "iirfilter", "iirnotch", "iirpeak", "kaiser_atten", "kaiser_beta", "kaiserord", "lp2bp", "lp2bp_zpk",
    "lp2bs", "lp2bs_zpk", "lp2hp", "lp2hp_zpk", "lp2lp", "lp2lp_zpk", "normalize",
)  # fmt: skip
SYSTEMS = (
    "abcd_normalize", "bode", "cont2discrete", "dbode", "dfreqresp", "dimpulse", "dlsim", "dstep", "freqresp", "freqs",
    "freqs_zpk", "freqz", "freqz_sos", "freqz_zpk", "group_delay", "impulse", "invres", "invresz", "lsim", "residue",
    "residuez", "sos2tf", "sos2zpk", "sosfreqz", "ss2tf", "ss2zpk", "step", "tf2sos", "tf2ss", "tf2zpk", "unique_roots",
    "zpk2sos", "zpk2ss", "zpk2tf",
)  # fmt: skip
NOTES = {
    **dict.fromkeys(SELECTIONS, "the element that is picked; of equal ones, the first"),
    "sawtooth": "not at the jumps",
    **dict.fromkeys(("buttord", "cheb1ord", "cheb2ord", "ellipord", "kaiserord"), "the order is constant"),
}


def _answer(module: str, name: str) -> None:
    """The function's own code, in the twin of its module."""
    original = getattr(scipy.signal.windows if module.endswith("windows") else scipy.signal, name, None)
    if original is not None:  # not every version has all of them
        ours = getattr(MODULES[original.__module__], original.__name__)
        replaces(module, name, note=NOTES.get(name, ""))(in_batches(f"{module}.{name}", ours))


for _name in (*CONVOLUTIONS, *FILTERS, *SELECTIONS, *SPECTRA, *WAVES, *DESIGNS, *SYSTEMS):
    _answer("scipy.signal", _name)
runs_through(
    "scipy.signal", "CZT", "ShortTimeFFT", "StateSpace", "TransferFunction", "ZerosPolesGain", "ZoomFFT", "dlti", "lti",
    note="a class, whose methods take traced values",
)  # fmt: skip

W = "scipy.signal.windows"
PARAMETERS = (
    "chebwin", "exponential", "gaussian", "general_cosine", "general_gaussian", "general_hamming", "kaiser",
    "kaiser_bessel_derived", "taylor", "tukey",
)  # fmt: skip
for _name in PARAMETERS:
    _answer(W, _name)
runs_through(W, "get_window")
constant(
    W, "barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "cosine", "flattop", "hamming", "hann",
    "lanczos", "nuttall", "parzen", "triang",
    note="the number of points is all that it depends on",
)  # fmt: skip
refuses(
    W, "dpss",
    reason="it is an eigenvector that SciPy finds in compiled code",
    fix="Find the window at a plain value,  dpss(M, ad.value(NW)),  or use  kaiser,  which is close to it.",
)  # fmt: skip

constant(
    "scipy.signal", "check_COLA", "check_NOLA", "choose_conv_method", "correlation_lags", "max_len_seq", "unit_impulse",
    note="truth values, words and whole numbers",
)  # fmt: skip
constant("scipy.signal", "besselap", "buttap", note="the order is all that it depends on")
constant("scipy.signal", "square", "findfreqs", note="constant in pieces")
refuses(
    "scipy.signal", "cspline2d", "qspline2d", "sepfir2d", "spline_filter", "symiirorder1", "symiirorder2",
    reason="it is compiled code, exact only to a given precision",
    fix="Use  scipy.ndimage.spline_filter  or  scipy.ndimage.correlate1d  along each axis.",
)  # fmt: skip
refuses(
    "scipy.signal", "remez",
    reason="it is an exchange of extrema in compiled code",
    fix="Use  scipy.signal.firls,  or find the taps at plain values:  remez(numtaps, ad.value(bands), desired).",
)  # fmt: skip
refuses(
    "scipy.signal", "place_poles",
    reason="it is an iteration over the basis of eigenvectors",
    fix="Find the gain at plain values, and correct it by  ad.implicit.root  of the poles' equations.",
)  # fmt: skip
refuses(
    "scipy.signal", "whittaker_henderson",
    reason="it is a banded system that SciPy solves in compiled code",
    fix="Solve the same system:  D = np.diff(np.eye(n), order, axis=0);  "
    "np.linalg.solve(np.diag(w) + lamb * D.T @ D, w * x).",
)  # fmt: skip
refuses(
    "scipy.signal", "band_stop_obj",
    reason="it is the objective of a search for the order of a filter, which is a whole number",
    fix="Pass it plain values:  ad.value(x).",
)  # fmt: skip
