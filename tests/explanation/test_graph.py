"""The picture of the graph: what its source says, to the digit, and that every format of it can be drawn."""

import math
import re
from collections import defaultdict
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest
from pygraphviz import AGraph
from scipy.special import expit

import adjoint as ad
from adjoint.explanation.explain import explain
from adjoint.explanation.show import graph as graphs
from adjoint.explanation.show.graph import draw

DIGITS, ROUNDING = 10, 0.51e-10
X, C = np.array([[1.0, 1.0, 1.5], [1.0, 1.5, -1.0]]), np.array([0.0, 1.0])
W = np.array([-1.0, 1.5, 0.5])


def worked(x):
    a = x**2
    b = np.exp(a)
    c = a + b
    d = np.sqrt(c)
    e = np.cos(c)
    return d + e


def loss(w):
    return np.sum((C - expit(X @ w)) ** 2)


def layers(p, x):
    with ad.block("layer 1"):
        h = np.tanh(p["W"] @ x + p["b"])
    with ad.block("layer 2"):
        y = p["v"] @ h
    return y**2


def newton(a):
    y = 1.0
    for _ in range(20):
        y = (y + a / y) / 2
    return y


def long(a):
    y = a
    for _ in range(500):
        z = np.sin(y)
        u = z * a
        y = y + 0.01 * u
        y = y * 0.999
    return y


PARAMETERS = {"W": np.arange(12.0).reshape(4, 3) / 10, "b": np.zeros(4), "v": np.ones(4)}


def drawn(fun, *args, **options):
    """The picture of a function at a point."""
    explanation = explain(fun, **options)(*args)
    return draw(explanation._view, explanation.table())


class Parsed:
    """The source of a graph as Graphviz reads it: attributes of its nodes and edges, nodes of its frames by label."""

    def __init__(self, graph):
        found = AGraph(string=graph.dot)  # everything is copied: nothing of it may outlive it
        self.nodes = {str(n): defaultdict(str, n.attr.items()) for n in found.nodes()}
        arrows = [((str(e[0]), str(e[1])), defaultdict(str, e.attr.items())) for e in found.edges()]
        self.arrows = [arrow for arrow in arrows if arrow[1]["style"] != "invis"]
        self.title = defaultdict(str, found.graph_attr.items())
        self.frames = {bare(s.graph_attr["label"]): sorted(map(str, s.nodes())) for s in found.subgraphs() if s.name}
        self.edges = sorted(ends for ends, _ in self.arrows)

    def node(self, name):
        """The lines in a box."""
        return texts(self.nodes[name]["label"])

    def edge(self, *ends):
        """The lines at an arrow."""
        return texts(dict(self.arrows)[ends]["label"])


def bare(label):
    return unescape(re.sub(r"<[^>]*>", "", label))


def texts(label):
    """The lines of a label as a reader sees them."""
    return [bare(row).strip() for row in re.findall(r"<TR>(.*?)</TR>", label)]


def number(text):
    """The number a text ends with."""
    return float(re.findall(r"-?[\d.]+(?:e[-+]\d+)?", text)[-1])


def test_worked_example_has_the_edges_of_its_drawing():
    """x->a, a->b, a->c, b->c, c->d, c->e, d->f, e->f, and no other node or edge."""
    names = {letter: f"v{k}" for k, letter in enumerate("xabcdef")}
    found = Parsed(drawn(worked, 1.3))
    assert set(found.nodes) == set(names.values())
    wanted = [(names[s], names[t]) for s, t in ("xa", "ab", "ac", "bc", "cd", "ce", "df", "ef")]
    assert found.edges == sorted(wanted)


def test_worked_example_has_its_local_partials():
    """2x, e^a, 1, 1, 0.5 c^-0.5, -sin c, 1, 1, as formulas and to the digit."""
    graph, x = Parsed(drawn(worked, 1.3, digits=DIGITS)), 1.3
    c = x**2 + math.exp(x**2)
    wanted = {
        ("v0", "v1"): ("2·x = ", 2 * x),
        ("v1", "v2"): ("exp(a) = ", math.exp(x**2)),
        ("v3", "v4"): ("0.5 / sqrt(c) = ", 0.5 * c**-0.5),
        ("v3", "v5"): ("-sin(c) = ", -math.sin(c)),
    }
    wanted |= dict.fromkeys([("v1", "v3"), ("v2", "v3"), ("v4", "v6"), ("v5", "v6")], ("1", 1.0))
    for ends, (formula, value) in wanted.items():
        assert graph.edge(*ends)[0].startswith(formula)
        assert number(graph.edge(*ends)[0]) == pytest.approx(value, abs=ROUNDING)


def test_worked_example_has_its_values_and_adjoints():
    """Names, formulas, values and adjoints of a to f, by the closed forms of the chain rule."""
    graph, x = Parsed(drawn(worked, 1.3, digits=DIGITS)), 1.3
    a, b, c = x**2, math.exp(x**2), x**2 + math.exp(x**2)
    to_c = 0.5 * c**-0.5 - math.sin(c)
    wanted = {
        "v0": ("v0 = x", None, x, (to_c + to_c * b) * 2 * x),
        "v1": ("v1 = a", "= x²", a, to_c + to_c * b),
        "v2": ("v2 = b", "= exp(a)", b, to_c),
        "v3": ("v3 = c", "= a + b", c, to_c),
        "v4": ("v4 = d", "= sqrt(c)", math.sqrt(c), 1.0),
        "v5": ("v5 = e", "= cos(c)", math.cos(c), 1.0),
        "v6": ("v6", "= d + e", math.sqrt(c) + math.cos(c), 1.0),
    }
    for name, (title, formula, value, adjoint) in wanted.items():
        first, *middle, second_last, last = graph.node(name)
        assert first.removesuffix("input").removesuffix("output worked") == title
        assert middle == ([] if formula is None else [formula])
        assert number(second_last) == pytest.approx(value, abs=ROUNDING)
        assert last.startswith(f"∇{title.split(' = ')[-1]} = ")
        assert number(last) == pytest.approx(adjoint, abs=ROUNDING)


def test_fan_out_is_shown_as_the_sum_it_is():
    """Where two shares arrive, each is on its arrow and both are in the box, in the order of arrival."""
    graph = Parsed(drawn(worked, 1.3))
    assert [graph.edge("v3", target)[1] for target in ("v4", "v5")] == ["↑ 0.1875", "↑ -0.7354"]
    assert graph.node("v3")[-1] == "∇c = -0.7354 + 0.1875 = -0.5479"
    assert len(graph.edge("v2", "v3")) == 1  # the only share is the adjoint itself


def test_logistic_regression_number_by_number():
    """004's graph: v(-2)..v9 with its edges, two decimals of every value, partial and gradient."""
    graph = Parsed(drawn(loss, W, level="scalar", digits=2, names=False))
    pairs = [(f"v{k}", f"v{k + 2}") for k in range(1, 7)] + [("v7", "v9"), ("v8", "v9")]
    pairs += [(source, target) for source in ("v0", "v(-1)", "v(-2)") for target in ("v1", "v2")]
    assert graph.edges == sorted(pairs)
    z = X @ W
    error = C - expit(z)
    values = dict(
        zip([f"v{k}" for k in range(1, 10)], [*z, *expit(z), *error, *error**2, np.sum(error**2)], strict=True)
    )
    for name, value in values.items():
        assert number(graph.node(name)[-2]) == pytest.approx(value, abs=0.0051)
    for name, gradient in (("v0", "0.13"), ("v(-1)", "0.06"), ("v(-2)", "0.54")):
        assert graph.node(name)[-1].endswith(f" = {gradient}")
    assert [graph.edge("v(-2)", target)[0] for target in ("v1", "v2")] == ["1.5", "-1"]
    assert graph.edge("v1", "v3") == ["σ(v1)·(1 - σ(v1)) = 0.17"]


def test_kinds_differ_in_shape_and_in_words():
    """Inputs, steps, outputs, blocks and loops can be told apart in black and white."""
    calls = ((worked, 1.3), (layers, PARAMETERS, np.ones(3)), (newton, 2.0))
    plain, blocks, loop = [Parsed(drawn(*call)) for call in calls]
    nodes = {"input": plain.nodes["v0"], "step": plain.nodes["v1"], "output": plain.nodes["v6"]}
    nodes |= {"block": blocks.nodes["v1"], "loop": loop.nodes["v2"]}
    assert len({(n["shape"], n["style"], n["peripheries"]) for n in nodes.values()}) == len(nodes)
    for kind in ("input", "output", "block", "loop"):
        assert kind in texts(nodes[kind]["label"])[0]
    assert blocks.node("v1")[1] == "= layer 1(p['W'], x, p['b'])"
    assert loop.node("v2")[1].startswith("= 2 steps x 19")
    opened = Parsed(drawn(*calls[1], collapse=False))  # then the steps of a block stand in a frame
    assert opened.frames == {"layer 1": ["v1", "v2", "v3"], "layer 2": ["v4"]}


def test_inputs_are_not_mixed_with_steps():
    """However little steps belong together, they are not put into one box with an input."""

    def chain(x):
        for k in range(70):
            with ad.block(f"turn {k}"):
                x = np.sin(x)
        return x

    assert boxes(Parsed(drawn(chain, 1.0, collapse=False)))["v0"] == 1


def test_recomputed_steps_are_dashed():
    """What a checkpoint does not store is dashed, and said in words; what is stored is not."""
    inner = ad.checkpoint(lambda x: np.sin(np.exp(x)))
    found = Parsed(drawn(lambda x: inner(x) * x, 0.7))
    dashed = {name for name, node in found.nodes.items() if "dashed" in node["style"]}
    assert dashed == {"v1", "v2"}
    assert all("recomputed" in found.node(name)[0] for name in dashed)


def test_arrays_are_short():
    """Large arrays show their ends and shape, a partial that is the same everywhere one number."""
    graph = Parsed(drawn(lambda x: np.sum(2.0 * x + np.exp(x)), np.linspace(0.0, 1.0, 50), digits=2))
    assert graph.node("v0")[1] == "= [0, 0.02, … 1] 50"
    assert [graph.edge("v0", target)[0] for target in ("v1", "v2")] == ["exp(x)", "2"]
    assert Parsed(drawn(lambda w: np.sum(X @ w), W)).edge("v0", "v1") == ["↑ ∇v1 @ X"]


def test_several_results_have_an_arrow_each():
    """A block of two results says which of them an arrow brings; outputs are numbered."""

    def pair(x, y):
        with ad.block("both"):
            s, t = x * y, np.sin(x)
        return s + t, s * t

    graph = Parsed(drawn(pair, 1.2, 0.7))
    arrows = sorted(texts(found["label"])[:2] for ends, found in graph.arrows if ends == ("v1 … v2", "v4"))
    assert arrows == [["s", "t = 0.932"], ["t", "s = 0.84"]]
    assert [graph.node(name)[0] for name in ("v3", "v4")] == ["v3output pair[0]", "v4output pair[1]"]


def test_modes_show_what_they_compute():
    """Forward mode has tangents and partials but no adjoint, both modes have all."""
    assert "∇" not in drawn(worked, 1.3, mode="forward").dot
    forward, both = [Parsed(drawn(worked, 1.3, mode=mode)) for mode in ("forward", "both")]
    assert forward.node("v1") == ["v1 = a", "= x²", "= 1.69", "ȧ = 2.6"]
    assert forward.edge("v0", "v1") == ["2·x = 2.6"]
    assert both.node("v1")[-2:] == ["ȧ = 2.6", "∇a = -0.5479 - 2.9694 = -3.5173"]


def boxes(found):
    """The boxes of a graph, without copies, and how many inputs and steps each stands for."""
    names = [name for name in found.nodes if " for " not in name]
    return {name: int(re.match(r"\d+ ", found.node(name)[1])[0]) if "…" in name else 1 for name in names}


@pytest.fixture(scope="module")
def condensed():
    """The picture of a trace of 2,001 rows."""
    return Parsed(drawn(long, 0.3, collapse=False, digits=DIGITS))


def test_long_traces_are_condensed(condensed):
    """2,001 rows give fewer than 80 nodes, which say what they stand for: none is lost."""
    found = boxes(condensed)
    assert len(condensed.nodes) < 80
    assert sum(found.values()) == 2001
    assert found["v0"] == found["v2000"] == 1  # input and output stay visible
    assert f"2,001 inputs and steps drawn as {len(found)} boxes" in texts(condensed.title["label"])
    where = f"lines {long.__code__.co_firstlineno + 3}-"
    assert all(where in condensed.node(name)[1] for name, count in found.items() if count > 1)


def test_shares_of_condensed_boxes_add_up(condensed):
    """What all boxes hand back to the input is its adjoint."""
    shares = [number(texts(found["label"])[-1]) for ends, found in condensed.arrows if ends[0].startswith("v0")]
    assert len(shares) > 20
    assert sum(shares) == pytest.approx(ad.grad(long)(0.3), abs=len(shares) * 10**-DIGITS)


def test_condensed_graphs_have_no_circle(condensed):
    """Arrows lead from earlier to later boxes only."""
    order = {name: k for k, name in enumerate(boxes(condensed))}
    assert all(order[source.split(" for ")[0]] < order[target] for source, target in condensed.edges)


def test_many_inputs_are_condensed():
    """A hundred weights, written out number by number, are a few boxes that say which."""
    explanation = explain(lambda w: np.sum(np.tanh(w) ** 2), level="scalar", collapse=False)(np.linspace(-1, 1, 100))
    found = Parsed(draw(explanation._view, explanation.table()))
    assert len(found.nodes) < 80
    assert sum(boxes(found).values()) == len(explanation.rows) > 200
    assert any(re.match(r"\d+ inputs: w\[0\] … w\[\d+\]", " ".join(found.node(name)[1:3])) for name in boxes(found))


def test_wide_use_of_a_value_is_drawn_with_copies():
    """A value used by many later steps does not send an arrow across the picture to each."""
    found = Parsed(drawn(newton, 2.0, collapse=False))
    copies = [node["label"] for name, node in found.nodes.items() if name.startswith("v0 for ")]
    assert {bare(label) for label in copies} == {"a"}
    assert 18 <= len(copies) < 80 - len(boxes(found))
    assert len([ends for ends in found.edges if ends[0] == "v0"]) + len(copies) == 20


def test_broad_graphs_are_read_from_left_to_right():
    """A deep graph goes down, one of many inputs across; the sign of what is handed back turns with it."""
    deep, broad = drawn(worked, 1.3), drawn(lambda w: np.sum(w**2), np.ones(8), level="scalar", collapse=False)
    assert (Parsed(deep).title["rankdir"], Parsed(broad).title["rankdir"]) == ("TB", "LR")
    assert ("↑" in deep.dot, "←" in broad.dot) == (True, True)


NASTY = '<b>&amp; "q" \\N \\ <!-- ]]> ∂\n\t\x00 end'


@pytest.mark.parametrize("collapse", [True, False])
def test_any_name_can_be_drawn(collapse):
    """Names with the signs of HTML, XML and Graphviz come out as they are."""

    def named(p):
        with ad.block(NASTY):
            h = np.sin(p['<&"\\'])
        return h * p["\\N"]

    svg = drawn(named, {'<&"\\': 0.3, "\\N": 2.0}, collapse=collapse).svg
    shown = "\n".join([(e.text or "").replace("\xa0", " ") for e in ElementTree.fromstring(svg).iter()])
    assert """v0 = p['<&"\\\\']""" in shown
    assert "v(-1) = p['\\\\N']" in shown
    assert '<b>&amp; "q" \\N \\ <!--' in shown


def test_colours_are_readable(condensed):
    """Every text has a contrast of at least 4.5 with what is behind it."""
    pairs = set()
    for found in (Parsed(drawn(worked, 1.3, mode="both")), Parsed(drawn(newton, 2.0)), condensed):
        for item in [found.title, *found.nodes.values(), *[attributes for _, attributes in found.arrows]]:
            behind = item["fillcolor"] or graphs.PAPER
            for cell in re.findall(r"<TD.*?</TD>", item["label"]):
                own = re.search(r'BGCOLOR="(.*?)"', cell)
                pairs |= {(colour, own[1] if own else behind) for colour in re.findall(r' COLOR="(.*?)"', cell)}
    assert len(pairs) >= 8
    assert {pair: contrast(*pair) for pair in pairs if contrast(*pair) < 4.5} == {}


def contrast(*colours):
    """The contrast ratio of the web's accessibility guidelines."""
    lights = []
    for colour in colours:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize(
    ("fun", "args"), [(loss, (W,)), (lambda a, b, c: c * a + b * c + a, (1.0, 2.0, 3.0))], ids=["loss", "sum"]
)
def test_inputs_stand_in_their_order(fun, args):
    """Graphviz puts v0, v(-1), v(-2) side by side in this order, if they are needed at once."""
    drawing = drawn(fun, *args, level="scalar").svg
    found = re.findall(r"<title>(v0|v\(&#45;\d\))</title>.*?points=\"(-?[\d.]+),", drawing, re.DOTALL)
    places = {unescape(name): float(x) for name, x in found}
    assert sorted(places, key=places.get) == ["v0", "v(-1)", "v(-2)"]


def test_late_inputs_stay_where_they_are_needed():
    """An input that only the last step uses is not drawn at the top, from where its arrow would be long."""

    def late(a, b):
        return np.exp(np.sin(np.cos(a))) * b

    assert "rank=same" not in drawn(late, 1.0, 2.0).dot
