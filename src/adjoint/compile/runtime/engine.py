"""LLVM: from the text of a module to addresses of functions."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
import weakref
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from ...host.forking import Lock, held_at_fork
from . import cache
from .processor import processor
from .room import check_room

SYMBOLS_PATCH = {
    "what": "the names that LLVM's code may call, one table for the process: the library's own begin with `adjoint_`, "
    "others are those of libm, BLAS and CPython",
    "when": "from then on",
    "why": "compiled programs call them",
    "undone": "never: nobody else asks for these",
}
_lock = Lock()
_recent: dict[str, bytes] = {}
"""Code compiled last, by key: functions are often jitted anew."""
MOST_RECENT, MOST_RECENT_BYTES = 256, 8 * 2**20
"""How much is kept of it, in pieces and in bytes."""
ENGINE_BYTES = 50_000
"""What LLVM keeps for each piece of code, about, besides copies of it: tables of the target, and three pages."""
COPIES = 3
"""The object file, as it was read, and as it was linked."""
WORKSPACE = "workspace.kept"
"""The variable of code that keeps memory from one call to the next: its address, or null."""
SHORT = 30_000
"""Letters up to which the passes cost nothing to speak of; single numbers are passed through memory, too."""


@functools.cache
def _start() -> None:
    """Set LLVM up for this machine, once."""
    with _lock:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        for library in ("libm.so.6", "libmvec.so.1"):
            with contextlib.suppress(RuntimeError):  # not glibc: scalar functions come from the process itself
                llvm.load_library_permanently(library)


def target_machine(level: int) -> Any:
    """A code generator for the processor that was chosen."""
    name, features = processor()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=name, features=features, opt=level, jit=True)


def has_symbol(name: str) -> bool:
    """Whether a function of the loaded libraries can be called."""
    _start()
    return llvm.address_of_symbol(name) is not None


def add_symbol(name: str, address: int) -> None:
    """Let modules call a function by name."""
    _start()
    llvm.add_symbol(name, address)


def python_symbol(name: str) -> str:
    """Let modules call a function of CPython's C API."""
    add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)
    return name


@functools.cache
def allocator() -> None:
    """Let modules ask for memory."""
    libc = ctypes.CDLL(None)
    for name in ("malloc", "free"):
        add_symbol(name, ctypes.cast(getattr(libc, name), ctypes.c_void_p).value or 0)


def _free(variable: int) -> None:
    """Give back the memory whose address a variable holds, given where that is: code that kept it goes."""
    free = ctypes.CDLL(None).free
    free.argtypes = (ctypes.c_void_p,)
    free(ctypes.c_void_p.from_address(variable))


class Code:
    """Machine code in memory, for as long as this object lives."""

    def __init__(
        self, text: str, level: int = 2, *, keep: bool = True, carries: bool = False, alongside: bool = False
    ) -> None:
        """`level` is how hard LLVM tries: 2 makes vectors of loops, 1 cleans up, 0 is for endless straight code.

        Code is kept for later processes, if the user wishes, unless it has addresses of this one in it. `carries`: it
        has loops that carry values in memory, which should become registers. `alongside`: other threads may compile at
        the same time. The text is not kept: it is many times as long as the code.
        """
        _start()
        key = _key(text, level)
        found = _known(key, keep)
        check_room(len(text) if found is None else 0)
        if found is None:
            with contextlib.nullcontext() if alongside else _lock:
                machine = target_machine(level)
                found = _emitted(_optimised(text, machine, level, carries, alongside), machine, alongside)
            if keep:
                cache.save(key, found)
        _remember(key, found)
        with _lock:
            # an engine owns its target machine, so each has its own
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine(0))
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(found))
            self._engine.finalize_object()
        self.bytes = ENGINE_BYTES + COPIES * len(found)
        """What it takes in memory, about."""
        if f"@{WORKSPACE} = " in text:
            weakref.finalize(self, _free, self.address(WORKSPACE)).atexit = False

    def address(self, name: str) -> int:
        """Where a function begins, or a variable is."""
        return int(self._engine.get_function_address(name))


def optimised(text: str, level: int = 2, *, carries: bool = False) -> str:
    """A module after LLVM's passes."""
    _start()
    with _lock:
        return str(_optimised(text, target_machine(level), level, carries))


def assembly(text: str, level: int = 2, *, carries: bool = False) -> str:
    """The machine's own instructions, as text."""
    _start()
    with _lock:
        machine = target_machine(level)
        return str(machine.emit_assembly(_optimised(text, machine, level, carries)))


def _optimised(text: str, machine: Any, level: int, carries: bool, alongside: bool = False) -> Any:
    """A module of this text, after the passes; in a context of its own, as one that is shared grows for good."""
    module = llvm.parse_assembly(text, llvm.create_context())
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    # unrolling and packing of straight code cost most of the time and gain next to nothing here
    options.loop_vectorization = options.loop_interleaving = level > 1
    options.slp_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)  # for one run only: it keeps references to what that had
    passes = builder.getModulePassManager() if level > 1 else _few_passes(level > 0 and (carries or len(text) < SHORT))
    _function("LLVMPY_RunNewModulePassManager", alongside)(passes, module, builder)
    return module


def forget() -> None:
    """Let go of code that would be found if it were asked for again."""
    with _lock:
        _recent.clear()


def is_known(text: str, level: int) -> bool:
    """Whether code need not be compiled, as it was before, perhaps by another process."""
    return _known(_key(text, level), keep=True) is not None


def _known(key: str, keep: bool) -> bytes | None:
    with _lock:
        return _recent.get(key) or (cache.load(key) if keep else None)


def _remember(key: str, code: bytes) -> None:
    with _lock:
        _recent.pop(key, None)
        _recent[key] = code
        while len(_recent) > MOST_RECENT or (sum(map(len, _recent.values())) > MOST_RECENT_BYTES and len(_recent) > 1):
            del _recent[next(iter(_recent))]


def _function(name: str, alongside: bool) -> Any:
    """A function of llvmlite's library; without the lock around all of them, if what it works on is one thread's own.

    LLVM itself needs none then: modules of different contexts have nothing in common.
    """
    found = getattr(llvm.ffi.lib, name)
    return getattr(found, "_cfn", found) if alongside else found


def _emitted(module: Any, machine: Any, alongside: bool) -> bytes:
    """The object file of a module."""
    if not alongside:
        return bytes(machine.emit_object(module))
    library = llvm.ffi.lib
    with llvm.ffi.OutputString() as error:
        buffer = _function("LLVMPY_TargetMachineEmitToMemory", alongside)(machine, module, 1, error)
        if not buffer:
            raise RuntimeError(str(error))
    try:
        return ctypes.string_at(library.LLVMPY_GetBufferStart(buffer), library.LLVMPY_GetBufferSize(buffer))
    finally:
        library.LLVMPY_DisposeMemoryBuffer(buffer)


def _few_passes(carries: bool) -> Any:
    """The few passes that code needs which was written with care: bodies are put in place, memory becomes registers."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    if carries:
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
    return passes


def _key(text: str, level: int) -> str:
    """What compiled code depends on."""
    versions = (llvmlite.__version__, llvm.llvm_version_info, np.__version__, sys.version)
    return cache.key_of(text, level, *processor(), *versions)


held_at_fork(llvm.ffi.lib._lock._lock)  # llvmlite's own: also of threads that only let go of machine code
held_at_fork(_lock)
