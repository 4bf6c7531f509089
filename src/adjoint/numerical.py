"""Numerical differentiation, with error estimates: `ad.numerical.grad`, `ad.numerical.jacobian`."""

from .transforms.numerical import grad, jacobian

__all__ = ["grad", "jacobian"]


def __dir__() -> list[str]:
    return __all__
