"""Second and higher derivatives of functions of many numbers, and what follows from them: `ad.curvature.laplacian`.

>>> import numpy as np, adjoint as ad
>>> ad.curvature.laplacian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
np.float64(18.0)
"""

from .core.hints import missing
from .transforms.curvature.convexity import is_convex_between
from .transforms.curvature.diagonal import hessian_diagonal, laplacian
from .transforms.curvature.fisher import fisher
from .transforms.curvature.metric import gauss_newton, pullback_metric
from .transforms.curvature.partial_derivative import partial_derivative
from .transforms.curvature.points import classify
from .transforms.taylor.polynomial import taylor_polynomial

__all__ = [
    "classify", "fisher", "gauss_newton", "hessian_diagonal", "is_convex_between", "laplacian", "partial_derivative",
    "pullback_metric", "taylor_polynomial",
]  # fmt: skip

ELSEWHERE = {
    "hessian": "ad.hessian",
    "hvp": "ad.hvp",
    "metric": "ad.curvature.pullback_metric",
    "partial": "ad.curvature.partial_derivative",
}
"""Other names for what is here or close by."""

__getattr__ = missing("adjoint.curvature", __all__, ELSEWHERE)


def __dir__() -> list[str]:
    return __all__
