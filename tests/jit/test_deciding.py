"""Functions that decide by what the world says run each time; none of them is answered out of a recording."""

import datetime
import os
import pathlib
import threading
import time
from time import monotonic

import numpy as np
import pytest

import adjoint as ad

END: list[float] = [0.0]
LOCK = threading.Lock()
PLACE = [pathlib.Path()]


def _late():
    return time.time() > END[0]


def _kept(x):
    now = time.time()
    left = END[0] - now
    if left < 0:
        return x * 2
    return x * 3


def _looped(x):
    for _ in range(3):
        if time.time() > END[0]:
            break
        x = x + 1
    return x


def _imported(x):
    import time as clock

    return x * 2 if clock.time() > END[0] else x * 3


def _captured():
    from time import time as now

    return lambda x: x * 2 if now() > END[0] else x * 3


CLOCKS = {
    "time": lambda x: x * 2 if time.time() > END[0] else x * 3,
    "monotonic": lambda x: x * 2 if time.time() - monotonic() + monotonic() > END[0] else x * 3,
    "datetime": lambda x: x * 2 if datetime.datetime.now() > datetime.datetime.fromtimestamp(END[0]) else x * 3,
    "helper": lambda x: x * 2 if _late() else x * 3,
    "variable": _kept,
    "loop": _looped,
    "imported": _imported,
    "captured": _captured(),
}
FILES = {
    "exists": lambda x: x * 2 if os.path.exists(PLACE[0]) else x * 3,  # noqa: PTH110
    "isfile": lambda x: x * 2 if os.path.isfile(str(PLACE[0])) else x * 3,  # noqa: PTH113
    "path": lambda x: x * 2 if pathlib.Path(str(PLACE[0])).exists() else x * 3,
    "size": lambda x: x * os.path.getsize(PLACE[0]) if os.access(PLACE[0], os.R_OK) else x,  # noqa: PTH202
}


@pytest.mark.parametrize("name", CLOCKS)
def test_clocks_that_decide(name):
    """What is late is so at the next call."""
    END[0] = time.time() + 1000.0
    jitted, x = ad.jit(CLOCKS[name]), np.arange(3.0)
    with pytest.warns(RuntimeWarning, match="it decides by"):
        np.testing.assert_array_equal(jitted(x), CLOCKS[name](x))
    before = CLOCKS[name](x)
    END[0] = time.time() - 1000.0
    np.testing.assert_array_equal(jitted(x), CLOCKS[name](x))
    assert not np.array_equal(CLOCKS[name](x), before)


@pytest.mark.parametrize("name", FILES)
def test_files_that_decide(name, tmp_path):
    """What is there is so at the next call."""
    PLACE[0] = tmp_path / "flag"
    jitted, x = ad.jit(FILES[name]), np.arange(3.0)
    with pytest.warns(RuntimeWarning, match="it decides by"):
        before = jitted(x)
    (tmp_path / "flag").write_text("four")
    np.testing.assert_array_equal(jitted(x), FILES[name](x))
    assert not np.array_equal(jitted(x), before)


def test_locks_that_decide():
    """So does a lock."""
    jitted = ad.jit(lambda x: x * 2 if LOCK.locked() else x * 3)
    with pytest.warns(RuntimeWarning, match="it decides by"):
        assert jitted(1.0) == 3.0
    with LOCK:
        assert jitted(1.0) == 2.0


def test_clocks_that_measure():
    """What is timed is jitted."""

    def timed(x):
        start = time.perf_counter()
        y = np.sin(x) * 2
        taken = time.perf_counter() - start
        del taken
        return y

    timed_only = ad.jit(timed)
    np.testing.assert_allclose(timed_only(np.ones(3)), 2 * np.sin(np.ones(3)))
