"""LLVM: from the text of a module to addresses of functions. The only file that imports llvmlite."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import llvmlite.binding as llvm

_lock = threading.RLock()
_machine: Any = None
LARGE_MODULE = 2_000
"""Above so many lines of straight code the expensive passes are not worth their time."""


def _start() -> Any:
    """Set LLVM up for this machine, once."""
    global _machine
    with _lock:
        if _machine is None:
            llvm.initialize_native_target()
            llvm.initialize_native_asmprinter()
            _machine = target_machine(3)
            for library in ("libm.so.6", "libmvec.so.1"):
                try:
                    llvm.load_library_permanently(library)
                except RuntimeError:  # not glibc: scalar functions come from the process itself
                    pass
        return _machine


def target_machine(level: int) -> Any:
    """A code generator for this very processor."""
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=level, jit=True)


def has_symbol(name: str) -> bool:
    """Whether a function of the loaded libraries can be called."""
    _start()
    return llvm.address_of_symbol(name) is not None


def has_feature(name: str) -> bool:
    """Whether this processor has an instruction set, by LLVM's name for it."""
    return bool(llvm.get_host_cpu_features().get(name, False))


def add_symbol(name: str, address: int) -> None:
    """Let modules call a function by name."""
    _start()
    llvm.add_symbol(name, address)


def python_symbol(name: str) -> str:
    """Let modules call a function of CPython's C API."""
    add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
    return name


class Code:
    """Machine code in memory, for as long as this object lives."""

    def __init__(self, text: str, level: int = 3) -> None:
        with _lock:
            machine = _start() if level == 3 else target_machine(level)
            self.module = llvm.parse_assembly(text)
            self.module.triple = machine.triple
            self.module.data_layout = str(machine.target_data)
            options = llvm.create_pipeline_tuning_options(speed_level=level)
            # unrolling and packing of straight code cost most of the time and gain next to nothing here
            options.loop_vectorization = options.loop_interleaving = level > 1
            options.slp_vectorization = options.loop_unrolling = False
            builder = llvm.create_pass_builder(machine, options)
            builder.getModulePassManager().run(self.module, builder)
            # an engine owns its target machine, and the shared one must outlive it
            self._engine = llvm.create_mcjit_compiler(self.module, target_machine(level))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function begins."""
        return int(self._engine.get_function_address(name))

    def optimised(self) -> str:
        """The module after LLVM's passes."""
        with _lock:
            return str(self.module)

    def assembly(self) -> str:
        """The machine's own instructions, as text."""
        with _lock:
            module = llvm.parse_assembly(str(self.module))
            return str(target_machine(3).emit_assembly(module))
