"""What stands in for the functions of `scipy.special` while a function is traced."""

from __future__ import annotations
