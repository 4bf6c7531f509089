"""Values from the command line: numbers, arrays, integer constants, and what is neither."""

from __future__ import annotations

import numpy as np
import pytest

from adjoint.cli.arguments import parse_argument, parse_arguments
from adjoint.cli.errors import USAGE, CommandError


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("x=1.3", "x", 1.3),
        ("x=3", "x", 3.0),
        ("x=1e-3", "x", 1e-3),
        ("x=-2", "x", -2.0),
        ("x=pi/4", "x", np.pi / 4),
        ("x=sqrt(2)", "x", 2**0.5),
        ("x=inf", "x", np.inf),
        ("x = 1.3 ", "x", 1.3),
        ("w=-1,1.5,0.5", "w", [-1.0, 1.5, 0.5]),
        ("w=1,", "w", [1.0]),
        ("w=[1]", "w", [1.0]),
        ("W=[[1,2],[3,4]]", "W", [[1.0, 2.0], [3.0, 4.0]]),
        ("W=[1,2],[3,4]", "W", [[1.0, 2.0], [3.0, 4.0]]),
        ("n=int:3", "n", 3),
        ("n=int: -3", "n", -3),
        ("n=int:0,2", "n", [0, 2]),
        ("ϵ=1", "ε", 1.0),
    ],
)
def test_values(text, name, value):
    """Numbers are floats and lists arrays of floats, unless int: says otherwise."""
    argument = parse_argument(text)
    assert argument.name == name
    if isinstance(value, list):
        expected = np.array(value)
        assert argument.value.dtype == expected.dtype
        np.testing.assert_array_equal(argument.value, expected)
    else:
        assert type(argument.value) is type(value)
        assert argument.value == value
    assert argument.differentiated == ("int:" not in text)


MESSAGES = """
'1.3' gives no variable a value
  1.3
  ^
  Write  name=value  without spaces, as in  x=1.3  or  w=-1,1.5,0.5.

the name is missing
  =1.3
  ^
  Write  name=value  without spaces, as in  x=1.3  or  w=-1,1.5,0.5.

'2x' is not a name
  2x=1
  ^
  Write  name=value  without spaces, as in  x=1.3  or  w=-1,1.5,0.5.

'lambda' is a Python keyword
  lambda=1
  ^
  Choose another name.

x has no value
  x=
   ^
  Write  name=value  without spaces, as in  x=1.3  or  w=-1,1.5,0.5.

n has no value
  n=int:
       ^
  Write  name=value  without spaces, as in  x=1.3  or  w=-1,1.5,0.5.

the result is a truth value, which has no derivative
  x=1 == 1
      ^
  Write  where(condition, a, b).

unknown name 'y'
  x=2*y
      ^
  A value is made of numbers, not of other variables.

',' makes no sense here
  w=1,,
      ^

'(' is never closed
  x = sqrt(2
          ^

[...] cannot be computed: its elements have different shapes
  W=[[1,2],[3]]
    ^

int: needs whole numbers
  n=int:1.5
        ^

an expression has no '^'
  n=int: 2^3
          ^
  Write  **  for powers.

one '=' is enough
  x==1
    ^
"""


@pytest.mark.parametrize(
    "message", MESSAGES.strip("\n").split("\n\n"), ids=lambda message: message.splitlines()[1].strip()
)
def test_messages(message):
    """The whole message; the argument is its second line."""
    with pytest.raises(CommandError) as caught:
        parse_argument(message.splitlines()[1][2:])
    assert str(caught.value) == message
    assert caught.value.exit_code == USAGE


def test_in_the_order_given():
    """The order of the command line is kept: the first is v0."""
    assert list(parse_arguments(["b=1", "a=2"])) == ["b", "a"]


def test_given_twice():
    """A second value for the same variable is refused."""
    with pytest.raises(CommandError, match="x is given twice"):
        parse_arguments(["x=1", "x=2"])
