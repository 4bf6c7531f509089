"""SciPy's own copies of the array API's helpers, which have another place from SciPy 1.18 on."""

from __future__ import annotations

import importlib
from typing import Any

import scipy._lib._array_api as used

HOME = used.np_compat.__name__.partition(".array_api_compat")[0]
"""`scipy._lib`, or `scipy._external` from 1.18 on."""


def vendored(name: str) -> Any:
    """A module of SciPy's copies: `array_api_extra`, `array_api_compat.common._aliases`."""
    return importlib.import_module(f"{HOME}.{name}")
