"""Errors that leave a public function: the argument at fault is named in them as the user writes it."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...host.frames.ownership import package_of
from ...host.frames.tracebacks import BETWEEN, fold
from ...host.frames.variables import variables_in
from .containers import is_too_deep
from .kinds import ANYTHING, FUNCTION, ArgumentKind

BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def named(error: Exception, owner: str, given: Mapping[str, Any], kinds: Mapping[str, ArgumentKind]) -> Exception:
    """The error to leave with: one that names the argument at fault, if it can be told which one that is.

    At fault is the first argument that is not of its kind; else the only one that is what the message says was got.
    An error of the library's keeps its words. One of others, as NumPy's on a text, is the cause of ours. Where nothing
    is wrong with one argument alone, as where shapes do not go together, a note lists them; and one says that a
    function without a frame was called (`len`, a class). Errors from the user's own lines stay as they are, with a note
    if an argument is not of its kind.
    """
    if not isinstance(error, OF_ARGUMENTS):  # such as those that tell another part of the library something
        return error
    try:
        return _named(error, owner, given, kinds)
    except Exception:  # an object that cannot be looked at: the error itself is what counts
        return error


OF_ARGUMENTS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What wrong arguments raise, of the library's own errors those that users catch by these names."""


def _named(error: Exception, owner: str, given: Mapping[str, Any], kinds: Mapping[str, ArgumentKind]) -> Exception:
    from ..errors import AdjointError

    if getattr(error, "__notes__", None):  # the user called this function, and not one that it calls
        error.__notes__[:] = [note for note in error.__notes__ if not note.startswith("  in ")]
    fault = next(((name, x) for name, x in given.items() if not kinds.get(name, ANYTHING).accepts(x)), None)
    if fault is None:
        _note_functions_without_frames(error, owner, given, kinds)
        if not _is_from_the_users_code(error):
            _name_all(error, owner, given)
        return error
    name, value = fault
    if _is_named(name, error):
        return error
    words = kinds.get(name, ANYTHING).words
    is_ours = isinstance(error, AdjointError) or "\n  at " in str(error)
    if not is_ours and not _is_from_the_users_code(error):
        return refusal(owner, name, words, value)
    if not is_ours:
        error.add_note(f"  {owner} needs {name}, {words}; it is {_described(value)}")
        return error
    if not _name_in_got(error, name, r"(?!.*( = | and ))"):
        _insert(error, f"  {name} has to be {words}; it is {_described(value)}")
    return error


def as_it_leaves(error: Exception, fun: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> Exception:
    """The error of a function that was made of the user's: with the names of its parameters, without our frames."""
    names = _names_by_position(fun)
    given = {names[k] if k < len(names) else f"argument {k}": x for k, x in enumerate(args)}
    owner = getattr(fun, "__name__", type(fun).__name__)
    found = named(error, owner, {**given, **options}, {})
    _note_functions_without_frames(found, "", {"fun": fun}, {"fun": FUNCTION})
    fold(error)
    return found


def without_frame(error: Exception) -> None:
    """Fold the frame of the public function too, if it has folded what is below; that of its entrance stays."""
    here = error.__traceback__
    below = here and here.tb_next and here.tb_next.tb_next
    if below and package_of(below.tb_frame.f_globals) not in BETWEEN:
        fold(error)


def refusal(owner: str, name: str, words: str, value: Any) -> Exception:
    """Which argument it is, what it has to be, and what it is."""
    from ..errors import ArgumentError, message

    return ArgumentError(message(f"{owner} needs {name}, {words}.", got=f"{name} = {_described(value)}"))


def _described(value: Any) -> str:
    from ..values import describe

    return describe(value) + ", which holds itself or is nested without end" * is_too_deep(value)


def _is_named(name: str, error: Exception) -> bool:
    """Whether an error speaks of a parameter by its name, which may be a word as well: not of `the shape of x`."""
    said = [line for line in str(error).splitlines() if not line.startswith(("  at ", "  Write "))]
    if said and said[0].startswith(f"{name} must "):
        return True
    words = "\n".join([*said, *getattr(error, "__notes__", [])])
    after = r"(?= ?=|,|\[|:| and| has to| needs?\b)"
    return re.search(rf"(?<![\w.]){re.escape(name)}{after}", words) is not None


def _name_all(error: Exception, owner: str, given: Mapping[str, Any]) -> None:
    """Name the argument that was got; else say what all of them are, if it is arguments that the error is about."""
    from ..errors import AdjointError, BatchSizeError, InputError, TangentError

    if isinstance(error, AdjointError) and not isinstance(error, (InputError, TangentError, BatchSizeError)):
        return
    if any([_is_named(name, error) for name in given]) or _name_what_was_got(error, given):
        return
    if isinstance(error, (TypeError, ValueError)):
        error.add_note(f"  in {owner}({', '.join([f'{name} = {_described(x)}' for name, x in given.items()])})")


def _name_what_was_got(error: Exception, given: Mapping[str, Any]) -> bool:
    """Name the argument in `got float64[3]`, if there is just one that is, or holds, what is described so."""
    from ..values import describe

    found: dict[str, tuple[str, str]] = {}
    held = _held_where_raised(error)
    for name, x in given.items():
        for inside, part in _parts(x):
            if held is not None and id(part) not in held:  # another value that looks alike, such as a result
                continue
            pattern = rf"(?={re.escape(describe(part))}(?:$|[ ,;])(?!.*\band\b))"  # of several, no one is at fault
            if re.search(rf"^  got {pattern}", str(error), re.MULTILINE):
                found.setdefault(name, (inside, pattern))
    if len(found) != 1:
        return False
    ((name, (inside, pattern)),) = found.items()
    is_said = re.search(r"^  got .* at \[", str(error), re.MULTILINE)
    return _name_in_got(error, name if is_said else name + inside, pattern)


def _held_where_raised(error: Exception) -> set[int] | None:
    """The values that the function that raised an error has, and who called it.

    None if it is the public function itself, which looks at its arguments, or has folded the frames below.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][1:]
    if len(frames) <= 1:
        return None
    return {id(value) for frame in frames[-2:] for value in variables_in(frame).values()}


def _is_from_the_users_code(error: Exception) -> bool:
    """Whether it was raised below a function of the user's: it may speak of other values then."""
    here = error.__traceback__
    while here is not None and package_of(here.tb_frame.f_globals) in NOT_THE_USERS:
        here = here.tb_next
    return here is not None


NOT_THE_USERS = BETWEEN | {"numpy", "scipy", "optree", "dataclasses"}


def _parts(x: Any) -> Iterator[tuple[str, Any]]:
    """A value, and what is in lists, tuples and dicts, each with the way to it: `[0]['w']`."""
    from ..tree import flatten, ways

    yield "", x
    if isinstance(x, (list, tuple, dict)) and not is_too_deep(x):
        for way, leaf in zip(ways(x), flatten(x)[0], strict=True):
            yield "".join([f"[{step!r}]" for step in way]), leaf


def _name_in_got(error: Exception, name: str, pattern: str) -> bool:
    """Write `got name = ...` where a pattern follows `got`; whether there is such a place."""
    text, count = re.subn(rf"^  got {pattern}", lambda _: f"  got {name} = ", str(error), count=1, flags=re.MULTILINE)
    if count:
        error.args = (text, *error.args[1:])
    return count == 1


def _insert(error: Exception, line: str) -> None:
    """Another line of a message, before what was got."""
    lines = str(error).splitlines()
    place = next((k for k, said in enumerate(lines) if said.startswith("  got ")), min(len(lines), 2))
    error.args = ("\n".join([*lines[:place], line, *lines[place:]]), *error.args[1:])


def _note_functions_without_frames(
    error: Exception, owner: str, given: Mapping[str, Any], kinds: Mapping[str, ArgumentKind]
) -> None:
    """Builtin functions and classes are in no traceback: say that they were called."""
    for name, x in given.items():
        is_function = FUNCTION.words in kinds.get(name, ANYTHING).words and isinstance(x, (type, type(len)))
        if is_function and not _is_named(name, error):
            error.add_note(f"  {name} = {x!r} was called" + f" by {owner}" * bool(owner))


def _names_by_position(fun: Callable[..., Any]) -> list[str]:
    if isinstance(fun, np.ufunc):  # as they are called in NumPy's pages
        return ["x"] if fun.nin == 1 else [f"x{k + 1}" for k in range(fun.nin)]
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):  # a builtin that does not say
        return []
    return [p.name for p in parameters if p.kind in BY_POSITION]
