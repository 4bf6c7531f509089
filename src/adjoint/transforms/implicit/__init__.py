"""Solutions of equations: their derivatives follow from the equation, whatever solved it."""

from .interface import argmin, fixed_point, root
from .linear import linear_solve

__all__ = ["argmin", "fixed_point", "linear_solve", "root"]


def __dir__() -> list[str]:
    return __all__
