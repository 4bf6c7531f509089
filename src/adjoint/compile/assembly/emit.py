"""Making instructions: the body of one function."""

from __future__ import annotations

from collections.abc import Sequence

from .instructions import (
    Address,
    Allocation,
    Arithmetic,
    Branch,
    Call,
    Conversion,
    Field,
    Instruction,
    Label,
    Listed,
    Load,
    Phi,
    Store,
)
from .kinds import I1, I32, I64, POINTER, VOID, Kind
from .module import Module
from .values import Function, Operand, Parameter, Value, number, poison, zero


class Emitter:
    """The body of one function: instructions, and the next free register.

    Integers among the operands take the kind of what they stand with.
    """

    __slots__ = ("block", "body", "module", "serial")

    def __init__(self, module: Module) -> None:
        self.module = module
        self.body: list[Instruction] = []
        self.serial = 0
        self.block = "entry"

    def register(self) -> str:
        """The name of the next register."""
        self.serial += 1
        return f"%v{self.serial}"

    # Numbers

    def op(self, op: str, x: Operand, y: Operand, flags: str = "") -> Value:
        """Arithmetic with two numbers of one kind."""
        if not isinstance(x, Value):
            assert isinstance(y, Value)
            x = number(x, y.kind)
        if not isinstance(y, Value):
            y = number(y, x.kind)
        self.serial += 1
        made = Arithmetic(f"%v{self.serial}", x.kind, op, (x, y), flags)
        self.body.append(made)
        return made

    def compare(self, relation: str, x: Value, y: Operand) -> Value:
        """A comparison, by LLVM's name of it: `slt`, `olt`."""
        op = "fcmp" if x.kind.is_real else "icmp"
        kind = I1.wide(x.kind.lanes) if x.kind.lanes else I1
        if not isinstance(y, Value):
            y = number(y, x.kind)
        self.serial += 1
        made = Arithmetic(f"%v{self.serial}", kind, op, (x, y), relation)
        self.body.append(made)
        return made

    def negative(self, x: Value) -> Value:
        """-x of a float."""
        return self.add(Listed(self.register(), x.kind, "fneg", (x,)))

    def select(self, condition: Value, yes: Operand, no: Operand) -> Value:
        """One of two values."""
        if not isinstance(yes, Value):
            assert isinstance(no, Value)
            yes = number(yes, no.kind)
        if not isinstance(no, Value):
            no = number(no, yes.kind)
        self.serial += 1
        made = Listed(f"%v{self.serial}", yes.kind, "select", (condition, yes, no))
        self.body.append(made)
        return made

    def convert(self, op: str, x: Value, kind: Kind) -> Value:
        """A number as one of another kind."""
        return self.add(Conversion(self.register(), kind, op, (x,)))

    # Memory

    def load(self, kind: Kind, place: Value, align: int = 0) -> Value:
        """A number from memory."""
        self.serial += 1
        made = Load(f"%v{self.serial}", kind, "load", (place,), f"align {align}" if align else "")
        self.body.append(made)
        return made

    def store(self, value: Value, place: Value, align: int = 0) -> Value:
        """A number to memory."""
        made = Store("", VOID, "store", (value, place), f"align {align}" if align else "")
        self.body.append(made)
        return made

    def address(self, kind: Kind, base: Value, index: Operand, flags: str = "inbounds") -> Value:
        """An address some elements of a kind further on; `inbounds` in the same array."""
        if not isinstance(index, Value):
            index = number(index, I64)
        self.serial += 1
        made = Address(f"%v{self.serial}", POINTER, kind, (base, index), flags)
        self.body.append(made)
        return made

    def allocate(self, kind: Kind, align: int = 0) -> Value:
        """Memory on the stack."""
        return self.add(Allocation(self.register(), POINTER, kind, (), f"align {align}" if align else ""))

    # Vectors

    def insert(self, vector: Value, x: Value, lane: int) -> Value:
        """A vector with another number in one of its lanes."""
        return self.add(Instruction(self.register(), vector.kind, "insertelement", (vector, x, number(lane, I64))))

    def extract(self, vector: Value, lane: int) -> Value:
        """One lane of a vector."""
        operands = (vector, number(lane, I64))
        return self.add(Instruction(self.register(), vector.kind.element, "extractelement", operands))

    def spread(self, x: Value, lanes: int) -> Value:
        """A vector with the same number in every lane."""
        kind = x.kind.wide(lanes)
        operands = (self.insert(poison(kind), x, 0), poison(kind), zero(I32.wide(lanes)))
        return self.add(Instruction(self.register(), kind, "shufflevector", operands))

    # Calls

    def call(self, function: Function, *arguments: Value, flags: str = "", site: str = "", how: str = "call") -> Value:
        """Call a function; `site` is what may be taken for granted at this place."""
        if function.result is VOID:
            made = Call("", function, arguments, how, flags, site)
        else:
            self.serial += 1
            made = Call(f"%v{self.serial}", function, arguments, how, flags, site)
        self.body.append(made)
        return made

    def intrinsic(self, name: str, *arguments: Value) -> Value:
        """Call one of LLVM's own functions, all of whose arguments have one kind."""
        return self.call(self.module.intrinsic(f"llvm.{name}", arguments[0].kind, len(arguments)), *arguments)

    def one_of(self, both: Value, which: int, kind: Kind) -> Value:
        """One of the two results of a call."""
        return self.add(Field(self.register(), kind, "extractvalue", (both, number(which, I32))))

    # Blocks

    def label(self, stem: str = "b") -> str:
        """A name for a block to come."""
        self.serial += 1
        return f"{stem}{self.serial}"

    def start(self, label: str) -> None:
        """Begin the block with this name."""
        self.body.append(Label(label))
        self.block = label

    def jump(self, label: str) -> None:
        """End the block: go on there."""
        self.body.append(Branch((label,)))

    def branch(self, condition: Value, yes: str, no: str, flags: str = "") -> None:
        """End the block: go on at one of two places."""
        self.body.append(Branch((yes, no), (condition,), flags))

    def give(self, *value: Value) -> None:
        """End the function: return a value, or nothing."""
        self.body.append(Instruction("", VOID, "ret", value))

    def phi(self, *arrivals: tuple[Value, str], name: str = "") -> Phi:
        """A value that depends on the block from which control came."""
        made = Phi(name or self.register(), arrivals[0][0].kind, list(arrivals))
        self.body.append(made)
        return made

    def add(self, instruction: Instruction) -> Value:
        """Put an instruction at the end of the body."""
        self.body.append(instruction)
        return instruction

    def define(
        self, stem: str, parameters: Sequence[Parameter], result: Kind = VOID, attributes: str = "nounwind"
    ) -> Function:
        """Make a function of the body, or find an equal one."""
        return self.module.define(stem, result, parameters, self.body, attributes)
