"""Going over the steps of a program: `fold` with anything in the place of numbers, `rewritten` in a pass, questions.

class Texts:  # an algebra
def constant(self, number, value):
return repr(value)

def step(self, step, args):
return [f"{step.primitive.name}({', '.join(args)})"]

fold(program, Texts(), ["x", "y"])  # ["sin(multiply(x, 2.0))"]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from .program import GUARD, Program, Readable, Step, inner_programs

V = TypeVar("V")


class Algebra(Protocol[V]):
    """What stands for values: numbers, handles, texts, expressions, sets of inputs, numbers of another program."""

    def constant(self, number: int, value: Any) -> V:
        """What a constant is."""

    def step(self, step: Step, args: list[V]) -> Iterable[V]:
        """What a step makes of what its arguments are, one for each of its results."""


def fold(program: Program, algebra: Algebra[V], inputs: Iterable[V]) -> list[V]:
    """The outputs of a program, given what its inputs are."""
    known = values_of(program, algebra, inputs)
    return [known[o] for o in program.outputs]


def values_of(
    program: Readable, algebra: Algebra[V], inputs: Iterable[V], steps: Iterable[Step] | None = None
) -> dict[int, V]:
    """All values of a program, or those that some of its steps make, given what its inputs are."""
    known = dict(zip(program.inputs, inputs, strict=True))
    for number, value in program.constants.items():
        if number not in known:  # an array of a body is both: it is handed in
            known[number] = algebra.constant(number, value)
    take = algebra.step
    for step in program.steps if steps is None else steps:
        known.update(zip(step.outs, take(step, [known[a] for a in step.args]), strict=True))
    return known


def values_wanted(
    wanted: Iterable[int], maker: Callable[[int], Step | None], algebra: Algebra[V], known: dict[int, V]
) -> dict[int, V]:
    """The values that are asked for, and those that they depend on, are put to those that are known.

    `maker` gives the step that makes a value; what has none is a constant. Without recursion, as programs are long.
    """
    waiting = list(wanted)
    while waiting:
        number = waiting[-1]
        if number in known:
            waiting.pop()
            continue
        step = maker(number)
        missing = [] if step is None else [a for a in step.args if a not in known]
        if missing:
            waiting += missing
        elif step is None:
            known[number] = algebra.constant(number, None)
        else:
            known.update(zip(step.outs, algebra.step(step, [known[a] for a in step.args]), strict=True))
    return known


def results(step: Step, out: Any) -> Iterable[Any]:
    """What the primitive of a step gave, one for each result."""
    return out if step.primitive.multiple else (out,)


def rewritten(program: Program, change: Callable[[Step], Step | Sequence[int]]) -> Program:
    """The program with another step in the place of each, or with values that its results are the same as.

    A step comes with the arguments that it has after what was said of those before it.
    """
    steps: list[Step] = []
    outputs = written(program, change, steps.append)
    return program.having(steps=steps, outputs=outputs)


def written(
    program: Program, change: Callable[[Step], Step | Sequence[int]], append: Callable[[Step], None]
) -> list[int]:
    """As `rewritten`, where the steps go to a program in the making; the outputs there."""
    same: dict[int, int] = {}
    for step in program.steps:
        if same:
            args = tuple([same.get(a, a) for a in step.args])
            step = step if args == step.args else step._replace(args=args)
        new = change(step)
        if isinstance(new, Step):
            append(new)
        else:
            same.update(zip(step.outs, new, strict=True))
    return [same.get(o, o) for o in program.outputs]


def rewritten_back(program: Program, change: Callable[[Step, set[int]], Step]) -> Program:
    """The program with another step in the place of each, which may depend on what those after it read."""
    needed = set(program.outputs)
    steps: list[Step] = []
    for step in reversed(program.steps):
        new = change(step, needed)
        needed.update(new.args)
        steps.append(new)
    return program.having(steps=steps[::-1])


# Questions


def every_step(steps: Iterable[Step]) -> Iterator[Step]:
    """Steps, and those of the programs inside them, each after the one that it is inside of."""
    for step in steps:
        yield step
        for inner in inner_programs(step):
            yield from every_step(inner.steps)


def makers(steps: Iterable[Step]) -> dict[int, Step]:
    """The step that makes each value."""
    return {o: step for step in steps for o in step.outs}


def made_by(steps: Iterable[Step]) -> set[int]:
    """The values that steps make."""
    return {o for step in steps for o in step.outs}


def read_by(steps: Iterable[Step], outputs: Iterable[int] = ()) -> set[int]:
    """The values that steps read, and these."""
    return {a for step in steps for a in step.args}.union(outputs)


def uses_of(steps: Iterable[Step], outputs: Iterable[int] = ()) -> Counter[int]:
    """How often each value is read; an output once more."""
    found = Counter([a for step in steps for a in step.args])
    found.update(outputs)
    return found


def last_reads(steps: Iterable[Step]) -> dict[int, int]:
    """For each value that is read, the place of the last step that does."""
    return {a: k for k, step in enumerate(steps) for a in step.args}


def guards_in(steps: Iterable[Step]) -> list[Step]:
    """The guards among steps."""
    return [step for step in steps if step.primitive is GUARD]


def has_kind(steps: Iterable[Step], *kinds: type) -> bool:
    """Whether the primitive of a step is an object of one of these classes."""
    return any([isinstance(step.primitive, kinds) for step in steps])


def reached(
    steps: Iterable[Step], start: Iterable[int], passes: Callable[[Step], Iterable[int]] = lambda step: step.outs
) -> set[int]:
    """Values, and those that depend on them; `passes` says which results of a step that reads one do."""
    found = set(start)
    for step in steps:
        if not found.isdisjoint(step.args):
            found.update(passes(step))
    return found


def leading_to(
    steps: Sequence[Step], wanted: Iterable[int], stays: Callable[[Step], bool] = lambda step: False
) -> tuple[list[Step], set[int]]:
    """The steps that values depend on, in order, and all that they read; so do those that stay anyway."""
    needed, found = set(wanted), []
    for step in reversed(steps):
        if not needed.isdisjoint(step.outs) or stays(step):
            needed.update(step.args)
            found.append(step)
    return found[::-1], needed


def may_fail(program: Readable, step: Step) -> bool:
    """Whether a step may raise, or give a result of another length, for other values of the same types.

    That is as much a decision of the program as a branch is, and guarded like one.
    """
    if step.primitive is GUARD:
        return True
    start = getattr(step.primitive, "fails_from", None)
    if step.primitive.facts.refuses_integers:
        return all([program.types[a].dtype.kind not in "fc" for a in step.args])
    if start is not None:
        return any([a not in program.constants or _is_open(program, a) for a in step.args[start:]])
    return any([may_fail(q, s) for q in inner_programs(step) for s in q.steps])


def _is_open(program: Readable, number: int) -> bool:
    """Whether a constant may hold other numbers at another run."""
    return program.types[number].shape != () and number not in program.frozen
