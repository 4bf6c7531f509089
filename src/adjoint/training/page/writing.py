"""The page that shows a training run: one file of HTML without any network.

The page's policy names the one script and the one style that may run, by their hashes, and forbids everything else.
What is shown is data: numbers as JSON, pictures as bytes that the script inflates and draws.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import tempfile
import webbrowser
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from ...core.files.replacing import write_text
from ...notebooks import framed, is_notebook
from ..record import Record
from .content import content

SCRIPTS = ("basics.js", "chart.js", "panels.js", "painting.js", "weights.js", "boundary.js", "page.js")


def html(record: Record) -> str:
    """The page for a training run, as one string.

    Parameters
    ----------
    record : Record
        What was seen of the run.

    Returns
    -------
    str
        A whole file of HTML: style, script and data are inside.

    Examples
    --------
    >>> from adjoint.training.record import Record
    >>> html(Record("a line", {"parameters": "2"})).startswith("<!doctype html>")
    True
    """
    numbers, pictures = content(record)
    style = _asset("page.css")
    script = "\n".join(['"use strict";(() => {', *[_asset(name) for name in SCRIPTS], "})();"])
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "POLICY": policy,
        "TITLE": escape(record.title or "training"),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": _json(numbers),
        "PICTURES": base64.b64encode(pictures).decode(),
    }
    # All at once: a name that looks like a place to fill is left alone.
    return re.sub(r"@@([A-Z]+)@@", lambda found: parts[found[1]], _asset("page.html"))


@dataclass(frozen=True)
class TrainingPage:
    """The page of a training run, which notebooks show inline; `save(path)` writes it."""

    record: Record = field(repr=False)

    @property
    def html(self) -> str:
        """The page, as one text."""
        return html(self.record)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page, in one move: a reader sees the old file or the new one. The path."""
        return write(self.record, path)

    def show(self) -> Any:
        """Open it in a browser, where no notebook runs."""
        return show(self.record)

    def _repr_html_(self) -> str:
        """As a frame that loads nothing."""
        return framed(self.html)


def write(record: Record, path: str | PathLike[str]) -> Path:
    """Write the page for a training run.

    Parameters
    ----------
    record : Record
        What was seen of the run.
    path : str or path
        Where to write it.

    Returns
    -------
    pathlib.Path
        Where it was written.

    Examples
    --------
    >>> import tempfile
    >>> from adjoint.training.record import Record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Record("a line"), Path(folder) / "training.html").name
    'training.html'
    """
    return write_text(path, html(record))


def show(record: Record) -> Any:
    """Show the page: inline where a notebook runs, else in the browser.

    Parameters
    ----------
    record : Record
        What was seen of the run.

    Returns
    -------
    object
        What a notebook shows, or the path of the page.
    """
    folder = Path(tempfile.mkdtemp(prefix="adjoint-"))
    file = write(record, folder / "training.html")
    if not is_notebook():
        webbrowser.open(file.as_uri())
        return file
    from IPython.display import HTML

    page = file.read_text(encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    return HTML(framed(page))


def _asset(name: str) -> str:
    """A file of this folder, without indentation and lines of comment."""
    lines = (resources.files(__package__) / name).read_text(encoding="utf-8").splitlines()
    return "\n".join([line.strip() for line in lines if line.strip() and not line.lstrip().startswith("//")])


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(value: Any) -> str:
    """JSON that is safe inside a script element, whatever names it has."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
