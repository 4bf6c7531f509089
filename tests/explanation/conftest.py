"""The browser is started once for all tests of this room that need it."""

from __future__ import annotations

import pytest

from tests.explanation import browser


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """One browser for all tests."""
    found = browser.start(tmp_path_factory.mktemp("profile"))
    yield found
    found.quit()


@pytest.fixture
def page(driver, tmp_path):
    """Open a page; at the end, see that the browser had nothing to complain about."""
    shown = browser.Page(driver, tmp_path)
    shown.size(1366, 800)
    shown.media()
    yield shown
    assert shown.complaints() == []
