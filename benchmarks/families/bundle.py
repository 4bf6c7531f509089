"""Bundle adjustment (ADBench): Jacobians of many small residuals, each of one camera, one point and one weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Function, Row

OBSERVATIONS = 1000


def point() -> tuple[np.ndarray, np.ndarray]:
    """For each observation 11 numbers of a camera, 3 of a point, 1 weight; and where the point was seen."""
    random = np.random.default_rng(11)
    n = OBSERVATIONS
    camera = np.concatenate(
        [
            0.3 * random.normal(size=(n, 3)),  # rotation: axis times angle
            random.normal(size=(n, 3)) + np.array([0.0, 0.0, -8.0]),  # centre
            1.0 + 0.1 * random.normal(size=(n, 1)),  # focal length
            0.1 * random.normal(size=(n, 2)),  # principal point
            0.01 * random.normal(size=(n, 2)),  # radial distortion
        ],
        axis=1,
    )
    rest = np.concatenate([random.normal(size=(n, 3)), 0.5 + random.random((n, 1))], axis=1)
    return np.concatenate([camera, rest], axis=1), random.normal(size=(n, 2))


def residual(library: Any) -> Function:
    """The weighted error of one projection."""
    np = library.np

    def f(p: Any, seen: Any) -> Any:
        rotation, centre, focal, principal, radial, x, weight = p[:3], p[3:6], p[6], p[7:9], p[9:11], p[11:14], p[14]
        angle = np.sqrt(np.sum(rotation**2))
        axis = rotation / angle
        v = x - centre
        turned = (
            v * np.cos(angle) + np.cross(axis, v) * np.sin(angle) + axis * (np.sum(axis * v) * (1.0 - np.cos(angle)))
        )
        flat = turned[:2] / turned[2]
        square = np.sum(flat**2)
        distorted = flat * (1.0 + radial[0] * square + radial[1] * square**2)
        return weight * (distorted * focal + principal - seen)

    return f


def jacobians(library: Any, f: Function) -> Function:
    """All small Jacobians at once."""
    every = library.vmap(library.jacobian(f))
    return lambda point: every(*point)


def by_hand(point: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The chain rule, factor by factor, each for all observations; coordinates lead, observations are contiguous."""
    p, seen = np.ascontiguousarray(point[0].T), point[1].T
    rotation, centre, focal, principal, radial, x, weight = p[:3], p[3:6], p[6], p[7:9], p[9:11], p[11:14], p[14]
    n = p.shape[1]
    angle = np.sqrt(np.einsum("in,in->n", rotation, rotation))
    k = rotation / angle
    v = x - centre
    c, s = np.cos(angle), np.sin(angle)
    rest = 1.0 - c
    crossed = cross(k, v)
    along = np.einsum("in,in->n", k, v)
    turned = v * c + crossed * s + k * (along * rest)

    matrix = np.empty((3, 3, n))  # the rotation: d turned / d v
    np.multiply(k[:, None, :], k[None, :, :] * rest, out=matrix)
    for i in range(3):
        matrix[i, i] += c
    ks = k * s
    matrix[0, 1] -= ks[2]
    matrix[0, 2] += ks[1]
    matrix[1, 0] += ks[2]
    matrix[1, 2] -= ks[0]
    matrix[2, 0] -= ks[1]
    matrix[2, 1] += ks[0]

    # d turned / d rotation: the angle changes by k_j, the axis by (e_j - k k_j) / angle
    by_angle = crossed * c - v * s + k * (along * s)
    by_axis = np.zeros((3, 3, n))  # d turned / d axis = rest (k v^T + (k.v) I) - s [v]x
    np.multiply(k[:, None, :], v[None, :, :] * rest, out=by_axis)
    vs = v * s
    for i in range(3):
        by_axis[i, i] += along * rest
    by_axis[0, 1] += vs[2]
    by_axis[0, 2] -= vs[1]
    by_axis[1, 0] -= vs[2]
    by_axis[1, 2] += vs[0]
    by_axis[2, 0] += vs[1]
    by_axis[2, 1] -= vs[0]
    by_axis /= angle
    onto = by_axis[:, 0] * k[0] + by_axis[:, 1] * k[1] + by_axis[:, 2] * k[2]
    by_axis += (by_angle - onto)[:, None, :] * k[None, :, :]

    flat = turned[:2] / turned[2]
    square = flat[0] ** 2 + flat[1] ** 2
    factor = 1.0 + square * (radial[0] + radial[1] * square)
    growth = 2.0 * (radial[0] + 2.0 * radial[1] * square)
    scale = weight * focal
    by_flat = flat[:, None, :] * (flat[None, :, :] * (growth * scale))
    by_flat[0, 0] += factor * scale
    by_flat[1, 1] += factor * scale
    by_turned = np.empty((2, 3, n))
    np.divide(by_flat, turned[2], out=by_turned[:, :2])
    by_turned[:, 2] = -(by_turned[:, 0] * flat[0] + by_turned[:, 1] * flat[1])

    out = np.zeros((2, 15, n))
    for i in range(2):
        for j in range(3):
            out[i, j] = (
                by_turned[i, 0] * by_axis[0, j] + by_turned[i, 1] * by_axis[1, j] + by_turned[i, 2] * by_axis[2, j]
            )
            out[i, 11 + j] = (
                by_turned[i, 0] * matrix[0, j] + by_turned[i, 1] * matrix[1, j] + by_turned[i, 2] * matrix[2, j]
            )
    np.negative(out[:, 11:14], out=out[:, 3:6])
    distorted = flat * factor
    out[:, 6] = distorted * weight
    out[0, 7] = out[1, 8] = weight
    out[:, 9] = flat * (square * scale)
    out[:, 10] = flat * (square * square * scale)
    out[:, 14] = distorted * focal + principal - seen
    return np.ascontiguousarray(out.transpose(2, 0, 1))


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.empty_like(b)
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


def error(row: Row, result: Any) -> float:
    """Against central differences of every column, for some of the observations."""
    from ..contestants import plain

    f, (p, seen) = residual(plain()), point()
    worst, h = 0.0, 1e-6
    for i in range(0, OBSERVATIONS, 250):
        steps = h * np.eye(15)
        columns = [(f(p[i] + step, seen[i]) - f(p[i] - step, seen[i])) / (2.0 * h) for step in steps]
        worst = max(worst, float(np.max(np.abs(np.stack(columns, axis=1) - result[i]))))
    return worst


ROWS = {
    "bundle": Row(
        f"bundle adjustment, {OBSERVATIONS:,} Jacobians of 2 x 15",
        residual,
        point,
        by_hand,
        jacobians,
        check=error,
        in_c="bundle",
        without={"autograd": "no vmap"},
    )
}
