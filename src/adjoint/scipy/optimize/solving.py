"""What SciPy's solvers have in common here: the run on plain values, the equation of its solution, the result."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...core.values import shape_of
from ...numpy.patching.replacements import replaces
from ...transforms.callbacks.plain import plain_function, plainly
from ...transforms.callbacks.solver import Callbacks
from ...transforms.implicit.rule import Solve, implicit_rule
from ...transforms.stop import stop_gradient

Given = dict[str, Any]
"""The arguments of a call by name."""
MODULE = "scipy.optimize"


@dataclass(frozen=True)
class Problem:
    """How a SciPy solver is seen.

    `found(raw, given)` takes the plain result apart: the solution first, then what the equation needs besides, and
    what the result is made of. `residual(x, others, given)` is 0 at the solution. `result(found, given)` puts the
    result together, with the traced solution in it. `check(given)` refuses what cannot be done.
    """

    found: Callable[[Any, Given], tuple[Any, ...]]
    residual: Callable[[Any, Any, Given], Any]
    result: Callable[[tuple[Any, ...], Given], Any]
    solve: Callable[[Given], Solve | None] = lambda given: None
    check: Callable[[Given], None] = lambda given: None


def teach(problem: Problem, *names: str, module: str = MODULE, note: str = "") -> None:
    """Let these functions of a module be solved as problems of a kind."""
    for name in names:
        replaces(module, name, calls_back=True, note=note)(functools.partial(_called, f"{module}.{name}", problem))


def _called(name: str, problem: Problem, original: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    signature = signature_of(name)
    try:
        given = dict(signature.bind(*args, **kwargs).arguments)
    except TypeError:
        return original(*args, **kwargs)  # says the same, by its name
    callbacks = Callbacks(given)
    if not callbacks.is_traced:
        return untraced(name, original, callbacks, signature)
    problem.check(given)

    def solve(plain: Given) -> tuple[Any, ...]:
        return problem.found(call(original, signature, looked_at(name, plain)), plain)

    rule = implicit_rule(name, callbacks, problem.residual, problem.solve(given))
    return problem.result(callbacks.solved(name, solve, rule), given)


def untraced(name: str, original: Callable[..., Any], callbacks: Callbacks, signature: inspect.Signature) -> Any:
    """What SciPy gives where nothing that is traced has a part in it."""
    (plain,) = callbacks.parts(callbacks.values, live=True)
    with plainly():
        return call(original, signature, looked_at(name, plain))


def looked_at(name: str, given: Given) -> Given:
    """The same arguments, with functions whose results are looked at."""
    is_called = {k: callable(v) and not isinstance(v, type) and k in CALLED for k, v in given.items()}
    return {k: plain_function(name, v) if is_called[k] else v for k, v in given.items()}


CALLED = (
    "f", "F", "fun", "func", "jac", "hess", "hessp", "fprime", "fprime2", "fhess", "fhess_p", "Dfun", "loss", "grad",
)  # fmt: skip
"""Arguments that are called back."""


def call(original: Callable[..., Any], signature: inspect.Signature, given: Given) -> Any:
    """Call a function with arguments by name."""
    bound = inspect.BoundArguments(signature, given)  # type: ignore[arg-type]
    return original(*bound.args, **bound.kwargs)


@functools.cache
def signature_of(name: str) -> inspect.Signature:
    """The parameters of a function, as SciPy documents them."""
    module, _, entry = name.rpartition(".")
    return inspect.signature(getattr(importlib.import_module(module or "scipy.optimize"), entry))


def pinned(value: Any, moving: Any) -> Any:
    """A value that SciPy found, with the derivative of what it stands for."""
    if not isinstance(moving, Traced):
        return value
    return value + np.reshape(moving - stop_gradient(moving), shape_of(value))


def as_tuple(args: Any) -> tuple[Any, ...]:
    """Extra arguments of a function: SciPy takes one that is no tuple as well."""
    return args if isinstance(args, tuple) else (args,)


def numbers_of(fields: Any) -> dict[str, Any]:
    """The fields of a result that are numbers, arrays and texts, as a plain dict; operators as arrays."""
    return {k: v for k, v in ((k, _plain_field(v)) for k, v in dict(fields).items()) if v is not None}


def _plain_field(x: Any) -> Any:
    if isinstance(x, (str, bool, int, float, complex, np.generic, np.ndarray)):
        return None if isinstance(x, np.ndarray) and x.dtype.kind not in "biufc" else x
    if hasattr(x, "toarray"):
        return x.toarray()
    if hasattr(x, "todense"):
        return np.asarray(x.todense())
    if isinstance(x, dict):
        return numbers_of(x)
    if isinstance(x, (list, tuple)):
        parts = [_plain_field(v) for v in x]
        return None if any([v is None for v in parts]) else type(x)(parts) if type(x) in (list, tuple) else parts
    return None


class LazyField:
    """A field of a result that is computed when somebody asks for it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


@functools.cache
def result_class() -> type:
    """SciPy's class of results, with fields that are computed when they are asked for."""
    from scipy.optimize import OptimizeResult

    class Result(OptimizeResult):  # type: ignore[misc]
        """A result of which some fields wait."""

        def __getitem__(self, name: str) -> Any:
            found: Any = dict.__getitem__(self, name)
            if isinstance(found, LazyField):
                found = found.make()
                dict.__setitem__(self, name, found)
            return found

        def get(self, name: str, default: Any = None) -> Any:
            return self[name] if name in self else default  # noqa: SIM401  (which would be itself)

        def values(self) -> Any:
            return [self[name] for name in self]

        def items(self) -> Any:
            return [(name, self[name]) for name in self]

    Result.__name__ = Result.__qualname__ = "OptimizeResult"
    return Result


def as_result(fields: Given, **traced: Any) -> Any:
    """An `OptimizeResult` with these fields, of which some are traced."""
    named: Iterable[tuple[str, Any]] = {**fields, **{k: v for k, v in traced.items() if k in fields}}.items()
    return result_class()(named)
