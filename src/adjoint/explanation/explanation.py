"""`Explanation`: a derivative at one point, shown in several ways."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import TangentError, UnsupportedError, message
from ..core.tree import flatten, same_structure
from ..core.values import concrete, shape_of, zeros_for
from ..transforms.interface.checking import check_numbers
from .record.record import Recorded
from .record.scalars import unrolled
from .record.sweeps import gradients, sweep_back, sweep_forward
from .show.rows import Row, TraceView
from .show.table import Table

if TYPE_CHECKING:
    from .code.numpy_source import Source
    from .formula.symbolic import Symbolic
    from .record.programs import Programs
    from .show.cost import Cost
    from .show.graph import Graph


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

    def _seen(self, level: str, collapse: bool, mode: str | None = None) -> TraceView:
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
        return TraceView(recorded, backward, forward, seeds=seeds, collapse=collapse)

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
            check_numbers(seed, concrete(out), "The cotangent given to explain")
            if shape_of(seed) != shape_of(concrete(out)):
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
    def _backward(self) -> TraceView:
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
        found = [view.tangent(o.node) if view.recorded.is_traced(o) else zeros_for(concrete(o)) for o in outputs]
        return view.recorded.restore(found)

    def table(self, *, ascii: bool = False) -> Table:
        """The rows as lines of text, with their columns.

        Parameters
        ----------
        ascii : bool, default False
            Whether to use only characters that every terminal has.

        Returns
        -------
        Table
            The table, which `text` prints.

        Examples
        --------
        >>> import adjoint as ad
        >>> print(ad.explain(lambda x: x**2)(3.0).table(ascii=True).text().splitlines()[1])
        v0 = x             3   grad x = df/dx = grad v0   6
        """
        return Table(self._view, ascii=ascii, **self._options)

    def text(self, *, ascii: bool = False) -> str:
        """The traces side by side as plain text, as `print` shows them.

        Parameters
        ----------
        ascii : bool, default False
            Whether to use only characters that every terminal has.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> import adjoint as ad
        >>> "grad x" in ad.explain(lambda x: x**2)(3.0).text(ascii=True)
        True
        """
        parts = [self.table(ascii=ascii).text()]
        if self.programs is not None:
            parts.append(str(self.programs))
        return "\n\n".join(parts)

    def show(self) -> None:
        """Print the traces, in colours if `rich` is installed.

        Examples
        --------
        >>> import adjoint as ad
        >>> def f(x):
        ...     return x**2
        >>> ad.explain(f)(3.0).show()
        forward primal trace   reverse adjoint trace
        v0 = x             3   ∇x = ∂f/∂x = ∇v0        6
        v1 = x²            9   ∇x = ∇v1 · 2·x          6
        f = v1             9   ∇v1 = ∂f/∂v1            1
        """
        if not sys.stdout.isatty() or importlib.util.find_spec("rich") is None:  # a file has no width to fold lines to
            print(self.text())  # noqa: T201
            return
        from rich.console import Console

        from .show.printing import rich_tables

        console, table = Console(), self.table()
        console.print(*rich_tables(table, console.width), sep="")
        for text in [*table.foot(), *([] if self.programs is None else ["", str(self.programs)])]:
            console.print(text, highlight=False, markup=False)

    def graph(self, path: str | PathLike[str] | None = None) -> Graph:
        """The computational graph: values, local partials on the arrows, adjoints in a second colour.

        Parameters
        ----------
        path : str or path, optional
            Where to write it, as .svg, .png, .pdf or .dot; by default nowhere. All but .dot need pygraphviz.

        Returns
        -------
        Graph
            The picture, which notebooks show. Large traces are condensed to stay readable.

        Examples
        --------
        >>> import adjoint as ad
        >>> ad.explain(lambda x: x**2)(3.0).graph().dot.startswith("digraph")
        True
        """
        from .show.graph import draw

        picture = draw(self._view, self.table())
        if path is not None:
            picture.save(path)
        return picture

    def page(self, path: str | PathLike[str] | None = None) -> Any:
        """Write one file of HTML that steps through the sweeps of the mode; without a path, show it.

        Mode "forward" plays values and tangents, "reverse" values and then adjoints, "both" all three.
        It needs no network. Small programs are computed in the page, number by number, so that its sliders change the
        inputs, and fields the direction of the tangents. For others, and for folded blocks and loops, it shows what
        was computed here.

        Parameters
        ----------
        path : str or path, optional
            Where to write it. Without a path it is shown, in a notebook inline, elsewhere in the browser.

        Returns
        -------
        pathlib.Path
            Where it was written.

        Examples
        --------
        >>> import pathlib, tempfile, adjoint as ad
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ad.explain(lambda x: x**2)(3.0).page(pathlib.Path(folder) / "square.html").name
        'square.html'
        """
        from .page.script import NoScriptError
        from .page.stepping import MOST_STEPS, live_page, still_page
        from .page.writing import show_page, write_page

        if path is None:
            return show_page(self.page)
        options = {**self._options, "most": sys.maxsize}
        try:
            if any([row.kind in ("block", "loop") for row in self._view.rows]):
                raise NoScriptError("blocks and loops are folded; collapse=False writes them out")
            numbers = sum([np.size(concrete(node[3])) for node in self._whole.trace if not isinstance(node[3], tuple)])
            if numbers > MOST_STEPS:  # not to be written out in vain
                raise NoScriptError(f"the program has {numbers:,} numbers")
            view = self._seen("scalar", collapse=False)
            return write_page(live_page(view, Table(view, **options)), path)
        except NoScriptError as error:
            why = f", as {error}."
        except UnsupportedError as error:
            why = f": {str(error).splitlines()[0]}"
        return write_page(still_page(self._view, Table(self._view, **options), f"The values are fixed{why}"), path)

    def sympy(self) -> Symbolic:
        """The function and its derivatives as SymPy expressions, number by number, with shared parts kept shared.

        Returns
        -------
        Symbolic
            The expressions: `.value`, `.gradient`, `.inputs`, `.conditions`.

        Examples
        --------
        >>> import adjoint as ad
        >>> def f(x):
        ...     return x**2
        >>> ad.explain(f)(3.0).sympy()
        f = x**2
        df/dx = 2*x
        """
        from .formula.symbols import symbolic

        return symbolic(self._seen("scalar", collapse=False, mode="reverse"))

    def latex(self) -> str:
        r"""The function and its derivatives as aligned equations.

        Returns
        -------
        str
            LaTeX, which notebooks show as formulas.

        Examples
        --------
        >>> import adjoint as ad
        >>> ad.explain(lambda x: x**2)(3.0).latex().splitlines()[0]
        '\\begin{aligned}'
        """
        return self.sympy().latex()

    def code(self) -> Source:
        """The value and the gradient as NumPy source, which runs without this library.

        It holds for the branch that was taken here, and raises where another one would be taken.

        Returns
        -------
        str
            The source. Captured arrays too large to be written out are keyword arguments; `.arrays` holds them.

        Examples
        --------
        >>> import adjoint as ad
        >>> def f(x):
        ...     return x**2
        >>> names = {}
        >>> exec(ad.explain(f)(3.0).code(), names)
        >>> names["f_and_gradient"](3.0)
        (9.0, 6.0)
        """
        from .code.numpy_source import numpy_source

        view = self._seen("vector", collapse=False, mode="reverse")
        return numpy_source(view, fun=self._fun, args=self._args, kwargs=self._kwargs)

    def cost(self) -> Cost:
        """Operations and memory of the function and of both sweeps, and which mode is the cheaper one here.

        The function is run once more for it, to see what it computes of arrays that do not depend on the inputs.

        Returns
        -------
        Cost
            The numbers, which print as a table.

        Examples
        --------
        >>> import adjoint as ad
        >>> ad.explain(lambda x: x**2)(3.0).cost().inputs
        1
        """
        from .record.constants import work_on_constants
        from .show.cost import cost_of

        constants = work_on_constants(self._whole, self._fun, self._args, self._kwargs)
        return cost_of(self._view, self.table(), constants)

    @cached_property
    def programs(self) -> Programs | None:
        """For a jitted function, its program as recorded and as it runs, fused into kernels; else None."""
        from .record.programs import programs

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
        from .show.printing import html_table

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
