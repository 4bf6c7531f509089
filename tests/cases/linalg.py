"""NumPy's linear algebra."""

import numpy as np

from adjoint.testing.laws import Case

rng = np.random.default_rng(1)

linalg = np.linalg

SQUARE = rng.normal(size=(4, 4))

STACK = rng.normal(size=(2, 3, 3))

TALL = rng.normal(size=(5, 3))

WIDE = rng.normal(size=(3, 5))

VECTOR = rng.normal(size=4)


def hermitian(x):
    return (x + np.conjugate(np.swapaxes(x, -1, -2))) / 2


def positive(x):
    return x @ np.conjugate(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-1])


def in_complex(x):
    return x + 1j * rng.normal(size=x.shape)


def both(name, function, *args):
    """The case with real and with complex arguments."""
    return [Case(name, function, args), Case(f"{name} complex", function, tuple([in_complex(a) for a in args]))]


CASES = [
    *both("solve, vector", linalg.solve, SQUARE, VECTOR),
    *both("solve, stacks", linalg.solve, STACK, rng.normal(size=(2, 3, 2))),
    *both("solve, one right-hand side", linalg.solve, STACK, rng.normal(size=(3, 2))),
    *both("solve, one matrix", linalg.solve, STACK[0], rng.normal(size=(2, 3, 2))),
    *both("inv", linalg.inv, STACK),
    *both("det", linalg.det, STACK),
    *both("det of one", linalg.det, SQUARE),
    *both("slogdet", lambda a: tuple(linalg.slogdet(a)), STACK),
    *both("slogdet of one", lambda a: linalg.slogdet(a).logabsdet, SQUARE),
    *both("cholesky", lambda a: linalg.cholesky(positive(a)), STACK),
    *both("cholesky upper", lambda a: linalg.cholesky(positive(a), upper=True), STACK),
    *both("pinv tall", linalg.pinv, TALL),
    *both("pinv wide", lambda a: linalg.pinv(a, rtol=1e-6), WIDE),
    *both("pinv of constant rank", lambda a, b: linalg.pinv(a @ b, 1e-5), TALL, WIDE),
    *both("pinv hermitian", lambda a: linalg.pinv(hermitian(a), hermitian=True), SQUARE),
    *both("eigh", lambda a: tuple(linalg.eigh(hermitian(a))), STACK),
    *both("eigh upper", lambda a: tuple(linalg.eigh(hermitian(a), "U")), SQUARE),
    *both("eigvalsh", lambda a: linalg.eigvalsh(hermitian(a), UPLO="U"), STACK),
    *both("eig", lambda a: tuple(linalg.eig(a)), SQUARE),
    *both("eigvals", linalg.eigvals, STACK),
    *both("qr", lambda a: tuple(linalg.qr(a)), SQUARE),
    *both("qr tall", lambda a: tuple(linalg.qr(a)), TALL),
    *both("qr wide", lambda a: tuple(linalg.qr(a)), WIDE),
    *both("qr stack", lambda a: tuple(linalg.qr(a)), rng.normal(size=(2, 4, 3))),
    *both("qr r", lambda a: linalg.qr(a, mode="r"), TALL),
    *both("qr complete wide", lambda a: tuple(linalg.qr(a, "complete")), WIDE),
    Case("qr complete, one more row", lambda a: tuple(linalg.qr(a, "complete")), (rng.normal(size=(4, 3)),)),
    *both("svd", lambda a: tuple(linalg.svd(a)), SQUARE),
    *both("svd tall", lambda a: tuple(linalg.svd(a, full_matrices=False)), TALL),
    *both("svd wide", lambda a: tuple(linalg.svd(a, False)), WIDE),
    *both("svd stack", lambda a: tuple(linalg.svd(a, False)), rng.normal(size=(2, 3, 4))),
    Case("svd full, one more row", lambda a: tuple(linalg.svd(a)), (rng.normal(size=(4, 3)),)),
    Case("svd full, one more column", lambda a: tuple(linalg.svd(a)), (rng.normal(size=(2, 3)),)),
    Case("svd hermitian", lambda a: tuple(linalg.svd(hermitian(a), hermitian=True)), (SQUARE,)),
    *both("singular values", lambda a: linalg.svd(a, compute_uv=False), TALL),
    *both("svdvals", linalg.svdvals, WIDE),
    *both("lstsq", lambda a, b: linalg.lstsq(a, b)[:2], TALL, rng.normal(size=(5, 2))),
    *both("lstsq wide", lambda a, b: linalg.lstsq(a, b)[0], WIDE, rng.normal(size=3)),
    *both("cond", linalg.cond, SQUARE),
    *both("cond -2", lambda a: linalg.cond(a, -2), STACK),
    *both("cond 1", lambda a: linalg.cond(a, 1), STACK),
    *both("cond fro", lambda a: linalg.cond(a, "fro"), STACK),
    *both("matrix_power 1", lambda a: linalg.matrix_power(a, 1), STACK),
    *both("matrix_power 3", lambda a: linalg.matrix_power(a, 3), STACK),
    *both("matrix_power -2", lambda a: linalg.matrix_power(a, -2), STACK),
    *both("multi_dot", lambda a, b, c: linalg.multi_dot([a, b, c]), TALL, WIDE, rng.normal(size=5)),
    *both("multi_dot of vectors", lambda a, b, c: linalg.multi_dot([a, b, c]), rng.normal(size=5), TALL, WIDE),
    *both("tensorsolve", linalg.tensorsolve, rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 3))),
    *both(
        "tensorsolve axes",
        lambda a, b: linalg.tensorsolve(a, b, axes=(0,)),
        rng.normal(size=(6, 2, 3)),
        rng.normal(size=(2, 3)),
    ),
    *both("tensorinv", lambda a: linalg.tensorinv(a, 1), rng.normal(size=(6, 2, 3))),
    *both("trace", linalg.trace, STACK),
    *both("diagonal", lambda a: linalg.diagonal(a, offset=1), STACK),
    *both("matrix_transpose", linalg.matrix_transpose, STACK),
    *both("outer", linalg.outer, VECTOR, rng.normal(size=3)),
    *both("vecdot", linalg.vecdot, TALL, rng.normal(size=3)),
    *both("cross", linalg.cross, TALL, rng.normal(size=3)),
    *[
        case
        for order in (None, 0, 1, 2, 3, 2.5, 0.5, -1, np.inf, -np.inf)
        for case in (
            Case(f"norm {order}", lambda x, order=order: linalg.norm(x, order), (VECTOR,)),
            Case(
                f"norm {order} along an axis",
                lambda x, order=order: linalg.norm(x, order, axis=0, keepdims=True),
                (in_complex(TALL),),
            ),
        )
    ],
    *[
        case
        for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
        for case in (
            Case(f"matrix norm {order}", lambda x, order=order: linalg.norm(x, order), (TALL,)),
            Case(
                f"matrix norm {order} along axes",
                lambda x, order=order: linalg.norm(x, order, axis=(2, 0), keepdims=True),
                (in_complex(rng.normal(size=(2, 3, 4))),),
            ),
        )
    ],
    *both("vector_norm", lambda x: linalg.vector_norm(x, axis=(0, 2), ord=3), STACK),
    *both("matrix_norm", lambda x: linalg.matrix_norm(x, ord="nuc", keepdims=True), STACK),
]
