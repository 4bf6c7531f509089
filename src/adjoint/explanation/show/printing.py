"""A table in colours, by the `rich` package, and as HTML."""

from __future__ import annotations

import html
from typing import Any

from .table import Table, width

COLOURS = {"forward primal trace": "cyan", "forward tangent trace": "green", "reverse adjoint trace": "magenta"}
"""The columns that have values, and the colours of these."""

Column = tuple[str, list[tuple[str, str]]]


def rich_tables(table: Table, room: int) -> list[Any]:
    """Tables of `rich`: the traces side by side, or one below the other where a terminal has no room for that."""
    columns = table.columns()
    natural = max(width(line) for line in table.text().splitlines()) + 2
    return [_rich(columns)] if natural <= room else [_rich([c]) for c in columns]


def _rich(columns: list[Column]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    found = RichTable(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading, _ in columns:
        found.add_column(heading, overflow="fold")
        if heading in COLOURS:
            found.add_column("", justify="right", style=f"bold {COLOURS[heading]}", no_wrap=True)
    for cells in zip(*[cells for _, cells in columns], strict=True):
        if len(columns) == 1 and not any(cells[0]):  # a gap that only the other columns fill
            continue
        row: list[Any] = []
        for (heading, _), (formula, value) in zip(columns, cells, strict=True):
            row += [Text(formula), Text(value)] if heading in COLOURS else [Text(formula, style="dim")]
        found.add_row(*row)
    return found


def html_table(table: Table) -> str:
    """A table for a notebook."""
    columns = table.columns()
    head = "".join([f'<th colspan="2" style="text-align:left">{html.escape(h)}</th>' for h, _ in columns])
    body = []
    for cells in zip(*[cells for _, cells in columns], strict=True):
        parts = [
            f'<td style="text-align:left;font-family:monospace">{html.escape(formula)}</td>'
            f'<td style="text-align:right;font-family:monospace"><b>{html.escape(value)}</b></td>'
            for formula, value in cells
        ]
        body.append(f"<tr>{''.join(parts)}</tr>")
    foot = "".join([f"<p>{html.escape(line)}</p>" for line in table.foot()])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{foot}"
