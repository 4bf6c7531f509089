"""What a row's formula needs, what the cost says is stored, and what the library keeps are the same values."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from scipy.special import expit

import adjoint as ad
from adjoint.explanation.formula.expression import symbols_in
from adjoint.explanation.record.recorder import is_elementwise
from adjoint.explanation.show.cost import cost_of
from adjoint.ops.declare import CATALOGUE
from tests.cases.primitives import DIFFERENTIABLE, cases_of

NAME = re.compile(r"v\(-\d+\)|v\d+")
ELEMENTWISE = [name for name in DIFFERENTIABLE if is_elementwise(CATALOGUE[name])]


def said_to_be_stored(explanation):
    """The values that the cost names, runs such as v0..v4 written out."""
    names, found = [explanation._view.names[p] for row in explanation.rows for p in row.outs], set()
    for text in cost_of(explanation._view, explanation.table()).kept.stored:
        for part in text.split(", "):
            first, *last = part.split("..")
            found |= set(names[names.index(first) : names.index(last[0]) + 1] if last else NAME.findall(part))
    return found


def read_in(table, row, edge):
    """The values that a printed partial reads: a row's own value may be written as what it is."""
    text, formula = table.handed(row, edge), table.formula(row, row.outs[0])
    text = re.sub(rf"∇(?:{NAME.pattern})", "", text)
    return set(NAME.findall(text.replace(formula, table.called(row.outs[0])) if edge.uses_result else text))


def may_read(table, row, edge):
    """The values of the whole partial, with choices that the formula takes as they fell."""
    expression = edge.share if edge.partial is None else edge.partial
    found = {table.called(s.place) for s in symbols_in(expression) if s.kind == "value"}
    return found | ({table.called(row.outs[0])} if edge.uses_result else set())


def explained(name):
    case = next(iter(cases_of(CATALOGUE[name])))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return ad.explain(case.function, names=False)(*case.args)


def check(names):
    wrong = []
    for name in names:
        explanation = explained(name)
        table, stored = explanation.table(), said_to_be_stored(explanation)
        edges = [(row, edge) for row in explanation.rows for edge in row.edges if edge.value is not None]
        needed = set().union(*[read_in(table, row, edge) for row, edge in edges])
        allowed = set().union(*[may_read(table, row, edge) for row, edge in edges if edge.partial or edge.share])
        if not needed <= stored <= allowed:
            wrong.append((name, needed, stored, allowed, [table.handed(*pair) for pair in edges]))
    assert not wrong


def test_formulas_read_what_is_stored():
    """For every operation on elements in NumPy: what its partials read, as printed, is stored, and nothing else."""
    names = [name for name in ELEMENTWISE if hasattr(np, name)]
    assert len(names) > 40
    check(names)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_special_functions_read_what_is_stored(part):
    """The same for all others of the catalogue."""
    check([name for name in ELEMENTWISE if not hasattr(np, name)][part::8])


@pytest.mark.parametrize(("fun", "partial", "stored", "written"), [
    (np.tanh, "sech²(x)", {"x"}, ()), (np.sin, "cos(x)", {"x"}, ()), (np.exp, "exp(x)", {"v1"}, (("v1", "exp(x)"),)),
    (np.sqrt, "(0.5 / sqrt(x))", {"v1"}, (("v1", "sqrt(x)"),)),
    (expit, "σ(x)·(1 - σ(x))", {"x", "v1"}, (("v1", "σ(x)"),)),
])  # fmt: skip
def test_values_that_are_written_as_what_they_are(fun, partial, stored, written):
    """The course's partial of exp(a) is exp(a): what is stored for it is its value, and the cost says which it is."""
    explanation = ad.explain(lambda x: fun(x))(0.5)
    assert f"∇v1 · {partial} " in str(explanation)
    cost = explanation.cost()
    assert (set(", ".join(cost.kept.stored).split(", ")), cost.written_out) == (stored, written)
    said = ", ".join([f"{name} as {formula}" for name, formula in written])
    assert (f"The table writes {said}." in str(cost)) == bool(written)


def test_conditions_that_are_stored():
    """A mask is no row's value: it is named as the table writes it."""
    explanation = ad.explain(lambda x: np.sum(np.where(x > 0, 2.0 * x, 0.0)))(np.array([1.0, -2.0]))
    assert "∇v2 · [x > 0]" in str(explanation)
    assert explanation.cost().kept.stored == ("[x > 0]",)
