"""The text of the helpers that compare what a recording relies on with what it was; these may run Python code."""

COMPARISONS = r"""
; what a dict has under a key, or null
define ptr @adjoint_item(ptr %mapping, ptr %key) {
  %got = call ptr @PyDict_GetItemWithError(ptr %mapping, ptr %key)
  %missing = icmp eq ptr %got, null
  br i1 %missing, label %clear, label %end
clear:
  call void @PyErr_Clear()
  br label %end
end:
  ret ptr %got
}

define i1 @adjoint_item_is(ptr %mapping, ptr %key, ptr %value) {
  %got = call ptr @PyDict_GetItemWithError(ptr %mapping, ptr %key)
  %missing = icmp eq ptr %got, null
  br i1 %missing, label %clear, label %compare
compare:
  %same = icmp eq ptr %got, %value
  ret i1 %same
clear:
  call void @PyErr_Clear()
  ret i1 false
}

define i1 @adjoint_item_lacks(ptr %mapping, ptr %key) {
  %got = call ptr @PyDict_GetItemWithError(ptr %mapping, ptr %key)
  %missing = icmp eq ptr %got, null
  br i1 %missing, label %clear, label %there
there:
  ret i1 false
clear:
  call void @PyErr_Clear()
  ret i1 true
}

define i1 @adjoint_attribute_is(ptr %owner, ptr %name, ptr %value) {
  %got = call ptr @PyObject_GetAttr(ptr %owner, ptr %name)
  %same = call i1 @adjoint_released(ptr %got, ptr %value)
  ret i1 %same
}

define i1 @adjoint_dict_is(ptr %owner, ptr %value) {
  %got = call ptr @PyObject_GenericGetDict(ptr %owner, ptr null)
  %same = call i1 @adjoint_released(ptr %got, ptr %value)
  ret i1 %same
}

; whether a function without arguments says so
define i1 @adjoint_holds(ptr %check, ptr %true) {
  %got = call ptr @PyObject_CallNoArgs(ptr %check)
  %same = call i1 @adjoint_released(ptr %got, ptr %true)
  ret i1 %same
}

; whether a new reference is to this object, which others hold; it is given up
define internal i1 @adjoint_released(ptr %got, ptr %value) {
  %missing = icmp eq ptr %got, null
  br i1 %missing, label %clear, label %compare
compare:
  %same = icmp eq ptr %got, %value
  call void @Py_DecRef(ptr %got)
  ret i1 %same
clear:
  call void @PyErr_Clear()
  ret i1 false
}

; whether all rows of a table hold: a header has the address of the rows and their number. A row is a question, a place
; and two numbers: the mask and the masked word (0); the key and the value of an item, null for none (1); other bytes
; and how many (2); keys and values in turn and how many of either, which are all items in their order (3)
define i32 @adjoint_unchanged(ptr %header) {
start:
  %position = alloca i64
  %key_room = alloca ptr
  %value_room = alloca ptr
  %rows = load ptr, ptr %header
  %count_place = getelementptr i64, ptr %header, i64 1
  %count = load i64, ptr %count_place
  br label %test
test:
  %i = phi i64 [0, %start], [%next, %word], [%next, %item], [%next, %bytes], [%next, %all]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %yes, label %one
one:
  %row = getelementptr [4 x i64], ptr %rows, i64 %i
  %next = add i64 %i, 1
  %what = load i64, ptr %row
  %where_place = getelementptr i64, ptr %row, i64 1
  %where = load ptr, ptr %where_place
  %other_place = getelementptr i64, ptr %row, i64 2
  %other = load i64, ptr %other_place
  %expected_place = getelementptr i64, ptr %row, i64 3
  %expected = load i64, ptr %expected_place
  switch i64 %what, label %word [i64 1, label %item i64 2, label %bytes i64 3, label %items]
word:
  %now = load i64, ptr %where
  %masked = and i64 %now, %other
  %same_word = icmp eq i64 %masked, %expected
  br i1 %same_word, label %test, label %no
item:
  %wanted_key = inttoptr i64 %other to ptr
  %wanted = inttoptr i64 %expected to ptr
  %got = call ptr @adjoint_item(ptr %where, ptr %wanted_key)
  %same_item = icmp eq ptr %got, %wanted
  br i1 %same_item, label %test, label %no
bytes:
  %others = inttoptr i64 %other to ptr
  %order = call i32 inttoptr (i64 <memcmp> to ptr)(ptr %where, ptr %others, i64 %expected)
  %same_bytes = icmp eq i32 %order, 0
  br i1 %same_bytes, label %test, label %no
items:
  %pairs = inttoptr i64 %other to ptr
  %size = call i64 @PyDict_Size(ptr %where)
  %same_size = icmp eq i64 %size, %expected
  store i64 0, ptr %position
  br i1 %same_size, label %pair, label %no
pair:
  %j = phi i64 [0, %items], [%j_next, %same_pair]
  %last = icmp eq i64 %j, %expected
  br i1 %last, label %all, label %look
look:
  %more = call i32 @PyDict_Next(ptr %where, ptr %position, ptr %key_room, ptr %value_room)
  %is_more = icmp ne i32 %more, 0
  br i1 %is_more, label %compare, label %no
compare:
  %key = load ptr, ptr %key_room
  %value = load ptr, ptr %value_room
  %at = mul i64 %j, 2
  %key_place = getelementptr ptr, ptr %pairs, i64 %at
  %value_place = getelementptr ptr, ptr %key_place, i64 1
  %key_then = load ptr, ptr %key_place
  %value_then = load ptr, ptr %value_place
  %same_key = icmp eq ptr %key, %key_then
  %same_value = icmp eq ptr %value, %value_then
  %both = and i1 %same_key, %same_value
  br i1 %both, label %same_pair, label %no
same_pair:
  %j_next = add i64 %j, 1
  br label %pair
all:
  br label %test
yes:
  ret i32 1
no:
  ret i32 0
}
"""
