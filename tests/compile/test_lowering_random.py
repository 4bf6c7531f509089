"""Random programs: machine code gives what NumPy gives, and touches nothing but its own memory."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("llvmlite")


@pytest.mark.parametrize(
    "first", [0, 50, *[pytest.param(1_000_000 + 50 * k, marks=pytest.mark.slow) for k in range(14)]]
)
def test_random_programs(first):
    """Each seed is a program; the process of its own ends with the first one that goes wrong."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.compile.lowering_fuzz", str(first), str(first + 50)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=590)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("survived")
