"""The page in a real browser: the numbers and words at every step, and after the inputs have changed."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.explanation.formula.number_text import number_text
from tests.explanation import page_examples
from tests.explanation.page_examples import BROWSED, evaluate


def logistic_loss(w):
    first, second = w[0] + w[1] + 1.5 * w[2], w[0] + 1.5 * w[1] - w[2]
    return (0 - 1 / (1 + np.exp(-first))) ** 2 + (1 - 1 / (1 + np.exp(-second))) ** 2


def worked_function(x):
    c = x**2 + np.exp(x**2)
    return np.sqrt(c) + np.cos(c)


def both_sweeps(data, values):
    """Both sweeps in plain Python: all values, and the sum after each share that is handed back."""
    nodes = data["nodes"]
    values = [*values, *[0.0] * (len(nodes) - len(values))]
    for node in nodes:
        if node["kind"] == "step":
            values[node["id"]] = evaluate(node["js"], values)
    adjoints, sums = {data["outputs"][0]: 1.0}, []
    for node in reversed(nodes):
        if node["id"] in adjoints:
            for edge in node["edges"]:
                share = adjoints[node["id"]] * evaluate(edge["js"], values)
                adjoints[edge["from"]] = adjoints.get(edge["from"], 0.0) + share
                sums.append((edge["from"], adjoints[edge["from"]]))
    return values, sums


@pytest.mark.parametrize("name", [*list(BROWSED)[:-1], pytest.param("tangled", marks=pytest.mark.slow)])
def test_numbers_at_every_step(page, name):
    """At each step the heading's number, the graph's and the table's are what Python computes."""
    data = BROWSED[name]
    page.open(data)
    values, sums = both_sweeps(data, [node["value"] for node in data["nodes"] if node["kind"] == "input"])
    steps = [node for node in data["nodes"] if node["kind"] == "step"]
    assert page.run("return adjointPage.length") == len(steps) + len(sums) + 3
    expected = [(node["id"], values[node["id"]]) for node in steps] + [(data["outputs"][0], 1.0)] + sums
    texts = [number_text(number, data["digits"]) for _, number in expected]
    kinds = ["value"] * len(steps) + ["adjoint"] * (1 + len(sums))
    shown = page.at_every_step(
        [f'[data-node="{node}"] .{kind}' for (node, _), kind in zip(expected, kinds, strict=True)]
    )
    assert [heading for heading, _, _ in shown] == texts
    assert [text.removeprefix("∇ ").removesuffix(" + …") for _, text, _ in shown] == texts
    assert [text for _, _, text in shown] == texts


def test_table_of_the_logistic_loss(page):
    """All rows of 004's last table, left and right, in its order."""
    page.open(page_examples.logistic())
    page.go(25)
    rows = page.run("return [...document.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    assert rows == [
        ["v0 = w[0]", "-1", "∇w[0] = ∂L/∂w[0] = ∇v0", "0.13"],
        ["v(-1) = w[1]", "1.5", "∇w[1] = ∂L/∂w[1] = ∇v(-1)", "0.06"],
        ["v(-2) = w[2]", "0.5", "∇w[2] = ∂L/∂w[2] = ∇v(-2)", "0.54"],
        ["v1 = v0 + v(-1) + 1.5·v(-2)", "1.25", "∇v(-2) = ∇v(-2) + ∇v1 · 1.5", "0.54"],
        ["∇v(-1) = ∇v(-1) + ∇v1 · 1", "0.06"],
        ["∇v0 = ∇v0 + ∇v1 · 1", "0.13"],
        ["v2 = v0 + 1.5·v(-1) - v(-2)", "0.75", "∇v(-2) = ∇v2 · (-1)", "0.14"],
        ["∇v(-1) = ∇v2 · 1.5", "-0.21"],
        ["∇v0 = ∇v2 · 1", "-0.14"],
        ["v3 = σ(v1)", "0.78", "∇v1 = ∇v3 · σ(v1)·(1 - σ(v1))", "0.27"],
        ["v4 = σ(v2)", "0.68", "∇v2 = ∇v4 · σ(v2)·(1 - σ(v2))", "-0.14"],
        ["v5 = 0 - v3", "-0.78", "∇v3 = ∇v5 · (-1)", "1.55"],
        ["v6 = 1 - v4", "0.32", "∇v4 = ∇v6 · (-1)", "-0.64"],
        ["v7 = v5^2", "0.6", "∇v5 = ∇v7 · 2·v5", "-1.55"],
        ["v8 = v6^2", "0.1", "∇v6 = ∇v8 · 2·v6", "0.64"],
        ["v9 = v7 + v8", "0.71", "∇v8 = ∇v9 · 1", "1"],
        ["∇v7 = ∇v9 · 1", "1"],
        ["L = v9", "0.71", "∇v9 = 1", "1"],
    ]


def test_formulas_with_values_put_in(page):
    """The heading shows the formula, the numbers in it, and the result; sums show what was there before."""
    page.open(page_examples.logistic())
    page.go(7)
    assert page.lines() == "v7 = v5^2 = (-0.78)^2 = 0.6"
    assert page.texts("#partials li") == ["∂v7/∂v5 = 2·v5 = 2·(-0.78) = -1.55"]
    page.go(1)
    assert page.lines() == "v1 = v0 + v(-1) + 1.5·v(-2) = -1 + 1.5 + 1.5·0.5 = 1.25"
    page.go(23)
    assert page.lines() == "∇v(-1) = ∇v(-1) + ∇v1 · 1 = -0.21 + 0.27 · 1 = 0.06"
    assert page.text("#sentence").startswith(
        "v1 hands its adjoint 0.27, times ∂v1/∂v(-1) = 1, back to v(-1). -0.21 had already arrived there: "
        "the shares add up to 0.06. ∇v(-1) is complete"
    )
    page.go(20)
    assert page.text("#sentence").endswith("Still to come: the share from v1.")


def test_user_names_are_used(page):
    """Where formulas speak of a, b, c, so do the adjoints; the number stands beside."""
    page.open(page_examples.worked())
    page.go(11)
    assert page.lines() == "∇c = ∇c + ∇d · 0.5·c^-0.5 = -0.7354 + 1 · 0.1875 = -0.5479"
    assert "v3  c = a + b" in page.texts("tbody th")
    assert page.texts("tbody tr:last-child th") == ["f  the result"]


def test_highlights(page):
    """Forward: the node, its operands and its edges; back: the edge, its giver and its receiver."""
    page.open(page_examples.logistic())
    page.go(9)
    assert page.nodes("computing") == [11]
    assert page.nodes("operand") == [9, 10]
    assert page.count(".edge.forward") == 2
    assert page.texts(".mark.forward text") == ["1", "1"]
    page.go(23)
    assert page.nodes("giving") == [3]
    assert page.nodes("receiving") == [1]
    assert page.count(".edge.reverse") == 1
    assert page.text('[data-node="2"] .adjoint') == "∇ 0.14 + …"


def test_what_is_not_yet_computed_is_hidden(page):
    """Only what the sweeps have reached can be seen, in the graph, the table, and on the edges."""
    page.open(page_examples.logistic())
    page.go(4)
    assert page.visible("td.left.number > span") == 3 + 4
    assert page.text('[data-node="7"] .value') == ""
    assert page.run("return getComputedStyle(document.querySelector('.mark.pending text')).visibility") == "hidden"


@pytest.mark.parametrize("point", [(0.25, -0.5, 1.0), (3.0, 2.0, -7.5)])
def test_inputs_recompute_the_loss(page, point):
    """After the inputs change, value and gradient are those at the new point, wherever the reader is."""
    data = page_examples.logistic(digits=8)
    page.open(data)
    for node, value in enumerate(point):
        page.put(f"input-{node}", value)
    page.go(25)
    gradient = ad.grad(logistic_loss)(np.array(point))
    assert page.texts("#lines .total") == [number_text(g, 8) for g in gradient]
    assert page.text("tbody tr:last-child .left.number") == number_text(logistic_loss(point), 8)
    page.driver.find_element("id", "reset").click()
    gradient = ad.grad(logistic_loss)(np.array([-1.0, 1.5, 0.5]))
    assert page.texts("#lines .total") == [number_text(g, 8) for g in gradient]


def test_slider_and_field_agree(page):
    """The slider moves the field and the numbers; a field beyond the slider's end widens it."""
    page.open(page_examples.worked(digits=6))
    page.go(16)
    page.put("range-0", 0.5)
    assert page.value("input-0") == "0.5"
    assert page.text("#lines .total") == number_text(ad.grad(worked_function)(0.5), 6)
    assert page.text("#slope-0") == "∇ = " + page.text("#lines .total")
    page.put("input-0", -40)
    assert float(page.value("range-0")) == -40
    page.put("input-0", "")
    assert page.text("tbody .left.number") == "-40"


def test_branch_not_taken_hands_on_nothing(page):
    """where(x > 0, sqrt(x), 0) at 0 has gradient 0 though sqrt's slope is infinite, as the library says."""

    def f(x):
        return np.where(x > 0, np.sqrt(x), 0.0)

    page.open(page_examples.rectified())
    page.go(5)
    assert page.text("#lines .total") == number_text(ad.grad(f)(0.0), 4) == "0"
    page.go(4)
    assert page.text("#sentence").startswith("Nothing goes from v2 to v1: this branch was not taken")
    page.put("input-0", 0.25)
    page.go(5)
    assert page.text("#lines .total") == number_text(ad.grad(f)(0.25), 4) == "1"


def test_infinite_slope_then_zero(page):
    """sqrt(x**2) at 0 gives 0, and sqrt of a node at 0 inf: the sweep keeps the infinite part apart."""
    page.open(page_examples.absolute())
    page.go(4)
    assert page.text("#lines .total") == "inf"
    assert "slope is infinite" in page.text("#sentence")
    page.go(6)
    assert page.text("#lines .total") == number_text(ad.grad(lambda x: np.sqrt(x**2))(0.0), 4) == "0"
    page.put("input-0", -2)
    assert page.text("#lines .total") == "-1"


def test_two_results(page):
    """Seeds are weights, a result that is also an operand sums its own and what comes back; unused inputs have 0."""
    page.open(page_examples.two_results())
    assert page.texts("tbody tr:nth-last-child(-n+2)") == ["L[0] = v11∇v1 = 22", "L[1] = v20.8415∇v2 = -1-1"]
    page.go(5)
    assert page.lines() == "∇v1 = ∇v1 + ∇v2 · cos(v1) = 2 + (-1) · 0.5403 = 1.4597"
    page.go(8)
    gradient = ad.grad(lambda x, y: 2 * x * y - np.sin(x * y), argnums=(0, 1))(0.5, 2.0)
    assert page.texts("#lines .total") == [*[number_text(g, 4) for g in gradient], "0"]
    assert "not used by the result" in page.texts("tbody td.right")


def test_guard(page):
    """A decision that would fall otherwise is said aloud; going back takes the banner away."""
    page.open(page_examples.branched())
    assert page.text("#banners") == ""
    page.put("input-0", -1)
    assert page.text("#banners") == (
        "The program would take another branch here (f.py:3  if x > 0:): "
        "what is shown holds for the recorded branch only."
    )
    page.put("input-0", 2)
    assert page.text("#banners") == ""
