"""Too little memory for compiling is an error that can be caught: LLVM itself would end the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from adjoint.compile.runtime import room
from adjoint.transforms.compiler import can_compile

pytestmark = pytest.mark.skipif(not can_compile(), reason="needs machine code")

PROGRAM = """
import resource, numpy as np, adjoint as ad
f = ad.jit(lambda x: np.sum(np.sin(x) * x))
f(np.ones(3))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
for n, megabytes in enumerate((40, 8, 1)):
    resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 2**20, -1))
    try:
        f(np.ones(4 + n))
    except MemoryError as error:
        print(str(error)[:32])
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
print(f(np.ones(4)) == np.sum(np.sin(np.ones(4))))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits and /proc")
def test_a_process_with_little_memory_goes_on():
    """Each call that cannot be compiled raises MemoryError; with memory again, it is compiled."""
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert found.stdout.splitlines() == ["There is no memory to compile: 6"] * 3 + ["True"], found.stderr


def test_maps_run_out(monkeypatch):
    """A system that allows no more memory maps is named, with what to do."""
    room.check_room(1000)
    monkeypatch.setattr(room, "_protect", lambda: lambda *args: -1)
    with pytest.raises(MemoryError, match=r"max_map_count.*\n.*ad.config.clear_caches"):
        room.check_room(1000)
