"""Rotations: SciPy's class ends in functions of quaternions, compiled ones and others written for any kind of array.

The latter take traced values in a twin; they stand for both. Before SciPy 1.17 there are none, and the class is
compiled as a whole: it is refused by name.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import scipy.spatial.transform as transform

from ...core.values import shape_of
from ...numpy.patching.replacements import Answer, chosen, divert, refuses, runs_through, set_attribute
from ..batches import in_batches
from ..module_copies import twin

PLACE = "scipy.spatial.transform"
NAMES = (
    "from_quat", "from_matrix", "from_rotvec", "from_mrp", "from_euler", "from_davenport", "as_quat", "as_matrix",
    "as_rotvec", "as_mrp", "as_euler", "as_davenport", "inv", "magnitude", "approx_equal", "mean", "reduce", "apply",
    "setitem", "align_vectors", "pow", "compose_quat",
)  # fmt: skip
SMALL = 1e-6
"""Squares of angles below which series are used: the functions are smooth there, roots and quotients are not."""
ORTHOGONAL = 1e-12
"""SciPy's tolerance for matrices that are rotations already."""
ROUNDS = 20
"""Iterations for other matrices: enough for singular values between 1e-4 and 1e4."""


def _teach() -> None:
    """Let the functions of both backends know traced values."""
    ours = twin(f"{PLACE}._rotation_xp", from_rotvec=from_rotvec, as_rotvec=as_rotvec)
    vars(ours).update(from_matrix=_from_matrix(ours))
    compiled = importlib.import_module(f"{PLACE}._rotation_cy")
    general = importlib.import_module(f"{PLACE}._rotation_xp")
    for name in NAMES:
        label = f"{PLACE}.Rotation.{name}"
        answer = Answer(ours=in_batches(label, getattr(ours, name)))
        original = getattr(compiled, name)
        set_attribute(compiled, name, functools.wraps(original)(chosen(original, answer, label)))
        divert(getattr(general, name), answer, label)


def from_rotvec(rotvec: Any, degrees: bool = False) -> Any:
    """Quaternions of rotation vectors: sine and cosine of half the angle, as functions of its square."""
    if shape_of(rotvec)[-1] != 3:
        raise ValueError(f"Expected `rot_vec` to have shape (..., 3), got {shape_of(rotvec)}")
    rotvec = np.deg2rad(rotvec) if degrees else rotvec
    square = np.sum(rotvec * rotvec, -1, keepdims=True)
    small = square <= SMALL
    angle = np.sqrt(np.where(small, 1.0, square))
    near = np.where(small, square, 0.0)
    scale = np.where(small, _series(near, 1 / 2, -1 / 48, 1 / 3840, -1 / 645_120), np.sin(angle / 2) / angle)
    last = np.where(small, _series(near, 1.0, -1 / 8, 1 / 384, -1 / 46_080), np.cos(angle / 2))
    return np.concatenate([rotvec * scale, last], -1)


def as_rotvec(quat: Any, degrees: bool = False) -> Any:
    """Rotation vectors of quaternions: the angle divided by its sine, as a function of the tangent's square."""
    last = quat[..., 3:]
    flipped = _is_flipped(quat)
    axis, last = [np.where(flipped, -part, part) for part in (quat[..., :3], last)]
    square = np.sum(axis * axis, -1, keepdims=True)
    small = square <= SMALL * last * last
    length, cosine = np.sqrt(np.where(small, 1.0, square)), np.where(small, last, 1.0)
    near = np.where(small, square, 0.0) / (cosine * cosine)
    series = _series(near, 2.0, -2 / 3, 2 / 5, -2 / 7) / cosine
    scale = np.where(small, series, 2.0 * np.arctan2(length, last) / length)
    return axis * (np.rad2deg(scale) if degrees else scale)


def _is_flipped(quat: Any) -> Any:
    """Whether the first component that is not 0, from the last one on, is negative: SciPy's choice of the sign."""
    found = np.zeros((*shape_of(quat)[:-1], 1), bool)
    for k in (2, 1, 0, 3):
        part = quat[..., k : k + 1]
        found = (part < 0.0) | ((part == 0.0) & found)
    return found


def _series(x: Any, *coefficients: float) -> Any:
    """A polynomial, by Horner's rule."""
    total: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = c + x * total
    return total


def _from_matrix(ours: Any) -> Any:
    """Quaternions of matrices: of the nearest rotation, also where SciPy leaves out to look for it."""

    def from_matrix(matrix: Any, assume_valid: bool = False) -> Any:
        if assume_valid:
            return ours._from_matrix_orthogonal(matrix)
        volumes = np.linalg.det(matrix)
        if np.any(volumes <= 0):
            first = int(np.nonzero(np.atleast_1d(volumes <= 0))[0][0])
            raise ValueError(
                "Non-positive determinant (left-handed or null coordinate frame) in "
                f"rotation matrix {first}: {matrix[first, ...]}."
            )
        return ours._from_matrix_orthogonal(_nearest_rotation(matrix))

    return from_matrix


def _nearest_rotation(matrix: Any) -> Any:
    """The orthogonal factor of a polar decomposition, by Newton's method, which has derivatives at a rotation as well.

    Those of singular vectors do not exist there. The iteration goes on until all derivatives up to the third are right.
    """
    gap = np.max(np.abs(matrix @ np.matrix_transpose(matrix) - np.eye(3)))
    if gap <= ORTHOGONAL:
        for _ in range(2):
            matrix = matrix @ (1.5 * np.eye(3) - 0.5 * np.matrix_transpose(matrix) @ matrix)
        return matrix
    for _ in range(ROUNDS):
        matrix = 0.5 * (matrix + np.matrix_transpose(np.linalg.inv(matrix)))
    return matrix


if hasattr(transform._rotation, "xp_backend"):
    _teach()
    runs_through(PLACE, "Rotation", "Slerp", note="also where the angle is 0")
else:
    refuses(
        PLACE, "Rotation", "Slerp",
        reason="this SciPy computes with rotations in compiled code", fix="Use SciPy 1.17 or newer.",
    )  # fmt: skip
refuses(
    PLACE, "RotationSpline", "RigidTransform",
    reason="it computes in compiled code", fix="Use Slerp, or Rotation and a translation, which are differentiated.",
)  # fmt: skip
