"""Threads for native loops: one pool of workers that sleep until a compiled loop has chunks to hand out.

Compiled code calls `void adjoint_parallel(ptr body, ptr context, i64 chunks)`, without the GIL, and every
`body(context, chunk)` for `0 <= chunk < chunks` has run once when it returns. The pool is native code too: no Python
object is touched, so that workers need no interpreter and may outlive it.

A call opens the *gate*, one word that holds how many workers may still join (the tickets) and how many are inside. They
and the caller take chunks from a shared counter. When it has run out, the tickets are withdrawn and the caller waits
for those inside only: a worker that wakes too late delays nobody. A call that finds the pool taken, by another thread
or by the loop it is nested in, runs all its chunks itself.
"""

from __future__ import annotations

import ctypes
import operator
import os
import platform
import signal
import string
import time
from typing import Any

from adjoint.compile.runtime.engine import Code, add_symbol, has_symbol
from adjoint.core.errors import InputError, message
from adjoint.host.forking import Lock, before_fork, in_child

LARGEST = 1024
"""So many threads at most: the pool keeps their handles in an array."""
SPIN = 50_000
"""Nanoseconds that an idle worker looks out for the next loop before it sleeps: waking it costs about as much."""

_lock = Lock()
_threads: int | None = None
_pool: _Pool | None = None


def threads() -> int:
    """How many threads a large native loop may use, the calling one included."""
    global _threads
    if _threads is None:
        _threads = _default()
    return _threads


def set_threads(n: int | None) -> None:
    """Let large native loops use `n` threads.

    Parameters
    ----------
    n
        A whole number from 1 on; 1 means that every loop runs in the thread that calls it. `None` goes back to the
        default: the environment variable `ADJOINT_NUM_THREADS`, else the processors this process may use.
    """
    global _threads
    chosen = _default() if n is None else _count(n, "set_threads")
    with _lock:
        _threads = chosen
        if _pool is not None:
            _pool.use(chosen)


def parallel_symbol() -> str:
    """The name under which modules call the pool, `void (ptr body, ptr context, i64 chunks)`; builds it if need be."""
    global _pool
    with _lock:
        if _pool is None:
            count, _pool = threads(), _Pool()
            _pool.use(count)
    return "adjoint_parallel"


def _default() -> int:
    text = os.environ.get("ADJOINT_NUM_THREADS", "").strip()
    if not text:
        return min(_processors(), LARGEST)
    return _count(int(text) if text.isdecimal() else text, "the environment variable ADJOINT_NUM_THREADS")


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _count(n: Any, what: str) -> int:
    try:
        number = operator.index(n)
    except TypeError:
        number = 0
    if isinstance(n, bool) or not 1 <= number <= LARGEST:
        what = f"{what} needs a whole number of threads from 1 to {LARGEST}."
        raise InputError(message(what, got=repr(n), fix="Use 1 to run every loop in the thread that calls it."))
    return number


class _Pool:
    """The compiled pool: what Python calls of it."""

    def __init__(self) -> None:
        native = has_symbol("pthread_create") and hasattr(signal, "pthread_sigmask")
        code = Code(_native_text() if native else _SERIAL + _ABSENT, 0)
        # workers run this code until the process ends, later than Python frees its modules
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))
        self._configure = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_int64)(code.address("configure"))
        self.halt, self.reset = (ctypes.CFUNCTYPE(None)(code.address(name)) for name in ("halt", "reset"))
        self.reset()
        add_symbol("adjoint_parallel", code.address("adjoint_parallel"))
        before_fork(self.halt)  # a process with a single thread forks cleanly

    def use(self, count: int) -> None:
        """Take this number of threads from the next loop on, which starts them."""
        self._configure(count, SPIN if count <= _processors() else 0)  # never spin on a processor others wait for
        self.halt()


def _after_fork() -> None:
    """Forget, in the child, workers and locks that other threads of the parent were using."""
    global _lock
    _lock = Lock()
    if _pool is not None:
        _pool.reset()


in_child(_after_fork)


def _native_text() -> str:
    pause = "void @llvm.x86.sse2.pause()" if platform.machine() == "x86_64" else "i32 @sched_yield()"
    faults = [signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL]
    unblock = "\n".join(f"  call i32 @sigdelset(ptr %blocked, i32 {int(number)})" for number in faults)
    return string.Template(_SERIAL + _NATIVE).substitute(
        pause=pause, clock=int(time.CLOCK_MONOTONIC), setmask=int(signal.SIG_SETMASK), unblock=unblock, largest=LARGEST
    )


_SERIAL = """
define internal void @serial(ptr %body, ptr %context, i64 %chunks) nounwind {
entry: br label %look
look:
  %chunk = phi i64 [0, %entry], [%next, %each]
  %more = icmp slt i64 %chunk, %chunks
  br i1 %more, label %each, label %end
each:
  call void %body(ptr %context, i64 %chunk)
  %next = add i64 %chunk, 1
  br label %look
end: ret void
}
"""
_ABSENT = """
define void @adjoint_parallel(ptr %body, ptr %context, i64 %chunks) {
  call void @serial(ptr %body, ptr %context, i64 %chunks)
  ret void
}
define void @configure(i32 %threads, i64 %nanoseconds) { ret void }
define void @halt() { ret void }
define void @reset() { ret void }
"""  # where there are no POSIX threads
_NATIVE = """
; gate: bit 31 = workers must end, bits 16 to 30 = tickets (workers that may still join), bits 0 to 15 = workers inside.
; What threads write often has a cache line of its own; the system's types are smaller than 128 bytes.
@gate = internal global i32 0, align 128
@next = internal global i64 0, align 128
@taken = internal global i32 0, align 128
@body = internal global ptr null, align 128   @context = internal global ptr null   @chunks = internal global i64 0
@limit = internal global i32 1   @started = internal global i32 0   @spin_time = internal global i64 0
@mutex = internal global [128 x i8] zeroinitializer, align 128
@wake = internal global [128 x i8] zeroinitializer, align 128
@done = internal global [128 x i8] zeroinitializer, align 128
@handles = internal global [$largest x i64] zeroinitializer, align 128
declare i32 @pthread_create(ptr, ptr, ptr, ptr)   declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_mutex_init(ptr, ptr)         declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)              declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_signal(ptr)             declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)          declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)                      declare i32 @sigdelset(ptr, i32)
declare i64 @llvm.smin.i64(i64, i64)              declare i64 @llvm.vector.reduce.add.v2i64(<2 x i64>)
declare i32 @clock_gettime(i32, ptr)              declare $pause
define void @adjoint_parallel(ptr %body, ptr %context, i64 %chunks) nounwind {
  %limit = load atomic i32, ptr @limit monotonic, align 4
  %alone = icmp sle i32 %limit, 1
  %few = icmp sle i64 %chunks, 1
  %own = or i1 %alone, %few
  br i1 %own, label %serial, label %take
take:
  %exchange = cmpxchg ptr @taken, i32 0, i32 1 acquire monotonic
  %free = extractvalue {i32, i1} %exchange, 1
  br i1 %free, label %open, label %serial
open:
  %workers = call i32 @workers(i32 %limit)
  %workers.wide = zext i32 %workers to i64
  %others = sub i64 %chunks, 1
  %tickets = call i64 @llvm.smin.i64(i64 %workers.wide, i64 %others)
  %tickets.narrow = trunc i64 %tickets to i32
  %opened = shl i32 %tickets.narrow, 16
  store ptr %body, ptr @body
  store ptr %context, ptr @context
  store i64 %chunks, ptr @chunks
  store atomic i64 0, ptr @next monotonic, align 8
  store atomic i32 %opened, ptr @gate seq_cst, align 4
  call void @pass_mutex()
  br label %rouse
rouse:
  %left = phi i32 [%tickets.narrow, %open], [%left.next, %rouse]
  call i32 @pthread_cond_signal(ptr @wake) ; costs next to nothing when nobody sleeps
  %left.next = sub i32 %left, 1
  %more = icmp sgt i32 %left.next, 0
  br i1 %more, label %rouse, label %help
help:
  call void @work(ptr %body, ptr %context, i64 %chunks)
  call void @await(i32 65535, i1 false, ptr @done)
  store atomic i32 0, ptr @taken release, align 4
  ret void
serial:
  call void @serial(ptr %body, ptr %context, i64 %chunks)
  ret void
}
; Take chunks until there are none, then withdraw the tickets.
define internal void @work(ptr %body, ptr %context, i64 %chunks) nounwind {
  br label %take
take:
  %chunk = atomicrmw add ptr @next, i64 1 monotonic
  %mine = icmp slt i64 %chunk, %chunks
  br i1 %mine, label %run, label %end
run:
  call void %body(ptr %context, i64 %chunk)
  br label %take
end:
  atomicrmw and ptr @gate, i32 65535 seq_cst
  ret void
}
; The life of a worker.
define internal ptr @worker(ptr %nothing) nounwind {
  br label %idle
idle:
  call void @await(i32 -65536, i1 true, ptr @wake)
  %gate = load atomic i32, ptr @gate seq_cst, align 4
  %over = icmp slt i32 %gate, 0
  br i1 %over, label %end, label %look
look:
  %any = icmp uge i32 %gate, 65536
  br i1 %any, label %join, label %idle
join:
  ; one ticket less, one worker more; nothing of the loop was read before, so an equal gate of a later loop is as good
  %joined = sub i32 %gate, 65535
  %exchange = cmpxchg ptr @gate, i32 %gate, i32 %joined seq_cst monotonic
  %in = extractvalue {i32, i1} %exchange, 1
  br i1 %in, label %help, label %idle
help:
  %body = load ptr, ptr @body
  %context = load ptr, ptr @context
  %chunks = load i64, ptr @chunks
  call void @work(ptr %body, ptr %context, i64 %chunks)
  %inside = atomicrmw sub ptr @gate, i32 1 seq_cst
  %last = icmp eq i32 %inside, 1
  br i1 %last, label %tell, label %idle
tell:
  call void @pass_mutex()
  call i32 @pthread_cond_signal(ptr @done)
  br label %idle
end: ret ptr null
}
; Whether the bits of the gate under a mask are as wanted, some set or none.
define internal i1 @holds(i32 %mask, i1 %wanted) nounwind alwaysinline {
  %gate = load atomic i32, ptr @gate seq_cst, align 4
  %bits = and i32 %gate, %mask
  %any = icmp ne i32 %bits, 0
  %good = icmp eq i1 %any, %wanted
  ret i1 %good
}
; Wait until the gate is so: spin for a while, then sleep.
define internal void @await(i32 %mask, i1 %wanted, ptr %condition) nounwind noinline {
entry:
  %time = load atomic i64, ptr @spin_time monotonic, align 8
  %begin = call i64 @now()
  %stop = add i64 %begin, %time
  br label %try
try:
  %turn = phi i64 [0, %entry], [%turn.next, %pause], [%turn.next, %clock]
  %good = call i1 @holds(i32 %mask, i1 %wanted)
  br i1 %good, label %end, label %pause
pause:
  call $pause
  %turn.next = add i64 %turn, 1
  %group = and i64 %turn, 7
  %check = icmp eq i64 %group, 0
  br i1 %check, label %clock, label %try
clock:
  %now = call i64 @now()
  %late = icmp sge i64 %now, %stop
  br i1 %late, label %lock, label %try
lock:
  call i32 @pthread_mutex_lock(ptr @mutex)
  br label %look
look:
  %now.good = call i1 @holds(i32 %mask, i1 %wanted)
  br i1 %now.good, label %unlock, label %sleep
sleep:
  call i32 @pthread_cond_wait(ptr %condition, ptr @mutex)
  br label %look
unlock:
  call i32 @pthread_mutex_unlock(ptr @mutex)
  br label %end
end: ret void
}
define internal i64 @now() nounwind {
  %time = alloca <2 x i64>
  call i32 @clock_gettime(i32 $clock, ptr %time)
  %parts = load <2 x i64>, ptr %time
  %nanoseconds = mul <2 x i64> %parts, <i64 1000000000, i64 1>
  %sum = call i64 @llvm.vector.reduce.add.v2i64(<2 x i64> %nanoseconds)
  ret i64 %sum
}
; Whoever held the mutex while deciding to sleep sleeps now: a signal sent after this is not lost.
define internal void @pass_mutex() nounwind {
  call i32 @pthread_mutex_lock(ptr @mutex)
  call i32 @pthread_mutex_unlock(ptr @mutex)
  ret void
}
; How many workers may help; starts those that are missing, with signals blocked but for a thread's own faults.
define internal i32 @workers(i32 %limit) nounwind {
  %others = sub i32 %limit, 1
  %started = load i32, ptr @started
  %enough = icmp sge i32 %started, %others
  br i1 %enough, label %all, label %start
all: ret i32 %others
start:
  %blocked = alloca [128 x i8], align 16
  %old = alloca [128 x i8], align 16
  call i32 @sigfillset(ptr %blocked)
$unblock
  call i32 @pthread_sigmask(i32 $setmask, ptr %blocked, ptr %old)
  br label %each
each:
  %count = phi i32 [%started, %start], [%count.next, %created]
  %missing = icmp slt i32 %count, %others
  br i1 %missing, label %create, label %end
create:
  %handle = getelementptr i64, ptr @handles, i32 %count
  %failure = call i32 @pthread_create(ptr %handle, ptr null, ptr @worker, ptr null)
  %fine = icmp eq i32 %failure, 0
  br i1 %fine, label %created, label %refused
created:
  %count.next = add i32 %count, 1
  br label %each
refused:
  ; the system gives no more: do not ask again for every loop
  %fewer = add i32 %count, 1
  cmpxchg ptr @limit, i32 %limit, i32 %fewer monotonic monotonic
  br label %end
end:
  store i32 %count, ptr @started
  call i32 @pthread_sigmask(i32 $setmask, ptr %old, ptr null)
  ret i32 %count
}
define void @configure(i32 %threads, i64 %nanoseconds) nounwind {
  store atomic i64 %nanoseconds, ptr @spin_time monotonic, align 8
  store atomic i32 %threads, ptr @limit monotonic, align 4
  ret void
}
; End the workers, unless a loop is using them; the next loop starts new ones.
define void @halt() nounwind {
  %exchange = cmpxchg ptr @taken, i32 0, i32 1 acquire monotonic
  %free = extractvalue {i32, i1} %exchange, 1
  br i1 %free, label %tell, label %end
tell:
  store atomic i32 -2147483648, ptr @gate seq_cst, align 4
  call void @pass_mutex()
  call i32 @pthread_cond_broadcast(ptr @wake)
  %started = load i32, ptr @started
  br label %each
each:
  %count = phi i32 [%started, %tell], [%count.next, %join]
  %some = icmp sgt i32 %count, 0
  br i1 %some, label %join, label %over
join:
  %count.next = sub i32 %count, 1
  %handle = getelementptr i64, ptr @handles, i32 %count.next
  %thread = load i64, ptr %handle
  call i32 @pthread_join(i64 %thread, ptr null)
  br label %each
over:
  store i32 0, ptr @started
  store atomic i32 0, ptr @gate seq_cst, align 4
  store atomic i32 0, ptr @taken release, align 4
  br label %end
end: ret void
}
; As new: nobody uses the pool and it has no workers. For the start, and for a child of fork, where this is true.
define void @reset() nounwind {
  store i32 0, ptr @started
  store atomic i32 0, ptr @gate seq_cst, align 4
  call i32 @pthread_mutex_init(ptr @mutex, ptr null)
  call i32 @pthread_cond_init(ptr @wake, ptr null)
  call i32 @pthread_cond_init(ptr @done, ptr null)
  store atomic i32 0, ptr @taken release, align 4
  ret void
}
"""
