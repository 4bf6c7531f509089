"""What talks to the world while a function is recorded: refused, or made anew at every call."""

import datetime
import functools
import io
import logging
import multiprocessing
import os
import queue
import socket
import subprocess
import time
import warnings
from time import perf_counter

import numpy as np
import pytest

import adjoint as ad
from adjoint.capture.environment import world
from adjoint.core.errors import ImpureError

LOG = logging.getLogger("tests.world")


def reads(x, path):
    with open(path) as file:  # noqa: PTH123
        return x * float(file.read())


def writes(x, path):
    with open(path, "a") as file:  # noqa: PTH123
        file.write("1")
    return x


def writes_and_catches(x, path):
    try:
        return writes(x, path)
    except Exception:
        return x


def connects(x, path):
    with socket.socket() as wire:
        wire.settimeout(0.01)
        wire.connect(("127.0.0.1", 9))
    return x


REFUSED = {
    "a file": (reads, "reads the file"),
    "np.loadtxt": (lambda x, path: x * np.loadtxt(path), "reads the file"),
    "a folder": (lambda x, path: x * len(list(path.parent.iterdir())), "reads the folder"),
    "writing": (writes, "writes to the file"),
    "writing, caught": (writes_and_catches, "writes to the file"),
    "a process": (lambda x, path: x * len(subprocess.run(["true"], check=False).args), "subprocess.Popen"),
    "a network": (connects, "socket.connect"),
    "removing": (lambda x, path: path.unlink() or x, "os.remove"),
    "time": (lambda x, path: x * time.time(), r"computes with time.time\(\)"),
    "a clock by name": (lambda x, path: x + perf_counter(), r"computes with time.perf_counter\(\)"),
    "a date": (lambda x, path: x * datetime.datetime.now().timestamp(), r"computes with datetime.now\(\)"),
    "chance": (lambda x, path: x * int.from_bytes(os.urandom(8), "big"), r"computes with os.urandom\(\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name, tmp_path):
    """With words for it, in every call; what writes has not written."""
    f, words = REFUSED[name]
    path = tmp_path / "number"
    path.write_text("2")
    jitted = ad.jit(lambda x: f(x, path))
    for _ in range(2):
        with pytest.raises(ImpureError, match=words):
            jitted(1.5)
    assert path.read_text() == "2"


def pipe():
    here, there = multiprocessing.Pipe()
    return lambda x, n: here.send(n) or x * there.recv()


def waiting():
    items = queue.Queue()
    return lambda x, n: items.put(n) or x * items.get()


def lines():
    file = io.StringIO("1\n2\n3\n")
    return lambda x, n: x * float(file.readline())


@pytest.mark.parametrize("make", [pipe, waiting, lines])
def test_it_runs_each_time(make):
    """With one warning that names the call."""
    f = ad.jit(make())
    with pytest.warns(RuntimeWarning, match=r"it calls \w+\.\w+, which may talk to the world"):
        assert f(2.0, 1.0) == 2.0
    assert [f(2.0, 2.0), f(2.0, 3.0)] == [4.0, 6.0]


def timed(f):
    @functools.wraps(f)
    def call(*args):
        start = time.perf_counter()
        found = f(*args)
        LOG.info("took %s", perf_counter() - start)
        return found

    return call


@timed
def measured(x):
    LOG.warning("called")
    print("called")  # noqa: T201
    return 2 * x


def imports(x):
    import colorsys

    return x * 2 + 0 * len(colorsys.__name__)


def warns(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("no matter", stacklevel=1)
    return x * 2


@pytest.mark.parametrize("f", [measured, imports, warns])
def test_what_does_not_matter(f):
    """Timing, logging, printing, importing and warning: recorded once, and right."""
    jitted = ad.jit(f)
    assert [jitted(1.0), jitted(2.0), jitted(3.0)] == [2.0, 4.0, 6.0]
    assert jitted.recordings == 1


def test_a_file_that_is_read_once(tmp_path):
    """As settings are, into a cache: it is not read again."""
    path, known = tmp_path / "number", functools.lru_cache(lambda path: float(path.read_text()))
    path.write_text("2")
    f = ad.jit(lambda x: x * known(path))
    assert [f(1.0), f(2.0)] == [2.0, 4.0]


def test_libraries_are_told_by_what_they_ask_for():
    """Of a compiled module, the functions that it has from the system; computing packages are known."""
    import _socket

    if not getattr(_socket, "__file__", None):
        pytest.skip("Python has it built in")
    assert not world.is_talker(np)
    assert not world.is_talker(_socket), "Python's own are told by their objects"
    assert world._reaches_others(_socket.__file__) is _socket.__file__.endswith(".so")
