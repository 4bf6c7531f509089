"""The entry of a compiled function: from Python's arguments to the kernel's pointers, and from its outputs to objects.

An entry has CPython's vectorcall signature. In this order, so that nothing it has looked at can change under its hands:

1. watches, which may run Python code; captured numbers, which are copied;
2. arguments, with code that only reads: types, dtypes, shapes, strides, sizes, keys;
3. new arrays, and references to whatever is returned as it came;
4. the kernel, without the GIL if so wished; arrays are then held, as other threads may drop them;
5. scalars and containers of the result.

Whatever does not fit goes on to the next entry with the arguments as they came, and from the last to the slow way. The
text has no addresses in it: objects are in a table that `Entry` fills, so equal signatures have equal text.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.compile.call import objects
from adjoint.compile.call.arguments import ArgumentWriter, numbers
from adjoint.compile.call.callable import NativeCallable, slow_entry
from adjoint.compile.call.signature import Constant, Dict, Input, List, Output, Result, Signature, Tuple, leaves
from adjoint.compile.emit import Module, memory_type
from adjoint.compile.engine import Code


class Entry:
    """The machine code of an entry with the objects it refers to: what a `NativeCallable` can be given.

    `wanted` is what `entry_text` returned for the entry of this name.
    """

    def __init__(self, code: Code, name: str, wanted: list[Any]) -> None:
        # hidden from the collector, which would free it with a cycle before finalisers in that cycle have called it
        self._code = np.empty((), object)
        self._code[()] = code
        self._objects = wanted
        self._followers: list[Entry] = []
        self._table = code.address(f"{name}.objects")
        self.address = code.address(name)
        for i, item in enumerate(wanted):
            ctypes.c_void_p.from_address(self._table + 8 * (i + 1)).value = id(item)
        self.otherwise(None)

    def otherwise(self, entry: Entry | None) -> None:
        """Let arguments, guards and watches that do not fit here be tried there; None is the slow way.

        Entries must not follow each other in a circle.
        """
        if entry is not None:
            self._followers.append(entry)
        address = slow_entry() if entry is None else entry.address
        ctypes.c_void_p.from_address(self._table).value = address

    def install(self, function: NativeCallable) -> None:
        """Let calls of this function come here first."""
        function.set_entry(self.address, self)


def entry_text(module: Module, name: str, signature: Signature, kernel: str) -> list[Any]:
    """Add the entry of a kernel to a module; the objects that the code refers to, for `Entry`.

    The kernel is `i32 (ptr inputs..., ptr captured..., ptr outputs...)` and returns 0 if all went well. Anything else
    means that this is not the right program for these values: the outputs are dropped, the next entry is tried.
    """
    slow_entry()  # the helpers must be known to the linker
    return _Writer(module, name, signature).write(kernel)


class _Writer(ArgumentWriter):
    """The body of one entry."""

    __slots__ = ("owned",)

    def write(self, kernel: str) -> list[Any]:
        signature = self.signature
        self.owned = 0
        if signature.calm:
            self.require(self.call("adjoint_calm"))
        for watch in signature.watches:
            self.watch(watch)
        variables = self.variables()
        self.count()
        for i, tree in enumerate(signature.arguments):
            self.argument(tree, self.load("ptr", "%args", 8 * i))
        captured = [self.captured(array) for array in signature.captured]
        self.outputs([*self.inputs, *variables, *captured], kernel)
        self.finish()
        return self.objects

    def own(self, pointer: str) -> int:
        """Remember a new reference; its number."""
        self.owned += 1
        self.do(f"store ptr {pointer}, ptr {self.owned_place(self.owned - 1)}")
        return self.owned - 1

    def owned_place(self, number: int) -> str:
        return self.op(f"getelementptr ptr, ptr %owned, i64 {number}")

    def own_new(self, pointer: str) -> int:
        """Remember a new object, or give up if there is none."""
        self.require(self.op(f"icmp ne ptr {pointer}, null"), otherwise="failed")
        return self.own(pointer)

    def outputs(self, inputs: list[str], kernel: str) -> None:
        made: dict[int, str] = {}
        owned: dict[int, list[int]] = {}  # references to each output, by number
        slots = []
        for i, output in enumerate(self.signature.outputs):
            if output.kind == "array":
                made[i] = self.new_array(output)
                owned[i] = [self.own_new(made[i])]
                slots.append(self.load("ptr", made[i], objects.DATA))
            else:
                slots.append(self.allocate(_element(output)))
        tree = list(leaves(self.signature.result))
        kept = [self.keep(leaf) for leaf in tree if not isinstance(leaf, Result)]
        self.kernel([*inputs, *slots], kernel)
        for i, output in enumerate(self.signature.outputs):
            if output.kind != "array":
                made[i] = self.new_scalar(output, slots[i])
                owned[i] = [self.own_new(made[i])]
        places = [leaf.index for leaf in tree if isinstance(leaf, Result)]
        for i in made:
            owned[i] += [self.own_again(made[i]) for _ in range(places.count(i) - 1)]
        root = self.build(self.signature.result, owned, iter(kept))
        result = self.load("ptr", self.owned_place(root), 0)
        if set(made) - set(places):  # outputs that nobody asked for
            self.do(f"store ptr null, ptr {self.owned_place(root)}")
            self.call("adjoint_drop", "ptr %owned", f"i64 {self.owned}")
        self.do(f"ret ptr {result}")

    def keep(self, leaf: Input | Constant) -> int:
        """A reference to something returned as it came, taken before anything can drop it."""
        return self.own_again(self.leaves[leaf.index] if isinstance(leaf, Input) else self.object(leaf.value))

    def own_again(self, pointer: str) -> int:
        self.call("Py_IncRef", f"ptr {pointer}")
        return self.own(pointer)

    def kernel(self, arguments: list[str], kernel: str) -> None:
        inline = "" if self.optimised() else " noinline"
        call = f"call i32 @{kernel}({', '.join([f'ptr {a}' for a in arguments])}){inline}"
        if self.signature.release_gil:
            for pointer in self.pointers:
                self.call("Py_IncRef", f"ptr {pointer}")
            state = self.call("PyEval_SaveThread")
            answer = self.op(call)
            self.call("PyEval_RestoreThread", f"ptr {state}")
            for pointer in self.pointers:
                self.call("Py_DecRef", f"ptr {pointer}")
        else:
            answer = self.op(call)
        self.require(self.op(f"icmp eq i32 {answer}, 0"), otherwise="dropped")

    def new_array(self, output: Output) -> str:
        shape = f"ptr {self.constant(numbers(output.shape))}" if output.shape else "ptr null"
        order = objects.F_CONTIGUOUS if output.order == "F" else 0
        dtype = f"ptr {self.object(output.dtype)}"
        return self.call("adjoint_new_array", dtype, f"i32 {len(output.shape)}", shape, f"i32 {order}")

    def new_scalar(self, output: Output, slot: str) -> str:
        value = self.op(f"load {_element(output)}, ptr {slot}")
        match output.kind:
            case "python float":
                return self.call("PyFloat_FromDouble", f"double {value}")
            case "python int":
                return self.call("PyLong_FromLongLong", f"i64 {value}")
            case "python bool":
                return self.call("PyBool_FromLong", f"i64 {self.op(f'zext i8 {value} to i64')}")
        if output.dtype.kind == "b":  # there are two of them only
            truth = self.op(f"icmp ne i8 {value}, 0")
            yes, no = self.object(np.True_), self.object(np.False_)
            new = self.op(f"select i1 {truth}, ptr {yes}, ptr {no}")
            self.call("Py_IncRef", f"ptr {new}")
            return new
        kind = self.object(output.dtype.type)
        allocator = self.load("ptr", kind, objects.TYPE_ALLOCATE)
        new = self.op(f"call ptr {allocator}(ptr {kind}, i64 0)")
        self.require(self.op(f"icmp ne ptr {new}, null"), otherwise="failed")
        place = self.op(f"getelementptr i8, ptr {new}, i64 {objects.VALUE}")
        self.do(f"store {_element(output)} {value}, ptr {place}")
        return new

    def build(self, tree: Any, owned: dict[int, list[int]], kept: Iterator[int]) -> int:
        """Make the result from owned objects; the number of its root."""
        if isinstance(tree, Result):
            return owned[tree.index].pop()
        if isinstance(tree, (Input, Constant)):
            return next(kept)
        items = [self.build(item, owned, kept) for item in tree.items]
        arguments = ["ptr %owned", f"ptr {self.constant(numbers(tuple(items)))}", f"i64 {len(items)}"]
        if isinstance(tree, Dict):
            arguments.append(f"ptr {self.places(tree.keys)}")
        kind = {Tuple: "tuple", List: "list", Dict: "dict"}[type(tree)]
        return self.own_new(self.call(f"adjoint_new_{kind}", *arguments))

    def optimised(self) -> bool:
        """Whether LLVM's passes are worth their time: only to keep scalars in registers on their way to the kernel."""
        return not self.pointers and not any([output.kind == "array" for output in self.signature.outputs])

    def finish(self) -> None:
        """The ways out, and the function around it all."""
        name, owned = self.name, self.owned
        for way in ("failed", "dropped"):
            self.start(way)
            self.call("adjoint_drop", "ptr %owned", f"i64 {owned}")
            self.do("ret ptr null") if way == "failed" else self.jump("next")
        self.start("next")
        following = self.op(f"load ptr, ptr @{name}.objects")
        arguments = "ptr %self, ptr %args, i64 %nargsf, ptr %kwnames"
        self.do(f"ret ptr {self.op(f'tail call ptr {following}({arguments})')}")
        start = ["entry:", f"  %owned = alloca [{owned} x ptr]", *self.allocations]
        clear = self.module.declare("llvm.memset.p0.i64", "void {}(ptr, i8, i64, i1)")
        start.append(f"  call void {clear}(ptr %owned, i8 0, i64 {8 * owned}, i1 false)")
        head = f"@{name}.objects = global [{len(self.objects) + 1} x ptr] zeroinitializer"
        body = "\n".join([*start, *self.lines])
        attributes = "" if self.optimised() else " noinline optnone"
        self.module.functions.append(f"{head}\ndefine ptr @{name}({arguments}){attributes} {{\n{body}\n}}")


def _element(output: Output) -> str:
    """The type of the one element of a scalar output."""
    kinds = {"python float": "double", "python int": "i64", "python bool": "i8"}
    return kinds.get(output.kind) or memory_type(output.dtype)
