"""What becomes of SciPy's integrals and differential equations on traced values, and `solve_ivp` by exact Jacobians."""

from . import boundary_value as boundary_value
from . import elementwise as elementwise
from . import initial_value as initial_value
from . import lsoda as lsoda
from . import nested as nested
from . import quadrature as quadrature
from . import refusals as refusals
from . import samples as samples
from . import sampling as sampling
from .bridge import solve_ivp

__all__ = ["solve_ivp"]


def __dir__() -> list[str]:
    return __all__
