"""The page of a training run for every reader: keyboard, screen reader, phone, dark and light, and no network."""

from __future__ import annotations

import re
import sys
import types

import numpy as np
import pytest

from adjoint.training import page as pages
from adjoint.training.page import writing
from adjoint.training.record import Record
from tests.explanation import browser
from tests.training import records

RECORDS = {
    "digits": records.digits(),
    "moons": records.moons(),
    "petals": records.moons(classes=5),
    "vanishing": records.vanishing(),
    "awkward": Record(
        "W" * 200,
        {"a" * 100: "b" * 300, "c": "d " * 100},
        {"loss": np.array([1e-9, 1.5e9]), "a_very_long_name_of_a_metric_that_somebody_gave": np.array([1.0, -1.0])},
        {"encoder.blocks.11.attention.projection.with.a.long.name.weight": np.array([1e-30, 1e30])},
        [0, 1_000_000],
        {"encoder.blocks.11.attention.projection.weight": [np.ones((3, 200))] * 2, "b": [np.array(1.0)] * 2},
    ),
}


def test_keyboard(page):
    """Arrows step, Home and End jump, space plays and pauses."""
    from selenium.webdriver.common.keys import Keys

    page.open(RECORDS["moons"])
    page.keys("body", Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_RIGHT)
    assert page.step() == 11
    page.keys("body", Keys.HOME)
    assert page.step() == 0
    page.keys("body", Keys.ARROW_LEFT)
    assert page.step() == 0
    page.keys("body", Keys.END, Keys.ARROW_RIGHT)
    assert page.step() == 12
    page.keys("body", Keys.HOME, Keys.SPACE)
    assert page.label("play") == "Pause"
    page.keys("body", Keys.SPACE)
    assert page.label("play") == "Play"


def test_keys_of_a_chart(page):
    """In a chart the arrows move its cursor by an epoch, and the pictures to the nearest frame."""
    from selenium.webdriver.common.keys import Keys

    record = RECORDS["moons"]
    page.open(record)
    page.keys("#loss .plot", Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert page.text("#loss .epoch") == "epoch 58"
    assert page.text("#loss .legend .value") == f"{record.curves['loss'][57]:.4g}"
    assert page.step() == 12
    page.keys("#loss .plot", Keys.PAGE_DOWN)
    assert page.text("#loss .epoch") == "epoch 52"
    assert page.text("#where") == "epoch 50"
    page.keys("#loss .plot", Keys.HOME)
    assert page.text("#loss .epoch") == "epoch 1"
    said = page.run("return document.querySelector('#loss .plot').getAttribute('aria-valuetext')")
    assert said == f"epoch 1: loss {record.curves['loss'][0]:.4g}"
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_keys_of_a_picture(page):
    """In a picture the arrows go from cell to cell, from the middle, and stop at its edge."""
    from selenium.webdriver.common.keys import Keys

    page.open(Record("w", frames=[0, 1], weights={"w": [np.arange(12.0).reshape(3, 4)] * 2}))
    seen = []
    for key in (Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT):
        page.keys("#weights .picture", key)
        seen.append(page.text("#weights .readout").partition(" ≈")[0])
    assert seen == ["[1, 2]", "[0, 2]", "[0, 2]", "[0, 3]", "[0, 3]"]
    assert page.step() == 1
    assert page.visible("#weights .mark") == 1


def test_buttons_and_play(page):
    """Buttons step; play begins again, runs to the end and stops."""
    page.open(records.moons(frames=3))
    for button, frame in [("next", 2), ("back", 1), ("back", 0), ("next", 1)]:
        page.driver.find_element("id", button).click()
        assert page.step() == frame
    assert page.run("return document.getElementById('next').getAttribute('aria-disabled')") == "false"
    page.driver.find_element("id", "play").click()
    page.wait_until("return document.getElementById('frame').value === '2'")
    page.driver.find_element("id", "play").click()
    page.wait_until("return document.getElementById('frame').value === '0'")
    page.wait_until("return document.getElementById('frame').value === '2'")
    assert page.label("play") == "Play"


@pytest.mark.parametrize("width", [320, *[pytest.param(w, marks=pytest.mark.slow) for w in (390, 820, 1100)]])
@pytest.mark.parametrize("name", RECORDS)
def test_no_sideways_scrolling(page, name, width):
    """The page is never wider than the screen."""
    page.size(width, 740)
    page.open(RECORDS[name])
    assert page.run("return document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["digits", "petals", "vanishing"])
def test_contrast(page, name, scheme):
    """Every text has a contrast of 4.5 or more to what is behind it, in charts too."""
    page.media(scheme=scheme)
    page.open(RECORDS[name])
    page.run("document.querySelector('details').open = true")
    ratios = page.run(browser.CONTRASTS)
    assert len(ratios) > 30
    assert min(ratios)[0] >= 4.5, min(ratios)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_lines(page, scheme):
    """Lines and points differ from the panel by 3 or more, and so do the classes."""
    page.media(scheme=scheme)
    page.open(RECORDS["digits"])
    ratios = page.run(
        """const linear = c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        const style = getComputedStyle(document.documentElement);
        const light = name => {
          const text = style.getPropertyValue(name).trim();
          const full = text.length === 4 ? text.replace(/\\w/g, "$&$&") : text;
          return [1, 3, 5].map(k => linear(parseInt(full.slice(k, k + 2), 16) / 255))
            .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
        };
        const back = light("--panel"), ratio = l => (Math.max(l, back) + 0.05) / (Math.min(l, back) + 0.05);
        return arguments[0].map(name => [ratio(light(`--${name}`)), name]);""",
        ["value", "adjoint", "first", "middle", "last", *[f"class-{k}" for k in range(10)]],
    )
    assert min(ratios)[0] >= 3.0, min(ratios)


def test_dark_and_light(page):
    """The page follows the system, the button overrules it, and pictures are drawn again."""
    ground = "return getComputedStyle(document.body).backgroundColor"
    page.media(scheme="dark")
    page.open(RECORDS["petals"])
    dark, picture = page.run(ground), page.pixel("#boundary canvas", 0.9, 0.5)
    page.driver.find_element("id", "theme").click()
    assert page.run(ground) != dark
    assert page.pixel("#boundary canvas", 0.9, 0.5) != picture
    assert page.label("theme") == "Use the dark colours"


def test_reduced_motion(page):
    """Nothing moves smoothly for who asks for that."""
    bar = "return getComputedStyle(document.querySelector('.bar')).transitionDuration"
    page.open(RECORDS["digits"])
    assert page.run(bar) == "0.12s"
    page.media(motion="reduce")
    assert page.run(bar) == "0s"


def test_printing(page):
    """Paper is white and has no buttons; afterwards the page is as it was."""
    ink = "return getComputedStyle(document.body).color"
    page.media(scheme="dark")
    page.open(RECORDS["petals"])
    dark, picture = page.run(ink), page.pixel("#boundary canvas", 0.9, 0.5)
    page.run("dispatchEvent(new Event('beforeprint'))")
    page.media(scheme="dark", kind="print")
    assert page.run(ink) == "rgb(25, 28, 35)"
    assert page.pixel("#boundary canvas", 0.9, 0.5) != picture
    assert page.visible("button") == 0
    page.media(scheme="dark")
    page.run("dispatchEvent(new Event('afterprint'))")
    assert (page.run(ink), page.pixel("#boundary canvas", 0.9, 0.5)) == (dark, picture)


def test_screen_reader(page):
    """Everything that can be used has a name."""
    page.open(RECORDS["moons"])
    tree = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {"button", "slider", "switch", "region", "list"}
    usable = [node for node in tree if node.get("role", {}).get("value") in {*roles, "group"}]
    names = {(n["role"]["value"], n.get("name", {}).get("value", "")) for n in usable}
    assert roles <= {role for role, _ in names}
    assert [role for role, name in names if not name and role != "list"] == []
    expected = {
        ("slider", "loss by epoch"),
        ("slider", "norm of the gradient by epoch"),
        ("slider", "Epoch of the pictures"),
        ("switch", "log scale"),
        ("button", "Play"),
        ("group", "Decision boundary, epoch 60, with 180 points"),
        ("group", "layers.0.weight at epoch 60: -2.47 to 2.91, rms 1.49; full colour is 2.91"),
        ("region", "Loss"),
    }
    assert expected <= names


def test_no_network(page):
    """Nothing is loaded, and the policy would not allow it: neither data nor pictures nor other scripts."""
    page.open(RECORDS["moons"])
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


def test_names_are_shown_not_run(page):
    """Titles, facts and names of parameters are texts, whatever they look like."""
    bad = "</script><script>window['intruder'] = 1</script><b>@@DATA@@"
    page.open(
        Record(
            bad, {bad: bad}, {"loss": np.ones(2), bad: np.ones(2)}, {bad: np.ones(2)}, [0, 1], {bad: [np.ones(2)] * 2}
        )
    )
    assert page.run("return window.intruder ?? null") is None
    assert page.count("b") == 0
    assert page.text("dd") == page.text("#layers .name") == page.text("#weights strong") == bad
    assert page.text("h1").startswith(bad)


def test_size():
    """The pages of 64-64-10 and of a large model with 24 frames, far below 400 KB and below 700 KB."""
    text = pages.html(RECORDS["digits"])
    assert len(text.encode()) < 200_000
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) <= {"http://www.w3.org/2000/svg"}
    shapes = {"a": (784, 256), "b": (256, 128), "c": (128, 10)}
    weights = {name: [records.spread(k, *shape) for k in range(24)] for name, shape in shapes.items()}
    large = pages.html(Record("large", frames=list(range(24)), weights=weights))
    assert len(large.encode()) < 700_000


def test_shown_in_a_browser_or_inline(monkeypatch):
    """Without a notebook the browser opens a file; inside one the page is a frame of its own."""
    opened = []
    monkeypatch.setattr(writing.webbrowser, "open", opened.append)
    path = pages.show(Record("shown"))
    assert opened == [path.as_uri()]
    assert path.read_text(encoding="utf-8") == pages.html(Record("shown"))
    display = types.SimpleNamespace(HTML=lambda text: ("HTML", text))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(writing, "is_notebook", lambda: True)
    kind, text = pages.show(Record("shown"))
    assert kind == "HTML"
    assert text.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
