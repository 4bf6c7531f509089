"""The words that ask, the source of long keys, and explanations of what overflows."""

from __future__ import annotations

import ast
import random
import re

import numpy as np
import pytest

import adjoint as ad
from adjoint.explanation.code.containers import WIDTH, wrapped
from adjoint.explanation.record import singular


def on_one_line(x):
    # fmt: off
    while x < 10: x = x*x + 1 if x > 2 else 3*x  # noqa: E701
    # fmt: on
    return x


def many_words(x):
    y = max(x, 2 * x) if x > 0 else x
    if x > 0 and (x < 3 if x > 0.5 else x < 2):
        y = y * x
    z = [x * k for k in (1.0, 2.0) if x > k]
    assert x > -1
    w = 1.0 if any([x > 4, x > 1]) else 2.0
    return y + sum(z) + w


def asked(fun, x, **options):
    """The lines of a table that tell of decisions."""
    found = [
        re.match(r"(if|while|assert) .*?: \w+( \w+)?", line) for line in str(ad.explain(fun, **options)(x)).split("\n")
    ]
    return [match[0] for match in found if match]


@pytest.mark.parametrize("level", ["vector", "scalar"])
def test_the_word_that_asks(level):
    """An `if` expression on the line of a `while` is an `if`."""
    assert asked(on_one_line, 1.0, level=level) == [
        "while x < 10: goes on", "if x > 2: not taken", "while x₂ < 10: goes on", "if x₂ > 2: taken",
        "while x₃ < 10: ends",
    ]  # fmt: skip


def test_every_word():
    """Conditions of expressions, comprehensions and asserts; what `max` asks is no decision of the user's."""
    assert asked(many_words, 1.5) == [
        "if x > 0: taken", "if x > 0: taken", "if x > 0.5: taken", "if x < 3: taken", "if x > 1: taken",
        "if x > 2: not taken", "assert x > -1: holds", "if x > 4: not taken", "if x > 1: taken",
    ]  # fmt: skip


KEYS = [
    "a",
    "b\\",
    "it's",
    'q"q',
    "x, y",
    "k" * 130,
    "long key, with, commas and \\'quotes\\' " * 4,
    "\n",
    "class",
    "np",
    "",
]
OPERATIONS = [
    np.sin,
    np.tanh,
    lambda x: x * x,
    lambda x: np.exp(-x),
    lambda x: 1 / x,
    np.sum,
    lambda x: np.where(x > 0.5, x, 1),
]


def containers(draw, depth=0):
    """Random containers of numbers and arrays, with keys that are hard to write."""
    kind = draw.random()
    if depth > 2 or kind < 0.35:
        return draw.choice([draw.randint(1, 9) / 4, np.linspace(0.5, 1.5, draw.choice([1, 3, 40]))])
    if kind < 0.65:
        return {key: containers(draw, depth + 1) for key in draw.sample(KEYS, draw.randint(1, 4))}
    parts = [containers(draw, depth + 1) for _ in range(draw.randint(1, 3))]
    return parts if kind < 0.85 else tuple(parts)


@pytest.mark.parametrize("seed", range(12))
def test_source_of_any_containers(seed):
    """Compiles, gives the same numbers, and names an adjoint only after a value that it has."""
    draw = random.Random(seed)
    given, operations = containers(draw), draw.choices(OPERATIONS, k=3)

    def f(p):
        for operation in operations:
            p = ad.tree.map(operation, p)
        return p

    explained = ad.explain(f)(given)
    source = explained.code()
    names: dict = {}
    exec(compile(source, "source", "exec"), names)
    value, gradient = names["f_and_gradient"](given, **source.arrays)
    for found, right in ((value, f(given)), (gradient, explained.gradient)):
        for a, b in zip(ad.tree.leaves(found), ad.tree.leaves(right), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
    used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    assert not [name for name in used if re.fullmatch(r"d_v\d+", name) and name[2:] not in used]


def test_lines_are_broken_where_python_allows():
    """Behind commas inside brackets, and nowhere else: not in text, not between targets."""
    keys = [f"{'b' * 50}\\, ", "c, " * 30, "it's, \\", "d" * 50]
    for line in (f"    return {dict.fromkeys(keys, 1.0)!r}", f"{'x' * 60}, {'y' * 60} = f({keys!r})"):
        broken = wrapped(line)
        assert len(broken) > 1
        assert ast.dump(ast.parse("\n".join(broken).strip())) == ast.dump(ast.parse(line.strip()))
    assert wrapped("short, line") == ["short, line"]
    assert all([len(part) <= WIDTH for part in wrapped(f"f({', '.join(['abcdef'] * 60)})")])


def test_limits_are_not_looked_for_in_vain(monkeypatch):
    """Rounds that overflow: of the values in between a few are tried, not all of them."""
    tried = []
    real = singular.pulled_back
    monkeypatch.setattr(singular, "pulled_back", lambda *args: tried.append(1) or real(*args))

    def f(x):
        for _ in range(30):
            x = x * x + np.sin(x)
        return x

    with np.errstate(all="ignore"):
        assert np.isnan(ad.explain(f)(1.5).gradient)
    assert 1 < len(tried) <= 2 + singular.MOST_IN_VAIN


@pytest.mark.parametrize("fun", [np.tanh, np.sin, lambda x: x**3, lambda x: np.sum(x * np.ones(3)), lambda x: x])
def test_one_input_and_one_output(fun):
    """Both modes multiply the same partials."""
    assert ad.explain(fun)(0.3).cost().verdict.startswith("It makes no difference")
