"""NumPy's functions that have no derivative: piecewise constant ones, and questions about arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np

CONSTANT: dict[str, Callable[..., Any]] = {
    "argpartition": lambda x: np.argpartition(x, 2),
    "lexsort": lambda x: np.lexsort((x, np.round(x))),
    "searchsorted": lambda x: np.searchsorted(np.sort(x), x),
    "searchsorted sorter": lambda x: np.searchsorted(x, 0.5, side="right", sorter=np.argsort(x)),
    "digitize": lambda x: np.digitize(x, [-1.0, 0.0, 1.0]),
    "count_nonzero": lambda x: np.count_nonzero(x > 0),
    "isin": lambda x: np.isin(x, [2.1, 0.3]),
    "isclose": lambda x: np.isclose(x, [0.7, 0.0, 2.1 + 1e-9, np.inf, np.nan]),
    "isreal": np.isreal,
    "iscomplex": np.iscomplex,
    "unravel_index": lambda x: np.unravel_index(np.argmax(x), (1, 5))[1],
    "ravel_multi_index": lambda x: np.ravel_multi_index((np.argmax(x), np.argmin(x)), (5, 5)),
    "array_equal": lambda x: np.array_equal(x, x * 1),
    "array_equiv": lambda x: np.array_equiv(x, np.ones((2, 5))),
    "allclose": lambda x: np.allclose(x, x + 1e-12),
    "count_nonzero of floats": np.count_nonzero,
    "around": lambda x: np.around(x, 1),
    "all": lambda x: np.all(x > -5.0),
    "any": lambda x: np.any(x > 1.0),
    "argmax": np.argmax,
    "argmin": np.argmin,
    "nanargmax": np.nanargmax,
    "nanargmin": np.nanargmin,
    "isposinf": np.isposinf,
    "isneginf": np.isneginf,
    "matrix_rank": lambda x: np.linalg.matrix_rank(np.outer(x, x)),
}

QUESTIONS: dict[str, Callable[..., Any]] = {
    "shape": np.shape,
    "ndim": np.ndim,
    "size": lambda x: (np.size(x), np.size(x, 0)),
    "result_type": lambda x: np.result_type(x, np.float32),
    "min_scalar_type": lambda x: np.min_scalar_type(x),
    "can_cast": lambda x: np.can_cast(x.dtype, np.float32),
    "common_type": lambda x: np.common_type(x, np.ones(2, np.float32)),
    "isrealobj": np.isrealobj,
    "iscomplexobj": np.iscomplexobj,
    "isscalar": np.isscalar,
    "array_repr": np.array_repr,
    "array_str": np.array_str,
    "array2string": lambda x: np.array2string(x, precision=2),
    "may_share_memory": lambda x: np.may_share_memory(x, x[1:]),
    "shares_memory": lambda x: np.shares_memory(x, x.copy() + 1),
    "einsum_path": lambda x: np.einsum_path("i,i->", x, x)[0],
    "broadcast_shapes": lambda x: np.broadcast_shapes(x.shape, (3, 1)),
    "tril_indices_from": lambda x: np.tril_indices_from(np.diag(x))[0].tolist(),
    "triu_indices_from": lambda x: np.triu_indices_from(np.diag(x), 1)[0].tolist(),
    "diag_indices_from": lambda x: np.diag_indices_from(np.diag(x))[0].tolist(),
    "flatnonzero of floats": lambda x: np.flatnonzero(x).tolist(),
    "can_cast array": lambda x: np.can_cast(x, np.float32),
    "flatnonzero": lambda x: np.flatnonzero(x > 0).tolist(),
    "nonzero": lambda x: np.nonzero(x)[0].tolist(),
    "argwhere": lambda x: np.argwhere(x > 0).tolist(),
}
