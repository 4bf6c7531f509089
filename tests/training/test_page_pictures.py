"""The pictures of the page: weights and decision boundaries, compared with the arrays they show."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from adjoint.training.page.pictures import CELLS, allotted, matrices
from adjoint.training.record import Boundary, Record
from tests.training import records

FIRST, SECOND = "#weights figure:nth-child(1)", "#weights figure:nth-child(2)"


def is_blue(color):
    return color[2] > color[0] + 20


def is_orange(color):
    return color[0] > color[2] + 20


def weights_record(**arrays):
    """Two frames: the arrays, and twice the arrays."""
    return Record("w", frames=[0, 5], weights={name: [w, 2 * w] for name, w in arrays.items()})


def test_readout_of_weights(page):
    """A pointer over a matrix reads [row, column] and the value there, of the frame that is shown."""
    matrix = np.array([[0.1, -0.2, 0.3], [0.4, -0.5, 0.6]])
    page.open(weights_record(w=matrix))
    for frame, scale in ((0, 1), (1, 2)):
        page.go(frame)
        for row in range(2):
            for column in range(3):
                page.point(f"{FIRST} .picture", (column + 0.5) / 3, (row + 0.5) / 2)
                place, _, value = page.text(f"{FIRST} .readout").partition(" ≈ ")
                assert place == f"[{row}, {column}]"
                assert abs(float(value) - scale * matrix[row, column]) < 1.2 / 254 + 0.005


def test_colours_of_weights(page):
    """Blue is negative and orange positive, in both themes; what is not finite is neither."""
    matrix = np.array([[1.0, -1.0, 0.0, np.nan]] * 3)
    for scheme in ("light", "dark"):
        page.media(scheme=scheme)
        page.open(weights_record(w=matrix))
        colors = [page.pixel(f"{FIRST} canvas", (k + 0.5) / 4, 0.5) for k in range(4)]
        assert is_orange(colors[0])
        assert is_blue(colors[1])
        assert max(colors[2][:3]) - min(colors[2][:3]) < 20
        assert colors[3][1] < min(colors[3][0], colors[3][2])
        assert page.text(f"{FIRST} .span") == "not all finite"


def test_images_are_tiles(page):
    """The weights from 16 pixels to each unit are a picture of 4 by 4; a button shows the matrix."""
    weights = np.full((16, 3), -1.0)
    weights[5, 1] = 1.0
    page.open(weights_record(first=weights, second=np.ones((16, 4))))
    assert page.run(f"const c = document.querySelector('{FIRST} canvas'); return [c.width, c.height]") == [9, 9]
    assert is_orange(page.pixel(f"{FIRST} canvas", 6.5 / 9, 1.5 / 9))
    page.point(f"{FIRST} .picture", 6.5 / 9, 1.5 / 9)
    assert page.text(f"{FIRST} .readout") == "unit 1, pixel (1, 1) ≈ 2"
    page.point(f"{FIRST} .picture", 4.5 / 9, 1.5 / 9)
    assert page.text(f"{FIRST} .readout") == "", "between the tiles"
    assert page.count(f"{SECOND} button") == 0, "the second layer does not see pixels"
    page.driver.find_element("css selector", f"{FIRST} button").click()
    assert page.text(f"{FIRST} button") == "as images"
    page.point(f"{FIRST} .picture", 1.5 / 3, 5.5 / 16)
    assert page.text(f"{FIRST} .readout") == "[5, 1] ≈ 2"


def test_tall_matrices_lie_down(page):
    """A matrix of 12 by 2 is drawn transposed, says so, and reads as it is indexed."""
    matrix = np.zeros((12, 2))
    matrix[7, 1] = 1.0
    page.open(weights_record(w=matrix))
    assert "transposed" in page.text(f"{FIRST} .title")
    page.point(f"{FIRST} .picture", 7.5 / 12, 1.5 / 2)
    assert page.text(f"{FIRST} .readout") == "[7, 1] ≈ 2"


@pytest.mark.parametrize("shape", [(5, 3, 3, 3), (3, 3, 3, 5)])
def test_kernels_are_tiles(page, shape):
    """Kernels of 3 by 3, in either order of axes."""
    weights = np.zeros(shape)
    weights[(2, 1, 0, 2) if shape[0] == 5 else (0, 2, 2, 1)] = 1.0
    page.open(weights_record(w=weights))
    kernel = 7 if shape[0] == 5 else 11
    facts, _ = matrices({"w": [weights]})
    assert facts[0]["tile"] == [3, 3]
    assert facts[0]["part"] == [9, 15]
    across = page.run(f"return (document.querySelector('{FIRST} canvas').width + 1) / 4")
    width, height = across * 4 - 1, -(-15 // across) * 4 - 1
    page.point(f"{FIRST} .picture", (kernel % across * 4 + 2.5) / width, (kernel // across * 4 + 0.5) / height)
    assert page.text(f"{FIRST} .readout") == f"kernel {kernel}, (0, 2) ≈ 2"


def test_large_models_show_a_part(page):
    """Small arrays whole, large ones in part; the page says which part."""
    arrays = {"a": np.ones((784, 256)), "b": np.ones((256, 128)), "c": np.ones((128, 10))}
    page.open(weights_record(**arrays))
    assert page.texts(".part") == ["the first 11 of 256 units", "the first 96 of 256 rows, the first 97 of 128 columns"]
    assert sum(allotted([w.size for w in arrays.values()])) <= CELLS


def test_spans_of_weights(page):
    """Beside the picture: the least, the largest and the root of the mean square, of this frame."""
    page.open(weights_record(w=np.array([[3.0, -4.0]])))
    assert page.text(f"{FIRST} .span") == "-8 to 6, rms 7.07"
    page.go(0)
    assert page.text(f"{FIRST} .span") == "-4 to 3, rms 3.54"


def test_boundary_of_a_logit(page):
    """Each frame is coloured by the sign of its own values, however small these are, and reads them."""
    record = records.moons()
    page.open(record)
    boundary = record.boundary
    canvas = "#boundary .picture canvas"
    for frame in (0, 6, 12):
        page.go(frame)
        values = boundary.values[frame]
        page.point("#boundary .picture", 0.5, 0.03)
        read = re.fullmatch(r"\(([-\d.e]+), ([-\d.e]+)\): ([-\d.e]+)", page.text("#boundary .readout"))
        x, y, value = map(float, read.groups())
        row = round((y - boundary.vertical[0]) / np.ptp(boundary.vertical) * 79)
        column = round((x - boundary.horizontal[0]) / np.ptp(boundary.horizontal) * 79)
        assert row > 75, "up is up"
        assert abs(value - values[row, column]) < np.abs(values).max() / 100
        assert is_orange(page.pixel(canvas, 0.02, 0.98)) == (values[0, 0] > 0)
        assert is_blue(page.pixel(canvas, 0.02, 0.02)) == (values[-1, 0] < 0)
    assert page.texts(".classes li")[-1] == "decision at 0"


def test_boundary_of_classes(page):
    """The class under the pointer is the one in the array, and colours differ from class to class."""
    record = records.moons(classes=4)
    page.open(record)
    values, colors = record.boundary.values[-1], {}
    for x, y in ((0.05, 0.5), (0.95, 0.5), (0.5, 0.04), (0.5, 0.96)):
        page.point("#boundary .picture", x, y)
        found = int(page.text("#boundary .readout").rpartition("class ")[2])
        assert found == values[round((1 - y) * 79), round(x * 79)]
        colors[found] = tuple(page.pixel("#boundary .picture canvas", x, y))
    assert len(set(colors.values())) == 4
    assert page.texts(".classes li") == [f"class {k}" for k in range(4)]


def test_boundary_of_a_regression(page):
    """Labels that are many numbers: no line, another title, and a scale of colours from the least to the largest."""
    record = records.moons()
    labels = np.linspace(-1.0, 3.0, len(record.boundary.labels))
    page.open(dataclasses.replace(record, boundary=dataclasses.replace(record.boundary, labels=labels)))
    assert page.text("#boundary-title") == "What the model says"
    assert page.texts(".classes li span") == ["-1", "3"]
    assert is_blue(page.pixel(".shades", 0.2, 0.5))


def test_many_points_are_thinned(page):
    """Some hundreds of points are enough, and the page says so."""
    record = records.moons()
    b = record.boundary
    many = dataclasses.replace(b, points=np.tile(b.points, (50, 1)), labels=np.tile(b.labels, 50))
    page.open(dataclasses.replace(record, boundary=many))
    assert page.texts(".classes li")[-1] == "600 of 9,000 points"


def test_where_a_decision_changes():
    """By default at 0.5 for probabilities, at 0 for other numbers, nowhere in a regression."""
    points = np.zeros((3, 2))

    def found(values, labels, **level):
        boundary = Boundary((0, 1), (0, 1), [np.array(values)], points, np.array(labels), **level)
        return boundary.decides_at, boundary.shades

    assert found([[0.0, 1.0]], [0, 1, 1]) == (0.5, (0.5, 0.5))
    assert found([[-3.0, 1.0]], [0, 1, 1]) == (0.0, (0.0, 4.0))
    assert found([[-3.0, 1.0]], [-1, 1, 1]) == (0.0, (0.0, 1.0))
    assert found([[-3.0, 1.0]], [0, 1, 1], level=0.5) == (0.5, (0.5, 0.5))
    assert found([[-3.0, 1.0]], [0.0, 1.0, 5.0]) == (None, (2.5, 2.5))
    assert found([[0, 2]], [0, 1, 2])[0] is None
