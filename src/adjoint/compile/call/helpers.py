"""The text of the helpers: what entries share, written by hand, as there is one of each.

What looks at arguments runs no Python code: keys are compared by identity, or else all of them must be exact strings or
integers. So nothing that was checked can change, or go away, before the kernel has it.
"""

from __future__ import annotations

from typing import Any

from adjoint.compile.call.attributes import ATTRIBUTES
from adjoint.compile.call.comparisons import COMPARISONS
from adjoint.compile.call.owning import OWNING

MESSAGE = "this compiled function is being destroyed and can no longer be called"


def text(constants: dict[str, Any]) -> str:
    """LLVM's assembly of all helpers, with this process's addresses."""
    filled = TEXT + ATTRIBUTES + COMPARISONS + OWNING
    for name, number in {**constants, "message_length": len(MESSAGE) + 1, "message": MESSAGE}.items():
        filled = filled.replace(f"<{name}>", str(number))
    return filled


TEXT = r"""
@message = private constant [<message_length> x i8] c"<message>\00"

; not for machine code: the Python way, with the same arguments
define ptr @adjoint_slow(ptr %self, ptr %args, i64 %count, ptr %names) {
  %place = getelementptr i8, ptr %self, i64 <slow_offset>
  %slow = load ptr, ptr %place
  %none = icmp eq ptr %slow, null
  br i1 %none, label %gone, label %call
call:
  call void @Py_IncRef(ptr %slow)
  %result = call ptr @PyObject_Vectorcall(ptr %slow, ptr %args, i64 %count, ptr %names)
  call void @Py_DecRef(ptr %slow)
  ret ptr %result
gone:
  call void @PyErr_SetString(ptr inttoptr (i64 <runtime_error> to ptr), ptr @message)
  ret ptr null
}

; the data of an array that fits the specification {dtype word, axes, flags, strides compared, shape, strides}, or null
define ptr @adjoint_array(ptr %object, ptr %wanted) {
  %type_place = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %type_place
  %is_array = icmp eq ptr %type, inttoptr (i64 <ndarray> to ptr)
  br i1 %is_array, label %fields, label %no
fields:
  %dtype_place = getelementptr i8, ptr %object, i64 <DTYPE>
  %dtype = load ptr, ptr %dtype_place
  %word_place = getelementptr i8, ptr %dtype, i64 <DTYPE_WORD>
  %word = load i64, ptr %word_place
  %wanted_word = load i64, ptr %wanted
  %same_word = icmp eq i64 %word, %wanted_word
  %axes_place = getelementptr i8, ptr %object, i64 <AXES>
  %axes = load i32, ptr %axes_place
  %wanted_axes_place = getelementptr i8, ptr %wanted, i64 8
  %wanted_axes = load i32, ptr %wanted_axes_place
  %same_axes = icmp eq i32 %axes, %wanted_axes
  %flags_place = getelementptr i8, ptr %object, i64 <FLAGS>
  %flags = load i32, ptr %flags_place
  %wanted_flags_place = getelementptr i8, ptr %wanted, i64 12
  %wanted_flags = load i32, ptr %wanted_flags_place
  %has_flags = and i32 %flags, %wanted_flags
  %same_flags = icmp eq i32 %has_flags, %wanted_flags
  %both = and i1 %same_word, %same_axes
  %all = and i1 %both, %same_flags
  br i1 %all, label %shapes, label %no
shapes:
  %count = zext i32 %axes to i64
  %shape_place = getelementptr i8, ptr %object, i64 <SHAPE>
  %shape = load ptr, ptr %shape_place
  %wanted_shape = getelementptr i8, ptr %wanted, i64 24
  br label %shape_test
shape_test:
  %i = phi i64 [0, %shapes], [%i_next, %shape_next]
  %shape_done = icmp eq i64 %i, %count
  br i1 %shape_done, label %strides_start, label %shape_one
shape_one:
  %length_place = getelementptr i64, ptr %shape, i64 %i
  %length = load i64, ptr %length_place
  %wanted_length_place = getelementptr i64, ptr %wanted_shape, i64 %i
  %wanted_length = load i64, ptr %wanted_length_place
  %same_length = icmp eq i64 %length, %wanted_length
  br i1 %same_length, label %shape_next, label %no
shape_next:
  %i_next = add i64 %i, 1
  br label %shape_test
strides_start:
  %compared_place = getelementptr i8, ptr %wanted, i64 16
  %compared = load i64, ptr %compared_place
  %strides_place = getelementptr i8, ptr %object, i64 <STRIDES>
  %strides = load ptr, ptr %strides_place
  %wanted_strides = getelementptr i64, ptr %wanted_shape, i64 %count
  br label %strides_test
strides_test:
  %j = phi i64 [0, %strides_start], [%j_next, %strides_next]
  %strides_done = icmp eq i64 %j, %compared
  br i1 %strides_done, label %yes, label %strides_one
strides_one:
  %stride_place = getelementptr i64, ptr %strides, i64 %j
  %stride = load i64, ptr %stride_place
  %wanted_stride_place = getelementptr i64, ptr %wanted_strides, i64 %j
  %wanted_stride = load i64, ptr %wanted_stride_place
  %same_stride = icmp eq i64 %stride, %wanted_stride
  %its_length_place = getelementptr i64, ptr %shape, i64 %j
  %its_length = load i64, ptr %its_length_place
  %unused = icmp eq i64 %its_length, 1
  %fits = or i1 %same_stride, %unused
  br i1 %fits, label %strides_next, label %no
strides_next:
  %j_next = add i64 %j, 1
  br label %strides_test
yes:
  %data_place = getelementptr i8, ptr %object, i64 <DATA>
  %data = load ptr, ptr %data_place
  ret ptr %data
no:
  ret ptr null
}

; whether an object is a static value, or an exact int, str or float that cannot be told from it
define i1 @adjoint_same(ptr %object, ptr %value) {
  %itself = icmp eq ptr %object, %value
  br i1 %itself, label %yes, label %types
types:
  %type_place = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %type_place
  %value_type_place = getelementptr i8, ptr %value, i64 8
  %value_type = load ptr, ptr %value_type_place
  %same_type = icmp eq ptr %type, %value_type
  br i1 %same_type, label %which, label %no
which:
  %is_float = icmp eq ptr %type, inttoptr (i64 <float> to ptr)
  br i1 %is_float, label %bits, label %compared
bits:
  %place = getelementptr i8, ptr %object, i64 16
  %word = load i64, ptr %place
  %value_place = getelementptr i8, ptr %value, i64 16
  %value_word = load i64, ptr %value_place
  %same_bits = icmp eq i64 %word, %value_word
  ret i1 %same_bits
compared:
  %is_int = icmp eq ptr %type, inttoptr (i64 <int> to ptr)
  %is_str = icmp eq ptr %type, inttoptr (i64 <str> to ptr)
  %simple = or i1 %is_int, %is_str
  br i1 %simple, label %compare, label %no
compare:
  %answer = call i32 @PyObject_RichCompareBool(ptr %object, ptr %value, i32 2)
  %equal = icmp eq i32 %answer, 1
  ret i1 %equal
yes:
  ret i1 true
no:
  ret i1 false
}

; the values of an exact dict under the given keys, which are all it has
define i1 @adjoint_values(ptr %object, ptr %keys, i64 %count, i1 %any_order, ptr %values) {
  %position = alloca i64
  %key_slot = alloca ptr
  %value_slot = alloca ptr
  %type_place = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %type_place
  %is_dict = icmp eq ptr %type, inttoptr (i64 <dict> to ptr)
  br i1 %is_dict, label %sizes, label %no
sizes:
  %size = call i64 @PyDict_Size(ptr %object)
  %same_size = icmp eq i64 %size, %count
  br i1 %same_size, label %start, label %no
start:
  store i64 0, ptr %position
  br label %test
test:
  %i = phi i64 [0, %start], [%i_next, %take]
  %more = call i32 @PyDict_Next(ptr %object, ptr %position, ptr %key_slot, ptr %value_slot)
  %done = icmp eq i32 %more, 0
  br i1 %done, label %yes, label %one
one:
  %key = load ptr, ptr %key_slot
  %wanted_place = getelementptr ptr, ptr %keys, i64 %i
  %wanted = load ptr, ptr %wanted_place
  %same = call i1 @adjoint_same(ptr %key, ptr %wanted)
  br i1 %same, label %take, label %others
take:
  %value = load ptr, ptr %value_slot
  %place = getelementptr ptr, ptr %values, i64 %i
  store ptr %value, ptr %place
  %i_next = add i64 %i, 1
  br label %test
others:
  br i1 %any_order, label %simple_start, label %no
simple_start:
  store i64 0, ptr %position
  br label %simple_test
simple_test:
  %simple_more = call i32 @PyDict_Next(ptr %object, ptr %position, ptr %key_slot, ptr %value_slot)
  %simple_done = icmp eq i32 %simple_more, 0
  br i1 %simple_done, label %find_test, label %simple_one
simple_one:
  %a_key = load ptr, ptr %key_slot
  %key_type_place = getelementptr i8, ptr %a_key, i64 8
  %key_type = load ptr, ptr %key_type_place
  %is_str = icmp eq ptr %key_type, inttoptr (i64 <str> to ptr)
  %is_int = icmp eq ptr %key_type, inttoptr (i64 <int> to ptr)
  %simple = or i1 %is_str, %is_int
  br i1 %simple, label %simple_test, label %no
find_test:
  %j = phi i64 [0, %simple_test], [%j_next, %found]
  %find_done = icmp eq i64 %j, %count
  br i1 %find_done, label %yes, label %find
find:
  %sought_place = getelementptr ptr, ptr %keys, i64 %j
  %sought = load ptr, ptr %sought_place
  %got = call ptr @PyDict_GetItemWithError(ptr %object, ptr %sought)
  %missing = icmp eq ptr %got, null
  br i1 %missing, label %clear, label %found
found:
  %got_place = getelementptr ptr, ptr %values, i64 %j
  store ptr %got, ptr %got_place
  %j_next = add i64 %j, 1
  br label %find_test
clear:
  call void @PyErr_Clear()
  br label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; the 64-bit value of an exact int
define i1 @adjoint_integer(ptr %object, ptr %slot) {
  %overflow = alloca i32
  store i32 0, ptr %overflow
  %type_place = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %type_place
  %is_int = icmp eq ptr %type, inttoptr (i64 <int> to ptr)
  br i1 %is_int, label %convert, label %no
convert:
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %object, ptr %overflow)
  store i64 %value, ptr %slot
  %too_large = load i32, ptr %overflow
  %fits = icmp eq i32 %too_large, 0
  ret i1 %fits
no:
  ret i1 false
}

; a new array, its elements not set; NumPy takes over one reference to the dtype
define ptr @adjoint_new_array(ptr %dtype, i32 %axes, ptr %shape, i32 %flags) {
  call void @Py_IncRef(ptr %dtype)
  %new = call ptr inttoptr (i64 <new_array> to ptr)(ptr inttoptr (i64 <ndarray> to ptr), ptr %dtype, i32 %axes,
    ptr %shape, ptr null, ptr null, i32 %flags, ptr null)
  ret ptr %new
}

; containers take over the references of the owned objects with these numbers
define ptr @adjoint_new_tuple(ptr %owned, ptr %numbers, i64 %count) {
  %new = call ptr @PyTuple_New(i64 %count)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %end, label %fill
fill:
  %items = getelementptr i8, ptr %new, i64 <tuple_items>
  call void @adjoint_move(ptr %owned, ptr %numbers, i64 %count, ptr %items)
  br label %end
end:
  ret ptr %new
}

define ptr @adjoint_new_list(ptr %owned, ptr %numbers, i64 %count) {
  %new = call ptr @PyList_New(i64 %count)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %end, label %fill
fill:
  %items_place = getelementptr i8, ptr %new, i64 <list_items>
  %items = load ptr, ptr %items_place
  call void @adjoint_move(ptr %owned, ptr %numbers, i64 %count, ptr %items)
  br label %end
end:
  ret ptr %new
}

define internal void @adjoint_move(ptr %owned, ptr %numbers, i64 %count, ptr %items) {
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
  %item = getelementptr ptr, ptr %items, i64 %i
  store ptr %object, ptr %item
  %i_next = add i64 %i, 1
  br label %test
end:
  ret void
}

define ptr @adjoint_new_dict(ptr %owned, ptr %numbers, i64 %count, ptr %keys) {
  %new = call ptr @PyDict_New()
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %end, label %test
test:
  %i = phi i64 [0, %0], [%i_next, %kept]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %end, label %one
one:
  %number_place = getelementptr i64, ptr %numbers, i64 %i
  %number = load i64, ptr %number_place
  %place = getelementptr ptr, ptr %owned, i64 %number
  %object = load ptr, ptr %place
  %key_place = getelementptr ptr, ptr %keys, i64 %i
  %key = load ptr, ptr %key_place
  %answer = call i32 @PyDict_SetItem(ptr %new, ptr %key, ptr %object)
  %fine = icmp eq i32 %answer, 0
  br i1 %fine, label %kept, label %drop
kept:
  store ptr null, ptr %place
  call void @Py_DecRef(ptr %object)
  %i_next = add i64 %i, 1
  br label %test
drop:
  call void @Py_DecRef(ptr %new)
  ret ptr null
end:
  ret ptr %new
}

; give up the references to owned objects
define void @adjoint_drop(ptr %owned, i64 %count) {
  br label %test
test:
  %i = phi i64 [0, %0], [%i_next, %next]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %end, label %one
one:
  %place = getelementptr ptr, ptr %owned, i64 %i
  %object = load ptr, ptr %place
  store ptr null, ptr %place
  call void @Py_DecRef(ptr %object)
  br label %next
next:
  %i_next = add i64 %i, 1
  br label %test
end:
  ret void
}
"""
