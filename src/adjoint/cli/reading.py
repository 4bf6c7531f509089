"""From the characters of an expression to Python's syntax tree, which is never run; every error has its character."""

from __future__ import annotations

import ast
import re
import warnings

from .errors import CommandError

LONGEST = 10_000
"""How many characters an expression may have."""

DEEPEST = 100
"""How many brackets may be open at the same time."""

DEEPEST_TREE = 2000
"""How many operations may be inside one another."""

IN_A_FILE = "Write it as a function in a file and explain  file.py:function  instead."

PUNCTUATION = set(" .+-*/%@()[],<>=!:^&|~_")
"""The characters besides letters and digits that the syntax tree is made from; some are refused later, by name."""

OPENING = {")": "(", "]": "["}

WRITE_INSTEAD = {
    "\N{MULTIPLICATION SIGN}": "*",
    "\N{MIDDLE DOT}": "*",
    "\N{DOT OPERATOR}": "*",
    "\N{DIVISION SIGN}": "/",
    "\N{MINUS SIGN}": "-",
    "\N{EN DASH}": "-",
    "\N{SQUARE ROOT}": "sqrt(...)",
    "\N{N-ARY SUMMATION}": "sum(...)",
    "\N{SUPERSCRIPT TWO}": "**2",
    "\N{SUPERSCRIPT THREE}": "**3",
    "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=",
    "\N{NOT EQUAL TO}": "!=",
    "\N{INFINITY}": "inf",
    "{": "(",
    "}": ")",
}
"""What people mean by characters that an expression does not have."""

TOKEN = re.compile(r"\*\*|//|<<|>>|[<>=!:]=|\d[\w.]*|\w+|.")
NUMBER_THEN_NAME = re.compile(r"(\d+\.?\d*(?:[eE][+-]?\d+)?)([^\W\d_]\w*)")
LONG_NUMBER = re.compile(r"[\d_]{1000,}")
ENDS_A_VALUE = re.compile(r"[\w)\].]$")
BEGINS_A_VALUE = re.compile(r"[\w(\[]")


def read(text: str) -> ast.expr:
    """The syntax tree of one expression, given without spaces around it; nodes count columns in UTF-8 bytes.

    Raises
    ------
    CommandError
        If the text is no expression; it points at the character.
    """
    if not text:
        raise CommandError("the expression is empty", text=text)
    plain = "".join(" " if character.isspace() else character for character in text)
    _check_size(plain)
    _check_characters(plain)
    _check_brackets(plain)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python says about style is for programs
            tree = ast.parse(plain, mode="eval").body
    except SyntaxError as error:
        raise _explained(plain, error) from None
    except (RecursionError, MemoryError):
        raise CommandError("the expression has too many operations", text=text, hint=IN_A_FILE) from None
    _check_depth(tree, text)
    return tree


def _check_depth(tree: ast.expr, text: str) -> None:
    """Operations are not nested too deeply for the functions that go over them; Python's own limit has varied."""
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST_TREE):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise CommandError("the expression has too many operations", text=text, hint=IN_A_FILE)


def _check_size(text: str) -> None:
    if len(text) > LONGEST:
        what = f"the expression has {len(text):,} characters, more than {LONGEST:,}"
        raise CommandError(what, text=text, column=LONGEST, hint=IN_A_FILE)
    if number := LONG_NUMBER.search(text):
        raise CommandError("the number is too long", text=text, column=number.start())


def _check_characters(text: str) -> None:
    """Every character is one that an expression can have; quotes are not, so strings do not get further."""
    for column, character in enumerate(text):
        if character in PUNCTUATION or f"a{character}".isidentifier():
            continue
        if character in "'\"":
            raise CommandError("an expression has no strings", text=text, column=column)
        instead = WRITE_INSTEAD.get(character)
        shown = character if character.isprintable() else f"U+{ord(character):04X}"
        hint = f"Write  {instead}  instead." if instead else ""
        raise CommandError(f"the character {shown} means nothing here", text=text, column=column, hint=hint)


def _check_brackets(text: str) -> None:
    """Every bracket has its partner, and not too many are open at once."""
    still_open: list[int] = []
    for column, character in enumerate(text):
        if character in "([":
            still_open.append(column)
            if len(still_open) > DEEPEST:
                what = f"more than {DEEPEST} brackets are open at once"
                raise CommandError(what, text=text, column=column, hint=IN_A_FILE)
        elif character in OPENING:
            if not still_open:
                raise CommandError(f"'{character}' closes nothing", text=text, column=column)
            opened = text[still_open.pop()]
            if opened != OPENING[character]:
                raise CommandError(f"'{character}' cannot close '{opened}'", text=text, column=column)
    if still_open:
        column = still_open[-1]
        raise CommandError(f"'{text[column]}' is never closed", text=text, column=column)


def _explained(text: str, error: SyntaxError) -> CommandError:
    """Python's syntax error in our words."""
    column = (error.offset or 0) - 1
    if not 0 <= column < len(text):  # Python found the end where it wanted more
        return _ends_too_early(text)
    if (number := _number_at(text, column)) is not None:
        digits, name = number.groups()
        what, hint = f"'{number.group()}' is neither a number nor a name", f"Write  {digits}*{name}  for a product."
        return CommandError(what, text=text, column=number.start(2), hint=hint)
    match = TOKEN.match(text, column)
    symbol = match.group() if match else text[column]
    if symbol in ("=", ":="):
        hint = "Write values after the expression, as in  x=1.3;  equality is  ==."
        return CommandError(f"an expression has no '{symbol}'", text=text, column=column, hint=hint)
    if symbol == "|":
        hint = "Write  abs(x)  for the absolute value."
        return CommandError("an expression has no '|'", text=text, column=column, hint=hint)
    before = text[:column].rstrip()
    if ENDS_A_VALUE.search(before) and BEGINS_A_VALUE.match(symbol):
        hint = "Write  *  for a product."
        return CommandError(f"an operator is missing before '{symbol}'", text=text, column=column, hint=hint)
    return CommandError(f"'{symbol}' makes no sense here", text=text, column=column)


def _ends_too_early(text: str) -> CommandError:
    last = [match for match in TOKEN.finditer(text) if not match.group().isspace()][-1]
    what = f"the expression ends too early: something is missing after '{last.group()}'"
    return CommandError(what, text=text, column=last.start())


def _number_at(text: str, column: int) -> re.Match[str] | None:
    """A number with letters behind it, as in 2x, that touches the column: Python points at its last digit."""
    numbers = NUMBER_THEN_NAME.finditer(text)
    return next((number for number in numbers if number.start() <= column < number.end()), None)
