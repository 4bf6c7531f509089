"""An entry of the catalogue is checked when it is written: a slip is an error at once, not at the first gradient."""

from __future__ import annotations

import re

import numpy as np
import pytest

from adjoint.core.entry.algebra import Monoid
from adjoint.core.entry.facts import Form
from adjoint.core.entry.moves import Pad, View
from adjoint.ops.declare import CATALOGUE, CONSTANT, REAL, by_formula, declare, elementwise
from adjoint.rules.elementwise import Elementwise
from adjoint.rules.linear import Linear
from adjoint.rules.selecting import Selecting


def test_a_name_has_one_entry():
    """A second entry would replace the first without a word."""
    before = CATALOGUE["sin"]
    with pytest.raises(
        ValueError, match=r"^sin is declared already: an operation has one entry, and a name of its own\.$"
    ):
        elementwise(np.sin, partials=[lambda x: np.cos(x)])
    assert CATALOGUE["sin"] is before


def test_one_partial_for_each_argument():
    """Counted against the universal function, or against the function that evaluates."""
    wrong = "takes 1 argument and is given 2 partials: write one for each, None where there is none to give"
    with pytest.raises(ValueError, match=rf"^half {wrong}\.$"):
        declare("half", lambda x: 0.5 * x, Elementwise([lambda x: 0.5, lambda y: 0.5]))
    with pytest.raises(ValueError, match=r"^gcd is declared already"):
        elementwise(np.gcd, partials=[lambda x: 1.0])
    with pytest.raises(ValueError, match=r"^third takes 2 arguments and is given 1 partial: "):
        declare("third", np.add, Elementwise([lambda x: 0.5]))
    assert not {"half", "third"} & set(CATALOGUE)


def test_partials_are_not_left_out():
    """An empty list is too short as well, also where nobody can count the arguments."""
    with pytest.raises(ValueError, match=r"^half takes 1 argument and is given 0 partials: write one for each, "):
        by_formula("half", lambda x: 0.5 * x, partials=[])
    with pytest.raises(ValueError, match=r"^larger takes 2 arguments and is given 0 partials: write one for each, "):
        declare("larger", lambda x, y: np.maximum(x, y), Selecting())
    wrong = "total is given no partials: write one for each argument, None where there is none to give."
    with pytest.raises(ValueError, match=f"^{re.escape(wrong)}$"):
        declare("total", lambda *xs: sum(xs), Elementwise([]))
    assert not {"half", "larger", "total"} & set(CATALOGUE)


def test_partials_ask_for_what_there_is():
    """By the names of the arguments in their order, and of the result."""
    with pytest.raises(ValueError, match=r"^A partial of half asks for foo, y; it may ask for x, out\.$"):
        declare("half", lambda x: 0.5 * x, Elementwise([lambda foo, x, y: 0.5]))
    assert "half" not in CATALOGUE


def test_transposes_fit():
    """As many at most as there are arguments; each with the arguments and the parameters of the operation."""

    def turned(x, *, axis):
        return np.flip(x, axis)

    for transposes, wrong in {
        (
            lambda g, out, x, *, axis: g,
            lambda g, out, x, *, axis: g,
        ): "turned takes 1 argument and is given 2 transposes.",
        (lambda g, x, *, axis: g,): "A transpose of turned takes 2 arguments: "
        "it is given the cotangent, the result and 1 argument.",
        (lambda g, out, x, *, axes: g,): "A transpose of turned does not have its parameters, which are: axis.",
    }.items():
        with pytest.raises(ValueError, match=f"^{re.escape(wrong)}$"):
            declare("turned", turned, Linear(*transposes))
    assert "turned" not in CATALOGUE


def test_unknown_facts_are_refused():
    """A fact that nobody reads is a slip of the pen."""
    for fact, wrong in {
        "kernal": "half is given kernal, which is no fact of an operation: did you mean kernel?",
        "domian": "half is given domian, which is no fact of an operation: did you mean domain?",
        "colour": "half is given colour, which is no fact of an operation; they are in core/entry/facts.py.",
    }.items():
        with pytest.raises(TypeError, match=f"^{re.escape(wrong)}$"):
            declare("half", lambda x: 0.5 * x, CONSTANT, **{fact: None})
    assert "half" not in CATALOGUE


def test_partials_come_in_a_list():
    """One function alone is refused by the name of the entry, whichever way it is declared."""
    with pytest.raises(
        TypeError,
        match=r"^The partials of half are a list with one for each argument: write  partials=\[\.\.\.\]\.$",
    ):
        by_formula("half", lambda x: 0.5 * x, partials=lambda x: 0.5)
    with pytest.raises(TypeError, match=r"^The partials of gcd are a list with one for each argument: "):
        elementwise(np.gcd, partials=lambda x: 0.5)
    assert "half" not in CATALOGUE


def test_facts_are_stated_with_their_classes():
    """A function or a text in place of the fact would be found at its first use, or never."""
    for wrong, fact in {
        "The fact moves of half has to be Same or View or Pad or Overwrite or Pieces, not function.": {
            "moves": lambda have, want: None
        },
        "The fact kernel of half has to be Kernel, not str.": {"kernel": "libm sin"},
        "The fact reduces of half has to be Monoid, not ufunc.": {"reduces": np.add},
    }.items():
        with pytest.raises(TypeError, match=f"^{re.escape(wrong)}$"):
            declare("half", lambda x: 0.5 * x, CONSTANT, **fact)
    assert "half" not in CATALOGUE


def test_functions_of_facts_take_what_they_are_given():
    """By position the shapes, by name the parameters of the operation."""
    for wrong, fact in {
        "The function in View of turned takes 1 argument by position: "
        "it is given have and want, and the parameters of turned by name.": {
            "moves": View(lambda shape, *, axis: None)
        },
        "The function in Pad of turned takes 3 arguments by position: "
        "it is given whole, and the parameters of turned by name.": {"moves": Pad(lambda have, want, axis: None)},
    }.items():
        with pytest.raises(ValueError, match=f"^{re.escape(wrong)}$"):
            declare("turned", lambda x, *, axis: np.flip(x, axis), CONSTANT, **fact)
    assert "turned" not in CATALOGUE


def test_facts_fit():
    """They take the parameters of the operation, and a source asks for no others."""
    rule = Linear(lambda g, out, x, *, axis: g)
    for wrong, fact in {
        "A fact of turned does not take its parameters, which are: axis.": {"moves": View(lambda have, want: None)},
        "The source of turned asks for axes, which is none of its parameters.": {
            "form": Form(source="np.flip({0}, {axes})")
        },
        "turned is a reduction: its parameters have to be axis, keepdims.": {"reduces": Monoid(np.add)},
    }.items():
        with pytest.raises(ValueError, match=f"^{re.escape(wrong)}$"):
            declare("turned", lambda x, *, axis: np.flip(x, axis), rule, **fact)
    assert "turned" not in CATALOGUE


def test_formulas_fit():
    """They have the arguments and parameters of the operation, give one result, and do not decide on values."""

    def leaky(x, *, slope):
        return np.where(x > 0, x, slope * x)

    def branching(x):
        return x if x > 0 else 0.1 * x

    for wrong, evaluate, facts in (
        ("bent takes 1 argument and its formula 2 arguments.", leaky, {"formula": lambda x, y, *, slope: x}),
        ("The formula of bent does not have its parameters, which are: slope.", leaky, {"formula": lambda x: x}),
        ("The formula of bent does not have its parameters, which are: none.", np.sin, {"formula": leaky}),
        (
            "The formula of bent is that of an element: say its  domain,  or write  composition=.",
            leaky,
            {"formula": leaky, "domain": None},
        ),
        (
            "bent has several results, and a formula gives one: leave it out.",
            np.modf,
            {"formula": np.modf, "multiple": True},
        ),
        (
            "The formula of bent decides on values, which a program cannot: write  np.where.",
            branching,
            {"formula": branching},
        ),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(wrong)}$"):
            declare("bent", evaluate, CONSTANT, **{"domain": (REAL,), **facts})
    assert "bent" not in CATALOGUE


@pytest.mark.parametrize(
    "decision",
    [
        lambda x: x if np.all(x > 0) else -x,
        lambda x: x if CATALOGUE["sin"](x) > 0 else -x,
        lambda x: max(x, 0.1 * x),
        lambda x: x and -x,
        lambda x: np.sqrt(x * x) if not np.isnan(x) else x,
    ],
)
def test_every_way_to_decide_is_seen(decision):
    """In whatever words a formula asks for the truth of a value."""
    with pytest.raises(ValueError, match=r"^The formula of bent decides on values"):
        by_formula("bent", decision, partials=[lambda x: 1.0])
    assert "bent" not in CATALOGUE


@pytest.mark.parametrize(
    "formula",
    [
        lambda x: np.where(x > 0, x, -x),
        lambda x: x.astype(float) + 1.0,
        lambda x: CATALOGUE["sin"](x) + CATALOGUE["where"](x > 0, x, 0.0),
        lambda x: sum([x**k for k in range(3)]),
    ],
)
def test_what_does_not_decide_is_declared(formula):
    """Nor what asks for more than can be told when it is declared."""
    try:
        assert by_formula("bent", formula, partials=[lambda x: 1.0]).facts.formula is formula
    finally:
        CATALOGUE.pop("bent", None)
