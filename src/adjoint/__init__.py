"""Derivatives of plain NumPy code, in every mode.

>>> import numpy as np, adjoint as ad
>>> def f(x):
...     c = x**2 + np.exp(x**2)
...     return np.sqrt(c) + np.cos(c)
>>> round(ad.grad(f)(1.3), 6)
-9.144885
"""

from typing import TYPE_CHECKING, Any

from . import numpy
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
    from . import numerical, random, testing
    from .explanation.block import block
    from .explanation.explain import explain
    from .tools import debug, tree
    from .tools.associative import associative_scan
    from .tools.shapes import eval_shape
    from .transforms.jit import jit
    from .transforms.loops import cond, fori_loop, map, scan, switch, while_loop
    from .transforms.settings import clear_caches, disable_jit, set_cache, set_threads

__version__ = "0.1.0"

__all__ = [
    "AdjointError", "associative_scan", "block", "checkpoint", "clear_caches", "cond", "custom_rule", "debug",
    "derivative", "disable_jit", "errors", "eval_shape", "explain", "fori_loop", "grad", "hessian", "hvp", "jacfwd",
    "jacobian", "jacrev", "jit", "jvp", "linear_transpose", "linearize", "map", "numerical", "numpy", "random", "scan",
    "set_cache", "set_threads", "stop_gradient", "switch", "testing", "tree", "value", "value_and_grad", "vjp", "vmap",
    "while_loop",
]  # fmt: skip

LATER = {
    "debug": ".tools.debug",
    "numerical": ".numerical",
    "testing": ".testing",
    "tree": ".tools.tree",
    "random": ".random",
    "jit": ".transforms.jit",
    "block": ".explanation.block",
    "explain": ".explanation.explain",
    "associative_scan": ".tools.associative",
    "eval_shape": ".tools.shapes",
    **dict.fromkeys(("cond", "fori_loop", "map", "scan", "switch", "while_loop"), ".transforms.loops"),
    **dict.fromkeys(("clear_caches", "disable_jit", "set_cache", "set_threads"), ".transforms.settings"),
}
"""What is imported when it is first asked for, so that a program pays for what it uses."""


MODULES = frozenset(("debug", "numerical", "random", "testing", "tree"))
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
