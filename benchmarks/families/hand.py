"""Hand tracking, simplified from ADBench: bones turn in their parents' frames, the skin follows several bones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Function, Row

FINGERS, BONES, VERTICES = 5, 16, 500
POSE = 26
"""Three angles and three shifts of the wrist; for each finger one angle to the side and three to bend."""


def shape() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Where bones start in their parents' frames, vertices in every bone's frame, their weights, and the measured."""
    random = np.random.default_rng(14)
    offsets = 0.3 * random.normal(size=(BONES, 3)) + np.array([0.0, 1.0, 0.0])
    rest = random.normal(size=(BONES, 3, VERTICES))
    weights = random.random((BONES, VERTICES)) ** 4
    return offsets, rest, weights / weights.sum(axis=0), random.normal(size=(3, VERTICES))


def point() -> np.ndarray:
    return 0.4 * np.random.default_rng(15).normal(size=POSE)


def tracking(library: Any) -> Function:
    """From the pose to all differences between the skin and what was measured."""
    np, array = library.np, library.array
    offsets, rest, weights, measured = (np.asarray(part) for part in shape())

    def about_x(angle: Any) -> Any:
        c, s = np.cos(angle), np.sin(angle)
        return array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])

    def about_y(angle: Any) -> Any:
        c, s = np.cos(angle), np.sin(angle)
        return array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])

    def about_z(angle: Any) -> Any:
        c, s = np.cos(angle), np.sin(angle)
        return array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def f(pose: Any) -> Any:
        turns = [about_x(pose[0]) @ about_y(pose[1]) @ about_z(pose[2])]
        places = [pose[3:6]]
        for finger in range(FINGERS):
            turn, place = turns[0], places[0]
            for joint in range(3):
                place = place + turn @ offsets[len(places)]
                bend = about_x(pose[7 + 4 * finger + joint])
                turn = turn @ (about_z(pose[6 + 4 * finger]) @ bend if joint == 0 else bend)
                turns.append(turn)
                places.append(place)
        moved = np.stack(turns) @ rest + np.stack(places)[:, :, None]
        return np.sum(weights[:, None, :] * moved, axis=0) - measured

    return f


OFFSETS, REST, WEIGHTS, _ = shape()
SKIN = np.concatenate([(WEIGHTS[:, None, :] * REST).reshape(3 * BONES, VERTICES), WEIGHTS])


def turned(angle: float, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The rotation about a coordinate axis, and its derivative."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = ((1, 2), (2, 0), (0, 1))[axis]
    turn, slope = np.eye(3), np.zeros((3, 3))
    turn[i, i] = turn[j, j] = c
    turn[i, j], turn[j, i] = -s, s
    slope[i, i] = slope[j, j] = -s
    slope[i, j], slope[j, i] = -c, c
    return turn, slope


def by_hand(pose: np.ndarray) -> np.ndarray:
    """Tangents of all poses at once along the chain; the skin is linear in the bones, so it is one product."""
    columns = np.zeros((POSE, 3, 4 * BONES))  # derivatives of all rotations, then of all places
    turns, places = columns[:, :, : 3 * BONES].reshape(POSE, 3, BONES, 3), columns[:, :, 3 * BONES :]
    (x, dx), (y, dy), (z, dz) = (turned(pose[i], i) for i in range(3))
    wrist = x @ y @ z
    turns[0, :, 0], turns[1, :, 0], turns[2, :, 0] = dx @ y @ z, x @ dy @ z, x @ y @ dz
    places[3:6, :, 0] = np.eye(3)
    bone = 1
    for finger in range(FINGERS):
        turn, to_turn, to_place = wrist, turns[:, :, 0], places[:, :, 0]
        for joint in range(3):
            to_place = to_place + to_turn @ OFFSETS[bone]
            bend, slope = turned(pose[7 + 4 * finger + joint], 0)
            own = turn @ slope
            if joint == 0:
                side, to_side = turned(pose[6 + 4 * finger], 2)
                aside = turn @ (to_side @ bend)
                own = turn @ (side @ slope)
                bend = side @ bend
            to_turn = to_turn @ bend
            to_turn[7 + 4 * finger + joint] += own
            if joint == 0:
                to_turn[6 + 4 * finger] += aside
            turn = turn @ bend
            turns[:, :, bone], places[:, :, bone] = to_turn, to_place
            bone += 1
    out = columns.reshape(3 * POSE, 4 * BONES) @ SKIN
    return np.ascontiguousarray(out.reshape(POSE, 3, VERTICES).transpose(1, 2, 0))


def error(row: Row, result: Any) -> float:
    """Against central differences of every column."""
    from ..contestants import plain

    f, pose, h = tracking(plain()), point(), 1e-6
    columns = [(f(pose + step) - f(pose - step)) / (2.0 * h) for step in h * np.eye(POSE)]
    return float(np.max(np.abs(np.stack(columns, axis=2) - result)) / np.max(np.abs(result)))


ROWS = {
    "hand": Row(
        f"hand tracking, {VERTICES} vertices, {BONES} bones, Jacobian in {POSE} angles and shifts",
        tracking,
        point,
        by_hand,
        lambda library, f: library.jacobian(f),
        check=error,
        in_c="hand",
        captured=lambda: (OFFSETS, REST, WEIGHTS),
        compile_limit=1.0,
        without={"autograd": "by rows, its only way here, it takes seconds"},
    )
}
