"""Functions in the user's own files: found, checked against their parameters, and called."""

from __future__ import annotations

import inspect
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.cli.arguments import parse_arguments
from adjoint.cli.errors import FAILURE, USAGE, CommandError, failure_text
from adjoint.cli.files import is_file, loaded, with_positions

SOURCE = '''\
"""A model."""
from dataclasses import dataclass

import numpy as np
from neighbour import offset

RATE = 3

@dataclass
class Point:
    x: float

def loss(w, scale=2.0):
    return scale * np.sum(w**2) + offset

def named(x, *, k, n=2):
    return k * x**n

def positional(a=1.0, b=2.0, /, c=3.0):
    return 100 * a + 10 * b + c

def anything(x, **more):
    return x * more["k"]

def late(x):
    import late_neighbour
    return x * late_neighbour.factor

def fails(x):
    return divide(x)

def divide(x):
    return np.zeros(3)[7] * x

def _private(x):
    return x

double = np.negative
'''


@pytest.fixture
def model(tmp_path):
    """The path of a file with functions, and a module beside it."""
    (tmp_path / "neighbour.py").write_text("offset = 1.0\n", encoding="utf-8")
    (tmp_path / "late_neighbour.py").write_text("factor = 5.0\n", encoding="utf-8")
    path = tmp_path / "model.py"
    path.write_text(SOURCE, encoding="utf-8")
    yield path
    for name in ("neighbour", "late_neighbour"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("m.py:f", True), ("a b/m.py:f", True), ("m.py", True), (" m.py:f ", True), ("x**2", False), ("x[1:2]", False)],
)
def test_is_file(text, expected):
    """What ends in .py, or in .py:name, is a file."""
    assert is_file(text) == expected


def test_the_function_is_loaded_with_its_folder_on_the_path(model):
    """A module beside the file can be imported, while the context lasts, and nothing is written."""
    before, modules = list(sys.path), set(sys.modules)
    with loaded(f"{model}:late") as late:
        assert ad.grad(late)(2.0) == 5.0
    assert sys.path == before
    assert set(sys.modules) - modules == {"neighbour", "late_neighbour"}
    assert not (model.parent / "__pycache__").exists()


def test_a_script_is_not_run(tmp_path):
    """What stands under the test for __main__ is left alone."""
    path = tmp_path / "script.py"
    path.write_text("def f(x):\n    return x\nif __name__ == '__main__':\n    raise SystemExit\n", encoding="utf-8")
    with loaded(f"{path}:f") as function:
        assert function(3) == 3


@pytest.mark.parametrize(
    ("name", "given", "names", "value"),
    [
        ("loss", ["w=1,2"], ["w"], 11.0),
        ("loss", ["scale=3", "w=1,2"], ["w", "scale"], 16.0),
        ("named", ["k=3", "x=2"], ["x", "k"], 12.0),
        ("named", ["x=2", "k=3", "n=int:3"], ["x", "k", "n"], 24.0),
        ("positional", ["b=5"], ["b"], 153.0),
        ("positional", ["a=2", "b=3"], ["a", "b"], 233.0),
        ("positional", ["a=2", "c=4"], ["a", "c"], 224.0),
        ("anything", ["k=3", "x=2"], ["x", "k"], 6.0),
        ("double", ["x=2"], None, -2.0),
    ],
)
def test_values_find_their_parameters(model, name, given, names, value):
    """Values go to the parameters of their names, and are positional, so that they are differentiated."""
    with loaded(f"{model}:{name}") as function:
        called, values = with_positions(function, parse_arguments(given))
        assert called(*values) == value
        if names is not None:
            assert list(inspect.signature(called).parameters)[: len(values)] == names
            assert called.__name__ == name


def test_every_value_is_differentiated(model):
    """Also those of parameters that can only be given by name."""
    with loaded(f"{model}:named") as function:
        called, values = with_positions(function, parse_arguments(["k=3", "x=2"]))
        assert ad.grad(called, argnums=(0, 1))(*values) == (12.0, 4.0)


FUNCTIONS = "It has: Point, loss, named, positional, anything, late, fails, divide."


@pytest.mark.parametrize(
    ("suffix", "message"),
    [
        (":los", f"model.py has no function 'los'\n  model.py:los\n           ^\n  Did you mean loss? {FUNCTIONS}"),
        (":RATE", f"RATE is a value, not a function\n  model.py:RATE\n           ^\n  {FUNCTIONS}"),
        (
            "",
            "which function of the file?\n  model.py\n         ^\n  Write  model.py:name.  "
            "It has: loss, named, positional, anything, late, fails, divide.",
        ),
        (
            ":Point.x",
            "'Point.x' is not the name of a function\n  model.py:Point.x\n           ^\n  Write  model.py:name.  "
            "It has: loss, named, positional, anything, late, fails, divide.",
        ),
    ],
)
def test_functions_that_are_not_there(model, monkeypatch, suffix, message):
    """The message names what is there."""
    monkeypatch.chdir(model.parent)
    with pytest.raises(CommandError) as caught, loaded(f"model.py{suffix}"):
        pass
    assert str(caught.value) == message
    assert caught.value.exit_code == USAGE


def test_no_such_file(model, monkeypatch):
    """A file of a similar name is suggested."""
    monkeypatch.chdir(model.parent)
    with pytest.raises(CommandError) as caught, loaded("modell.py:loss"):
        pass
    assert str(caught.value) == "there is no file modell.py\n  modell.py:loss\n  ^\n  Did you mean model.py?"


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("loss", ["v=1"], "loss has no parameter 'v'\n  v=1\n  ^\n  It is  loss(w, scale=2.0)."),
        (
            "named",
            ["x=1", "K=1"],
            "named has no parameter 'K'\n  K=1\n  ^\n  It is  named(x, *, k, n=2). Did you mean k?",
        ),
        ("loss", [], "loss needs a value for w\n  It is  loss(w, scale=2.0). Write  w=...  after its name."),
        (
            "named",
            [],
            "named needs a value for x and k\n  It is  named(x, *, k, n=2). Write  x=... and k=...  after its name.",
        ),
    ],
)
def test_values_that_do_not_fit(model, name, given, message):
    """Unknown and missing parameters are named, with the function's own signature."""
    with loaded(f"{model}:{name}") as function, pytest.raises(CommandError) as caught:
        with_positions(function, parse_arguments(given))
    assert str(caught.value) == message


def test_errors_of_the_users_function_show_the_users_lines(model):
    """Frames of NumPy and of the library are left out."""
    with loaded(f"{model}:fails") as function, pytest.raises(IndexError) as caught:
        ad.grad(function)(1.0)
    lines = failure_text(caught.value).splitlines()
    assert lines[0] == "IndexError: index 7 is out of bounds for axis 0 with size 3"
    assert [line for line in lines if "model.py" in line] == [
        "  at model.py:30 in fails:  return divide(x)",
        "  at model.py:33 in divide:  return np.zeros(3)[7] * x",
    ]


def test_whose_lines_are_shown_does_not_depend_on_the_folder(tmp_path):
    """A file among installed packages is the user's too, if its function is explained; Python's modules are not."""
    folder = tmp_path / "lib" / "site-packages"
    folder.mkdir(parents=True)
    path = folder / "model.py"
    path.write_text("import json\ndef f(x):\n    return x * json.loads('{')\n", encoding="utf-8")
    with loaded(f"{path}:f") as function, pytest.raises(ValueError, match="Expecting property name") as caught:
        ad.grad(function)(1.0)
    lines = [line for line in failure_text(caught.value).splitlines() if "test_files" not in line]
    assert lines[1:] == ["  at model.py:3 in f:  return x * json.loads('{')"]


def test_syntax_errors_in_the_file(tmp_path):
    """The line and the character of the user's file."""
    path = tmp_path / "broken.py"
    path.write_text("def f(x):\n    return x +* 2\n", encoding="utf-8")
    with pytest.raises(SyntaxError) as caught, loaded(f"{path}:f"):
        pass
    assert failure_text(caught.value) == (
        "SyntaxError: invalid syntax\n  at broken.py:2\n  return x +* 2\n            ^"
    )


def test_a_file_that_ends_the_program(tmp_path):
    """sys.exit while the file is read does not end the command without a word."""
    path = tmp_path / "leaves.py"
    path.write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    with pytest.raises(CommandError) as caught, loaded(f"{path}:f"):
        pass
    assert str(caught.value).startswith("leaves.py ended the program while it was read\n")
    assert caught.value.exit_code == FAILURE


def test_the_value_of_an_array_is_an_array(model):
    """Commas make an array, which the function gets as it is."""
    with loaded(f"{model}:loss") as function:
        called, values = with_positions(function, parse_arguments(["w=1,2"]))
        np.testing.assert_array_equal(ad.grad(called)(*values), [4.0, 8.0])
