"""The demo runs with the base dependencies and prints the numbers of the worked examples."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DEMO = Path(__file__).parent.parent.parent / "examples" / "demo.py"
demo = runpy.run_path(str(DEMO), run_name="demo")


def printed(section: str, capsys) -> list[list[str]]:
    """The words of each line a section prints."""
    demo[section]()
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_trace_of_the_small_loss(capsys):
    """Both columns of the table, with the sums at the fan-out."""
    rows = printed("logistic_regression", capsys)
    assert [
        "v1",
        "v0",
        "+",
        "v-1",
        "+",
        "1.5",
        "v-2",
        "1.25",
        "v-2*",
        "=",
        "v-2*",
        "+",
        "v1*",
        ".",
        "(1.50)",
        "0.54",
    ] in rows
    assert ["v-1*", "=", "v2*", ".", "(1.50)", "-0.21"] in rows
    assert ["v7", "v5^2", "0.60", "v5*", "=", "v7*", ".", "(-1.55)", "-1.55"] in rows
    assert [row[-1] for row in rows if row[:2] in (["v0", "input"], ["v-1", "input"], ["v-2", "input"])] == [
        "0.13",
        "0.06",
        "0.54",
    ]


def test_trace_of_the_shared_function(capsys):
    """The adjoints of a and c are sums; the last one is the derivative."""
    rows = printed("shared_subexpressions", capsys)
    assert ["a", "x^2", "1.6900", "x*", "=", "a*", ".", "(2.6000)", "-9.1449"] in rows
    assert ["d", "sqrt(c)", "2.6664", "c*", "=", "c*", "+", "d*", ".", "(0.1875)", "-0.5479"] in rows


def test_linearisation(capsys):
    """The function and its linearisation at 0.51."""
    assert ["0.51", "-0.5049", "-0.5050"] in printed("linearisation", capsys)


@pytest.mark.parametrize(
    "section",
    ["jacobian_of_a_mean", "linear_layer", "any_program", "assignment", "singular_points", "higher_orders"],
)
def test_section_prints_no_nan(section, capsys):
    """Every other section runs, and every number in it is a number."""
    words = [word for row in printed(section, capsys) for word in row]
    assert words
    assert not any("nan" in word for word in words)
