"""The table of names in docs/nn.md: what stands on the right exists here, what stands on the left is answered."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path

import pytest

import adjoint as ad
from adjoint import losses, nn, optim

PAGE = Path(__file__).parents[2] / "docs" / "nn.md"
ROOMS = {"nn": nn, "losses": losses, "optim": optim, "ad": ad}


def rows():
    """The table as rows of four cells."""
    lines = PAGE.read_text(encoding="utf-8").split("| PyTorch | Keras | Equinox | here |")[1].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def names_in(cell):
    """The names in a cell, without what is in brackets."""
    return [re.match(r"[\w.]+", text).group() for text in re.findall(r"`([^`]+)`", cell) if re.match(r"[\w.]+", text)]


ROWS = rows()


@pytest.mark.parametrize("row", ROWS, ids=[" ".join(names_in(row[3])) for row in ROWS])
def test_the_name_exists(row):
    """Each name of a room is there; a row without one says what to write in words."""
    assert len(row) == 4
    names = [name for name in names_in(row[3]) if "." in name]
    assert names or row[3] in ("`model(x)`", "a field that is an array")
    for name in names:
        room, _, inner = name.partition(".")
        assert callable(attrgetter(inner)(ROOMS[room]))


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_names_of_pytorch_exist(row):
    """Where it is installed."""
    torch = pytest.importorskip("torch")
    for name in names_in(row[0]):
        if name == "loss.backward":
            name = "Tensor.backward"
        homes = (torch.nn, torch.nn.Module, torch.nn.functional, torch.optim, torch)
        last = name.removeprefix("functional.")
        assert any([_has(home, name) or _has(home, last) for home in homes]), name


def _has(home, name):
    try:
        attrgetter(name)(home)
    except AttributeError:
        return False
    return True


CLASSES = [name for row in ROWS for name in names_in(row[0]) if name[0].isupper() and "(" not in name]


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_of_pytorch_is_answered(name):
    """`nn.Linear` is there, or the error says what it is called here; optimizers are looked for in `optim`."""
    room = optim if name in ("AdamW", "SGD") else nn
    if not hasattr(room, name):
        with pytest.raises(AttributeError, match=r"(use|did you mean)  "):
            getattr(room, name)
