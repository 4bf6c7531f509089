"""The text of the helpers for objects with attributes: how they are read, and how new ones are made."""

ATTRIBUTES = r"""
; where an object keeps the values of its attributes while it has no dict of its own, or null
define internal ptr @adjoint_own_values(ptr %object) {
<own_values>
}

; the attributes of an object, whose class finds them as `object` does, under the given names: from their places, in the
; object (1) or in its values (2), or by name. The object holds them, so there is no reference to give up
define i1 @adjoint_attributes(ptr %object, i64 %way, ptr %names, ptr %places, i64 %count, ptr %found) {
start:
  switch i64 %way, label %test [i64 1, label %inside i64 2, label %outside]
inside:
  br label %test
outside:
  %own = call ptr @adjoint_own_values(ptr %object)
  br label %test
test:
  %base = phi ptr [null, %start], [%object, %inside], [%own, %outside], [%base, %take]
  %i = phi i64 [0, %start], [0, %inside], [0, %outside], [%i_next, %take]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %yes, label %one
one:
  %offset_place = getelementptr i64, ptr %places, i64 %i
  %offset = load i64, ptr %offset_place
  %placeless = icmp slt i64 %offset, 0
  %baseless = icmp eq ptr %base, null
  %nowhere = or i1 %placeless, %baseless
  br i1 %nowhere, label %named, label %placed
placed:
  %value_place = getelementptr i8, ptr %base, i64 %offset
  %value = load ptr, ptr %value_place
  %empty = icmp eq ptr %value, null
  br i1 %empty, label %named, label %take
named:
  %name_place = getelementptr ptr, ptr %names, i64 %i
  %name = load ptr, ptr %name_place
  %got = call ptr @PyObject_GetAttr(ptr %object, ptr %name)
  %missing = icmp eq ptr %got, null
  br i1 %missing, label %clear, label %hold
hold:
  %references = load i32, ptr %got
  %new = icmp eq i32 %references, 1
  call void @Py_DecRef(ptr %got)
  br i1 %new, label %no, label %take
take:
  %attribute = phi ptr [%value, %placed], [%got, %hold]
  %place = getelementptr ptr, ptr %found, i64 %i
  store ptr %attribute, ptr %place
  %i_next = add i64 %i, 1
  br label %test
clear:
  call void @PyErr_Clear()
  br label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; what a class makes of the owned objects with these numbers, given by position, or by names; there is room for one more
define ptr @adjoint_new_called(ptr %owned, ptr %numbers, i64 %count, ptr %kind, ptr %room, ptr %names) {
  %arguments = getelementptr ptr, ptr %room, i64 1
  br label %test
test:
  %i = phi i64 [0, %0], [%i_next, %one]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %call, label %one
one:
  %number_place = getelementptr i64, ptr %numbers, i64 %i
  %number = load i64, ptr %number_place
  %place = getelementptr ptr, ptr %owned, i64 %number
  %object = load ptr, ptr %place
  %argument = getelementptr ptr, ptr %arguments, i64 %i
  store ptr %object, ptr %argument
  %i_next = add i64 %i, 1
  br label %test
call:
  %unnamed = icmp eq ptr %names, null
  %positional = select i1 %unnamed, i64 %count, i64 0
  %flagged = or i64 %positional, -9223372036854775808
  %new = call ptr @PyObject_Vectorcall(ptr %kind, ptr %arguments, i64 %flagged, ptr %names)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %end, label %drop
drop:
  call void @adjoint_drop_some(ptr %owned, ptr %numbers, i64 %count)
  br label %end
end:
  ret ptr %new
}

; a new object of a class with the owned objects with these numbers as attributes
define ptr @adjoint_new_object(ptr %owned, ptr %numbers, i64 %count, ptr %names, ptr %kind) {
  %new = call ptr inttoptr (i64 <object_new> to ptr)(ptr %kind, ptr inttoptr (i64 <nothing> to ptr), ptr null)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %end, label %test
test:
  %i = phi i64 [0, %0], [%i_next, %kept]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %drop, label %one
one:
  %number_place = getelementptr i64, ptr %numbers, i64 %i
  %number = load i64, ptr %number_place
  %place = getelementptr ptr, ptr %owned, i64 %number
  %object = load ptr, ptr %place
  %name_place = getelementptr ptr, ptr %names, i64 %i
  %name = load ptr, ptr %name_place
  %answer = call i32 @PyObject_GenericSetAttr(ptr %new, ptr %name, ptr %object)
  %fine = icmp eq i32 %answer, 0
  br i1 %fine, label %kept, label %undo
kept:
  %i_next = add i64 %i, 1
  br label %test
drop:
  call void @adjoint_drop_some(ptr %owned, ptr %numbers, i64 %count)
  br label %end
undo:
  call void @Py_DecRef(ptr %new)
  ret ptr null
end:
  ret ptr %new
}

; give up the references to the owned objects with these numbers
define internal void @adjoint_drop_some(ptr %owned, ptr %numbers, i64 %count) {
  br label %test
test:
  %i = phi i64 [0, %0], [%i_next, %one]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %end, label %one
one:
  %number_place = getelementptr i64, ptr %numbers, i64 %i
  %number = load i64, ptr %number_place
  %place = getelementptr ptr, ptr %owned, i64 %number
  %object = load ptr, ptr %place
  store ptr null, ptr %place
  call void @Py_DecRef(ptr %object)
  %i_next = add i64 %i, 1
  br label %test
end:
  ret void
}
"""
