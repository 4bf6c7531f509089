"""For all tests: every program is verified after each pass that made it, and every function before it is printed."""

from __future__ import annotations

import pytest

from adjoint.compile.assembly.verify import before_printing
from adjoint.ir.verify import after_passes


@pytest.fixture(scope="session", autouse=True)
def programs_are_verified():
    """What holds for programs is looked at whenever one is recorded, made smaller, rolled up or compiled."""
    with after_passes(), before_printing():
        yield
