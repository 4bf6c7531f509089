"""What the page needs to know: nodes, formulas, partials, as texts and as JavaScript."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.traced import Traced
from ...ir.program import GUARD
from ..formula.expression import CONSTANT, Symbol, expression_of
from ..record.decisions import decisions_of
from ..record.sweeps import seed_sums
from ..show.rows import Edge, Row, TraceView
from ..show.table import Table
from .script import NoScriptError, script

MOST_NODES = 120
"""A page of more boxes helps nobody."""

MOST_STEPS = 4 * MOST_NODES
"""Of more steps than this even sums in one row leave too many."""


def live_page(view: TraceView, table: Table) -> dict[str, Any]:
    """The data of a page that computes: every row is one number, and JavaScript can compute it.

    Raises `NoScriptError` where it cannot.
    """
    if len(view.rows) > MOST_NODES:
        raise NoScriptError(f"the program has {len(view.rows)} steps, number by number")
    if not view.recorded.inputs:
        raise NoScriptError("there is no number to change")
    if any(isinstance(out, Traced) and not view.recorded.is_traced(out) for out in view.recorded.outputs):
        raise NoScriptError("a result depends on the inputs but has no derivative")
    ids = {place: k for k, row in enumerate(view.rows) for place in row.outs}

    def name(symbol: Symbol) -> str:
        if symbol.kind != "value":
            raise NoScriptError("a value depends on a derivative")
        return f"v[{ids[symbol.place]}]"

    nodes = []
    for k, row in enumerate(view.rows):
        node = _node(view, table, row, k)
        value = np.asarray(view.value(row.outs[0]))
        if value.dtype != np.float64:
            raise NoScriptError(f"the program computes with {value.dtype.name}")
        node["value"], node["adjoint"] = float(value), float(view.adjoint(row.outs[0]))
        if view.backward is not None and view.backward.is_careful:  # then the steps alone need not give it
            node["recorded"] = node["adjoint"]
        if view.tangents is not None and (row.kind == "input" or row.outs[0] in view.limits):
            node["tangent"] = float(view.tangent(row.outs[0]))  # the seed, or a limit that the steps do not give
        if row.kind != "input":
            if len(row.outs) != 1 or not row.formulas:
                raise NoScriptError("a step has several results")
            node["js"] = script(row.formulas[row.outs[0]], name)
            node["edges"] = [_live_edge(row, e, ids, table, name) for e in row.edges]
        nodes.append(node)
    return {
        **_head(view, table, ids),
        "live": True,
        "why": "",
        "nodes": nodes,
        "seed": [float(seed) for seed in view.given_seeds if seed is not None],
        "guards": _guards(view, name),
    }


def still_page(view: TraceView, table: Table, why: str) -> dict[str, Any]:
    """The data of a page that shows what was computed: of arrays, blocks, or what JavaScript has not."""
    ids = {place: k for k, row in enumerate(view.rows) for place in row.outs}
    nodes = []
    for k, row in enumerate(view.rows):
        node = _node(view, table, row, k)
        node["value"] = ", ".join([table.value(view.value(place)) for place in row.outs])
        if view.backward is not None:
            node["adjoint"] = ", ".join([table.value(view.adjoint(place)) for place in row.outs])
        if view.tangents is not None:
            pairs = [table.tangent(row, place) for place in row.outs]
            node["tangent"] = ", ".join([value for _, value in pairs])
            node["pushed"] = ", ".join(dict.fromkeys([text.partition(" = ")[2] for text, _ in pairs]))
        if row.kind == "input" and np.iscomplexobj(view.adjoint(k)):  # the gradient is the direction of ascent
            node["gradient"] = table.value(np.conjugate(view.adjoint(k)))
        nodes.append(node)
    arrived: dict[int, Any] = {}

    def so_far(place: int) -> str:
        """What has arrived at all the values of a box."""
        return ", ".join([table.value(arrived[p]) if p in arrived else "0" for p in view.rows[ids[place]].outs])

    seeds = [seed for seed in seed_sums(view.recorded, view.given_seeds) if seed is not None]
    for place, seed in zip(view.outputs, seeds, strict=True):
        arrived[place] = seed.total
        nodes[ids[place]]["start"] = so_far(place)
    for k in range(len(view.rows) - 1, -1, -1):  # in the order of the sweep back
        row = view.rows[k]
        if view.backward is None:
            nodes[k]["edges"] = [_edge(row, edge, ids, table) for edge in row.edges]
        for edge in [e for e in row.edges if e.value is not None]:
            before = arrived.get(edge.operand)
            arrived[edge.operand] = edge.total
            found = _edge(row, edge, ids, table) | {"share": table.value(edge.value), "total": table.value(edge.total)}
            found["limit"] = edge.is_limit
            if before is not None:
                found["before"] = table.value(before)
            if len(view.rows[ids[edge.operand]].outs) > 1:
                found["so_far"] = so_far(edge.operand)
            nodes[k]["edges"].append(found)
    return {
        **_head(view, table, ids),
        "live": False,
        "why": why,
        "nodes": nodes,
        "values": [table.value(view.value(place)) for place in view.outputs],
        "tangents": [table.value(view.tangent(place)) for place in view.outputs if view.tangents is not None],
        "seed": [table.value(seed) for seed in view.given_seeds if seed is not None],
        "totals": [table.value(seed.total) for seed in seeds],
        "guards": [],
    }


def _head(view: TraceView, table: Table, ids: dict[int, int]) -> dict[str, Any]:
    recorded = view.recorded
    results = [(table.result + name, out) for name, out in zip(recorded.result_names, recorded.outputs, strict=True)]
    modes = {(True, False): "reverse", (False, True): "forward", (True, True): "both"}
    return {
        "title": table.result,
        "mode": modes[view.backward is not None, view.tangents is not None],
        "dots": [table.tangent_of(name) for name, out in results if view.recorded.is_traced(out)],
        "result": table.summed,
        "several": view.has_several_results,
        "digits": table.digits,
        "outputs": [ids[place] for place in view.outputs],
        "names": [name for name, out in results if view.recorded.is_traced(out)],
        "called": [table.called(place) for place in view.outputs],
        "decisions": [
            {"before": before, "text": text, "line": line}
            for before, found in decisions_of(view).items()
            for text, line in map(table.decision, found)
        ],
        "constants": [[name, table.value(out)] for name, out in results if not view.recorded.is_traced(out)],
    }


def _node(view: TraceView, table: Table, row: Row, k: int) -> dict[str, Any]:
    place = row.outs[0]
    line = row.note.place
    return {
        "id": k,
        "name": ", ".join([view.names[p] for p in row.outs]),
        "label": view.labels[place] if row.kind == "input" else table.label(place) if len(row.outs) == 1 else "",
        "shown": ", ".join([table.called(p) for p in row.outs]),
        "dot": ", ".join([table.tangent_of(table.called(p)) for p in row.outs]) if view.tangents is not None else "",
        "kind": "input" if row.kind == "input" else "step",
        "formula": view.labels[place] if row.kind == "input" else _formula(table, row),
        "line": f"{line}  {line.source}" if line is not None else "",
        "block": " / ".join([name for name, _ in row.note.blocks]),
        "shape": f"shape {shape}" if (shape := np.shape(view.value(place))) and len(row.outs) == 1 else "",
        "edges": [],
    }


def _formula(table: Table, row: Row) -> str:
    """What is computed in a box; all of its values have it."""
    text = table.formula(row, row.outs[0])
    return text.removesuffix("[0]").rstrip() if len(row.outs) > 1 else text


def _live_edge(row: Row, edge: Edge, ids: dict[int, int], table: Table, name: Any) -> dict[str, Any]:
    if edge.partial is None:
        raise NoScriptError("a step has no local partial")
    return {
        **_edge(row, edge, ids, table),
        "js": script(edge.partial, name),
        "structural": edge.is_structural,
        "vertex": edge.is_vertex,
        "limit": edge.is_limit,
    }


def _edge(row: Row, edge: Edge, ids: dict[int, int], table: Table) -> dict[str, Any]:
    found = {
        "from": ids[edge.operand],
        "target": table.called(edge.operand),
        "partial": "" if edge.partial is None else table.partial(row, edge),
    }
    if table.view.backward is not None:
        found["handed"] = table.handed(row, edge)
    if table.view.tangents is not None and edge.partial is not None:
        found["pushed"] = table.pushed(row, edge)
    return found


def _guards(view: TraceView, name: Any) -> list[dict[str, Any]]:
    """The decisions that the function and the local partials rely on; the sweep itself is done again by the page."""
    notebook, found = view.recorded.notebook, []
    own, rules = notebook.program.steps[: view.recorded.steps], notebook.program.steps[view.formed]
    for step, line in [*[(s, s.line) for s in own], *[(s, "") for s in rules]]:
        if step.primitive is not GUARD:
            continue
        e = expression_of(notebook, step.args[0], view.symbols)
        expected = step.params["expected"]
        if e.head == CONSTANT:
            continue
        found.append({"js": script(e, name), "expected": np.asarray(expected).item(), "line": line})
    return found
