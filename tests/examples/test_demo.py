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
    return [words(line) for line in capsys.readouterr().out.splitlines()]


def words(line: str) -> list[str]:
    return line.split()


def test_trace_of_the_small_loss(capsys, tmp_path, monkeypatch):
    """Both columns of the table, with the sums at the fan-out; the page is written, and the demo says where."""
    monkeypatch.chdir(tmp_path)
    rows = printed("logistic_regression", capsys)
    assert words("v1 = v0 + v(-1) + 1.5·v(-2) 1.25 ∇v(-2) = ∇v(-2) + ∇v1 · 1.5 0.54") in rows
    assert words("∇v(-1) = ∇v2 · 1.5 -0.21") in rows
    assert words("v7 = v5² 0.6 ∇v5 = ∇v7 · 2·v5 -1.55") in rows
    assert [row[-1] for row in rows if row[:2] in (["v0", "="], ["v(-1)", "="], ["v(-2)", "="])] == [
        "0.13",
        "0.06",
        "0.54",
    ]
    assert rows[-1][-1] == (tmp_path / "trace.html").as_uri()
    assert (tmp_path / "trace.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_trace_of_the_shared_function(capsys):
    """The adjoints of a and c are sums; the last one is the derivative; the code needs no library."""
    rows = printed("shared_subexpressions", capsys)
    assert words("v1 = a = x² 1.69 ȧ = ẋ · 2·x 2.6 ∇x = ∇a · 2·x -9.1449") in rows
    assert [row for row in rows if row[-5:] == words("∇d · (0.5 / sqrt(c)) -0.5479")[-5:]]
    assert words("d_x = d_a * (2.0 * x)") in rows


def test_linearisation(capsys):
    """The function and its linearisation at 0.51."""
    assert ["0.51", "-0.5049", "-0.5050"] in printed("linearisation", capsys)


@pytest.mark.parametrize(
    "section",
    ["jacobian_of_a_mean", "linear_layer", "any_program", "assignment", "singular_points", "higher_orders"],
)
def test_section_prints_no_nan(section, capsys):
    """Every other section runs, and every number in it is a number."""
    found = [word for row in printed(section, capsys) for word in row]
    assert found
    assert not any("nan" in word for word in found)


def test_training(capsys, tmp_path, monkeypatch):
    """The arms are told apart after some epochs; progress is shown, and the page is written."""
    monkeypatch.chdir(tmp_path)
    demo["training"](epochs=20)
    shown = capsys.readouterr()
    rows = [words(line) for line in shown.out.splitlines()]
    first, last = [row for row in rows if len(row) == 4 and row[0] in ("1", "20")]
    assert float(first[3]) < 0.7
    assert float(last[3]) > 0.95
    assert float(last[1]) < 0.2 * float(first[1])
    assert "epoch 20/20, loss 0." in shown.err
    assert rows[-1][-1] == (tmp_path / "training.html").as_uri()
    assert (tmp_path / "training.html").read_text(encoding="utf-8").startswith("<!doctype html>")
