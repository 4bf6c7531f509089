"""Cases for the primitives of linear algebra and Fourier transforms."""

import numpy as np

from adjoint.numpy import functions
from adjoint.ops.declare import CATALOGUE
from adjoint.ops.linalg import matrix_equations, matrix_functions  # noqa: F401 - enters SciPy's functions of matrices
from adjoint.testing import Case

functions.load()
rng = np.random.default_rng(5)
STACK = rng.normal(size=(2, 3, 3))
COMPLEX = STACK + 1j * rng.normal(size=(2, 3, 3))
TALL = rng.normal(size=(4, 3))
RIGHT = rng.normal(size=(2, 3, 2))
SQUARE = rng.normal(size=(2, 2)) + 4.0 * np.eye(2)


def hermitian(x):
    """What the routines that read one triangle are differentiated for."""
    return (x + np.conjugate(np.swapaxes(x, -1, -2))) / 2


def positive(x):
    """A positive definite matrix."""
    return x @ np.conjugate(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-1])


def _cases(name, *points, before=None, **params):
    """The primitive at some points; `before` brings its first argument into form."""
    primitive = CATALOGUE[name]

    def function(x, *rest):
        return primitive(x if before is None else before(x), *rest, **params)

    return [Case(f"{name}, {k}" if k else name, function, p) for k, p in enumerate(points)]


CASES = {
    "solve": _cases("solve", (STACK, RIGHT), (COMPLEX, RIGHT), (STACK[0], RIGHT)),
    "inv": _cases("inv", (STACK,), (COMPLEX,)),
    "det": _cases("det", (STACK,), (COMPLEX,), (np.ones((3, 3)),)),
    "cofactors": _cases("cofactors", (STACK,), (COMPLEX,), (np.diag([1.0, 0.0, 0.0]),)),
    "slogdet": _cases("slogdet", (STACK,), (COMPLEX,)),
    "cholesky": _cases("cholesky", (STACK,), (COMPLEX,), before=positive),
    "pinv": [
        Case("pinv", lambda a: CATALOGUE["pinv"](a, 1e-6, hermitian=False), (TALL,)),
        Case("pinv, hermitian", lambda a: CATALOGUE["pinv"](hermitian(a), 1e-6, hermitian=True), (COMPLEX,)),
    ],
    "least_squares": _cases("least_squares", (TALL, rng.normal(size=(4, 2))), rcond=None),
    "eigh": _cases("eigh", (STACK,), (COMPLEX,), before=hermitian, UPLO="L"),
    "eig": _cases("eig", (STACK[0],), (COMPLEX,)),
    "qr": _cases("qr", (TALL,), (TALL.T,), (COMPLEX,), mode="reduced"),
    "svd": _cases("svd", (TALL,), (TALL.T,), (COMPLEX,), full_matrices=False),
    "expm": _cases("expm", (STACK,), (COMPLEX,)),
    "logm": _cases("logm", (STACK[0],), (COMPLEX[0],), before=positive),
    "sqrtm": _cases("sqrtm", (STACK[0],), (COMPLEX[0],), before=positive),
    "sylvester": _cases("sylvester", (STACK, SQUARE, RIGHT), (COMPLEX, SQUARE, RIGHT)),
    "triangular_solve": _cases("triangular_solve", (STACK, RIGHT), (COMPLEX, RIGHT), lower=True, unit=False),
    "fft": _cases("fft", (STACK,), (COMPLEX,), axes=(-3, -1), norm="ortho"),
    "ifft": _cases("ifft", (STACK,), (COMPLEX,), axes=(-1,), norm=None),
    "rfft": _cases("rfft", (STACK,), axis=-2, norm="forward"),
    "irfft": [
        *_cases("irfft", (COMPLEX,), n=4, axis=-1, norm=None),
        *_cases("irfft", (STACK,), n=5, axis=-2, norm="ortho"),
    ],
}
