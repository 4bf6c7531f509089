"""Every example runs, and its numbers are those that it is there to show."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

NAMES = sorted([path.stem for path in EXAMPLES.glob("*.py") if path.stem != "demo"])


def numbers(line: str) -> list[float]:
    """The numbers at the end of a line, after its last word."""
    return [float(word) for word in re.split(r"\s{2,}", line.strip())[1:]]


def is_picture(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", NAMES)
def test_size(name):
    """An example can be read on one screen or two."""
    assert len((EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()) <= 80


def test_every_example_is_run_here():
    """Whoever adds an example adds a test of what it shows."""
    tests = Path(__file__).read_text(encoding="utf-8") + Path(__file__).with_name("test_igd.py").read_text("utf-8")
    assert [name for name in NAMES if f'run("{name}"' not in tests] == []


def test_least_squares(run, tmp_path):
    """QR, SVD and gradient descent agree, so do both ways to ridge; sigma is estimated; bad condition is told."""
    lines = run("least_squares", "--plot")
    truth, qr, svd, descent, ridge, ridge_descent = [numbers(line) for line in lines[1:7]]
    np.testing.assert_allclose(qr, truth, atol=0.15)
    assert qr == svd == descent
    assert ridge == ridge_descent
    assert np.linalg.norm(ridge) < np.linalg.norm(qr)
    assert abs(float(re.search(r"noise: ([\d.]+)", lines[7])[1]) - 0.25) < 0.05
    assert lines[8].startswith("with years as they are: X has condition number 4")
    assert is_picture(tmp_path / "least_squares.png")


def test_least_squares_warns(example):
    """The warning about the condition number is one of Python's, and well-conditioned data get none."""
    by_qr = example("least_squares")["by_qr"]
    x = np.linspace(-1.0, 1.0, 10)
    np.testing.assert_allclose(by_qr(np.stack([x**0, x], 1), 2.0 - x), [2.0, -1.0], atol=1e-12)
    with pytest.warns(UserWarning, match=r"X has condition number .*: standardise the inputs, or add ridge"):
        by_qr(np.stack([x, x + 1e-9 * x**2], 1), x)


def test_logistic(run, tmp_path):
    """Probabilities are those of the arg max at temperature 0, and equal at infinity; the binary gradient is right."""
    lines = run("logistic", "--plot")
    assert float(re.search(r"accuracy ([\d.]+)%", lines[0])[1]) > 90.0
    by_temperature = {line.split()[2]: numbers(line)[-3:] for line in lines if "tau =" in line}
    assert by_temperature["0.0"] == [1.0, 0.0, 0.0]
    assert by_temperature["0.1"] == [1.0, 0.0, 0.0]
    assert by_temperature["inf"] == [0.333, 0.333, 0.333]
    assert max(by_temperature["100.0"]) - min(by_temperature["100.0"]) < 0.05
    assert all([np.argmax(p) == 0 for p in by_temperature.values()])
    gradient, by_hand = re.findall(r"\[([^\]]+)\]", lines[-1])
    assert gradient == by_hand
    assert is_picture(tmp_path / "logistic.png")


def test_xor(run, tmp_path):
    """A linear model is hardly better than guessing, a network is right; the page has its boundary."""
    linear, network, *_ = run("xor", "--plot")
    accuracies = [float(re.search(r"accuracy ([\d.]+)%", line)[1]) for line in (linear, network)]
    assert accuracies[0] < 65.0
    assert accuracies[1] == 100.0
    page = (tmp_path / "xor.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert '"boundary":{"horizontal":[' in page
    assert is_picture(tmp_path / "xor.png")


def test_approximation(run, tmp_path):
    """The wider, the closer."""
    rows = [list(map(float, line.split())) for line in run("approximation", "--plot")[1:]]
    errors = [row[2] for row in rows]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 1.0
    assert errors[-1] < 0.01
    assert all([row[1] == 3 * row[0] + 1 for row in rows])
    assert is_picture(tmp_path / "approximation.png")


def test_vanishing(run, tmp_path):
    """With the sigmoid, nothing arrives at the first layer; with ReLU the size stays; doubled weights explode."""
    sigmoid, relu, doubled = [numbers(line) for line in run("vanishing", "--plot")[1:]]
    assert sigmoid == sorted(sigmoid)
    assert sigmoid[0] < 1e-10 * sigmoid[-1]
    assert relu[0] > 0.1 * relu[-1]
    assert 2**17 < np.median(doubled) / np.median(relu) < 2**22
    assert is_picture(tmp_path / "vanishing.png")


def test_attention(run, tmp_path):
    """It writes new sequences backwards."""
    lines = run("attention", "--plot")
    given, written = re.findall(r"\[([^\]]+)\]", lines[1])
    assert written.split() == given.split()[::-1]
    assert float(re.search(r"([\d.]+)% of the symbols", lines[1])[1]) > 99.0
    assert is_picture(tmp_path / "attention.png")


def test_attention_looks_where_it_should(example):
    """Weights that are read off the layer are those that the layer uses."""
    names = example("attention")
    model, x = names["Transformer"](0), np.arange(8)[None]
    h = model.norms[0](model.symbols(x) + model.places.weight)
    mixed = model.looks_at(x) @ model.attention.value(h)
    np.testing.assert_allclose(model.attention.output(mixed), model.attention(h), atol=1e-14)


def test_digits(run, tmp_path):
    """Digits that were not trained on are recognised."""
    lines = run("digits", "--plot")
    assert "4,810 parameters" in "\n".join(lines)
    trained, new = [float(found) for found in re.findall(r"([\d.]+)%", lines[-1])]
    assert trained > 95.0
    assert new > 93.0
    assert is_picture(tmp_path / "digits.png")


def means(lines: list[str]) -> list[float]:
    """The mean accuracy of each line: the first number with three digits."""
    return [float(re.search(r"\d\.\d{3}", line)[0]) for line in lines]


@pytest.mark.slow
def test_fine_tuning(run):
    """What was learned with other digits helps, the more the less of it is changed."""
    scratch, everything, low_rank, biases, head = means(run("fine_tuning")[1:])
    assert everything > scratch - 0.02
    assert min(low_rank, biases, head) > scratch + 0.05


@pytest.mark.slow
def test_few_shots(run):
    """Features of a network tell new digits apart where pixels do not, and find and group known ones."""
    *shots, pixels, features = run("few_shots")
    for line in shots:
        pixel, feature = [float(number) for number in re.findall(r"\d\.\d{3}", line)]
        assert feature > pixel + 0.1
    for less, more in zip(*[re.findall(r"\d\.\d{3}", line) for line in (pixels, features)], strict=True):
        assert float(more) > float(less) + 0.1


@pytest.mark.slow
def test_pretraining(run):
    """Digits without labels help, most with a linear model of features."""
    lines = run("pretraining")
    for block in (lines[1:5], lines[6:10]):
        pixels, features, network, pretrained = means(block)
        assert features > pixels + 0.02
        assert pretrained > network - 0.005


@pytest.mark.slow
def test_self_training(run):
    """With 100 labels the others help; with 50 they do not."""
    alone, taught, few, taught_few = means(run("self_training"))
    assert taught > alone + 0.01
    assert taught_few < few


def test_influence(run):
    """Most wrong labels are found, and without the rows that harm the log loss on new rows falls."""
    lines = run("influence")
    assert all([int(line.split()[1]) > 18 for line in lines[1:6]])
    given, without, clean = [float(number) for number in lines[6].split()[1:]]
    assert clean <= without < 0.7 * given
    quick, refitted = [float(re.search(r"log loss ([\d.]+)", line)[1]) for line in lines[7:]]
    assert abs(quick - refitted) < 1e-3
