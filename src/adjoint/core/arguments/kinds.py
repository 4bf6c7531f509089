"""Kinds of arguments: what a parameter takes, as a question to a value and the words for it."""

from __future__ import annotations

import math
import operator
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np

from ..traced import Traced
from .containers import is_too_deep

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ...host.records import NamedTuple

REAL = frozenset("fiu")
NUMERIC = frozenset("fiubc")
LARGEST = 2**62
"""No array has as many elements, and no loop as many rounds."""


class ArgumentKind(NamedTuple):
    """What a parameter takes."""

    words: str
    """After the name of the parameter and a comma: `a whole number of at least 1`."""
    accepts: Callable[[Any], bool]
    plainly: frozenset[type] = frozenset()
    """Types of which every value is accepted, so that nothing is asked of them."""


def kind_of(hint: Any) -> ArgumentKind:
    """The kind that a type hint asks for; `Any` and what is not known take everything that has an end."""
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return next((note for note in hint.__metadata__ if isinstance(note, ArgumentKind)), None) or kind_of(
            hint.__origin__
        )
    if origin in (Union, types.UnionType):
        return _either([kind_of(part) for part in typing.get_args(hint)])
    if origin is Literal:
        return one_of(typing.get_args(hint))
    if hint is Callable or origin is Callable:
        return FUNCTION
    if origin in (Sequence, Iterable, tuple, list):
        return _several(origin, typing.get_args(hint))
    if origin in (Mapping, dict):
        return MAPPING
    if isinstance(hint, typing.TypeVar) and hint.__bound__ is not None:
        return kind_of(hint.__bound__)
    if hint in PLAIN or origin in PLAIN:
        return PLAIN[hint] if hint in PLAIN else PLAIN[origin]
    if isinstance(hint, type) and hint.__module__.startswith("adjoint."):
        return _instance(hint)
    return ANYTHING


def looked_at_by_the_function(kind: ArgumentKind) -> ArgumentKind:
    """What the function looks at itself, with better words; but for what has no end."""
    if kind is TRUTH:  # nobody has better words for it
        return kind

    return ANYTHING._replace(words=kind.words, plainly=kind.plainly | ANYTHING.plainly)


def _instance(cls: type) -> ArgumentKind:
    article = "an" if cls.__name__[0] in "AEIOU" else "a"
    return ArgumentKind(f"{article} {cls.__name__}", lambda x: isinstance(x, cls), frozenset((cls,)))


def number(low: float = -math.inf, high: float = math.inf, *, above: bool = False, below: bool = False) -> ArgumentKind:
    """One real number in an interval, with its ends unless `above`, `below`; never nan. A traced number passes."""

    def accepts(x: Any) -> bool:
        if isinstance(x, Traced):
            return x.shape == () and x.dtype.kind in REAL
        if isinstance(x, (bool, np.bool)) or not _is_one(x, REAL):
            return False
        return (low < x if above else low <= x) and (x < high if below else x <= high)

    return ArgumentKind("a number" + _interval(low, high, above, below), accepts)


def whole(low: float = -math.inf, high: float = math.inf) -> ArgumentKind:
    """One whole number; what stands for one (`__index__`) passes, truth values do not."""

    def accepts(x: Any) -> bool:
        if isinstance(x, Traced):
            return x.shape == () and x.dtype.kind in "iu"
        if isinstance(x, (bool, np.bool)):
            return False
        try:
            return low <= operator.index(x) <= high
        except TypeError:
            return False

    return ArgumentKind("a whole number" + _interval(low, high, False, False), accepts)


def one_of(choices: Sequence[Any]) -> ArgumentKind:
    """One of several texts or other constants."""
    listed = [repr(choice) for choice in choices]
    words = f"{', '.join(listed[:-1])} or {listed[-1]}" if len(listed) > 1 else listed[0]

    def accepts(x: Any) -> bool:
        return any([x is choice or (isinstance(x, str) and x == choice) for choice in choices])

    return ArgumentKind(words, accepts)


def _interval(low: float, high: float, above: bool, below: bool) -> str:
    parts = []
    if low > -math.inf:
        parts.append(f"above {low:g}" if above else f"of at least {low:g}")
    if high == LARGEST:
        parts.append("at most 2**62")
    elif high < math.inf:
        parts.append(f"below {high:g}" if below else f"at most {high:g}")
    elif below:
        parts.append("finite")
    return f" {' and '.join(parts)}" if parts else ""


def _is_one(x: Any, kinds: frozenset[str]) -> bool:
    """Whether a value is a single number: Python's, NumPy's, or an array without axes."""
    if type(x) in (int, float):
        return True
    if isinstance(x, (np.generic, np.ndarray)):
        return x.ndim == 0 and x.dtype.kind in kinds and not isinstance(x, np.ma.MaskedArray)
    return isinstance(x, (int, float))


def _either(kinds: list[ArgumentKind]) -> ArgumentKind:
    if any([kind is ANYTHING for kind in kinds]):
        return ANYTHING
    if PATH in kinds:  # a text is one as well, but not every text
        kinds = [kind for kind in kinds if kind is not TEXT]
    last = [kind for kind in kinds if kind is not NONE] + [kind for kind in kinds if kind is NONE]
    words = " or ".join([kind.words for kind in last])
    return ArgumentKind(
        words, lambda x: any([kind.accepts(x) for kind in last]), frozenset().union(*[k.plainly for k in kinds])
    )


def _several(origin: Any, parts: tuple[Any, ...]) -> ArgumentKind:
    """A list or tuple whose items are of a kind; a text is none, and what can be read only once is none either."""
    items = [kind_of(part) for part in parts if part is not Ellipsis]
    exact = len(items) if origin is tuple and Ellipsis not in parts and len(items) > 0 else None
    words = "a tuple" if origin is tuple else "a list or tuple"
    words += f" of {len(items)}" if exact else ""
    if len({kind.words for kind in items}) == 1 and items[0] is not ANYTHING:
        words += f", each {items[0].words}"

    def accepts(x: Any) -> bool:
        if isinstance(x, (str, bytes, Mapping)) or not _is_sequence(x) or is_too_deep(x):
            return False
        given = list(x)
        wanted = items if exact else items[:1] * len(given)
        return len(wanted) == len(given) and all([k.accepts(v) for k, v in zip(wanted, given, strict=True)])

    return ArgumentKind(words, accepts)


def _is_sequence(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return x.ndim == 1
    return isinstance(x, (list, tuple, range, set, frozenset)) or (hasattr(x, "__len__") and hasattr(x, "__getitem__"))


ANYTHING = ArgumentKind(
    "a value that does not contain itself",
    lambda x: not is_too_deep(x),
    frozenset((types.FunctionType, np.ndarray, float, int, str, Traced, types.NoneType)),
)
NONE = ArgumentKind("None", lambda x: x is None, frozenset((types.NoneType,)))
FUNCTION = ArgumentKind("a function", callable, frozenset((types.FunctionType, np.ufunc)))
MAPPING = ArgumentKind("a dict", lambda x: isinstance(x, Mapping) and not is_too_deep(x))
TRUTH = ArgumentKind("True or False", lambda x: isinstance(x, (bool, np.bool)), frozenset((bool, np.bool)))
TEXT = ArgumentKind("a text", lambda x: isinstance(x, str), frozenset((str,)))
PATH = ArgumentKind(
    "a path", lambda x: isinstance(x, (str, os.PathLike)) and len(os.fspath(x)) > 0 and "\0" not in os.fspath(x)
)
CLASS = ArgumentKind("a class", lambda x: isinstance(x, type))

PLAIN: dict[Any, ArgumentKind] = {
    bool: TRUTH,
    int: whole(),
    float: number(),
    str: TEXT,
    type: CLASS,
    types.NoneType: NONE,
    os.PathLike: PATH,
}
"""Hints that are classes of Python's."""
