"""What the command could not do, with the character it is about, and its place in the user's file."""

from __future__ import annotations

import difflib
import linecache
import traceback
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

import adjoint as ad

USAGE = 2
"""Exit code: the command line cannot be understood."""

FAILURE = 1
"""Exit code: the command line is understood, and what it asks for went wrong."""

SHOWN_WIDTH = 72
"""How much of a long text is shown around the character in question."""


class CommandError(ad.AdjointError, ValueError):
    """An error of the command line: what is wrong, in which text, at which character, and what to do."""

    def __init__(
        self, what: str, *, text: str | None = None, column: int = 0, hint: str = "", exit_code: int = USAGE
    ) -> None:
        self.what, self.text, self.column, self.hint, self.exit_code = what, text, column, hint, exit_code
        lines = [what]
        lines += pointer(text, column) if text else []
        lines += [f"  {line}" for line in hint.splitlines()]
        super().__init__("\n".join(lines))

    def within(self, text: str, start: int, *, hint: str | None = None) -> CommandError:
        """The same error, seen in a longer text of which its own text is the part that begins at `start`."""
        hint = self.hint if hint is None else hint
        return CommandError(self.what, text=text, column=start + self.column, hint=hint)


def pointer(text: str, column: int) -> list[str]:
    """A line with the text, or with its part around the column, and a line with a caret below the character."""
    start = max(0, min(column - SHOWN_WIDTH // 2, len(text) - SHOWN_WIDTH))
    end = min(len(text), start + SHOWN_WIDTH)
    before, after = "..." if start else "", "..." if end < len(text) else ""
    shown = "".join(character if character.isprintable() else " " for character in text[start:end])
    offset = len(before) + sum(_width(character) for character in shown[: column - start])
    return [f"  {before}{shown}{after}", f"  {' ' * offset}^"]


def _width(character: str) -> int:
    """How many columns of a terminal a character takes."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def suggestion(name: str, known: Iterable[str]) -> str:
    """'Did you mean ...?' where a known name is close, else nothing."""
    by_letters = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), by_letters, n=1)
    return f"Did you mean {by_letters[close[0]]}?" if close else ""


def sentences(*parts: str) -> str:
    """The parts that say something, in one line."""
    return " ".join(part for part in parts if part)


def failure_text(error: BaseException) -> str:
    """An exception as the command shows it: the library's own as they are, others with the user's lines."""
    if isinstance(error, ad.AdjointError):
        # where none of the user's code was running, the place that the library found is this command itself
        lines = str(error).splitlines()
        return "\n".join(lines if user_lines(error) else [line for line in lines if not line.startswith("  at ")])
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return _syntax_text(error)
    said = str(error)
    what = type(error).__name__ + (f": {said}" if said else "")
    return "\n".join([what, *user_lines(error)])


def _syntax_text(error: SyntaxError) -> str:
    """A syntax error in the user's file: its line, and the character."""
    line = (error.text or "").rstrip()
    indent = len(line) - len(line.lstrip())
    place = f"{type(error).__name__}: {error.msg}\n  at {Path(str(error.filename)).name}:{error.lineno}"
    column = min(max((error.offset or 1) - 1 - indent, 0), len(line.strip()))
    return "\n".join([place, *pointer(line.strip(), column)]) if line else place


def user_lines(error: BaseException) -> list[str]:
    """Where an exception passed through the user's own code, innermost last."""
    found = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__) if _is_users(frame)]
    return [
        f"  at {Path(code.co_filename).name}:{line} in {code.co_name}:  "
        f"{linecache.getline(code.co_filename, line).strip()}".rstrip(": ")
        for code, line in found
    ]


def _is_users(frame: FrameType) -> bool:
    """Whether code is the user's own; evaluated text is this command's."""
    return ad.errors.is_users_code(frame) and not frame.f_code.co_filename.startswith("<")
