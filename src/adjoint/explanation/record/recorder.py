"""Recording to be shown: the trace that a derivative executes, with where each step stands and what the user calls it.

Two traces, one inside the other. The inner one is the reverse trace itself, so what is shown is what `ad.grad` does.
The outer one writes down every operation that is carried out, in the function and in the rules of its derivative, as
`ad.jit` does: that is where formulas come from.
"""

from __future__ import annotations

import linecache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import user_frame, user_frames
from ...core.primitive import Primitive
from ...core.reverse import INPUT, OUTPUT, Node, ReverseTrace
from ...core.traced import Ended, Traced, snapshot
from ...host.frames.variables import instruction_of, variables_in
from ...ir.capture import CaptureTrace
from ...ir.program import Step
from ...rules.constant import Constant
from ...rules.opaque import Opaque
from ...rules.stacking import aligned, leading
from ..block import Blocks, blocks_now
from .asking import word_at


class Place(NamedTuple):
    """A line of the user's code."""

    path: str
    line: int
    function: str
    instruction: int
    """Where in the function's bytecode: a loop comes back there, the next part of a long line does not."""

    @property
    def source(self) -> str:
        """The text of the line."""
        return linecache.getline(self.path, self.line).strip()

    def __str__(self) -> str:
        return f"{Path(self.path).name}:{self.line}"


class Note(NamedTuple):
    """What is known of a step besides what it computes."""

    place: Place | None
    blocks: Blocks
    checkpoints: tuple[int, ...]
    """The checkpointed calls around it, from the outermost in."""

    @property
    def checkpoint(self) -> int | None:
        """The checkpointed call it belongs to: its result is not stored, but computed again on the way back."""
        return self.checkpoints[-1] if self.checkpoints else None


BLANK = Note(None, (), ())


class Notebook(CaptureTrace):
    """The outer trace: a program of everything that is computed, with the value of each of its numbers."""

    is_checked = False

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[int, Any] = {}
        self.producers: dict[int, Step] = {}
        """The step that computes a number."""
        self.words: dict[int, str | None] = {}
        """The word of the user's code that asked for a guard, by the place of the guard among the steps."""
        self.calls: dict[int, tuple[int, ...]] = {}
        """The checkpointed calls around the step that computes a number, from the outermost in."""
        self.open: list[int] = []
        """The checkpointed calls that are under way."""

    def decided(self, x: Traced, why: str = "", likely: bool | None = None) -> Any:
        """The plain value of a handle, and with the guard the word that asked for it."""
        count = len(self.program.steps)
        found = super().decided(x, why, likely)
        frame = None if why else user_frame()
        if frame is not None and len(self.program.steps) > count:
            self.words[len(self.program.steps) - 1] = word_at(frame)
        return found

    def input(self, value: Any) -> Traced:
        """A fresh argument of the program."""
        handle = super().input(value)
        self.values[handle.node] = value
        return handle

    def write(self, primitive: Any, numbers: list[int], params: dict[str, Any], outs: tuple[Any, ...]) -> tuple:
        """Append a step; its results as handles."""
        handles = super().write(primitive, numbers, params, outs)
        for handle in handles:
            self.values[handle.node] = handle.value
            self.producers[handle.node] = self.program.steps[-1]
            if self.open:
                self.calls[handle.node] = tuple(self.open)
        return handles

    def write_one(self, primitive: Any, numbers: list[int], params: dict[str, Any], out: Any) -> Traced:
        """Append a step with one result."""
        return self.write(primitive, numbers, params, (out,))[0]  # type: ignore[no-any-return]

    def named(self, x: Any) -> Traced:
        """The same value under a number of its own: a sum that has come to its end, whatever it was made of."""
        number, value = self.number_of(x)
        return self.write(NAMED, [number], {}, (value,))[0]  # type: ignore[no-any-return]

    def end(self) -> None:
        """From now on a handle of this trace is its value; what was written down stays with the twin."""
        self.__class__ = EndedNotebook

    def twin(self) -> Notebook:
        """A notebook that goes on where this one stops."""
        new = Notebook()
        new.program, new.foreign, new.arrays, new.numbers = self.program, self.foreign, self.arrays, self.numbers
        new.values, new.producers, new.words, new.calls = self.values, self.producers, self.words, self.calls
        return new

    def value(self, number: int) -> Any:
        """The value of a number of the program."""
        found = self.values.get(number, self)
        return self.program.constants[number] if found is self else found


class EndedNotebook(Ended, Notebook):
    """A notebook that has ended."""


NAMED = Primitive("named", lambda x: x, derivative=Constant(), stacking=leading)
"""In a step that only gives its argument another number."""


class Recorder(ReverseTrace):
    """The inner trace, the reverse one, which also notes where the user's code stands and what it calls its values."""

    def __init__(self, note: Note | None = None) -> None:
        super().__init__()
        self.notes: list[Note] = []
        self.variables: dict[int, str] = {}
        """What the user calls the value at a place of the trace."""
        self.arrays: dict[int, tuple[Any, str]] = {}
        """What the user calls a plain array, by its identity."""
        self.note = note
        """Stands for the user's place while a trace is written from another one."""
        self._outside = [] if note else user_frames()
        """Who asks for the explanation: their variables are not the function's."""
        self._frames: dict[int, FrameType] = {}
        self.checkpoints: list[int] = []
        """The checkpointed calls that are under way."""
        self._count = 0

    def append(self, node: Node) -> None:
        """One more node, and what is to be known of it."""
        super().append(node)
        if self.note is not None:
            self.notes.append(self.note)
            return
        frames = [frame for frame in user_frames() if not any(frame is outer for outer in self._outside)]
        for frame in reversed(frames):
            self._look_at(frame)
        place = _place(frames[0]) if frames else None
        self.notes.append(Note(place, blocks_now(), tuple(self.checkpoints)))

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """As the reverse trace does, but the inside of a checkpointed function is written down as well.

        The sweep back computes the same steps again, so that their derivatives are those shown here.
        """
        if primitive.name != "checkpoint":
            return super().process(primitive, args, params)
        self._count += 1
        self.checkpoints.append(self._count)
        try:
            return primitive.evaluate(*args, **params)
        finally:
            self.checkpoints.pop()

    def unary(self, primitive: Primitive, x: Traced) -> Any:
        """`process`: the outer trace has to see this primitive, not what it is evaluated with."""
        return self.process(primitive, (x,), {})

    def end(self) -> None:
        """From now on a handle of this trace is its value."""
        self.__class__ = EndedRecorder
        self.clear()

    def finish(self) -> None:
        """Look a last time at the functions that were run: they keep their variables for as long as they are held."""
        for frame in self._frames.values():
            self._look_at(frame)

    def forget(self) -> None:
        """Let go of the user's frames, and of what is in them."""
        self._frames.clear()
        self._outside.clear()
        self.arrays.clear()

    def _look_at(self, frame: FrameType) -> None:
        if id(frame) not in self._frames:
            self._frames[id(frame)] = frame
            for name, x in frame.f_globals.items():
                self._know_array(name, x)
        for name, x in variables_in(frame).items():
            if isinstance(x, Traced):
                handle = _as_it_stands(x)
                if handle is not None and handle.traced_by is self and name.isidentifier():
                    self.variables.setdefault(handle.node, name)
            else:
                self._know_array(name, x)

    def _know_array(self, name: str, x: Any) -> None:
        if type(x) is np.ndarray and x.ndim and name.isidentifier():
            self.arrays.setdefault(id(x), (x, name))


class EndedRecorder(Ended, Recorder):
    """A recorder that has ended."""


def handed_over(notebook: Notebook, trace: Recorder, outputs: list[Any]) -> tuple[Notebook, Recorder, list[Any]]:
    """The same steps and results in traces that the user's function has no handle of; what it has kept is plain now.

    An explanation goes on to compute with what was recorded, long after the function has returned.
    """
    again, twin = notebook.twin(), Recorder(BLANK)
    twin.__dict__.update(trace.__dict__)

    def moved(x: Any) -> Any:
        if type(x) in (list, tuple):
            return type(x)([moved(part) for part in x])
        x = snapshot(x)
        if not isinstance(x, Traced):
            return x
        new = twin if x.traced_by is trace else again if x.traced_by is notebook else x.traced_by
        return Traced(moved(x.value), new, x.node)

    nodes = [(primitive, parents, moved(args), moved(out), params) for primitive, parents, args, out, params in trace]
    list.extend(twin, nodes)
    twin.jumps = [(primitive, moved(values), params) for primitive, values, params in trace.jumps]
    outputs = [moved(o) for o in outputs]
    trace.end()
    notebook.end()
    return again, twin, outputs


def _place(frame: FrameType) -> Place:
    code, place = instruction_of(frame)
    return Place(code.co_filename, frame.f_lineno, code.co_name, place)


def _as_it_stands(x: Any) -> Traced | None:
    """A handle without asking a view to read its base again, which would be a step."""
    if type(x) is Traced:
        return x
    return None if x._is_stale() else x._handle


def is_elementwise(primitive: Any) -> bool:
    """Whether an operation takes the elements of its arguments one after the other."""
    if primitive is INPUT or primitive is OUTPUT:
        return False
    has_a_domain = primitive.nin is not None
    return has_a_domain or (primitive.stacking is aligned and not isinstance(primitive.derivative, Opaque))
