"""Explanations as lectures write them: branches with their lines, choices, tanh, determinants; pages that fold."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

import adjoint as ad


def branching(x):
    y = -x
    if x > 0:
        y = np.maximum(x, 0.0)
    while y < 10:
        y = y * y
    return y if y < 1000 else -y


def lines_of(f, *args, **options):
    return str(ad.explain(f, **options)(*args)).splitlines()


def test_branches_are_rows_with_their_lines():
    """Each condition of the function stands where it was asked, with its outcome and its line."""
    start = branching.__code__.co_firstlineno
    shown = [line for line in lines_of(branching, 2.0) if ":" in line]
    wanted = [
        ("if x > 0: taken", 2), ("while y₂ < 10: goes on", 4), ("while y₃ < 10: goes on", 4),
        ("while y₄ < 10: ends", 4), ("if y₄ < 1000: taken", 6),
    ]  # fmt: skip
    assert [re.sub(r" +", " ", line).strip() for line in shown] == [f"{text} line {start + k}" for text, k in wanted]
    assert any(line.startswith("if x > 0: not taken") for line in lines_of(branching, -20.0))
    assert any(line.startswith("if x > 0: taken") for line in lines_of(branching, 2.0, level="scalar"))


def test_decisions_of_the_library_are_not_the_users():
    """Only lines that ask are shown: rules decide things too."""
    assert not any("taken" in line for line in lines_of(lambda x: np.linalg.norm(x) + np.median(x), np.ones(3)))


@pytest.mark.parametrize(("f", "x", "text"), [
    (lambda x: np.sum(np.maximum(x, 0.0)), np.array([1.0, -2.0]), "∇v1 · [x > 0]"),
    (lambda x: np.sum(np.minimum(x, 0.5)), np.array([1.0, -2.0]), "∇v1 · [x < 0.5]"),
    (lambda x: np.maximum(x, 0.0), -1.5, "∇v1 · [x > 0]"),
    (lambda x: np.sum(np.where(x > 0, x, 0.0)), np.array([1.0, -2.0]), "∇v1 · [x > 0]"),
    (lambda x: np.tanh(x), 0.5, "∇v1 · sech²(x)"),
])  # fmt: skip
def test_partials_as_taught(f, x, text):
    """A choice is written as a condition, the slope of tanh as it is computed: 1 - tanh(x)² would cancel."""
    assert any(text in line for line in lines_of(f, x))


def test_a_tie_keeps_its_numbers():
    """At x = 0 the condition would not tell the slope that is used."""
    assert not any("[x > 0]" in line for line in lines_of(lambda x: np.maximum(x, 0.0), 0.0))


@pytest.mark.parametrize("f", [np.linalg.det, lambda A: np.sum(np.linalg.inv(A))])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_small_determinants_have_a_formula(f, n):
    """Number by number, with the same gradient; large ones are one step."""
    A = np.random.default_rng(n).normal(size=(n, n)) + 2 * np.eye(n)
    found = ad.explain(f, level="scalar")(A)
    np.testing.assert_allclose(found.gradient, ad.grad(f)(A), rtol=1e-9)
    assert "A_0_0" in str(ad.explain(lambda A: f(A))(A).sympy())
    with pytest.raises(ad.errors.UnsupportedError, match="number by number"):
        ad.explain(f, level="scalar")(np.eye(5))


@pytest.mark.parametrize("f", [
    lambda x: np.sqrt(x), lambda x: x**1.5, lambda x: np.sqrt(x**2 + np.exp(x)) + np.cos(x), np.tanh, lambda x: x * x,
])  # fmt: skip
def test_both_modes_are_counted_alike(f):
    """With one input and one output neither mode wins: tests for singular points belong to none."""
    cost = ad.explain(f)(1.3).cost()
    assert cost.forward_total <= 1.05 * cost.reverse_total
    assert "makes no difference" in cost.verdict


def test_the_command_line_names_its_function():
    """An expression is f, not something made by the command."""
    found = subprocess.run(
        [sys.executable, "-c", "from adjoint.cli.main import main; main()", "explain", "x**2", "x=2"],
        capture_output=True, text=True, check=False, encoding="utf-8",
    )  # fmt: skip
    assert "function_of" not in found.stdout


def network(p, x):
    return np.sum(np.tanh(x @ p[0]) @ p[1])


def page_of(explanation, folder):
    return explanation.page(folder / "page.html").read_text(encoding="utf-8")


def test_pages_fold_blocks_and_show_tangents(tmp_path):
    """`collapse` and `mode` hold for the page too, and arrays say their shape."""

    def f(x):
        with ad.block("layer"):
            y = np.tanh(2 * x) + 1
        return np.sum(y**2)

    x = np.array([1.0, 2.0])
    folded = page_of(ad.explain(f)(x), tmp_path)
    assert '"formula":"layer(x)"' in folded
    assert '"shape":"shape (2,)"' in folded
    assert '"formula":"layer(x)"' not in page_of(ad.explain(f, collapse=False)(x), tmp_path)
    both = page_of(ad.explain(f, mode="both")(x), tmp_path)
    assert '"tangent":' in both
    assert '"tangent":' not in folded
    assert '"live":true' in page_of(ad.explain(f, collapse=False)(x), tmp_path)


def test_large_programs_are_not_written_out_in_vain(tmp_path):
    """A network of 64-64-10 is shown as arrays."""
    rng = np.random.default_rng(0)
    p = [rng.normal(size=(64, 64)), rng.normal(size=(64, 10))]
    text = page_of(ad.explain(network, 0)(p, rng.normal(size=(8, 64))), tmp_path)
    assert '"live":false' in text
    assert "numbers" in re.search(r'"why":"([^"]*)"', text)[1]


def test_a_page_without_a_path_is_shown(monkeypatch):
    """In the browser, or inline where a notebook runs."""
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    path = ad.explain(lambda x: x**2)(2.0).page()
    assert opened == [path.as_uri()]

    class Shell:
        kernel = object()

    class IPython:
        get_ipython = staticmethod(Shell)

    class Display:
        HTML = staticmethod(str)

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    monkeypatch.setitem(sys.modules, "IPython.display", Display)
    shown = ad.explain(lambda x: x**2)(2.0).page()
    assert shown.startswith("<iframe srcdoc=")
    assert len(opened) == 1


def test_code_without_scipy(tmp_path):
    """Source of a function that does not use SciPy needs none."""
    script = (
        "import sys\n"
        "for name in ('scipy', 'scipy.special', 'scipy.linalg'):\n    sys.modules[name] = None\n"
        "import numpy as np, adjoint as ad\n"
        "print(ad.explain(lambda x: np.sin(x) * np.hypot(x, 1.0))(1.5).code())\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "np.hypot" in found.stdout, found.stderr


def test_choices_where_both_sides_are_the_same():
    """A tie is written as it is decided: ReLU has the slope of its left side at 0, clip 1 at its bounds."""
    x = np.array([0.0, 1.0, -1.0])
    for fun, partial in (
        (lambda x: np.maximum(x, 0), "[x > 0]"),
        (lambda x: np.clip(x, 0, None), "[0 <= x]"),
        (lambda x: np.clip(x, -1, 0.5), "[-1 <= x <= 0.5]"),
        (lambda x: np.where(x > 0, 3.0, x), "[x <= 0]"),
    ):
        assert f"∇x = ∇v1 · {partial} " in str(ad.explain(lambda x, fun=fun: np.sum(fun(x)))(x))
    assert "∇x = ∇v1 · 0.5 " in str(ad.explain(lambda x, y: np.maximum(x, y))(1.0, 1.0))
