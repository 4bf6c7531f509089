"""Texts that are no expression at all: every message word by word, with the character it points at."""

from __future__ import annotations

import pytest

from adjoint.cli.errors import CommandError, pointer
from adjoint.cli.expression import parse
from tests.cli.refusals import cases, check, expression_of

MESSAGES = """
an expression has no strings
  f'{x}'
   ^

an expression has no strings
  x + "a"
      ^

an expression has no ':='
  y := x
    ^
  Write values after the expression, as in  x=1.3;  equality is  ==.

an expression has no '='
  x = 2
    ^
  Write values after the expression, as in  x=1.3;  equality is  ==.

an expression has no '|'
  |x|
  ^
  Write  abs(x)  for the absolute value.

'(' is never closed
  sqrt(x
      ^

')' closes nothing
  x) + (x
   ^

']' cannot close '('
  (x]
    ^

the expression ends too early: something is missing after '+'
  x +
    ^

the expression ends too early: something is missing after '**'
  x **
    ^

'2x' is neither a number nor a name
  1 + 2x
       ^
  Write  2*x  for a product.

'2.5e3x' is neither a number nor a name
  2.5e3x
       ^
  Write  2.5e3*x  for a product.

an operator is missing before 'x'
  2 x
    ^
  Write  *  for a product.

an operator is missing before 'x'
  (x + 1) x
          ^
  Write  *  for a product.

',' makes no sense here
  sin(x,,x)
        ^

'*' makes no sense here
  * x
  ^

'.' makes no sense here
  1.5.5
     ^

the character $ means nothing here
  x + $
      ^

the character ; means nothing here
  x; x
   ^

the character √ means nothing here
  √x
  ^
  Write  sqrt(...)  instead.

the character ² means nothing here
  x²
   ^
  Write  **2  instead.

the character ÷ means nothing here
  x ÷ 2
    ^
  Write  /  instead.

the character { means nothing here
  2*{x + 1}
    ^
  Write  (  instead.

the character $ means nothing here
  日本 + $
         ^
"""


@pytest.mark.parametrize("message", cases(MESSAGES), ids=expression_of)
def test_messages(message):
    """The whole message; the expression is its second line."""
    check(message)


def error_of(text: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        parse(text, ["x"])
    return caught.value


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_empty(text):
    """Nothing is pointed at where there is nothing."""
    assert str(error_of(text)) == "the expression is empty"


@pytest.mark.parametrize(
    ("text", "what", "column"),
    [
        ("(" * 1000 + "x" + ")" * 1000, "more than 100 brackets are open at once", 100),
        ("[" * 1000 + "x" + "]" * 1000, "more than 100 brackets are open at once", 100),
        ("sin(" * 1000 + "x" + ")" * 1000, "more than 100 brackets are open at once", 403),
        ("-" * 5000 + "x", "the expression has too many operations", 0),
        ("x" + "+x" * 4999, "the expression has too many operations", 0),
        ("x" + "**x" * 3000, "the expression has too many operations", 0),
        ("x" * 20_000, "the expression has 20,000 characters, more than 10,000", 10_000),
        ("9" * 5000, "the number is too long", 0),
        ("x + " + "9" * 400, "the number is too large", 4),
        ("0x" + "f" * 900, "the number is too large", 0),
        ("x\x00", "the character U+0000 means nothing here", 1),
        ("x + \ud800", "the character U+D800 means nothing here", 4),
    ],
    ids=[
        "parentheses",
        "lists",
        "calls",
        "signs",
        "sum",
        "powers",
        "long",
        "digits",
        "large",
        "hex",
        "nul",
        "surrogate",
    ],
)
def test_hostile_texts(text, what, column):
    """Depth, length and strange characters are errors at their character, not crashes."""
    error = error_of(text)
    assert (error.what, error.column) == (what, column)
    assert all(len(line) < 90 for line in str(error).splitlines())


def test_a_long_text_is_shown_around_the_character():
    """Only the part around the character is shown, and the caret stands below it."""
    text = "x + " * 100 + "y" + " + x" * 100
    line, caret = str(error_of(text)).splitlines()[1:3]
    assert line.startswith("  ...")
    assert line.endswith("...")
    assert line[caret.index("^")] == "y"


def test_the_caret_stands_below_wide_and_combining_characters():
    """Widths are those of a terminal: two columns for 日, none for a combining accent."""
    assert pointer("日x", 1)[1] == "    ^"
    assert pointer("e\u0301x", 2)[1] == "   ^"
