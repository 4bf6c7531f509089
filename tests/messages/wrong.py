"""Wrong values for arguments, and what became of a call with one of them."""

from __future__ import annotations

import contextlib
import functools
import io
import re
import signal
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .calls import Call


def circular_list() -> Any:
    """A list that holds itself."""
    made: list[Any] = [1.0]
    made.append(made)
    return made


def circular_dict() -> Any:
    """A dict that holds itself."""
    made: dict[str, Any] = {"a": 1.0}
    made["self"] = made
    return made


@functools.cache
def deep() -> Any:
    """A list in a list in a list, too deep for any walk that calls itself."""
    made: Any = 1.0
    for _ in range(100_000):
        made = [made]
    return made


VALUES: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "true": lambda: True,
    "text": lambda: "no",
    "empty text": lambda: "",
    "bytes": lambda: b"x",
    "minus one": lambda: -1,
    "zero": lambda: 0,
    "half": lambda: 2.5,
    "huge": lambda: 10**30,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "complex": lambda: 1j,
    "empty list": list,
    "empty dict": dict,
    "set": lambda: {1.0},
    "object": object,
    "circular list": circular_list,
    "circular dict": circular_dict,
    "deep": deep,
    "function": lambda: len,
    "type": lambda: float,
    "array of text": lambda: np.array(["a", "b"]),
    "date": lambda: np.datetime64("2020-01-01"),
    "masked": lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    "objects": lambda: np.array([1.0, None], object),
    "empty array": lambda: np.zeros(0),
    "array": lambda: np.ones((2, 1, 2, 1, 2)),
    "generator": lambda: (k for k in (1.0, 2.0)),
    "ellipsis": lambda: ...,
}

EXPECTED = (TypeError, ValueError, FloatingPointError, OSError)
"""What a wrong argument may raise; whatever else is raised comes from inside."""


class Hang(BaseException):
    """The call took too long."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `Hang` after so many seconds of processor time."""

    def end(*_: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def names(text: str, parameter: str) -> bool:
    """Whether a message has the name of a parameter, the line of the user's aside; `a` alone may be an article."""
    said = re.sub(r"^  (at|Write) .*$", "", text, flags=re.MULTILINE)
    if len(parameter) > 1:
        return re.search(rf"(?<!\w){parameter}(?!\w)", said) is not None
    return re.search(rf"(?<![\w.]){parameter}( =|=|,|:|\[| and| has to| needs?\b)", said) is not None


def outcome(call: Call, parameter: str, value: Any, seconds: float = 10.0) -> tuple[str, str]:
    """What a call with a wrong argument ends in: `accepted`, `named`, `vague`, `inside` or `hang`; and the words."""
    silent = io.StringIO()
    try:
        with limited(seconds), warnings.catch_warnings(), contextlib.redirect_stdout(silent):
            warnings.simplefilter("ignore")
            call(**{parameter: value})
    except EXPECTED as error:
        text = "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
        return ("named" if names(text, parameter) else "vague"), text
    except Hang:
        return "hang", ""
    except Exception as error:
        return "inside", f"{type(error).__name__}: {error}"
    return "accepted", ""
