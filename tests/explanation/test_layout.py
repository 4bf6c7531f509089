"""Where boxes and arrows go: nothing on top of anything else, always the same."""

from __future__ import annotations

import pytest

from adjoint.explanation.page.layout import lay_out
from tests.explanation import page_examples

BOX = (118.0, 60.0)
EXAMPLES = {
    "logistic": page_examples.logistic(),
    "worked": page_examples.worked(),
    "fan_out": page_examples.fan_out(),
    "tangled": page_examples.tangled(),
    "large": page_examples.tangled(150, seed=9),
}


def drawing(name, downwards):
    nodes = EXAMPLES[name]["nodes"]
    edges = [(edge["from"], node["id"]) for node in nodes for edge in node["edges"]]
    return edges, lay_out([node["id"] for node in nodes], edges, box=BOX, downwards=downwards)


@pytest.fixture(params=[False, True], ids=["rightwards", "downwards"])
def downwards(request):
    return request.param


@pytest.mark.parametrize("name", EXAMPLES)
def test_boxes_are_apart_and_inside(name, downwards):
    """No two boxes touch, and all are within the drawing."""
    _, found = drawing(name, downwards)
    centres = list(found.boxes.values())
    for k, (x, y) in enumerate(centres):
        assert BOX[0] / 2 <= x <= found.width - BOX[0] / 2
        assert BOX[1] / 2 <= y <= found.height - BOX[1] / 2
        for other_x, other_y in centres[:k]:
            assert abs(x - other_x) >= BOX[0] + 4 or abs(y - other_y) >= BOX[1] + 4


@pytest.mark.parametrize("name", EXAMPLES)
def test_edges_flow_one_way(name, downwards):
    """Every edge begins on its source's side, ends on its target's, never turns back, and passes no other box."""
    edges, found = drawing(name, downwards)
    flow = 1 if downwards else 0
    for (source, target), edge in zip(edges, found.edges, strict=True):
        assert (edge.source, edge.target) == (source, target)
        places = [point[flow] for point in edge.points]
        assert places == sorted(places)
        assert places[0] == pytest.approx(found.boxes[source][flow] + BOX[flow] / 2)
        assert places[-1] == pytest.approx(found.boxes[target][flow] - BOX[flow] / 2)
        for a, b in zip(edge.points[1:-1:2], edge.points[2:-1:2], strict=True):
            middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
            for x, y in found.boxes.values():
                assert abs(middle[0] - x) > BOX[0] / 2 or abs(middle[1] - y) > BOX[1] / 2


def test_chain_is_straight():
    """A chain is one line, and an edge that jumps over it bends around the box between."""
    found = lay_out([0, 1, 2], [(0, 1), (1, 2)])
    assert len({y for _, y in found.boxes.values()}) == 1
    jump = lay_out([0, 1, 2], [(0, 1), (1, 2), (0, 2)])
    assert len(jump.edges[2].points) == 4


def test_simple_crossing_is_undone():
    """Two steps whose operands are listed the other way round are swapped, not crossed."""
    found = lay_out([0, 1, 2, 3], [(1, 2), (0, 3)])
    upper, lower = sorted([0, 1], key=lambda node: found.boxes[node][1])
    reached = {1: 2, 0: 3}
    assert found.boxes[reached[upper]][1] < found.boxes[reached[lower]][1]


def test_twice_the_same_operand():
    """x·x has two arrows, next to each other, with two texts."""
    first, second = lay_out([0, 1], [(0, 1), (0, 1)]).edges
    assert first.points != second.points
    assert first.label != second.label


def test_deterministic():
    """The same graph is drawn the same way each time."""
    assert drawing("tangled", False) == drawing("tangled", False)


@pytest.mark.parametrize("name", ["logistic", "worked", "fan_out"])
def test_texts_on_edges_are_apart(name, downwards):
    """In small graphs the numbers on the arrows can all be read."""
    nodes = EXAMPLES[name]["nodes"]
    edges = [(edge["from"], node["id"]) for node in nodes for edge in node["edges"]]
    found = lay_out(
        [node["id"] for node in nodes],
        edges,
        box=BOX,
        layer_gap=76.0,
        label_widths=[30.0] * len(edges),
        downwards=downwards,
    )
    labels = [edge.label for edge in found.edges]
    for k, (x, y) in enumerate(labels):
        assert all(abs(x - u) >= 30 or abs(y - v) >= 13 for u, v in labels[:k])
