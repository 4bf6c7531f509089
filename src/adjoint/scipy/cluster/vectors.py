"""`scipy.cluster.vq`: which code belongs to a vector is constant in pieces, how far it is moves with both."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.cluster.vq

from ...core.values import shape_of
from ...numpy.patching.replacements import refuses, replaces
from ..batches import in_batches
from ..module_copies import twin
from ..spatial.metrics import METRICS


def _nearest(obs: Any, code_book: Any) -> tuple[Any, Any]:
    """`_vq.vq`: the number of the nearest code, and how far it is."""
    if len(shape_of(obs)) == 1:
        obs, code_book = obs[:, None], code_book[:, None]
    code = np.argmin(METRICS["sqeuclidean"](obs[:, None], code_book[None, :]), -1)
    return code.astype(np.int32), METRICS["euclidean"](obs, code_book[code])


def _converted(array: Any, check_finite: bool = False, **options: Any) -> Any:
    """`_asarray`."""
    array = np.asarray(array)
    if check_finite and not np.all(np.isfinite(array)):
        raise ValueError("array must not contain infs or NaNs")
    return array


QUANTIZATION = twin(scipy.cluster.vq.whiten.__module__, _asarray=_converted, _vq=SimpleNamespace(vq=_nearest))
CONSTANT = "which code is the nearest is constant"
for _name, _note in (("whiten", ""), ("vq", CONSTANT), ("py_vq", CONSTANT)):
    _ours = in_batches(f"scipy.cluster.vq.{_name}", getattr(QUANTIZATION, _name))
    replaces("scipy.cluster.vq", _name, note=_note)(_ours)

refuses(
    "scipy.cluster.vq",
    "kmeans",
    "kmeans2",
    reason="it starts at random, and is a sequence of assignments to the nearest centre",
    fix="Find the labels at plain values,  centres, labels = kmeans2(ad.value(x), k),  and write the centres as means: "
    " np.stack([x[labels == i].mean(0) for i in range(k)]).",
)
