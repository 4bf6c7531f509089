"""A module under construction: what it declares, its functions, and the text that LLVM reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .instructions import Arithmetic, Branch, Instruction
from .kinds import I64, POINTER, VOID, Kind
from .values import Function, Parameter, Vectors

Observer = Callable[[Sequence[Instruction], Sequence[Parameter], Kind], None]
OBSERVERS: list[Observer] = []
"""They see every body before it is printed; there are none outside the tests."""


class Module:
    """A module under construction: its functions, what they declare and the names given so far."""

    def __init__(self) -> None:
        self.declarations: dict[str, Function] = {}
        """Functions that stand at the head, by name."""
        self.attributes: dict[str, str] = {}
        self.functions: list[str] = []
        self.keep: set[str] = set()
        self.straight = False  # long code without loops: mathematics is called, not written out in place
        self._names: dict[str, Function] = {}
        self.written: dict[Any, Any] = {}
        """What was written for something, by whatever tells it from others: equal things need not be written again."""
        self._serial = 0
        self._has_scalar_loops = False
        self.wants_vectors = False
        """Whether there are loops that LLVM should try to make vectors of."""
        self.carries = False
        """Whether there are loops that carry values in memory on the stack."""
        self.repeated = 0
        """Lines of loops over examples, whose code is long and is worth LLVM's care."""
        self.bodies: dict[str, Function] = {}
        """What loops call in every round, by the name under which they do."""
        self.called = 0
        """Work, in additions, of functions that exist already, which no care for this code makes faster."""
        self.is_unbounded = False
        """Whether there are loops of which nobody knows how often they go round."""
        self.reassociates = self.reassociates_in_loops = False
        """Whether a function has sums that LLVM may take in another order, and one that has loops it may widen, too."""
        self.unwidened: list[str] = []
        """Why loops were not made ones over vectors here, one reason for each."""

    def declare(
        self,
        name: str,
        result: Kind,
        *parameters: Kind,
        attributes: str = "",
        returns: str = "",
        vectors: Vectors = Vectors.NEVER,
        stem: str = "",
    ) -> Function:
        """Say that a function exists elsewhere; `returns` is what may be taken for granted about its result."""
        found = self.declarations.get(name)
        if found is None:
            front = f"{returns} {result.name}" if returns else result.name
            back = f" {attributes}" if attributes else ""
            text = f"declare {front} @{name}({', '.join([p.name for p in parameters])}){back}"
            found = Function(f"@{name}", result, parameters, written=text, vectors=vectors, stem=stem)
            self.declarations[name] = found
        return found

    def intrinsic(self, stem: str, kind: Kind, arity: int) -> Function:
        """One of LLVM's own functions, all of whose arguments are of the result's kind."""
        kinds = (kind,) * arity
        return self.declare(f"{stem}.{kind.suffix}", kind, *kinds, vectors=Vectors.INTRINSIC, stem=stem)

    def memory(self) -> tuple[Function, Function]:
        """`malloc` and `free`."""
        malloc = self.declare("malloc", POINTER, I64, returns="noalias")
        return malloc, self.declare("free", VOID, POINTER)

    def attribute(self, text: str) -> str:
        """The number of an attribute group for call sites."""
        return self.attributes.setdefault(text, f"#{len(self.attributes)}")

    def fresh(self, stem: str) -> str:
        """A name that no other function or global of this module has."""
        self._serial += 1
        return f"{stem}_{self._serial}"

    def define(
        self,
        stem: str,
        result: Kind,
        parameters: Sequence[Parameter],
        body: Sequence[Instruction],
        attributes: str = "nounwind",
    ) -> Function:
        """Add a function of the module's own, or find an equal one."""
        self._note_sums(body)
        text = _written(result, parameters, ["entry:"], body, attributes)
        return self.function(stem, result, tuple([p.kind for p in parameters]), text)

    def entry(
        self, name: str, result: Kind, parameters: Sequence[Parameter], body: Sequence[Instruction], attributes: str
    ) -> None:
        """Add a function that is called from outside."""
        self._note_sums(body)
        text = _written(result, parameters, ["entry:"], body, attributes)
        self.functions.append(f"define {result.name} @{name}{text}")

    def _note_sums(self, body: Sequence[Instruction]) -> None:
        """Note sums of numbers whose order is left open, and loops that are not said to stay scalar."""
        if any([type(i) is Arithmetic and i.flags == "reassoc" and not i.kind.lanes for i in body]):
            self.reassociates = True
            if any([type(i) is Branch and i.is_vectorisable_latch for i in body]):
                self.reassociates_in_loops = True

    def may_reorder(self) -> bool:
        """Whether LLVM may take sums in another order when it makes vectors of loops."""
        return self.reassociates_in_loops or (self.reassociates and bool(self.bodies))

    def helper(
        self,
        name: str,
        result: Kind,
        parameters: Sequence[Parameter],
        body: Sequence[Instruction],
        attributes: str,
        *,
        linkage: str = "",
        vectors: Vectors = Vectors.NEVER,
        stem: str = "",
    ) -> Function:
        """Add a function under a name of its own, at the head; there is one of each name."""
        found = self.declarations.get(name)
        if found is None:
            front = f"{linkage} {result.name}" if linkage else result.name
            text = f"define {front} @{name}{_written(result, parameters, [], body, attributes)}"
            kinds = tuple([p.kind for p in parameters])
            found = Function(f"@{name}", result, kinds, written=text, vectors=vectors, stem=stem)
            self.declarations[name] = found
        return found

    def function(self, stem: str, result: Kind, parameters: tuple[Kind, ...], text: str) -> Function:
        """Add a function whose text is given from its parameter list on, or find an equal one."""
        key = result.name + text
        found = self._names.get(key)
        if found is None:
            name = self.fresh(stem)
            found = self._names[key] = Function(f"@{name}", result, parameters)
            self.functions.append(f"define internal {result.name} @{name}{text}")
        return found

    def body(self, function: Function) -> Function:
        """The function by whose name loops call a body of theirs; what it does is said when the text is written."""
        name = f"round_{function.symbol}"
        self.bodies[name] = function
        return Function(f"@{name}", function.result, function.parameters)

    def scalar_loop(self) -> str:
        """What to write behind the branch of a loop that is not to be turned into vectors."""
        self._has_scalar_loops = True
        return ", !llvm.loop !0"

    def text(self, of_body: Callable[[str, Function], str] | None = None, *more: str) -> str:
        """The whole module, with more functions as text; bodies of loops are put in place unless said otherwise."""
        of_body = of_body or in_place
        bodies = [of_body(name, function) for name, function in self.bodies.items()]
        parts = [*[f.written for f in self.declarations.values()], *self.functions, *bodies, *more]
        if self.keep:
            names = ", ".join(f"ptr @{n}" for n in sorted(self.keep))
            section = 'section "llvm.metadata"'
            parts.append(f"@llvm.compiler.used = appending global [{len(self.keep)} x ptr] [{names}], {section}")
        parts += [f"attributes {number} = {{ {text} }}" for text, number in self.attributes.items()]
        if self._has_scalar_loops:
            parts += ["!0 = distinct !{!0, !1}", '!1 = !{!"llvm.loop.vectorize.enable", i1 false}']
        return "\n".join(parts) + "\n"


def in_place(name: str, function: Function, linkage: str = "internal ") -> str:
    """A function that does what another one does, and is put in place where it is called."""
    names = ", ".join([f"{kind.name} %a{k}" for k, kind in enumerate(function.parameters)])
    kind = function.result.name
    head = f"define {linkage}{kind} @{name}({names}) nounwind alwaysinline {{"
    return f"{head}\n  %r = call {kind} {function.name}({names})\n  ret {kind} %r\n}}"


def _written(
    result: Kind, parameters: Sequence[Parameter], head: list[str], body: Sequence[Instruction], attributes: str
) -> str:
    """A function from its list of parameters on."""
    for look in OBSERVERS:
        look(body, parameters, result)
    given = ", ".join([p.text() for p in parameters])
    front = f"({given}) {attributes} {{" if attributes else f"({given}) {{"
    return "\n".join([front, *head, *[f"  {i.name} = {i.text()}" if i.name else i.line() for i in body], "}"])
