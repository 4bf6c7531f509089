"""What becomes of each function of `scipy.ndimage`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.ndimage

from ...core.values import shape_of
from ...numpy.dispatch.arguments import holds_traced
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.replacements import constant, replaces
from ..batches import in_batches
from .modules import MODULES

N = "scipy.ndimage"
LINEAR = (
    "convolve", "convolve1d", "correlate", "correlate1d", "fourier_ellipsoid", "fourier_gaussian", "fourier_shift",
    "fourier_uniform", "gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace",
    "generic_filter", "generic_filter1d", "generic_gradient_magnitude", "generic_laplace", "laplace", "prewitt",
    "sobel", "spline_filter", "spline_filter1d", "uniform_filter", "uniform_filter1d", "vectorized_filter",
)  # fmt: skip
INTERPOLATIONS = ("affine_transform", "geometric_transform", "map_coordinates", "rotate", "shift", "zoom")
SELECTIONS = (
    "black_tophat", "extrema", "grey_closing", "grey_dilation", "grey_erosion", "grey_opening", "maximum",
    "maximum_filter", "maximum_filter1d", "median", "median_filter", "minimum", "minimum_filter", "minimum_filter1d",
    "morphological_gradient", "morphological_laplace", "percentile_filter", "rank_filter", "white_tophat",
)  # fmt: skip
SUMS = ("center_of_mass", "labeled_comprehension", "mean", "standard_deviation", "sum", "sum_labels", "variance")
NOTES = {
    **dict.fromkeys(SELECTIONS, "the element that is picked; ties of extrema are shared, of ranks the first counts"),
    **dict.fromkeys(INTERPOLATIONS, "in the coordinates too; at a knot, of SciPy's own choice of coefficients"),
    "zoom": "constant in the factors, which only decide the shape",
}
for _name in (*LINEAR, *INTERPOLATIONS, *SELECTIONS, *SUMS):
    _original = getattr(scipy.ndimage, _name, None)
    if _original is not None:  # not every version has all of them
        _ours = getattr(MODULES[_original.__module__], _original.__name__)
        _fills = "output" if "output" in inspect.signature(_original).parameters else ""
        replaces(N, _name, fills=_fills, note=NOTES.get(_name, ""))(in_batches(f"{N}.{_name}", _ours))

constant(
    N, "binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes", "binary_hit_or_miss",
    "binary_opening", "binary_propagation", "generate_binary_structure", "iterate_structure",
    note="truth values",
)  # fmt: skip
constant(
    N, "distance_transform_cdt", "find_objects", "histogram", "label", "maximum_position", "minimum_position",
    "value_indices", "watershed_ift",
    note="labels, places and whole numbers",
)  # fmt: skip


SCALED = "which background is nearest is constant, how far it is moves with the sampling"


@replaces(N, "distance_transform_edt", calls_back=True, note=SCALED)
def distance_transform_edt(
    original: Callable[..., Any], input: Any, sampling: Any = None, return_distances: bool = True,
    return_indices: bool = False, distances: Any = None, indices: Any = None,
) -> Any:  # fmt: skip
    """`scipy.ndimage.distance_transform_edt`."""
    return _distances("edt", original, (input,), sampling, return_distances, return_indices, distances, indices)


@replaces(N, "distance_transform_bf", calls_back=True, note=SCALED)
def distance_transform_bf(
    original: Callable[..., Any], input: Any, metric: str = "euclidean", sampling: Any = None,
    return_distances: bool = True, return_indices: bool = False, distances: Any = None, indices: Any = None,
) -> Any:  # fmt: skip
    """`scipy.ndimage.distance_transform_bf`, which looks at the sampling if the metric is Euclidean only."""
    sampling = sampling if metric.lower() == "euclidean" else None
    return _distances("bf", original, (input, metric), sampling, return_distances, return_indices, distances, indices)


def _distances(
    kind: str, original: Callable[..., Any], given: tuple[Any, ...], sampling: Any, wants_distances: bool,
    wants_indices: bool, distances: Any, indices: Any,
) -> Any:  # fmt: skip
    """The transform at the values, with distances that scale if the sampling is traced."""
    name = f"{N}.distance_transform_{kind}"
    if not holds_traced([sampling]):
        whole = (*given, sampling, wants_distances, wants_indices, distances, indices)
        return as_constant(name, original, whole, {}) if holds_traced(whole) else original(*whole)
    at = as_constant(name, original, (*given, sampling, False, True), {})
    steps = np.reshape(np.broadcast_to(np.asarray(sampling), shape_of(at)[:1]), (-1,) + (1,) * (len(shape_of(at)) - 1))
    far = np.sqrt(np.sum(((at - np.indices(shape_of(at)[1:])) * steps) ** 2, 0))
    found = []
    for x, wanted, out in ((far, wants_distances, distances), (at, wants_indices, indices)):
        if out is not None:
            out[...] = x
        elif wanted:
            found.append(x)
    return found[0] if len(found) == 1 else tuple(found) if found else None
