"""What of `scipy.integrate` has no derivative: classes that are stepped by hand, refused where they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.errors import UnsupportedError, message
from ...core.traced import is_differentiated
from ...numpy.patching.replacements import REPLACEMENTS, Answer
from ...transforms.callbacks.reach import Reach
from .calling import SCIPY


def _class_without_derivative(name: str, reason: str, fix: str) -> None:
    """Let a class be made of plain values; one that a traced value is behind, in a closure too, is refused."""

    def made(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if any([is_differentiated(x) for x in Reach((args[1:], kwargs)).handles]):
            kind = type(args[0]).__name__  # may be one that is made from this
            raise UnsupportedError(message(f"{SCIPY}.{kind} is not differentiated: {reason}.", fix=fix))
        return original(*args, **kwargs)

    REPLACEMENTS.setdefault(SCIPY, {})[name] = Answer("refused", made, calls_back=True, note=reason, fix=fix)


STEPPED = "a solver that is stepped by hand keeps its state in plain arrays"
for _name in ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"):
    _class_without_derivative(_name, STEPPED, f'Use  scipy.integrate.solve_ivp(..., method="{_name}"),  or  ad.odeint.')
for _name in ("OdeSolver", "ode", "complex_ode"):
    _class_without_derivative(_name, STEPPED, "Use  scipy.integrate.solve_ivp  or  ad.odeint.")
for _name in ("DenseOutput", "OdeSolution"):
    _class_without_derivative(
        _name,
        "it interpolates plain arrays",
        "Use  scipy.integrate.solve_ivp(..., dense_output=True).sol,  which is traced if the solution is.",
    )
