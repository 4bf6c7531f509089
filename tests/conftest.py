"""For all tests: programs are verified after each pass, functions before they are printed, and code is final.

Quick code, which calls run at first, has tests of its own (`compile/test_tiers.py`), and `make tiers`
runs others with it.
"""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("ADJOINT_QUICK", "off")

from adjoint.compile.assembly.verify import before_printing
from adjoint.ir.verify import after_passes


@pytest.fixture(scope="session", autouse=True)
def programs_are_verified():
    """What holds for programs is looked at whenever one is recorded, made smaller, rolled up or compiled."""
    with after_passes(), before_printing():
        yield
