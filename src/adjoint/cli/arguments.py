"""Values from the command line: `x=1.3`, `w=-1,1.5,0.5`, `W=[[1,2],[3,4]]`, `a=pi/4`, `n=int:3`."""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import CommandError
from .evaluation import evaluate
from .expression import parse

WHOLE = "int:"
"""What a value begins with if it is a whole number that is not differentiated."""

FORM = "Write  name=value  without spaces, as in  x=1.3  or  w=-1,1.5,0.5."


@dataclass(frozen=True)
class Argument:
    """A value for a variable, and the text it was given in."""

    name: str
    value: Any
    text: str

    @property
    def differentiated(self) -> bool:
        """Whether the value is real, not an integer constant."""
        return isinstance(self.value, float) or (isinstance(self.value, np.ndarray) and self.value.dtype.kind == "f")


def parse_arguments(texts: Sequence[str]) -> dict[str, Argument]:
    """The values by name, in the order they are given.

    Raises
    ------
    CommandError
        If one is not of the form `name=value`, or is given twice; the error points at the character.

    Examples
    --------
    >>> [(a.name, a.value) for a in parse_arguments(["x=pi/4", "n=int:3"]).values()]
    [('x', 0.7853981633974483), ('n', 3)]
    """
    found: dict[str, Argument] = {}
    for text in texts:
        argument = parse_argument(text)
        if argument.name in found:
            raise CommandError(f"{argument.name} is given twice", text=text)
        found[argument.name] = argument
    return found


def parse_argument(text: str) -> Argument:
    """One `name=value`."""
    raw_name, equals, written = text.partition("=")
    # as Python's parser spells names, so that one is found whichever way its letters were typed
    name = unicodedata.normalize("NFKC", raw_name.strip())
    if not equals:
        raise CommandError(f"'{text}' gives no variable a value", text=text, hint=FORM)
    if not name.isidentifier():
        raise CommandError(f"'{name}' is not a name" if name else "the name is missing", text=text, hint=FORM)
    if keyword.iskeyword(name):
        raise CommandError(f"'{name}' is a Python keyword", text=text, hint="Choose another name.")
    if written.startswith("="):
        raise CommandError("one '=' is enough", text=text, column=len(raw_name) + 1)
    start = len(raw_name) + len(equals)
    whole = written.strip().startswith(WHOLE)
    if whole:
        start = text.index(WHOLE, start) + len(WHOLE)
    if not text[start:].strip():
        raise CommandError(f"{name} has no value", text=text, column=start - 1, hint=FORM)
    return Argument(name, _value(text, start, whole=whole), text)


def _value(text: str, start: int, *, whole: bool) -> Any:
    """The value of the part of an argument that begins at `start`."""
    written = text[start:]
    start += len(written) - len(written.lstrip())
    try:
        expression = parse(written, tuples=True)
        value = np.asarray(evaluate(expression, {}), dtype=float)
    except CommandError as error:
        # a constant has no variables, so what names of them there may be is no help
        hint = "A value is made of numbers, not of other variables." if error.what.startswith("unknown name") else None
        raise error.within(text, start, hint=hint) from None
    if whole:
        if not np.all(np.isfinite(value) & (value == np.rint(value))):
            raise CommandError("int: needs whole numbers", text=text, column=start)
        return int(value) if value.ndim == 0 else value.astype(np.int64)
    return float(value) if value.ndim == 0 else value
