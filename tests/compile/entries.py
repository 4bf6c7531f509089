"""Functions with toy kernels: an echo that copies its arguments, and a Python account of what an entry accepts."""

import dataclasses
import itertools
import struct

import numpy as np

from adjoint.compile.assembly.kinds import memory_kind
from adjoint.compile.assembly.module import Module
from adjoint.compile.call.callable import NativeCallable
from adjoint.compile.call.entry import Entry, entry_text
from adjoint.compile.call.signature import (
    Array,
    Dict,
    Input,
    List,
    NumpyScalar,
    Object,
    Output,
    PythonBool,
    PythonFloat,
    PythonInt,
    Result,
    Signature,
    Static,
    Tuple,
    array_of,
    leaves,
)
from adjoint.compile.runtime.engine import Code

FLOAT64 = np.dtype(np.float64)
FLOAT = Output(FLOAT64, kind="python float")
SQUARE = """
define internal i32 @kernel(ptr %x, ptr %o) alwaysinline {
  %a = load double, ptr %x
  %b = fmul double %a, %a
  store double %b, ptr %o
  ret i32 0
}"""
ANSWER = "define internal i32 @kernel({}) {{\n{}\n  ret i32 {}\n}}"


class Slow:
    """What the slow way returns: proof that it was called, and with what."""

    def __init__(self, args, keywords):
        self.args, self.keywords = args, keywords


def slow(*args, **keywords):
    return Slow(args, keywords)


def entry(signature, kernel):
    """The entry of a kernel given as text; its name must be `kernel`."""
    module = Module()
    wanted = entry_text(module, "go", signature, "kernel")
    module.functions.append(kernel)
    return Entry(Code(module.text(), level=1), "go", wanted)


def function(signature, kernel, slow=slow):
    """A callable with one entry."""
    made = NativeCallable(slow)
    entry(signature, kernel).install(made)
    return made


def square():
    """x -> x * x for a Python float."""
    return function(Signature((PythonFloat(),), (FLOAT,), Result(0)), SQUARE)


def nothing(signature, body="", answer=0):
    """A kernel that leaves its outputs alone."""
    inputs = [leaf for tree in signature.arguments for leaf in leaves(tree) if not isinstance(leaf, Static)]
    count = len(inputs) + len(signature.captured) + len(signature.outputs)
    return ANSWER.format(", ".join([f"ptr %p{i}" for i in range(count)]), body, answer)


def echo_signature(arguments, **options):
    """Returns a tuple of copies of its arguments, then of captured arrays; static ones come back as they are."""
    outputs, count = [], itertools.count()

    def mirror(tree):
        match tree:
            case Dict(keys, items):
                return Dict(keys, tuple([mirror(item) for item in items]))
            case Tuple(items, kind):
                return Tuple(tuple([mirror(item) for item in items]), kind)
            case List(items):
                return List(tuple([mirror(item) for item in items]))
            case Object(kind, names, items, is_called):
                return Object(kind, names, tuple([mirror(item) for item in items]), is_called)
        number = next(count)
        if isinstance(tree, Static):
            return Input(number)
        outputs.append(output_of(tree))
        return Result(len(outputs) - 1)

    copies = [mirror(tree) for tree in arguments]
    for array in options.get("captured", ()):
        outputs.append(output_of(array_of(array)))
        copies.append(Result(len(outputs) - 1))
    return Signature(tuple(arguments), tuple(outputs), Tuple(tuple(copies)), **options)


def output_of(leaf):
    """The output that takes a copy of an input."""
    match leaf:
        case PythonFloat():
            return Output(FLOAT64, kind="python float")
        case PythonInt():
            return Output(np.dtype(np.int64), kind="python int")
        case PythonBool():
            return Output(np.dtype(bool), kind="python bool")
        case NumpyScalar(dtype):
            return Output(dtype, kind="numpy scalar")
        case Array(dtype, shape):
            return Output(dtype, shape)
    raise TypeError(leaf)


def echo_kernel(signature):
    """Copies every input to its output, element by element."""
    inputs = [leaf for tree in signature.arguments for leaf in leaves(tree) if not isinstance(leaf, Static)]
    inputs += [array_of(array) for array in signature.captured]
    parameters = ", ".join([f"ptr %i{k}" for k in range(len(inputs))] + [f"ptr %o{k}" for k in range(len(inputs))])
    lines, serial = [], itertools.count()
    for k, leaf in enumerate(inputs):
        output = output_of(leaf)
        element = {"python float": "double", "python int": "i64"}.get(output.kind) or memory_kind(output.dtype).name
        for position, offset in enumerate(offsets(leaf)):
            n = next(serial)
            lines += [
                f"  %a{n} = getelementptr i8, ptr %i{k}, i64 {offset}",
                f"  %b{n} = load {element}, ptr %a{n}",
                f"  %c{n} = getelementptr {element}, ptr %o{k}, i64 {position}",
                f"  store {element} %b{n}, ptr %c{n}",
            ]
    return ANSWER.format(parameters, "\n".join(lines), 0)


def offsets(leaf):
    """Where the elements of an input are, in C order."""
    if not isinstance(leaf, Array):
        return [0]
    strides = leaf.strides
    if isinstance(strides, str):
        strides = np.empty(leaf.shape, leaf.dtype, order=strides).strides
    return [sum([i * s for i, s in zip(at, strides, strict=True)]) for at in np.ndindex(leaf.shape)]


def echo(arguments, slow=slow, **options):
    """A callable that copies."""
    signature = echo_signature(arguments, **options)
    return function(signature, echo_kernel(signature), slow)


def fits(tree, value):
    """Whether an entry has to accept this argument."""
    match tree:
        case PythonFloat():
            return type(value) is float
        case PythonInt():
            return type(value) is int and -(2**63) <= value < 2**63
        case PythonBool():
            return type(value) is bool
        case NumpyScalar(dtype):
            return type(value) is dtype.type
        case Static(wanted):
            return is_static(value, wanted)
        case Object(kind, names, items):
            if type(value) is not kind or not all([hasattr(value, name) for name in names]):
                return False
            return all([fits(t, getattr(value, name)) for t, name in zip(items, names, strict=True)])
        case Tuple(items) | List(items):
            kind = tree.kind if isinstance(tree, Tuple) else list
            if type(value) is not kind or len(value) != len(items):
                return False
            return all([fits(t, v) for t, v in zip(items, value, strict=True)])
        case Dict(keys, items, any_order):
            if type(value) is not dict or len(value) != len(keys):
                return False
            in_order = all([is_static(k, wanted) for k, wanted in zip(value, keys, strict=True)])
            simple = any_order and all([type(k) in (str, int) for k in [*keys, *value]])
            if not in_order and not simple:
                return False
            return all([k in value and fits(t, value[k]) for k, t in zip(keys, items, strict=True)])
    return fits_array(tree, value)


def is_static(value, wanted):
    simple = type(value) is type(wanted) and type(value) in (int, str, float)
    return value is wanted or (simple and _bits(value) == _bits(wanted))


def fits_array(leaf, value):
    if type(value) is not np.ndarray or value.dtype.num != leaf.dtype.num:
        return False
    if value.dtype.byteorder not in "=|":  # native, but spelled out, is not worth a comparison
        return False
    if value.shape != leaf.shape or not value.flags.aligned or (leaf.writeable and not value.flags.writeable):
        return False
    if leaf.strides == "C" or not value.size:
        return value.flags.c_contiguous
    if leaf.strides == "F":
        return value.flags.f_contiguous
    pairs = zip(value.strides, leaf.strides, value.shape, strict=True)
    return all([a == b or length == 1 for a, b, length in pairs])


def _bits(value):
    return struct.pack("d", value) if type(value) is float else value


def same(result, value):
    """Whether a copy has the type, the dtype and the values of what was copied."""
    if type(result) is not type(value):
        return False
    if isinstance(value, (tuple, list)):
        return len(result) == len(value) and all([same(r, v) for r, v in zip(result, value, strict=True)])
    if isinstance(value, dict):
        return set(result) == set(value) and all([same(result[k], value[k]) for k in value])
    if isinstance(value, (np.ndarray, np.generic)):
        return result.dtype == value.dtype and result.shape == value.shape and result.tobytes() == value.tobytes()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return all([same(getattr(result, f.name), getattr(value, f.name)) for f in dataclasses.fields(value)])
    return result is value or _bits(result) == _bits(value)
