"""The text of the helpers for arguments that are given away: whether nobody else has an array."""

from __future__ import annotations

OWNING = r"""
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
