"""SciPy's special functions, entered into the catalogue when the first of them is met."""

from __future__ import annotations


def load() -> None:
    """Fill the registry; a second call does nothing."""
    from . import (  # noqa: F401
        special_bessel,
        special_elementary,
        special_elliptic,
        special_error,
        special_gamma,
        special_noncentral,
        special_orthogonal,
        special_spherical,
        special_statistics,
        special_sums,
    )
