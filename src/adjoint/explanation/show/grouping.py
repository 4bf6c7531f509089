"""Which steps of a trace are shown together."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from ...core.entry.moves import Same, View
from ...core.reverse import OUTPUT
from ...ops.arithmetic import add, divide, multiply, negative, positive, subtract
from ..record.recorder import Note, Recorder

LARGEST_ROW = 64
"""So many steps are one row at most, if nobody gave them a name."""

FEWEST_TURNS, FEWEST_ROWS = 4, 12
"""From here on a loop is long enough to be shown as one row."""

LONGEST_TURN = 40


class Group(NamedTuple):
    """Steps that make one row."""

    members: list[int]
    outs: list[int]
    kind: str
    caption: str


def grouped(trace: Recorder, count: int, outputs: list[int], *, collapse: bool) -> list[Group]:
    """The steps after the first `count` places, which are inputs, put together in groups."""
    owner = _with_their_results(trace, count)
    _take_in(trace, count, outputs, owner)
    if collapse:
        _close_blocks(trace, count, owner)
    members: dict[int, list[int]] = {}
    for place in range(count, len(trace)):
        members.setdefault(owner[place], []).append(place)
    users = _users(trace)
    wanted = set(outputs)
    groups = []
    for inside in sorted(members.values(), key=lambda m: m[-1]):
        kind, caption = _kind(trace.notes[inside[-1]], collapse)
        groups.append(Group(inside, _outs(trace, inside, users, wanted), kind, caption))
    return _with_loops(trace, groups, users, wanted) if collapse else groups


def _kind(note: Note, collapse: bool) -> tuple[str, str]:
    return ("block", note.blocks[0][0]) if collapse and note.blocks else ("step", "")


def _with_their_results(trace: Recorder, count: int) -> dict[int, int]:
    """A step of several results is one group with them."""
    return {k: trace[k][1][0] if trace[k][0] is OUTPUT else k for k in range(count, len(trace))}  # type: ignore[misc]


def _users(trace: Recorder) -> dict[int, list[int]]:
    users: dict[int, list[int]] = {}
    for place, (_, parents, *_) in enumerate(trace):
        for p in parents:
            if p is not None:
                users.setdefault(p, []).append(place)
    return users


def _outs(trace: Recorder, inside: list[int], users: dict[int, list[int]], wanted: set[int]) -> list[int]:
    """The results that somebody outside uses, or else the last one."""
    own = set(inside)
    several = {trace[m][1][0] for m in inside if trace[m][0] is OUTPUT}
    found = [m for m in inside if m in wanted or any(u not in own for u in users.get(m, ()))]
    return [m for m in found if m not in several] or [m for m in inside if m not in several][-1:]


def _take_in(trace: Recorder, count: int, outputs: list[int], owner: dict[int, int]) -> None:
    """Sums with constant factors become one row, and what only moves elements is part of what uses it.

    That is how sums are written by hand, `v0 + v(-1) + 1.5 v(-2)`; a value that has a name keeps its row.
    """
    users = _users(trace)
    sizes = Counter(owner.values())
    for place in range(len(trace) - 1, count - 1, -1):
        using = users.get(place, [])
        if len(using) != 1 or place in outputs or place in trace.variables or owner[place] != place:
            continue
        primitive, user = trace[place][0], using[0]
        if primitive is OUTPUT or primitive.multiple or trace.notes[place].blocks != trace.notes[user].blocks:
            continue
        if trace.notes[place].checkpoint != trace.notes[user].checkpoint:
            continue
        moves = (_moves(primitive) or _is_copy(trace[place])) and trace[user][0] is not OUTPUT
        if (moves or (_is_affine(trace[place]) and _is_affine(trace[user]))) and sizes[owner[user]] < LARGEST_ROW:
            _join(owner, sizes, place, owner[user])


def _join(owner: dict[int, int], sizes: Counter[int], place: int, group: int) -> None:
    old = owner[place]
    for member, home in owner.items() if sizes[old] > 1 else [(place, old)]:
        if home == old:
            owner[member] = group
    sizes[group] += sizes.pop(old)


def _moves(primitive: Any) -> bool:
    """Whether an operation computes nothing: then it is read as part of what uses it."""
    return isinstance(primitive.facts.moves, (View, Same)) and primitive.facts.cost is None


def _is_copy(node: Any) -> bool:
    """Whether a step multiplies by 1, as derivatives of derivatives do."""
    primitive, parents, args, *_ = node
    constants = [a for a, p in zip(args, parents, strict=True) if p is None]
    return primitive is multiply and len(constants) == 1 and type(constants[0]) is float and constants[0] == 1.0


def _is_affine(node: Any) -> bool:
    primitive, parents, *_ = node
    if primitive is OUTPUT:
        return False
    if primitive in (add, subtract, negative, positive):
        return True
    moving = [p is not None for p in parents]
    return (primitive is multiply and sum(moving) == 1) or (primitive is divide and moving == [True, False])


def _close_blocks(trace: Recorder, count: int, owner: dict[int, int]) -> None:
    """Everything inside a named block is one group."""
    first: dict[int, int] = {}
    for place in range(count, len(trace)):
        blocks = trace.notes[place].blocks
        if blocks:
            owner[place] = first.setdefault(blocks[0][1], place)


def _with_loops(trace: Recorder, groups: list[Group], users: dict[int, list[int]], wanted: set[int]) -> list[Group]:
    """Rows that come again and again from the same lines of code are shown as one."""
    marks = [_mark(trace, g) for g in groups]
    found: list[Group] = []
    k = 0
    while k < len(groups):
        length, turns = _longest_run(marks, k)
        if turns < FEWEST_TURNS or length * turns < FEWEST_ROWS:
            found.append(groups[k])
            k += 1
            continue
        rows = groups[k : k + length * turns]
        inside = sorted(m for g in rows for m in g.members)
        outs = _outs(trace, inside, users, wanted)
        if len(outs) > turns // 2:  # not a loop but a list, of which every element is used
            found += rows
        else:
            found.append(Group(inside, outs, "loop", _caption(trace, rows, length, turns)))
        k += length * turns
    return found


def _mark(trace: Recorder, group: Group) -> tuple[Any, ...]:
    return tuple([(trace[m][0].name, trace.notes[m].place, len(trace[m][1])) for m in group.members])


def _longest_run(marks: list[Any], start: int) -> tuple[int, int]:
    """The shortest sequence that is repeated from here on, and how often, if it covers the most rows."""
    best = (1, 1)
    for length in range(1, min(LONGEST_TURN, (len(marks) - start) // 2) + 1):
        turns = 1
        while marks[start + turns * length : start + (turns + 1) * length] == marks[start : start + length]:
            turns += 1
        if turns >= FEWEST_TURNS and turns * length > best[0] * best[1]:
            best = (length, turns)
    return best


def _caption(trace: Recorder, rows: list[Group], length: int, turns: int) -> str:
    places = [p for g in rows[:length] for m in g.members if (p := trace.notes[m].place) is not None]
    lines = sorted({p.line for p in places})
    where = ""
    if lines:
        span = f"{lines[0]}" if lines[0] == lines[-1] else f"{lines[0]}-{lines[-1]}"
        where = f", {str(places[0]).rpartition(':')[0]}:{span}"
    blocks = dict.fromkeys(g.caption for g in rows[:length] if g.kind == "block")
    what = ", ".join(blocks) if blocks else f"{length} step{'s' if length > 1 else ''}"
    return f"{what} x {turns}{where}"
