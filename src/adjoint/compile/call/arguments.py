"""Writing the first half of an entry: watches and arguments, checked and brought into the kernel's form."""

from __future__ import annotations

import types
from collections.abc import Callable

import numpy as np

from adjoint.capture.environment.object_state import ANY
from adjoint.compile.assembly.emit import Emitter
from adjoint.compile.assembly.instructions import Allocation
from adjoint.compile.assembly.kinds import DOUBLE, I1, I8, I32, I64, POINTER, Kind, block_of, memory_kind
from adjoint.compile.assembly.module import Module
from adjoint.compile.assembly.values import FALSE, NULL, TRUE, Constant, Function, Parameter, Value, number
from adjoint.compile.call import objects
from adjoint.compile.call.classes import places_of, readable
from adjoint.compile.call.signature import (
    Array,
    ArrayIs,
    AttributeIs,
    CellIs,
    ClassIs,
    Condition,
    Dict,
    DictHas,
    DictIs,
    DictLacks,
    FieldIs,
    Holds,
    List,
    ListIs,
    NumpyScalar,
    Object,
    OwnDictIs,
    PythonBool,
    PythonFloat,
    PythonInt,
    Signature,
    Static,
    Tree,
    Tuple,
    TypeIs,
    Unchanged,
    array_of,
    leaves,
)
from adjoint.compile.runtime.engine import python_symbol
from adjoint.host.code.reach import VERSION

ARRAYS_INLINE = 8
"""Up to so many arrays of an entry are checked without a call: it saves 10 ns each, and takes LLVM 0.5 ms each."""


OBJECTS, PARTS = (Value(name, POINTER) for name in ("%objects", "%parts"))
"""The tables of an entry: objects, which `Entry` puts there, and functions and constant data.

Addresses are read from them, as LLVM writes a constant address that may be far away with much ado.
"""
WAY_ON, INSIDE, USED, FIRST = range(4)
"""What the table of objects begins with: the address of the next entry, how many calls are under way in this one, and
whether one has been answered since somebody asked. Objects come after that. All are written under the GIL."""
SELF, ARGUMENTS, NAMES = (Parameter(name, POINTER) for name in ("%self", "%args", "%kwnames"))
COUNT = Parameter("%nargsf", I64)
"""What Python calls an entry with: the callable, the arguments, the names of the last ones; their number."""


class ArgumentWriter(Emitter):
    """The body of an entry, as far as the checks."""

    __slots__ = (
        "allocations",
        "containers",
        "given",
        "inputs",
        "is_apart",
        "is_optimised",
        "leaves",
        "many_arrays",
        "name",
        "objects",
        "parts",
        "pointers",
        "signature",
        "slots",
    )

    def __init__(self, module: Module, name: str, signature: Signature, *, is_apart: bool = False) -> None:
        """The kernel `is_apart` if it is called by its address."""
        super().__init__(module)
        self.name, self.signature, self.is_apart = name, signature, is_apart
        self.objects: list[object] = []
        arrays = [leaf for tree in signature.arguments for leaf in leaves(tree) if isinstance(leaf, Array)]
        count = len(arrays) + len(signature.captured)
        self.many_arrays = count > ARRAYS_INLINE
        # LLVM's passes are worth their time only to keep scalars in registers on their way to the kernel
        has_arrays = count or any([output.kind == "array" for output in signature.outputs])
        self.is_optimised = not has_arrays and not is_apart
        self.slots: dict[int, int] = {}
        self.parts: dict[str, int] = {}
        self.allocations: list[Allocation] = []
        self.leaves: list[Value] = []  # every leaf of the arguments, as an object
        self.inputs: list[Value] = []  # what the kernel gets
        self.pointers: list[Value] = []  # arrays to hold while other threads run
        self.given: dict[int, int] = {}  # where among them the array of a leaf is
        self.containers: list[tuple[Value, int]] = []  # what holds arrays that are donated, and how deep

    def read(self, kind: Kind, pointer: Value, offset: int) -> Value:
        """A field of an object."""
        return self.load(kind, self.address(I8, pointer, offset, flags="") if offset else pointer)

    def room(self, kind: Kind) -> Value:
        """Room on the stack, taken when the function begins."""
        self.serial += 1
        self.allocations.append(Allocation(f"%s{self.serial}", POINTER, kind))
        return self.allocations[-1]

    def ask(self, name: str, *arguments: Value) -> Value:
        """Call a helper or a function of Python."""
        if name in objects.PYTHON:
            python_symbol(name)
        function = self.module.declare(name, *(objects.PYTHON.get(name) or objects.HELPERS[name]))
        if not self.is_optimised:
            function = Function(self.part(name).name, function.result, function.parameters)
        return self.call(function, *arguments)

    def part(self, name: str) -> Value:
        """The address of a function or of constant data."""
        return self.load(POINTER, self.address(POINTER, PARTS, self.parts.setdefault(name, len(self.parts)), flags=""))

    def place(self, value: object) -> Value:
        """Where in the table an object is found."""
        if id(value) not in self.slots:
            self.slots[id(value)] = len(self.objects)
            self.objects.append(value)
        return self.entry_of(FIRST + self.slots[id(value)])

    def places(self, values: tuple[object, ...]) -> Value:
        """Where in the table objects are found, one after the other."""
        self.objects.extend(values)
        return self.entry_of(FIRST + len(self.objects) - len(values))

    def entry_of(self, index: int) -> Value:
        """The address of an entry of the table."""
        if self.is_optimised:
            return Constant(f"getelementptr (ptr, ptr @{self.name}.objects, i64 {index})", POINTER)
        return self.address(POINTER, OBJECTS, index, flags="")

    def address_of(self, value: object) -> Value:
        """An object's address."""
        return self.load(POINTER, self.place(value))

    def constant(self, text: str) -> Value:
        """Constant data, given by its type and value."""
        name = self.module.fresh(f"{self.name}.data")
        self.module.functions.append(f"@{name} = private unnamed_addr constant {text}")
        return Constant(f"@{name}", POINTER) if self.is_optimised else self.part(name)

    # checks: each goes on if its condition holds

    def require(self, condition: Value, otherwise: str = "next") -> None:
        """Go on only if this holds, which LLVM is told to expect if it looks at it at all."""
        if self.is_optimised:
            condition = self.call(self.module.declare("llvm.expect.i1", I1, I1, I1), condition, TRUE)
        good = self.label("ok")
        self.branch(condition, good, otherwise)
        self.start(good)

    def require_same(self, pointer: Value, value: object) -> None:
        """Go on only if this is that object."""
        self.require(self.compare("eq", pointer, self.address_of(value)))

    def require_type(self, pointer: Value, kind: type) -> None:
        """Go on only if the type is exactly this."""
        self.require_same(self.read(POINTER, pointer, 8), kind)

    def watch(self, watch: Condition) -> None:  # noqa: C901 - one case for each kind of condition
        """Check a condition on captured variables."""
        match watch:
            case CellIs(cell, value):
                self.require_same(self.read(POINTER, self.address_of(cell), objects.VALUE), value)
            case DictIs(mapping, key, value):
                places = [self.address_of(x) for x in (mapping, key, value)]
                self.require(self.ask("adjoint_item_is", *places))
            case DictLacks(mapping, key):
                self.require(self.ask("adjoint_item_lacks", *[self.address_of(x) for x in (mapping, key)]))
            case ClassIs(kind, version, check):
                found = self.read(I32, self.address_of(kind), VERSION)
                self.require_or(self.compare("eq", found, version), check)
            case Unchanged(header, check):
                data = self.read(POINTER, self.address_of(header), objects.DATA)
                self.require_or(self.compare("ne", self.ask("adjoint_unchanged", data), 0), check)
            case TypeIs(owner, kind):
                self.require_type(self.address_of(owner), kind)
            case FieldIs(owner, offset, value):
                self.field(self.read(POINTER, self.address_of(owner), offset), value)
            case OwnDictIs(owner, value):
                self.require(self.ask("adjoint_dict_is", *[self.address_of(x) for x in (owner, value)]))
            case DictHas(mapping, keys, values):
                block = self.room(block_of(len(keys), POINTER))
                given = self.address_of(mapping), self.places(keys), number(len(keys), I64), FALSE
                self.require(self.ask("adjoint_values", *given, block))
                for i, value in enumerate(values):
                    if value is not ANY:
                        self.require_same(self.read(POINTER, block, 8 * i), value)
            case Holds(check):
                self.require(self.ask("adjoint_holds", self.address_of(check), self.address_of(True)))
            case AttributeIs(owner, attribute, value):
                places = [self.address_of(x) for x in (owner, attribute, value)]
                self.require(self.ask("adjoint_attribute_is", *places))
            case ListIs(container, items):
                there = self.address_of(container)
                self.require(self.compare("eq", self.read(I64, there, objects.VALUE), len(items)))
                if items:
                    first = self.read(POINTER, there, objects.LIST_ITEMS)
                    for i, item in enumerate(items):
                        if item is not ANY:
                            self.require_same(self.read(POINTER, first, 8 * i), item)
            case ArrayIs(array):
                self.array(array_of(array), self.address_of(array))
            case _:
                raise TypeError(f"not a watch: {watch!r}")

    def require_or(self, condition: Value, check: Callable[[], bool]) -> None:
        """Go on only if this holds, or else a function of Python says so."""
        same, other = self.label("same"), self.label("other")
        self.branch(condition, same, other)
        self.start(other)
        self.watch(Holds(check))
        self.jump(same)
        self.start(same)

    def field(self, pointer: Value, value: object) -> None:
        """Go on only if a field of an object has this in it; a field that has nothing in it stands for None."""
        same = self.compare("eq", pointer, self.address_of(value))
        if value is None:
            same = self.op("or", same, self.compare("eq", pointer, NULL))
        self.require(same)

    def variables(self) -> list[Value]:
        """Read captured numbers into memory of the entry's own, and the places of arrays, as inputs of the kernel."""
        for variable in self.signature.variables:
            owner, key = self.address_of(variable.owner), variable.key
            if isinstance(variable.owner, types.CellType):
                pointer = self.read(POINTER, owner, objects.VALUE)
            elif isinstance(variable.owner, list) and isinstance(key, int):
                size = self.read(I64, owner, objects.VALUE)
                self.require(self.compare("ugt", size, key))
                pointer = self.read(POINTER, self.read(POINTER, owner, objects.LIST_ITEMS), 8 * key)
            elif isinstance(variable.owner, dict):
                pointer = self.ask("adjoint_item", owner, self.address_of(key))
            else:
                pointer = self.read(POINTER, self.attributes(owner, type(variable.owner), (str(key),)), 0)
            self.require(self.compare("ne", pointer, NULL))
            self.argument(variable.leaf, pointer)
        found, self.inputs, self.leaves = self.inputs, [], []
        return found

    def count(self) -> None:
        """Check the number of arguments, and their names if they have some."""
        keywords = self.signature.keywords
        count = self.op("and", COUNT, 2**63 - 1)
        self.require(self.compare("eq", count, len(self.signature.arguments) - len(keywords)))
        if not keywords:
            self.require(self.compare("eq", NAMES, NULL))
            return
        self.require(self.compare("ne", NAMES, NULL))
        self.require(self.compare("eq", self.read(I64, NAMES, objects.VALUE), len(keywords)))
        for i, keyword in enumerate(keywords):
            name = self.read(POINTER, NAMES, objects.TUPLE_ITEMS + 8 * i)
            same = self.ask("adjoint_same", name, self.address_of(keyword))
            self.require(same)

    def argument(self, tree: Tree, pointer: Value, depth: int | None = None) -> None:
        """Check an argument and all it contains; `depth` is that of its containers, if it is donated."""
        if depth is not None and any([isinstance(leaf, Array) for leaf in leaves(tree)]):
            self.containers += [(pointer, depth)] if not isinstance(tree, Array) else []
        inside = None if depth is None else depth + 1
        match tree:
            case Tuple(items, kind):
                self.require_type(pointer, kind)
                self.require(self.compare("eq", self.read(I64, pointer, objects.VALUE), len(items)))
                for i, item in enumerate(items):
                    self.argument(item, self.read(POINTER, pointer, objects.TUPLE_ITEMS + 8 * i), inside)
            case List(items):
                self.require_type(pointer, list)
                self.require(self.compare("eq", self.read(I64, pointer, objects.VALUE), len(items)))
                block = self.read(POINTER, pointer, objects.LIST_ITEMS)
                for i, item in enumerate(items):
                    self.argument(item, self.read(POINTER, block, 8 * i), inside)
            case Dict(keys, items, any_order):
                # other keys might run Python code when they are compared
                simple = any_order and all([type(key) in (str, int) for key in keys])
                block = self.room(block_of(len(keys), POINTER))
                size, order = number(len(keys), I64), TRUE if simple else FALSE
                where = self.places(keys)
                self.require(self.ask("adjoint_values", pointer, where, size, order, block))
                for i, item in enumerate(items):
                    self.argument(item, self.read(POINTER, block, 8 * i), inside)
            case Object(kind, names, items):
                self.require_type(pointer, kind)
                block = self.attributes(pointer, kind, names)
                for i, item in enumerate(items):
                    self.argument(item, self.read(POINTER, block, 8 * i), inside)
            case _:
                self.leaves.append(pointer)
                self.leaf(tree, pointer)

    def attributes(self, pointer: Value, kind: type, names: tuple[str, ...]) -> Value:
        """The attributes of an object of a class that is known, one after the other."""
        block = self.room(block_of(len(names), POINTER))
        way, offsets = places_of(kind, names)
        asked = readable(kind, names)
        if asked is None:
            raise TypeError(f"attributes of {kind!r} cannot be read without running code")
        where = self.places(asked), self.constant(numbers(offsets)), number(len(names), I64)
        self.require(self.ask("adjoint_attributes", pointer, number(way, I64), *where, block))
        return block

    def leaf(self, leaf: Tree, pointer: Value) -> None:
        """Check a leaf, and make it an input of the kernel."""
        match leaf:
            case Array():
                self.inputs.append(self.array(leaf, pointer))
                self.given[id(leaf)] = len(self.pointers)
                self.pointers.append(pointer)
            case PythonFloat():
                self.require_type(pointer, float)
                self.scalar(self.read(DOUBLE, pointer, objects.VALUE))
            case NumpyScalar(dtype):
                self.require_type(pointer, dtype.type)
                self.scalar(self.read(memory_kind(dtype), pointer, objects.VALUE))
            case PythonInt():
                slot = self.room(I64)
                self.require(self.ask("adjoint_integer", pointer, slot))
                self.inputs.append(slot)
            case PythonBool():
                yes = self.compare("eq", pointer, self.address_of(True))
                no = self.compare("eq", pointer, self.address_of(False))
                self.require(self.op("or", yes, no))
                self.scalar(self.convert("zext", yes, I8))
            case Static(value):
                self.require(self.ask("adjoint_same", pointer, self.address_of(value)))
            case _:
                raise TypeError(f"not an argument: {leaf!r}")

    def scalar(self, value: Value) -> None:
        """Make a value an input of the kernel."""
        slot = self.room(value.kind)
        self.store(value, slot)
        self.inputs.append(slot)

    def array(self, leaf: Array, pointer: Value) -> Value:
        """Check an array: its data pointer."""
        if self.many_arrays:
            word, flags, strides = objects.array_conditions(leaf.dtype, leaf.shape, leaf.strides, leaf.writeable)
            values = (word, len(leaf.shape) | flags << 32, len(strides), *leaf.shape, *strides)
            data = self.ask("adjoint_array", pointer, self.constant(numbers(values)))
            self.require(self.compare("ne", data, NULL))
            return data
        self.require_type(pointer, np.ndarray)
        self.array_fields(leaf, pointer)
        return self.read(POINTER, pointer, objects.DATA)

    def array_fields(self, leaf: Array, pointer: Value) -> None:
        """What `adjoint_array` does, without a call."""
        word, flags, strides = objects.array_conditions(leaf.dtype, leaf.shape, leaf.strides, leaf.writeable)
        has = self.op("and", self.read(I32, pointer, objects.FLAGS), flags)
        its_word = self.read(I64, self.read(POINTER, pointer, objects.DTYPE), objects.DTYPE_WORD)
        axes = self.read(I32, pointer, objects.AXES)
        self.require_all([(its_word, word), (axes, len(leaf.shape)), (has, flags)])
        if not leaf.shape:
            return
        block = self.read(POINTER, pointer, objects.SHAPE)
        tests = [(self.read(I64, block, 8 * i), length) for i, length in enumerate(leaf.shape)]
        compared = [(i, stride) for i, stride in enumerate(strides) if leaf.shape[i] != 1]
        if compared:
            block = self.read(POINTER, pointer, objects.STRIDES)
            tests += [(self.read(I64, block, 8 * i), stride) for i, stride in compared]
        self.require_all(tests)

    def require_all(self, tests: list[tuple[Value, int]]) -> None:
        """Check several equalities with one jump."""
        first, *rest = tests
        answer = self.compare("eq", *first)
        for test in rest:
            answer = self.op("and", answer, self.compare("eq", *test))
        self.require(answer)

    def captured(self, array: np.ndarray) -> Value:
        """Check a captured array: its data pointer."""
        pointer = self.address_of(array)
        data = self.array(array_of(array), pointer)
        self.pointers.append(pointer)
        return data


def numbers(values: tuple[int, ...]) -> str:
    """A constant of LLVM: its type and value."""
    return f"[{len(values)} x i64] [{', '.join([f'i64 {value}' for value in values])}]"
