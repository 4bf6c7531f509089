"""`scipy.spatial.transform.Rotation` on traced values, in all modes, also where the angle is 0."""

import numpy as np
import pytest
from scipy.spatial import transform
from scipy.spatial.transform import Rotation, Slerp

import adjoint as ad

pytestmark = pytest.mark.skipif(not hasattr(transform._rotation, "xp_backend"), reason="compiled before SciPy 1.17")

VECTORS = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.2]])
FIXED = Rotation.from_euler("xyz", [0.1, 0.2, 0.3])
WEIGHTS = np.random.default_rng(0).normal(size=40)
ANGLES = np.array([0.3, -0.2, 0.5])
SEVERAL = np.array([[1.4, 0.9, -0.8], [0.3, 0.2, -1.2]])

FUNCTIONS = {
    "apply": lambda r: Rotation.from_rotvec(r).apply(VECTORS),
    "apply a fixed one": lambda r: FIXED.apply(r, inverse=True),
    "as_matrix": lambda r: Rotation.from_rotvec(r).as_matrix(),
    "as_quat": lambda r: Rotation.from_rotvec(r, degrees=True).as_quat(canonical=True),
    "as_rotvec": lambda r: (FIXED * Rotation.from_rotvec(r) * Rotation.from_rotvec(2 * r).inv()).as_rotvec(),
    "as_euler": lambda r: (FIXED * Rotation.from_euler("xyz", r)).as_euler("ZXZ"),
    "as_mrp": lambda r: Rotation.from_mrp(r).as_mrp(),
    "from_matrix": lambda r: Rotation.from_matrix(Rotation.from_rotvec(r).as_matrix()).as_rotvec(),
    "power": lambda r: (Rotation.from_rotvec(r) ** 2.5).as_matrix(),
}
POINTS = {"one": ANGLES, "none": np.zeros(3), "almost none": np.array([1e-4, 0.0, 2e-5]), "two": SEVERAL}


def _total(function):
    return lambda x: np.sum(np.reshape(function(x), (-1,)) * WEIGHTS[: np.size(function(x))])


def _check(function, x):
    """Derivatives in all modes against central differences; the jitted value is the plain one."""
    f = _total(function)
    wanted = ad.numerical.grad(f)(x)
    tangent = WEIGHTS[: x.size].reshape(x.shape)
    close = {"rtol": 1e-6, "atol": 1e-7 * (1.0 + np.abs(wanted).max())}
    np.testing.assert_allclose(ad.grad(f)(x), wanted, **close)
    np.testing.assert_allclose(ad.jit(ad.grad(f))(x), wanted, **close)
    np.testing.assert_allclose(ad.vmap(ad.grad(f))(np.stack([x, x]))[1], wanted, **close)
    np.testing.assert_allclose(ad.jvp(f, (x,), (tangent,))[1], np.sum(wanted * tangent), **close)
    assert ad.jit(f)(x) == f(x)


@pytest.mark.parametrize("point", POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_rotations_are_differentiated(function, point):
    """Every way to make a rotation and to read it."""
    _check(function, point)


@pytest.mark.parametrize("name", ["as_matrix", "as_quat", "as_rotvec"])
def test_second_derivatives_without_an_angle(name):
    """Where the angle is 0 its root has no derivative, and the rotation has all of them."""
    f = _total(FUNCTIONS[name])
    wanted = [ad.numerical.grad(lambda r, k=k: ad.grad(f)(r)[k])(np.zeros(3)) for k in range(3)]
    np.testing.assert_allclose(ad.hessian(f)(np.zeros(3)), wanted, atol=1e-6)


OTHERS = {
    "quaternions": (lambda q: Rotation.from_quat(q)[0].as_matrix(), WEIGHTS[:8].reshape(2, 4)),
    "mean": (lambda r: Rotation.from_rotvec(r).mean().as_matrix(), WEIGHTS[:9].reshape(3, 3) * 0.3),
    "magnitude": (lambda r: Rotation.from_rotvec(r).magnitude(), SEVERAL),
    "concatenated": (lambda r: Rotation.concatenate([Rotation.from_rotvec(r), FIXED]).as_matrix(), ANGLES),
    "aligned": (lambda a: Rotation.align_vectors(a, WEIGHTS[9:21].reshape(4, 3))[0].as_matrix(), np.eye(4, 3) + 0.1),
    "interpolated": (lambda r: Slerp([0, 1], Rotation.from_rotvec(r))([0.3, 0.4]).as_rotvec(), SEVERAL),
    "a matrix": (lambda m: Rotation.from_matrix(m).as_rotvec(), FIXED.as_matrix()),
    "a matrix that is none": (lambda m: Rotation.from_matrix(m).as_rotvec(), 2.0 * FIXED.as_matrix()),
}  # fmt: skip


@pytest.mark.parametrize(("function", "point"), OTHERS.values(), ids=OTHERS)
def test_other_rotations_are_differentiated(function, point):
    """Several rotations together, and matrices: the nearest rotation moves with a matrix that is none."""
    _check(function, point)
