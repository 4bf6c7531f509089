"""What the way back needs of a function's values: what is stored for it, and what is computed again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...core.traced import Traced
from ...core.values import dtype_of
from ...ir.program import Step
from ..formula.expression import expression_of
from ..formula.notation import Notation
from ..show.rows import Row, TraceView
from .record import Recorded
from .recorder import NAMED, Notebook
from .sweeps import sweep_back_plainly

Calls = tuple[int, ...]
"""The checkpointed calls around a step, from the outermost in."""

SHORTEST_RUN = 4
"""So many values in neighbouring rows are listed as `v4..v8`."""


@dataclass(frozen=True)
class MemoryUse:
    """The values that are stored for the way back, and those that are computed again; prints as one line."""

    stored: tuple[str, ...]
    """What the stored values are called."""
    values: tuple[int, int]
    """How many values are stored, of how many that the view has."""
    bytes: tuple[int, int]
    """How much memory they take, of how much."""
    recomputed: tuple[tuple[str, Calls], ...]
    """What the values are called that are computed again, and the checkpointed calls they belong to."""

    def __str__(self) -> str:
        share = f"{self.values[0]:,} of {self.values[1]:,} values, {self.bytes[0]:,} of {self.bytes[1]:,} bytes"
        text = f"stored: {', '.join(self.stored) or 'nothing'} ({share})"
        parts = [f"{names} ({_calls_text(calls)})" for names, calls in self.recomputed]
        return f"{text}; recomputed: {', '.join(parts)}" if parts else text


def _calls_text(calls: Calls) -> str:
    return f"checkpoint {calls[0]}" if len(calls) == 1 else f"{len(calls)} checkpoints"


def memory_of(
    view: TraceView, called: Callable[[int], str] | None = None, *, keeping: Keeping | None = None
) -> MemoryUse:
    """What is stored for the way back and what is computed again, in the names of a view.

    `called` gives the name of a place, by default the user's own, or v1, v2, ...; `keeping` what is known already.
    """
    keeping = keeping or keeping_of(view.recorded)
    names = called or (lambda place: view.labels.get(place) or view.names[place])
    notebook, notes = view.recorded.notebook, view.recorded.trace.notes
    sizes: dict[Any, int] = {}
    stored: list[tuple[int, str, Calls]] = []
    recomputed: list[tuple[int, str, Calls]] = []
    for k, row in enumerate(view.rows):
        new: list[tuple[int, Any]] = []
        for place in _shown(row, keeping, view):
            block, size = memory_at(notebook, view.number(place))
            if block not in sizes:
                sizes[block] = size
                new.append((place, block))
        kept = [place for place, block in new if block in keeping.stored]
        stored += [(k, names(place), ()) for place in kept if place in row.outs]
        stored += _inside(k, [place for place in kept if place not in row.outs], names(row.outs[-1]), ())
        again = [(p, c) for p, b in new if b not in keeping.stored and (c := notes[p].checkpoint) in keeping.reached]
        if row.kind in ("block", "loop"):
            calls = tuple(sorted({c for _, c in again if c is not None}))
            recomputed += _inside(k, [place for place, _ in again], names(row.outs[-1]), calls)
        else:
            recomputed += [(k, names(place), (c,)) for place, c in again if c is not None]
    rest = keeping.stored - set(sizes)  # masks and places, which are no values of the trace
    others = {b: (n, s) for n in computed(view.recorded) for b, s in [memory_at(notebook, n)] if b in rest}
    sizes.update({b: s for b, (_, s) in others.items()})
    return MemoryUse(
        (*[text for text, _ in _with_runs(stored)], *_unshown(view, names, [n for n, _ in others.values()])),
        (len(keeping.stored), len(sizes)),
        (sum([sizes[b] for b in keeping.stored]), sum(sizes.values())),
        tuple(_with_runs(recomputed)),
    )


def _unshown(view: TraceView, names: Callable[[int], str], numbers: list[int]) -> list[str]:
    """What is stored and is no value of any row: conditions, as the table writes them, and how many others."""
    notation = Notation(lambda symbol: names(symbol.place), view.arrays)
    found = [expression_of(view.recorded.notebook, n, view.symbols) for n in numbers]
    texts = [f"[{notation.text(e)}]" for e in found if e.head.facts.form.sign in COMPARISONS]
    count = len(found) - len(texts)
    return [*dict.fromkeys(texts), *([f"{count} that no row shows"] if count else [])]


COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def marks(view: TraceView, keeping: Keeping) -> dict[int, str]:
    """For the places that rows show of checkpointed calls: `stored`, or `recomputed` and by which call."""
    notes, found = view.recorded.trace.notes, {}
    for row in view.rows:
        calls = tuple(sorted({c for m in row.members for c in notes[m].checkpoints if c in keeping.reached}))
        for place in row.outs if calls else ():
            is_stored = memory_at(view.recorded.notebook, view.number(place))[0] in keeping.stored
            found[place] = "stored" if is_stored else f"recomputed ({_calls_text(calls)})"
    return found


def _inside(row: int, places: list[int], name: str, calls: Calls) -> list[tuple[int, str, Calls]]:
    count = len(places)
    return [(row, f"{count} value{'s' if count > 1 else ''} inside {name}", calls)] if places else []


def _shown(row: Row, keeping: Keeping, view: TraceView) -> list[int]:
    """The places of a row that count as values: its results, what a block or loop computes, and what is stored."""
    found = list(row.outs)
    for place in row.members:
        if place in row.outs or not isinstance(view.recorded.trace[place][3], Traced):
            continue
        is_stored = memory_at(view.recorded.notebook, view.number(place))[0] in keeping.stored
        if is_stored or row.kind in ("block", "loop"):
            found.append(place)
    return found


def _with_runs(parts: list[tuple[int, str, Calls]]) -> list[tuple[str, Calls]]:
    """Names of the same calls together, those of many neighbouring rows as `v4..v8`."""
    found: list[tuple[str, Calls]] = []
    for calls in dict.fromkeys([part[2] for part in parts]):
        own = [part for part in parts if part[2] == calls]
        texts: list[str] = []
        run: list[tuple[int, str, Calls]] = []
        for part in [*own, (-2, "", ())]:
            if run and part[0] != run[-1][0] + 1:
                names = [name for _, name, _ in run]
                texts += [f"{names[0]}..{names[-1]}"] if len(names) >= SHORTEST_RUN else names
                run = []
            run.append(part)
        found.append((", ".join(texts), calls))
    return found


class Keeping(NamedTuple):
    """What a sweep back over a recording does, and what it relies on."""

    steps: list[Step]
    """The steps of the sweep."""
    again: list[Step]
    """Steps of the function that are taken again for it; one inside n checkpointed calls comes n times."""
    kept: dict[Calls, frozenset[Any]]
    """The pieces of memory that are kept: () all the way, others while the inside of these calls is swept."""
    reached: frozenset[int]
    """The checkpointed calls that the sweep passes, and whose inside is computed again."""

    @property
    def stored(self) -> frozenset[Any]:
        """What is kept from the function to the end of the sweep."""
        return self.kept.get((), frozenset())


def keeping_of(recorded: Recorded) -> Keeping:
    """Sweep back, and see which of the function's values are read.

    A value that the derivative of a step reads is kept by the innermost trace that sees both: the whole function's,
    or that of a checkpointed call around both. So is what a checkpointed call reads from outside: its arguments.
    """
    notebook, trace = recorded.notebook, recorded.trace
    calls = _calls(recorded)
    start = len(notebook.program.steps)
    backward = sweep_back_plainly(recorded, recorded.unit_seeds())
    steps = notebook.program.steps[start:]
    reached = frozenset([c for place in backward.adjoints for c in trace.notes[place].checkpoints])
    reads: set[tuple[Calls, int]] = set()
    places = {handle.node: place for place, handle in backward.adjoints.items()}
    reader: Calls | None = None
    for step in steps:  # what follows the adjoint of a place is that place's derivative
        if step.primitive is NAMED and step.outs[0] in places:
            reader = trace.notes[places[step.outs[0]]].checkpoints
        elif reader is not None:
            reads.update([(reader, a) for a in step.args if a in calls])
    again: list[Step] = []
    for step in notebook.program.steps[: recorded.steps]:
        around = calls[step.outs[0]] if step.outs else ()
        times = len([c for c in around if c in reached])
        again += [step] * times
        if times:
            reads.update([(around, a) for a in step.args if a in calls and calls[a][: len(around)] != around])
    kept: dict[Calls, set[Any]] = {}
    for around, n in reads:
        kept.setdefault(_shared(around, calls[n]), set()).add(memory_at(notebook, n)[0])
    return Keeping(steps, again, {where: frozenset(blocks) for where, blocks in kept.items()}, reached)


def _shared(one: Calls, other: Calls) -> Calls:
    """The calls that are around both."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return one[:count]


def _calls(recorded: Recorded) -> dict[int, Calls]:
    """The checkpointed calls in which each number was computed; what has no place belongs to its reader."""
    found: dict[int, Calls] = dict.fromkeys(recorded.notebook.program.inputs[: len(recorded.inputs)], ())
    for (_, _, _, out, _), note in zip(recorded.trace, recorded.trace.notes, strict=True):
        if isinstance(out, Traced):
            found.setdefault(out.node, note.checkpoints)
    readers: dict[int, Calls] = {}
    for step in reversed(recorded.notebook.program.steps[: recorded.steps]):
        known = next((found[o] for o in step.outs if o in found), None)
        here = next((readers[o] for o in step.outs if o in readers), ()) if known is None else known
        for o in step.outs:
            found.setdefault(o, here)
        readers.update(dict.fromkeys(step.args, here))
    return found


def memory_at(notebook: Notebook, number: int) -> tuple[Any, int]:
    """The piece of memory in which a number of the program lies, and its size in bytes: views lie in another's."""
    value = notebook.value(number)
    if not isinstance(value, np.ndarray):
        return ("number", number), dtype_of(value).itemsize
    while isinstance(value.base, np.ndarray):
        value = value.base
    return id(value), value.nbytes


def computed(recorded: Recorded) -> list[int]:
    """The numbers of the program that are inputs of the function, or computed by it."""
    program = recorded.notebook.program
    return [*program.inputs, *[o for step in program.steps[: recorded.steps] for o in step.outs]]


def peak_back(recorded: Recorded, keeping: Keeping) -> int:
    """The most bytes that reverse mode holds of the function's values: while it is evaluated, or on the way back.

    There the inside of one checkpointed call at a time is held again.
    """
    sizes: dict[Any, int] = dict([memory_at(recorded.notebook, n) for n in computed(recorded)])
    held = {where: sum([sizes[block] for block in blocks]) for where, blocks in keeping.kept.items()}
    back = [sum([held.get(where[:depth], 0) for depth in range(len(where) + 1)]) for where in held]
    return max(peak(recorded, kept=keeping.stored), *back, 0)


def peak(recorded: Recorded, *, kept: frozenset[Any] = frozenset(), with_tangents: bool = False) -> int:
    """The most bytes that are held at one time while the function is evaluated.

    A value is let go after its last use; inputs, results and what is `kept` stay. With tangents every value that moves
    is held twice.
    """
    notebook = recorded.notebook
    moving = {node[3].node for node in recorded.trace if isinstance(node[3], Traced)} if with_tangents else set()
    sizes: dict[Any, int] = {}
    homes: dict[int, Any] = {}
    for n in computed(recorded):
        homes[n], size = memory_at(notebook, n)
        sizes[homes[n]] = max(sizes.get(homes[n], 0), size * (2 if n in moving else 1))
    stays = {homes[n] for n in notebook.program.inputs}
    stays |= {homes[o.value.node] for o in recorded.outputs if isinstance(o, Traced) and o.traced_by is recorded.trace}
    steps = notebook.program.steps[: recorded.steps]
    last = {homes[n]: k for k, step in enumerate(steps) for n in (*step.outs, *step.args) if n in homes}
    held = {homes[n] for n in notebook.program.inputs}
    most = total = sum([sizes[h] for h in held])
    for k, step in enumerate(steps):
        for home in {homes[o] for o in step.outs} - held:
            held.add(home)
            total += sizes[home]
        most = max(most, total)
        for home in ({homes[n] for n in (*step.outs, *step.args) if n in homes} & held) - stays - kept:
            if last[home] == k:
                held.remove(home)
                total -= sizes[home]
    return most
