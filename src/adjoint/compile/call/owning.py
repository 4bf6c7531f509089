"""The text of the helpers for arguments that are given away: whether nobody else has an array."""

from __future__ import annotations

import ctypes
import functools
import sys

from adjoint.host.code.versions import BORROWS

OWNING = r"""
; whether nobody has a container but the caller of this function, by one variable, attribute or item
define i1 @adjoint_alone(ptr %object) {
start:
<alone>
}

; of arrays, one byte each: whether there is no other reference to it or its memory than one of a container
define void @adjoint_own(ptr %arrays, i64 %count, ptr %answers) {
  br label %hold_test
hold_test:
  %i = phi i64 [0, %0], [%i_next, %hold]
  %held = icmp eq i64 %i, %count
  br i1 %held, label %test, label %hold
hold:
  %hold_place = getelementptr ptr, ptr %arrays, i64 %i
  %holding = load ptr, ptr %hold_place
  call void @Py_IncRef(ptr %holding)
  %i_next = add i64 %i, 1
  br label %hold_test
test:
  %j = phi i64 [0, %hold_test], [%j_next, %one]
  %done = icmp eq i64 %j, %count
  br i1 %done, label %drop_test, label %one
one:
  %place = getelementptr ptr, ptr %arrays, i64 %j
  %array = load ptr, ptr %place
  %references = load i32, ptr %array
  ; one of its container and one of this function; one more if it is there twice
  %single = icmp eq i32 %references, 2
  %flags_place = getelementptr i8, ptr %array, i64 <FLAGS>
  %flags = load i32, ptr %flags_place
  %has_flags = and i32 %flags, <own_flags>
  %same_flags = icmp eq i32 %has_flags, <own_flags>
  %base_place = getelementptr i8, ptr %array, i64 <BASE>
  %base = load ptr, ptr %base_place
  %no_base = icmp eq ptr %base, null
  %weak_place = getelementptr i8, ptr %array, i64 <REFERENCES>
  %weak = load ptr, ptr %weak_place
  %no_weak = icmp eq ptr %weak, null
  %both = and i1 %single, %same_flags
  %others = and i1 %no_base, %no_weak
  %own = and i1 %both, %others
  %answer = zext i1 %own to i8
  %answer_place = getelementptr i8, ptr %answers, i64 %j
  store i8 %answer, ptr %answer_place
  %j_next = add i64 %j, 1
  br label %test
drop_test:
  %k = phi i64 [0, %test], [%k_next, %drop]
  %dropped = icmp eq i64 %k, %count
  br i1 %dropped, label %end, label %drop
drop:
  %drop_place = getelementptr ptr, ptr %arrays, i64 %k
  %dropping = load ptr, ptr %drop_place
  call void @Py_DecRef(ptr %dropping)
  %k_next = add i64 %k, 1
  br label %drop_test
end:
  ret void
}

; an array that may be written over, or a new one
define ptr @adjoint_array_over(ptr %array, i1 %may, ptr %dtype, i32 %axes, ptr %shape, i32 %flags) {
  br i1 %may, label %same, label %other
same:
  call void @Py_IncRef(ptr %array)
  ret ptr %array
other:
  %new = call ptr @adjoint_new_array(ptr %dtype, i32 %axes, ptr %shape, i32 %flags)
  ret ptr %new
}
"""

COUNTED = """  %count = load i32, ptr %object
  %few = icmp ule i32 %count, 2
  ret i1 %few"""
"""One reference of whoever holds it, and one of the call."""

BORROWED = """  %count = load i32, ptr %object
  %thread = call ptr @PyThreadState_Get()
  %frame_place = getelementptr i8, ptr %thread, i64 <frame>
  %frame = load ptr, ptr %frame_place
  %nowhere = icmp eq ptr %frame, null
  br i1 %nowhere, label %no, label %look
look:
  %top_place = getelementptr i8, ptr %frame, i64 <top>
  %top = load ptr, ptr %top_place
  %bottom = getelementptr i8, ptr %frame, i64 <variables>
  %number = ptrtoint ptr %object to i64
  %marked = or i64 %number, 1
  br label %test
test:
  %place = phi ptr [%bottom, %look], [%next, %one]
  %owned = phi i32 [0, %look], [%owned_next, %one]
  %lent = phi i32 [0, %look], [%lent_next, %one]
  %more = icmp ult ptr %place, %top
  br i1 %more, label %one, label %end
one:
  %word = load i64, ptr %place
  %is_owned = icmp eq i64 %word, %number
  %is_lent = icmp eq i64 %word, %marked
  %owned_more = zext i1 %is_owned to i32
  %lent_more = zext i1 %is_lent to i32
  %owned_next = add i32 %owned, %owned_more
  %lent_next = add i32 %lent, %lent_more
  %next = getelementptr i8, ptr %place, i64 8
  br label %test
end:
  %owns = icmp eq i32 %owned, 1
  %lends = icmp eq i32 %lent, 1
  %lends_none = icmp eq i32 %lent, 0
  %once = icmp eq i32 %count, 1
  %twice = icmp ule i32 %count, 2
  %variable = and i1 %lends, %once
  %other = and i1 %lends_none, %twice
  %either = or i1 %variable, %other
  %alone = and i1 %owns, %either
  ret i1 %alone
no:
  ret i1 false"""
"""From Python 3.14 on, variables lend their references to the calls that they are arguments of, and these to further
calls: nobody counts those. So the variables and the stack of the caller are looked at, where these have a mark.
Either its variable has the only reference, and lends it to this call and to nothing else; or the call has one of its
own, and some attribute or item the other."""

UNKNOWN = "  ret i1 false"


@functools.cache
def alone() -> str:
    """The body of `adjoint_alone` for this Python."""
    if not BORROWS:
        return COUNTED
    layout = _frame_layout()
    if layout is None:
        return UNKNOWN
    text = BORROWED
    for name, offset in zip(("frame", "top", "variables"), layout, strict=True):
        text = text.replace(f"<{name}>", str(offset))
    return text


def _frame_layout() -> tuple[int, int, int] | None:
    """Where a thread has its frame, and a frame the end of its stack and its variables: None if that cannot be seen."""
    held = [object()]
    return _seen(held)


def _seen(given: list[object]) -> tuple[int, int, int] | None:
    """The same, seen from a function that borrows its only argument from the first variable of its caller."""
    mine = sys._getframe()
    outer, read = mine.f_back, ctypes.c_uint64.from_address
    if outer is None:
        return None
    here, there = [read(id(f) + FRAME).value for f in (mine, outer)]
    get_thread = ctypes.pythonapi.PyThreadState_Get
    get_thread.restype = ctypes.c_void_p
    thread = get_thread()
    frames = [k for k in range(0, 256, 8) if read(thread + k).value == here]
    starts = [
        k for k in range(32, 128, 8) if read(here + k).value == id(given) | 1 and read(there + k).value == id(given)
    ]
    if len(frames) != 1 or len(starts) != 1:
        return None
    low = there + starts[0] + 8 * outer.f_code.co_nlocals
    high = low + 8 * outer.f_code.co_stacksize
    tops = [k for k in range(32, starts[0], 8) if low <= read(there + k).value <= high]
    return (frames[0], tops[0], starts[0]) if len(tops) == 1 else None


FRAME = 24
"""Where a frame object has the frame of the interpreter."""
