"""The functions a page computes with, against NumPy and SciPy; and what may not become part of a page."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.special

from adjoint.explanation.formula.number_text import number_text
from adjoint.explanation.page.writing import functions, write_page
from tests.explanation import page_examples
from tests.explanation.test_numbers import HARD

POINTS = [
    -170.3, -20.5, -7.25, -3.0, -2.5, -0.75, -1e-3, 1e-10, 0.1, 0.5, 1.0, 1.4, 1.99, 2.0, 2.5, 3.7, 6.0, 11.9, 12.1,
    26.0, 30.5, 170.5, math.nan,
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("erf", scipy.special.erf), ("erfc", scipy.special.erfc), ("gamma", scipy.special.gamma),
        ("gammaln", scipy.special.gammaln), ("digamma", scipy.special.digamma), ("sigmoid", scipy.special.expit),
        ("softplus", lambda x: np.logaddexp(0, x)), ("sinc", np.sinc), ("rint", np.rint), ("cbrt", np.cbrt),
        ("expm1", np.expm1), ("exp2", np.exp2), ("sign", np.sign), ("reciprocal", np.reciprocal), ("square", np.square),
        ("log_expit", scipy.special.log_expit), ("whole", lambda x: np.where(np.isnan(x), np.nan, np.trunc(x) + 0.0)),
    ],
)  # fmt: skip
def test_functions_of_one_number(page, name, reference):
    """The page's functions agree with NumPy's and SciPy's to 1e-12."""
    page.open(page_examples.branched())
    with np.errstate(all="ignore"):
        wanted = reference(np.array(POINTS))
    found = page.compute(name, [[x] for x in POINTS])
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14 if name in ("gammaln", "digamma", "sinc") else 0)


PAIRS = [(x, y) for x in (-2.5, -1.0, -0.0, 0.5, 3.0, math.inf, math.nan) for y in (-1.5, 1.0, 2.0, math.inf, math.nan)]


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("power", np.power), ("maximum", np.maximum), ("minimum", np.minimum), ("fmax", np.fmax), ("fmin", np.fmin),
        ("remainder", np.remainder), ("fmod", np.fmod), ("hypot", np.hypot), ("logaddexp", np.logaddexp),
        ("heaviside", np.heaviside), ("copysign", np.copysign), ("atan2", np.arctan2), ("logical_xor", np.logical_xor),
        ("logical_and", np.logical_and), ("logical_or", np.logical_or), ("equal", np.equal),
        ("xlogy", scipy.special.xlogy), ("xlog1py", scipy.special.xlog1py),
    ],
)  # fmt: skip
def test_functions_of_two_numbers(page, name, reference):
    """So do those of two, with nan and infinities."""
    pairs = [*PAIRS, (0.0, 0.0), (0.0, -1.0), (2.0, 0.0), (2.0, -1.0)]
    page.open(page_examples.branched())
    with np.errstate(all="ignore"):
        wanted = [float(reference(x, y)) for x, y in pairs]
    np.testing.assert_allclose(page.compute(name, pairs), wanted, rtol=1e-13)


def test_all_functions_exist(page):
    """What Python says the page can compute, it can."""
    page.open(page_examples.branched())
    found = page.run("return Object.entries(adjointPage.FUNCTIONS).map(([name, f]) => [name, typeof f])")
    assert dict(found) == dict.fromkeys(functions(), "function")


@pytest.mark.parametrize("digits", [0, 2, 4, 8])
def test_numbers_as_in_python(page, digits):
    """The page writes numbers as Python does, to the letter."""
    page.open(page_examples.branched())
    given = json.dumps([repr(x).replace("inf", "Infinity").replace("nan", "NaN") for x in HARD])
    found = page.run(f"return {given}.map(x => adjointPage.numberText(Number(x), {digits}))")
    assert found == [number_text(x, digits) for x in HARD]


@pytest.mark.parametrize(
    "js",
    [
        "alert(1)",
        "v[0]; x",
        "v[0]**2",
        "1--1",
        "</script>",
        "(v[0]",
        "v[0])(",
        "",
        "fetch",
        "v[0]//1",
        "`1`",
        "v[x]",
        "v",
    ],
)
def test_only_formulas_are_written(js, tmp_path):
    """What is not a formula over known functions does not get into a page."""
    data = page_examples.branched()
    data["nodes"][1]["js"] = js
    with pytest.raises(ValueError, match="a page cannot compute"):
        write_page(data, tmp_path / "page.html")
