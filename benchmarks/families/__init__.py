"""Problem families of the literature on automatic differentiation, each as a NumPy user would write it."""

from __future__ import annotations

from dataclasses import replace

from ..row import Row
from . import brusselator, bundle, hand, kmeans, linear, lstm, minors, mixture, spectral, sums

RIVALS = ("JAX", "PyTorch", "torch.compile", "autograd", "NumPy by hand")
ROWS: dict[str, Row] = {
    name: replace(row, asked={**dict.fromkeys(RIVALS, 0.5), **({"C by hand": 1 / 1.5} if row.in_c else {})})
    for family in (mixture, bundle, lstm, hand, brusselator, minors, kmeans, sums, linear, spectral)
    for name, row in family.ROWS.items()
}
"""Of each: never more than twice the time of the best, and one and a half times that of C by hand."""
