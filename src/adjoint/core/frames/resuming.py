"""What a frame needs to go on from where it stands: the variables that its instructions will still read."""

from __future__ import annotations

import builtins
import inspect
import sys
from bisect import bisect_right
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import NamedTuple

from .callsite import Step, instructions
from .testing import LAST, SUSPENDING, TESTS, depths_in, jumps_in

CALLS = {"CALL": 2, "CALL_KW": 3}
"""Instructions that call a function of Python's, and how many values they take from the stack besides arguments."""
TAKES_ARGUMENTS = sys.version_info >= (3, 12)
"""Whether these take the arguments too; before, PRECALL is said to have done so."""
COUNTED = {"range": "STORE_FAST", "enumerate": "UNPACK_SEQUENCE"}
"""What a `for` may go over so that a variable tells how far it has come, and the instruction that takes an item."""
LOOKING = frozenset(("dir", "eval", "exec", "locals", "vars"))
"""Functions that see variables by name."""


def needed_variables(frame: FrameType) -> frozenset[str] | None:
    """The variables that decide how a frame goes on; None if something else does.

    That is what waits on its stack: a part of an expression, the context of a `with`, the iterator of a `for`. The
    iterator of a `for` over `range` or `enumerate` is known from its variable, if nothing else writes to that.
    """
    code = frame.f_code
    known = _known.get(id(code))
    if known is None:
        known = _known[id(code)] = code, _Instructions(code)
    found = known[1].needed(frame.f_lasti)
    if found is None:
        return None
    for name in found.counters:
        if frame.f_globals.get(name, vars(builtins)[name]) is not vars(builtins)[name]:
            return None
    return found.variables


_known: dict[int, tuple[CodeType, _Instructions]] = {}
"""By the address of a code, which is kept, so that no other one gets its address."""


class Resumption(NamedTuple):
    """What decides how a frame goes on."""

    variables: frozenset[str]
    counters: frozenset[str]
    """The functions that loops around it go over, which have to be Python's own."""


class _Instructions:
    """The instructions of a code, and what follows from them."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.steps = instructions(code)
        self.places = [step.place for step in self.steps]
        self.targets = jumps_in(code, self.steps)
        is_plain = code.co_flags & inspect.CO_OPTIMIZED and not code.co_flags & SUSPENDING
        self.depths = depths_in(self.steps, self.targets) if is_plain else {}
        self.always = frozenset((*code.co_cellvars, *code.co_freevars))
        """Variables that functions inside may read."""
        self.found: dict[int, Resumption | None] = {}
        self.read_later: list[frozenset[str]] | None = None

    def needed(self, last: int) -> Resumption | None:
        """What decides how a frame goes on whose last instruction is here."""
        if last not in self.found:
            self.found[last] = self._needed(bisect_right(self.places, last) - 1)
        return self.found[last]

    def _needed(self, at: int) -> Resumption | None:
        step = self.steps[at]
        takes = 1 if step.name.startswith("POP_JUMP") else TESTS.get(step.name)
        if takes is None and step.name in CALLS:
            takes = CALLS[step.name] + step.arg * TAKES_ARGUMENTS
        depth = self.depths.get(step.place)
        if takes is None or depth is None:
            return None
        around = [k for k, s in enumerate(self.steps) if s.name == "FOR_ITER" and s.place < step.place < self._end(s)]
        if depth - takes != len(around):
            return None
        counters = [self._counter(k) for k in around]
        if None in counters:
            return None
        names = frozenset([name for found in counters if found is not None for name in found[:1]])
        variables = frozenset([found[1] for found in counters if found is not None])
        return Resumption(self._live(at) | variables, names)

    def _end(self, step: Step) -> int:
        return self.targets[step.place]

    def _counter(self, at: int) -> tuple[str, str] | None:
        """What a `for` goes over, and the variable that tells how far it has come; None if there is none."""
        get, called = self.steps[at - 1], self.steps[at - 2]
        if get.name != "GET_ITER" or called.name != "CALL":
            return None
        base = self.depths.get(get.place, 0) - 1
        k = at - 2
        while k >= 0 and self.depths.get(self.steps[k].place, -1) > base:
            k -= 1
        start = self.steps[k]
        name = self.code.co_names[start.arg >> 1] if start.name == "LOAD_GLOBAL" else ""
        inside = [self.depths.get(s.place, 0) for s in self.steps[k + 1 : at - 1]]
        if name not in COUNTED or self.depths.get(start.place) != base or min(inside, default=0) < base + 2:
            return None  # what is called is not what was read there
        first = self.steps[at + 1]
        if COUNTED[name] == first.name:
            first = self.steps[at + 1 + (name == "enumerate")]
        elif name == "enumerate":
            return None
        if not first.name.startswith("STORE_FAST"):
            return None
        variable = next(_written(self.code, first))
        end = self.targets[self.steps[at].place]
        around = [s for s in self.steps if self.steps[at].place < s.place < end]
        if variable in self.always or sum([variable in _written(self.code, s) for s in around]) != 1:
            return None
        return name, variable

    def _live(self, at: int) -> frozenset[str]:
        """The variables that may be read from an instruction on before they are written."""
        code = self.code
        if code.co_exceptiontable or LOOKING & {*code.co_names}:
            return frozenset((*code.co_varnames, *self.always))
        if self.read_later is None:
            self.read_later = self._solved()
        return self.read_later[at] | self.always

    def _solved(self) -> list[frozenset[str]]:
        number = {place: k for k, place in enumerate(self.places)}
        live: list[frozenset[str]] = [frozenset()] * len(self.steps)
        changes = True
        while changes:
            changes = False
            for k in reversed(range(len(self.steps))):
                step = self.steps[k]
                after = live[k + 1] if step.name not in LAST and k + 1 < len(self.steps) else frozenset()
                if step.place in self.targets:
                    after |= live[number[self.targets[step.place]]]
                found = (after - {*_written(self.code, step)}) | {*_read(self.code, step)}
                if found != live[k]:
                    live[k], changes = found, True
        return live


def _written(code: CodeType, step: Step) -> Iterator[str]:
    """The variables that an instruction writes, in order, before it reads any."""
    for does, k in _parts(code, step):
        if does == "STORE":
            yield code.co_varnames[k]


def _read(code: CodeType, step: Step) -> Iterator[str]:
    """The variables that an instruction reads, or lets go of."""
    parts = list(_parts(code, step))
    for i, (does, k) in enumerate(parts):
        if does != "STORE" and ("STORE", k) not in parts[:i]:
            yield code.co_varnames[k]


def _parts(code: CodeType, step: Step) -> Iterator[tuple[str, int]]:
    """What an instruction does with variables that are no cells: from Python 3.13 on one may do two things."""
    does = [word for word in step.name.split("_") if word in ("LOAD", "STORE", "DELETE")] if "FAST" in step.name else []
    places = [step.arg] if len(does) == 1 else [step.arg >> 4, step.arg & 15]
    yield from [(word, k) for word, k in zip(does, places, strict=False) if k < len(code.co_varnames)]
