"""The entry of a compiled function: from Python's arguments to the kernel's pointers, and from its outputs to objects.

An entry has CPython's vectorcall signature. In this order, so that nothing it has looked at can change under its hands:

1. watches, which may run Python code; captured numbers, which are copied;
2. arguments, with code that only reads: types, dtypes, shapes, strides, sizes, keys;
3. new arrays, and references to whatever is returned as it came;
4. the kernel, without the GIL if so wished; arrays are then held, as other threads may drop them;
5. scalars and containers of the result; classes that are called to make objects may run Python code.

Whatever does not fit goes on to the next entry with the arguments as they came, and from the last to the slow way. The
text has no addresses in it: objects are in a table that `Entry` fills, so equal signatures have equal text.

An entry counts the calls that are under way in it, from its first instruction to its last, between which other threads
may run: code that nobody leads to any longer is freed once there are none.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np

from adjoint.compile.assembly.instructions import Allocation, Call, Instruction, Load, Store
from adjoint.compile.assembly.kinds import DOUBLE, I1, I8, I32, I64, POINTER, VOID, Kind, block_of, memory_kind
from adjoint.compile.assembly.module import Module
from adjoint.compile.assembly.values import FALSE, NULL, TRUE, Function, Value, number
from adjoint.compile.assembly.values import Constant as Known
from adjoint.compile.call import objects
from adjoint.compile.call.arguments import (
    ARGUMENTS,
    COUNT,
    FIRST,
    INSIDE,
    NAMES,
    OBJECTS,
    PARTS,
    SELF,
    USED,
    WAY_ON,
    ArgumentWriter,
    numbers,
)
from adjoint.compile.call.callable import NativeCallable, slow_entry
from adjoint.compile.call.signature import (
    Constant,
    Dict,
    Input,
    List,
    Object,
    Output,
    Result,
    Signature,
    Tree,
    Tuple,
    leaves,
)
from adjoint.compile.runtime.engine import Code
from adjoint.compile.runtime.tiers import Tiers


class Entry:
    """The machine code of an entry with the objects it refers to: what a `NativeCallable` can be given.

    `wanted` is what `entry_text` returned for the entry of this name.
    """

    def __init__(self, code: Code | Tiers, name: str, wanted: list[object]) -> None:
        # hidden from the collector, which would free it with a cycle before finalisers in that cycle have called it
        self._code = np.empty((), object)
        self._code[()] = code
        self._objects = wanted
        self._table = code.address(f"{name}.objects")
        self.address = code.address(name)
        self.is_linked = False
        """Whether calls of a jitted function are tried here."""
        for i, item in enumerate(wanted):
            self._word(FIRST + i).value = id(item)
        self.otherwise(None)

    def _word(self, index: int) -> ctypes.c_uint64:
        return ctypes.c_uint64.from_address(self._table + 8 * index)

    def otherwise(self, entry: Entry | None) -> None:
        """Let arguments, guards and watches that do not fit here be tried there; None is the slow way.

        Entries must not follow each other in a circle.
        """
        self._word(WAY_ON).value = slow_entry() if entry is None else entry.address
        self._follower = entry  # last, as the one before it may be freed by that

    @property
    def is_busy(self) -> bool:
        """Whether calls are under way in it."""
        return self._word(INSIDE).value > 0

    def was_used(self) -> bool:
        """Whether it has answered a call since this was last asked."""
        word = self._word(USED)
        used, word.value = word.value, 0
        return bool(used)

    def install(self, function: NativeCallable) -> None:
        """Let calls of this function come here first."""
        function.set_entry(self.address, self)


def entry_text(
    module: Module, name: str, signature: Signature, kernel: str, *, is_variable: bool = False
) -> list[object]:
    """Add the entry of a kernel to a module; the objects that the code refers to, for `Entry`.

    `kernel` is the name of its function, or of the variable that holds its address.

    The kernel is `i32 (ptr inputs..., ptr captured..., ptr outputs...)` and returns 0 if all went well. Anything else
    means that this is not the right program for these values: the outputs are dropped, the next entry is tried.
    """
    slow_entry()  # the helpers must be known to the linker
    return _Writer(module, name, signature, is_apart=is_variable).write(kernel)


OWNED = Value("%owned", POINTER)
"""The table of new references, to be dropped if something fails."""


class _Writer(ArgumentWriter):
    """The body of one entry."""

    __slots__ = ("owned",)

    def write(self, kernel: str) -> list[object]:
        signature = self.signature
        self.owned = 0
        self.count_calls(1)
        if signature.no_errstate:
            self.require(self.ask("adjoint_calm"))
        for watch in signature.watches:
            self.watch(watch)
        variables = self.variables()
        self.count()
        for i, tree in enumerate(signature.arguments):
            self.argument(tree, self.read(POINTER, ARGUMENTS, 8 * i), 0 if i in signature.donated else None)
        captured = [self.captured(array) for array in signature.captured]
        self.outputs([*self.inputs, *variables, *captured], kernel)
        self.finish()
        return self.objects

    def own(self, pointer: Value) -> int:
        """Remember a new reference; its number."""
        self.owned += 1
        self.store(pointer, self.owned_place(self.owned - 1))
        return self.owned - 1

    def owned_place(self, number: int) -> Value:
        return self.address(POINTER, OWNED, number, flags="")

    def own_new(self, pointer: Value) -> int:
        """Remember a new object, or give up if there is none."""
        self.require(self.compare("ne", pointer, NULL), otherwise="failed")
        return self.own(pointer)

    def outputs(self, inputs: list[Value], kernel: str) -> None:
        made: dict[int, Value] = {}
        owned: dict[int, list[int]] = {}  # references to each output, by number
        slots: list[Value] = []
        free = self.own_arrays() if any([output.over for output in self.signature.outputs]) else None
        for i, output in enumerate(self.signature.outputs):
            if output.kind == "array":
                made[i] = (
                    self.new_array(output) if free is None or output.over is None else self.array_over(output, free)
                )
                owned[i] = [self.own_new(made[i])]
                slots.append(self.read(POINTER, made[i], objects.DATA))
            else:
                slots.append(self.room(_element(output)))
        tree = list(leaves(self.signature.result))
        kept = [self.keep(leaf) for leaf in tree if isinstance(leaf, (Input, Constant))]
        self.kernel([*inputs, *slots], kernel)
        for i, output in enumerate(self.signature.outputs):
            if output.kind != "array":
                made[i] = self.new_scalar(output, slots[i])
                owned[i] = [self.own_new(made[i])]
        places = [leaf.index for leaf in tree if isinstance(leaf, Result)]
        for i in made:
            owned[i] += [self.own_again(made[i]) for _ in range(places.count(i) - 1)]
        root = self.build(self.signature.result, owned, iter(kept))
        result = self.read(POINTER, self.owned_place(root), 0)
        if set(made) - set(places):  # outputs that nobody asked for
            self.store(NULL, self.owned_place(root))
            self.ask("adjoint_drop", OWNED, number(self.owned, I64))
        self.store(number(1, I64), self.entry_of(USED))
        self.leave(result)

    def count_calls(self, change: int) -> None:
        """Say that one call more, or less, is under way here."""
        place = self.entry_of(INSIDE)
        self.store(self.op("add", self.load(I64, place), change), place)

    def leave(self, result: Value) -> None:
        """Return; nothing runs between this and the caller."""
        self.count_calls(-1)
        self.give(result)

    def keep(self, leaf: Input | Constant) -> int:
        """A reference to something returned as it came, taken before anything can drop it."""
        return self.own_again(self.leaves[leaf.index] if isinstance(leaf, Input) else self.address_of(leaf.value))

    def own_again(self, pointer: Value) -> int:
        self.ask("Py_IncRef", pointer)
        return self.own(pointer)

    def kernel(self, arguments: list[Value], kernel: str) -> None:
        symbol = self.load(POINTER, self.part(kernel)).name if self.is_apart else f"@{kernel}"
        function = Function(symbol, I32, tuple([a.kind for a in arguments]))
        inline = "" if self.is_optimised else "noinline"
        if self.signature.release_gil:
            for pointer in self.pointers:
                self.ask("Py_IncRef", pointer)
            state = self.ask("PyEval_SaveThread")
            answer = self.call(function, *arguments, site=inline)
            self.ask("PyEval_RestoreThread", state)
            for pointer in self.pointers:
                self.ask("Py_DecRef", pointer)
        else:
            answer = self.call(function, *arguments, site=inline)
        self.require(self.compare("eq", answer, 0), otherwise="dropped")

    def new_array(self, output: Output) -> Value:
        return self.ask("adjoint_new_array", *self.form_of(output))

    def form_of(self, output: Output) -> tuple[Value, ...]:
        """Dtype, number of axes, shape and order of a new array."""
        shape = self.constant(numbers(output.shape)) if output.shape else NULL
        order = objects.F_CONTIGUOUS if output.order == "F" else 0
        return self.address_of(output.dtype), number(len(output.shape), I32), shape, number(order, I32)

    def own_arrays(self) -> tuple[Value, Value]:
        """Whether the caller alone holds what is donated; and for each array one byte, whether that alone holds it.

        Nothing runs between this and the kernel that could make further references.
        """
        alone: Value = TRUE
        for pointer, depth in self.containers:
            inner = self.compare("ule", self.read(I32, pointer, 0), 1) if depth else None
            alone = self.op("and", alone, inner or self.ask("adjoint_alone", pointer))
        arrays, answers = self.room(block_of(len(self.pointers), POINTER)), self.room(block_of(len(self.pointers), I8))
        for k, pointer in enumerate(self.pointers):
            self.store(pointer, self.address(POINTER, arrays, k, flags=""))
        self.ask("adjoint_own", arrays, number(len(self.pointers), I64), answers)
        return alone, answers

    def array_over(self, output: Output, free: tuple[Value, Value]) -> Value:
        """The array of an argument, if nobody else has it; else a new one."""
        alone, answers = free
        k = self.given[id(output.over)]
        own = self.compare("ne", self.read(I8, answers, k), 0)
        return self.ask("adjoint_array_over", self.pointers[k], self.op("and", alone, own), *self.form_of(output))

    def new_scalar(self, output: Output, slot: Value) -> Value:
        value = self.load(_element(output), slot)
        match output.kind:
            case "python float":
                return self.ask("PyFloat_FromDouble", value)
            case "python int":
                return self.ask("PyLong_FromLongLong", value)
            case "python bool":
                return self.ask("PyBool_FromLong", self.convert("zext", value, I64))
        if output.dtype.kind == "b":  # there are two of them only
            truth = self.compare("ne", value, 0)
            yes, no = self.address_of(np.True_), self.address_of(np.False_)
            new = self.select(truth, yes, no)
            self.ask("Py_IncRef", new)
            return new
        kind = self.address_of(output.dtype.type)
        allocator = self.read(POINTER, kind, objects.TYPE_ALLOCATE)
        new = self.call(Function(allocator.name, POINTER, (POINTER, I64)), kind, number(0, I64))
        self.require(self.compare("ne", new, NULL), otherwise="failed")
        place = self.address(I8, new, objects.VALUE, flags="")
        self.store(value, place)
        return new

    def build(self, tree: Tree, owned: dict[int, list[int]], kept: Iterator[int]) -> int:
        """Make the result from owned objects; the number of its root."""
        if isinstance(tree, Result):
            return owned[tree.index].pop()
        if isinstance(tree, (Input, Constant)):
            return next(kept)
        assert isinstance(tree, (Tuple, List, Dict, Object))
        items = [self.build(item, owned, kept) for item in tree.items]
        arguments = [OWNED, self.constant(numbers(tuple(items))), number(len(items), I64)]
        more: list[Value] = []
        match tree:
            case Dict(keys):
                name, more = "dict", [self.places(keys)]
            case List():
                name = "list"
            case Tuple(_, kind) if kind is tuple:
                name = "tuple"
            case Object(kind, names, _, False):
                name, more = "object", [self.places(names), self.address_of(kind)]
            case Object() | Tuple():
                words = self.address_of(tree.names) if isinstance(tree, Object) else NULL
                name, more = "called", [self.address_of(tree.kind), self.room(block_of(len(items) + 1, POINTER)), words]
        return self.own_new(self.ask(f"adjoint_new_{name}", *arguments, *more))

    def finish(self) -> None:
        """The ways out, and the function around it all."""
        name, owned = self.name, self.owned
        for way in ("failed", "dropped"):
            self.start(way)
            self.ask("adjoint_drop", OWNED, number(owned, I64))
            self.leave(NULL) if way == "failed" else self.jump("next")
        self.start("next")
        following = self.load(POINTER, self.entry_of(WAY_ON))
        self.count_calls(-1)
        parameters = (SELF, ARGUMENTS, COUNT, NAMES)
        way_on = Function(following.name, POINTER, tuple([p.kind for p in parameters]))
        self.give(self.call(way_on, *parameters, how="musttail call"))  # it does not come back to code that may be gone
        clear = self.module.declare("llvm.memset.p0.i64", VOID, POINTER, I8, I64, I1)
        cleared = Call("", clear, (OWNED, number(0, I8), number(8 * owned, I64), FALSE))
        start = [Allocation(OWNED.name, POINTER, block_of(owned, POINTER)), *self.allocations, *self.tables(), cleared]
        self.module.functions.append(f"@{name}.objects = global [{FIRST + len(self.objects)} x ptr] zeroinitializer")
        attributes = "" if self.is_optimised else "noinline optnone"
        self.module.entry(name, POINTER, parameters, [*start, *self.body], attributes)

    def tables(self) -> list[Instruction]:
        """The addresses of the tables; by way of memory, so that they are registers and not constants."""
        if self.is_optimised:
            return []
        addresses = ", ".join([f"ptr @{part}" for part in self.parts])
        self.module.functions.append(f"@{self.name}.parts = internal constant [{len(self.parts)} x ptr] [{addresses}]")
        found: list[Instruction] = []
        for table, name in ((OBJECTS, "objects"), (PARTS, "parts")):
            room = Allocation(f"{table.name}.room", POINTER, POINTER)
            address = Known(f"@{self.name}.{name}", POINTER)
            found += [room, Store("", VOID, "store", (address, room)), Load(table.name, POINTER, "load", (room,))]
        return found


def _element(output: Output) -> Kind:
    """The kind of the one element of a scalar output."""
    kinds = {"python float": DOUBLE, "python int": I64, "python bool": I8}
    return kinds.get(output.kind) or memory_kind(output.dtype)
