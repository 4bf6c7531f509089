"""The rest of `scipy.optimize`: differences, test functions, brackets, line searches, classes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...numpy.dispatch.arguments import as_value
from ...numpy.patching.replacements import replaces, runs_through
from ...rules.constant import Constant
from ...transforms.callbacks.solver import Callbacks
from ...transforms.jacobian import hessian, jacobian
from .solving import MODULE, call, looked_at, numbers_of, pinned, signature_of, untraced


@replaces(MODULE, "approx_fprime", calls_back=True, note="the value is SciPy's, its derivatives those of the function")
def approx_fprime(original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`scipy.optimize.approx_fprime`."""
    signature = signature_of("approx_fprime")
    given = dict(signature.bind(*args, **kwargs).arguments)
    callbacks = Callbacks(given)
    if not callbacks.is_traced:
        return untraced("scipy.optimize.approx_fprime", original, callbacks, signature)

    def solve(plain: dict[str, Any]) -> Any:
        return call(original, signature, looked_at("scipy.optimize.approx_fprime", plain))

    found = callbacks.solved("scipy.optimize.approx_fprime", solve, Constant())
    return pinned(found, jacobian(lambda x: given["f"](x, *given.get("args", ())))(np.asarray(given["xk"])))


@replaces(MODULE, "rosen_hess", in_parts=True)
def rosen_hess(x: Any) -> Any:
    """`scipy.optimize.rosen_hess`."""
    return hessian(_rosen)(as_value(x))


@replaces(MODULE, "rosen_hess_prod", in_parts=True)
def rosen_hess_prod(x: Any, p: Any) -> Any:
    """`scipy.optimize.rosen_hess_prod`."""
    return hessian(_rosen)(as_value(x)) @ as_value(p)


def _rosen(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def _diagnosed(name: str, original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """A call whose result has no derivative by its nature."""
    signature = signature_of(name)
    callbacks = Callbacks(dict(signature.bind(*args, **kwargs).arguments))
    if not callbacks.is_traced:
        return untraced(f"{MODULE}.{name}", original, callbacks, signature)

    def solve(plain: dict[str, Any]) -> Any:
        return numbers_of({"": call(original, signature, looked_at(f"{MODULE}.{name}", plain))})[""]

    return callbacks.solved(f"{MODULE}.{name}", solve, Constant())


def _refused(name: str, original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    signature = signature_of(name)
    callbacks = Callbacks(dict(signature.bind(*args, **kwargs).arguments))
    if callbacks.is_traced:
        raise UnsupportedError(
            message(
                f"scipy.optimize.{name} is not differentiated: the step that it finds jumps with the values.",
                fix="Take a step of a fixed length, or search with plain values:  ad.value(x).",
            )
        )
    return untraced(f"{MODULE}.{name}", original, callbacks, signature)


for _name, _note in (
    ("check_grad", "an error estimate: nothing flows"),
    ("bracket", "a bracket is a starting point: nothing flows"),
):
    replaces(MODULE, _name, calls_back=True, note=_note)(functools.partial(_diagnosed, _name))
replaces(MODULE, "line_search", calls_back=True, note="refused: the step that it finds jumps with the values")(
    functools.partial(_refused, "line_search")
)
runs_through(MODULE, "rosen", "rosen_der")
runs_through(MODULE, "Bounds", "LinearConstraint", "NonlinearConstraint", note="may hold traced values")
runs_through(MODULE, "OptimizeResult", "RootResults", note="may hold traced values")
runs_through(
    MODULE, "BFGS", "SR1", "HessianUpdateStrategy", "BroydenFirst", "InverseJacobian", "KrylovJacobian",
    "LbfgsInvHessProduct",
    note="strategies of solvers, which see plain values",
)  # fmt: skip
runs_through(MODULE, "show_options", "linprog_verbose_callback", note="prints, and has no numbers to give")
