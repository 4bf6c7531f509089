"""Sparse matrices with traced elements: everything agrees with the dense matrix, in every mode."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

import adjoint as ad
from adjoint.core.errors import UnsupportedError
from adjoint.testing.laws import LAWS, Case

rng = np.random.default_rng(5)
N = 5
PLAIN = sparse.random(N, N, 0.4, random_state=1, format="csr")
PLAIN = (PLAIN + PLAIN.T + 4 * sparse.eye(N)).tocsr()
ROWS, COLUMNS = PLAIN.tocoo().coords
D, B = PLAIN.data.copy(), rng.normal(size=N)
TABLE = rng.normal(size=(N, 2))


def dense(d):
    matrix = np.zeros((N, N))
    matrix[ROWS, COLUMNS] = d
    return matrix


def csr(d):
    return sparse.csr_array((d, PLAIN.indices, PLAIN.indptr), shape=(N, N))


def old(d):
    return sparse.csr_matrix((d, PLAIN.indices, PLAIN.indptr), shape=(N, N))


def filled(b):
    a = sparse.lil_array((N, N))
    for i in range(N):
        a[i, i] = b[i] ** 2
    a[0, 1:] = b[1:]
    return a.tocsr() @ B


def symmetric(make):
    return lambda d: make(d) + make(d).T


CASES = {
    "A @ x": (lambda d, b: csr(d) @ b, lambda d, b: dense(d) @ b),
    "x @ A": (lambda d, b: b @ csr(d), lambda d, b: b @ dense(d)),
    "A.T @ x": (lambda d, b: csr(d).T @ b, lambda d, b: dense(d).T @ b),
    "A.dot": (lambda d, b: old(d).dot(b), lambda d, b: dense(d) @ b),
    "A * x of matrices": (lambda d, b: old(d) * b, lambda d, b: dense(d) @ b),
    "A @ table": (lambda d: csr(d) @ TABLE, lambda d: dense(d) @ TABLE),
    "table @ A": (lambda d: TABLE.T @ csr(d), lambda d: TABLE.T @ dense(d)),
    "A @ A": (lambda d: (csr(d) @ csr(d)).toarray(), lambda d: dense(d) @ dense(d)),
    "plain @ A": (lambda d: (PLAIN @ old(d)).toarray(), lambda d: PLAIN.toarray() @ dense(d)),
    "A @ plain": (lambda d: (csr(d) @ PLAIN.tocsc()).toarray(), lambda d: dense(d) @ PLAIN.toarray()),
    "A + plain": (lambda d: (csr(d) + sparse.eye_array(N)).toarray(), lambda d: dense(d) + np.eye(N)),
    "plain - A": (lambda d: (sparse.eye_array(N) - csr(d)).toarray(), lambda d: np.eye(N) - dense(d)),
    "A - A.T": (lambda d: (csr(d) - 2 * csr(d).T).toarray(), lambda d: dense(d) - 2 * dense(d).T),
    "A + dense": (lambda d: csr(d) + np.ones((N, N)), lambda d: dense(d) + 1.0),
    "x * plain": (lambda b: (b[0] * PLAIN / b[1]).toarray(), lambda b: b[0] * PLAIN.toarray() / b[1]),
    "multiply": (lambda d, b: csr(d).multiply(b).toarray(), lambda d, b: dense(d) * b),
    "multiply sparse": (lambda d: csr(d).multiply(PLAIN).toarray(), lambda d: dense(d) * PLAIN.toarray()),
    "plain.multiply": (lambda b: PLAIN.multiply(b[:, None]).toarray(), lambda b: PLAIN.toarray() * b[:, None]),
    "dense + plain": (lambda b: np.outer(b, b) + PLAIN, lambda b: np.outer(b, b) + PLAIN.toarray()),
    "sum": (
        lambda d: csr(d).sum() + csr(d).sum(axis=0) * csr(d).mean(axis=1),
        lambda d: dense(d).sum() + dense(d).sum(0) * dense(d).mean(1),
    ),
    "diagonal": (
        lambda d: csr(d).diagonal(1) * csr(d).trace(),
        lambda d: np.diagonal(dense(d), 1) * np.trace(dense(d)),
    ),
    "part": (lambda d: csr(d)[1:4, [0, 2]].toarray(), lambda d: dense(d)[1:4][:, [0, 2]]),
    "element": (lambda d: csr(d)[1, 1] + csr(d)[[0, 1], [2, 1]], lambda d: dense(d)[1, 1] + dense(d)[[0, 1], [2, 1]]),
    "power": (lambda d: (csr(d).power(2) - abs(csr(d))).toarray(), lambda d: dense(d) ** 2 - np.abs(dense(d))),
    "csc": (
        lambda d, b: sparse.csc_array((d, PLAIN.indices, PLAIN.indptr), shape=(N, N)) @ b,
        lambda d, b: dense(d).T @ b,
    ),
    "coo with duplicates": (
        lambda d, b: sparse.coo_array((d, (ROWS // 2, COLUMNS)), shape=(N, N)).tocsr() @ b,
        lambda d, b: sum([dense(d)[i] @ b * np.eye(N)[i // 2] for i in range(N)]),
    ),
    "dense as sparse": (lambda b: sparse.csr_array(np.outer(b, b)) @ B, lambda b: np.outer(b, b) @ B),
    "diags": (
        lambda b: sparse.diags([b, b[:-1], 2.0], [0, 1, -1], shape=(N, N)) @ B,
        lambda b: (np.diag(b) + np.diag(b[:-1], 1) + np.diag(np.full(N - 1, 2.0), -1)) @ B,
    ),
    "diags_array": (lambda b: sparse.diags_array(b, offsets=1) @ np.ones(N + 1), lambda b: np.concatenate([b, [0.0]])),
    "spdiags": (lambda b: sparse.spdiags(b[None], 1, N, N) @ B, lambda b: np.diag(b[1:], 1) @ B),
    "dia_array": (lambda b: sparse.dia_array((b[None], [1]), shape=(N, N)) @ B, lambda b: np.diag(b[1:], 1) @ B),
    "kron": (
        lambda b: sparse.kron(sparse.diags(b), PLAIN).sum(axis=1),
        lambda b: np.kron(np.diag(b), PLAIN.toarray()).sum(1)[:, None],
    ),
    "kronsum": (
        lambda d: sparse.kronsum(csr(d), PLAIN).diagonal(),
        lambda d: np.diagonal(np.kron(np.eye(N), dense(d)) + np.kron(PLAIN.toarray(), np.eye(N))),
    ),
    "hstack": (
        lambda d, b: sparse.hstack([PLAIN, csr(d)]) @ np.concatenate([b, b]),
        lambda d, b: PLAIN @ b + dense(d) @ b,
    ),
    "vstack": (lambda d, b: sparse.vstack([csr(d), PLAIN]) @ b, lambda d, b: np.concatenate([dense(d) @ b, PLAIN @ b])),
    "bmat": (
        lambda d, b: sparse.bmat([[None, csr(d)], [PLAIN, None]]) @ np.concatenate([b, b]),
        lambda d, b: np.concatenate([dense(d) @ b, PLAIN @ b]),
    ),
    "block_array": (
        lambda d, b: sparse.block_array([[csr(d), csr(d)]]) @ np.concatenate([b, b]),
        lambda d, b: 2 * dense(d) @ b,
    ),
    "block_diag": (
        lambda d, b: sparse.block_diag([csr(d), PLAIN]) @ np.concatenate([b, b]),
        lambda d, b: np.concatenate([dense(d) @ b, PLAIN @ b]),
    ),
    "tril, triu": (
        lambda d, b: sparse.tril(csr(d)) @ b + sparse.triu(csr(d), 1) @ B,
        lambda d, b: np.tril(dense(d)) @ b + np.triu(dense(d), 1) @ B,
    ),
    "find": (lambda d: sparse.find(csr(d))[2], lambda d: d),
    "permute_dims": (
        lambda d, b: sparse.permute_dims(csr(d), (1, 0)) @ b + sparse.swapaxes(csr(d), 0, 1) @ b,
        lambda d, b: 2 * dense(d).T @ b,
    ),
    "lil filled": (filled, lambda b: b**2 * B + np.eye(N)[0] * (b[1:] @ B[1:])),
    "spsolve": (lambda d, b: linalg.spsolve(csr(d), b), lambda d, b: np.linalg.solve(dense(d), b)),
    "spsolve table": (lambda d: linalg.spsolve(csr(d), TABLE), lambda d: np.linalg.solve(dense(d), TABLE)),
    "spsolve plain": (lambda b: linalg.spsolve(PLAIN, b), lambda b: np.linalg.solve(PLAIN.toarray(), b)),
    "splu": (lambda d, b: linalg.splu(csr(d).tocsc()).solve(b, "T"), lambda d, b: np.linalg.solve(dense(d).T, b)),
    "factorized": (lambda b: linalg.factorized(PLAIN.tocsc())(b), lambda b: np.linalg.solve(PLAIN.toarray(), b)),
    "spsolve_triangular": (
        lambda d, b: linalg.spsolve_triangular(sparse.tril(csr(d)).tocsr(), b),
        lambda d, b: np.linalg.solve(np.tril(dense(d)), b),
    ),
    "inv": (lambda d: linalg.inv(csr(d).tocsc()).toarray(), lambda d: np.linalg.inv(dense(d))),
    "norm": (
        lambda d: linalg.norm(csr(d)) + linalg.norm(csr(d), 1),
        lambda d: np.linalg.norm(dense(d)) + np.linalg.norm(dense(d), 1),
    ),
    "matrix_power": (lambda d: linalg.matrix_power(csr(d), 3).toarray(), lambda d: np.linalg.matrix_power(dense(d), 3)),
    "expm": (lambda d: linalg.expm(csr(d) / 4).toarray(), lambda d: scipy.linalg.expm(dense(d) / 4)),
    "expm_multiply": (lambda b: linalg.expm_multiply(PLAIN, b), lambda b: scipy.linalg.expm(PLAIN.toarray()) @ b),
    "expm_multiply A": (
        lambda d, b: linalg.expm_multiply(csr(d) / 4, b),
        lambda d, b: scipy.linalg.expm(dense(d) / 4) @ b,
    ),
    "LinearOperator": (
        lambda b: linalg.LinearOperator((N, N), matvec=lambda v: b[0] * (PLAIN @ v)) @ b,
        lambda b: b[0] * (PLAIN @ b),
    ),
    "aslinearoperator": (lambda d, b: linalg.aslinearoperator(csr(d)).matvec(b), lambda d, b: dense(d) @ b),
    **{
        name: (
            lambda d, b, solver=getattr(linalg, name): solver(symmetric(csr)(d), b, rtol=1e-12)[0],
            lambda d, b: np.linalg.solve(symmetric(dense)(d), b),
        )
        for name in ("bicg", "bicgstab", "cg", "cgs", "gmres", "gcrotmk", "lgmres", "minres", "qmr", "tfqmr")
    },
    "cg operator": (
        lambda b: linalg.cg(linalg.aslinearoperator(PLAIN), b, rtol=1e-12)[0],
        lambda b: np.linalg.solve(PLAIN.toarray(), b),
    ),
    **{
        name: (
            lambda d, b, solver=getattr(linalg, name): solver(csr(d)[:, :3], b, 0.1, 1e-14, 1e-14)[0],
            lambda d, b: np.linalg.solve(dense(d)[:, :3].T @ dense(d)[:, :3] + 0.01 * np.eye(3), dense(d)[:, :3].T @ b),
        )
        for name in ("lsqr", "lsmr")
    },
    "eigsh": (lambda d: linalg.eigsh(symmetric(csr)(d), 2)[0], lambda d: np.linalg.eigvalsh(symmetric(dense)(d))[-2:]),
    "eigsh vectors": (
        lambda d: linalg.eigsh(symmetric(csr)(d), 2)[1] ** 2,
        lambda d: np.linalg.eigh(symmetric(dense)(d))[1][:, -2:] ** 2,
    ),
    "eigsh from a vector": (
        lambda d: (
            linalg.eigsh(symmetric(csr)(d), 2, v0=np.ones(N))[0] * linalg.eigsh(symmetric(csr)(d), 2, v0=d[:N])[0]
        ),
        lambda d: np.linalg.eigvalsh(symmetric(dense)(d))[-2:] ** 2,
    ),
    "lobpcg": (
        lambda d: linalg.lobpcg(symmetric(csr)(d), np.eye(N)[:, :1] + 0.1, tol=1e-12, maxiter=100)[0],
        lambda d: np.linalg.eigvalsh(symmetric(dense)(d))[-1:],
    ),
    "svds": (lambda d: linalg.svds(csr(d), 2)[1], lambda d: np.linalg.svd(dense(d))[1][1::-1]),
    "svds from a vector": (
        lambda d: linalg.svds(csr(d), 1, v0=np.ones(N))[1],
        lambda d: np.linalg.svd(dense(d))[1][:1],
    ),
    "svds vectors": (lambda d: linalg.svds(csr(d), 2)[2] ** 2, lambda d: np.linalg.svd(dense(d))[2][1::-1] ** 2),
}


@pytest.mark.filterwarnings("ignore:Exited:UserWarning", "ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("name", CASES)
def test_as_dense(name):
    """Value, both modes, second order, batches and recordings are those of the dense computation."""
    ours, same = CASES[name]
    names = ours.__code__.co_varnames[: ours.__code__.co_argcount]
    args = tuple([{"d": D, "b": B}[k] for k in names if k in "db"])
    f, g = (lambda *a, function=h: np.sum(np.sin(function(*a))) for h in (ours, same))
    numbers, tol = tuple(range(len(args))), {"rtol": 1e-7, "atol": 1e-7}
    np.testing.assert_allclose(np.ravel(ours(*args)), np.ravel(same(*args)), rtol=1e-8, atol=1e-9)
    direction = tuple([np.cos(np.arange(len(a)) + 1.0) for a in args])
    np.testing.assert_allclose(ad.jvp(f, args, direction)[1], ad.jvp(g, args, direction)[1], **tol)
    batch = [np.stack([a, 1.02 * a]) for a in args]
    np.testing.assert_allclose(ad.vmap(f)(*batch), ad.vmap(g)(*batch), **tol)
    want = ad.grad(g, numbers)(*args)
    jitted = ad.jit(ad.grad(f, numbers))
    for found in (ad.grad(f, numbers)(*args), jitted(*args), jitted(*args)):
        for x, y in zip(found, want, strict=True):
            np.testing.assert_allclose(x, y, **tol)
    second = [ad.jvp(lambda *a, h=h: ad.grad(h, numbers)(*a), args, direction)[1] for h in (f, g)]
    for x, y in zip(*second, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("law", LAWS)
def test_laws_of_solutions(law):
    """The laws hold of the primitives: products and solutions on a pattern."""
    if law != "precision":  # SuperLU's numbers are double
        LAWS[law](Case("solution", lambda d, b: csr(d) @ linalg.spsolve(csr(d), np.sin(b)), (D, B)))


def test_what_is_refused():
    """By the name of what was asked for, with what to write instead."""
    with pytest.raises(UnsupportedError, match="has no  argmax"):
        ad.grad(lambda d: csr(d).argmax())(D)
    with pytest.raises(UnsupportedError, match=r"scipy.sparse.linalg.eigs is not differentiated(.|\n)*np.linalg.eig"):
        ad.grad(lambda d: np.sum(linalg.eigs(dense(d), 1)[0].real))(D)
    with pytest.raises(UnsupportedError, match="linear_solve"):
        ad.grad(lambda b: linalg.cg(linalg.LinearOperator((N, N), matvec=lambda v: b * v), B)[0].sum())(B)


def test_is_sparse_as_scipy_says():
    """Of our matrices `issparse` and `isinstance` are true, and attributes are those of SciPy's."""

    def f(d):
        a = csr(d)
        assert sparse.issparse(a)
        assert isinstance(a, sparse.csr_array)
        assert (a.shape, a.nnz, a.format) == ((N, N), len(D), "csr")
        np.testing.assert_array_equal(a.tocsc().indptr, PLAIN.tocsc().indptr)
        np.testing.assert_array_equal(a.indices, PLAIN.indices)
        return np.sum(a.tocsc().data ** 2)

    np.testing.assert_allclose(ad.grad(f)(D), 2 * D)
