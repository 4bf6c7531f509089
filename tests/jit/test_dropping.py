"""Memory of compiled code is bounded: recordings not in use are dropped, and made again when they are called."""

import dataclasses
import random
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.compile.call.chain import LONGEST
from adjoint.compile.call.objects import is_available
from adjoint.compile.runtime import engine
from adjoint.core.errors import InputError
from adjoint.transforms.jit import live

pytestmark = [
    pytest.mark.skipif(not is_available(), reason="objects of this interpreter have another layout"),
    pytest.mark.filterwarnings("ignore:.*has been recorded for 8 lengths"),
]
MAPS = Path("/proc/self/maps")


@pytest.fixture
def few(monkeypatch):
    """There may be four recordings, and those of other tests do not count."""
    monkeypatch.setattr(live, "_line", OrderedDict())
    monkeypatch.setattr(live, "_total", 0)
    monkeypatch.setattr(live, "MOST", 4)
    monkeypatch.setattr(live, "FEWEST", 0)


def sines(x):
    return np.sum(np.sin(x) * x)


def lengths(f):
    """What a function is recorded for, by the length of its one argument."""
    return sorted([key[1][0][1][0] for key in f._paths])


@pytest.mark.usefixtures("few")
def test_what_is_in_use_stays():
    """Calls that machine code answers count, and so do those that Python does; the others go, the oldest first."""
    f = ad.jit(sines)
    for n in range(1, 5):
        f(np.ones(n))
    for n in range(5, 12):
        f(np.ones(1))  # by machine code
        f(np.ones(4)[::2])  # of another layout: by Python
        assert f(np.ones(n)) == pytest.approx(sines(np.ones(n)))
        assert lengths(f) == [1, 2, n - 1, n] if n > 5 else [1, 2, 4, 5]
    assert f.stats()["dropped"] == 7
    assert "dropped          7" in str(f.stats())


@pytest.mark.usefixtures("few")
def test_what_was_dropped_is_made_again():
    """The same numbers, whatever has been dropped, of several functions and of paths."""
    functions = [sines, lambda x: x * 2.0 if x[0] > 0.0 else x + 1.0, ad.grad(sines), ad.grad(ad.jit(sines))]
    jitted = [ad.jit(fun) for fun in functions[:3]] + [functions[3]]
    draw = random.Random(1)
    for _ in range(30):
        k, x = draw.randrange(4), np.linspace(-1.0, 1.0, draw.randrange(1, 4)) + draw.choice([0.0, 3.0])
        np.testing.assert_allclose(jitted[k](x), functions[k](x), rtol=1e-14)
    assert len(live._line) <= 4
    assert sum([len(paths) for f in jitted[:3] for paths in f._paths.values()]) <= 4
    assert jitted[0].stats()["dropped"] > 0


@pytest.mark.usefixtures("few")
def test_functions_that_are_gone_do_not_count():
    """What nobody has takes no place in the line."""
    f = ad.jit(sines)
    f(np.ones(1))
    assert (len(live._line), live._total) == (1, f._paths[next(iter(f._paths))][0].bytes)
    f.clear()
    assert (len(live._line), live._total) == (0, 0)


@pytest.mark.usefixtures("few")
def test_derivatives_of_jitted_functions_go_too():
    """A function that was made for a derivative is not kept when its last recording is dropped."""
    f = ad.jit(lambda a, x: np.sum(np.sin(x) * a))
    for n in range(1, 9):
        assert ad.grad(f)(2.0, np.ones(n)) == pytest.approx(n * np.sin(1.0))
    assert len(f._derived) <= 5


@pytest.mark.usefixtures("few")
def test_a_bound_in_bytes(monkeypatch):
    """Large recordings take the place of many; a few are kept whatever they take."""
    monkeypatch.setattr(live, "MOST", 1_000)
    f = ad.jit(sines)
    f(np.ones(1))
    ((path,),) = f._paths.values()
    assert 50_000 < path.bytes < 200_000
    monkeypatch.setattr(live, "most_bytes", lambda: int(3.5 * path.bytes))
    for n in range(2, 8):
        f(np.ones(n))
    assert lengths(f) == [5, 6, 7]
    g = ad.jit(lambda x: np.cumsum(np.sort(x))[::-1] * np.sum(x))
    g(np.ones(100_000))
    assert any([member.size > 800_000 for member in live._line])  # with the memory that it keeps for its next call
    monkeypatch.setattr(live, "FEWEST", 6)
    for n in range(1, 9):
        f(np.ones(n))
    assert len(live._line) == 6


def test_the_bound_is_read_from_the_environment(monkeypatch):
    """Megabytes; what is no number is refused."""
    asked = live.most_bytes.__wrapped__
    monkeypatch.delenv(live.VARIABLE, raising=False)
    assert asked() == 256 * 2**20
    monkeypatch.setenv(live.VARIABLE, " 20 ")
    assert asked() == 20 * 2**20
    monkeypatch.setenv(live.VARIABLE, "much")
    with pytest.raises(InputError, match="ADJOINT_CODE_MB is a number of megabytes"):
        asked()


def test_many_signatures_are_tried_again(monkeypatch):
    """Beyond the longest chain calls begin in Python once, which lets them be tried first, and compiles nothing."""
    monkeypatch.setattr("adjoint.compile.call.chain.LONGEST", 4)
    assert LONGEST > 4
    f = ad.jit(sines)
    for n in range(1, 9):
        f(np.ones(n))
    slow = []
    monkeypatch.setattr(f, "on_plain", lambda *args: slow.append(args) or type(f).on_plain(f, *args))
    for n in (1, 1, 2, 1, 8):
        assert f(np.ones(n)) == pytest.approx(sines(np.ones(n)))
    assert [len(args[0]) for args in slow] == [1, 2]
    assert all([path.executable._call is None for paths in f._paths.values() for path in paths])


@pytest.mark.skipif(not MAPS.exists(), reason="needs /proc")
def test_clearing_frees_the_code():
    """Memory maps are as many as before, whatever was recorded."""
    f, g = ad.jit(sines), ad.grad(ad.jit(lambda a, x: np.sum(np.sin(x) * a)))
    f(np.ones(1)), g(1.0, np.ones(1))
    ad.config.clear_caches()
    before = len(MAPS.read_text().splitlines())
    for n in range(1, 7):
        f(np.ones(n)), g(1.0, np.ones(n))
    assert len(MAPS.read_text().splitlines()) > before + 30
    ad.config.clear_caches()
    assert len(MAPS.read_text().splitlines()) < before + 10


def test_memory_that_code_keeps_goes_with_it(monkeypatch):
    """A program with large steps in between keeps room for them from one call to the next."""
    freed = []
    real = engine._free
    monkeypatch.setattr(engine, "_free", lambda variable: (freed.append(variable), real(variable)))
    f = ad.jit(lambda x: np.cumsum(np.sort(x))[::-1] * np.sum(x))
    x = np.linspace(1.0, 0.0, 20_000)
    np.testing.assert_allclose(f(x), f(x))
    assert not freed
    f.clear()
    assert freed


@dataclasses.dataclass
class Clears:
    """Making one forgets the function that makes it."""

    x: object
    function = None

    def __post_init__(self):
        if Clears.function is not None:
            Clears.function.clear()


def test_a_function_may_be_cleared_by_its_own_call(monkeypatch):
    """While its result is put together, by machine code."""
    f = ad.jit(lambda x: Clears(2.0 * x))
    for _ in range(3):
        assert np.array_equal(f(np.ones(3)).x, np.full(3, 2.0))
    monkeypatch.setattr(Clears, "function", f)
    assert np.array_equal(f(np.ones(3)).x, np.full(3, 2.0))
    monkeypatch.setattr(Clears, "function", None)
    assert np.array_equal(f(np.ones(3)).x, np.full(3, 2.0))


STRESS = """
import random, sys, threading, time, warnings
import numpy as np, adjoint as ad
from adjoint.transforms.jit import live

warnings.simplefilter("ignore")
sys.setswitchinterval(1e-5)
live.MOST, live.FEWEST = 6, 0
plain = [
    lambda x: np.sum(np.sin(x) * x), lambda x: {"a": x * 2, "b": [x + 1, (x,)]},
    lambda x: x * 2 if x[0] > 0 else x + 1, ad.grad(lambda x: np.sum(np.tanh(x) ** 2)), ad.grad(lambda x: np.sum(x**3)),
]
jitted = [*map(ad.jit, plain[:4]), ad.grad(ad.jit(lambda x: np.sum(x**3)))]
end, calls, wrong = time.monotonic() + float(sys.argv[1]), [0], []

def call(seed):
    draw = random.Random(seed)
    while time.monotonic() < end and not wrong:
        k, x = draw.randrange(5), np.linspace(-1, 1, draw.choice([1, 2, 3, 4, 40000])) + draw.choice([0.0, 3.0])
        want = ad.tree.flatten(plain[k](x))[0]
        for _ in range(draw.choice([1, 5, 50])):
            calls[0] += 1
            for one, other in zip(ad.tree.flatten(jitted[k](x))[0], want, strict=True):
                if not np.allclose(one, other):
                    wrong.append((k, x, one, other))

def clear():
    draw = random.Random(0)
    while time.monotonic() < end:
        time.sleep(draw.random() * 0.1)
        ad.config.clear_caches() if draw.random() < 0.3 else draw.choice(jitted[:4]).clear()
        with ad.config.disable_jit():
            pass

threads = [threading.Thread(target=call, args=(n,)) for n in range(5)] + [threading.Thread(target=clear)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len(wrong), calls[0] > 100, len(live._line) <= 6)
"""


@pytest.mark.slow
def test_threads_call_what_others_drop():
    """Right numbers, and no process that ends, while recordings come and go under the calls of five threads."""
    command = [sys.executable, "-X", "faulthandler", "-c", STRESS, "20"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=250)
    assert found.stdout.split() == ["0", "True", "True"], found.stderr


def test_calls_go_on_in_a_thread_while_their_code_is_dropped():
    """A short form of the same, in this process."""
    f, x, stop, wrong = ad.jit(sines), np.ones(40_000), threading.Event(), []

    def call():
        while not stop.is_set():
            if f(x) != pytest.approx(40_000 * np.sin(1.0)):
                wrong.append(f)

    thread = threading.Thread(target=call)
    thread.start()
    for _ in range(20):
        f.clear()
        time.sleep(0.002)
    stop.set()
    thread.join()
    assert not wrong
