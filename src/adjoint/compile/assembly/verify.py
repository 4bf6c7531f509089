"""Whether the body of a function is well formed: blocks, single definitions, operands that are there and fit.

LLVM finds most of this too, but says it of a line of text; here it is said of the instruction, before it is printed.
Nothing is verified when a user's function is compiled. `before_printing` has every body verified.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from .instructions import Branch, Call, Instruction, Label, Phi
from .kinds import Kind
from .module import OBSERVERS
from .requirements import REQUIREMENTS
from .values import Constant, Parameter, Value


class MalformedBodyError(Exception):
    """The body of a function that nothing may print: what is wrong, and with which instruction."""


@dataclass
class Block:
    """Instructions that are done one after the other, up to a branch."""

    name: str
    body: list[Instruction] = field(default_factory=list)
    sources: set[str] = field(default_factory=set)
    """The blocks from which control comes."""


def verify(body: Sequence[Instruction], parameters: Sequence[Parameter], result: Kind) -> None:
    """Raise an error if a body is not well formed."""
    for instruction, what in _faults(body, parameters, result):
        line = f"\n{instruction.line()}" if instruction is not None else ""
        raise MalformedBodyError(f"{what}{line}")


@contextmanager
def before_printing() -> Iterator[None]:
    """Verify every body that is printed, as long as this is open."""
    OBSERVERS.append(verify)
    try:
        yield
    finally:
        OBSERVERS.remove(verify)


Fault = tuple[Instruction | None, str]


def _faults(body: Sequence[Instruction], parameters: Sequence[Parameter], result: Kind) -> Iterator[Fault]:
    blocks: dict[str, Block] = {}
    yield from _blocks(body, blocks)
    yield from _operands(blocks, parameters)
    for i in body:
        if i.op == "ret" and (i.operands[0].kind.name if i.operands else "void") != result.name:
            yield i, f"the function gives {result.name}"
        for what in REQUIREMENTS[type(i)](i):
            yield i, what


def _blocks(body: Sequence[Instruction], blocks: dict[str, Block]) -> Iterator[Fault]:
    """Find the blocks; each has a name of its own and ends with a branch to others, or with a return."""
    block = blocks["entry"] = Block("entry")
    is_over = False
    for i in body:
        if isinstance(i, Label) != is_over:
            yield i, "a block goes on up to its end and no further"
        is_over = isinstance(i, Branch) or i.op == "ret"
        if isinstance(i, Label):
            if i.block in blocks:
                yield i, "there is a block of this name already"
            block = blocks[i.block] = Block(i.block)
        else:
            block.body.append(i)
    if not is_over:
        yield None, "the last block has no end"
    for name, block in blocks.items():
        for target in block.body[-1].targets if isinstance(block.body[-1], Branch) else ():
            if target not in blocks:
                yield block.body[-1], f"there is no block {target}"
            blocks[target].sources.add(name)


def _operands(blocks: dict[str, Block], parameters: Sequence[Parameter]) -> Iterator[Fault]:
    """Every register has one definition, which control has passed when it is read; its kind is the same at both."""
    made: dict[str, tuple[Kind, str, int]] = {p.name: (p.kind, "entry", -1) for p in parameters}
    for name, block in blocks.items():
        for place, i in enumerate(block.body):
            if i.name in made:
                yield i, "the register is defined already"
            if i.name:
                made[i.name] = (i.kind, name, place)
    passed = _passed(blocks)
    for name, block in blocks.items():
        for place, i in enumerate(block.body):
            if isinstance(i, Phi) and {b for _, b in i.arrivals} != block.sources:
                yield i, f"control comes from {', '.join(sorted(block.sources)) or 'nowhere'}"
            callee: list[Value] = [i.function] if isinstance(i, Call) and i.function.name.startswith("%") else []
            reads = [(o, name, place) for o in (*i.operands, *callee)]
            reads += [(v, source, len(blocks[source].body)) for v, source in (i.arrivals if isinstance(i, Phi) else ())]
            for o, at, before in reads:
                if isinstance(o, Constant) and o not in callee:
                    continue
                kind, home, there = made.get(o.name, (None, "", 0))
                if kind is None or not (there < before if home == at else home in passed[at]):
                    yield i, f"{o.name} is not there yet"
                elif kind is not o.kind:
                    yield i, f"{o.name} is {kind.name}"


def _passed(blocks: dict[str, Block]) -> dict[str, set[str]]:
    """For each block those that control has passed whichever way it came; for one that it never reaches, all."""
    passed = {name: set(blocks) for name in blocks}
    passed["entry"] = {"entry"}
    changed = True
    while changed:
        changed = False
        for name, block in blocks.items():
            if block.sources:
                new = {name} | set.intersection(*[passed[s] for s in block.sources])
                changed = changed or new != passed[name]
                passed[name] = new
    return passed
