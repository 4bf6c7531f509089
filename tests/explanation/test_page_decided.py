"""What a reader sees on the page of limits, branches, tangents and large arrays."""

from __future__ import annotations

import numpy as np

from tests.explanation.test_page_results import opened


def branching(x):
    y = x**2
    if y > 1:
        y = y - 1
    while y < 3:
        y = 2 * y
    return y


def test_a_limit_is_told(page):
    """A product of 0 and infinity is marked in the table, and the sentence says what counts instead."""
    steps = opened(page, lambda x, y: np.sqrt(x) ** 2 * y, 0.0, 3.0)
    page.go(steps - 2)
    assert page.lines() == "∇x = lim ∇v1 · (0.5 / sqrt(x)) = 3"
    assert "0 · ∞ is undetermined; the slopes near this point have a limit, by which ∇x is 3." in page.text("#sentence")
    page.put("input-1", 5)
    assert page.lines() == "∇x = lim ∇v1 · (0.5 / sqrt(x)) = 5"
    assert page.count("#banners p") == 0
    page.put("input-0", 2)
    assert "lim" not in page.lines()


def test_what_is_undetermined_is_told(page):
    """Where no limit is known the number is nan, and a banner names the derivative."""
    steps = opened(page, lambda x, y: np.cbrt(x**3 + y**3) + y, 1.0, 2.0)
    page.put("input-0", 0)
    page.put("input-1", 0)
    assert page.texts("#banners p") == ["∂f/∂x and ∂f/∂y are undetermined here: 0 · ∞ or nan arises on the way."]
    page.go(steps - 1)
    assert page.lines() == "∂f/∂x = nan ∂f/∂y = nan"
    page.put("input-0", 1)
    assert page.count("#banners p") == 0


def test_limits_of_a_page_that_does_not_compute(page):
    """The mark is there too where JavaScript has no part."""
    steps = opened(page, lambda x: np.sqrt(x) ** 2, np.float32(0.0))
    page.go(steps - 2)
    assert page.lines() == "∇x = lim ∇v1 · (0.5 / sqrt(x)) = 1"


def test_branches_have_rows(page):
    """A condition stands where it was asked, with how it fell out and its line."""
    opened(page, branching, 1.5)
    first = branching.__code__.co_firstlineno
    assert page.texts(".decision") == [
        f"if y > 1: takenline {first + 2}",
        f"while y₂ < 3: goes online {first + 4}",
        f"while y₃ < 3: goes online {first + 4}",
        f"while y₄ < 3: endsline {first + 4}",
    ]
    assert page.texts("tbody tr")[2].startswith("if y > 1")
    assert page.texts("tbody tr")[-2].startswith("while y₄ < 3: ends")


def test_tangents_come_with_their_values(page):
    """A tangent is shown when its value is, in the table and in the sentence."""
    opened(page, lambda x: np.sin(x**2), 1.5, mode="both")
    page.go(1)
    assert page.visible("td.middle.number > span") == 2
    assert page.text("#sentence").endswith("Its tangent goes along: v̇1 = ẋ · 2·x = 3.")
    page.go(2)
    assert page.visible("td.middle.number > span") == 3


def test_ends_of_long_texts_stay(page):
    """Names and arrays that do not fit into a box keep their end, which tells them apart: the place, the shape."""

    def layer(weights, x):
        return np.sum(weights["a"] @ x + weights["b"])

    opened(page, layer, {"a": np.ones((8, 9)), "b": np.ones(8)}, np.ones(9))
    assert sorted(page.texts(".node.input .title")) == ["weig…s['a']", "weig…s['b']", "xv(-2)"]
    assert sorted(page.texts(".node.input .value")) == ["[1, 1, … 1] 8", "[1, 1, … 1] 9", "[1, 1… 8×9"]


def test_several_limits_at_one_value(page):
    """Two shares of 0 times infinity are known only together: the page does not add up what it does not know."""
    steps = opened(page, lambda x: np.sqrt(x) ** 2 + np.cbrt(x**3), 0.0)
    page.go(steps - 4)
    assert page.lines() == "∇x = lim ∇v3 · 3·x² = nan"
    assert page.text("#sentence").endswith(
        "0 · ∞ is undetermined for this share alone; the slopes near this point have a limit, by which ∇x is 2 in the "
        "end. Still to come: the share from v1."
    )
    page.go(steps - 2)
    assert page.lines() == "∇x = ∇x + lim ∇v1 · (0.5 / sqrt(x)) = 2"
    assert "by which ∇x is 2. ∇x is complete" in page.text("#sentence")
