"""From a call to a trace that can be shown: run the function once under both traces."""

from __future__ import annotations

import inspect
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import InputError, OutputError, UnsupportedError, message
from ...core.traced import Traced
from ...core.tree import flatten, ways
from ...core.values import Value, concrete, describe, dtype_of, shape_of
from ...host.frames.ownership import OURS
from ...ir.capture import ForeignValueError
from ...transforms.calling import run
from ...transforms.interface.checking import checked_input, given_leaves, output_leaves
from ...transforms.interface.inputs import check_places
from ...transforms.interface.presenting import copied, finished, presented
from .recorder import BLANK, Notebook, Recorder, handed_over


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
    arrays: list[tuple[np.ndarray, str]]
    """Arrays that the function uses, as they were, and what it calls them."""
    outputs: list[Any]
    """Handles of the results, and constants."""
    steps: int
    """How many steps of the program are the function's: those of its derivative come after."""
    value: Any
    """What the function returned."""
    result_names: list[str]
    """What follows the title in the name of each result: nothing, or the way to it, as `['loss']`."""
    rebuild: Callable[[list[Any]], Any]
    """From one value for each input to the containers of the arguments; None for what is not differentiated."""
    is_whole: bool
    """Whether arrays are arrays, and not written out number by number."""
    restore: Callable[[list[Any]], Any]
    """From one value for each result to the containers of what the function returned."""
    moving: list[int]
    """Which of the leaves of the arguments the inputs are."""

    def is_traced(self, x: Any) -> bool:
        """Whether a result depends on the inputs, so that it has a place in the trace."""
        return isinstance(x, Traced) and x.traced_by is self.trace

    def unit_seeds(self) -> list[Any]:
        """For each result a 1 for every number of it; None for what is not traced."""
        return [_ones(concrete(o)) if self.is_traced(o) else None for o in self.outputs]


def record(
    fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: int | tuple[int, ...] | None = None
) -> Recorded:
    """Run the function on handles of both traces."""
    leaves, rebuild = flatten(args)
    _refuse_traced([*leaves, *flatten(kwargs)[0]])
    moving = _moving(args, argnums, leaves, kwargs)
    inputs = [copied(checked_input(leaves[k], "explain")) for k in moving]
    notebook, trace = Notebook(), Recorder()
    call = list(leaves)
    traces = trace, notebook
    notebook.open = trace.checkpoints
    for k, x in zip(moving, inputs, strict=True):
        call[k] = trace.input(notebook.input(copied(x)))
    trace.notes[:] = [BLANK] * len(inputs)  # inputs stand nowhere
    try:
        result = run(fun, rebuild(call), kwargs)
        trace.finish()
        arrays = _settled(notebook, trace)
        found, restore = output_leaves(result, "explain")
        notebook, trace, outputs = handed_over(notebook, trace, found)
    except ForeignValueError:
        raise UnsupportedError(_inside()) from None
    finally:
        trace.forget()
        for each in traces:
            each.end()
    if not outputs:
        raise OutputError(_nothing_returned(result))
    names = _names(fun, args)
    return Recorded(
        title=title_of(fun),
        notebook=notebook,
        trace=trace,
        arrays=arrays,
        inputs=inputs,
        names=[names[k] for k in moving],
        outputs=[o if isinstance(o, Traced) else np.asarray(o)[()] for o in outputs],
        result_names=[""]
        if len(outputs) == 1 and isinstance(result, LEAF)
        else [way_through(result, w) for w in ways(result)],
        steps=len(notebook.program.steps),
        value=restore([_plain(notebook, finished(o, trace)) for o in outputs]),
        is_whole=True,
        restore=restore,
        rebuild=_into_containers(leaves, rebuild, moving, argnums),
        moving=moving,
    )


def _into_containers(
    leaves: list[Any], rebuild: Callable[[list[Any]], Any], moving: list[int], argnums: int | tuple[int, ...] | None
) -> Callable[[list[Any]], Any]:
    """What puts derivatives where `grad` would put them: into containers like the arguments."""

    def rebuilt(found: list[Any]) -> Any:
        full: list[Any] = [None] * len(leaves)
        for k, g in zip(moving, found, strict=True):
            full[k] = presented(g, leaves[k]) if isinstance(g, (np.ndarray, np.generic, float, complex)) else g
        parts = rebuild(full)
        if isinstance(argnums, int):
            return parts[argnums]
        if argnums is not None:
            return tuple([parts[n] for n in argnums])
        return parts[0] if len(parts) == 1 else parts

    return rebuilt


LEAF = (Traced, np.ndarray, np.generic, float, int, complex)


def title_of(fun: Any) -> str:
    """What a function is called; a derivative of it says so: `grad(f)`."""
    fun = function_of(fun)
    name = getattr(fun, "__name__", None) or type(fun).__name__
    name = "f" if name in ("<lambda>", "") else name
    maker, inner, _ = getattr(fun, "__qualname__", "").partition("(")
    return f"{maker}({name})" if inner and _is_ours(fun) else name


def function_of(fun: Any) -> Any:
    """The user's function, of a jitted one that which is jitted."""
    while callable(getattr(fun, "fun", None)) and _is_ours(type(fun)):
        fun = fun.fun
    return fun


def _is_ours(x: Any) -> bool:
    """Whether a class or a function was defined by this library."""
    return getattr(x, "__module__", "").partition(".")[0] == OURS


def _ones(x: Value) -> Value:
    return 1.0 if shape_of(x) == () else np.ones_like(x)


def _settled(notebook: Notebook, trace: Recorder) -> list[tuple[np.ndarray, str]]:
    """The arrays that the function uses, as they were, and what it calls them: H, H₂ for two of the same name."""
    notebook.settle()
    program = notebook.program
    used = {number: trace.arrays.get(id(array)) for array, _, number in notebook.arrays.values()}
    seen, found = Counter[str](), []
    for number, array in program.constants.items():
        if not isinstance(array, np.ndarray) or not array.ndim:
            continue
        frozen = array.copy()
        program.set_constant(number, frozen)
        known = used.get(number)
        if known is not None:
            seen[known[1]] += 1
            found.append((frozen, numbered(known[1], seen[known[1]])))
    return found


def numbered(name: str, k: int) -> str:
    """The k-th value of this name: y, y₂, y₃."""
    return name if k == 1 else name + str(k).translate(SUBSCRIPTS)


def in_line(name: str) -> str:
    """A name without signs below the line: y₁₂ as y_12."""
    return re.sub("[₀₁₂₃₄₅₆₇₈₉]+", lambda m: "_" + "".join([str(unicodedata.digit(c)) for c in m[0]]), name)


SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _refuse_traced(leaves: list[Any]) -> None:
    if any(isinstance(leaf, Traced) for leaf in leaves):
        raise UnsupportedError(_inside())


def _inside() -> str:
    return message(
        "explain shows numbers, and takes no part in derivatives: it cannot be used inside grad, vmap, jit or explain.",
        fix="Call it outside; or explain at the plain value,  ad.explain(f)(ad.value(x)).",
    )


def _moving(
    args: tuple[Any, ...], argnums: int | tuple[int, ...] | None, leaves: list[Any], kwargs: dict[str, Any]
) -> list[int]:
    """The leaves that are differentiated with respect to."""
    chosen = _chosen(args, argnums)
    found = [k for k, way in enumerate(ways(args)) if _is_real(leaves[k]) and way[0] in chosen]
    if not found:  # of a real function, 3 is 3.0
        leaves[:] = given_leaves(leaves, args)
        found = [k for k, way in enumerate(ways(args)) if _is_real(leaves[k]) and way[0] in chosen]
    if not found:
        raise InputError(_nothing_to_move(leaves, kwargs))
    return found


def _chosen(args: tuple[Any, ...], argnums: int | tuple[int, ...] | None) -> set[int]:
    """Which arguments are differentiated with respect to."""
    if argnums is None:
        return set(range(len(args)))
    check_places(args, argnums)
    chosen = (argnums,) if isinstance(argnums, int) else argnums
    return {n % len(args) for n in chosen}


def _nothing_returned(result: Any) -> str:
    return message(
        "The function returned nothing to explain.", got=describe(result), fix="Return a number or an array."
    )


def _nothing_to_move(leaves: list[Any], kwargs: dict[str, Any]) -> str:
    if not leaves and kwargs:
        return message(
            "explain differentiates with respect to arguments that are given by position.",
            got=", ".join([f"{name}=" for name in kwargs]),
            fix="Write  ad.explain(f)(x)  instead of  ad.explain(f)(x=x).",
        )
    return message(
        "explain needs at least one real or complex number to differentiate with respect to.",
        got=", ".join(describe(leaf) for leaf in leaves) or "no argument",
        fix="Pass a float or  x.astype(float).",
    )


def _plain(notebook: Notebook, x: Any) -> Any:
    return notebook.number_of(x)[1] if isinstance(x, Traced) else x


def _is_real(leaf: Any) -> bool:
    if isinstance(leaf, (float, complex, np.ndarray, np.generic, Traced)):
        return dtype_of(leaf).kind in "fc"
    return False


def _names(fun: Callable[..., Any], args: tuple[Any, ...]) -> list[str]:
    """What each leaf of the arguments is called: the parameter, and the way to the leaf."""
    parameters = parameters_of(fun, len(args))
    return [parameters[way[0]] + way_through(args[way[0]], way[1:]) for way in ways(args)]


def way_through(x: Any, way: tuple[Any, ...]) -> str:
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


def parameters_of(fun: Callable[..., Any], count: int) -> list[str]:
    """What the first parameters of a function are called."""
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
    others = ["x"] if count == 1 else [f"x{k + 1}" for k in range(count)]
    return names[:count] if len(names) >= count else others
