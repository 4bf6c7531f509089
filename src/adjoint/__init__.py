"""Derivatives of plain NumPy code, in every mode.

>>> import numpy as np, adjoint as ad
>>> def f(x):
...     c = x**2 + np.exp(x**2)
...     return np.sqrt(c) + np.cos(c)
>>> round(ad.grad(f)(1.3), 6)
-9.144885
"""

from typing import Any

from . import numerical, numpy
from .core import errors
from .core.errors import AdjointError
from .transforms.checkpoint import checkpoint
from .transforms.custom import custom_rule
from .transforms.grad import grad, value_and_grad
from .transforms.jacobian import hessian, hvp, jacfwd, jacobian, jacrev
from .transforms.jit import jit
from .transforms.jvp import derivative, jvp, linearize
from .transforms.loops import cond, fori_loop, map, scan, while_loop
from .transforms.stop import stop_gradient, value
from .transforms.vjp import linear_transpose, vjp
from .transforms.vmap import vmap

__version__ = "0.1.0"

__all__ = [
    "AdjointError", "checkpoint", "cond", "custom_rule", "derivative", "errors", "fori_loop", "grad", "hessian",
    "hvp", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "linear_transpose", "linearize", "map", "numerical",
    "numpy", "scan", "stop_gradient", "testing", "value", "value_and_grad", "vjp", "vmap", "while_loop",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """`ad.testing`, imported when it is asked for: most programs never do."""
    if name == "testing":
        import importlib

        return importlib.import_module(".testing", __name__)
    raise AttributeError(f"module 'adjoint' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
