"""BLAS on one thread: products of middle size wait longer for OpenBLAS's other threads than they gain by them.

OpenBLAS's limit is one number for the whole process, and reading and setting it are two steps. So threads that want it
at 1 are counted: the first one sets it, the last one puts back what the first one found, and a lock that is held for
moments keeps these apart.
"""

from __future__ import annotations

import ctypes
import functools

from ...host.forking import in_child
from .blas import thread_limit
from .engine import Code, add_symbol

BLAS_PATCH = {
    "what": "the number of threads that OpenBLAS uses: 1",
    "when": "while a program runs",
    "why": "products of middle size wait longer for the other threads than they gain by them",
    "undone": "when the last such product is done",
}
ENTER, LEAVE = "adjoint_blas_alone", "adjoint_blas_shared"


@functools.cache
def alone_symbols() -> tuple[str, str] | None:
    """The functions `void ()` between which BLAS uses one thread; None if OpenBLAS has no limit that can be set."""
    limit = thread_limit()
    if limit is None:
        return None
    code = Code(TEXT.replace("$limit", limit), 0, keep=False)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))  # other threads may call it until the process ends
    for name in (ENTER, LEAVE):
        add_symbol(name, code.address(name))
    in_child(ctypes.CFUNCTYPE(None)(code.address("reset")))
    return ENTER, LEAVE


TEXT = """
@lock = internal global i32 0, align 64
@inside = internal global i32 0
@before = internal global i32 0
declare i32 @$limit(i32)
define internal void @acquire() nounwind {
entry: br label %try
try:
  %exchange = cmpxchg ptr @lock, i32 0, i32 1 acquire monotonic
  %free = extractvalue {i32, i1} %exchange, 1
  br i1 %free, label %done, label %try
done: ret void
}
define internal void @release() nounwind {
  store atomic i32 0, ptr @lock release, align 4
  ret void
}
define void @adjoint_blas_alone() nounwind {
  call void @acquire()
  %count = load i32, ptr @inside
  %more = add i32 %count, 1
  store i32 %more, ptr @inside
  %first = icmp eq i32 %count, 0
  br i1 %first, label %set, label %done
set:
  %found = call i32 @$limit(i32 1)
  store i32 %found, ptr @before
  br label %done
done:
  call void @release()
  ret void
}
define void @adjoint_blas_shared() nounwind {
  call void @acquire()
  %count = load i32, ptr @inside
  %fewer = sub i32 %count, 1
  store i32 %fewer, ptr @inside
  %last = icmp eq i32 %fewer, 0
  %found = load i32, ptr @before
  %several = icmp sgt i32 %found, 1
  %lift = and i1 %last, %several
  br i1 %lift, label %set, label %done
set:
  call i32 @$limit(i32 %found)
  br label %done
done:
  call void @release()
  ret void
}
define void @reset() nounwind {
  %count = load i32, ptr @inside
  %found = load i32, ptr @before
  %limited = icmp sgt i32 %count, 0
  store i32 0, ptr @inside
  store i32 0, ptr @lock
  br i1 %limited, label %lift, label %done
lift:
  call i32 @$limit(i32 %found)
  br label %done
done: ret void
}
"""
