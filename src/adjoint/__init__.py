"""Derivatives of plain NumPy code, in every mode.

>>> import numpy as np, adjoint as ad
>>> def f(x):
...     c = x**2 + np.exp(x**2)
...     return np.sqrt(c) + np.cos(c)
>>> round(ad.grad(f)(1.3), 6)
-9.144885
"""

from typing import TYPE_CHECKING, Any

from .core import errors
from .core.errors import AdjointError
from .transforms.grad import grad, value_and_grad

if TYPE_CHECKING:
    from . import arguments as arguments
    from . import data, losses, nn, numerical, numpy, optim, random, testing
    from . import learn as learn
    from .diagnosis.find import find_nan
    from .diagnosis.health import health
    from .explanation.block import block
    from .explanation.explain import explain
    from .tools import debug, tree
    from .tools.associative import associative_scan
    from .tools.shapes import eval_shape
    from .training.fit import Fit
    from .training.train import train
    from .transforms import implicit
    from .transforms.checkpoint import checkpoint
    from .transforms.curvature.convexity import is_convex_between
    from .transforms.curvature.diagonal import hessian_diagonal, laplacian
    from .transforms.curvature.fisher import fisher
    from .transforms.curvature.metric import gauss_newton, metric
    from .transforms.curvature.partial import partial
    from .transforms.curvature.per_sample import per_sample_grad
    from .transforms.curvature.points import classify
    from .transforms.custom import custom_rule
    from .transforms.jacobian import hessian, hvp, jacfwd, jacobian, jacrev
    from .transforms.jit.decorator import jit
    from .transforms.jvp import derivative, jvp, linearize
    from .transforms.loops.loops import cond, fori_loop, map, scan, switch, while_loop
    from .transforms.ode.odeint import odeint
    from .transforms.settings import clear_caches, disable_jit, set_cache, set_threads
    from .transforms.sparse.interface import hessian_sparsity, sparse_hessian, sparse_jacobian, sparsity
    from .transforms.stop import stop_gradient, value
    from .transforms.taylor.polynomial import taylor_polynomial
    from .transforms.taylor.taylor import taylor
    from .transforms.vjp import linear_transpose, vjp
    from .transforms.vmap import vmap

__version__ = "0.1.0"

__all__ = [
    "AdjointError", "Fit", "associative_scan", "block", "checkpoint", "classify", "clear_caches", "cond",
    "custom_rule", "data", "debug", "derivative", "disable_jit", "errors", "eval_shape", "explain", "find_nan",
    "fisher", "fori_loop", "gauss_newton", "grad", "health", "hessian", "hessian_diagonal", "hessian_sparsity",
    "hvp", "implicit", "is_convex_between", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "laplacian",
    "linear_transpose", "linearize", "losses", "map", "metric", "nn", "numerical", "numpy", "odeint", "optim",
    "partial", "per_sample_grad", "random", "scan", "set_cache", "set_threads", "sparse_hessian", "sparse_jacobian",
    "sparsity", "stop_gradient", "switch", "taylor", "taylor_polynomial", "testing", "train", "tree", "value",
    "value_and_grad", "vjp", "vmap", "while_loop",
]  # fmt: skip

LATER = {
    "arguments": ".arguments",
    "debug": ".tools.debug",
    "data": ".data",
    "learn": ".learn",
    "losses": ".losses",
    "nn": ".nn",
    "numerical": ".numerical",
    "numpy": ".numpy",
    "optim": ".optim",
    "testing": ".testing",
    "tree": ".tools.tree",
    "random": ".random",
    "implicit": ".transforms.implicit",
    "jit": ".transforms.jit.decorator",
    "block": ".explanation.block",
    "explain": ".explanation.explain",
    "associative_scan": ".tools.associative",
    "checkpoint": ".transforms.checkpoint",
    "custom_rule": ".transforms.custom",
    "eval_shape": ".tools.shapes",
    "Fit": ".training.fit",
    "train": ".training.train",
    "taylor": ".transforms.taylor.taylor",
    "taylor_polynomial": ".transforms.taylor.polynomial",
    "odeint": ".transforms.ode.odeint",
    "vmap": ".transforms.vmap",
    "classify": ".transforms.curvature.points",
    "find_nan": ".diagnosis.find",
    "fisher": ".transforms.curvature.fisher",
    "health": ".diagnosis.health",
    "is_convex_between": ".transforms.curvature.convexity",
    "partial": ".transforms.curvature.partial",
    "per_sample_grad": ".transforms.curvature.per_sample",
    **dict.fromkeys(("hessian_diagonal", "laplacian"), ".transforms.curvature.diagonal"),
    **dict.fromkeys(("gauss_newton", "metric"), ".transforms.curvature.metric"),
    **dict.fromkeys(("hessian", "hvp", "jacfwd", "jacobian", "jacrev"), ".transforms.jacobian"),
    **dict.fromkeys(("derivative", "jvp", "linearize"), ".transforms.jvp"),
    **dict.fromkeys(
        ("hessian_sparsity", "sparse_hessian", "sparse_jacobian", "sparsity"), ".transforms.sparse.interface"
    ),
    **dict.fromkeys(("stop_gradient", "value"), ".transforms.stop"),
    **dict.fromkeys(("linear_transpose", "vjp"), ".transforms.vjp"),
    **dict.fromkeys(("cond", "fori_loop", "map", "scan", "switch", "while_loop"), ".transforms.loops.loops"),
    **dict.fromkeys(("clear_caches", "disable_jit", "set_cache", "set_threads"), ".transforms.settings"),
}
"""What is imported when it is first asked for, so that a program pays for what it uses."""


MODULES = frozenset(
    (
        "arguments",
        "data",
        "debug",
        "implicit",
        "learn",
        "losses",
        "nn",
        "numerical",
        "numpy",
        "optim",
        "random",
        "testing",
        "tree",
    )
)
"""Those of them that are modules themselves."""


def __getattr__(name: str) -> Any:
    """A name that is imported later."""
    if name not in LATER:
        from .core.hints import hint

        raise AttributeError(f"module 'adjoint' has no attribute {name!r}{hint(name, __all__)}")
    import importlib

    module = importlib.import_module(LATER[name], __name__)
    found = module if name in MODULES else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
