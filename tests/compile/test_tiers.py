"""Code in two tiers: the same bits from both, replaced when it is called again, and nobody waits for the thread."""

import ctypes
import logging
import os
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.compile import build as building
from adjoint.compile.assembly.counted_loop import counted
from adjoint.compile.assembly.emit import Emitter
from adjoint.compile.assembly.kinds import DOUBLE
from adjoint.compile.assembly.module import Module
from adjoint.compile.assembly.values import Function, Parameter, number
from adjoint.compile.call.objects import is_available
from adjoint.compile.runtime import cache, engine, tiers
from adjoint.compile.runtime.engine import Code
from adjoint.compile.runtime.tiers import CALLS, CURRENT, KERNEL, Tiers
from adjoint.core.errors import DerivativeDroppedError
from tests.compile.lowering import is_exact, recorded
from tests.compile.lowering_programs import writer

if not is_available():
    pytest.skip("objects of this interpreter have another layout", allow_module_level=True)

RNG = np.random.default_rng(0)
IS_ON = tiers.is_on


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Quick code comes first, for the shortest programs too, and no code of other tests is found."""
    monkeypatch.setattr(tiers, "is_on", lambda: True)
    monkeypatch.setattr(tiers, "NOTICEABLE", 0)
    engine._recent.clear()


@pytest.fixture
def no_threads(monkeypatch):
    """Code is made better when a test says so."""
    monkeypatch.setattr(Tiers, "ask", lambda self: None)


def codes(f):
    """The machine code of a jitted function, one for each path."""
    return [path.executable.code for paths in f._paths.values() for path in paths]


def wait_for(f):
    """Until all code of a jitted function is final."""
    end = time.monotonic() + 60
    while not all(code.is_final for code in codes(f)):
        assert time.monotonic() < end, "no thread has made better code"
        time.sleep(0.01)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def in_both(program, points):
    """The results of a program in quick code, and in good code."""
    made = building.build(program, points[0]).finish()
    assert isinstance(made.code, Tiers)
    found = []
    for _ in range(2):
        found.append([made.run(list(point)) for point in points])
        assert made.code.is_final == bool(found[1:])
        made.code.improve()
    return found


def assert_same(have, want):
    for one, other in zip(have, want, strict=True):
        assert (one is None) == (other is None)
        for x, y in zip(one or (), other or (), strict=True):
            assert is_exact(np.asarray(x), np.asarray(y))


@pytest.mark.parametrize(
    "first", [0, 1000, *[pytest.param(10_000 + 40 * k, marks=pytest.mark.slow) for k in range(10)]]
)
@pytest.mark.usefixtures("no_threads")
def test_random_programs_give_the_same_bits(first, monkeypatch):
    """Numbers that sums round differently in any other order; every other time LLVM makes vectors wherever it can."""
    count = 0
    for seed in range(first, first + 40):
        w = writer(seed)
        points = [[_uneven(x) for x in w.point(k)] for k in range(2)]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                program = recorded(w, *points[0])
            except (IndexError, DerivativeDroppedError):  # the random function itself is wrong
                continue
            monkeypatch.setattr(building, "WORTHWHILE", 0 if seed % 2 else 1_000_000)
            made = building.build(program, points[0])
            if isinstance(made, building.Native) and made._apart is not None:
                count += 1
                assert_same(*in_both(program, points))
    assert count > 20


def _uneven(x):
    return x * 1.2345678901 if np.asarray(x).dtype.kind == "f" else x


def _mixture(logits, means, x):
    distance = np.sum((x[:, None, :] - means) ** 2, axis=-1)
    high = np.max(logits - distance, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(logits - distance - high), axis=1)) + high[:, 0])


PROGRAMS = {
    "network": (
        ad.value_and_grad(lambda w, x: np.mean(np.tanh(x @ w) ** 2)),
        (RNG.normal(size=(13, 9)), RNG.normal(size=(17, 13))),
    ),
    "network, single precision": (
        ad.value_and_grad(lambda w, x: np.mean(np.tanh(x @ w) ** 2)),
        (RNG.normal(size=(13, 9)).astype(np.float32), RNG.normal(size=(17, 13)).astype(np.float32)),
    ),
    "mixture": (
        ad.value_and_grad(_mixture, argnums=(0, 1)),
        (RNG.normal(size=5), RNG.normal(size=(5, 3)), RNG.normal(size=(301, 3))),
    ),
    "hessian": (ad.hessian(rosenbrock), (RNG.normal(size=21),)),
    "determinant": (ad.value_and_grad(lambda a: np.linalg.det(a)), (RNG.normal(size=(11, 11)),)),
    "solve": (
        ad.grad(lambda a, b: np.sum(np.linalg.solve(a, b) ** 2)),
        (RNG.normal(size=(19, 19)), RNG.normal(size=19)),
    ),
    "across examples": (
        ad.vmap(ad.jacobian(lambda p: np.stack([np.sin(p[0]) * p[1], np.exp(p[2]) / p[0], np.hypot(p[1], p[2])]))),
        (RNG.normal(size=(103, 3)),),
    ),
    "large sum": (ad.value_and_grad(lambda x: np.sum(np.exp(-x * x) * np.sin(x))), (RNG.normal(size=100_003),)),
    "scan": (
        ad.grad(lambda x: np.sum(ad.scan(lambda c, y: (np.sin(c) + y, c * y), x[0], x)[1])),
        (RNG.normal(size=57),),
    ),
    "while": (
        ad.grad(lambda x: np.sum(ad.while_loop(lambda c: np.sum(c) < 90.0, lambda c: c * 1.1 + 0.3, x))),
        (np.abs(RNG.normal(size=4)),),
    ),
    "prefix sums": (ad.grad(lambda x: np.sum(np.cumsum(x) ** 3)), (RNG.normal(size=77),)),
}


@pytest.mark.usefixtures("no_threads")
@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_give_the_same_bits(name):
    """Derivatives, products, loops, many examples at once."""
    fun, args = PROGRAMS[name]
    program = ad.jit(fun).lower(*args).optimized
    assert_same(*in_both(program, [args]))


def test_code_is_replaced():
    """A few calls ask for it; later ones run it, with the same results."""
    f = ad.jit(ad.value_and_grad(rosenbrock))
    x = np.linspace(0.0, 1.0, 10)
    f(x)
    (code,) = codes(f)
    found = [f(x) for _ in range(CALLS)]
    assert code.is_waiting or code.is_final
    wait_for(f)
    assert not code.is_waiting
    quick, good = code._codes
    assert code._variable(CURRENT).value == good.address(KERNEL) != quick.address(KERNEL)
    assert quick.address("entry")
    assert not good.address("entry")  # the entry stays what it is
    for value, slope in [*found, f(x)]:
        assert value == found[0][0]
        np.testing.assert_array_equal(slope, found[0][1])


def test_a_call_that_asks_when_good_code_has_just_come():
    """A call that was about to ask while the thread ended changes nothing: the good code stays."""
    f = ad.jit(rosenbrock)
    x = np.linspace(-1.0, 1.0, 40)
    for _ in range(5):
        want = f(x)
    wait_for(f)
    for each in codes(f):
        assert each.is_final
        each.ask()
        assert not each.is_waiting
        each.improve()
    assert f(x) == want


def test_what_is_not_called_again_costs_nothing():
    """One call fewer, or one whose guards do not hold, and no thread is started."""
    f = ad.jit(lambda x: np.sum(np.sin(x)) if x[0] > 0 else np.sum(np.cos(x)))
    x = np.ones(5)
    for _ in range(CALLS - 1):
        f(x)
    f(-x)
    assert all(not code.is_final and len(code._codes) == 1 and not code.is_waiting for code in codes(f))


@pytest.mark.usefixtures("no_threads")
def test_good_code_is_the_code_without_tiers(monkeypatch):
    """To the instruction, so that steady times are the same."""
    x = np.linspace(0.0, 1.0, 10)
    program = ad.jit(ad.grad(rosenbrock)).lower(x).optimized
    made = building.build(program, [x]).finish()
    monkeypatch.setattr(tiers, "is_on", lambda: False)
    alone = building.build(program, [x]).finish()
    assert isinstance(alone.code, Code)
    loops = [_functions(made.assembly(), "loop_"), _functions(alone.assembly(), "loop_")]
    assert loops[0]
    assert loops[0] == loops[1]


def _functions(assembly, stem):
    """The instructions of functions of a stem, without the names of places."""
    found, inside = [], False
    for line in assembly.splitlines():
        if line and not line.startswith(("\t", ".", " ", "#")):
            inside = line.startswith(stem)
        if inside and line.startswith("\t") and not line.startswith("\t."):
            found.append(line.split("#")[0].split()[0])
    return found


def test_work_decides(monkeypatch):
    """Where a call takes long, quick code is not made, or good code is made at once."""
    x = np.ones(1000)
    program = ad.jit(lambda x: np.sum(np.sin(x) * x)).lower(x).optimized
    monkeypatch.setattr(building, "WORTHWHILE", 10)
    code = building.build(program, [x]).finish().code
    assert code.is_waiting or code.is_final
    monkeypatch.setattr(tiers, "PER_LINE", 1)
    assert isinstance(building.build(program, [x]).finish().code, Code)


def summing(flags, *, is_scalar=False):
    """A module with one function: a loop that adds up what it is given."""
    module = Module()
    e = Emitter(module)
    given = Parameter("%x", DOUBLE)

    def add(i, total):
        return [e.op("fadd", total, given, flags)]

    (total,) = counted(e, 0, 10, add, carried=[number(0, DOUBLE)], is_scalar=lambda: is_scalar)
    e.give(total)
    e.define("summing", [given], DOUBLE)
    return module


def test_sums_that_llvm_may_reorder_are_not_tiered():
    """Loops that are left to LLVM, which takes their sums by vectors."""
    assert summing("reassoc").may_reorder()
    assert not summing("reassoc", is_scalar=True).may_reorder()
    assert not summing("").may_reorder()
    module = summing("reassoc", is_scalar=True)
    module.body(Function("@inside", DOUBLE, (DOUBLE,)))  # what it calls in every round may hold a loop
    assert module.may_reorder()
    module = summing("")
    module.body(Function("@inside", DOUBLE, (DOUBLE,)))
    assert not module.may_reorder()


@pytest.mark.usefixtures("no_threads")
def test_a_long_loop_has_better_rounds_at_once():
    """Quick code reads in every round which body to call: one that never ends does as soon as it is given another."""
    program = ad.jit(lambda x: ad.while_loop(lambda c: c < 2.0, lambda c: c * 1.0, x)).lower(np.float64(3.0)).optimized
    made = building.build(program, [np.float64(3.0)])
    assert made.module.is_unbounded
    made.finish()
    made.code.improve()
    (cond, body), code = made.code._bodies, made.code
    assert cond != body
    # as it was before: quick code that is called, and loops in it
    code._variable(CURRENT).value = code._codes[0].address(KERNEL)
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    called = threading.Event()

    def ends(old, new, space):
        called.set()
        ctypes.c_double.from_address(new).value = ctypes.c_double.from_address(old).value + 0.5
        return 0

    other = kind(ends)
    found = []
    thread = threading.Thread(target=lambda: found.append(made.run([np.float64(1.0)])))
    thread.start()
    time.sleep(0.05)
    assert not found
    code._variable(f"{body}.address").value = ctypes.cast(other, ctypes.c_void_p).value
    thread.join(60)
    assert called.is_set()
    assert found[0][0] == 2.0


def test_a_failure_in_the_thread_is_said_and_harmless(monkeypatch, caplog):
    """The function goes on with the code it has."""
    f = ad.jit(ad.grad(rosenbrock))
    x = np.linspace(0.0, 1.0, 10)
    f(x)
    (code,) = codes(f)

    def fails(alongside):
        raise MemoryError("no room")

    monkeypatch.setattr(code, "_good", lambda *, alongside: fails(alongside))
    with caplog.at_level(logging.WARNING, logger="adjoint"):
        want = [f(x) for _ in range(CALLS)]
        while code.is_waiting:
            time.sleep(0.01)
    assert "keeps its first, slower code" in caplog.text
    assert not code.is_final
    np.testing.assert_array_equal(f(x), want[0])


def test_nobody_waits_for_the_thread(monkeypatch):
    """Another function is recorded, compiled and called while the thread is inside LLVM."""
    inside, go = threading.Event(), threading.Event()
    emitted = engine._emitted

    def slow(module, machine, alongside):
        if alongside:
            inside.set()
            assert go.wait(60)
        return emitted(module, machine, alongside)

    monkeypatch.setattr(engine, "_emitted", slow)
    f, g = ad.jit(ad.grad(rosenbrock)), ad.jit(ad.grad(lambda x: np.sum(np.sin(x) ** 3)))
    x = np.linspace(0.0, 1.0, 10)
    for _ in range(CALLS + 1):
        f(x)
    assert inside.wait(60)
    try:
        for _ in range(CALLS + 1):
            np.testing.assert_allclose(g(x), 3 * np.sin(x) ** 2 * np.cos(x), rtol=1e-12)
        assert not codes(f)[0].is_final
    finally:
        go.set()
    wait_for(f)
    wait_for(g)


def test_llvm_makes_code_in_two_threads_at_once():
    """What the thread compiles has a context of its own."""
    x = np.linspace(0.0, 1.0, 10)
    functions = [ad.jit(ad.value_and_grad(lambda x, k=float(k): rosenbrock(x * k + np.tanh(x)))) for k in range(12)]
    want = [ad.value_and_grad(lambda x, k=float(k): rosenbrock(x * k + np.tanh(x)))(x) for k in range(12)]
    for f in functions:
        for _ in range(CALLS + 1):
            f(x)
    for f, (value, slope) in zip(functions, want, strict=True):
        wait_for(f)
        have = f(x)
        np.testing.assert_allclose(have[0], value, rtol=1e-13)
        np.testing.assert_allclose(have[1], slope, rtol=1e-12)


def test_calls_from_many_threads_while_code_is_replaced():
    """Old code stays: somebody may be in it."""
    f = ad.jit(ad.grad(rosenbrock))
    x = np.linspace(0.0, 1.0, 50)
    f(x)
    want, wrong = f(x), []

    def calls():
        for _ in range(3000):
            if f(x).tobytes() != want.tobytes():
                wrong.append(1)

    threads = [threading.Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    wait_for(f)
    np.testing.assert_array_equal(f(x), want)


def test_several_paths_switching_and_clearing():
    """Each path has its tiers; jit may be switched off and on, and recordings be forgotten, at any time."""
    f = ad.jit(lambda x: np.sum(np.exp(x) * x) if x[0] > 0 else np.sum(np.sin(x) * x))
    points = [np.linspace(0.5, 1.0, 9), -np.linspace(0.5, 1.0, 9)]
    want = [np.sum(np.exp(points[0]) * points[0]), np.sum(np.sin(points[1]) * points[1])]
    for k in range(20):
        with ad.config.disable_jit():
            np.testing.assert_allclose(f(points[k % 2]), want[k % 2], rtol=1e-14)
        np.testing.assert_allclose(f(points[k % 2]), want[k % 2], rtol=1e-14)
    assert len(codes(f)) == 2
    wait_for(f)
    for k in range(2):
        np.testing.assert_allclose(f(points[k]), want[k], rtol=1e-14)
    f.clear()
    for k in range(12):
        np.testing.assert_allclose(f(points[k % 2]), want[k % 2], rtol=1e-14)


def test_donated_arguments():
    """Results are written over them in either tier."""
    step = ad.jit(lambda state: (state[0] * 0.5 + np.sin(state[0]),), donate_argnums=0)
    state, want = (np.linspace(0.0, 1.0, 100),), np.linspace(0.0, 1.0, 100)
    for k in range(CALLS + 5):
        if k == CALLS + 3:
            wait_for(step)
        before = id(state[0])
        state, want = step(state), want * 0.5 + np.sin(want)
        assert k == 0 or id(state[0]) == before  # the first call is NumPy's
        np.testing.assert_allclose(state[0], want, rtol=1e-13)


def test_code_that_is_known_is_used_at_once(tmp_path):
    """Good code that was made before, by this process or another one."""
    x = np.linspace(0.0, 1.0, 10)
    cache.set_cache(tmp_path)
    try:
        f = ad.jit(ad.grad(rosenbrock))
        for _ in range(CALLS + 1):
            f(x)
        wait_for(f)
        for forgotten in (False, True):
            if forgotten:
                engine._recent.clear()
            again = ad.jit(ad.grad(rosenbrock))
            again(x)
            assert codes(again)[0].is_final
            np.testing.assert_array_equal(again(x), f(x))
    finally:
        cache.set_cache(None)


def test_the_assembly_is_that_of_good_code():
    """Whatever runs at the moment."""
    x = np.linspace(0.0, 1.0, 10)
    text = ad.jit(ad.grad(rosenbrock)).lower(x).assembly
    assert f"{KERNEL}:" in text
    assert tiers.LEFT not in text


SCRIPT = """
import os, sys, numpy as np, adjoint as ad
import adjoint.compile.runtime.tiers as tiers
x = np.linspace(0.1, 1.0, 40)
def f(x, k):
    m = np.outer(x, x) + k
    return np.sum(np.tanh(m) * np.exp(-m) + np.log1p(m * m)) + np.linalg.det(m[:8, :8] + np.eye(8))
functions = [ad.jit(ad.value_and_grad(lambda x, k=float(k): f(x, k))) for k in range(4)]
for g in functions:
    for _ in range(5):
        g(x)
assert tiers._waiting
"""
EXITS = {
    "the end": "",
    "an error": "raise SystemExit('as wished')",
    "in a thread's absence": "import threading; threading.Thread(target=lambda: [g(x) for g in functions]).start()",
    "in atexit": "import atexit; atexit.register(lambda h=ad.jit(lambda x: f(x, 9.0)): [h(x) for _ in range(9)])",
}


@pytest.mark.parametrize("how", EXITS)
def test_the_process_may_end_at_any_time(how):
    """Without a crash, and without a word."""
    environment = {**os.environ, tiers.VARIABLE: "on"}
    command = [sys.executable, "-X", "faulthandler", "-c", SCRIPT + EXITS[how]]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.stderr.strip() == ("as wished" if how == "an error" else "")
    assert done.returncode == (1 if how == "an error" else 0)


FORKED = """
want = [g(x) for g in functions]
child = os.fork()
for _ in range(3):
    for g, (value, slope) in zip(functions, want):
        have = g(x)
        assert have[0] == value and (have[1] == slope).all()
import time
end = time.monotonic() + 60
while tiers._waiting:
    assert time.monotonic() < end, "no thread makes better code"
    time.sleep(0.01)
if child:
    assert os.waitpid(child, 0)[1] == 0
    print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_makes_its_own_code():
    """The threads stay behind; what they were to do is asked for anew."""
    environment = {**os.environ, tiers.VARIABLE: "on"}
    command = [sys.executable, "-W", "ignore", "-X", "faulthandler", "-c", SCRIPT + FORKED]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200, check=False)
    assert done.stdout == "done\n", done.stderr
    assert done.returncode == 0


def test_a_fork_while_the_thread_is_being_started(monkeypatch):
    """It waits until the thread can be waited for."""
    is_starting, may_start, paused = threading.Event(), threading.Event(), threading.Event()

    class Slow(threading.Thread):
        def start(self):
            is_starting.set()
            assert may_start.wait(10)
            super().start()

    def pause():
        tiers._pause()
        paused.set()

    tiers._pause()
    monkeypatch.setitem(tiers._waiting, -1, lambda: None)
    usual = threading.Thread
    helpers = [usual(target=tiers._go_on), usual(target=pause)]
    monkeypatch.setattr(tiers.threading, "Thread", Slow)
    helpers[0].start()
    assert is_starting.wait(10)
    helpers[1].start()
    assert not paused.wait(0.02)
    may_start.set()
    for helper in helpers:
        helper.join(10)
    tiers._go_on()
    assert paused.is_set()
    assert not tiers._pauses


@pytest.mark.parametrize(("wish", "is_on"), [(None, True), ("on", True), ("1", True), ("off", False), (" 0 ", False)])
def test_the_variable(monkeypatch, wish, is_on):
    """It says that code is made with care at once."""
    if wish is None:
        monkeypatch.delenv(tiers.VARIABLE)
    else:
        monkeypatch.setenv(tiers.VARIABLE, wish)
    assert IS_ON.__wrapped__() is is_on
