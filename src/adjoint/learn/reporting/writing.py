"""The page of a report: one file of HTML without any network or script.

Its policy names the one style that may be used, by its hash, and forbids everything else.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from ...core.files.replacing import write_text
from ...notebooks import framed
from .sections import panels
from .summary import sentences


def page(numbers: dict[str, Any]) -> str:
    """The whole file."""
    style = (resources.files(__package__) / "page.css").read_text(encoding="utf-8")
    style = "\n".join([line.strip() for line in style.splitlines() if line.strip()])
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    name = escape(numbers["name"])
    first = "".join([f"<li>{escape(sentence)}</li>" for sentence in sentences(numbers)])
    body = panels(numbers)
    first, body = (text.replace(" %", "\N{NO-BREAK SPACE}%") for text in (first, body))
    about = [f"{len(numbers['classes'])} classes"] if "classes" in numbers else []
    about = [numbers["kind"], *about, f"scores on {numbers['how']}"]
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{name}: report</title>
<style>{style}</style>
</head>
<body>
<header><h1>{name}</h1><p>{escape(", ".join(about))}</p></header>
<main>
<section class="panel short" aria-labelledby="in-short"><h2 id="in-short">In short</h2><ul>{first}</ul>
<details><summary>The model</summary><pre>{escape(numbers["model"])}</pre></details></section>
{body}
</main>
<footer><p>If the model was trained on any of these rows, all numbers flatter it. Guarantees and intervals hold
for new rows that are like these: drawn alike, in no order.</p></footer>
</body>
</html>
"""


def write(numbers: dict[str, Any], path: str | PathLike[str]) -> Path:
    """Write the page in one move; the path."""
    return write_text(path, page(numbers))


INLINE = 900
"""The height of a page inside a notebook."""


def frame(numbers: dict[str, Any]) -> str:
    """The page inside a frame, so that its style stays its own."""
    return framed(page(numbers), INLINE)
