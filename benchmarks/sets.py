"""All rows, in sets, and who takes part in each."""

from __future__ import annotations

from . import curvature, eager, families, jit, nested, taylor
from .row import Row

SETS: dict[str, dict[str, Row]] = {
    "jit": jit.ROWS,
    "families": families.ROWS,
    "nested": nested.ROWS,
    "curvature": curvature.ROWS,
    "eager": eager.ROWS,
    "taylor": taylor.ROWS,
}
RIVALS = (
    "JAX",
    "PyTorch",
    "torch.compile",
    "autograd",
    "NumPy by hand",
    "Python by hand",
    "C by hand",
    "C with libmvec",
)
TEAMS: dict[str, tuple[str, ...]] = {
    "jit": ("adjoint", *RIVALS),
    "families": ("adjoint", *RIVALS[:5], "C by hand"),
    "nested": ("adjoint", *RIVALS[:5]),
    "curvature": ("adjoint", *RIVALS[:5]),
    "eager": ("adjoint eager", "autograd", "PyTorch", "differences", "NumPy by hand", "Python by hand"),
    "taylor": ("adjoint", "JAX jet", "JAX", "PyTorch", "NumPy by hand"),
}
"""The first is the one that is compared with the others."""
ALL: dict[str, Row] = {name: row for rows in SETS.values() for name, row in rows.items()}
