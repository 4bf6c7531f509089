"""Memory for compiling: whether there is some, as LLVM ends the process where it gets none; and giving it back."""

from __future__ import annotations

import ctypes
import functools
import mmap
from typing import Any

LEAST_BYTES = 64 * 2**20
"""What compiling takes at least, with the code generator and its tables."""
BYTES_PER_LETTER = 300
"""What it takes for every letter of a module: an estimate, on the large side."""
MAPS = 24
"""Parts of memory with rights of their own that must be left: new code has three, LLVM's tables a few."""
PAGE = mmap.PAGESIZE


def check_room(letters: int) -> None:
    """Raise MemoryError if a module of this length cannot be compiled: memory is asked for, and given back."""
    wanted = LEAST_BYTES + BYTES_PER_LETTER * letters
    try:
        trial = mmap.mmap(-1, wanted)
    except (OSError, ValueError, OverflowError) as error:
        raise MemoryError(f"There is no memory to compile: {wanted >> 20} MB cannot be had.") from error
    try:
        if not _has_maps(trial):
            raise MemoryError(
                "There is no memory to compile: the process has as many memory maps as the system allows"
                " (vm.max_map_count).\n  Call  ad.config.clear_caches()  to give up compiled code."
            )
    finally:
        trial.close()


def _has_maps(trial: mmap.mmap) -> bool:
    """Whether every other page of a stretch of memory can be given rights of its own."""
    protect = _protect()
    if protect is None:
        return True
    first = ctypes.addressof(ctypes.c_char.from_buffer(trial))
    return all([protect(first + 2 * k * PAGE, PAGE, mmap.PROT_READ) == 0 for k in range(MAPS // 2)])


def give_back() -> None:
    """Let the system have what is free among the memory of the process, which else only grows."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # the allocator of other systems does it unasked
        trim(0)


@functools.cache
def _protect() -> Any:
    """The system's function that sets the rights of memory; None if there is none of that name."""
    function = getattr(ctypes.CDLL(None), "mprotect", None)
    if function is not None:
        function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int), ctypes.c_int
    return function
