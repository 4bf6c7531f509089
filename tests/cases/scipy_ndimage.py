"""SciPy's images."""

import numpy as np
import scipy.ndimage as ndimage

from adjoint.testing.laws import Case

rng = np.random.default_rng(6)

IMAGE = rng.normal(size=(5, 6))
WEIGHTS, TAPS = rng.normal(size=(3, 2)), rng.normal(size=4)
COMPLEX = IMAGE + 1j * rng.normal(size=IMAGE.shape)
FOOTPRINT = np.array([[0, 1, 1], [1, 1, 0]], bool)
LABELS = rng.integers(0, 4, size=IMAGE.shape)
PLACES = np.stack([rng.uniform(-3, 8, size=7), rng.uniform(-4, 10, size=7)])
MATRIX, OFFSET = np.array([[0.9, 0.2], [-0.1, 1.1]]), np.array([0.31, 0.2])
FIRST = ("value", "tangent", "adjoint")
BRIEF = ("value", "tangent", "adjoint", "stacking", "precision")
UNSTACKED = ("value", "tangent", "adjoint", "linearize", "orders", "taylor", "precision")
FILTER_MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
MODES = ("reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "wrap", "grid-wrap")


def of_labels(name):
    """A measurement of the whole image, of what has a label, of one label and of several."""
    found = [({}, ""), ({"labels": LABELS}, " labelled"), ({"labels": LABELS, "index": 2}, " of one")]
    found.append(({"labels": LABELS, "index": [1, 7, 3]}, " of several"))
    if name in ("mean", "variance", "standard_deviation", "center_of_mass"):
        found[-1] = ({"labels": LABELS, "index": [1, 3]}, " of several")
    return [
        Case(name + how, lambda x, n=name, o=options: getattr(ndimage, n)(x, **o), (IMAGE,), BRIEF)
        for options, how in found
    ]


CASES = [
    *[
        Case(
            f"correlate {mode}",
            lambda x, w, m=mode: ndimage.correlate(x, w, mode=m, cval=0.7, origin=(1, -1)),
            (IMAGE, WEIGHTS),
            BRIEF,
        )
        for mode in FILTER_MODES
    ],
    *[
        Case(
            f"correlate1d {mode}",
            lambda x, w, m=mode: ndimage.correlate1d(x, w, 0, mode=m, cval=0.7, origin=1),
            (IMAGE, TAPS),
            BRIEF,
        )
        for mode in FILTER_MODES
    ],
    Case("correlate", lambda x, w: ndimage.correlate(x, w), (COMPLEX, WEIGHTS + 1j)),
    Case("correlate1d", lambda x, w, c: ndimage.correlate1d(x, w, mode="constant", cval=c), (IMAGE, TAPS, 0.3)),
    Case("convolve", lambda x, w: ndimage.convolve(x, w), (IMAGE, WEIGHTS)),
    Case("convolve1d", lambda x, w: ndimage.convolve1d(x, w), (COMPLEX, TAPS + 1j)),
    Case("gaussian_filter", lambda x: ndimage.gaussian_filter(x, 0.8, mode=("wrap", "nearest")), (IMAGE,)),
    Case(
        "gaussian_filter width", lambda x, s: ndimage.gaussian_filter(x, s, order=(1, 2)), (IMAGE, np.array([1.1, 0.7]))
    ),
    Case("gaussian_filter1d", lambda x: ndimage.gaussian_filter1d(x, 0.8, 0, 3), (IMAGE,), BRIEF),
    Case("gaussian_laplace", lambda x: ndimage.gaussian_laplace(x, 0.7), (IMAGE,), BRIEF),
    Case("gaussian_gradient_magnitude", lambda x: ndimage.gaussian_gradient_magnitude(x, 0.7), (IMAGE,)),
    Case("generic_gradient_magnitude", lambda x: ndimage.generic_gradient_magnitude(x, ndimage.sobel), (IMAGE,)),
    Case("generic_laplace", lambda x: ndimage.generic_laplace(x, ndimage.prewitt), (IMAGE,), BRIEF),
    *[
        Case(name, lambda x, n=name: getattr(ndimage, n)(x), (IMAGE,), BRIEF)
        for name in ("uniform_filter", "sobel", "prewitt", "laplace")
    ],
    Case("uniform_filter complex", lambda x: ndimage.uniform_filter(x, (2, 3)), (COMPLEX,), BRIEF),
    Case("uniform_filter1d", lambda x: ndimage.uniform_filter1d(x, 4, 0, origin=1), (IMAGE,), BRIEF),
    Case(
        "generic_filter",
        lambda x: ndimage.generic_filter(x, lambda v: np.sum(v**2), footprint=FOOTPRINT),
        (IMAGE,),
        BRIEF,
    ),
    Case("generic_filter1d", lambda x: ndimage.generic_filter1d(x, squared, 3), (IMAGE,), BRIEF),
    Case("vectorized_filter", lambda x: ndimage.vectorized_filter(x, np.mean, size=(2, 3)), (IMAGE,)),
    # spectra
    Case("fourier_gaussian", lambda x, s: ndimage.fourier_gaussian(x, s), (IMAGE, np.array([0.7, 0.3]))),
    Case("fourier_gaussian real", lambda x, s: ndimage.fourier_gaussian(x, s, n=10), (COMPLEX, 0.7), BRIEF),
    Case("fourier_uniform", lambda x, s: ndimage.fourier_uniform(x, s), (IMAGE, np.array([1.7, 0.3]))),
    Case("fourier_ellipsoid", lambda x, s: ndimage.fourier_ellipsoid(x, s), (IMAGE, np.array([1.7, 0.3])), BRIEF),
    Case("fourier_ellipsoid line", lambda x, s: ndimage.fourier_ellipsoid(x, s), (IMAGE[0], 1.3), FIRST),
    Case(
        "fourier_ellipsoid solid",
        lambda x, s: ndimage.fourier_ellipsoid(x, s),
        (rng.normal(size=(3, 4, 2)), 1.3),
        FIRST,
    ),
    Case("fourier_shift", lambda x, s: ndimage.fourier_shift(x, s), (COMPLEX, np.array([1.7, 0.3]))),
    # selections
    *[
        Case(
            f"{name} {mode}",
            lambda x, n=name, m=mode: getattr(ndimage, n)(x, (3, 2), mode=m, cval=0.3, origin=(1, 0)),
            (IMAGE,),
            BRIEF,
        )
        for name, mode in zip(
            ("maximum_filter", "minimum_filter", "median_filter", "maximum_filter", "median_filter"),
            FILTER_MODES,
            strict=True,
        )
    ],
    Case("median_filter line", lambda x: ndimage.median_filter(x, 5, mode="mirror"), (IMAGE[0],)),
    Case("median_filter footprint", lambda x: ndimage.median_filter(x, footprint=FOOTPRINT), (IMAGE,), BRIEF),
    Case("minimum_filter footprint", lambda x: ndimage.minimum_filter(x, footprint=FOOTPRINT), (IMAGE,), BRIEF),
    Case("maximum_filter1d", lambda x: ndimage.maximum_filter1d(x, 3), (IMAGE,), BRIEF),
    Case("minimum_filter1d", lambda x: ndimage.minimum_filter1d(x, 4, 0), (IMAGE,), BRIEF),
    Case("rank_filter", lambda x: ndimage.rank_filter(x, 2, 3), (IMAGE,), BRIEF),
    Case("percentile_filter", lambda x: ndimage.percentile_filter(x, 30, 3), (IMAGE,), BRIEF),
    Case("grey_dilation structure", lambda x, s: ndimage.grey_dilation(x, structure=s), (IMAGE, WEIGHTS)),
    Case("grey_erosion structure", lambda x, s: ndimage.grey_erosion(x, structure=s), (IMAGE, WEIGHTS), BRIEF),
    *[
        Case(name, lambda x, n=name: getattr(ndimage, n)(x, 3), (IMAGE,), BRIEF)
        for name in (
            "grey_dilation",
            "grey_erosion",
            "grey_opening",
            "grey_closing",
            "morphological_gradient",
            "morphological_laplace",
            "white_tophat",
            "black_tophat",
        )
    ],
    # interpolation
    *[
        Case(
            f"map_coordinates {mode} {order}",
            lambda x, c, m=mode, o=order: ndimage.map_coordinates(x, c, order=o, mode=m, cval=0.4),
            (IMAGE, PLACES),
            FIRST,
            1e-5,
        )
        for mode in MODES
        for order in ((0, 1, 2, 3, 4, 5) if mode in ("constant", "reflect") else (1, 3))
    ],
    Case("map_coordinates", lambda x, c: ndimage.map_coordinates(x, c), (COMPLEX, PLACES)),
    Case("map_coordinates cval", lambda x, c, v: ndimage.map_coordinates(x, c, cval=v), (IMAGE, PLACES, 0.3)),
    *[
        Case(
            f"shift {mode}",
            lambda x, s, m=mode: ndimage.shift(x, s, mode=m, cval=0.4),
            (IMAGE, np.array([1.3, -2.2])),
            BRIEF,
        )
        for mode in MODES
    ],
    Case("shift", lambda x, s: ndimage.shift(x, s, order=2), (IMAGE, np.array([1.3, -2.2]))),
    *[
        Case(f"zoom {mode}", lambda x, m=mode: ndimage.zoom(x, (1.7, 0.6), mode=m, cval=0.4), (IMAGE,), BRIEF)
        for mode in MODES
    ],
    Case("zoom grid", lambda x: ndimage.zoom(x, 1.7, mode="grid-wrap", grid_mode=True), (IMAGE,)),
    Case("rotate", lambda x, a: ndimage.rotate(x, a), (IMAGE, 31.0), UNSTACKED, 1e-5),
    Case(
        "rotate in place", lambda x, a: ndimage.rotate(x, a, reshape=False, mode="nearest"), (IMAGE, 31.0), BRIEF, 1e-5
    ),
    Case(
        "affine_transform",
        lambda x, a, b: ndimage.affine_transform(x, a, b, mode="mirror"),
        (IMAGE, MATRIX, OFFSET),
        (),
        1e-5,
    ),
    Case(
        "affine_transform diagonal",
        lambda x, a, b: ndimage.affine_transform(x, a, b),
        (IMAGE, MATRIX[1, 1] * np.ones(2), OFFSET),
        FIRST,
        1e-5,
    ),
    Case(
        "geometric_transform",
        lambda x, a: ndimage.geometric_transform(x, lambda at: (at[0] - a, at[1] * 0.8)),
        (IMAGE, 0.3),
        BRIEF,
    ),
    *[
        Case(f"spline_filter1d {mode}", lambda x, m=mode: ndimage.spline_filter1d(x, 4, 0, mode=m), (IMAGE,), BRIEF)
        for mode in MODES
    ],
    *[
        Case(
            f"spline_filter1d long {mode}",
            lambda x, m=mode: ndimage.spline_filter1d(x, 3, mode=m),
            (rng.normal(size=70),),
            FIRST,
        )
        for mode in MODES
    ],
    Case("spline_filter", lambda x: ndimage.spline_filter(x), (IMAGE,)),
    # measurements
    *[
        case
        for name in (
            "sum",
            "sum_labels",
            "mean",
            "variance",
            "standard_deviation",
            "minimum",
            "maximum",
            "median",
            "center_of_mass",
        )
        for case in of_labels(name)
    ],
    Case("extrema", lambda x: ndimage.extrema(x, LABELS, [1, 2])[:2], (IMAGE,)),
    Case(
        "labeled_comprehension",
        lambda x: ndimage.labeled_comprehension(x, LABELS, [1, 2], np.mean, float, 0.0),
        (IMAGE,),
    ),
    Case(
        "distance_transform_bf",
        lambda s: ndimage.distance_transform_bf(IMAGE > -0.5, sampling=s),
        (np.array([1.1, 0.7]),),
    ),
    Case("distance_transform_edt", lambda s: ndimage.distance_transform_edt(IMAGE > -0.5, s), (np.array([1.1, 0.7]),)),
]


def squared(line, out):
    """A filter that fills a line."""
    out[...] = line[:-2] * line[1:-1] + line[2:] ** 2
