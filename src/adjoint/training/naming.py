"""What is said of the user's functions: what they are called, where they are written, which of them failed."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def called(function: Any) -> str:
    """The name of a function, and where it is written, if that is not here.

    >>> from adjoint import losses
    >>> called(losses.cross_entropy)
    'cross_entropy'
    """
    plain = inspect.unwrap(function.func if isinstance(function, functools.partial) else function)
    code = getattr(getattr(plain, "__func__", plain), "__code__", None)
    name = getattr(plain, "__name__", type(plain).__name__)
    own = str(getattr(plain, "__module__", "")).partition(".")[0] == __name__.partition(".")[0]
    return name if code is None or own else f"{name}, {os.path.basename(code.co_filename)}:{code.co_firstlineno}"  # noqa: PTH119


@contextmanager
def named(what: str, function: Any) -> Iterator[None]:
    """An error inside is told with the function that it came from."""
    try:
        yield
    except Exception as error:
        error.add_note(f"That was in {what} ({called(function)}).")
        raise
