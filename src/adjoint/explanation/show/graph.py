"""The computational graph as a picture: values in the boxes, local partials on the arrows, adjoints in a second colour.

The picture is written in Graphviz's language; `pygraphviz` is needed only where it has to be laid out.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections import Counter
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import InputError, UnsupportedError, message
from ...core.values import shape_of
from ..block import Blocks
from ..formula.notation import shape_text, value_text
from .boxes import MOST_OUTS, Arrow, Box, arrows_between, boxes_of, operation, repeated_arrows
from .rows import Edge, Row, TraceView
from .table import Table

INK, MUTED, PAPER, PALE = "#191c23", "#565d6b", "#ffffff", "#eef0f4"
VALUE, VALUE_PALE, ADJOINT, ADJOINT_PALE, TANGENT = "#0b55ad", "#e2edfc", "#a33a05", "#fdeadb", "#17652b"

SHAPES = {
    "input": f'shape=box, style="filled", penwidth=2, fillcolor="{VALUE_PALE}"',
    "step": f'shape=box, style="rounded,filled", fillcolor="{PAPER}"',
    "block": f'shape=tab, style="filled", fillcolor="{PALE}"',
    "loop": f'shape=box3d, style="filled", margin="0.18,0.09", fillcolor="{PALE}"',
    "several": f'shape=folder, style="filled", fillcolor="{PALE}"',
    "copy": f'shape=box, style="filled,dotted", width=0.2, height=0.2, fillcolor="{VALUE_PALE}"',
}
"""Kinds of boxes can be told apart without their colours, and by a word in the box."""

FONT = "Helvetica,Arial,DejaVu Sans,sans-serif"
DEFAULTS = f"""graph [labelloc=t, bgcolor="{PAPER}", nodesep=0.35, ranksep=0.45, pad=0.2, fontname="{FONT}"]
node [fontname="{FONT}", fontsize=12, color="{MUTED}", margin="0.13,0.07"]
edge [fontname="{FONT}", fontsize=10, color="{MUTED}", arrowsize=0.7]"""

WIDEST, WIDEST_LABEL, MOST_LINES, MOST_TERMS = 30, 20, 3, 4
"""Characters in a line of a box and of an arrow's text, lines of a formula, terms of a sum."""

FORMATS, RESOLUTION, LARGEST_PIXELS = (".svg", ".png", ".pdf", ".dot", ".gv"), 144, 30_000
"""Suffixes of files; dots per inch of a PNG file, and the largest side that the renderer can draw."""


class Graph:
    """A picture of a computation and its derivative: shown by Jupyter, saved as SVG, PNG, PDF or Graphviz source."""

    def __init__(self, dot: str) -> None:
        self.dot = dot
        """The graph in Graphviz's language."""

    @cached_property
    def svg(self) -> str:
        """The picture as SVG, ready to stand in a page of HTML."""
        text = self._rendered("svg").decode("utf-8")
        return text[text.index("<svg") :]  # what comes before is for files of their own

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture to a file.

        Parameters
        ----------
        path : str or path
            Where to; its suffix says how: .svg, .png, .pdf, .dot or .gv.

        Returns
        -------
        pathlib.Path
            Where it was written.

        Raises
        ------
        InputError
            If the suffix is another one.
        UnsupportedError
            If pygraphviz, which all but .dot and .gv need, is missing.

        Examples
        --------
        >>> import pathlib, tempfile, adjoint as ad
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ad.explain(lambda x: x**2)(3.0).graph().save(pathlib.Path(folder) / "square.dot").name
        'square.dot'
        """
        file, suffix = Path(path), Path(path).suffix.lower()
        if suffix not in FORMATS:
            fix = f"Choose a name that ends in one of {', '.join(FORMATS)}."
            raise InputError(message("A graph cannot be saved in this format.", got=repr(str(path)), fix=fix))
        text = self.svg if suffix == ".svg" else self.dot
        file.write_bytes(self._rendered(suffix[1:]) if suffix in (".png", ".pdf") else text.encode("utf-8"))
        return file

    def _rendered(self, format: str) -> bytes:
        try:
            from pygraphviz import AGraph  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except ImportError as error:
            fix = (
                "Run  pip install 'adjoint[viz]',\n"
                'or choose a path that ends in .dot, which needs nothing:  e.graph("graph.dot").'
            )
            raise UnsupportedError(message("Drawing a graph needs pygraphviz, which is missing.", fix=fix)) from error
        graph = AGraph(string=self.dot)
        if format == "png":
            sides = re.findall(r'\b(?:width|height)="([\d.]+)pt"', self.svg[:400])
            graph.graph_attr["dpi"] = str(min(RESOLUTION, int(72 * LARGEST_PIXELS / max(map(float, sides)))))
        return bytes(graph.draw(format=format, prog="dot"))


def draw(view: TraceView, table: Table) -> Graph:
    """The graph of a view, with the names and digits of a table."""
    return Graph(_Picture(view, table).dot())


class _Picture:
    """The texts and shapes of a graph."""

    def __init__(self, view: TraceView, table: Table) -> None:
        self.view, self.table = view, table
        self.boxes = boxes_of(view)
        self.arrows = arrows_between(self.boxes)
        self.layers = [0] * len(self.boxes)
        """How far each box is from the inputs."""
        for arrow in self.arrows:  # in the order of their targets
            self.layers[arrow.target] = max(self.layers[arrow.target], self.layers[arrow.source] + 1)
        self.repeated = repeated_arrows(self.arrows, self.layers)
        # A box is broad, so this many side by side for each layer fit a page better from left to right.
        self.is_downwards = max(Counter(self.layers).values()) <= 1.5 * (max(self.layers) + 1)
        self.back = "↑" if self.is_downwards else "←"
        self.shares: dict[int, list[Any]] = {}
        """What arrives at each place on the way back, in the order of arrival."""
        for edge in [edge for row in reversed(view.rows) for edge in row.edges if edge.value is not None]:
            self.shares.setdefault(edge.operand, []).append(edge.value)

    def dot(self) -> str:
        """The graph in Graphviz's language."""
        name, direction = _quoted(self.table.result), "TB" if self.is_downwards else "LR"
        head = [f"digraph {name} {{", DEFAULTS, f"graph [rankdir={direction}, label=<{self._title()}>, tooltip={name}]"]
        nodes = _framed([(box.blocks, self._node(box)) for box in self.boxes])
        edges = [line for arrow in self.arrows for line in self._edge(arrow)]
        return "\n".join([*head, *nodes, *self._inputs_in_order(), *edges, "}\n"])

    def _inputs_in_order(self) -> list[str]:
        """Inputs side by side in the order of the arguments, but for those that are needed only later."""
        near = {arrow.source for arrow in self.arrows if self.layers[arrow.target] == 1}
        names = [_quoted(self._id(box)) for k, box in enumerate(self.boxes) if k in near]
        return [f"{{ rank=same; {' -> '.join(names)} [style=invis, minlen=0] }}"] if len(names) > 1 else []

    def _title(self) -> str:
        arguments = ", ".join([*self.view.recorded.names[:4], *["…"] * (len(self.view.recorded.names) > 4)])
        legend = [("values and local partials", VALUE)]
        legend += [("tangents", TANGENT)] if self.view.tangents is not None else []
        legend += [(f"∇ adjoints, {self.back} what is handed back to be summed", ADJOINT)] if self.view.backward else []
        lines = [f"<B>{_text(f'{self.table.result}({arguments})', INK, 15)}</B>"]
        lines += [_text(" · ", INK, 10).join([_text(text, colour, 10) for text, colour in legend])]
        if len(self.boxes) < len(self.view.rows):
            lines.append(_text(f"{len(self.view.rows):,} inputs and steps drawn as {len(self.boxes)} boxes", MUTED, 10))
        if self.repeated:
            lines.append(_text("dotted boxes repeat a value that is used in many places", MUTED, 10))
        return _stacked([f"<TD>{line}</TD>" for line in lines] + ['<TD HEIGHT="9"></TD>'])

    def _id(self, box: Box) -> str:
        first, last = box.rows[0].outs[0], box.rows[-1].outs[-1]
        return " … ".join(dict.fromkeys([self.view.names[first], self.view.names[last]]))

    def _node(self, box: Box) -> str:
        (first, *rest), tag = self._lines(box), self._tag(box)
        corner = f'<TD ALIGN="RIGHT">{_text(tag, MUTED, 9)}</TD>' if tag else ""
        cells = [f'<TD ALIGN="LEFT">{first}</TD>{corner}']
        cells += [f'<TD COLSPAN="2" ALIGN="LEFT">{line}</TD>' for line in rest]
        for out in box.shown if self.view.backward is not None else []:
            adjoint = f"{self.table.adjoint_of(self.table.called(out))} = {self._sum(out)}"
            cells.append(f'<TD COLSPAN="2" ALIGN="LEFT" BGCOLOR="{ADJOINT_PALE}">{_text(adjoint, ADJOINT)}</TD>')
        shape = SHAPES[box.kind]
        if box.recomputed == len(box.rows):
            shape = shape.replace('filled"', 'filled,dashed"')
        if {*box.outs} & {*self.view.outputs}:
            shape += ", peripheries=2" if box.kind in ("input", "step") else ", penwidth=2"
        name, place = self._id(box), box.rows[0].note.place
        told = name if box.kind == "input" else f"{name} = {self._formula(box)}"  # the whole, which may not fit
        told += f"   ({place}  {place.source})" if place and box.kind != "several" else ""
        return f"{_quoted(name)} [{shape}, tooltip={_quoted(told)}, label=<{_stacked(cells)}>]"

    def _lines(self, box: Box) -> list[str]:
        """Names, formulas and values, and tangents if there are any."""
        is_one = box.kind != "several" and len(box.outs) == 1
        lines = [f"<B>{_text(self._named(box.outs[0]) if is_one else self._id(box))}</B>"]
        if box.kind != "input":
            wrapper = textwrap.TextWrapper(WIDEST, break_on_hyphens=False, max_lines=MOST_LINES, placeholder=" …")
            lines += map(_text, wrapper.wrap(("= " if is_one else "") + self._formula(box)))
        for place in box.shown:
            value = _text(f"= {self._short(self.view.value(place))}", VALUE) + self._shape(place)
            lines.append(value if is_one else f"{_text(self._named(place))} {value}")
            if self.view.tangents is not None:
                name = self.table.tangent_of(self.table.called(place))
                lines.append(_text(f"{name} = {self._short(self.view.tangent(place))}", TANGENT))
        hidden = len(box.outs) - len(box.shown)
        return [*lines, _text(f"and {hidden} more", MUTED)] if hidden else lines

    def _shape(self, place: int) -> str:
        """The shape of an array, where its value does not say it."""
        value = self.view.value(place)
        is_said = self._short(value).endswith(shape_text(value))
        return "" if is_said else _text(f"  {np.shape(value)}", MUTED)

    def _named(self, place: int) -> str:
        """`v3 = c`: its number and what the user calls it."""
        label = self.view.labels[place] if place < len(self.view.recorded.inputs) else self.table.label(place)
        return f"{self.view.names[place]} = {label}" if label else self.view.names[place]

    def _formula(self, box: Box) -> str:
        """What is computed in a box; of several rows, what they consist of."""
        rows, outs = box.rows, box.rows[0].outs
        if box.kind != "several":
            text = rows[0].caption if box.kind == "loop" else self.table.formula(rows[0], outs[0])
            return text.removesuffix("[0]") if len(outs) > 1 else text
        if rows[0].kind == "input":
            return f"{len(rows)} inputs: {self.view.labels[outs[0]]} … {self.view.labels[rows[-1].outs[0]]}"
        parts = Counter(row.caption or operation(row) for row in rows)
        texts = [f"{count}×{what}" for what, count in parts.most_common(MOST_LINES)]
        lines = sorted({row.note.place.line for row in rows if row.note.place is not None})
        where = f", lines {lines[0]}-{lines[-1]}" if len(lines) > 1 else f", line {lines[0]}" if lines else ""
        return f"{len(rows)} steps{where}: {', '.join(texts)}{', …' if len(parts) > MOST_LINES else ''}"

    def _tag(self, box: Box) -> str:
        """The kind of a box in words."""
        parts = [box.kind] if box.kind in ("input", "block", "loop") else []
        outputs = self.view.recorded.outputs
        found = [k for k, out in enumerate(outputs) if self.view.recorded.is_traced(out) and out.node in box.outs]
        parts += [f"output {self.table.result}" + (f"[{k}]" if len(outputs) > 1 else "") for k in found]
        if box.recomputed:
            parts.append(f"{box.recomputed} recomputed" if box.recomputed < len(box.rows) else "recomputed")
        return ", ".join(parts[:MOST_OUTS]) + (", …" if len(parts) > MOST_OUTS else "")

    def _sum(self, place: int) -> str:
        """An adjoint; where several shares arrive, as the sum it is."""
        whole, terms = self._short(self.view.adjoint(place)), self.shares.get(place, [])
        if not 1 < len(terms) <= MOST_TERMS or place in self.view.outputs or shape_of(self.view.value(place)):
            return whole
        return " + ".join([self._short(term) for term in terms]).replace("+ -", "- ") + f" = {whole}"

    def _short(self, x: Any, widest: int = WIDEST) -> str:
        text = self.table.value(x)
        return text if len(text) <= widest else value_text(np.asarray(x), self.table.digits, most=3)

    def _edge(self, arrow: Arrow) -> list[str]:
        source, target = self.boxes[arrow.source], self.boxes[arrow.target]
        lines = [_text(f"{len(arrow.operands)} values", MUTED)]
        if len(arrow.operands) == 1:
            lines = [_text(self.table.called(arrow.operands[0]))] if len(source.outs) > 1 else []
            if target.kind == "step" and arrow.edges[0].partial is not None:
                lines.append(_text(self._partial(target.rows[0], arrow.edges[0]), VALUE))
            lines += [_text(f"{self.back} {handed}", ADJOINT) for handed in self._handed(arrow, target)]
        label = f", label=<{_stacked([f'<TD>{line}</TD>' for line in lines])}>" if lines else ""
        start, end, copies = self._id(source), _quoted(self._id(target)), []
        if arrow in self.repeated:
            name = self.table.called(source.outs[0]) if len(source.outs) == 1 else start
            start += f" for {self._id(target)}"
            copies = [f"{_quoted(start)} [{SHAPES['copy']}, label=<{_text(name)}>, tooltip={_quoted(name)}]"]
        # Arrows to the next layer are kept straight, so that chains are; long ones go around them.
        weight = 8 if self.layers[arrow.target] == self.layers[arrow.source] + 1 else 1
        return [*copies, f"{_quoted(start)} -> {end} [weight={weight}{label}]"]

    def _partial(self, row: Row, edge: Edge) -> str:
        """The local partial: formula and value, as far as they are short."""
        assert edge.partial is not None
        x = np.asarray(edge.partial.value)
        is_number = x.ndim == 0 or (x.size > 0 and bool((x == x.flat[0]).all()))  # the same for every element
        value = self._short(x.flat[0] if is_number else x)
        formula = "" if edge.partial.is_constant() else self.table.partial(row, edge)
        if not formula or len(formula) > WIDEST_LABEL:
            return value
        return f"{formula} = {value}" if is_number and formula != value else formula

    def _handed(self, arrow: Arrow, target: Box) -> list[str]:
        """What the target hands back: how, if there is no local partial; how much, if it is one of several shares."""
        values = [edge.value for edge in arrow.edges if edge.value is not None]
        found = []
        if values and target.kind == "step" and arrow.edges[0].partial is None:
            formula = self.table.handed(target.rows[0], arrow.edges[0])
            found += [formula] if len(formula) <= WIDEST_LABEL else []
        if values and len(values) < len(self.shares[arrow.operands[0]]):
            found.append(self._short(sum(values[1:], values[0]), WIDEST_LABEL))
        return found


def _framed(nodes: list[tuple[Blocks, str]], depth: int = 0) -> list[str]:
    """The nodes, those of a named block inside a frame."""
    lines = [node for blocks, node in nodes if len(blocks) == depth]
    for name, entry in dict.fromkeys(blocks[depth] for blocks, _ in nodes if len(blocks) > depth):
        members = [(blocks, node) for blocks, node in nodes if blocks[depth : depth + 1] == ((name, entry),)]
        frame = (
            f'label=<{_text(name or "block", MUTED, 12)}>, tooltip={_quoted(name)}, style="rounded", color="{MUTED}"'
        )
        lines += [f'subgraph "cluster {entry}" {{', f"graph [{frame}, labeljust=l]", *_framed(members, depth + 1), "}"]
    return lines


def _stacked(cells: list[str]) -> str:
    rows = "".join([f"<TR>{cell}</TR>" for cell in cells])
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2">{rows}</TABLE>'


def _text(text: str, colour: str = INK, size: int | None = None) -> str:
    points = "" if size is None else f' POINT-SIZE="{size}"'
    return f'<FONT COLOR="{colour}"{points}>{_escaped(text)}</FONT>'


def _quoted(text: str) -> str:
    return '"' + _escaped(text).replace("&quot;", '\\"') + '"'


def _escaped(text: str) -> str:
    """Without meaning to Graphviz, which sees entities and escapes, the latter even in labels of HTML."""
    printable = "".join([c if c.isprintable() else " " for c in text])  # others are not valid in a picture
    return html.escape(printable).replace("\\", "\\\\")
