"""Instructions as objects: each is the register that it defines, and says what becomes of it in a loop of vectors."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from .kinds import VOID, Kind
from .values import Function, Value


class Widening(Enum):
    """What becomes of an instruction when a loop over numbers is made one over vectors."""

    LANES = "the same instruction, for vectors"
    ADDRESS = "it stays as it is, and counts along"
    LOAD = "neighbours in memory are read together"
    STORE = "neighbours in memory are written together"
    CALL = "as the function says"
    NEVER = "it has no form for vectors"


class Instruction(Value):
    """One line of assembly: `name` is the register of its result, of the kind `kind`; without one both are empty.

    `flags` are words that LLVM has behind the name of the operation: a relation, or what may be taken for granted.
    """

    __slots__ = ("flags", "op", "operands")
    widening: ClassVar[Widening] = Widening.NEVER

    def __init__(self, name: str, kind: Kind, op: str, operands: tuple[Value, ...] = (), flags: str = "") -> None:
        self.name = name
        self.kind = kind
        self.op = op
        self.operands = operands
        self.flags = flags

    def text(self) -> str:
        """The instruction without the name of its result: every operand with its kind."""
        if not self.operands:
            return f"{self.op} void"
        return f"{self.op} {', '.join([f'{o.kind.name} {o.name}' for o in self.operands])}"

    def line(self) -> str:
        """The line in the body of a function."""
        return f"  {self.name} = {self.text()}" if self.name else f"  {self.text()}"

    def renamed(self, name: str, kind: Kind, operands: tuple[Value, ...]) -> Instruction:
        """The same with other operands, for a result of another kind."""
        return type(self)(name, kind, self.op, operands, self.flags)


class Arithmetic(Instruction):
    """A computation with two numbers of one kind, or their comparison: `fadd reassoc double %x, %y`."""

    __slots__ = ()
    widening = Widening.LANES

    def text(self) -> str:
        """Both operands, with their kind once."""
        x, y = self.operands
        op = f"{self.op} {self.flags}" if self.flags else self.op
        return f"{op} {x.kind.name} {x.name}, {y.name}"


class Listed(Instruction):
    """A computation whose operands have kinds of their own: `select i1 %c, double %x, double %y`, `fneg double %x`."""

    __slots__ = ()
    widening = Widening.LANES


class Conversion(Instruction):
    """A number as one of another kind: `sitofp i64 %x to double`."""

    __slots__ = ()
    widening = Widening.LANES

    def text(self) -> str:
        """The operand, and the kind that it gets."""
        (x,) = self.operands
        return f"{self.op} {x.kind.name} {x.name} to {self.kind.name}"


class Load(Instruction):
    """A number from memory; `flags` may say how its address is aligned."""

    __slots__ = ()
    widening = Widening.LOAD

    def text(self) -> str:
        """The kind, and where it is."""
        (place,) = self.operands
        found = f"load {self.kind.name}, ptr {place.name}"
        return f"{found}, {self.flags}" if self.flags else found


class Store(Instruction):
    """A number to memory; `flags` may say how its address is aligned."""

    __slots__ = ()
    widening = Widening.STORE

    def text(self) -> str:
        """The number, and where it goes."""
        value, place = self.operands
        found = f"store {value.kind.name} {value.name}, ptr {place.name}"
        return f"{found}, {self.flags}" if self.flags else found


class Address(Instruction):
    """An address some elements further on."""

    __slots__ = ("element",)
    widening = Widening.ADDRESS

    def __init__(self, name: str, kind: Kind, element: Kind, operands: tuple[Value, ...], flags: str = "") -> None:
        self.name = name
        self.kind = kind
        self.op = "getelementptr"
        self.operands = operands
        self.flags = flags
        self.element = element

    def text(self) -> str:
        """The kind of the elements, where they begin, and how many are passed over."""
        base, index = self.operands
        op = f"getelementptr {self.flags}" if self.flags else "getelementptr"
        return f"{op} {self.element.name}, ptr {base.name}, i64 {index.name}"

    def renamed(self, name: str, kind: Kind, operands: tuple[Value, ...]) -> Instruction:
        """The same from another address, or further on."""
        return Address(name, kind, self.element, operands, self.flags)


class Call(Instruction):
    """A call; `flags` stand before the result's kind, `site` behind the arguments."""

    __slots__ = ("function", "site")
    widening = Widening.CALL

    def __init__(
        self,
        name: str,
        function: Function,
        operands: tuple[Value, ...],
        how: str = "call",
        flags: str = "",
        site: str = "",
    ) -> None:
        self.name = name
        self.kind = function.result
        self.op = how
        self.operands = operands
        self.flags = flags
        self.function = function
        self.site = site

    def text(self) -> str:
        """The function, and every argument with its kind."""
        op = f"{self.op} {self.flags}" if self.flags else self.op
        given = ", ".join([f"{o.kind.name} {o.name}" for o in self.operands])
        found = f"{op} {self.kind.name} {self.function.name}({given})"
        return f"{found} {self.site}" if self.site else found


class Phi(Instruction):
    """A value that depends on the block from which control came; what arrives may be said later."""

    __slots__ = ("arrivals",)

    def __init__(self, name: str, kind: Kind, arrivals: list[tuple[Value, str]]) -> None:
        super().__init__(name, kind, "phi")
        self.arrivals = arrivals

    def arrive(self, value: Value, block: str) -> None:
        """Say what it is when control comes from a block."""
        self.arrivals.append((value, block))

    def text(self) -> str:
        """What arrives from where."""
        return f"phi {self.kind.name} {', '.join([f'[ {v.name}, %{block} ]' for v, block in self.arrivals])}"


class Allocation(Instruction):
    """Memory on the stack, for one or `operands` of a kind."""

    __slots__ = ("element",)

    def __init__(self, name: str, kind: Kind, element: Kind, operands: tuple[Value, ...] = (), flags: str = "") -> None:
        super().__init__(name, kind, "alloca", operands, flags)
        self.element = element

    def text(self) -> str:
        """The kind, how many of them, and how they are aligned."""
        parts = [
            self.element.name,
            *[f"{o.kind.name} {o.name}" for o in self.operands],
            *[w for w in (self.flags,) if w],
        ]
        return f"alloca {', '.join(parts)}"


class Field(Instruction):
    """One of the results of a call that has two."""

    __slots__ = ()

    def text(self) -> str:
        """The pair, and which of it."""
        both, which = self.operands
        return f"extractvalue {both.kind.name} {both.name}, {which.name}"


class Branch(Instruction):
    """The end of a block: on to the only target, or to the first of two if the operand holds."""

    __slots__ = ("targets",)

    def __init__(self, targets: tuple[str, ...], operands: tuple[Value, ...] = (), flags: str = "") -> None:
        self.name = ""
        self.kind = VOID
        self.op = "br"
        self.operands = operands
        self.flags = flags
        self.targets = targets

    @property
    def is_vectorisable_latch(self) -> bool:
        """Whether it ends a loop, as `counted` writes them, of which LLVM may make vectors."""
        return len(self.targets) == 2 and not self.flags and self.targets[1].startswith("head")

    def text(self) -> str:
        """The condition, if there is one, and the targets."""
        if not self.operands:
            return f"br label %{self.targets[0]}"
        yes, no = self.targets
        return f"br i1 {self.operands[0].name}, label %{yes}, label %{no}{self.flags}"


class Label(Instruction):
    """The beginning of a block."""

    __slots__ = ("block",)

    def __init__(self, block: str) -> None:
        super().__init__("", VOID, "label")
        self.block = block

    def line(self) -> str:
        """The name of the block."""
        return f"{self.block}:"
