"""SciPy's signals."""

import numpy as np
import scipy.signal as signal

from adjoint.testing.laws import Case

rng = np.random.default_rng(5)

X = rng.normal(size=23)
LINES = rng.normal(size=(2, 19))
IMAGE = rng.normal(size=(6, 7))
KERNEL = rng.normal(size=(3, 2))
B = np.array([0.2, 0.3, 0.1])
A = np.array([1.2, -0.5, 0.2])
SOS = signal.butter(3, 0.3, output="sos")
Z = X + 1j * rng.normal(size=X.shape)
TIMES = np.linspace(0.0, 2.0, 11)
STATE = rng.normal(size=(2, 2)) - 2 * np.eye(2)
INPUT, OUTPUT = rng.normal(size=(2, 1)), rng.normal(size=(1, 2))
LEAD = ("value", "tangent", "adjoint", "linearize", "orders", "taylor", "precision")
FIRST = ("value", "tangent", "adjoint")

CASES = [
    # convolutions
    Case("convolve", lambda x, b: signal.convolve(x, b), (X, B)),
    Case("convolve images", lambda x, b: signal.convolve(x, b, "same"), (IMAGE, KERNEL)),
    Case("convolve valid", lambda x, b: signal.convolve(x, b, "valid"), (KERNEL, IMAGE)),
    Case("convolve complex", lambda x, b: signal.convolve(x, b, method="direct"), (IMAGE + 1j, 1j * KERNEL)),
    Case("convolve2d", lambda x, b: signal.convolve2d(x, b, boundary="symm"), (IMAGE, KERNEL)),
    Case("convolve2d same", lambda x, b: signal.convolve2d(x, b, "same", "wrap"), (IMAGE, KERNEL)),
    Case("correlate2d", lambda x, b: signal.correlate2d(x, b, "same", fillvalue=0.3), (IMAGE, KERNEL)),
    Case("correlate2d valid", lambda x, b: signal.correlate2d(x, b, "valid"), (IMAGE + 1j, KERNEL * 1j)),
    Case("correlate", lambda x, b: signal.correlate(x, b), (IMAGE, KERNEL)),
    Case("correlate same", lambda x, b: signal.correlate(x, b, "same"), (Z, B + 1j)),
    Case("fftconvolve", lambda x, b: signal.fftconvolve(x, b, "same"), (IMAGE, KERNEL)),
    Case("oaconvolve", lambda x, b: signal.oaconvolve(x, b), (rng.normal(size=60), B)),
    Case("deconvolve", lambda x, b: signal.deconvolve(x, b), (X[:7], B)),
    Case("upfirdn", lambda h, x: signal.upfirdn(h, x, 3, 2), (rng.normal(size=7), LINES)),
    *[
        Case(f"upfirdn {mode}", lambda h, x, m=mode: signal.upfirdn(h, x, 2, 3, mode=m), (rng.normal(size=17), X[:9]))
        for mode in ("wrap", "edge", "smooth", "symmetric", "reflect", "antisymmetric", "antireflect", "line")
    ],
    # filters
    Case("lfilter", lambda b, a, x: signal.lfilter(b, a, x), (B, A, LINES)),
    Case("lfilter zi", lambda b, a, x, z: signal.lfilter(b, a, x, 0, zi=z), (B, A[:2], IMAGE, IMAGE[:2])),
    Case("lfilter fir", lambda b, a, x, z: signal.lfilter(b, a, x, zi=z), (B, A[:1], X, X[:2])),
    Case("lfilter complex", lambda b, x: signal.lfilter(b, A, x), (B + 0.1j, Z)),
    Case("lfilter short", lambda b, a, x: signal.lfilter(b, a, x), (B, A, X[:2])),
    Case("filtfilt", lambda b, a, x: signal.filtfilt(b, a, x), (B, A, LINES)),
    Case("filtfilt gust", lambda x: signal.filtfilt(B, A, x, method="gust"), (X,)),
    Case("lfilter_zi", lambda b, a: signal.lfilter_zi(b, a), (B, A)),
    Case("lfiltic", lambda b, a, y, x: signal.lfiltic(b, a, y, x), (B, A, X[:2], X[:2])),
    Case("sosfilt", lambda x: signal.sosfilt(SOS, x), (LINES,)),
    Case("sosfilt sections", lambda s, x: signal.sosfilt(np.insert(s, 3, 1.0, 1), x), (np.delete(SOS, 3, 1), X)),
    Case("sosfilt zi", lambda x, z: signal.sosfilt(SOS, x, zi=z), (X, rng.normal(size=(2, 2)))),
    Case("sosfiltfilt", lambda x: signal.sosfiltfilt(SOS, x), (X,)),
    Case("sosfilt_zi", lambda s: signal.sosfilt_zi(np.insert(s, 3, 1.0, 1)), (np.delete(SOS, 3, 1),)),
    Case("savgol_filter", lambda x: signal.savgol_filter(x, 7, 2), (X,)),
    Case("savgol_filter deriv", lambda x, d: signal.savgol_filter(x, 5, 3, 1, d, mode="mirror"), (LINES, 0.3)),
    Case("savgol_coeffs", lambda d: signal.savgol_coeffs(5, 2, 1, d), (0.3,)),
    Case("wiener", lambda x: signal.wiener(x, 3, 0.4), (IMAGE,), rtol=1e-5),
    Case("medfilt", lambda x: signal.medfilt(x, 3), (IMAGE,)),
    Case("medfilt2d", lambda x: signal.medfilt2d(x, 3), (IMAGE,)),
    Case("order_filter", lambda x: signal.order_filter(x, np.ones((3, 3)), 2), (IMAGE,)),
    Case("decimate", lambda x: signal.decimate(x, 2), (rng.normal(size=40),)),
    Case("detrend", lambda x: signal.detrend(x, bp=9), (LINES,)),
    Case("detrend constant", lambda x: signal.detrend(x, type="constant"), (LINES,)),
    Case("resample", lambda x: signal.resample(x, 15), (X,)),
    Case("resample up", lambda x: signal.resample(x, 30, axis=1), (LINES,)),
    Case("resample_poly", lambda x: signal.resample_poly(x, 3, 2), (X,)),
    Case("resample_poly line", lambda x: signal.resample_poly(x, 2, 3, padtype="line"), (LINES,)),
    Case("hilbert", lambda x: signal.hilbert(x), (LINES,)),
    Case("hilbert2", lambda x: signal.hilbert2(x), (IMAGE,)),
    Case("envelope", lambda x: signal.envelope(x, (2, 8)), (X,)),
    Case("minimum_phase", lambda h: signal.minimum_phase(np.convolve(h, h[::-1])), (np.array([1.0, 0.5, 0.2]),), FIRST),
    # spectra
    Case("stft", lambda x: signal.stft(x, nperseg=8)[2], (LINES,)),
    Case("istft", lambda z: signal.istft(z, nperseg=8)[1], (signal.stft(X, nperseg=8)[2],)),
    Case("welch", lambda x: signal.welch(x, nperseg=8)[1], (X,)),
    Case("welch median", lambda x: signal.welch(x, nperseg=8, average="median")[1], (X,)),
    Case("periodogram", lambda x: signal.periodogram(x, 2.0, "hann")[1], (X,)),
    Case("csd", lambda x, y: signal.csd(x, y, nperseg=8)[1], (X, X[::-1] ** 2)),
    Case("coherence", lambda x, y: signal.coherence(x, y, nperseg=8)[1], (X, X[::-1] ** 2)),
    Case("spectrogram", lambda x: signal.spectrogram(x, nperseg=8)[2], (X,)),
    Case("lombscargle", lambda t, x, f: signal.lombscargle(t, x, f), (np.sort(X), X**2, np.array([1.3, 2.1]))),
    Case("vectorstrength", lambda t, p: signal.vectorstrength(t, p), (X, 2.0)),
    Case("czt", lambda x, w: signal.czt(x, 5, w * np.exp(-0.3j)), (X[:6], 0.9)),
    Case("zoom_fft", lambda x: signal.zoom_fft(x, [0.1, 0.4], 6), (X,)),
    Case("czt_points", lambda w: signal.czt_points(5, w * np.exp(-0.3j)), (0.9,)),
    Case("CZT", lambda x: signal.CZT(6, 4)(x), (X[:6],)),
    Case("ZoomFFT", lambda x: signal.ZoomFFT(6, [0.1, 0.3], 4)(x), (X[:6],)),
    Case("ShortTimeFFT", lambda x: signal.ShortTimeFFT(np.hanning(8), 3, 1.0).stft(x), (X,)),
    Case(
        "ShortTimeFFT back",
        lambda x: (lambda s: s.istft(s.stft(x) * 2.0))(signal.ShortTimeFFT(np.ones(6), 3, 1.0)),
        (X,),
    ),
    Case("ShortTimeFFT power", lambda x: signal.ShortTimeFFT(np.hanning(8), 3, 1.0).spectrogram(x), (X,)),
    # waves and windows
    Case("chirp", lambda t, f, g: signal.chirp(t, f, 2.0, g), (TIMES, 1.1, 2.3)),
    Case("chirp log", lambda t, f: signal.chirp(t, f, 2.0, 3.0, "logarithmic"), (TIMES, 1.1)),
    Case("gausspulse", lambda t: signal.gausspulse(t, 2.0), (TIMES,)),
    Case("sawtooth", lambda t: signal.sawtooth(t, 0.3), (TIMES + 0.1,)),
    Case("sweep_poly", lambda t: signal.sweep_poly(t, np.poly1d([1.0, 0.5])), (TIMES,)),
    Case("gauss_spline", lambda x: signal.gauss_spline(x, 3), (X,)),
    *[
        Case(name, lambda t, n=name: getattr(signal.windows, n)(9, t), (0.7,))
        for name in ("kaiser", "gaussian", "tukey", "general_hamming")
    ],
    Case("kaiser_bessel_derived", lambda t: signal.windows.kaiser_bessel_derived(8, t), (2.0,)),
    Case("exponential", lambda t: signal.windows.exponential(9, tau=t), (2.0,)),
    Case("general_gaussian", lambda p, t: signal.windows.general_gaussian(9, p, t), (1.3, 2.0), FIRST),
    Case("general_cosine", lambda a: signal.windows.general_cosine(9, a), (np.array([0.5, 0.3, 0.2]),)),
    Case("chebwin", lambda t: signal.windows.chebwin(9, t), (60.0,)),
    Case("taylor", lambda t: signal.windows.taylor(9, 3, t), (30.0,)),
    Case("get_window", lambda t: signal.get_window(("kaiser", t), 9), (2.0,)),
    # splines
    Case("cspline1d", lambda x: signal.cspline1d(x), (X,)),
    Case("cspline1d smooth", lambda x: signal.cspline1d(x, 0.3), (X,)),
    Case("qspline1d", lambda x: signal.qspline1d(x), (X,)),
    Case("cspline1d_eval", lambda c, x: signal.cspline1d_eval(c, x), (X, TIMES * 3 + 0.13)),
    Case("qspline1d_eval", lambda c, x: signal.qspline1d_eval(c, x), (X, TIMES * 3 + 0.13)),
    # designs
    *[
        Case(name, lambda w, n=name, k=args: getattr(signal, n)(3, *k, w, output="sos"), (0.3,), FIRST)
        for name, args in (
            ("butter", ()),
            ("cheby1", (1.0,)),
            ("cheby2", (30.0,)),
            ("ellip", (1.0, 30.0)),
            ("bessel", ()),
        )
    ],
    Case("butter band", lambda w: signal.butter(2, w, "band"), (np.array([0.2, 0.5]),), FIRST),
    Case("butter zpk", lambda w: signal.butter(3, w, output="zpk"), (0.3,), FIRST),
    Case("iirfilter", lambda w: signal.iirfilter(2, w, btype="high", ftype="butter"), (0.3,), FIRST),
    Case("iirdesign", lambda w: signal.iirdesign(0.2, 0.4, 1.0, w), (30.0,), FIRST),
    Case("iirnotch", lambda w, q: signal.iirnotch(w, q), (0.3, 10.0)),
    Case("iirpeak", lambda w, q: signal.iirpeak(w, q), (0.3, 10.0)),
    Case("iircomb", lambda q: signal.iircomb(0.25, q), (10.0,)),
    Case("gammatone", lambda f: signal.gammatone(f, "fir", numtaps=9, fs=100.0), (20.0,)),
    Case("gammatone iir", lambda f: signal.gammatone(f, "iir", fs=100.0), (20.0,), (*FIRST, "orders")),
    Case("firwin", lambda w: signal.firwin(9, w), (0.3,)),
    Case("firwin2", lambda g: signal.firwin2(9, [0.0, 0.5, 1.0], g), (np.array([1.0, 0.7, 0.2]),)),
    Case("firls", lambda g: signal.firls(9, [0.0, 0.3, 0.5, 1.0], g), (np.array([1.0, 0.9, 0.1, 0.05]),)),
    Case("firwin_2d", lambda w: signal.firwin_2d((5, 5), (("kaiser", w), "hamming"), fc=0.4), (2.0,)),
    Case("kaiser_beta", lambda a: signal.kaiser_beta(a), (40.0,)),
    Case("kaiser_atten", lambda w: signal.kaiser_atten(21, w), (0.2,)),
    Case("kaiserord", lambda w: signal.kaiserord(40.0, w)[1], (0.2,)),
    *[
        Case(name, lambda g, n=name: getattr(signal, n)(0.2, 0.3, 3.0, g)[1], (40.0,))
        for name in ("buttord", "cheb2ord")
    ],
    *[
        Case(name, lambda w, n=name: getattr(signal, n)(w, 0.3, 3.0, 40.0)[1], (0.2,))
        for name in ("cheb1ord", "ellipord")
    ],
    Case("cheb1ap", lambda r: signal.cheb1ap(3, r), (1.0,)),
    Case("cheb2ap", lambda r: signal.cheb2ap(3, r), (20.0,)),
    Case("ellipap", lambda r: signal.ellipap(3, r, 30.0), (1.0,)),
    *[
        Case(name, lambda b, a, w, n=name: getattr(signal, n)(b, a, w), (B[:2], A, 1.3))
        for name in ("lp2lp", "lp2hp", "lp2bp", "lp2bs")
    ],
    *[
        Case(
            f"{name}_zpk", lambda z, p, k, w, n=name: getattr(signal, f"{n}_zpk")(z, p, k, w), (X[:1], X[1:3], 1.1, 1.3)
        )
        for name in ("lp2lp", "lp2hp", "lp2bp", "lp2bs")
    ],
    Case("bilinear", lambda b, a: signal.bilinear(b, a, 2.0), (B[:2], A)),
    Case("bilinear_zpk", lambda z, p, k: signal.bilinear_zpk(z, p, k, 2.0), (X[:1], X[1:3], 1.1)),
    Case("normalize", lambda b, a: signal.normalize(b, a), (B, A)),
    Case("tf2zpk", lambda b, a: signal.tf2zpk(b, a), (B, A)),
    Case("zpk2tf", lambda z, p, k: signal.zpk2tf(z, p, k), (X[:1], X[1:3], 1.1)),
    Case("tf2sos", lambda b, a: signal.tf2sos(b, a), (B, A), FIRST),
    Case("zpk2sos", lambda z, p, k: signal.zpk2sos(z, p, k), (X[:1], X[1:3], 1.1), FIRST),
    Case("sos2tf", lambda s: signal.sos2tf(np.insert(s, 3, 1.0, 1)), (np.delete(SOS, 3, 1),)),
    Case("sos2zpk", lambda s: signal.sos2zpk(np.insert(s, 3, 1.0, 1)), (np.delete(SOS, 3, 1) + 0.1,), FIRST),
    Case("tf2ss", lambda b, a: signal.tf2ss(b, a), (B, A)),
    Case("ss2tf", lambda a, b, c: signal.ss2tf(a, b, c, np.zeros((1, 1))), (STATE, INPUT, OUTPUT)),
    Case("ss2zpk", lambda a, b, c: signal.ss2zpk(a, b, c, np.ones((1, 1)))[1:], (STATE, INPUT, OUTPUT), FIRST),
    Case("zpk2ss", lambda z, p, k: signal.zpk2ss(z, p, k), (X[:1], X[1:3], 1.1)),
    Case("abcd_normalize", lambda a, b: signal.abcd_normalize(a, b, OUTPUT, None)[:2], (STATE, INPUT)),
    Case("residue", lambda b, a: signal.residue(b, a)[:2], (B[:2], A), FIRST),
    Case("residuez", lambda b, a: signal.residuez(b, a)[:2], (B[:2], A), FIRST),
    Case("invres", lambda r, p: signal.invres(r, p, []), (X[:2], X[2:4]), FIRST),
    Case("invresz", lambda r, p: signal.invresz(r, p, []), (X[:2], X[2:4]), FIRST),
    # responses
    Case("freqz", lambda b, a: signal.freqz(b, a, 9)[1], (B, A)),
    Case("freqz at", lambda b, a, w: signal.freqz(b, a, w), (B, A, TIMES[1:])),
    Case("freqz_zpk", lambda z, p, k: signal.freqz_zpk(z, p, k, 5)[1], (X[:1], X[1:3], 1.1)),
    Case("freqz_sos", lambda s: signal.freqz_sos(np.insert(s, 3, 1.0, 1), 5)[1], (np.delete(SOS, 3, 1),)),
    Case("sosfreqz", lambda s: signal.sosfreqz(np.insert(s, 3, 1.0, 1), 5)[1], (np.delete(SOS, 3, 1),)),
    Case("freqs", lambda b, a, w: signal.freqs(b, a, w), (B, A, TIMES[1:])),
    Case("freqs_zpk", lambda z, p, k: signal.freqs_zpk(z, p, k, TIMES[1:])[1], (X[:1], X[1:3], 1.1)),
    Case("group_delay", lambda b, a: signal.group_delay((b, a), 5)[1], (B, A)),
    Case("freqresp", lambda b, a: signal.freqresp((b, a), TIMES[1:])[1], (B, A)),
    Case("bode", lambda b, a: signal.bode((b, a), TIMES[1:])[1:], (B, A)),
    Case("dfreqresp", lambda b, a: signal.dfreqresp((b, a, 0.1), TIMES[1:4])[1], (B, A)),
    Case("dbode", lambda b, a: signal.dbode((b, a, 0.1), TIMES[1:4])[1:], (B, A)),
    Case("impulse", lambda b, a: signal.impulse((b, a), T=TIMES)[1], (B[:2], A), FIRST),
    Case("step", lambda b, a: signal.step((b, a), T=TIMES)[1], (B[:2], A), FIRST),
    Case("lsim", lambda b, a, u: signal.lsim((b, a), u, TIMES)[1:], (B[:2], A, X[:11]), FIRST),
    Case(
        "lsim states",
        lambda a, u: signal.lsim((a, INPUT, OUTPUT, np.zeros((1, 1))), u, TIMES)[1],
        (STATE, X[:11]),
        FIRST,
    ),
    Case("dlsim", lambda b, a, u: signal.dlsim((b, a, 0.1), u)[1], (B, A, X[:9])),
    Case("dimpulse", lambda b, a: signal.dimpulse((b, a, 0.1), n=5)[1], (B, A)),
    Case("dstep", lambda b, a: signal.dstep((b, a, 0.1), n=5)[1], (B, A)),
    Case("cont2discrete", lambda a, b: signal.cont2discrete((a, b, OUTPUT, np.zeros((1, 1))), 0.1)[:2], (STATE, INPUT)),
    Case("cont2discrete tf", lambda b, a: signal.cont2discrete((b, a), 0.1, "bilinear")[:2], (B, A)),
    Case("closest_STFT_dual_window", lambda w: signal.closest_STFT_dual_window(w, 3), (np.hanning(8) + 0.1,)),
    Case("unique_roots", lambda r: signal.unique_roots(np.array([r[0], r[0] + 1e-5, r[1]]))[0], (X[:2],)),
    Case("lti", lambda b, a: signal.lti(b, a).to_ss().A, (B[:2], A), LEAD),
    Case("TransferFunction", lambda b, a: signal.TransferFunction(b, a).freqresp(TIMES[1:])[1], (B, A), FIRST),
    Case(
        "StateSpace",
        lambda a: (lambda s: (s * s + s).A)(signal.StateSpace(a, INPUT, OUTPUT, np.ones((1, 1)))),
        (STATE,),
    ),
    Case("ZerosPolesGain", lambda z: signal.ZerosPolesGain(z, X[1:3], 2.0).to_tf().num, (X[:1],), LEAD),
    Case("dlti", lambda b, a: signal.dlti(b, a, dt=0.1).impulse(n=5)[1], (B, A), LEAD),
    # peaks
    Case("find_peaks", lambda x: signal.find_peaks(x, height=0.0)[1]["peak_heights"], (X,)),
    Case("find_peaks width", lambda x: signal.find_peaks(x, width=0.1)[1]["widths"], (X,)),
    Case("peak_prominences", lambda x: signal.peak_prominences(x, signal.find_peaks(X)[0])[0], (X,)),
    Case("peak_widths", lambda x: signal.peak_widths(x, signal.find_peaks(X)[0]), (X,)),
]
