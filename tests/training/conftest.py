"""The browser is started once for all tests of this room that need it."""

from __future__ import annotations

import pytest

from adjoint.training.page import write
from tests.explanation import browser


class Page(browser.Page):
    """A page of a training run under test."""

    def open(self, record) -> None:
        """Write the page, load it, and wait until it is drawn."""
        self.complaints()
        self.driver.get(write(record, self.folder / "training.html").as_uri())
        self.wait_until("return document.body.dataset.ready !== undefined && !document.querySelector('.plot:empty')")

    def go(self, step: int) -> None:
        """Move the slider to a frame."""
        self.put("frame", step)

    def step(self) -> int:
        """Which frame is shown."""
        return int(self.value("frame"))

    def pixel(self, selector: str, x: float, y: float) -> list[int]:
        """The colour of a canvas at a place between 0 and 1."""
        return self.run(
            "const c = document.querySelector(arguments[0]);"
            "const at = (t, n) => Math.min(n - 1, Math.floor(t * n));"
            "const x = at(arguments[1], c.width), y = at(arguments[2], c.height);"
            "return [...c.getContext('2d').getImageData(x, y, 1, 1).data]",
            selector,
            x,
            y,
        )

    def point(self, selector: str, x: float, y: float) -> None:
        """Hold the pointer over a place of an element, between 0 and 1."""
        self.run(
            "const e = document.querySelector(arguments[0]), b = e.getBoundingClientRect();"
            "e.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: b.left + arguments[1] * b.width,"
            " clientY: b.top + arguments[2] * b.height}))",
            selector,
            x,
            y,
        )

    def keys(self, selector: str, *keys: str) -> None:
        """Press keys on an element."""
        self.driver.find_element("css selector", selector).send_keys(*keys)


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """One browser for all tests."""
    found = browser.start(tmp_path_factory.mktemp("profile"))
    yield found
    found.quit()


@pytest.fixture
def page(driver, tmp_path):
    """Open a page; at the end, see that the browser had nothing to complain about."""
    shown = Page(driver, tmp_path)
    shown.size(1366, 800)
    shown.media()
    yield shown
    assert shown.complaints() == []
