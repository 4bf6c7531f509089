"""Complex numbers as pairs of floats: a program of complex steps becomes one of real steps, which have machine code.

A complex value is known by its two parts, or packed: as NumPy has it in memory, which is an array of floats with one
more axis, of length 2. Either is made of the other when it is asked for. Arguments, captured arrays and results are
packed; so are operands of Fourier transforms. Where one step has no such form, the program stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...core.entry.moves import Overwrite, Pad, Pieces, View
from ...core.primitive import Primitive
from ...ir.builder import Builder
from ...ir.fold import made_by, read_by
from ...ir.loops import LoopPrimitive
from ...ir.program import GUARD, Program, Step, Type, inner_programs
from ...ops import UFUNCS
from ...ops.indexing import index
from ...ops.selection import where
from ...ops.shape import astype, broadcast_to, stack

Parts = tuple[int, int]
"""The numbers of the real and of the imaginary part."""
Form = Callable[["Pairs", Step], None]
"""Puts real steps in the place of a complex one."""
TRUTHS = (np.greater, np.greater_equal, np.equal, np.isfinite)
"""What gives truth values."""


class NoPairsError(Exception):
    """A step for which there is no form without complex numbers."""


def has_complex(program: Program) -> bool:
    """Whether there are complex numbers in a program, the bodies of its loops included."""
    used = read_by(program.steps, (*program.inputs, *program.outputs)) | made_by(program.steps)
    if any([program.types[n].dtype.kind == "c" for n in used]):
        return True
    return any([has_complex(inner) for s in program.steps for inner in inner_programs(s)])


def as_pairs(x: np.ndarray) -> np.ndarray:
    """The same memory as floats, with one more axis."""
    real = x.real
    return np.lib.stride_tricks.as_strided(real, (*x.shape, 2), (*x.strides, real.itemsize), writeable=False)


class Pairs:
    """A program in the making, and what is known of the complex values of another one."""

    def __init__(self, program: Program, forms: Mapping[Primitive, Form]) -> None:
        self.old, self._forms = program, forms
        self.work = Builder.of(program)
        self.types = self.work.types
        self._parts: dict[int, Parts] = {}
        self._packed: dict[int, int] = {}

    def program(self) -> Program:
        """The new program."""
        for n in (*self.old.inputs, *self.old.constants):
            if self.is_complex(n):
                self._enter(n)
        for step in self.old.steps:
            values = (*step.args, *step.outs)
            if isinstance(step.primitive, LoopPrimitive):
                self._loop(step)
            elif any([self.is_complex(n) for n in values]):
                self._rewrite(step)
            else:
                self.work.append(step)
        return self.work.build([self.packed(o) if self.is_complex(o) else o for o in self.old.outputs])

    # What values are

    def is_complex(self, n: int) -> bool:
        """Whether a value of the old program is."""
        return self.old.types[n].dtype.kind == "c"

    def _enter(self, n: int) -> None:
        """An argument, or a constant: arrays are read where they are."""
        t, value = self.old.types[n], self.old.constants.get(n)
        if t.dtype.char not in "FD" or not t.dtype.isnative or (value is None and t.weak):
            raise NoPairsError
        if isinstance(value, np.ndarray):
            self.work.set_constant(n, as_pairs(value))
        elif value is not None:
            floats = real_of(t.dtype).type
            self._parts[n] = self.number(floats(value.real)), self.number(floats(value.imag))
            self.work.drop_constant(n)
            return
        self.work.retype(n, Type(real_of(t.dtype), (*t.shape, 2), False))
        self._packed[n] = n

    def number(self, value: Any) -> int:
        """A constant."""
        return self.work.constant(value, Type(value.dtype, (), False))

    def parts(self, n: int, dtype: np.dtype | None = None) -> Parts:
        """Both parts of a value, perhaps in another precision; the imaginary part of a real one is 0."""
        if not self.is_complex(n):
            dtype = dtype or self.types[n].dtype
            return self.cast(n, dtype), self.number(dtype.type(0))
        if n not in self._parts:
            packed = self._packed[n]
            t = self.types[packed]
            of = t._replace(shape=t.shape[:-1])
            self._parts[n] = (
                self.add(index, (packed,), of, template=(Ellipsis, 0)),
                self.add(index, (packed,), of, template=(Ellipsis, 1)),
            )
        re, im = self._parts[n]
        return (re, im) if dtype is None else (self.cast(re, dtype), self.cast(im, dtype))

    def packed(self, n: int, dtype: np.dtype | None = None) -> int:
        """A value as NumPy has it in memory."""
        if n in self._packed:
            return self._packed[n] if dtype is None else self.cast(self._packed[n], dtype)
        shape = self.old.types[n].shape
        re, im = [self.shaped(part, shape) for part in self.parts(n, dtype)]
        found = self.add(stack, (re, im), Type(self.types[re].dtype, (*shape, 2), False), axis=-1)
        if self.is_complex(n) and dtype is None:
            self._packed[n] = found
        return found

    def define(self, n: int, re: int, im: int) -> None:
        """Say what the parts of a result are."""
        shape = self.old.types[n].shape
        self._parts[n] = self.shaped(re, shape), self.shaped(im, shape)

    def define_packed(self, n: int, found: int) -> None:
        """Say what a result is, packed if it is complex."""
        if self.is_complex(n):
            self._packed[n] = found
        else:
            self.add(astype, (found,), self.types[n], n, dtype=self.types[n].dtype)

    def as_operand(self, n: int, dtype: np.dtype) -> int:
        """A value as NumPy would convert it: packed if that is complex."""
        return self.packed(n, real_of(dtype)) if dtype.kind == "c" else self.cast(n, dtype)

    # Steps

    def add(self, primitive: Any, args: tuple[int, ...], t: Type, out: int | None = None, **params: object) -> int:
        """Add a step; the number of its result."""
        out = self.work.new(t) if out is None else out
        self.work.append(Step(primitive, args, params, (out,)))
        return out

    def op(self, ufunc: np.ufunc, *args: int) -> int:
        """A universal function of floats of one precision."""
        shape = np.broadcast_shapes(*[self.types[a].shape for a in args])
        dtype = self.types[args[0]].dtype
        if ufunc in TRUTHS:
            dtype = np.dtype(bool)
        return self.add(UFUNCS[ufunc], args, Type(dtype, shape, False))

    def chosen(self, condition: int, x: int, y: int) -> int:
        """`where`."""
        shape = np.broadcast_shapes(*[self.types[a].shape for a in (condition, x, y)])
        return self.add(where, (condition, x, y), self.types[x]._replace(shape=shape))

    def cast(self, n: int, dtype: np.dtype) -> int:
        """A value in another precision."""
        t = self.types[n]
        if t.dtype == dtype and not t.weak:
            return n
        return self.add(astype, (n,), Type(dtype, t.shape, False), dtype=dtype)

    def shaped(self, n: int, shape: tuple[int, ...]) -> int:
        """A value broadcast to a shape."""
        t = self.types[n]
        return n if t.shape == shape else self.add(broadcast_to, (n,), t._replace(shape=shape), shape=shape)

    def _rewrite(self, step: Step) -> None:
        """Put real steps in the place of a complex one."""
        primitive, facts = step.primitive, step.primitive.facts
        types = [self.old.types[n] for n in (*step.args, *step.outs)]
        is_python = any([self.is_complex(o) and self.old.types[o].weak for o in step.outs])
        if primitive is GUARD or is_python or any([t.dtype.char in "gG" for t in types]):
            raise NoPairsError
        form = self._forms.get(primitive)
        if form is not None:
            form(self, step)
        elif isinstance(facts.moves, (View, Pad, Pieces, Overwrite)):
            self.by_parts(step)
        else:
            raise NoPairsError

    def by_parts(self, step: Step) -> None:
        """The same with either part: elements change places, or are added up."""
        (out,) = step.outs
        if not self.is_complex(out):
            raise NoPairsError
        t = self.old.types[out]
        dtype = real_of(t.dtype)
        first = step.primitive.facts.addressed.first if step.primitive.facts.addressed else len(step.args)
        taken = [self.parts(a, dtype) for a in step.args[:first]]
        if any([self.old.types[a].dtype.kind == "c" for a in step.args[first:]]):
            raise NoPairsError
        found = []
        for which in (0, 1):
            args = [p[which] for p in taken]
            given = [self.shaped(p, self.old.types[a].shape) for p, a in zip(args, step.args[:first], strict=True)]
            new = Type(dtype, t.shape, False)
            found.append(self.add(step.primitive, (*given, *step.args[first:]), new, **step.params))
        self._parts[out] = found[0], found[1]

    def _loop(self, step: Step) -> None:
        """A loop over pairs: operands, carries and results are packed."""
        params = dict(step.params)
        for name, value in params.items():
            if isinstance(value, Program):
                params[name] = self._body(value)
            elif isinstance(value, tuple) and value and isinstance(value[0], Program):
                params[name] = tuple([self._body(p) for p in value])
        args = tuple([self.packed(a) if self.is_complex(a) else a for a in step.args])
        for o in step.outs:
            if self.is_complex(o):
                t = self.old.types[o]
                self.work.retype(o, Type(real_of(t.dtype), (*t.shape, 2), False))
                self._packed[o] = o
        self.work.append(step._replace(args=args, params=params))

    def _body(self, program: Program) -> Program:
        """The body of a loop without complex numbers."""
        if not has_complex(program):
            return program
        return Pairs(program, self._forms).program()


def real_of(dtype: np.dtype) -> np.dtype:
    """The type of the parts of complex numbers."""
    return np.dtype(np.float32 if dtype.itemsize == 8 else np.float64) if dtype.kind == "c" else dtype
