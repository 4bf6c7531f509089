"""Matrices that are not finite, huge or tiny: LAPACK never ends at some of them, so they do not reach it."""

import numpy as np
import pytest

import adjoint as ad

SQUARE = np.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [-0.3, 0.4, 1.8]])
MATRICES = {
    "inf on the diagonal": np.diag([np.inf, 1.0, 1.0]),
    "inf in a matrix": np.where(np.eye(3) == 1, np.inf, SQUARE),
    "all inf": np.full((3, 3), np.inf),
    "nan on the diagonal": np.diag([np.nan, 1.0, 1.0]),
    "one of two": np.stack([SQUARE, np.diag([np.inf, 1.0, 1.0])]),
}
UNDEFINED = {
    "det": lambda a: np.sum(np.linalg.det(a)),
    "slogdet": lambda a: np.sum(np.linalg.slogdet(a)[1]),
    "nuclear norm": lambda a: np.sum(np.linalg.norm(a, "nuc", axis=(-2, -1))),
    "spectral norm": lambda a: np.sum(np.linalg.norm(a, 2, axis=(-2, -1))),
    "condition": lambda a: np.sum(np.linalg.cond(a)),
    "eigenvalues": lambda a: np.sum(np.linalg.eigvalsh(a) ** 2),
}
REFUSED = {
    "svd": lambda a: np.sum(np.linalg.svd(a)[0]),
    "pinv": lambda a: np.sum(np.linalg.pinv(a)),
}


def by_forward(f):
    return lambda a: ad.jvp(f, (a,), (np.ones_like(a),))[1]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("transform", [ad.grad, by_forward], ids=["reverse", "forward"])
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("name", UNDEFINED)
def test_no_derivative(name, matrix, transform):
    """The derivative is nan, or NumPy's own error; the finite matrices of a stack keep theirs."""
    a = MATRICES[matrix]
    try:
        found = transform(UNDEFINED[name])(a)
    except np.linalg.LinAlgError as error:
        with pytest.raises(np.linalg.LinAlgError, match=str(error)):
            UNDEFINED[name](a)
        return
    assert np.isnan(found).any()
    if matrix == "one of two" and transform is ad.grad:
        np.testing.assert_allclose(found[0], ad.grad(UNDEFINED[name])(SQUARE), rtol=1e-12)


def outcome(f, a):
    try:
        return f(a)
    except np.linalg.LinAlgError as error:
        return str(error)


def jitted_elsewhere(f):
    """Recorded at ordinary matrices first."""

    def called(a):
        program = ad.jit(f)
        program(np.broadcast_to(SQUARE + SQUARE.T, a.shape).copy())
        return program(a)

    return called


VALUES = {
    **{f"norm {p}": lambda a, p=p: np.linalg.norm(a, p, axis=(-2, -1)) for p in (2, -2, "nuc")},
    **{f"cond {p}": lambda a, p=p: np.linalg.cond(a, p) for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc")},
    "svdvals": np.linalg.svdvals,
    "hermitian svd": lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True),
    "eigvalsh": np.linalg.eigvalsh,
}
NUMBERS = {"zero": 0.0, "nan": np.nan, "infinite": np.inf}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("way", [jitted_elsewhere, lambda f: lambda a: ad.vjp(f, a)[0]], ids=["jit", "reverse"])
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", VALUES)
def test_values_as_by_numpy(name, number, way):
    """The same numbers or the same error as without a trace, whatever this release of NumPy makes of such a matrix."""
    a = SQUARE + SQUARE.T
    a[1] = a[:, 1] = NUMBERS[number] if number == "zero" else a[1]
    a[1, 1] = NUMBERS[number]
    for matrices in (a, np.stack([SQUARE + SQUARE.T, a])):
        want, found = outcome(VALUES[name], matrices), outcome(way(VALUES[name]), matrices)
        assert type(found) is type(want)
        assert found == want if isinstance(want, str) else np.allclose(found, want, equal_nan=True)


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("name", REFUSED)
def test_refused_as_by_numpy(name, matrix):
    """Where NumPy raises, or would search for ever, the error is NumPy's."""
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        ad.grad(REFUSED[name])(MATRICES[matrix])


@pytest.mark.parametrize("matrix", [m for m, a in MATRICES.items() if a.ndim == 2])
def test_least_squares_are_refused_as_by_numpy(matrix):
    """So for the solution of least squares."""
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        ad.grad(lambda a: np.sum(np.linalg.lstsq(a, np.ones(3), rcond=None)[0]))(MATRICES[matrix])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e150, 1e-110, 1e-300])
def test_scaled_matrices(scale):
    """Huge and tiny matrices end, and what does not depend on the scale is right."""
    a = SQUARE * scale
    np.testing.assert_allclose(ad.grad(UNDEFINED["nuclear norm"])(a), ad.grad(UNDEFINED["nuclear norm"])(SQUARE))
    np.testing.assert_allclose(ad.grad(UNDEFINED["slogdet"])(a) * scale, np.linalg.inv(SQUARE).T, rtol=1e-3)
    cofactors = np.linalg.det(SQUARE) * np.linalg.inv(SQUARE).T * scale * scale
    found = ad.grad(np.linalg.det)(a)
    assert np.all(np.isnan(found) | (found == cofactors) | (np.abs(found / cofactors - 1) < 1e-3))


@pytest.mark.parametrize("transform", [ad.grad, by_forward], ids=["reverse", "forward"])
def test_determinant_of_unlike_rows(transform):
    """The cofactors of diag(1e200, 1, 1) are representable."""
    want = np.diag([1.0, 1e200, 1e200])
    np.testing.assert_array_equal(
        transform(np.linalg.det)(np.diag([1e200, 1.0, 1.0])), want if transform is ad.grad else 2e200
    )
