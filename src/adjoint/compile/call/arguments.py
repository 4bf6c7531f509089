"""Writing the first half of an entry: watches and arguments, checked and brought into the kernel's form."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from adjoint.compile.call import objects
from adjoint.compile.call.signature import (
    Array,
    ArrayIs,
    AttributeIs,
    CellIs,
    ClassIs,
    Dict,
    DictHas,
    DictIs,
    DictLacks,
    FieldIs,
    Holds,
    List,
    ListIs,
    NumpyScalar,
    OwnDictIs,
    PythonBool,
    PythonFloat,
    PythonInt,
    Signature,
    Static,
    Tuple,
    TypeIs,
    array_of,
)
from adjoint.compile.emit import Emitter, Module, memory_type
from adjoint.compile.engine import python_symbol
from adjoint.ir.holding import ANY
from adjoint.ir.reach import VERSION

ARRAYS_INLINE = 8
"""So many arrays of an entry are checked without a call: it saves 10 ns each, and takes LLVM 0.5 ms each."""


class ArgumentWriter(Emitter):
    """The body of an entry, as far as the checks."""

    __slots__ = ("allocations", "inputs", "leaves", "name", "objects", "pointers", "signature", "slots")

    def __init__(self, module: Module, name: str, signature: Signature) -> None:
        super().__init__(module)
        self.name, self.signature = name, signature
        self.objects: list[Any] = []
        self.slots: dict[int, int] = {}
        self.allocations: list[str] = []
        self.leaves: list[str] = []  # every leaf of the arguments, as an object
        self.inputs: list[str] = []  # what the kernel gets
        self.pointers: list[str] = []  # arrays to hold while other threads run

    def load(self, type: str, pointer: str, offset: int) -> str:
        """A field of an object."""
        place = self.op(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer
        return self.op(f"load {type}, ptr {place}")

    def allocate(self, type: str) -> str:
        """Room on the stack."""
        self.serial += 1
        self.allocations.append(f"  %s{self.serial} = alloca {type}")
        return f"%s{self.serial}"

    def call(self, name: str, *arguments: str) -> str:
        """Call a helper or a function of Python; arguments with their types."""
        if name in objects.PYTHON:
            python_symbol(name)
        line = objects.PYTHON.get(name) or objects.HELPERS[name]
        text = f"call {line.split()[0]} {self.module.declare(name, line)}({', '.join(arguments)})"
        if text.startswith("call void"):
            self.do(text)
            return ""
        return self.op(text)

    def place(self, value: Any) -> str:
        """Where in the table an object is found."""
        if id(value) not in self.slots:
            self.slots[id(value)] = len(self.objects)
            self.objects.append(value)
        return self.entry_of(self.slots[id(value)])

    def places(self, values: tuple[Any, ...]) -> str:
        """Where in the table objects are found, one after the other."""
        self.objects.extend(values)
        return self.entry_of(len(self.objects) - len(values))

    def entry_of(self, index: int) -> str:
        """The address of an entry of the table; the first is the way out."""
        return f"getelementptr (ptr, ptr @{self.name}.objects, i64 {index + 1})"

    def object(self, value: Any) -> str:
        """An object's address."""
        return self.op(f"load ptr, ptr {self.place(value)}")

    def constant(self, text: str) -> str:
        """Constant data."""
        name = self.module.fresh(f"{self.name}.data")
        self.module.functions.append(f"@{name} = private unnamed_addr constant {text}")
        return f"@{name}"

    # checks: each goes on if its condition holds

    def require(self, condition: str, otherwise: str = "next") -> None:
        """Go on only if this holds."""
        expect = self.module.declare("llvm.expect.i1", "i1 {}(i1, i1)")
        likely = self.op(f"call i1 {expect}(i1 {condition}, i1 true)")
        good = self.label("ok")
        self.branch(likely, good, otherwise)
        self.start(good)

    def require_same(self, pointer: str, value: Any) -> None:
        """Go on only if this is that object."""
        self.require(self.op(f"icmp eq ptr {pointer}, {self.object(value)}"))

    def require_type(self, pointer: str, kind: type) -> None:
        """Go on only if the type is exactly this."""
        self.require_same(self.load("ptr", pointer, 8), kind)

    def watch(self, watch: Any) -> None:
        """Check a condition on captured variables."""
        match watch:
            case CellIs(cell, value):
                self.require_same(self.load("ptr", self.object(cell), objects.VALUE), value)
            case DictIs(mapping, key, value):
                places = [f"ptr {self.object(x)}" for x in (mapping, key, value)]
                self.require(self.call("adjoint_item_is", *places))
            case DictLacks(mapping, key):
                self.require(self.call("adjoint_item_lacks", *[f"ptr {self.object(x)}" for x in (mapping, key)]))
            case ClassIs(kind, version, check):
                found = self.load("i32", self.object(kind), VERSION)
                same, other = self.label("same"), self.label("other")
                self.branch(self.op(f"icmp eq i32 {found}, {version}"), same, other)
                self.start(other)
                self.watch(Holds(check))
                self.jump(same)
                self.start(same)
            case TypeIs(owner, kind):
                self.require_type(self.object(owner), kind)
            case FieldIs(owner, offset, value):
                self.field(self.load("ptr", self.object(owner), offset), value)
            case OwnDictIs(owner, value):
                self.require(self.call("adjoint_dict_is", *[f"ptr {self.object(x)}" for x in (owner, value)]))
            case DictHas(mapping, keys, values):
                block = self.allocate(f"[{len(keys)} x ptr]")
                given = f"ptr {self.object(mapping)}", f"ptr {self.places(keys)}", f"i64 {len(keys)}", "i1 false"
                self.require(self.call("adjoint_values", *given, f"ptr {block}"))
                for i, value in enumerate(values):
                    if value is not ANY:
                        self.require_same(self.load("ptr", block, 8 * i), value)
            case Holds(check):
                self.require(self.call("adjoint_holds", f"ptr {self.object(check)}", f"ptr {self.object(True)}"))
            case AttributeIs(owner, attribute, value):
                places = [f"ptr {self.object(x)}" for x in (owner, attribute, value)]
                self.require(self.call("adjoint_attribute_is", *places))
            case ListIs(container, items):
                there = self.object(container)
                self.require(self.op(f"icmp eq i64 {self.load('i64', there, objects.VALUE)}, {len(items)}"))
                if items:
                    first = self.load("ptr", there, objects.LIST_ITEMS)
                    for i, item in enumerate(items):
                        if item is not ANY:
                            self.require_same(self.load("ptr", first, 8 * i), item)
            case ArrayIs(array):
                self.array(array_of(array), self.object(array))
            case _:
                raise TypeError(f"not a watch: {watch!r}")

    def field(self, pointer: str, value: Any) -> None:
        """Go on only if a field of an object has this in it; a field that has nothing in it stands for None."""
        same = self.op(f"icmp eq ptr {pointer}, {self.object(value)}")
        if value is None:
            same = self.op(f"or i1 {same}, {self.op(f'icmp eq ptr {pointer}, null')}")
        self.require(same)

    def variables(self) -> list[str]:
        """Read captured numbers into memory of the entry's own, as inputs of the kernel."""
        for variable in self.signature.variables:
            owner, key = self.object(variable.owner), variable.key
            if isinstance(variable.owner, types.CellType):
                pointer = self.load("ptr", owner, objects.VALUE)
            elif isinstance(variable.owner, list):
                size = self.load("i64", owner, objects.VALUE)
                self.require(self.op(f"icmp ugt i64 {size}, {key}"))
                pointer = self.load("ptr", self.load("ptr", owner, objects.LIST_ITEMS), 8 * key)
            else:
                pointer = self.call("adjoint_item", f"ptr {owner}", f"ptr {self.object(key)}")
            self.require(self.op(f"icmp ne ptr {pointer}, null"))
            self.argument(variable.leaf, pointer)
        found, self.inputs, self.leaves = self.inputs, [], []
        return found

    def count(self) -> None:
        """Check the number of arguments, and their names if they have some."""
        keywords = self.signature.keywords
        number = self.op(f"and i64 %nargsf, {2**63 - 1}")
        self.require(self.op(f"icmp eq i64 {number}, {len(self.signature.arguments) - len(keywords)}"))
        if not keywords:
            self.require(self.op("icmp eq ptr %kwnames, null"))
            return
        self.require(self.op("icmp ne ptr %kwnames, null"))
        self.require(self.op(f"icmp eq i64 {self.load('i64', '%kwnames', objects.VALUE)}, {len(keywords)}"))
        for i, keyword in enumerate(keywords):
            name = self.load("ptr", "%kwnames", objects.TUPLE_ITEMS + 8 * i)
            same = self.call("adjoint_same", f"ptr {name}", f"ptr {self.object(keyword)}")
            self.require(same)

    def argument(self, tree: Any, pointer: str) -> None:
        """Check an argument and all it contains."""
        match tree:
            case Tuple(items):
                self.require_type(pointer, tuple)
                self.require(self.op(f"icmp eq i64 {self.load('i64', pointer, objects.VALUE)}, {len(items)}"))
                for i, item in enumerate(items):
                    self.argument(item, self.load("ptr", pointer, objects.TUPLE_ITEMS + 8 * i))
            case List(items):
                self.require_type(pointer, list)
                self.require(self.op(f"icmp eq i64 {self.load('i64', pointer, objects.VALUE)}, {len(items)}"))
                block = self.load("ptr", pointer, objects.LIST_ITEMS)
                for i, item in enumerate(items):
                    self.argument(item, self.load("ptr", block, 8 * i))
            case Dict(keys, items, any_order):
                # other keys might run Python code when they are compared
                simple = any_order and all([type(key) in (str, int) for key in keys])
                block = self.allocate(f"[{len(keys)} x ptr]")
                size, order = f"i64 {len(keys)}", f"i1 {'true' if simple else 'false'}"
                where = f"ptr {self.places(keys)}"
                self.require(self.call("adjoint_values", f"ptr {pointer}", where, size, order, f"ptr {block}"))
                for i, item in enumerate(items):
                    self.argument(item, self.load("ptr", block, 8 * i))
            case _:
                self.leaves.append(pointer)
                self.leaf(tree, pointer)

    def leaf(self, leaf: Any, pointer: str) -> None:
        """Check a leaf, and make it an input of the kernel."""
        match leaf:
            case Array():
                self.inputs.append(self.array(leaf, pointer))
                self.pointers.append(pointer)
            case PythonFloat():
                self.require_type(pointer, float)
                self.scalar("double", self.load("double", pointer, objects.VALUE))
            case NumpyScalar(dtype):
                self.require_type(pointer, dtype.type)
                self.scalar(memory_type(dtype), self.load(memory_type(dtype), pointer, objects.VALUE))
            case PythonInt():
                slot = self.allocate("i64")
                self.require(self.call("adjoint_integer", f"ptr {pointer}", f"ptr {slot}"))
                self.inputs.append(slot)
            case PythonBool():
                yes = self.op(f"icmp eq ptr {pointer}, {self.object(True)}")
                no = self.op(f"icmp eq ptr {pointer}, {self.object(False)}")
                self.require(self.op(f"or i1 {yes}, {no}"))
                self.scalar("i8", self.op(f"zext i1 {yes} to i8"))
            case Static(value):
                self.require(self.call("adjoint_same", f"ptr {pointer}", f"ptr {self.object(value)}"))
            case _:
                raise TypeError(f"not an argument: {leaf!r}")

    def scalar(self, type: str, value: str) -> None:
        """Make a value an input of the kernel."""
        slot = self.allocate(type)
        self.do(f"store {type} {value}, ptr {slot}")
        self.inputs.append(slot)

    def array(self, leaf: Array, pointer: str) -> str:
        """Check an array: its data pointer."""
        if len(self.pointers) >= ARRAYS_INLINE:
            word, flags, strides = objects.array_conditions(leaf.dtype, leaf.shape, leaf.strides, leaf.writeable)
            values = (word, len(leaf.shape) | flags << 32, len(strides), *leaf.shape, *strides)
            data = self.call("adjoint_array", f"ptr {pointer}", f"ptr {self.constant(numbers(values))}")
            self.require(self.op(f"icmp ne ptr {data}, null"))
            return data
        self.require_type(pointer, np.ndarray)
        self.array_fields(leaf, pointer)
        return self.load("ptr", pointer, objects.DATA)

    def array_fields(self, leaf: Array, pointer: str) -> None:
        """What `adjoint_array` does, without a call."""
        word, flags, strides = objects.array_conditions(leaf.dtype, leaf.shape, leaf.strides, leaf.writeable)
        has = self.op(f"and i32 {self.load('i32', pointer, objects.FLAGS)}, {flags}")
        its_word = self.load("i64", self.load("ptr", pointer, objects.DTYPE), objects.DTYPE_WORD)
        tests = [
            f"i64 {its_word}, {word}",
            f"i32 {self.load('i32', pointer, objects.AXES)}, {len(leaf.shape)}",
            f"i32 {has}, {flags}",
        ]
        self.require_all(tests)
        if not leaf.shape:
            return
        block = self.load("ptr", pointer, objects.SHAPE)
        tests = [f"i64 {self.load('i64', block, 8 * i)}, {length}" for i, length in enumerate(leaf.shape)]
        compared = [(i, stride) for i, stride in enumerate(strides) if leaf.shape[i] != 1]
        if compared:
            block = self.load("ptr", pointer, objects.STRIDES)
            tests += [f"i64 {self.load('i64', block, 8 * i)}, {stride}" for i, stride in compared]
        self.require_all(tests)

    def require_all(self, tests: list[str]) -> None:
        """Check several equalities with one jump."""
        answer = self.op(f"icmp eq {tests[0]}")
        for test in tests[1:]:
            answer = self.op(f"and i1 {answer}, {self.op(f'icmp eq {test}')}")
        self.require(answer)

    def captured(self, array: np.ndarray) -> str:
        """Check a captured array: its data pointer."""
        pointer = self.object(array)
        data = self.array(array_of(array), pointer)
        self.pointers.append(pointer)
        return data


def numbers(values: tuple[int, ...]) -> str:
    """A constant of LLVM: its type and value."""
    return f"[{len(values)} x i64] [{', '.join([f'i64 {value}' for value in values])}]"
