"""A loop over arrays around the code of one element, and values that are hard for it."""

import ctypes

import numpy as np

from adjoint.compile.assembly.emit import Emitter
from adjoint.compile.assembly.kinds import I1, I8, I64, POINTER, memory_kind
from adjoint.compile.assembly.module import Module
from adjoint.compile.assembly.values import Value, literal
from adjoint.compile.runtime.engine import Code
from adjoint.compile.scalar.kernels import scalar_of
from adjoint.ops import CATALOGUE, special

INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = [np.dtype(np.float32), np.dtype(np.float64)]
BOOL = np.dtype(np.bool)
COUNTER = Value("%i", I64)

LOOP = """define void @loop({parameters}) {attributes} {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{body}
  %next = add nuw nsw i64 %i, 1
  %last = icmp eq i64 %next, %n
  br i1 %last, label %done, label %loop{metadata}
done:
  ret void
}}"""
WIDTH = """!0 = distinct !{{!0, !1, !2}}
!1 = !{{!"llvm.loop.vectorize.width", i32 {width}}}
!2 = !{{!"llvm.loop.vectorize.enable", i1 {wide}}}
"""


class Loop:
    """A compiled loop; calling it with arrays of one length gives the array of results."""

    def __init__(self, emit, operands, result, *, width=None, straight=False, attributes=""):
        module = Module()
        module.straight = straight
        e = Emitter(module)
        args = [_load(e, Value(f"%p{k}", POINTER), dtype) for k, dtype in enumerate(operands)]
        _store(e, emit(e, args), result)
        pointers = [f"ptr noalias %p{k}" for k in range(len(operands))]
        module.functions.append(
            LOOP.format(
                parameters=", ".join([*pointers, "ptr noalias %out", "i64 %n"]),
                attributes=attributes,
                body="\n".join([i.line() for i in e.body]),
                metadata=", !llvm.loop !0" if width else "",
            )
        )
        hint = WIDTH.format(width=width, wide=str(width > 1).lower()) if width else ""
        self.text = module.text() + hint
        self.code = Code(self.text)
        types = [ctypes.c_void_p] * (len(operands) + 1)
        self.function = ctypes.CFUNCTYPE(None, *types, ctypes.c_int64)(self.code.address("loop"))
        self.operands, self.result = operands, result

    def __call__(self, *arrays):
        out = np.empty(arrays[0].size, self.result)
        arrays = [np.ascontiguousarray(a, d) for a, d in zip(arrays, self.operands, strict=True)]
        self.function(*[a.ctypes.data for a in arrays], out.ctypes.data, out.size)
        return out


special.load()
SCALARS = {name: scalar_of(p) for name, p in CATALOGUE.items() if p.facts.kernel}
"""The code of every elementwise primitive that has some."""


def loop_of(name, dtypes, *, literals=None, width=None, straight=False, attributes="", **params):
    """The loop of a primitive for operands of these types; `literals` are written into the code."""
    scalar = SCALARS[name]
    known = literals or {}
    found = scalar.loop(dtypes, [known.get(k) for k in range(len(dtypes))], **params)
    assert found is not None, f"{name} has no loop for {dtypes}"
    free = [k for k in range(len(dtypes)) if k not in known]

    def emit(e, args):
        given = dict(zip(free, args, strict=True))
        texts = [given[k] if k in given else literal(known[k], found.operands[k]) for k in range(len(dtypes))]
        return scalar(e, texts, found.dtype, **params)

    operands = [found.operands[k] for k in free]
    return Loop(emit, operands, found.result, width=width, straight=straight, attributes=attributes)


def _load(e, pointer, dtype):
    kind = memory_kind(dtype)
    value = e.load(kind, e.address(kind, pointer, COUNTER, flags=""))
    return e.convert("trunc", value, I1) if dtype.kind == "b" else value


def _store(e, value, dtype):
    value = e.convert("zext", value, I8) if dtype.kind == "b" else value
    e.store(value, e.address(memory_kind(dtype), Value("%out", POINTER), COUNTER, flags=""))


def special_values(dtype):
    """Zeros, infinities, nan, the ends of the range, and small numbers of both signs."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind != "f":
        info = np.iinfo(dtype)
        near = [info.min, info.min + 1, info.min // 2, info.max // 2, info.max - 1, info.max]
        return np.array([*near, *range(max(info.min, -70), 71)], dtype)
    info = np.finfo(dtype)
    sizes = [0.0, info.smallest_subnormal, info.tiny, info.eps, 0.5, 1.0, 1.0 - info.epsneg, 1.0 + info.eps, 1.5, 2.0]
    sizes += [2.5, 3.0, 7.0, 10.0, 2.0**23 + 1.0, 2.0**31, 2.0**53, 2.0**63, 1e22, info.max, np.inf, np.nan, np.pi]
    values = np.array(sizes).astype(dtype)
    return np.concatenate([values, -values])


def crossed(*columns):
    """Every combination, in a number that is no multiple of a vector's length."""
    grids = [g.ravel() for g in np.meshgrid(*columns, indexing="ij")]
    return [np.concatenate([g, g[: 3 - g.size % 2]]) for g in grids]


def same_bits(found, wanted):
    """Whether two arrays are equal with signs of zeros, any nan being as good as another."""
    assert found.dtype == wanted.dtype
    equal = found == wanted
    if found.dtype.kind == "f":
        equal &= np.signbit(found) == np.signbit(wanted)
        equal |= np.isnan(found) & np.isnan(wanted)
    return equal


def first_difference(found, wanted, *arrays):
    """A sentence about the first element that differs, for an assertion."""
    equal = same_bits(found, wanted)
    if equal.all():
        return ""
    k = int(np.argmin(equal))
    return f"{(~equal).sum()} differ; f({', '.join([str(a[k]) for a in arrays])}) = {found[k]}, wanted {wanted[k]}"
