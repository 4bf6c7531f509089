"""From a call to a trace that can be shown: run the function once under both walks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import InputError, message
from ..core.traced import Traced
from ..core.tree import flatten, ways
from ..core.values import Value, describe, dtype_of
from ..transforms.recording import checked_input, finished, output_leaves, run
from .notebook import BLANK, Notebook, Recorder


@dataclass(frozen=True)
class Recorded:
    """A function's trace at one point."""

    title: str
    notebook: Notebook
    trace: Recorder
    inputs: list[Value]
    """The numbers and arrays that it is differentiated with respect to: the first places of the trace."""
    names: list[str]
    """What the user calls them: `x`, `p['w']`, `w[0]`."""
    outputs: list[Any]
    """Handles of the results, and constants."""
    steps: int
    """How many steps of the program are the function's: those of its derivative come after."""
    value: Any
    """What the function returned."""
    rebuild: Callable[[list[Any]], Any]
    """From one value for each input to the containers of the arguments; None for what is not differentiated."""


def record(fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Recorded:
    """Run the function on handles of both walks."""
    leaves, rebuild = flatten(args)
    moving = [k for k, leaf in enumerate(leaves) if _is_real(leaf)]
    if not moving:
        raise InputError(
            message(
                "explain needs at least one real or complex number to differentiate with respect to.",
                got=", ".join(describe(leaf) for leaf in leaves) or "no argument",
                fix="Pass a float (3.0, not 3) or  x.astype(float).",
            )
        )
    notebook, trace = Notebook(), Recorder()
    inputs = [checked_input(leaves[k], "explain") for k in moving]
    names = _names(fun, args)
    call = list(leaves)
    for k, x in zip(moving, inputs, strict=True):
        call[k] = trace.input(notebook.input(x.copy() if type(x) is np.ndarray else x))
    trace.notes.clear()  # inputs stand nowhere
    trace.notes += [BLANK] * len(inputs)
    result = run(fun, rebuild(call), kwargs)
    trace.finish()
    outputs, restore = output_leaves(result, "explain")
    values = [_plain(notebook, finished(o, trace)) for o in outputs]

    def gradient_of(found: list[Any]) -> Any:
        full: list[Any] = [None] * len(leaves)
        for k, g in zip(moving, found, strict=True):
            full[k] = g
        parts = rebuild(full)
        return parts[0] if len(parts) == 1 else parts

    title = getattr(fun, "__name__", type(fun).__name__)
    return Recorded(
        title="f" if title == "<lambda>" else title,
        notebook=notebook,
        trace=trace,
        inputs=inputs,
        names=[names[k] for k in moving],
        outputs=[o if isinstance(o, Traced) else np.asarray(o)[()] for o in outputs],
        steps=len(notebook.program.steps),
        value=restore(values),
        rebuild=gradient_of,
    )


def _plain(notebook: Notebook, x: Any) -> Any:
    return notebook.number_of(x)[1] if isinstance(x, Traced) else x


def _is_real(leaf: Any) -> bool:
    if isinstance(leaf, (float, complex, np.ndarray, np.generic, Traced)):
        return dtype_of(leaf).kind in "fc"
    return False


def _names(fun: Callable[..., Any], args: tuple[Any, ...]) -> list[str]:
    """What each leaf of the arguments is called: the parameter, and the way to the leaf."""
    parameters = _parameters(fun, len(args))
    return [parameters[way[0]] + _way_through(args[way[0]], way[1:]) for way in ways(args)]


def _way_through(x: Any, way: tuple[Any, ...]) -> str:
    """How a leaf is reached: `['w'][0]`, and `.w` for the fields of dataclasses and named tuples."""
    text = ""
    for key in way:
        if hasattr(x, "__dataclass_fields__"):
            text, x = f"{text}.{key}", getattr(x, key)
        elif hasattr(x, "_fields"):
            text, x = f"{text}.{x._fields[key] if isinstance(key, int) else key}", x[key]
        else:
            text, x = f"{text}[{key!r}]", x[key]
    return text


def _parameters(fun: Callable[..., Any], count: int) -> list[str]:
    try:
        named = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):  # universal functions and builtins have none
        named = []
    names: list[str] = []
    for p in named:
        if p.kind is p.VAR_POSITIONAL:
            names += [f"{p.name}[{k}]" for k in range(count - len(names))]
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            names.append(p.name)
    plain = ["x"] if count == 1 else [f"x{k + 1}" for k in range(count)]
    return names[:count] if len(names) >= count else plain
