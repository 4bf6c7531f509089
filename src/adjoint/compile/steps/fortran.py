"""Calls of Fortran routines: every argument is an address, and numbers are written down once, before any loop."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np

from ..assembly.emit import Emitter
from ..assembly.kinds import I8, POINTER, VOID, Kind
from ..assembly.values import Value, literal, number
from ..runtime.blas import blas
from ..runtime.blas_threads import alone_symbols

SHARED = 2**21
"""Multiplications from which work is shared among threads."""


class Fortran:
    """The routines of one precision, called from the function under construction, at whose start this is made."""

    def __init__(self, e: Emitter, dtype: np.dtype) -> None:
        self.e, self.dtype = e, dtype
        self._precision = "d" if dtype.itemsize == 8 else "s"
        found = blas(f"{self._precision}gemm")
        assert found is not None
        self.whole: Kind = found[1]
        """The kind of integers."""

    def size(self, n: int) -> Value:
        """The address of an integer."""
        return self._of(number(n, self.whole))

    def letter(self, letter: str) -> Value:
        """The address of a letter."""
        return self._of(number(ord(letter), I8))

    def real(self, x: float) -> Value:
        """The address of a number."""
        return self._of(literal(x, self.dtype))

    def _of(self, value: Value) -> Value:
        slot = self.e.allocate(value.kind)
        self.e.store(value, slot)
        return slot

    def call(self, name: str, *arguments: Value) -> None:
        """Call a routine by its name without the precision."""
        found = blas(self._precision + name)
        assert found is not None
        self.e.call(self.e.module.declare(found[0], VOID, *[POINTER] * len(arguments)), *arguments)

    @contextlib.contextmanager
    def alone(self, work: int) -> Iterator[None]:
        """Let BLAS do work of middle size by itself: other threads would be waited for longer than they help."""
        e, symbols = self.e, alone_symbols() if work < SHARED else None
        if symbols is None:
            yield
            return
        enter, leave = [e.module.declare(name, VOID) for name in symbols]
        e.call(enter)
        yield
        e.call(leave)
