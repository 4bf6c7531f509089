"""The value of an expression, step by step with NumPy; on traced values this is what is differentiated."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import adjoint as ad

from .errors import FAILURE, CommandError
from .expression import NumberStep, Operation, ParsedExpression, VariableStep


def function_of(expression: ParsedExpression, names: Sequence[str]) -> Callable[..., Any]:
    """The expression as a function of the variables `names`, in that order.

    Examples
    --------
    >>> import adjoint as ad
    >>> from adjoint.cli.expression import parse
    >>> ad.grad(function_of(parse("x**2 * y", ["x", "y"]), ["x", "y"]))(3.0, 5.0)
    30.0
    """

    def f(*values: Any) -> Any:
        return evaluate(expression, dict(zip(names, values, strict=True)))

    f.__qualname__ = "f"  # a function of the user's, not one that another was made of
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    f.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return f


def evaluate(expression: ParsedExpression, variables: Mapping[str, Any]) -> Any:
    """The value of an expression where its variables have these values.

    Raises
    ------
    CommandError
        If a step cannot be computed, for example because shapes do not fit; it points at the step.
    """
    values: list[Any] = []
    with np.errstate(all="ignore"):  # what is not finite is shown, and `first_not_finite` says where it began
        for step in expression.steps:
            values.append(_value(expression, step, values, variables))
    return values[-1]


def first_not_finite(expression: ParsedExpression, variables: Mapping[str, Any]) -> CommandError | None:
    """Which step made the result infinite or nan, if it is: the first whose operands are all finite."""
    values: list[Any] = []
    found: CommandError | None = None
    with np.errstate(all="ignore"):
        for step in expression.steps:
            value = _value(expression, step, values, variables)
            values.append(value)
            if found is not None or not isinstance(step, Operation) or _finite(value):
                continue
            if all(_finite(values[place]) for place in step.operands):
                what = "is nan" if np.any(np.isnan(value)) else "is infinite"
                found = CommandError(f"{step.name} {what} here", text=expression.text, column=step.column)
    return None if _finite(values[-1]) else found


def _finite(value: Any) -> bool:
    return bool(np.all(np.isfinite(value)))


def _value(
    expression: ParsedExpression,
    step: Operation | VariableStep | NumberStep,
    values: list[Any],
    variables: Mapping[str, Any],
) -> Any:
    """The value of one step."""
    if isinstance(step, NumberStep):
        return step.value
    if isinstance(step, VariableStep):
        return variables[step.name]
    operands = [values[place] for place in step.operands]
    if all(type(operand) in (bool, int, float) for operand in operands):  # traced ones are NumPy's already
        # Python's own numbers raise at 1 / 0 and never finish 9**9**9**9; NumPy's give inf
        operands = [np.float64(operand) for operand in operands]
    try:
        return step.apply(*operands)
    except (ValueError, TypeError, IndexError, MemoryError) as error:
        raise _failed(expression, step, error) from error


def _failed(expression: ParsedExpression, step: Operation, error: Exception) -> CommandError:
    """A step that could not be computed, with what NumPy or the library says about it."""
    first, *rest = str(error).strip().splitlines() or [type(error).__name__]
    # the library's line about the place in a file means nothing for an expression
    kept = [line.strip() for line in rest if not line.startswith("  at ")] if isinstance(error, ad.AdjointError) else []
    what = f"{step.name} cannot be computed: {first.strip()}"
    return CommandError(what, text=expression.text, column=step.column, hint="\n".join(kept), exit_code=FAILURE)
