"""The graph as a file: formats, sizes, and what is said where one cannot be had."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree

import pytest

from adjoint.core.errors import InputError, UnsupportedError
from adjoint.explanation.show import graph as graphs
from adjoint.explanation.show.graph import Graph
from tests.explanation.test_graph import drawn, worked


@pytest.mark.parametrize(
    ("name", "start"),
    [("g.svg", b"<svg"), ("g.png", b"\x89PNG"), ("g.PDF", b"%PDF"), ("g.dot", b"digraph"), ("g.gv", b"digraph")],
)
def test_formats(tmp_path, name, start):
    """Each suffix gives a file of its format; notebooks get SVG without the head of a file."""
    graph = drawn(worked, 1.3)
    assert graph.save(tmp_path / name) == tmp_path / name
    assert (tmp_path / name).read_bytes().startswith(start)
    assert graph._repr_svg_() == graph.svg
    assert ElementTree.fromstring(graph.svg).tag == "{http://www.w3.org/2000/svg}svg"


def test_pixels_follow_the_size(tmp_path):
    """A PNG has twice the points of the drawing, but a side is never more than the renderer can draw."""

    def pixels(graph):
        return [int.from_bytes(graph.save(tmp_path / "g.png").read_bytes()[k : k + 4]) for k in (16, 20)]

    graph = drawn(worked, 1.3)
    points = [float(side) for side in re.findall(r'(?:width|height)="([\d.]+)pt"', graph.svg)[:2]]
    assert pixels(graph) == pytest.approx([2 * side for side in points], abs=4)
    huge = Graph("digraph { a [shape=box, width=400, height=0.5] }")  # 400 inches
    assert graphs.LARGEST_PIXELS * 0.9 < max(pixels(huge)) <= graphs.LARGEST_PIXELS * 1.01


def test_unknown_formats_are_refused(tmp_path):
    """The error names the formats there are, and nothing is written."""
    with pytest.raises(InputError) as caught:
        drawn(worked, 1.3).save(tmp_path / "g.jpeg")
    first, _, got, fix = str(caught.value).splitlines()
    assert first == "A graph cannot be saved in this format."
    assert got == f"  got {str(tmp_path / 'g.jpeg')!r}"
    assert fix == "  Choose a name that ends in one of .svg, .png, .pdf, .dot, .gv."
    assert list(tmp_path.iterdir()) == []


def test_without_pygraphviz(tmp_path, monkeypatch):
    """The error says what to install; the source of the graph can be had all the same."""
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    graph = drawn(worked, 1.3)
    assert graph.save(tmp_path / "g.dot").read_text(encoding="utf-8") == graph.dot
    with pytest.raises(UnsupportedError) as caught:
        graph.save(tmp_path / "g.svg")
    first, where, *fix = str(caught.value).splitlines()
    assert first == "Drawing a graph needs pygraphviz, which is missing."
    assert re.fullmatch(r"  at test_graph_files\.py:\d+ in test_without_pygraphviz\(\):  graph\.save\(.*\)", where)
    assert fix == [
        "  Run  pip install 'adjoint[viz]',",
        '  or choose a path that ends in .dot, which needs nothing:  e.graph("graph.dot").',
    ]
