"""What an expression may not use: every message word by word, with the character it points at."""

from __future__ import annotations

import numpy as np
import pytest

from adjoint.cli.errors import FAILURE, CommandError
from adjoint.cli.evaluation import evaluate
from adjoint.cli.expression import parse
from tests.cli.refusals import cases, check, expression_of

MESSAGES = """
unknown name 'y'
  sqrt(x**2 + y)
              ^
  given: x. Write  y=...  after the expression.

unknown name 'pie'
  x*pie
    ^
  given: x. Write  pie=...  after the expression. Did you mean pi?

unknown function 'sqr'
  1 + sqr(x)
      ^
  Did you mean sqrt?

unknown function 'quux'
  quux(x)
  ^
  adjoint explain --help  lists the functions.

sin is a function
  2*sin
    ^
  Write  sin(...).

x is a value, not a function
  x(x + 1)
  ^
  Write  x*(...)  for a product.

only a function can be called
  2(x + 1)
   ^
  Write  *  for a product.

only a function can be called
  sin(x)(x)
        ^
  Write  *  for a product.

sin takes 1 argument, not 2
  sin(x, x)
  ^

where takes 3 arguments, not 2
  where(x > 0, x)
  ^

max takes 1 argument, not 2
  max(x, 1)
  ^
  For the larger of two write  maximum(a, b).

sin has no keyword 'axis'
  sin(x, axis=0)
         ^
  Only axis= of sums and the like is known.

sum has no keyword 'dtype'
  sum(x, dtype=0)
         ^
  Only axis= of sums and the like is known.

sum has no keyword '**'
  sum(**x)
      ^
  Only axis= of sums and the like is known.

an axis is a whole number, not 'x'
  sum(x, axis=x)
              ^

arguments are written one by one, without '*'
  sin(*x)
      ^

an expression has no '^'
  (x + 1) ^ (2)
          ^
  Write  **  for powers.

an expression has no '//'
  x//2
   ^
  Write  floor(a / b).

an expression has no '&'
  where((x > 0) & (x < 1), x, 0)
                ^
  Write  logical_and(a, b).

an expression has no '|'
  x | 1
    ^
  Write  logical_or(a, b);  the absolute value is  abs(x).

an expression has no '<<'
  x << 2
    ^

an expression has no '~'
  1 + ~x
      ^
  Write  logical_not(a).

an expression has no 'not'
  not x
  ^
  Write  logical_not(a).

an expression has no 'and'
  x and 1
    ^
  Write  logical_and(a, b).

an expression has no 'or'
  (x) or 1
      ^
  Write  logical_or(a, b).

an expression has no 'is'
  x is 1
    ^
  Write  ==  for equality.

an expression has no 'not in'
  1 < x not in x
        ^

an expression has no 'if'
  x if x > 0 else 0
  ^
  Write  where(condition, a, b).

an expression has no 'lambda'
  lambda: x
  ^

an expression has no ':='
  1 + (y := x)
       ^
  Write values after the expression, as in  x=1.3.

an expression has no loops
  [i for i in x]
  ^

an expression has no loops
  sum(i for i in x)
     ^

an expression has one result
  x, x
  ^
  Write  [a, b]  for an array.

an expression has no '*' before a value
  [*x]
   ^

an expression has no 'await'
  await x
  ^

an expression has no 'yield'
  (yield)
   ^

an expression has no '.' after a name
  np.sqrt(x)
    ^
  Write  sqrt  instead of  np.sqrt.

an expression has no '.' after a name
  x.__class__
   ^
  Functions are written  f(x).

an expression has no '.' after a name
  (x).sum()
     ^
  Functions are written  f(x).

an expression has no complex numbers
  x + 1j
      ^

'None' is not a number
  None
  ^

'True' is not a number
  x + True
      ^

'...' is not a number
  ...
  ^

the number is too large
  x + 1e999
      ^
  The largest is about 1.8e308; infinity is  inf.

an index is a whole number or a slice such as 1:3, not 'y'
  x[y]
    ^

an index is a whole number or a slice such as 1:3, not '1.5'
  x[0, 1.5]
       ^

an index is a whole number or a slice such as 1:3, not 'True'
  x[:True]
     ^

the list is empty
  x + []
      ^

the result is a truth value, which has no derivative
  (x) > 0
      ^
  Write  where(condition, a, b).

the result is a truth value, which has no derivative
  logical_or(x, 1)
  ^
  Write  where(condition, a, b).
"""


@pytest.mark.parametrize("message", cases(MESSAGES), ids=expression_of)
def test_messages(message):
    """The whole message; the expression is its second line."""
    check(message)


def test_no_variables_given():
    """The message says that none is given."""
    with pytest.raises(CommandError, match=r"given: no variables\. Write  x=\.\.\.  after the expression\."):
        parse("x")


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("1 + x @ x", "@ cannot be computed: ", 6),
        ("w + v", "+ cannot be computed: operands could not be broadcast together with shapes (3,) (2,)", 2),
        ("w[5]", "[5] cannot be computed: index 5 is out of bounds for axis 0 with size 3", 1),
        ("1 + x[0]", "[0] cannot be computed: ", 5),
        ("1 + sum(w, axis=1)", "sum cannot be computed: axis 1 is out of bounds for array of dimension 1", 4),
        ("[w, v]", "[...] cannot be computed: its elements have different shapes", 0),
    ],
)
def test_steps_that_cannot_be_computed(text, message, column):
    """What NumPy refuses is shown at the step, and is a failure of the function, not of the command line."""
    expression = parse(text, ["x", "w", "v"])
    values = {"x": np.float64(1.0), "w": np.ones(3), "v": np.ones(2)}
    with pytest.raises(CommandError) as caught:
        evaluate(expression, values)
    assert caught.value.what.startswith(message)
    assert caught.value.exit_code == FAILURE
    assert caught.value.column == column
