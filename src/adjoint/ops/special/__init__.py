"""SciPy's special functions, entered into the catalogue when the first of them is met."""

from __future__ import annotations


def load() -> None:
    """Fill the registry; a second call does nothing."""
    from . import bessel, distributions, elementary, elliptic, error, gamma, incomplete  # noqa: F401, I001
    from . import noncentral, orthogonal, spherical, statistics, sums  # noqa: F401
