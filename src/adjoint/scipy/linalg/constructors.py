"""What stands in for SciPy's special matrices, and the names that compute nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value
from ...numpy.patching.replacements import constant, refuses, replaces, runs_through
from ..patched_methods import plain

runs_through(
    "scipy.linalg", "cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm", "polar", "fiedler", "convolution_matrix",
    "khatri_rao", "diagsvd", "clarkson_woodruff_transform",
)  # fmt: skip
refuses(
    "scipy.linalg", "null_space",
    reason="its basis may be turned at will, so that its elements have no derivative",
    fix="Use the projection onto it,  np.eye(n) - np.linalg.pinv(A) @ A.",
)  # fmt: skip
constant("scipy.linalg", "bandwidth", "ishermitian", "issymmetric", note="an answer about the matrix")
constant(
    "scipy.linalg", "dft", "hadamard", "helmert", "hilbert", "invhilbert", "invpascal", "pascal", note="of its size"
)


@replaces("scipy.linalg", "companion")
def companion(a: Any) -> Any:
    """`scipy.linalg.companion`."""
    a = as_value(a)
    row = -a[1:] / (1.0 * a[0])
    n = shape_of(row)[0]
    return np.concatenate([row[None], np.eye(n, dtype=dtype_of(row))[:-1]])


@replaces("scipy.linalg", "leslie")
def leslie(f: Any, s: Any) -> Any:
    """`scipy.linalg.leslie`."""
    f, s = as_value(f), as_value(s)
    n = shape_of(f)[0]
    below = np.concatenate([np.diag(s), np.zeros((n - 1, 1), dtype_of(s))], 1)
    return np.concatenate([f[None], below])


@replaces("scipy.linalg", "fiedler_companion")
def fiedler_companion(a: Any) -> Any:
    """`scipy.linalg.fiedler_companion`."""
    a = as_value(a)
    if shape_of(a)[0] <= 2:
        return (-(a[1] / a[0]))[None, None] if shape_of(a)[0] == 2 else np.zeros((0, 0))
    a = a / a[0]
    n = shape_of(a)[0] - 1
    import scipy.linalg

    shape = scipy.linalg.fiedler_companion(np.arange(1, n + 2) * 1.0)  # says which coefficient is where
    places = np.where(shape < 0, np.round(-shape).astype(int) - 1, 0)
    ones = np.where(shape > 0, 1, 0).astype(dtype_of(a))
    return np.where(shape < 0, -a[places], ones)


@replaces("scipy.linalg", "get_blas_funcs", "get_lapack_funcs", "find_best_blas_type", calls_back=True)
def routines(original: Any, *args: Any, **kwargs: Any) -> Any:
    """`scipy.linalg.get_lapack_funcs` and its like: which routine there is for the types of these arrays."""
    arrays = [tuple([plain(x) for x in a]) if isinstance(a, (list, tuple)) else a for a in args]
    return original(*arrays, **{k: tuple([plain(x) for x in v]) if k == "arrays" else v for k, v in kwargs.items()})


refuses(
    "scipy.linalg", "hessenberg", "cossin", "ldl",
    reason="its factors are put together step by step from reflections or pivots that are not followed",
    fix="Use  np.linalg.qr,  scipy.linalg.lu,  cholesky  or  eigh,  which differentiate.",
)  # fmt: skip
refuses(
    "scipy.linalg", "qz", "ordqz", "rsf2csf", "cdf2rdf",
    reason="the blocks and phases of its factors are not unique",
    fix="Use  np.linalg.eig(np.linalg.solve(b, a)),  or  scipy.linalg.eigh(a, b)  for symmetric matrices.",
)  # fmt: skip
refuses(
    "scipy.linalg", "qr_delete", "qr_insert", "qr_update",
    reason="it rewrites factors in place",
    fix="Factorise the changed matrix again, with  scipy.linalg.qr.",
)  # fmt: skip
refuses(
    "scipy.linalg", "expm_cond",
    reason="it is the norm of a derivative that is not followed further",
    fix="Use  scipy.linalg.expm_frechet,  which differentiates.",
)  # fmt: skip
