"""The page of a report in a real browser: wide and narrow, light and dark."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from adjoint import learn
from tests.explanation import browser

SIZES = [(1400, "light"), (1400, "dark"), (390, "light"), (390, "dark")]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """One browser for all tests."""
    driver = browser.start(tmp_path_factory.mktemp("profile"))
    yield browser.Page(driver, tmp_path_factory.mktemp("pages"))
    driver.quit()


@pytest.fixture(scope="module")
def reports(page):
    """Pages about two classes with costs, ten classes, and a regression."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = np.array(["a malignant one, with a name that is far too long", "benign"])[y]
    train = (X[::2], names[::2])
    found = {"two": learn.report(GaussianNB().fit(*train), X[1::2], names[1::2], train=train, costs=[[0, 10], [1, 0]])}
    X, y = load_digits(return_X_y=True)
    found["ten"] = learn.report(GaussianNB().fit(X[:400], y[:400]), X[400:900], y[400:900], cv=None)
    found["values"] = learn.report(Ridge(), *load_diabetes(return_X_y=True))
    return {name: each.save(page.folder / f"{name}.html").as_uri() for name, each in found.items()}


@pytest.mark.parametrize("name", ["two", "ten", "values"])
@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_every_reader(page, reports, name, width, scheme):
    """Nothing overflows, nothing is complained of, every text can be read against what is behind it."""
    page.size(width, 900)
    page.media(scheme=scheme)
    page.complaints()
    page.driver.get(reports[name])
    page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.run("return document.documentElement.scrollWidth - innerWidth") <= 0
    wide = page.run(
        "return [...document.querySelectorAll('section, svg, p')].filter(e => {const b = e.getBoundingClientRect();"
        "return b.left < 0 || b.right > innerWidth;}).length"
    )
    assert wide == 0
    ratios = page.run(browser.CONTRASTS)
    assert len(ratios) > 100
    assert min(ratios)[0] >= 4.5, min(ratios)
    assert page.run("return Math.min(...[...document.querySelectorAll('svg text')].map(e => {"
                    "const b = e.closest('svg'); return parseFloat(getComputedStyle(e).fontSize) *"
                    "b.getBoundingClientRect().width / b.viewBox.baseVal.width;}))") >= 9  # fmt: skip
    grounds = page.run("return getComputedStyle(document.body).backgroundColor")
    assert grounds == ("rgb(16, 19, 26)" if scheme == "dark" else "rgb(243, 245, 248)")
    assert page.complaints() == []


def test_texts_stay_in_their_pictures(page, reports):
    """No label is cut off by the edge of its picture."""
    page.size(1400, 900)
    page.media()
    for address in reports.values():
        page.driver.get(address)
        cut = page.run(
            "return [...document.querySelectorAll('svg text')].filter(e => {const b = e.getBoundingClientRect(),"
            "s = e.closest('svg').getBoundingClientRect(); return b.left < s.left - 1 || b.right > s.right + 1"
            "|| b.top < s.top - 1 || b.bottom > s.bottom + 1;}).map(e => e.textContent)"
        )
        assert cut == []


def test_for_those_who_do_not_see(page, reports):
    """Every picture has a label that says its numbers, every panel a heading, every table column a scope."""
    page.driver.get(reports["two"])
    labels = page.run("return [...document.querySelectorAll('svg')].map(e => e.getAttribute('aria-label'))")
    assert len(labels) >= 7
    assert all(len(label) > 20 for label in labels)
    assert page.count("section") == page.count("section > h2:first-child")
    assert page.count("th") == page.count("th[scope=col]")
