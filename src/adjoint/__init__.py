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
    from . import config, curvature, data, debug, losses, nn, numerical, numpy, optim, random, sparse, testing, typing
    from . import learn as learn
    from .explanation.block import block
    from .explanation.explain import explain
    from .tools import tree
    from .tools.associative import associative_scan
    from .tools.shapes import eval_shape
    from .training.fit import Fit
    from .training.train import train
    from .transforms import implicit
    from .transforms.checkpoint import checkpoint
    from .transforms.curvature.per_sample import per_sample_grad
    from .transforms.custom import custom_rule
    from .transforms.jacobian import hessian, hvp, jacfwd, jacobian, jacrev
    from .transforms.jit.decorator import jit
    from .transforms.jvp import derivative, jvp, linearize
    from .transforms.loops.loops import cond, fori_loop, map, scan, switch, while_loop
    from .transforms.ode.odeint import odeint
    from .transforms.stop import stop_gradient, value
    from .transforms.taylor.taylor import taylor
    from .transforms.vjp import linear_transpose, vjp
    from .transforms.vmap import vmap

__version__ = "0.1.0"

__all__ = [
    "AdjointError", "Fit", "associative_scan", "block", "checkpoint", "cond", "config", "curvature", "custom_rule",
    "data", "debug", "derivative", "errors", "eval_shape", "explain", "fori_loop", "grad", "hessian", "hvp", "implicit",
    "jacfwd", "jacobian", "jacrev", "jit", "jvp", "linear_transpose", "linearize", "losses", "map", "nn", "numerical",
    "numpy", "odeint", "optim", "per_sample_grad", "random", "scan", "sparse", "stop_gradient", "switch", "taylor",
    "testing", "train", "tree", "typing", "value", "value_and_grad", "vjp", "vmap", "while_loop",
]  # fmt: skip

LATER = {
    "arguments": ".arguments",
    "config": ".config",
    "curvature": ".curvature",
    "debug": ".debug",
    "data": ".data",
    "learn": ".learn",
    "losses": ".losses",
    "nn": ".nn",
    "numerical": ".numerical",
    "numpy": ".numpy",
    "optim": ".optim",
    "sparse": ".sparse",
    "testing": ".testing",
    "tree": ".tools.tree",
    "typing": ".typing",
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
    "odeint": ".transforms.ode.odeint",
    "vmap": ".transforms.vmap",
    "per_sample_grad": ".transforms.curvature.per_sample",
    **dict.fromkeys(("hessian", "hvp", "jacfwd", "jacobian", "jacrev"), ".transforms.jacobian"),
    **dict.fromkeys(("derivative", "jvp", "linearize"), ".transforms.jvp"),
    **dict.fromkeys(("stop_gradient", "value"), ".transforms.stop"),
    **dict.fromkeys(("linear_transpose", "vjp"), ".transforms.vjp"),
    **dict.fromkeys(("cond", "fori_loop", "map", "scan", "switch", "while_loop"), ".transforms.loops.loops"),
}
"""What is imported when it is first asked for, so that a program pays for what it uses."""


MODULES = frozenset((
    "arguments", "config", "curvature", "data", "debug", "implicit", "learn", "losses", "nn", "numerical", "numpy",
    "optim", "random", "sparse", "testing", "tree", "typing",
))  # fmt: skip
"""Those of them that are modules themselves."""


def __getattr__(name: str) -> Any:
    """A name that is imported later."""
    if name not in LATER:
        from .core.hints import MOVED, hint, warn_of_old_name

        if name in MOVED:
            warn_of_old_name(f"ad.{name}", f"ad.{MOVED[name]}")
            place, _, own = MOVED[name].partition(".")
            return globals().setdefault(name, getattr(__getattr__(place), own))
        raise AttributeError(f"module 'adjoint' has no attribute {name!r}{hint(name, __all__)}")
    import importlib

    module = importlib.import_module(LATER[name], __name__)
    found = module if name in MODULES else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
