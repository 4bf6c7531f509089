"""How many floating-point operations a step of a program takes: a small table, and loops by what is inside them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...core.entry.algebra import Labels
from ...core.entry.moves import ADDS
from ...ir.fold import every_step
from ...ir.formulas import formula_of
from ...ir.loops import CondOperands, LoopPrimitive, Operands, PullOperands, ScanOperands, WhileOperands
from ...ir.program import GUARD, Readable, Step, Type
from ...rules.elementwise import Elementwise
from ...transforms.loops.schedule import advances
from ..record.recorder import NAMED, is_elementwise


def operations(
    program: Readable,
    steps: Iterable[Step] | None = None,
    values: Mapping[int, Any] | None = None,
    guessed: set[str] | None = None,
) -> Counter[str]:
    """The operations of a program, or of some of its steps, by the name of the primitive.

    An operation is one addition, multiplication, comparison, or one evaluation of an elementary or special function.
    `values` tell how often a `while_loop` has turned; inside other loops that is not known, and one turn is counted.
    What had to be taken like that is added to `guessed`.
    """
    found: Counter[str] = Counter()
    known = {**program.constants, **(values or {})}
    guesses = set() if guessed is None else guessed
    for step in program.steps if steps is None else steps:
        if step.primitive is GUARD or step.primitive is NAMED:
            continue
        if isinstance(step.primitive, LoopPrimitive):
            found.update(LOOPS[step.primitive.operands](step, known, guesses))
        else:
            count = _of_one(program, step)
            if count:
                found[step.primitive.name] += count
    return found


GUESSES = {
    "while_loop": "A while_loop inside a loop or a choice is counted as one turn: how often it turns is not known.",
    "cond": "A choice inside a loop is counted as its dearest branch: which one is taken is not known.",
}
"""What to say where a count is not that of this very evaluation."""


def functions(counted: Counter[str], primitives: Iterable[Any]) -> dict[str, int]:
    """Those operations that are evaluations of a function such as exp or sin, which take longer than an addition."""
    names = {p.name for p in primitives if _is_function(p)}
    return {name: n for name, n in counted.most_common() if name in names and n}


def primitives_of(program: Readable, steps: Iterable[Step] | None = None) -> list[Any]:
    """The primitives of the steps, and of the programs inside them."""
    found = [step.primitive for step in every_step(program.steps if steps is None else steps)]
    return list({id(p): p for p in found}.values())


def is_estimated(primitive: Any) -> bool:
    """Whether there is no entry for an operation: then one operation is counted for each number it gives."""
    if primitive is GUARD or primitive is NAMED or is_elementwise(primitive) or isinstance(primitive, LoopPrimitive):
        return False
    facts = primitive.facts
    return not (facts.cost or facts.moves or facts.addressed or facts.reduces or facts.accumulates or facts.contracts)


def _is_function(primitive: Any) -> bool:
    """Whether it takes longer than arithmetic, whose cost is given."""
    return isinstance(getattr(primitive, "derivative", None), Elementwise) and primitive.facts.cost is None


def _of_one(program: Readable, step: Step) -> int:
    """Operations of a step, from what its entry says: its cost, what it moves, reduces or contracts, its formula."""
    facts = step.primitive.facts
    takes = [program.types[a] for a in step.args]
    gives = [program.types[o] for o in step.outs]
    if facts.cost is not None:
        return round(facts.cost(takes, gives, step.params))
    if facts.addressed is not None and len(takes) > facts.addressed.first:
        return takes[0].size if facts.addressed.does == ADDS else 0
    if facts.moves is not None:
        return 0
    if facts.reduces is not None or facts.accumulates is not None:
        return takes[0].size
    if facts.contracts is not None:
        return _of_product(takes, facts.contracts(takes[0].shape, takes[1].shape, **step.params))
    written_out = formula_of(step.primitive, takes, step.params)
    each = 1 if written_out is None else sum([_of_one(written_out, inner) for inner in written_out.steps])
    return each * sum([t.size for t in gives])


def _of_product(takes: Sequence[Type], labels: tuple[Labels, Labels, Labels]) -> int:
    """Every combination of labels is a product; it is an addition too if something is summed."""
    sizes: dict[Any, int] = {}
    for names, t in zip(labels, takes, strict=False):
        for label, n in zip(names, t.shape, strict=True):
            sizes[label] = max(n, sizes.get(label, 1))
    return math.prod(sizes.values()) * (1 if set(sizes) == set(labels[2]) else 2)


# Loops: as often as they turn, what is inside


def _times(n: int, once: Counter[str]) -> Counter[str]:
    return Counter({name: n * count for name, count in once.items()})


def _scan(step: Step, values: Mapping[int, Any], guessed: set[str]) -> Counter[str]:
    return _times(step.params["length"], operations(step.params["body"], guessed=guessed))


def _while(step: Step, values: Mapping[int, Any], guessed: set[str]) -> Counter[str]:
    turns = _turns(step.outs[-1], values, guessed)
    asked = operations(step.params["cond"], guessed=guessed)
    return _times(turns, operations(step.params["body"], guessed=guessed)) + _times(turns + 1, asked)


def _turns(number: int, values: Mapping[int, Any], guessed: set[str]) -> int:
    if number not in values:
        guessed.add("while_loop")
    return int(values.get(number, 1))


def _cond(step: Step, values: Mapping[int, Any], guessed: set[str]) -> Counter[str]:
    """The branch that is taken, or the dearest one where that is not known."""
    chosen = values.get(step.args[0])
    if chosen is not None:
        return operations(step.params["branches"][int(chosen)], guessed=guessed)
    guessed.add("cond")
    return max([operations(b, guessed=guessed) for b in step.params["branches"]], key=lambda counted: counted.total())


def _recomputed(step: Step, values: Mapping[int, Any], guessed: set[str]) -> Counter[str]:
    """A sweep back through a loop that stored few of its carries, or none: turns are taken again, by the schedule."""
    p = step.params
    turns, slots = _turns(step.args[0], values, guessed), 0
    if p["memory"]:
        inputs = PullOperands.of(step).inner(PullOperands.BODY, p["body"])
        carry = [p["body"].types[n] for n in inputs["carry"]]
        slots = max(p["memory"] // max(sum([t.size * t.dtype.itemsize for t in carry]), 1), 1)
    again = advances(turns, slots or max(turns, 1))
    back = operations(p["back"], guessed=guessed)
    return _times(turns, back) + _times(again, operations(p["body"], guessed=guessed))


LOOPS: dict[type[Operands], Callable[[Step, Mapping[int, Any], set[str]], Counter[str]]] = {
    ScanOperands: _scan, WhileOperands: _while, CondOperands: _cond, PullOperands: _recomputed,
}  # fmt: skip
