"""What becomes of SciPy's solvers and optimisers on traced values, and those of them that take exact derivatives."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import fits as fits
from . import linear as linear
from . import minimisers as minimisers
from . import others as others
from . import roots as roots

if TYPE_CHECKING:
    from .bridges.equations import least_squares, root
    from .bridges.minimize import minimize

__all__ = ["least_squares", "minimize", "root"]

LATER = {"least_squares": ".bridges.equations", "minimize": ".bridges.minimize", "root": ".bridges.equations"}
"""What is imported when it is first asked for: every derivative imports this module, once SciPy's is there."""


def __getattr__(name: str) -> Any:
    """A name that is imported later."""
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(LATER[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
