"""What becomes of the names of `scipy.sparse` that compute nothing with traced elements."""

from __future__ import annotations

from typing import Any

from ...numpy.patching.replacements import constant, refuses, replaces, runs_through
from .matrices import is_ours

FORMS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
CLASSES = [f"{form}_{kind}" for form in FORMS for kind in ("array", "matrix")]

runs_through("scipy.sparse", *CLASSES, note="of traced elements, at places that are constant; two axes")
runs_through("scipy.sparse", "sparray", "spmatrix", note="classes that others are derived from")
constant("scipy.sparse", "eye", "eye_array", "identity", note="of numbers of rows")
constant("scipy.sparse", "rand", "random", "random_array", note="of sizes and densities")
constant("scipy.sparse", "get_index_dtype", "safely_cast_index_arrays", note="of indices")
runs_through(
    "scipy.sparse", "issparse", "isspmatrix", *[f"isspmatrix_{form}" for form in FORMS],
    note="true of matrices with traced elements too",
)  # fmt: skip
refuses(
    "scipy.sparse", "load_npz", "save_npz",
    reason="a file has no derivative",
    fix="Read and write files outside the function.",
)  # fmt: skip
refuses(
    "scipy.sparse", "expand_dims",
    reason="sparse matrices with traced elements have two axes",
    fix="Use  A.toarray()[None].",
)  # fmt: skip
refuses(
    "scipy.sparse", "matrix_transpose",
    reason="sparse matrices with traced elements have two axes",
    fix="Use  A.T.",
)  # fmt: skip

runs_through("scipy.sparse.linalg", "LinearOperator", "aslinearoperator", note="products of traced vectors")
runs_through("scipy.sparse.linalg", "LaplacianNd", note="its products; the matrix is constant")
runs_through("scipy.sparse.linalg", "SuperLU", note="what `splu` gives inside the function solves for traced values")
constant("scipy.sparse.linalg", "use_solver", note="a setting")


@replaces("scipy.sparse.linalg", "is_sptriangular", "spbandwidth", calls_back=True, note="of the pattern")
def of_pattern(original: Any, A: Any) -> Any:
    """`scipy.sparse.linalg.is_sptriangular`, `scipy.sparse.linalg.spbandwidth`."""
    import numpy as np

    return original(A._pattern.matrix(np.ones(A.nnz)) if is_ours(A) else A)
