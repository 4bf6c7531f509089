"""Derivatives most of whose entries are 0, as sparse matrices: `ad.sparse.jacobian`, and where the entries are.

>>> import numpy as np, adjoint as ad
>>> ad.sparse.jacobian(lambda x: np.diff(x) ** 2)(np.array([0.0, 1.0, 3.0])).toarray()
array([[-2.,  2.,  0.],
       [ 0., -4.,  4.]])
"""

from .core.hints import missing
from .transforms.sparse.interface import hessian_sparsity, sparsity
from .transforms.sparse.interface import sparse_hessian as hessian
from .transforms.sparse.interface import sparse_jacobian as jacobian

__all__ = ["hessian", "hessian_sparsity", "jacobian", "sparsity"]

ELSEWHERE = {
    "sparse_jacobian": "ad.sparse.jacobian",
    "sparse_hessian": "ad.sparse.hessian",
    "jacobian_sparsity": "ad.sparse.sparsity",
}
"""Other names for what is here."""

__getattr__ = missing("adjoint.sparse", __all__, ELSEWHERE)


def __dir__() -> list[str]:
    return __all__
