"""A real browser for the page's tests: headless Chromium, without any network of its own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from adjoint.explanation.page.writing import write_page

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--force-device-scale-factor=1",
)  # fmt: skip


def start(profile: Path):
    """A driver with a fresh profile; skips where there is no Chromium, except on CI, which installs it."""
    program, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not (program and driver) and not os.environ.get("CI"):
        pytest.skip("chromium and chromedriver are not installed: apt install chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


class Page:
    """A page under test: opened from a file, moved by its own slider, read by selectors."""

    def __init__(self, driver, folder: Path) -> None:
        self.driver = driver
        self.run = driver.execute_script
        self.folder = folder

    def open(self, data) -> None:
        """Write the page and load it."""
        self.complaints()
        self.driver.get(write_page(data, self.folder / "page.html").as_uri())

    def size(self, width: int, height: int) -> None:
        """Give the window a size; below 600 it is a phone's."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._tell("Emulation.setDeviceMetricsOverride", **metrics)

    def media(self, *, scheme: str = "light", motion: str = "no-preference", kind: str = "screen") -> None:
        """Set what the reader's system asks for."""
        wanted = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": motion},
        ]
        self._tell("Emulation.setEmulatedMedia", media=kind, features=wanted)

    def _tell(self, command: str, **values) -> None:
        self.driver.execute_cdp_cmd(command, values)

    def complaints(self) -> list[str]:
        """What the console has said since it was last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def put(self, field: str, value) -> None:
        """Write into a field or move a slider, as a reader would."""
        self.run(
            "const field = document.getElementById(arguments[0]);"
            "field.value = arguments[1]; field.dispatchEvent(new Event('input'))",
            field,
            str(value),
        )

    def go(self, step: int) -> None:
        """Move the slider to a step."""
        self.put("step", step)

    def step(self) -> int:
        """Where the page is."""
        return int(self.value("step"))

    def value(self, field: str) -> str:
        """What stands in a field."""
        return self.run("return document.getElementById(arguments[0]).value", field)

    def label(self, element: str) -> str:
        """What a screen reader calls an element."""
        return self.run("return document.getElementById(arguments[0]).getAttribute('aria-label')", element)

    def texts(self, selector: str) -> list[str]:
        """The text of each element that fits."""
        return self.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def text(self, selector: str) -> str:
        """The text of the first element that fits."""
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def count(self, selector: str) -> int:
        """How many elements fit."""
        return len(self.texts(selector))

    def visible(self, selector: str) -> int:
        """How many of them can be seen."""
        return self.run(
            "return [...document.querySelectorAll(arguments[0])]"
            ".filter(e => e.checkVisibility({visibilityProperty: true})).length",
            selector,
        )

    def at_every_step(self, selectors: list[str]) -> list[list[str]]:
        """For each step but the first: the heading's number, what a selector finds, and the table's active number."""
        return self.run(
            """const slider = document.getElementById("step"), last = list => list[list.length - 1];
            return arguments[0].map((selector, k) => {
              slider.value = k + 1;
              slider.dispatchEvent(new Event("input"));
              return [
                document.querySelector("#lines .total"), document.querySelector(selector),
                last(document.querySelectorAll("td.active.number")),
              ].map(e => e.textContent);
            });""",
            selectors,
        )

    def lines(self) -> str:
        """The chain of equal things, in one line."""
        return " ".join(text for text in self.texts("#lines > span") if text)

    def nodes(self, state: str) -> list[int]:
        """The nodes of the graph that are highlighted in one way."""
        return self.run(
            "return [...document.querySelectorAll('.node.' + arguments[0])].map(e => Number(e.dataset.node))", state
        )

    def compute(self, function: str, arguments) -> list[float]:
        """A function of the page at many points; nan and infinities travel as texts."""
        found = self.run(
            "const f = adjointPage.FUNCTIONS[arguments[0]];"
            "return arguments[1].map(xs => String(Number(f(...xs.map(Number)))))",
            function,
            [[repr(float(x)).replace("inf", "Infinity").replace("nan", "NaN") for x in xs] for xs in arguments],
        )
        return [float(text.replace("Infinity", "inf")) for text in found]

    def wait_until(self, script: str) -> None:
        """Wait, at most ten seconds, until a script says yes."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 10, poll_frequency=0.05).until(lambda driver: driver.execute_script(script))


CONTRASTS = """
const numbers = text => (text.match(/[\\d.]+/g) || []).map(Number);
const linear = c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const light = ([r, g, b]) => [r, g, b].map(c => linear(c / 255))
  .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
function behind(element) {
  for (let e = element; e; e = e.parentElement) {
    const rect = e.closest("g") === e && e.querySelector("rect");
    const colour = numbers(rect ? getComputedStyle(rect).fill : getComputedStyle(e).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
}
const own = e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
return [...document.querySelectorAll("body *")]
  .filter(e => own(e) && !e.matches("script, title, noscript, option") && e.checkVisibility({visibilityProperty: true}))
  .map(e => {
    const style = getComputedStyle(e), back = light(behind(e));
    const front = light(numbers(e.closest("svg") ? style.fill : style.color));
    return [(Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05), e.textContent.slice(0, 40)];
  });
"""
"""A script that gives, for each text that can be seen, its contrast to what is behind it."""
