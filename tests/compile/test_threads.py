"""The pool: every chunk runs once, whoever calls, however many threads; forks and exits leave nobody waiting."""

import ctypes
import functools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint
from adjoint.compile.runtime import threads as pool
from adjoint.compile.runtime.engine import Code
from adjoint.core.errors import InputError

BODIES = """
declare void @adjoint_parallel(ptr, ptr, i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i64 @pthread_self()

define void @run(ptr %body, ptr %context, i64 %chunks) {
  call void @adjoint_parallel(ptr %body, ptr %context, i64 %chunks)
  ret void
}
; context[chunk] += 1
define void @count(ptr %context, i64 %chunk) {
  %at = getelementptr i64, ptr %context, i64 %chunk
  atomicrmw add ptr %at, i64 1 monotonic
  ret void
}
; context[10 * chunk + i] += 1 for i < 10, by a call of its own
define void @nest(ptr %context, i64 %chunk) {
  %first = mul i64 %chunk, 10
  %at = getelementptr i64, ptr %context, i64 %first
  call void @adjoint_parallel(ptr @count, ptr %at, i64 10)
  ret void
}
; context[chunk] = the thread
define void @who(ptr %context, i64 %chunk) {
  %self = call i64 @pthread_self()
  %at = getelementptr i64, ptr %context, i64 %chunk
  store i64 %self, ptr %at
  ret void
}
; context[0] counts arrivals; who arrives waits until there are context[1], within reason, and then counts in context[2]
define void @meet(ptr %context, i64 %chunk) {
entry:
  atomicrmw add ptr %context, i64 1 seq_cst
  %wanted.at = getelementptr i64, ptr %context, i64 1
  %met.at = getelementptr i64, ptr %context, i64 2
  br label %look
look:
  %turn = phi i64 [0, %entry], [%turn.next, %again]
  %arrived = load atomic i64, ptr %context seq_cst, align 8
  %wanted = load atomic i64, ptr %wanted.at seq_cst, align 8
  %enough = icmp sge i64 %arrived, %wanted
  br i1 %enough, label %met, label %again
again:
  %turn.next = add i64 %turn, 1
  %more = icmp slt i64 %turn.next, 10000000000
  br i1 %more, label %look, label %end
met:
  atomicrmw add ptr %met.at, i64 1 seq_cst
  br label %end
end:
  ret void
}
; after a meeting in context[0:3]: the thread in context[4 + chunk], its signal mask in context[16 * (chunk + 1):]
define void @blocked(ptr %context, i64 %chunk) {
  call void @meet(ptr %context, i64 %chunk)
  %threads = getelementptr i64, ptr %context, i64 4
  call void @who(ptr %threads, i64 %chunk)
  %row = add i64 %chunk, 1
  %at.row = mul i64 %row, 16
  %at = getelementptr i64, ptr %context, i64 %at.row
  call i32 @pthread_sigmask(i32 0, ptr null, ptr %at)
  ret void
}
"""
CODES: list[Code] = []
LOCK = threading.Lock()


@functools.cache
def compiled(name: str) -> int:
    """Where a function of the bodies begins."""
    with LOCK:  # else two threads compile, and the code of one is freed while it runs
        pool.parallel_symbol()
        if not CODES:
            CODES.append(Code(BODIES))
        return CODES[0].address(name)


def run(name: str, context: np.ndarray, chunks: int) -> np.ndarray:
    """Call a body for all chunks, without the GIL."""
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(compiled("run"))
    call(compiled(name), context.ctypes.data, chunks)
    return context


def meeting(count: int) -> bool:
    """Whether so many threads work at the same time."""
    return bool(run("meet", np.array([0, count, 0]), count)[2] == count)


def succeeds(child: int) -> bool:
    """Whether a process ends well; it is killed when it takes too long."""
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


@pytest.fixture(autouse=True)
def _two_threads():
    pool.set_threads(2)
    yield
    pool.set_threads(None)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("chunks", [0, 1, 2, 3, 7, 1000, 100_000])
def test_every_chunk_runs_once(count, chunks):
    """No chunk is left out, and none is run twice."""
    pool.set_threads(count)
    for _ in range(3):
        assert (run("count", np.zeros(chunks, np.int64), chunks) == 1).all()


def test_negative_chunks_are_none():
    """A loop of less than no chunks does nothing."""
    assert (run("count", np.zeros(1, np.int64), -5) == 0).all()


def test_many_short_loops():
    """Workers that have just finished take the next loop."""
    hits = np.zeros(5, np.int64)
    for _ in range(20_000):
        run("count", hits, 5)
    assert (hits == 20_000).all()


def test_loops_after_a_sleep():
    """Workers that have gone to sleep wake up."""
    hits = np.zeros(3, np.int64)
    for _ in range(200):
        time.sleep(0.0005)
        run("count", hits, 3)
    assert (hits == 200).all()


@pytest.mark.parametrize("count", [2, 3, 5])
def test_threads_work_at_the_same_time(count):
    """Two chunks that wait for each other both get done."""
    pool.set_threads(count)
    for _ in range(20):
        assert meeting(count)


def test_one_thread_means_the_caller():
    """With one thread there is no other than the caller's."""
    pool.set_threads(1)
    assert len(set(run("who", np.zeros(1000, np.int64), 1000))) == 1


def test_number_of_threads_is_kept_when_it_falls():
    """Fewer threads take part from then on."""
    pool.set_threads(6)
    assert meeting(6)
    pool.set_threads(3)
    assert meeting(3)
    for _ in range(100):
        assert len(set(run("who", np.zeros(1000, np.int64), 1000))) <= 3


def test_callers_at_the_same_time():
    """Loops of several callers do not get mixed up."""
    results = {}

    def caller(key):
        hits = np.zeros(50, np.int64)
        for _ in range(2000):
            run("count", hits, 50)
        results[key] = (hits == 2000).all()

    callers = [threading.Thread(target=caller, args=(key,)) for key in range(4)]
    for thread in callers:
        thread.start()
    for _ in range(50):  # changes of the number meet loops that are under way
        for count in (1, 3, 2):
            pool.set_threads(count)
    for thread in callers:
        thread.join()
    assert results == dict.fromkeys(range(4), True)


def test_a_second_caller_does_not_wait_for_the_first():
    """Whoever finds the workers busy does the loop alone."""
    context = np.array([0, 1 << 40, 0])
    first = threading.Thread(target=run, args=("meet", context, 2))
    first.start()
    while context[0] < 2:
        time.sleep(0.001)
    assert len(set(run("who", np.zeros(100, np.int64), 100))) == 1
    assert first.is_alive()
    context[1] = 2
    first.join()


@pytest.mark.parametrize("count", [1, 2, 4])
def test_nested_loops(count):
    """A loop inside a loop is done by the thread that meets it."""
    pool.set_threads(count)
    assert (run("nest", np.zeros(1000, np.int64), 100) == 1).all()


@pytest.mark.skipif(sys.platform != "linux", reason="reads the bits of a signal set")
def test_workers_block_signals():
    """Signals go to Python's main thread, never to a worker."""
    context = np.zeros(64, np.int64)
    context[1] = 2
    run("blocked", context, 2)
    assert context[2] == 2
    me = threading.get_ident()
    mask = {int(thread): int(context[16 * (row + 1)]) for row, thread in enumerate(context[4:6])}
    (worker,) = [bits for thread, bits in mask.items() if thread != me]
    assert worker >> (signal.SIGINT - 1) & 1
    assert worker >> (signal.SIGTERM - 1) & 1
    assert not worker >> (signal.SIGSEGV - 1) & 1
    assert not mask[me] >> (signal.SIGINT - 1) & 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_fork():
    """A child process has workers of its own."""
    assert meeting(2)
    child = os.fork()
    if child == 0:
        os._exit(0 if meeting(2) else 1)
    assert meeting(2)
    assert succeeds(child)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_fork_during_a_loop_of_another_thread():
    """A child that was forked in the middle of a loop finds no lock held."""
    for _ in range(5):
        context = np.array([0, 1 << 40, 0])
        other = threading.Thread(target=run, args=("meet", context, 2))
        other.start()
        while context[0] < 2:
            time.sleep(0.001)
        child = os.fork()
        if child == 0:
            pool.set_threads(3)
            os._exit(0 if meeting(3) else 1)
        good = succeeds(child)
        context[1] = 2
        other.join()
        assert good
        assert context[2] == 2


EXIT = """
import sys, threading, time
sys.path.insert(0, {folder!r})
import test_threads as t
t.pool.set_threads(2)
assert t.meeting(2)
{then}
"""
ENDINGS = {
    "at once": "",
    "asleep": "time.sleep(0.2)",
    "exit": "sys.exit(0)",
    "while a loop runs": """
import numpy as np
context = np.array([0, 1 << 40, 0])
threading.Thread(target=t.run, args=("meet", context, 2), daemon=True).start()
while context[0] < 2: time.sleep(0.001)
""",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_exit(ending):
    """The interpreter ends although workers are asleep."""
    script = EXIT.format(folder=str(Path(__file__).parent), then=ENDINGS[ending])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_default(monkeypatch):
    """As many threads as the process may use, if nothing else is said."""
    monkeypatch.delenv("ADJOINT_NUM_THREADS", raising=False)
    pool.set_threads(None)
    assert pool.threads() == pool._processors() >= 1
    monkeypatch.setenv("ADJOINT_NUM_THREADS", " 3 ")
    assert pool.threads() != 3 or pool._processors() == 3
    pool.set_threads(None)
    assert pool.threads() == 3
    pool.set_threads(np.int64(2))
    assert pool.threads() == 2
    monkeypatch.undo()


@pytest.mark.parametrize("n", [0, -1, 2.0, "2", True, 10**6, 10**30, np.float64(2), []])
def test_bad_number(n):
    """A number of threads below one is refused."""
    with pytest.raises(InputError) as error:
        pool.set_threads(n)
    assert str(error.value).splitlines() == [
        "set_threads needs a whole number of threads from 1 to 1024.",
        str(error.value).splitlines()[1],
        f"  got {n!r}",
        "  Use 1 to run every loop in the thread that calls it.",
    ]
    assert "pool.set_threads(n)" in str(error.value)
    assert pool.threads() == 2


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "99999"])
def test_bad_variable(text, monkeypatch):
    """An environment variable that is no number is refused by its name."""
    with monkeypatch.context() as patch:
        patch.setenv("ADJOINT_NUM_THREADS", text)
        with pytest.raises(InputError, match="the environment variable ADJOINT_NUM_THREADS needs a whole number"):
            pool.set_threads(None)
    assert pool.threads() == 2


def test_without_posix_threads():
    """Where there are no POSIX threads, the caller does all chunks."""
    code = Code(pool._SERIAL + pool._ABSENT)
    bodies = Code(BODIES)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(code.address("adjoint_parallel"))
    hits = np.zeros(10, np.int64)
    for chunks in (-1, 0, 1, 10):
        call(bodies.address("count"), hits.ctypes.data, chunks)
    assert hits.tolist() == [2] + [1] * 9


def test_blas_keeps_its_threads():
    """Products of middle size are BLAS's on one thread, which is nobody else's limit afterwards."""
    from adjoint.compile.runtime.blas import _libraries, thread_limit

    if thread_limit() is None:
        pytest.skip("not NumPy's OpenBLAS, or an old one")
    library = _libraries()[0]
    count = next(
        getattr(library, n)
        for n in ("scipy_openblas_get_num_threads64_", "scipy_openblas_get_num_threads")
        if hasattr(library, n)
    )
    before = count()
    f = adjoint.jit(lambda a, b: np.tanh(a @ b) @ b)
    a = np.random.default_rng(0).normal(size=(90, 90))
    want = np.tanh(a @ a) @ a

    def run():
        for _ in range(300):
            np.testing.assert_allclose(f(a, a), want, rtol=1e-12, atol=1e-12)

    run()
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count() == before
