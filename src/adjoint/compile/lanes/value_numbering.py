"""Which elements of a value are computed alike from the same numbers, so that one of them is enough."""

from __future__ import annotations

import math

import numpy as np

from ...core.entry.moves import Pieces, View
from ...ir.fold import makers, values_wanted
from ...ir.program import Program, Step
from ..program.loop_checks import is_number
from ..program.moving import is_addressed, labels_of

LARGEST = 8192
"""Elements of a value up to which it is looked at."""


class Alike:
    """Classes of elements, for values of one program: an array of whole numbers for each, equal where elements are."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._maker = makers(program.steps)
        self._classes: dict[int, np.ndarray] = {}

    def first(self, v: int, along: int | None = None) -> np.ndarray:
        """For each element, counted row by row, the first one that is the same; or is so everywhere along an axis."""
        classes = self._of(v)
        if along is not None:
            slices = np.moveaxis(classes, along, 0)
            classes = slices[0]
            for other in slices[1:]:
                classes = _paired(classes, other)
        _, index, inverse = np.unique(classes.ravel(), return_index=True, return_inverse=True)
        return np.asarray(index[inverse.ravel()])

    def _of(self, v: int) -> np.ndarray:
        """The classes of a value; those of what it is made of come first, without recursion."""
        return values_wanted([v], self._followed, self, self._classes)[v]

    def _followed(self, v: int) -> Step | None:
        """The step that makes a value, if elements of its operands say which of its own are alike."""
        step = self._maker.get(v)
        return step if step is not None and step.args and self._is_followed(step) else None

    def _is_followed(self, step: Step) -> bool:
        facts, types = step.primitive.facts, self.program.types
        if (
            len(step.outs) != 1
            or is_addressed(step)
            or max([types[n].size for n in (*step.args, *step.outs)]) > LARGEST
        ):
            return False
        return facts.kernel is not None or facts.contracts is not None or isinstance(facts.moves, (View, Pieces))

    def constant(self, number: int, value: object) -> np.ndarray:
        """The classes of what is not followed: those of a number, of an array that stays, each for itself."""
        program, shape = self.program, self.program.types[number].shape
        value = program.constants.get(number)
        if is_number(value):
            return np.zeros(shape, int)
        if number in program.frozen and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return _renumbered(np.ascontiguousarray(value).view(f"i{value.itemsize}").reshape(shape))
        return np.arange(math.prod(shape)).reshape(shape)

    def step(self, step: Step, args: list[np.ndarray]) -> list[np.ndarray]:
        """The classes of the result of a step."""
        return [self._result(step, args)]

    def _result(self, step: Step, given: list[np.ndarray]) -> np.ndarray:
        facts, shape = step.primitive.facts, self.program.types[step.outs[0]].shape
        if facts.kernel is not None:
            found = np.zeros(shape, int)
            for classes in given:
                found = _paired(found, np.broadcast_to(classes, shape))
            return found
        if facts.contracts is not None:
            return self._product(step, given)
        if isinstance(facts.moves, Pieces):
            starts = np.cumsum([0, *[int(classes.max(initial=-1)) + 1 for classes in given[:-1]]])
            given = [classes + start for classes, start in zip(given, starts, strict=True)]
        return np.asarray(step.primitive.evaluate(*given, **step.params))

    def _product(self, step: Step, given: list[np.ndarray]) -> np.ndarray:
        """Elements of a product are alike if the rows and the columns are that meet in them."""
        first, second, result = labels_of(self.program.types, step)
        shape = self.program.types[step.outs[0]].shape
        found = np.zeros(shape, int)
        for labels, classes in zip((first, second), given, strict=True):
            outer = [k for k in result if k in labels]
            order = [labels.index(k) for k in (*outer, *[k for k in labels if k not in result])]
            lines = classes.transpose(order).reshape(*[classes.shape[labels.index(k)] for k in outer], -1)
            line = np.zeros(lines.shape[:-1], int)
            for k in range(lines.shape[-1]):
                line = _paired(line, lines[..., k])
            wide = line.reshape([classes.shape[labels.index(k)] if k in labels else 1 for k in result])
            found = _paired(found, np.broadcast_to(wide, shape))
        return found


def _paired(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Classes of pairs; where all of one are alike, those of the other."""
    if not y.any():
        return x
    return _renumbered(x * (int(y.max()) + 1) + y) if x.any() else y


def _renumbered(x: np.ndarray) -> np.ndarray:
    return np.unique(x, return_inverse=True)[1].reshape(x.shape)
