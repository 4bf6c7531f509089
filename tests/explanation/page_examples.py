"""Traces written by hand, in the form the page takes: the seeds' two examples and the corner cases."""

from __future__ import annotations

import math
import random

FLAGS = {"s": "structural", "v": "vertex"}


def sigmoid(x):
    """The logistic function, for evaluating examples in Python."""
    return 1 / (1 + math.exp(-x))


NAMES = {
    **{name: getattr(math, name) for name in ("sqrt", "exp", "cos", "sin", "inf", "tanh", "log")},
    "sigmoid": sigmoid,
    "power": lambda x, y: x**y if x or y >= 0 else math.inf,
    "where": lambda c, a, b: a if c else b,
}


def trace(inputs, steps, **other):
    """The data of a page: inputs are (label, value); steps (label, formula, js, [(from, partial, js, flags)])."""
    nodes = []
    for k, (label, value) in enumerate(inputs):
        name = "v0" if k == 0 else f"v({-k})"
        nodes.append(
            {
                "id": k, "name": name, "label": label, "kind": "input", "formula": label, "value": value,
                "adjoint": 0.0, "line": "", "block": "", "edges": [],
            }
        )  # fmt: skip
    for number, (label, formula, js, operands) in enumerate(steps, 1):
        edges = [
            {"from": source, "partial": partial, "js": partial_js, **{FLAGS[flag]: True for flag in flags}}
            for source, partial, partial_js, flags in operands
        ]
        nodes.append(
            {
                "id": len(nodes), "name": f"v{number}", "label": label, "kind": "step", "formula": formula, "js": js,
                "value": 0.0, "adjoint": 0.0, "line": f"example.py:{number}  {formula}", "block": "", "edges": edges,
            }
        )  # fmt: skip
    values = [node["value"] for node in nodes]
    for node in nodes:
        if node["kind"] == "step":
            node["value"] = values[node["id"]] = evaluate(node["js"], values)
    return {
        "title": "the example", "digits": 4, "live": True, "why": "", "nodes": nodes, "outputs": [nodes[-1]["id"]],
        "seed": [1.0], "guards": [], **other,
    }  # fmt: skip


def evaluate(js, values):
    """A formula of a page in Python, which reads the simple ones the same way."""
    return float(eval(js, {"__builtins__": {}, **NAMES}, {"v": values}))


def logistic(**other):
    """004's nine steps."""
    sigma = "σ({0})·(1 - σ({0}))"
    return trace(
        [("w[0]", -1.0), ("w[1]", 1.5), ("w[2]", 0.5)],
        [
            (
                "", "v0 + v(-1) + 1.5·v(-2)", "v[0]+v[1]+1.5*v[2]",
                [(0, "1", "1", ""), (1, "1", "1", ""), (2, "1.5", "1.5", "")],
            ),
            (
                "", "v0 + 1.5·v(-1) - v(-2)", "v[0]+1.5*v[1]-v[2]",
                [(0, "1", "1", ""), (1, "1.5", "1.5", ""), (2, "-1", "-1", "")],
            ),
            ("", "σ(v1)", "sigmoid(v[3])", [(3, sigma.format("v1"), "v[5]*(1-v[5])", "")]),
            ("", "σ(v2)", "sigmoid(v[4])", [(4, sigma.format("v2"), "v[6]*(1-v[6])", "")]),
            ("", "0 - v3", "0-v[5]", [(5, "-1", "-1", "")]),
            ("", "1 - v4", "1-v[6]", [(6, "-1", "-1", "")]),
            ("", "v5^2", "power(v[7],2)", [(7, "2·v5", "2*v[7]", "")]),
            ("", "v6^2", "power(v[8],2)", [(8, "2·v6", "2*v[8]", "")]),
            ("", "v7 + v8", "v[9]+v[10]", [(9, "1", "1", ""), (10, "1", "1", "")]),
        ],
        **{"title": "logistic loss", "digits": 2, **other},
    )  # fmt: skip


def worked(**other):
    """003's a to f."""
    return trace(
        [("x", 1.3)],
        [
            ("a", "x^2", "power(v[0],2)", [(0, "2·x", "2*v[0]", "")]),
            ("b", "exp(a)", "exp(v[1])", [(1, "exp(a)", "v[2]", "")]),
            ("c", "a + b", "v[1]+v[2]", [(1, "1", "1", ""), (2, "1", "1", "")]),
            ("d", "sqrt(c)", "sqrt(v[3])", [(3, "0.5·c^-0.5", "0.5*power(v[3],-0.5)", "v")]),
            ("e", "cos(c)", "cos(v[3])", [(3, "-sin(c)", "-sin(v[3])", "")]),
            ("f", "d + e", "v[4]+v[5]", [(4, "1", "1", ""), (5, "1", "1", "")]),
        ],
        **{"title": "f", **other},
    )


def rectified():
    """where(x > 0, sqrt(x), 0) at 0: the branch not taken hands on nothing, though its slope is infinite there."""
    return trace(
        [("x", 0.0)],
        [
            ("", "sqrt(x)", "sqrt(v[0])", [(0, "0.5/sqrt(x)", "0.5/sqrt(v[0])", "")]),
            ("", "where(x > 0, v1, 0)", "where(v[0]>0,v[1],0)", [(1, "[x > 0]", "where(v[0]>0,1,0)", "s")]),
        ],
    )


def absolute():
    """sqrt(x**2) at 0: the infinite slope of the root meets a slope of exactly 0."""
    return trace(
        [("x", 0.0)],
        [
            ("", "x^2", "power(v[0],2)", [(0, "2·x", "2*v[0]", "")]),
            ("", "sqrt(v1)", "sqrt(v[1])", [(1, "0.5·v1^-0.5", "0.5*power(v[1],-0.5)", "v")]),
        ],
    )


def branched():
    """A program with a decision: x**2 if x > 0."""
    return trace(
        [("x", 1.5)],
        [("", "x^2", "power(v[0],2)", [(0, "2·x", "2*v[0]", "")])],
        guards=[{"js": "v[0] > 0", "expected": True, "line": "f.py:3  if x > 0:"}],
    )


def fan_out():
    """One input that is used five times."""
    return trace(
        [("x", 0.7)],
        [
            ("", "sin(x)", "sin(v[0])", [(0, "cos(x)", "cos(v[0])", "")]),
            ("", "cos(x)", "cos(v[0])", [(0, "-sin(x)", "-sin(v[0])", "")]),
            ("", "exp(x)", "exp(v[0])", [(0, "exp(x)", "v[3]", "")]),
            ("", "x·x", "v[0]*v[0]", [(0, "x", "v[0]", ""), (0, "x", "v[0]", "")]),
            ("", "v1 + v2 + v3 + v4", "v[1]+v[2]+v[3]+v[4]", [(k, "1", "1", "") for k in (1, 2, 3, 4)]),
        ],
    )  # fmt: skip


def two_results():
    """Two weighted results, one of them used by the other, and an input that neither uses."""
    return trace(
        [("x", 0.5), ("y", 2.0), ("z", 9.0)],
        [
            ("", "x·y", "v[0]*v[1]", [(0, "y", "v[1]", ""), (1, "x", "v[0]", "")]),
            ("", "sin(v1)", "sin(v[3])", [(3, "cos(v1)", "cos(v[3])", "")]),
            ("", "z^2", "power(v[2],2)", [(2, "2·z", "2*v[2]", "")]),
        ],
        outputs=[3, 4],
        seed=[2.0, -1.0],
    )


def awkward():
    """Names with characters that HTML and JavaScript care about."""
    name = '</script><b a="1">&\'@@DATA@@\u2028'
    return trace([(name, 2.0)], [("<i>", f"{name}^2", "power(v[0],2)", [(0, f"2·{name}", "2*v[0]", "")])], title=name)


def fixed():
    """A page without formulas: texts only."""
    data = trace(
        [("X", 0.0), ("w", 0.0)],
        [
            ("z", "X @ w", "0", [(0, "wᵀ", "0", ""), (1, "Xᵀ", "0", "")]),
            ("", "sum(z)", "0", [(2, "", "0", "")]),
        ],
        live=False,
        seed=["1"],
        why="This program has 2,000 numbers: too many for sliders.",
    )
    texts = ["[[1, 2], [3, 4]]", "[0.5, -1]", "[-1.5, -2.5]", "-4"]
    adjoints = ["[[0.5, -1], [0.5, -1]]", "[4, 6]", "[1, 1]", "1"]
    for node, text, adjoint in zip(data["nodes"], texts, adjoints, strict=True):
        node.update(value=text, adjoint=adjoint, shape="float64[2]")
        node.pop("js", None)
        for edge in node["edges"]:
            del edge["js"]
            edge.update(share=adjoints[edge["from"]], total=adjoints[edge["from"]])
    data["nodes"][-1]["start"] = "1"
    data["nodes"][-1]["edges"][0]["handed"] = "∇v2 everywhere"
    return data


def tangled(count=50, seed=4):
    """A random graph of `count` nodes."""
    choose = random.Random(seed)
    inputs = [(f"x{k}", round(choose.uniform(-1, 1), 2)) for k in range(5)]
    names = ["v0", *[f"v({-k})" for k in range(1, 5)]]
    steps = []
    for number in range(1, count - 4):
        a, b = choose.sample(range(max(0, len(names) - 9), len(names)), 2)
        step = choose.choice(["product", "sum", "tanh"])
        if step == "product":
            edges = [(a, names[b], f"v[{b}]", ""), (b, names[a], f"v[{a}]", "")]
            steps.append(("", f"{names[a]}·{names[b]}", f"v[{a}]*v[{b}]", edges))
        elif step == "sum":
            edges = [(a, "1", "1", ""), (b, "0.5", "0.5", "")]
            steps.append(("", f"{names[a]} + 0.5·{names[b]}", f"v[{a}]+0.5*v[{b}]", edges))
        else:
            edges = [(a, f"1 - v{number}^2", f"1-power(v[{len(names)}],2)", "")]
            steps.append(("", f"tanh({names[a]})", f"tanh(v[{a}])", edges))
        names.append(f"v{number}")
    return trace(inputs, steps, title="tangled")


BROWSED = {"logistic": logistic(), "worked": worked(), "fan_out": fan_out(), "tangled": tangled()}
"""The examples whose every number is checked."""
