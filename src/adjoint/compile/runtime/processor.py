"""Which processor machine code is made for: this one, or an older one that the environment names.

`ADJOINT_PROCESSOR=avx2` compiles for processors with AVX2, `x86-64` for those without, `avx512` for those with AVX-512.
That is for tests, and for code that is kept on a disk which several machines share; by default all that this processor
can do is used.
"""

from __future__ import annotations

import functools
import os

import llvmlite.binding as llvm

from ...core.errors import InputError, message

VARIABLE = "ADJOINT_PROCESSOR"
AVX2 = frozenset(("sse4.2", "avx", "avx2", "fma", "bmi", "bmi2", "f16c"))
AVX512 = AVX2 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
LEVELS: dict[str, tuple[str, frozenset[str]]] = {
    "x86-64": ("x86-64", frozenset()),
    "avx2": ("x86-64-v3", AVX2),
    "avx512": ("x86-64-v4", AVX512),
}
"""Names that the variable may have: what LLVM calls such a processor, and what of it matters here."""


@functools.cache
def processor() -> tuple[str, str]:
    """The name of the processor to compile for, and what it can do, in LLVM's words."""
    chosen = _chosen()
    if chosen is not None:
        return LEVELS[chosen][0], ""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@functools.cache
def has_feature(name: str) -> bool:
    """Whether it has an instruction set, by LLVM's name for it."""
    chosen = _chosen()
    return bool(llvm.get_host_cpu_features().get(name, False)) and (chosen is None or name in LEVELS[chosen][1])


def _chosen() -> str | None:
    """The level that the environment asks for; None for this processor itself."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if not chosen:
        return None
    have = llvm.get_host_cpu_features()
    if chosen not in LEVELS or not llvm.get_default_triple().startswith("x86_64"):
        raise InputError(
            message(
                f"The environment variable {VARIABLE} names no processor that code can be made for here.",
                got=repr(chosen),
                fix=f"Use one of  {',  '.join(LEVELS)},  on machines of that kind, or leave it out.",
            )
        )
    missing = sorted([name for name in LEVELS[chosen][1] if not have.get(name, False)])
    if missing:
        raise InputError(
            message(
                f"This processor cannot run what the environment variable {VARIABLE} asks for.",
                got=f"{chosen!r}, without {', '.join(missing)}",
                fix="Leave it out, to use what this processor has.",
            )
        )
    return chosen
