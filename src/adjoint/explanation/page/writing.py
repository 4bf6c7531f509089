"""The page that steps through the sweeps: one file of HTML without any network, computing in the browser.

The program is written into the page as JavaScript functions, not as texts to evaluate, so the page's policy can name
the one script and the one style that may run, by their hashes, and forbid everything else.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
import shutil
import tempfile
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from ...core.files.replacing import write_text
from ...core.notebooks import framed, is_notebook
from .layout import lay_out

SCRIPTS = ("story.js", "view.js", "page.js")
"""What shows the sweeps; what computes them comes before it."""

CONSTANTS = frozenset(
    ["PI", "E", "LN2", "LN10", "LOG2E", "LOG10E", "SQRT2", "SQRT1_2", "Infinity", "NaN", "true", "false"]
)
"""The constants that formulas of a page may use."""

TOKEN = re.compile(
    r"\s+|v\[\d+\]|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|[<>]=?|[=!]==?|&&|\|\||[-+*/(),!?:]", re.ASCII
)
MISREAD = ("--", "++", "//", "/*", "*/", "**", "</", "<!")
"""What JavaScript or HTML would take for something else: decrements, comments, powers of signed numbers, tags."""

INLINE = 720
"""The height of a page inside a notebook."""

WIDE_BOX = (118.0, 60.0)
TALL_BOX = (104.0, 60.0)
LINE = 18.0
"""How much higher a box is for one more line."""
CHARACTER = 6.7
"""Width of a character of the text on an arrow."""

CONSTANT = re.compile(r"-?[\d.]+")
"""A partial that stays as it is when the inputs change."""


def write_page(data: Mapping[str, Any], path: str | PathLike[str]) -> Path:
    """Write the page for a trace and return its path."""
    return write_text(path, page_html(data))


def show_page(write: Callable[[str], Any]) -> Any:
    """Show a page: inline where a notebook runs, else in the browser. The object that a notebook shows, or the path."""
    folder = Path(tempfile.mkdtemp(prefix="adjoint-"))
    file = Path(write(str(folder / "page.html")))
    if not is_notebook():
        webbrowser.open(file.as_uri())
        return file
    from IPython.display import HTML

    frame = framed(file.read_text(encoding="utf-8"), INLINE)
    shutil.rmtree(folder, ignore_errors=True)
    return HTML(frame)


def page_html(data: Mapping[str, Any]) -> str:
    """The page for a trace, as one string."""
    style = _asset("page.css")
    script = "\n".join(
        [
            '"use strict";(() => {',
            'const DATA = JSON.parse(document.getElementById("data").textContent);',
            computing(data),
            *[_asset(name) for name in SCRIPTS],
            "globalThis.adjointPage = Object.freeze({FUNCTIONS, numberText, evaluated, length: TIMELINE.length});",
            "})();",
        ]
    )
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    shows, trace = SHOWN[_mode(data)]
    parts = {
        "POLICY": policy,
        "SHOWS": shows,
        "TRACE": trace,
        "TITLE": html.escape(str(data.get("title", "")) or "trace"),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": page_data(data),
    }
    # All at once: a name that looks like a place to fill is left alone.
    return re.sub(r"@@([A-Z]+)@@", lambda found: parts[found[1]], _asset("page.html"))


SHOWN = {
    "reverse": ("values forward, derivatives back", "forward and reverse trace"),
    "forward": ("values and tangents, forward", "forward trace"),
    "both": ("values and tangents forward, derivatives back", "forward and reverse trace"),
}
"""What a page of each mode shows, and the trace that its title names."""


def _mode(data: Mapping[str, Any]) -> str:
    return str(data.get("mode", "reverse"))


def computing(data: Mapping[str, Any]) -> str:
    """The part of a page's script that computes and needs no page: `evaluated(inputs)` does the sweeps over `DATA`."""
    return "\n".join(
        [
            _asset("functions.js"),
            f"const FUNCTIONS = Object.freeze({{{', '.join(sorted(functions()))}}});",
            _program(data),
            _asset("sweep.js"),
            _asset("limits.js"),
            _asset("tangents.js") if _mode(data) != "reverse" else "",
        ]
    )


@cache
def functions() -> frozenset[str]:
    """The functions that formulas of a page may call: those of `functions.js`, under NumPy's and SciPy's names."""
    text = _asset("functions.js")
    own = re.findall(r"^(?:function|const) ([a-z]\w*)(?:\(| = \(?[\w, ]*\)? =>)", text, re.MULTILINE)
    given = re.findall(r"\b[a-z]\w*", text[text.index("{") : text.index("}")])
    return frozenset((*own, *given))


def _asset(name: str) -> str:
    """A file of this room, without indentation and lines of comment: a quarter of its size."""
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


def page_data(data: Mapping[str, Any]) -> str:
    """What the script needs, as JSON: texts, numbers and places; formulas in JavaScript are in the program instead."""
    live, nodes, outputs = bool(data.get("live")), data["nodes"], list(data["outputs"])
    shown = {node["id"]: node.get("shown") or _shown(node, nodes) for node in nodes}
    title = str(data.get("title", ""))
    result = data.get("result") or (title if title.isidentifier() else "L")
    needed = {
        "mode": _mode(data),
        "digits": int(data.get("digits", 4)),
        "live": live,
        "why": data.get("why", ""),
        "result": result,
        "several": bool(data.get("several", len(outputs) > 1)),
        "nodes": [_page_node(node, shown, live=live) for node in nodes],
        "outputs": outputs,
        "results": _results(data, result, shown),
        "constants": data.get("constants", []),
        "decisions": data.get("decisions", []),
        "guards": [
            {"line": str(guard.get("line") or ""), "expected": _expected(guard.get("expected", True))}
            for guard in data.get("guards", ())
        ],
        "layout": _drawings(nodes, digits=int(data.get("digits", 4)), lines=4 if _mode(data) == "both" else 3),
    }
    return _json(needed)


def _results(data: Mapping[str, Any], result: str, shown: Mapping[int, str]) -> list[dict[str, Any]]:
    """What is returned: its node, its names, the seed it adds there and what the seeds come to so far."""
    outputs, seeds = list(data["outputs"]), [_number(seed) for seed in data["seed"]]
    names = data.get("names") or [f"{result}[{k}]" if len(outputs) > 1 else result for k in range(len(outputs))]
    called = data.get("called") or [shown[place] for place in outputs]
    found = [
        {"id": place, "name": name, "called": own, "seed": seed}
        for place, name, own, seed in zip(outputs, names, called, seeds, strict=True)
    ]
    for one, dot in zip(found, data.get("dots", ()), strict=False):
        one["dot"] = dot
    for key in ("value", "tangent", "total"):
        for one, text in zip(found, data.get(f"{key}s", ()), strict=False):
            one[key] = text
    return found


def _expected(value: Any) -> Any:
    return value if isinstance(value, bool) else _number(value)


def _page_node(node: Mapping[str, Any], shown: Mapping[int, str], *, live: bool) -> dict[str, Any]:
    kept = {key: node.get(key, "") for key in ("id", "name", "label", "kind", "formula")}
    kept |= {key: node[key] for key in ("line", "block", "shape", "dot", "pushed") if node.get(key)}
    if "tangent" in node:
        kept["tangent"] = _number(node["tangent"])
    kept["shown"] = shown[node["id"]]
    if not live or node["kind"] == "input":
        kept["value"] = _number(node["value"])
    if not live:
        kept |= {key: _number(node[key]) for key in ("adjoint", "start", "gradient") if key in node}
    elif "recorded" in node:
        kept["recorded"] = _number(node["recorded"])
    flags = ("structural", "vertex", "limit")
    texts = ("handed", "pushed") if live else ("handed", "pushed", "share", "total", "before", "so_far")
    kept["edges"] = [
        {"from": edge["from"], "partial": edge["partial"]}
        | ({"target": edge["target"]} if edge.get("target", shown[edge["from"]]) != shown[edge["from"]] else {})
        | {flag: True for flag in flags if edge.get(flag)}
        | {text: _number(edge[text]) for text in texts if text in edge}
        for edge in node["edges"]
    ]
    return kept


def _shown(node: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> str:
    """The name under which formulas speak of a node: its label where they use it, else its number."""
    name, label = node["name"], node.get("label", "")
    if not label:
        return str(name)
    word = re.compile(rf"(?<![\w.]){re.escape(label)}(?![\w(\[])")
    texts = [
        text
        for other in nodes
        for edge in other["edges"]
        if edge["from"] == node["id"]
        for text in (other["formula"], edge["partial"])
    ]
    used = any(word.search(str(text)) for text in texts)
    return str(label if used or (not texts and node["kind"] != "input") else name)


def _number(value: Any) -> Any:
    """A number as JSON can hold it: nan and infinities as words."""
    if isinstance(value, str):
        return value
    number = float(value)
    return number if math.isfinite(number) else "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"


def _drawings(nodes: Sequence[Mapping[str, Any]], *, digits: int, lines: int) -> dict[str, Any]:
    """The graph from left to right, and downwards for narrow screens; its boxes have so many lines."""
    names = [node["id"] for node in nodes]
    edges = [(edge["from"], node["id"]) for node in nodes for edge in node["edges"]]
    texts = [str(edge["partial"]) for node in nodes for edge in node["edges"]]
    widths = [CHARACTER * (2 + (len(text) if CONSTANT.fullmatch(text) else digits + 3)) for text in texts]
    found = {}
    for key, (wide, high), layer_gap, side_gap in (("wide", WIDE_BOX, 76.0, 14.0), ("tall", TALL_BOX, 46.0, 10.0)):
        box = (wide, high + LINE * (lines - 3))
        drawing = lay_out(
            names, edges, box=box, layer_gap=layer_gap, side_gap=side_gap, label_widths=widths, downwards=key == "tall"
        )
        found[key] = {
            "width": round(drawing.width),
            "height": round(drawing.height),
            "size": box,
            "boxes": [[round(x), round(y)] for x, y in (drawing.boxes[name] for name in names)],
            "edges": [[[round(x), round(y)] for x, y in edge.points] for edge in drawing.edges],
            "labels": [[round(x) for x in edge.label] for edge in drawing.edges],
        }
    return found


def _program(data: Mapping[str, Any]) -> str:
    """The traced program as JavaScript: a function for each value, partial and guard."""
    if not data.get("live"):
        return "const PROGRAM = null;"
    values, partials = [], []
    for node in data["nodes"]:
        if node["kind"] != "input":
            values.append(f"{int(node['id'])}: v => {_expression(node['js'])},")
            found = ", ".join([f"v => {_expression(edge['js'])}" for edge in node["edges"]])
            partials.append(f"{int(node['id'])}: [{found}],")
    guards = [f"v => {_expression(guard['js'])}," for guard in data.get("guards", ())]
    return "\n".join(
        ["const PROGRAM = {values: {", *values, "}, partials: {", *partials, "}, guards: [", *guards, "]};"]
    )


def _expression(text: str) -> str:
    """A formula, if it consists of nothing but numbers, values of nodes, known functions and operators."""
    at, depth, compact = 0, 0, re.sub(r"\s+", "", text)
    while at < len(text):
        found = TOKEN.match(text, at)
        word = found[0] if found else ""
        is_known = not re.match(r"[A-Za-z_]", word) or word.startswith("v[") or word in functions() or word in CONSTANTS
        depth += (word == "(") - (word == ")")
        if not found or not is_known or depth < 0:
            raise ValueError(f"a page cannot compute {text!r}: {text[at : at + 20]!r} is none of its functions")
        at = found.end()
    if depth or not compact or any(pair in text for pair in MISREAD):
        raise ValueError(f"a page cannot compute {text!r}: write it with brackets and `power`")
    return f"({text})"
