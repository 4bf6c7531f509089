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
"""
