"""Checks of derivatives, for users and for the library's own laws."""

from .check import check_grads
from .laws import LAWS, Case, check_case

__all__ = ["LAWS", "Case", "check_case", "check_grads"]
