"""Random programs: machine code gives what NumPy gives, and touches nothing but its own memory."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("llvmlite")


@pytest.mark.parametrize(("first", "last"), [(0, 100), pytest.param(1_000_000, 1_000_700, marks=pytest.mark.slow)])
def test_random_programs(first, last):
    """Each seed is a program; the process of its own ends with the first one that goes wrong."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.compile.lowering_fuzz", str(first), str(last)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=590)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("survived")
