"""The page for every reader: keyboard, screen reader, phone, paper, dark and light, and no network."""

from __future__ import annotations

import re

import pytest

from adjoint.explanation.page.writing import page_html
from tests.explanation import browser, page_examples
from tests.explanation.page_examples import BROWSED


def test_keyboard(page):
    """Arrows step, Home and End jump, space plays and pauses; in a field the keys stay the field's."""
    from selenium.webdriver.common.keys import Keys

    page.open(page_examples.logistic())
    body = page.driver.find_element("tag name", "body")
    body.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert page.step() == 2
    body.send_keys(Keys.END)
    assert page.step() == 25
    body.send_keys(Keys.ARROW_RIGHT)
    assert page.step() == 25
    body.send_keys(Keys.HOME)
    assert page.step() == 0
    body.send_keys(Keys.SPACE)
    assert page.label("play") == "Pause"
    body.send_keys(Keys.SPACE)
    assert page.label("play") == "Play"
    at = page.step()
    page.driver.find_element("id", "input-0").send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    assert page.step() == at
    page.driver.find_element("id", "step").send_keys(Keys.ARROW_RIGHT)
    assert page.step() == at + 1
    assert page.run("return document.activeElement.matches(':focus-visible')")
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_buttons_slider_and_rows(page):
    """Every way of moving leads to the same place."""
    page.open(page_examples.logistic())
    for button, step in [("next", 1), ("next", 2), ("back", 1), ("last", 25), ("next", 25), ("first", 0), ("back", 0)]:
        page.driver.find_element("id", button).click()
        assert page.step() == step
    page.driver.find_elements("css selector", "tbody td.right")[-2].click()
    assert page.step() == 10


def test_play_runs_to_the_end(page):
    """Play goes on by itself, faster at a higher speed, and stops at the end."""
    page.open(page_examples.branched())
    page.run("const s = document.getElementById('speed'); s.value = 4; s.dispatchEvent(new Event('change'))")
    page.driver.find_element("id", "play").click()
    page.wait_until("return document.getElementById('step').value == document.getElementById('step').max")
    assert page.label("play") == "Play"


def test_names_are_shown_not_run(page):
    """Names with <, &, quotes and line separators appear as they are, and break nothing."""
    data = page_examples.awkward()
    page.open(data)
    name = data["nodes"][0]["label"]
    assert page.run("return document.querySelector('h1 code').textContent") == name
    assert page.run("return document.querySelector('.field label').textContent") == name
    assert page.count("main b, main i") == 0
    page.go(4)
    assert page.text("#lines .total") == "4"


def test_fixed_page(page):
    """Without formulas the texts are shown as they are, there are no sliders, and the page says why."""
    page.open(page_examples.fixed())
    assert page.count("#fields input") == 0
    assert page.text("#fields") == "This program has 2,000 numbers: too many for sliders."
    page.go(5)
    assert page.lines() == "∇X = ∇z · wᵀ = [[0.5, -1], [0.5, -1]]"
    assert page.texts(".shape")[0] == "float64[2]"
    page.go(4)
    assert page.lines() == "∇z = ∇v2 everywhere = [1, 1]"
    assert page.text("#sentence") == "v2 hands its adjoint, through its derivative, back to z. ∇z is complete."
    assert page.text("tbody tr:last-child .right.number") == "1"
    page.go(7)
    assert page.texts("#lines .total") == ["[[0.5, -1], [0.5, -1]]", "[4, 6]"]


@pytest.mark.parametrize("width", [320, 360, 400, 820, 1100])
@pytest.mark.parametrize("name", [*BROWSED, "awkward", "fixed"])
def test_no_sideways_scrolling(page, name, width):
    """The page is never wider than the screen, at any stage; small graphs run downwards on a phone."""
    data = BROWSED.get(name) or getattr(page_examples, name)()
    page.size(width, 740)
    page.open(data)
    for step in (0, 3, 10_000):
        page.go(step)
        assert page.run("return document.documentElement.scrollWidth - innerWidth") <= 0
    if name == "logistic" and width <= 400:
        assert page.run("const b = document.getElementById('graph-box'); return b.scrollWidth - b.clientWidth") <= 0
        assert page.run("return document.querySelector('svg[role=img]').getBoundingClientRect().height > innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(page, scheme):
    """Every text has a contrast of 4.5 or more to what is behind it, in the graph too."""
    page.media(scheme=scheme)
    page.open(page_examples.branched())
    page.put("input-0", -1)
    for step in range(5):
        page.go(step)
        ratios = page.run(browser.CONTRASTS)
        assert len(ratios) > 30
        assert min(ratios)[0] >= 4.5, min(ratios)


def test_dark_and_light(page):
    """The page follows the system, and the button overrules it."""
    ground = "return getComputedStyle(document.body).backgroundColor"
    page.media(scheme="dark")
    page.open(page_examples.worked())
    dark = page.run(ground)
    page.driver.find_element("id", "theme").click()
    light = page.run(ground)
    assert dark != light
    page.media(scheme="light")
    page.open(page_examples.worked())
    assert page.run(ground) == light
    assert page.label("theme") == "Use the dark colours"


def test_reduced_motion(page):
    """Nothing moves for readers who asked for that."""
    motion = "return getComputedStyle(document.querySelector('.edge.reverse path')).animationName"
    page.open(page_examples.worked())
    page.go(12)
    assert page.run(motion) == "flow"
    page.media(motion="reduce")
    assert page.run(motion) == "none"


def test_printing_shows_everything(page):
    """On paper the whole table is there, and no buttons."""
    page.open(page_examples.logistic())
    page.media(kind="print")
    assert page.visible("td.number > span") == page.count("td.number > span") == 31
    assert page.visible("#controls") == 0


def test_screen_reader(page):
    """Everything that can be used has a name, the sentence is announced, and cells have headers."""
    page.open(page_examples.logistic())
    tree = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {"button", "slider", "spinbutton", "combobox", "region", "table", "image"}
    usable = [node for node in tree if node.get("role", {}).get("value") in roles]
    assert {node["role"]["value"] for node in usable} == roles
    assert [node["role"]["value"] for node in usable if not node.get("name", {}).get("value")] == []
    assert page.run("return document.getElementById('sentence').getAttribute('aria-live')") == "polite"
    assert page.count("thead th[scope=col]") == 4
    assert page.count("tbody th[scope=row]") == 13
    page.go(3)
    said = page.run("return document.getElementById('step').getAttribute('aria-valuetext')")
    assert said == "Forward sweep, step 3 of 9; 4 of 26"


def test_no_network(page):
    """Nothing is loaded, and the policy would not allow it: neither data nor pictures nor other scripts."""
    page.open(page_examples.logistic())
    assert page.run("return performance.getEntriesByType('resource').length") == 0
    blocked = page.driver.execute_async_script(
        """const done = arguments[0], seen = [];
        document.addEventListener("securitypolicyviolation", e => seen.push(e.effectiveDirective));
        const script = document.createElement("script");
        script.textContent = "window.intruder = 1";
        document.body.append(script);
        new Image().src = "http://127.0.0.1:9/picture.png";
        const answer = () => done([seen.sort(), window.intruder ?? null]);
        fetch("http://127.0.0.1:9/data").catch(() => setTimeout(answer, 100));"""
    )
    assert blocked == [["connect-src", "img-src", "script-src-elem"], None]
    page.complaints()


def test_size():
    """A page of 50 nodes is far below 200 KB, and refers to nothing outside itself."""
    text = page_html(BROWSED["tangled"])
    assert len(BROWSED["tangled"]["nodes"]) == 50
    assert len(text.encode()) < 90_000
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) <= {"http://www.w3.org/2000/svg"}
