"""`explain`: every step of a derivative, for eyes."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import InputError, TangentError, UnsupportedError, message
from ..core.folding import fold
from ..core.tree import flatten, same_structure
from ..core.values import plain, shape_of, zeros_for
from ..transforms.grad import checked_argnums
from ..transforms.recording import check_numbers, checked_function, own_copy
from .record import Recorded, record
from .rows import Row, View
from .scalars import unrolled
from .sweeps import gradients, sweep_back, sweep_forward
from .table import Table

if TYPE_CHECKING:
    from .code.numpy_source import Source
    from .cost import Cost
    from .graph import Graph
    from .programs import Programs
    from .symbols import Symbolic

MODES = ("reverse", "forward", "both")
LEVELS = ("vector", "scalar")
MOST = {"digits": 17, "max_rows": 1_000_000}


def explain(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    *,
    mode: str = "reverse",
    level: str = "vector",
    digits: int = 4,
    names: bool = True,
    lines: bool = False,
    collapse: bool = True,
    max_rows: int = 60,
    tangent: Any = None,
    cotangent: Any = None,
) -> Callable[..., Explanation]:
    """Show how the derivative of a function comes about, at one point.

    `explain(f)(*args)` runs `f` once, records the trace that `ad.grad` executes, and goes over it: forward with the
    values (and tangents), back with the adjoints.

    Parameters
    ----------
    fun : callable
        The function; plain NumPy code, also jitted or checkpointed.
    argnums : int or sequence of int, optional
        Which positional arguments to differentiate with respect to; by default all that are real or complex.
    mode : {"reverse", "forward", "both"}, default "reverse"
        "reverse" shows adjoints, "forward" tangents, "both" both.
    level : {"vector", "scalar"}, default "vector"
        "vector" has one step for each operation on arrays, "scalar" one for each number.
    digits : int, default 4
        Decimals of the numbers that are shown.
    names : bool, default True
        Whether formulas use the names of your variables, where they can be known, or v0, v1, ... throughout.
    lines : bool, default False
        Whether to show the source line of each step.
    collapse : bool, default True
        Whether long loops and the blocks named with `ad.block` are one row each.
    max_rows : int, default 60
        If there are more rows than this, those in the middle are left out.
    tangent : any containers, optional
        The direction of forward mode, in the containers of the arguments; by default 1 for the first number.
    cotangent : any containers, optional
        The seed of reverse mode, in the containers of the result; by default 1.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns an `Explanation`, which prints as a table.

    Raises
    ------
    InputError
        If an option is unknown or out of range.
    TangentError
        When the tangent or the cotangent does not fit the arguments or the result.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> def f(x):
    ...     a = x**2
    ...     b = np.exp(a)
    ...     c = a + b
    ...     return np.sqrt(c) + np.cos(c)
    >>> print(ad.explain(f)(1.3))
    forward primal trace       reverse adjoint trace
    v0 = x               1.3   ∇x = ∂f/∂x = ∇v0                  -9.1449
    v1 = a = x²         1.69   ∇x = ∇a · 2·x                     -9.1449
    v2 = b = exp(a)   5.4195   ∇a = ∇a + ∇b · exp(a)             -3.5173
    v3 = c = a + b    7.1095   ∇b = ∇c · 1                       -0.5479
                               ∇a = ∇c · 1                       -0.5479
    v4 = sqrt(c)      2.6664   ∇c = ∇c + ∇v4 · (0.5 / sqrt(c))   -0.5479
    v5 = cos(c)       0.6776   ∇c = ∇v5 · (-sin(c))              -0.7354
    v6 = v4 + v5       3.344   ∇v5 = ∇v6 · 1                           1
                               ∇v4 = ∇v6 · 1                           1
    f = v6             3.344   ∇v6 = ∂f/∂v6                            1
    """
    chosen = None if argnums is None else checked_argnums(argnums, "explain")
    if mode not in MODES:
        raise _unknown("mode", mode, MODES)
    if level not in LEVELS:
        raise _unknown("level", level, LEVELS)
    for name, number, least in (("digits", digits, 0), ("max_rows", max_rows, 4)):
        if not isinstance(number, int) or not least <= number <= MOST[name]:
            raise InputError(
                message(f"{name} has to be a whole number from {least} to {MOST[name]:,}.", got=repr(number))
            )
    checked_function(fun, "explain")
    options = {"digits": digits, "names": names, "lines": lines, "most": max_rows}

    def explained(*args: Any, **kwargs: Any) -> Explanation:
        own_args, own_kwargs = _copied((args, kwargs))  # as they were: the function or the user may write to them
        try:
            whole = record(fun, args, kwargs, chosen)
        except Exception as error:
            fold(error)
            raise
        return Explanation(
            fun, own_args, own_kwargs, whole, mode=mode, level=level, collapse=collapse, options=options,
            tangent=tangent, cotangent=cotangent,
        )  # fmt: skip

    return explained


def _copied(tree: Any) -> Any:
    leaves, rebuild = flatten(tree)
    return rebuild([own_copy(x) for x in leaves])


def _unknown(what: str, got: Any, known: tuple[str, ...]) -> InputError:
    return InputError(message(f"explain does not know this {what}.", got=repr(got), fix=f"Choose one of {known}."))


class Explanation:
    """A derivative at one point, to be looked at: print it, draw it, step through it, read it as code or formulas."""

    def __init__(
        self,
        fun: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        whole: Recorded,
        *,
        mode: str,
        level: str,
        collapse: bool,
        options: dict[str, Any],
        tangent: Any,
        cotangent: Any,
    ) -> None:
        self._fun, self._args, self._kwargs = fun, args, kwargs
        self._whole = whole
        self._mode, self._level, self._collapse, self._options = mode, level, collapse, options
        self._tangent, self._cotangent = tangent, cotangent
        self.value = whole.value
        """What the function returned."""
        self._view = self._seen(level, collapse)

    # what it consists of

    def _seen(self, level: str, collapse: bool, mode: str | None = None) -> View:
        """The rows at a level: each level is recorded, and swept, on its own, to the same end."""
        mode = mode or self._mode
        recorded = unrolled(self._whole) if level == "scalar" else self._whole
        seeds = self._seeds(recorded)
        backward = forward = None
        if mode != "forward":
            gradient = _in_parts(self._gradients, recorded) if level == "scalar" else None
            backward = sweep_back(recorded, seeds, gradient=gradient)
        if mode != "reverse":
            forward = sweep_forward(recorded, self._direction(recorded))
        return View(recorded, backward, forward, seeds=seeds, collapse=collapse)

    @cached_property
    def _gradients(self) -> list[Any]:
        """The adjoints of all inputs, as `ad.grad` finds them."""
        return gradients(self._whole, self._seeds(self._whole))

    def _seeds(self, recorded: Recorded) -> list[Any]:
        """For each result what the sweep back starts with; None for what is not traced."""
        if self._cotangent is None:
            return recorded.unit_seeds()
        if not same_structure(self._cotangent, self.value):
            raise _mismatch("cotangent", "result")
        seeds: list[Any] = []
        for out, seed in zip(recorded.outputs, _in_parts(flatten(self._cotangent)[0], recorded), strict=True):
            if not recorded.is_traced(out):
                seeds.append(None)
                continue
            check_numbers(seed, plain(out), "The cotangent given to explain")
            if shape_of(seed) != shape_of(plain(out)):
                raise _mismatch("cotangent", "result")
            seeds.append(np.conjugate(seed) if np.iscomplexobj(seed) else seed)
        return seeds

    def _direction(self, recorded: Recorded) -> dict[int, Any]:
        if self._tangent is not None:
            given = _in_parts(flatten(self._tangent)[0], recorded)
            if [shape_of(g) for g in given] != [shape_of(x) for x in recorded.inputs]:
                raise _mismatch("tangent", "arguments")
            return dict(enumerate(given))
        for k, x in enumerate(recorded.inputs):
            if np.size(x):
                direction = np.zeros(np.size(x), np.asarray(x).dtype)
                direction[0] = 1.0
                return {k: direction.reshape(np.shape(x)) if shape_of(x) else 1.0}
        return {}

    @cached_property
    def _backward(self) -> View:
        """A view that has been swept back, whatever is shown."""
        return self._view if self._mode != "forward" else self._seen(self._level, self._collapse, "reverse")

    @property
    def rows(self) -> list[Row]:
        """The rows of the table."""
        return self._view.rows

    @cached_property
    def gradient(self) -> Any:
        """What the table ends in: the gradient, in the containers of the arguments (with `argnums`, of those).

        Of several results it is that of their sum, or of `cotangent` times them.
        """
        view = self._backward
        assert view.backward is not None
        return view.recorded.rebuild([view.adjoint(k) for k in range(len(view.recorded.inputs))])

    @cached_property
    def tangent(self) -> Any:
        """The tangents of the results, in the containers of what the function returned."""
        is_there = self._mode != "reverse" and self._level == "vector"
        view = self._view if is_there else self._seen("vector", self._collapse, "forward")
        outputs = view.recorded.outputs
        found = [view.tangent(o.node) if view.recorded.is_traced(o) else zeros_for(plain(o)) for o in outputs]
        return view.recorded.restore(found)

    # how it is shown

    def table(self, *, ascii: bool = False) -> Table:
        """The rows as lines of text."""
        return Table(self._view, ascii=ascii, **self._options)

    def text(self, *, ascii: bool = False) -> str:
        """The traces side by side as plain text; with `ascii` in characters that every terminal has."""
        parts = [self.table(ascii=ascii).text()]
        if self.programs is not None:
            parts.append(str(self.programs))
        return "\n\n".join(parts)

    def show(self) -> None:
        """Print the traces, in colours if `rich` is installed."""
        if not sys.stdout.isatty() or importlib.util.find_spec("rich") is None:  # a file has no width to fold lines to
            print(self.text())  # noqa: T201
            return
        from rich.console import Console

        from .printing import rich_tables

        console, table = Console(), self.table()
        console.print(*rich_tables(table, console.width), sep="")
        for text in [*table.foot(), *([] if self.programs is None else ["", str(self.programs)])]:
            console.print(text, highlight=False, markup=False)

    def graph(self, path: str | PathLike[str] | None = None) -> Graph:
        """The computational graph: values, local partials on the arrows, adjoints in a second colour.

        With a path it is written there, as .svg, .png, .pdf or .dot. Large traces are put together to stay readable.
        """
        from .graph import draw

        picture = draw(self._view, self.table())
        if path is not None:
            picture.save(path)
        return picture

    def page(self, path: str | PathLike[str] | None = None) -> Any:
        """Write one file of HTML that steps through both sweeps, and return its path; without a path, show it.

        In a notebook it is shown inline, elsewhere in the browser. It needs no network. Small programs are written out
        number by number and computed in the page, so that its sliders change the inputs; of others, of folded blocks
        and loops, and beside tangents it shows what was computed here.
        """
        from .page.script import NoScriptError
        from .page.stepping import MOST_STEPS, live_page, still_page
        from .page.writing import show_page, write_page

        if path is None:
            return show_page(self.page)
        options = {**self._options, "most": sys.maxsize}
        try:
            if self._mode != "reverse":
                raise NoScriptError("tangents are shown beside them")
            if any([row.kind in ("block", "loop") for row in self._view.rows]):
                raise NoScriptError("blocks and loops are folded; collapse=False writes them out")
            numbers = sum([np.size(plain(node[3])) for node in self._whole.trace if not isinstance(node[3], tuple)])
            if numbers > MOST_STEPS:  # not to be written out in vain
                raise NoScriptError(f"the program has {numbers:,} numbers")
            view = self._seen("scalar", collapse=False, mode="reverse")
            return write_page(live_page(view, Table(view, **options)), path)
        except NoScriptError as error:
            why = f", as {error}."
        except UnsupportedError as error:
            why = f": {str(error).splitlines()[0]}"
        view = self._backward if self._mode == "reverse" else self._seen(self._level, self._collapse, "both")
        return write_page(still_page(view, Table(view, **options), f"The values are fixed{why}"), path)

    def sympy(self) -> Symbolic:
        """The function and its derivatives as SymPy expressions, number by number, with shared parts kept shared."""
        from .symbols import symbolic

        return symbolic(self._seen("scalar", collapse=False, mode="reverse"))

    def latex(self) -> str:
        """The function and its derivatives as aligned equations."""
        return self.sympy().latex()

    def code(self) -> Source:
        """The value and the gradient as NumPy source, which runs without this library.

        It holds for the branch that was taken here, and raises where another one would be. Captured arrays that are too
        large to be written out are keyword arguments; the `arrays` of the result holds them.
        """
        from .code.numpy_source import numpy_source

        view = self._seen("vector", collapse=False, mode="reverse")
        return numpy_source(view, fun=self._fun, args=self._args, kwargs=self._kwargs)

    def cost(self) -> Cost:
        """Operations and memory of the function and of both sweeps, and which mode is the cheaper one here."""
        from .cost import cost_of

        return cost_of(self._view, self.table().called)

    @cached_property
    def programs(self) -> Programs | None:
        """For a jitted function, its program as recorded and as it runs, fused into kernels; else None."""
        from .programs import programs

        whole = self._whole
        return programs(self._fun, self._args, self._kwargs, names=whole.names, arrays=whole.arrays)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks: the table, and the graph if it can be drawn."""
        try:
            picture = self.graph().svg
        except UnsupportedError:
            picture = ""
        from .printing import html_table

        return f"{html_table(self.table())}{picture}"


def _in_parts(leaves: list[Any], recorded: Recorded) -> list[Any]:
    """Leaves as the level has them: whole, or number by number."""
    return (
        leaves if recorded.is_whole else [e for leaf in leaves for e in (np.ravel(leaf) if np.ndim(leaf) else [leaf])]
    )


def _mismatch(what: str, whose: str) -> TangentError:
    return TangentError(
        message(
            f"The {what} given to explain does not have the structure of the {whose}.",
            fix=f"Give one number or array of the same shape for each of the {whose}.",
        )
    )
