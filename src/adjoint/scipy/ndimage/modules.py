"""The twins of SciPy's modules of images: their code as it stands, with our leaves."""

from __future__ import annotations

from types import SimpleNamespace

from ..module_copies import Float, twins
from . import fourier, leaves, splines

IMAGE = SimpleNamespace(
    **{
        f.__name__: f
        for f in (
            leaves.correlate1d, leaves.correlate, leaves.uniform_filter1d, leaves.min_or_max_filter1d,
            leaves.min_or_max_filter, leaves.rank_filter, leaves.generic_filter, leaves.generic_filter1d,
            fourier.fourier_filter, fourier.fourier_shift,
            splines.geometric_transform, splines.zoom_shift, splines.spline_filter1d,
        )
    }
)  # fmt: skip
"""`scipy.ndimage._nd_image`."""

N = "scipy.ndimage."
MODULES = twins(
    {
        N + "_ni_support": {},
        N + "_filters": {
            "_nd_image": IMAGE, "float": Float, "_gaussian_kernel1d": leaves.gaussian_kernel,
            "_rank_filter_1d": SimpleNamespace(rank_filter=leaves.rank_filter_of_line),
        },
        N + "_fourier": {"_nd_image": IMAGE},
        N + "_interpolation": {"_nd_image": IMAGE},
        N + "_measurements": {},
        N + "_morphology": {},
    }
)  # fmt: skip
_measurements = vars(MODULES[N + "_measurements"])
_measurements["_select"] = leaves.selecting(_measurements["_select"])
