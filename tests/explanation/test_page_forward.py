"""The page of forward mode in a real browser: values and tangents, in directions that the reader chooses."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.explanation.formula.number_text import number_text
from adjoint.explanation.page.script import NoScriptError
from adjoint.explanation.page.stepping import live_page
from adjoint.explanation.page.writing import computing, page_data
from adjoint.explanation.show.table import Table
from tests.explanation import browser
from tests.explanation.page_programs import programs


def taught(x, y):
    a = x**2
    b = np.exp(a) * y
    c = a + b
    return np.sqrt(c) + np.cos(c)


def intermediate(x, y):
    """What `taught` computes on its way: exp(a) has no name, and neither have the last three."""
    a = x**2
    e = np.exp(a)
    b = e * y
    c = a + b
    return a, e, b, c, np.sqrt(c), np.cos(c), np.sqrt(c) + np.cos(c)


def opened(page, fun, *args, **options):
    """Write the page of an explanation, and load it."""
    page.complaints()
    page.driver.get(ad.explain(fun, **options)(*args).page(page.folder / "page.html").as_uri())
    return page.run("return adjointPage.length") - 1


def at_each_step(page, count):
    """For each step: the totals of the heading, the graph's tangent, and the numbers of the table's row."""
    found = []
    for step in range(1, count + 1):
        page.go(step)
        node = page.nodes("computing")[0]
        found.append((
            page.texts("#lines .total"), page.text(f'[data-node="{node}"] .tangent').split(" ")[1],
            page.texts("td.active.number"),
        ))  # fmt: skip
    return found


def check(page, point, direction):
    """Every value and tangent at every step is that of `ad.jvp`."""
    values, tangents = ad.jvp(intermediate, point, direction)
    pairs = [[number_text(float(x), 4) for x in pair] for pair in zip(values, tangents, strict=True)]
    for (heading, drawn, row), pair in zip(at_each_step(page, 7), pairs, strict=True):
        assert heading == pair
        assert drawn == pair[1]
        assert row == pair
    page.go(8)
    assert page.texts("#lines .total") == [pairs[-1][1]]
    assert page.texts("td.active.number") == pairs[-1]


def test_the_forward_page_plays_the_tangents(page):
    """Step by step, after the inputs and the direction have changed, and with one input moving alone."""
    assert opened(page, taught, 1.3, 0.7, mode="forward") == 8
    check(page, (1.3, 0.7), (1.0, 0.0))
    page.put("input-0", 0.4)
    page.put("range-1", 1.0)
    page.put("seed-0", -2)
    page.put("seed-1", 0.5)
    check(page, (0.4, 1.0), (-2.0, 0.5))
    page.driver.find_element("id", "alone-1").click()
    assert (page.value("seed-0"), page.value("seed-1")) == ("0", "1")
    check(page, (0.4, 1.0), (0.0, 1.0))
    assert "∂taught/∂y" in page.text("#sentence")
    page.driver.find_element("id", "reset").click()
    check(page, (1.3, 0.7), (1.0, 0.0))


def test_no_adjoints_on_a_forward_page(page):
    """It speaks of no way back, wherever the reader is; play runs to its end."""
    for fun, args in ((taught, (1.3, 0.7)), (lambda x: np.sum(np.sin(x) ** 2), (np.linspace(0, 1, 900),))):
        last = opened(page, fun, *args, mode="forward")
        for step in range(last + 1):
            page.go(step)
            said = page.run("return document.body.innerText + document.getElementById('data').textContent")
            assert not [word for word in ("∇", "adjoint", "way back", "reverse") if word in said]
        assert page.count("thead th") == 4
    page.go(0)
    page.run("const s = document.getElementById('speed'); s.value = 4; s.dispatchEvent(new Event('change'))")
    page.driver.find_element("id", "play").click()
    page.wait_until("return document.getElementById('step').value == document.getElementById('step').max")


def test_given_directions_are_where_the_page_begins(page):
    """`tangent=` is the direction at first, number by number."""
    w, t = np.array([0.5, -1.0, 2.0]), np.array([0.0, 3.0, -1.0])
    last = opened(page, lambda w: np.exp(w[0]) * w[1] * w[2], w, mode="forward", tangent=(t,))
    assert [page.value(f"seed-{k}") for k in range(3)] == ["0", "3", "-1"]
    page.go(last)
    wanted = ad.jvp(lambda w: np.exp(w[0]) * w[1] * w[2], (w,), (t,))[1]
    assert page.texts("#lines .total") == [number_text(float(wanted), 4)]


def test_arrays_show_what_was_computed(page):
    """Folded blocks and large arrays have their tangents in the heading, the graph and the table."""

    def net(w, x):
        with ad.block("hidden"):
            h = np.tanh(w * x)
        return np.sum(h) ** 2

    w, x = np.array([0.5, -1.0]), np.array([1.0, 2.0])
    last = opened(page, net, w, x, mode="forward")
    assert page.count("#fields input") == 0
    page.go(1)
    assert page.lines() == "h = hidden(w, x) = [0.4621, -0.964] ḣ = ẇ, ẋ through hidden = [0.7864, 0]"
    assert page.text('[data-node="2"] .tangent') == "ḣ [0.7864, 0]"
    page.go(last)
    wanted = ad.jvp(net, (w, x), (np.array([1.0, 0.0]), np.zeros(2)))[1]
    assert page.texts("#lines .total") == [number_text(float(wanted), 4)]


def test_both_has_tangents_and_adjoints(page):
    """The tangents beside the values, then the adjoints: the gradient times the direction is the tangent."""
    last = opened(page, taught, 1.3, 0.7, mode="both", digits=8)
    page.put("seed-1", 2)
    page.put("input-0", 0.9)
    page.go(last)
    gradient = [float(text) for text in page.texts("#lines .total")]
    np.testing.assert_allclose(gradient, ad.grad(taught, (0, 1))(0.9, 0.7), atol=1e-7)
    tangent = float(page.texts("tbody tr:last-child .middle.number")[0])
    np.testing.assert_allclose(tangent, gradient[0] + 2 * gradient[1], atol=1e-7)
    assert page.count("thead th") == 6
    assert page.text('[data-node="0"] .tangent') == "ẋ 1"
    assert page.text('[data-node="0"] .adjoint').startswith("∇ ")


def test_a_limit_is_used_where_it_was_recorded(page):
    """sqrt(x)**2 at 0: 0 · ∞ has a limit there; at other singular inputs the page says that it knows none."""
    last = opened(page, lambda x, y: np.sqrt(x) ** 2 * y, 0.0, 3.0, mode="forward")
    page.go(last)
    assert page.texts("#lines .total") == ["3"]
    assert page.text("#banners") == ""
    page.put("input-1", 2)
    assert page.texts("#lines .total") == ["nan"]
    assert page.text("#banners") == "ḟ is undetermined here: 0 · ∞ or nan arises on the way."
    page.put("input-0", 0.25)
    assert page.texts("#lines .total") == ["2"]


@pytest.mark.parametrize("mode", ["forward", "both"])
@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_is_cut_off(page, mode, width):
    """No sideways scrolling of the whole page, and every text can be read on what is behind it."""
    page.size(width, 900)
    page.media(motion="reduce")
    opened(page, taught, 1.3, 0.7, mode=mode)
    page.go(3)
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    assert min(page.run(browser.CONTRASTS))[0] >= 4.5


EVALUATE = """
const numbers = xs => xs.map(x => String(Number(x)));
return arguments[0].map(([point, direction]) => {
  const {v, moved, failed, open} = evaluated(point.map(Number), direction);
  const pairs = [id => v[id], id => moved.dots[id] ?? 0].map(of => numbers(DATA.outputs.map(of)));
  return [...pairs, failed.length, open.length];
});
"""


SEEDS = [1, *[pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4, 5)]]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(driver, seed):
    """Wherever the branch is the recorded one, tangents are those of `ad.jvp`, or the page says that it has none."""
    driver.get("about:blank")
    rng, seen, unknown = np.random.default_rng(seed), 0, 0
    for fun, point in programs(seed, count=12):
        data = forward_data(fun, point)
        if data is None:
            continue
        asked = [(point, [1.0, 0.0]), (point, [0.0, 1.0]), *rng.normal(size=(3, 2, 2)).tolist()]
        script = f"const DATA = JSON.parse({json.dumps(page_data(data))});\n{computing(data)}\n{EVALUATE}"
        for pair, (values, tangents, failed, is_open) in zip(asked, driver.execute_script(script, asked), strict=True):
            if failed:  # another branch, which the page says
                continue
            try:
                wanted, moves = jvp_of(fun, *pair)
            except (ValueError, ZeroDivisionError, OverflowError):
                continue  # the function itself refuses this point
            np.testing.assert_allclose(numbers(values), wanted, rtol=1e-8, atol=1e-11)
            found, is_number = numbers(tangents), np.isfinite(wanted)  # what is no number does not move
            left_open = is_number & np.isnan(found) & ~np.isnan(moves)
            assert is_open or not left_open.any()
            known = is_number & ~left_open
            np.testing.assert_allclose(found[known], moves[known], rtol=1e-7, atol=1e-9, err_msg=fun.source)
            unknown, seen = unknown + left_open.sum(), seen + known.sum()
    assert seen > 20
    assert unknown <= seen / 20


def forward_data(fun, point):
    """The data of a forward page; None where the page cannot compute."""
    with np.errstate(all="ignore"):
        view = ad.explain(fun, mode="forward")(*map(np.float64, point))._seen("scalar", collapse=False)
        try:
            return live_page(view, Table(view, digits=4, names=True, lines=False, most=sys.maxsize))
        except NoScriptError:
            return None


def jvp_of(fun, point, direction):
    with np.errstate(all="ignore"):
        found = ad.jvp(fun, tuple(map(np.float64, point)), tuple(direction))
    return [np.array(part if isinstance(part, tuple) else (part,), float) for part in found]


def numbers(texts):
    return np.array([float(text.replace("Infinity", "inf")) for text in texts])
