"""The words of `np.errstate` as machine code sees them: where one of them asks for errors, NumPy has to do the work."""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

import numpy as np

CAPSULE = 16
"""Where a capsule holds its pointer: here to NumPy's words, four of three bits each."""
ASKED = 0b010_010_010_010
"""The bit of each word that "raise" (2) and "call" (3) have, and no other has."""


def variable() -> Any:
    """The context variable in which NumPy keeps them."""
    return importlib.import_module("numpy._core.umath")._extobj_contextvar


def has_layout() -> bool:
    """Whether they are where they are expected."""
    words = {"ignore": False, "warn": False, "print": False, "raise": True, "call": True}
    for name in ("divide", "over", "under", "invalid"):
        for word, is_asked in words.items():
            with np.errstate(all="ignore"), np.errstate(**{name: word}):  # type: ignore[arg-type]
                place = ctypes.c_void_p.from_address(id(variable().get()) + CAPSULE).value
                if place is None or bool(ctypes.c_int.from_address(place).value & ASKED) is not is_asked:
                    return False
    return True


def text() -> str:
    """LLVM's assembly of a helper: whether no condition is an error where the call comes from."""
    return f"""
define i1 @adjoint_calm() {{
  %slot = alloca ptr
  %answer = call i32 @PyContextVar_Get(ptr inttoptr (i64 {id(variable())} to ptr), ptr null, ptr %slot)
  %capsule = load ptr, ptr %slot
  %place = getelementptr i8, ptr %capsule, i64 {CAPSULE}
  %words = load ptr, ptr %place
  %bits = load i32, ptr %words
  call void @Py_DecRef(ptr %capsule)
  %asked = and i32 %bits, {ASKED}
  %calm = icmp eq i32 %asked, 0
  ret i1 %calm
}}
"""
