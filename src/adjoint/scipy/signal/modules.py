"""The twins of SciPy's modules of signals: their code as it stands, with our leaves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.signal

from ...core.values import shape_of
from ..module_copies import Float, methods_run_through, twin, twins
from . import leaves


def transformed_frames(x: Any, win: Any, detrend_func: Any, nperseg: int, noverlap: int, nfft: int, sides: str) -> Any:
    """`_fft_helper`: the transforms of overlapping segments, which are gathered, not cut out of all there could be."""
    import scipy.fft

    first = np.arange(0, shape_of(x)[-1] - nperseg + 1, nperseg - noverlap)
    segments = win * detrend_func(x[..., first[:, None] + np.arange(nperseg)])
    if sides == "onesided":
        return scipy.fft.rfft(np.real(segments), n=nfft)
    return scipy.fft.fft(segments, n=nfft)


S = "scipy.signal."
LINALG = SimpleNamespace(**vars(scipy.linalg))
LINALG.companion = twin("scipy.linalg._special_matrices").companion
MODULES = twins(
    {
        S + "_arraytools": {},
        S + "windows._windows": {"float": Float},
        S + "_polyutils": {},
        S + "_waveforms": {"float": Float},
        S + "_upfirdn": {"upfirdn": leaves.upfirdn},
        S + "_spline_filters": {
            "cspline1d_eval": leaves.spline_at(3),
            "qspline1d_eval": leaves.spline_at(2),
        },
        S + "_filter_design": {"float": Float},
        S + "_fir_filter_design": {"float": Float},
        S + "_signaltools": {
            "linalg": LINALG,
            "_sigtools": leaves.sigtools,
            "_sosfilt": leaves.filter_sections,
            "cKDTree": leaves.Points,
        },
        S + "_savitzky_golay": {},
        S + "_spectral_py": {"_fft_helper": transformed_frames},
        S + "_short_time_fft": {},
        S + "_lti_conversion": {},
        S + "_ltisys": {},
        S + "_czt": {},
    }
)

CHANGING = {"ShortTimeFFT": ("__init__", "scale_to")}
"""Classes that keep what they have computed, and their methods that are meant to change an object."""
for _module in (S + "_short_time_fft", S + "_ltisys", S + "_czt"):
    for _kind in vars(MODULES[_module]).values():
        if isinstance(_kind, type) and _kind.__module__ == _module:
            _name = _kind.__name__
            methods_run_through(_kind, f"scipy.signal.{_name}", MODULES[_module], changing=CHANGING.get(_name))
