"""Derivatives of plain NumPy code, in every mode.

>>> import numpy as np, adjoint as ad
>>> def f(x):
...     c = x**2 + np.exp(x**2)
...     return np.sqrt(c) + np.cos(c)
>>> round(ad.grad(f)(1.3), 6)
-9.144885
"""

from typing import TYPE_CHECKING, Any

from . import numerical, numpy
from .core import errors
from .core.errors import AdjointError
from .transforms.checkpoint import checkpoint
from .transforms.custom import custom_rule
from .transforms.grad import grad, value_and_grad
from .transforms.jacobian import hessian, hvp, jacfwd, jacobian, jacrev
from .transforms.jvp import derivative, jvp, linearize
from .transforms.stop import stop_gradient, value
from .transforms.vjp import linear_transpose, vjp
from .transforms.vmap import vmap

if TYPE_CHECKING:
    from . import random, testing
    from .explanation.block import block
    from .explanation.explain import explain
    from .transforms.jit import jit
    from .transforms.loops import cond, fori_loop, map, scan, while_loop
    from .transforms.settings import set_cache, set_threads

__version__ = "0.1.0"

__all__ = [
    "AdjointError", "block", "checkpoint", "cond", "custom_rule", "derivative", "errors", "explain", "fori_loop",
    "grad", "hessian", "hvp", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "linear_transpose", "linearize", "map",
    "numerical", "numpy", "random", "scan", "set_cache", "set_threads", "stop_gradient", "testing", "value",
    "value_and_grad", "vjp", "vmap", "while_loop",
]  # fmt: skip

LATER = {
    "testing": ".testing",
    "random": ".random",
    "jit": ".transforms.jit",
    "set_cache": ".transforms.settings",
    "set_threads": ".transforms.settings",
    "block": ".explanation.block",
    "explain": ".explanation.explain",
    **dict.fromkeys(("cond", "fori_loop", "map", "scan", "while_loop"), ".transforms.loops"),
}
"""What is imported when it is first asked for, so that a program pays for what it uses."""


def __getattr__(name: str) -> Any:
    """A name that is imported later."""
    if name not in LATER:
        raise AttributeError(f"module 'adjoint' has no attribute {name!r}")
    import importlib

    module = importlib.import_module(LATER[name], __name__)
    found = module if name in ("testing", "random") else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
