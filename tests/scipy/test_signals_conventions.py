"""Signals and images where a table of cases does not reach: arrays to be filled, kinks, objects, names, programs."""

import numpy as np
import pytest
from scipy import fft, ndimage, signal
from scipy.cluster import hierarchy
from scipy.fft import dct as imported_by_name
from scipy.signal import lfilter as filter_by_name
from scipy.spatial import distance

import adjoint as ad
from adjoint.core.errors import AdjointError
from adjoint.core.tree import flatten

rng = np.random.default_rng(2)
IMAGE = rng.normal(size=(5, 6))
B, A = np.array([0.2, 0.3]), np.array([1.0, -0.5])


def test_functions_imported_by_name():
    """What was imported by name before anything was traced differentiates too."""
    np.testing.assert_allclose(ad.jacobian(imported_by_name)(IMAGE[0]), fft.dct(np.eye(6), axis=0), atol=1e-12)
    response = signal.lfilter(B, A, np.eye(6), axis=0)
    np.testing.assert_allclose(ad.jacobian(lambda x: filter_by_name(B, A, x))(IMAGE[0]), response, atol=1e-12)


def test_plain_calls_stay_plain():
    """Outside of a trace SciPy's functions give what they gave, to the bit, and plain arrays."""
    before = signal.lfilter(B, A, IMAGE), ndimage.gaussian_filter(IMAGE, 1.0), fft.dct(IMAGE)
    ad.grad(lambda x: np.sum(signal.lfilter(B, A, x) ** 2 + ndimage.gaussian_filter(x, 1.0) + fft.dct(x)))(IMAGE)
    after = signal.lfilter(B, A, IMAGE), ndimage.gaussian_filter(IMAGE, 1.0), fft.dct(IMAGE)
    for x, y in zip(before, after, strict=True):
        assert type(y) is np.ndarray
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("jit", [False, True])
def test_output_that_is_filled(jit):
    """`output=` takes an array made inside the function, by name and by position."""

    def f(x):
        out = np.zeros(x.shape)
        ndimage.gaussian_filter(x, 1.0, output=out)
        again = np.zeros(x.shape)
        ndimage.sobel(out, 0, again)
        return np.sum(again**2)

    def g(x):
        return np.sum(ndimage.sobel(ndimage.gaussian_filter(x, 1.0), 0) ** 2)

    change = ad.jit if jit else lambda h: h
    np.testing.assert_allclose(change(ad.grad(f))(IMAGE), ad.grad(g)(IMAGE), atol=1e-12)
    np.testing.assert_allclose(change(f)(IMAGE), g(IMAGE))


def test_output_of_another_precision():
    """`output=` may be a dtype."""
    found = ad.grad(lambda x: np.sum(ndimage.uniform_filter(x, 3, output=np.float32) ** 2))(IMAGE)
    np.testing.assert_allclose(found, ad.grad(lambda x: np.sum(ndimage.uniform_filter(x, 3) ** 2))(IMAGE), rtol=1e-5)


def test_output_from_outside_is_refused():
    """A plain array cannot hold a traced value."""
    out = np.zeros(IMAGE.shape)
    with pytest.raises(AdjointError):
        ad.grad(lambda x: np.sum(ndimage.gaussian_filter(x, 1.0, output=out)))(IMAGE)


def test_slopes_at_knots():
    """A linear interpolation has the slope of the interval that begins at a sample; a constant one has none."""

    def at(order):
        return lambda c: ndimage.map_coordinates(np.array([0.0, 1.0, 3.0, 7.0]), c[None], order=order, mode="nearest")

    slopes = ad.jacobian(at(1))(np.array([0.5, 1.0, 1.7, 2.0]))
    np.testing.assert_allclose(slopes, np.diag([1.0, 2.0, 2.0, 4.0]))
    np.testing.assert_array_equal(ad.jacobian(at(0))(np.array([0.3, 1.7])), np.zeros((2, 2)))


def test_ties_of_selections():
    """Equal extrema share, of equal ranks the first counts."""
    flat = np.ones(3)
    shared = ad.grad(lambda x: ndimage.maximum_filter(x, 3, mode="constant")[1])(flat)
    np.testing.assert_allclose(shared, np.ones(3) / 3)
    picked = ad.grad(lambda x: ndimage.median_filter(x, 3, mode="constant")[1])(flat)
    np.testing.assert_allclose(picked, [0.0, 1.0, 0.0])


def test_peaks_and_labels_are_constant():
    """Which elements are found does not move; what is read there does."""
    x = np.array([0.0, 2.0, 1.0, 3.0, 0.0])
    peaks, known = signal.find_peaks(x, height=0.5, prominence=0.1)
    grad = ad.grad(lambda x: np.sum(signal.find_peaks(x, height=0.5, prominence=0.1)[1]["prominences"]))(x)
    np.testing.assert_array_equal(peaks, [1, 3])
    np.testing.assert_allclose(known["prominences"], [1.0, 3.0])
    np.testing.assert_allclose(grad, [-0.5, 1.0, -1.0, 1.0, -0.5])  # the bases of the second one are at the same height
    found = ad.grad(lambda x: np.sum(ndimage.label(x > 1.0)[0] * x))(x)
    np.testing.assert_array_equal(found, [0.0, 1.0, 0.0, 2.0, 0.0])


CONSTANT = {
    "check_NOLA": lambda x: signal.check_NOLA(np.abs(x[0]) + 1.0, 6, 3),
    "choose_conv_method": lambda x: signal.choose_conv_method(x, x),
    "argrelmax": lambda x: signal.argrelmax(x),
    "find_peaks_cwt": lambda x: signal.find_peaks_cwt(x[0], np.arange(1, 3)),
    "square": lambda x: signal.square(x),
    "label": lambda x: ndimage.label(x > 0),
    "find_objects": lambda x: ndimage.find_objects(ndimage.label(x > 0)[0]),
    "binary_erosion": lambda x: ndimage.binary_erosion(x > 0),
    "maximum_position": lambda x: ndimage.maximum_position(x),
    "distance_transform_edt": lambda x: ndimage.distance_transform_edt(x > 0),
    "histogram": lambda x: ndimage.histogram(x, -1, 1, 4),
    "fcluster": lambda x: hierarchy.fclusterdata(x, 1.0),
    "is_valid_y": lambda x: distance.is_valid_y(x[0]),
}


@pytest.mark.parametrize("name", CONSTANT)
def test_what_is_constant_is_found_in_every_trace(name):
    """Labels, places, truth values, words and slices: SciPy's own, in sweeps and in programs, and nothing flows."""

    def f(x, found=None):
        result = CONSTANT[name](x)
        if found is not None:
            found.append(result)
        return np.sum(x**2)

    found = []
    np.testing.assert_allclose(ad.grad(lambda x: f(x, found))(IMAGE), 2 * IMAGE)
    np.testing.assert_allclose(ad.jit(ad.grad(f))(IMAGE), 2 * IMAGE)
    for got, want in zip(flatten(found[0])[0], flatten(CONSTANT[name](IMAGE))[0], strict=True):
        np.testing.assert_equal(ad.value(got), want)


def test_classes_stay_classes():
    """What is asked for its class by SciPy's own code is not replaced."""
    assert isinstance(hierarchy.ClusterNode, type)
    assert isinstance(signal.ShortTimeFFT, type)
    assert hierarchy.cut_tree(hierarchy.linkage(IMAGE)).shape == (5, 5)


def test_methods_of_objects_made_outside():
    """A transform that was made before takes traced signals; what it holds stays plain."""
    transform = signal.ShortTimeFFT(np.hanning(8), 3, 1.0)
    x = rng.normal(size=30)
    found = ad.grad(lambda x: np.sum(np.abs(transform.stft(x)) ** 2))(x)
    step = 1e-6 * np.eye(30)[4]
    power = [np.sum(np.abs(transform.stft(x + s)) ** 2) for s in (step, -step)]
    np.testing.assert_allclose(found[4], (power[0] - power[1]) / 2e-6, rtol=1e-6)
    assert type(transform.win) is np.ndarray
    assert type(transform.dual_win) is np.ndarray
    assert type(transform.stft(x)) is np.ndarray


def test_objects_made_outside_in_programs():
    """What an object keeps for itself, as the dual window, is no effect that a program could not repeat."""
    transform = signal.ShortTimeFFT(np.hanning(6), 2, 1.0)
    x = rng.normal(size=7)

    def f(x):
        return np.sum(transform.istft(transform.stft(x) * 2.0, k1=7) ** 2)

    np.testing.assert_allclose(ad.jit(f)(x), f(x))
    np.testing.assert_allclose(ad.jit(ad.grad(f))(x), 8 * x, atol=1e-10)
    window = np.hanning(8) + 0.1
    found = ad.grad(lambda w: np.sum(np.abs(signal.ShortTimeFFT(w, 3, 1.0).stft(x)) ** 2))(window)
    frames = np.abs(signal.ShortTimeFFT(window, 3, 1.0).stft(x)) ** 2
    np.testing.assert_allclose(found @ window, 2 * np.sum(frames))  # it is a square in the window


def test_decisions_are_guarded():
    """Where SciPy's code decides on values, a program follows: the number of taps, a normalisation, a branch."""
    f = ad.jit(ad.grad(lambda s: np.sum(ndimage.gaussian_filter1d(IMAGE[0], s) ** 2)))
    g = ad.jit(ad.grad(lambda a: np.sum(signal.lfilter(B, np.stack([a, -0.5]), IMAGE[0]) ** 2)))
    for s in (0.4, 1.3, 2.2):
        np.testing.assert_allclose(f(s), ad.grad(lambda s: np.sum(ndimage.gaussian_filter1d(IMAGE[0], s) ** 2))(s))
    for a in (1.0, 2.0):
        want = ad.grad(lambda a: np.sum(signal.lfilter(B, np.stack([a, -0.5]), IMAGE[0]) ** 2))(a)
        np.testing.assert_allclose(g(a), want)


def test_nan_beyond_the_reach_of_a_filter():
    """A nan in a kernel's reach only makes nan there, as in SciPy."""
    x = IMAGE.copy()
    x[0, 0] = np.nan
    value, grad = ad.value_and_grad(lambda x: np.sum(ndimage.correlate(x, np.ones((3, 3)))[3:]))(x)
    assert np.isfinite(value)
    assert np.isfinite(grad).all()
