"""Python's integers and truth values as inputs of a program: handles that count as Python does.

A program computes with 64 bits, Python with as many as it takes. So the capture keeps for each such handle the range
that its guards allow: an operation that cannot leave the 64 bits is a step, one that could is guarded to a narrower
range first, and what does not fit even then is taken with plain numbers, for exactly these values.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable
from typing import Any

from ..core.primitive import Primitive
from ..core.trace import Trace
from ..core.traced import Traced

Range = tuple[int, int]
"""The smallest and the largest value that a handle can have in its program."""
WORD: Range = (-(2**63), 2**63 - 1)
TRUTH: Range = (0, 1)
EXACT = 2**53
"""Up to here every integer is a double-precision number."""
USUAL = 2**31
"""Numbers that count something are smaller; of two such even the product fits."""


class Integers(dict[int, frozenset[int]]):
    """Python's integers by their numbers: the inputs that each is computed from."""

    __slots__ = ("ranges",)

    def __init__(self) -> None:
        super().__init__()
        self.ranges: dict[int, Range] = {}
        """What the guards let through of each."""


class Number(Traced):
    """A Python number of a captured program. It is `float`, `int` or `bool` for `isinstance`, as its code expects."""

    __slots__ = ()
    __class__ = property(lambda self: type(self.value))  # type: ignore[assignment]

    def current(self) -> Traced:
        """The handle as the other traces know it: of a number that takes the precision of the array it meets."""
        return Traced(self.value, self.traced_by, self.node)

    def __copy__(self) -> Number:
        return self

    def __deepcopy__(self, memo: object) -> Number:
        return self


class Count(Number):
    """A Python int or bool of a captured program.

    Whoever wants a true Python number (a shape, an index of a list, `range`, text) gets it, and a guard is written.
    """

    __slots__ = ()

    @staticmethod
    def meeting(capture: Trace, primitive: Primitive, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of a step, guarded to what the arrays among them can hold; `adjoint.numpy` knows how."""
        return args


def is_count(x: object) -> bool:
    """Whether a plain number can be one of these handles."""
    return type(x) is bool or (type(x) is int and WORD[0] <= x <= WORD[1])


def fits(range_: Range) -> bool:
    """Whether every value in between has 64 bits."""
    return WORD[0] <= range_[0] and range_[1] <= WORD[1]


class LooksAtNumbersError(Exception):
    """The function can tell a handle from a number, so it has to get the number itself."""


TELLTALE = frozenset(("type", "hasattr", "id"))
"""Builtins that see through a handle. Calls of the first two go to versions that do not, in a copy of the function."""


def tells_handles_apart(functions: Iterable[types.FunctionType]) -> bool:
    """Whether one of the user's functions asks what no handle can answer as a number would: `type(n) is int`."""
    return any([_tells(f.__code__) for f in functions])


@functools.lru_cache(4096)
def _tells(code: types.CodeType) -> bool:
    from ..host.code.reach import codes_in, globals_of  # for jit alone, so not when the library is imported
    from ..host.code.uses import compares_with_number

    return not TELLTALE.isdisjoint(globals_of(code)) or any(map(compares_with_number, codes_in(code)))
