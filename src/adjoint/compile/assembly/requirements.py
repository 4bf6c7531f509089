"""What the operands of each instruction have to be like, and its result: a table by class."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
from .kinds import I1, I64, POINTER, Kind

REAL = frozenset({"fadd", "fsub", "fmul", "fdiv", "frem"})
WHOLE = frozenset(
    {"add", "sub", "mul", "sdiv", "udiv", "srem", "urem", "and", "or", "xor", "shl", "lshr", "ashr"}
)  # fmt: skip
RELATIONS = {
    "icmp": {"eq", "ne", *[f"{sign}{way}" for sign in "su" for way in ("lt", "le", "gt", "ge")]},
    "fcmp": {"ord", "uno", *[f"{nan}{way}" for nan in "ou" for way in ("eq", "ne", "lt", "le", "gt", "ge")]},
}

Requirement = Callable[[Instruction], Iterator[str]]
"""Says what is wrong with an instruction."""


def _arithmetic(i: Instruction) -> Iterator[str]:
    x, y = i.operands
    if x.kind is not y.kind:
        yield "the operands are of two kinds"
    if i.op in RELATIONS:
        if i.flags not in RELATIONS[i.op]:
            yield f"there is no relation {i.flags!r}"
        if (i.op == "fcmp") != x.kind.is_real or i.kind is not _truth(x.kind):
            yield f"{i.op} of {x.kind.name} does not give {i.kind.name}"
    elif i.op not in (REAL if x.kind.is_real else WHOLE) or not x.kind.suffix:
        yield f"there is no {i.op} of {x.kind.name}"
    elif i.kind is not x.kind:
        yield f"the result is {x.kind.name}"


def _truth(kind: Kind) -> Kind:
    return I1.wide(kind.lanes) if kind.lanes else I1


def _listed(i: Instruction) -> Iterator[str]:
    *condition, x = i.operands[: -1 if i.op == "select" else None]
    if i.op not in ("select", "fneg") or len(condition) != (i.op == "select"):
        yield f"there is no {i.op} of {len(i.operands)} operands"
    if i.op == "fneg" and not x.kind.is_real:
        yield "only floats have an opposite"
    if any([c.kind not in (I1, _truth(x.kind)) for c in condition]) or {x.kind, i.operands[-1].kind} != {i.kind}:
        yield "the kinds do not fit"


CONVERSIONS: dict[str, Callable[[Kind, Kind], bool]] = {
    "zext": lambda x, y: not x.is_real and not y.is_real and (x.bytes < y.bytes or x.element is I1),
    "sext": lambda x, y: not x.is_real and not y.is_real and x.bytes < y.bytes,
    "trunc": lambda x, y: not x.is_real and not y.is_real and (x.bytes > y.bytes or y.element is I1),
    "fpext": lambda x, y: x.is_real and y.is_real and x.bytes < y.bytes,
    "fptrunc": lambda x, y: x.is_real and y.is_real and x.bytes > y.bytes,
    "fptosi": lambda x, y: x.is_real and not y.is_real,
    "fptoui": lambda x, y: x.is_real and not y.is_real,
    "sitofp": lambda x, y: not x.is_real and y.is_real,
    "uitofp": lambda x, y: not x.is_real and y.is_real,
    "bitcast": lambda x, y: x.bytes == y.bytes,
}
"""Which kinds a conversion is for, by its name."""


def _conversion(i: Instruction) -> Iterator[str]:
    (x,) = i.operands
    if x.kind.lanes != i.kind.lanes or not CONVERSIONS[i.op](x.kind, i.kind):
        yield f"{i.op} does not make {i.kind.name} of {x.kind.name}"


def _places(i: Instruction) -> Iterator[str]:
    """Addresses are read, written and computed by address."""
    place = i.operands[-1 if isinstance(i, Store) else 0]
    if place.kind is not POINTER:
        yield "the place is no address"
    if isinstance(i, Address) and (i.operands[1].kind is not I64 or i.kind is not POINTER):
        yield "an address is counted by i64"


def _call(i: Instruction) -> Iterator[str]:
    assert isinstance(i, Call)
    given = tuple([o.kind for o in i.operands])
    if given != i.function.parameters:
        wanted = ", ".join([k.name for k in i.function.parameters])
        yield f"the function takes ({wanted})"
    if i.kind is not i.function.result:
        yield f"the function gives {i.function.result.name}"


def _phi(i: Instruction) -> Iterator[str]:
    assert isinstance(i, Phi)
    if any([v.kind is not i.kind for v, _ in i.arrivals]):
        yield "what arrives is of another kind"


def _lanes(i: Instruction) -> Iterator[str]:
    """`insertelement`, `extractelement`, `shufflevector`; a return has no rule of its own."""
    if i.op == "ret":
        return
    vector, *rest = i.operands
    fits = {
        "insertelement": [vector.kind.element, I64],
        "extractelement": [I64],
        "shufflevector": [vector.kind, rest[-1].kind],
    }[i.op]
    result = vector.kind.element if i.op == "extractelement" else vector.kind
    if not vector.kind.lanes or [o.kind for o in rest] != fits or i.kind is not result:
        yield "the kinds do not fit"


def _branch(i: Instruction) -> Iterator[str]:
    assert isinstance(i, Branch)
    if [o.kind for o in i.operands] != [I1] * (len(i.targets) - 1):
        yield "two targets are chosen from by one truth value"


def _nothing(i: Instruction) -> Iterator[str]:
    yield from ()


REQUIREMENTS: dict[type[Instruction], Requirement] = {
    Instruction: _lanes,
    Arithmetic: _arithmetic,
    Listed: _listed,
    Conversion: _conversion,
    Load: _places,
    Store: _places,
    Address: _places,
    Call: _call,
    Phi: _phi,
    Branch: _branch,
    Allocation: _nothing,
    Field: _nothing,
    Label: _nothing,
}
