"""Checks of derivatives, for users and for the library's own laws."""

from ..core.hints import missing
from .check import check_grads
from .laws import LAWS, Case, check_case

__all__ = ["LAWS", "Case", "check_case", "check_grads"]

__getattr__ = missing("ad.testing", __all__)


def __dir__() -> list[str]:
    return __all__
