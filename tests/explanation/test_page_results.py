"""What a reader sees of several results, of loops and blocks, of numbers in narrow boxes, and above a failed guard."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.explanation.formula.number_text import number_text
from tests.explanation import page_examples


def squares(x):
    y = x**2
    return y, y**3


def losses(p):
    h = 1.5 * p["w"] + p["b"]
    return {"loss": h**2, "norm": p["w"] ** 2, "rows": 3.0}


def opened(page, fun, *args, **options):
    """Open the page of a function, and say how many steps it has."""
    page.complaints()
    page.driver.get(ad.explain(fun, **options)(*args).page(page.folder / "page.html").as_uri())
    return page.run("return adjointPage.length")


def test_seeds_of_several_results(page):
    """Each result starts with its own seed, and the sum that is differentiated has a name of its own."""
    steps = opened(page, squares, 1.5)
    page.go(3)
    assert page.lines() == "∇y = ∂Σsquares/∂squares[0] = 1 ∇v2 = ∂Σsquares/∂squares[1] = 1"
    assert page.text("#sentence").endswith(
        "Σsquares is the sum of all results, each times its seed, so ∇y = 1 and ∇v2 = 1."
    )
    page.go(4)
    assert page.lines() == "∇y = ∇y + ∇v2 · 3·y² = 1 + 1 · 15.1875 = 16.1875"
    page.go(steps - 1)
    assert page.lines() == "∂Σsquares/∂x = 48.5625"
    assert page.texts("tbody tr")[-2:] == ["squares[0] = y2.25∇y = 11", "squares[1] = v211.3906∇v2 = 11"]


@pytest.mark.parametrize("point", [1.5, np.float32(1.5)], ids=["live", "still"])
def test_a_value_that_is_returned_twice(page, point):
    """Its seeds add up, also where the page does not compute."""

    def twice(x):
        y = x * x
        return y, y

    steps = opened(page, twice, point)
    page.go(2)
    assert page.lines().endswith("= 2")
    assert page.lines().startswith("∇y = ∂Σtwice/∂twice[0] + ∂Σtwice/∂twice[1] = ")
    assert page.texts("tbody tr")[-2:] == ["twice[0] = y2.25∇y = 11", "twice[1] = y2.25∇y = ∇y + 12"]
    page.go(steps - 1)
    assert page.text("#lines .total") == "6"


def test_results_have_their_own_names(page):
    """The way to a result in its containers is its name; constants have a row without an adjoint."""
    opened(page, losses, {"w": 0.5, "b": -0.2})
    rows = page.texts("tbody tr")[-3:]
    assert rows == [
        "losses['loss'] = v20.3025∇v2 = 11",
        "losses['norm'] = v30.25∇v3 = 11",
        "losses['rows'], a constant3",
    ]
    page.go(4)
    assert "losses['norm'] = v3 = 0.25 and losses['rows'] = 3." in page.text("#sentence")


def test_nothing_to_hand_back(page):
    """A function that returns a constant has a page too."""
    steps = opened(page, lambda x: 3.0, 1.5)
    page.go(1)
    assert "That does not depend on the inputs, so there is nothing to hand back." in page.text("#sentence")
    page.go(steps - 1)
    assert page.lines() == "∂f/∂x = 0"


def test_a_given_seed(page):
    """A seed that somebody chose is not the derivative of the result."""
    opened(page, lambda x: x**2, 1.5, cotangent=2.0)
    page.go(2)
    assert page.lines() == "∇v1 = the given seed = 2"
    page.go(3)
    assert page.lines() == "∇x = ∇v1 · 2·x = 2 · 3 = 6"


def test_powers_with_numbers_put_in(page):
    """The sign of a square belongs to no name: x² is a power of x, and x₂ another value."""

    def powers(x):
        y = x**2
        y = y * x
        return y**3

    opened(page, powers, -1.5)
    for step, text in enumerate(["y = x² = (-1.5)² = 2.25", "y₂ = y·x = 2.25·(-1.5) = -3.375"], 1):
        page.go(step)
        assert page.lines() == text


def test_complex_gradients(page):
    """Of a complex input the page shows what `ad.grad` gives, and says that it is the conjugate of the adjoint."""
    steps = opened(page, lambda z: np.abs(z) ** 2, 1.0 + 2.0j)
    page.go(steps - 1)
    assert page.lines() == "∂f/∂z = 2+4j"
    assert page.texts("tbody td.right.final") == ["∇z = ∂f/∂z = conj(∇v0)", "2+4j"]


def many_turns(x):
    y = x
    for _ in range(500):
        y = np.sin(y) + 0.1 * y
    return y * x


def two_in_a_block(x):
    with ad.block("layer"):
        a = np.sin(x)
        b = a * x
    c = a * 2.0
    return np.sum(b * c)


def test_loops_are_called_as_in_formulas(page):
    """The box of a folded loop has the name under which other formulas speak of it."""
    opened(page, many_turns, 0.7)
    page.go(2)
    assert page.lines().startswith("v2 = y·x = ")
    name = page.run("return document.querySelector('[data-node=\"1\"] .title').firstChild.textContent")
    assert name == "y"
    page.go(1)
    value = number_text(many_turns(0.7) / 0.7, 4)
    assert page.lines() == f"y = 2 steps x 500, test_page_results.py:{line_of('y = np.sin(y)')} = {value}"


def line_of(text):
    """Where a text stands in this file."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(k for k, line in enumerate(lines, 1) if text in line and "line_of" not in line)


def test_values_of_one_block_have_their_own_sums(page):
    """Shares go to the value they belong to, though both values are in one box."""
    x = np.linspace(0.0, 1.0, 200)
    steps = opened(page, two_in_a_block, x)
    said = []
    for step in range(steps):
        page.go(step)
        said.append(page.lines().split(" = [")[0])
    assert said == [
        "x", "a, b = layer(x)", "c = 2·a", "v4 = b·c", "v5 = sum(v4) = 80.1876", "∇v5 = ∂two_in_a_block/∂v5 = 1",
        "∇v4 = ∇v5", "∇b = ∇v4 · c", "∇c = ∇v4 · b", "∇a = ∇c · 2", "∇x = ∇a, ∇b through layer", "∂two_in_a_block/∂x",
    ]  # fmt: skip
    page.go(9)
    assert page.text("#sentence") == "c hands its adjoint, times ∂c/∂a, back to a. ∇a is complete."


BROKEN = """
const number = /(?<![\\p{L}\\p{N}_.])-?\\d+\\.?\\d*(e[-+]?\\d+)?/gu, found = [];
let seen = 0;
for (const box of document.querySelectorAll("#lines, #sentence, #partials, tbody")) {
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const match of node.textContent.matchAll(number)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const tops = new Set([...range.getClientRects()].map(rect => Math.round(rect.top)));
      seen++;
      if (tops.size > 1) found.push(match[0]);
    }
  }
}
return [seen, found];
"""
"""A script that counts the numbers in sight, and gives those that go over the end of a line."""


def tiny(x, y):
    a = x * 1e-5 - 0.0005 * y
    b = a * np.exp(-(x**2) - 3 * y) * -0.00047
    return b / (a * 1e4 + 123456.789) + a * y


def layer(x, w):
    return np.sum(np.exp(1e-4 * np.tanh(x @ w) - 5))


@pytest.mark.parametrize("width", [320, 400, 820, 1000, 1366])
@pytest.mark.parametrize("kind", ["live", "still"])
def test_numbers_are_never_broken(page, kind, width):
    """Formulas wrap, numbers do not, however narrow the box is; and the page does not get wider for it."""
    page.size(width, 740)
    fun, args = (
        (tiny, (0.4, -0.2)) if kind == "live" else (layer, (np.linspace(-1, 2, 24).reshape(4, 6), np.ones((6, 9))))
    )
    steps = opened(page, fun, *args)
    for step in range(steps):
        page.go(step)
        seen, broken = page.run(BROKEN)
        assert seen > 20
        assert broken == []
        assert page.run("return document.documentElement.scrollWidth - innerWidth") <= 0


def test_a_guard_on_a_number(page):
    """A number that the program took as it was is named with both its values."""
    opened(page, lambda x: x * int(x), 2.5)
    assert page.text("#banners") == ""
    page.put("input-0", 3.7)
    said = page.text("#banners")
    assert said.startswith("The program was recorded for the number 2 here, which is now 3 (test_page_results.py:")
    assert said.endswith("): what is shown need not hold.")
    page.put("input-0", 2.5)
    assert page.text("#banners") == ""


def test_headings_are_never_broken(page):
    """Nor are the words above the columns, where values are texts that may wrap."""
    opened(page, many_turns, 0.7)
    heights = page.run("return [...document.querySelectorAll('thead th')].map(th => th.clientHeight)")
    assert max(heights) < 40


def test_long_lines_are_shortened_in_a_banner(page):
    """A long line of source does not fill the screen."""
    data = page_examples.branched()
    data["guards"][0]["line"] = "f.py:3  if x > 0 and " + " and ".join(["x < 1000"] * 100)
    page.open(data)
    page.put("input-0", -1)
    assert len(page.text("#banners")) < 220


def test_one_banner_for_one_line(page):
    """A decision that is taken often is not said more than once."""
    data = page_examples.branched()
    data["guards"] *= 3
    page.open(data)
    page.put("input-0", -1)
    assert page.count(".banner:not(noscript *)") == 1
    assert re.match(r"The program would take another branch here \(f.py:3", page.text("#banners"))
