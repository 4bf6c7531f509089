"""A program's kernel run in memory whose ends are walled: what is read or written outside an array ends the process."""

import ctypes
import mmap

import numpy as np

from adjoint.capture.recording.record import record
from adjoint.capture.recording.recording import is_dynamic
from adjoint.compile.assembly.module import Module
from adjoint.compile.build import STRAIGHT, _strides
from adjoint.compile.code.workspace import ALIGNMENT
from adjoint.compile.kernel import kernel_of
from adjoint.compile.program.classify import is_native
from adjoint.compile.program.expand import expanded
from adjoint.compile.runtime.engine import Code
from adjoint.compile.runtime.threads import parallel_symbol
from adjoint.ir.interpret import Interpreter
from adjoint.ir.passes import simplified
from adjoint.numpy.patching.module_properties import prepare
from adjoint.transforms.calling import run

PAGE = mmap.PAGESIZE
GARBAGE = 0xFF
"""What memory holds before it is written: nan, -1, and no truth value at all."""
_libc = ctypes.CDLL(None, use_errno=True)


class Walled:
    """Bytes between two pages that nobody may touch, at the upper end or at the lower end."""

    def __init__(self, size, at_end=True):
        inner = -(-max(size, 1) // PAGE) * PAGE
        self.map = mmap.mmap(-1, inner + 2 * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        for wall in (start, start + PAGE + inner):
            assert _libc.mprotect(ctypes.c_void_p(wall), ctypes.c_size_t(PAGE), 0) == 0
        self.offset = PAGE + (inner - size if at_end else 0)
        self.address = start + self.offset
        ctypes.memset(self.address, GARBAGE, size)

    def array(self, x):
        """An array here that lies in memory as `x` does."""
        low = sum(min(0, (n - 1) * s) for n, s in zip(x.shape, x.strides, strict=True)) if x.size else 0
        new = np.ndarray(x.shape, x.dtype, self.map, self.offset - low, x.strides)
        new[...] = x
        return new


def extent(x):
    """Bytes from the first to the last element of an array."""
    if x.size == 0:
        return 0
    return x.itemsize + sum(abs((n - 1) * s) for n, s in zip(x.shape, x.strides, strict=True))


def recorded(fun, *args):
    """The program of a function at a point."""
    prepare(fun)
    recording, _ = record(run, fun, list(args), lambda leaves: (tuple(leaves), {}))
    assert all(is_dynamic(x) for x in args)
    return simplified(recording.program)


class Lowered:
    """A program as a kernel that is called with walled memory only."""

    def __init__(self, program, inputs, *, at_end=True):
        self.oracle = Interpreter(program)
        self.at_end = at_end
        self.program = program = expanded(program)
        self.hosted = not is_native(program)
        if self.hosted:
            return
        self.module = module = Module()
        self.kernel = kernel_of(module, program, _strides(program, inputs))
        if "adjoint_parallel" in module.declarations:
            parallel_symbol()
        count = len(program.inputs) + len(self.kernel.captured) + len(program.outputs) + 1
        lines = []
        for k in range(count):
            lines.append(f"  %s{k} = getelementptr ptr, ptr %table, i64 {k}\n  %p{k} = load ptr, ptr %s{k}")
        arguments = ", ".join(f"ptr %p{k}" for k in range(count))
        body = "\n".join(lines) + f"\n  %r = call i32 @{self.kernel.name}({arguments})\n  ret i32 %r\n"
        self.text = module.text() + f"define i32 @walled(ptr %table) {{\nentry:\n{body}}}\n"
        level = 0 if self.text.count("\n") > STRAIGHT else 2 if module.wants_vectors else 1
        self.code = Code(self.text, level, keep=False, carries=module.carries)
        self.call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(self.code.address("walled"))

    def run(self, inputs):
        """The outputs, or the number of the guard that does not hold."""
        given = [np.asarray(x) for x in inputs]
        given = [x if x.shape or x.dtype == t.dtype else x.astype(t.dtype) for x, t in self._typed(given)]
        given += [self.program.constants[n] for n in self.kernel.captured]
        walled = [(w := Walled(extent(x), self.at_end), w.array(x)) for x in given]
        types = [self.program.types[o] for o in self.program.outputs]
        outs = [Walled(t.size * t.dtype.itemsize, self.at_end) for t in types]
        space = Walled(-(-max(self.kernel.space, 1) // ALIGNMENT) * ALIGNMENT)
        places = [v.ctypes.data for _, v in walled] + [w.address for w in outs] + [space.address]
        code = self.call((ctypes.c_void_p * len(places))(*places))
        for x, (_, v) in zip(given, walled, strict=True):
            assert x.tobytes() == v.tobytes(), "an input was written to"
        if code:
            return code
        return [np.ndarray(t.shape, t.dtype, w.map, w.offset).copy() for t, w in zip(types, outs, strict=True)]

    def _typed(self, given):
        return zip(given, [self.program.types[n] for n in self.program.inputs], strict=True)


def is_exact(have, want):
    """Whether two results are the same to the last bit; one nan is as good as another."""
    have, want = np.asarray(have), np.asarray(want)
    if have.shape != want.shape or have.dtype != want.dtype:
        return False
    if have.dtype.kind != "f":
        return have.tobytes() == want.tobytes()
    both = np.isnan(have) & np.isnan(want)
    return bool(np.all(both | ((have == want) & (np.signbit(have) == np.signbit(want)))))


def is_close(have, want, scale=1e-9):
    """Whether two results agree but for rounding."""
    have, want = np.asarray(have), np.asarray(want)
    if have.shape != want.shape or have.dtype != want.dtype:
        return False
    if have.dtype.kind != "f":
        return have.tobytes() == want.tobytes()
    scale = scale if have.dtype.itemsize == 8 else 3e-4
    with np.errstate(all="ignore"):
        size = np.nanmax(np.abs(np.where(np.isfinite(want), want, 0.0)), initial=1.0)
        near = np.abs(have - want) <= scale * size
    return bool(np.all(near | (have == want) | (np.isnan(have) & np.isnan(want))))


def check(fun, *points, exact=True, at_end=True, native=True):
    """Record at the first point, run at all of them; what the kernel gives is what NumPy gives."""
    made = Lowered(recorded(fun, *points[0]), points[0], at_end=at_end)
    assert not (native and made.hosted), made.oracle.hosted
    if made.hosted:
        return made
    same = is_exact if exact else is_close
    for point in points:
        want = made.oracle.run(list(point))
        for _ in range(2):
            have = made.run(list(point))
            if want is None:
                assert have == 1
                continue
            assert not isinstance(have, int), f"the kernel gave up with {have}"
            for k, (h, w) in enumerate(zip(have, want, strict=True)):
                assert same(h, w), f"output {k}:\n{h}\n{w}\n{np.argwhere(~(np.asarray(h) == np.asarray(w)))[:5]}"
    return made
