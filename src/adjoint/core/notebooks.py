"""What notebooks show: whether one runs, tables that fit light and dark pages, pages in a frame of their own."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence

INLINE = 820
"""The height of a page inside a notebook."""

LINE = "1px solid rgba(128,128,128,"
"""Grey that is seen on white and on black; all other colours are the notebook's own."""


def is_notebook() -> bool:
    """Whether this runs in a kernel that shows HTML.

    Examples
    --------
    >>> is_notebook()
    False
    """
    asked = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = asked() if asked else None
    return shell is not None and hasattr(shell, "kernel")


def framed(page: str, height: int = INLINE) -> str:
    """A whole page as a frame, in which its style and script are alone."""
    return f'<iframe srcdoc="{_escaped(page)}" width="100%" height="{height}" style="border: 0"></iframe>'


def html_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    texts: Collection[int] = (0,),
    title: str = "",
    foot: Sequence[str] = (),
) -> str:
    """A table of texts; columns whose numbers are in `texts` are words, the others numbers.

    >>> html_table(["name", "size"], [["<a>", "3"]]).count("&lt;a&gt;")
    1
    """
    head = "".join([_cell("th", text, k in texts, 0.6) for k, text in enumerate(header)])
    body = "".join(
        [f"<tr>{''.join([_cell('td', x, k in texts, 0.2) for k, x in enumerate(row)])}</tr>" for row in rows]
    )
    style = "border-collapse:collapse;border:0;color:inherit;background:transparent;margin:0.4em 0"
    table = f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    named = f'<div style="font-weight:bold">{_escaped(title)}</div>' if title else ""
    below = "".join([f"<div>{_escaped(line)}</div>" for line in foot])
    return f'<div style="color:inherit;overflow-x:auto">{named}{table}{below}</div>'


def _cell(kind: str, text: str, is_text: bool, shade: float) -> str:
    side = "left" if is_text else "right;font-variant-numeric:tabular-nums"
    style = f"text-align:{side};border:0;border-bottom:{LINE}{shade});padding:0.25em 0.8em;background:transparent"
    return f'<{kind} style="{style};white-space:nowrap">{_escaped(text)}</{kind}>'


def _escaped(text: str) -> str:
    """A text that is no HTML, for content and for attributes."""
    from html import escape  # which takes 10 ms to import, and most programs show no table

    return escape(text)
