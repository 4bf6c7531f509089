"""The control-flow graph of Python code, held against its definitions on the functions of the standard library."""

from __future__ import annotations

import argparse
import ast
import bisect
import copy
import dis
import functools
import heapq
import inspect
import json.decoder
import statistics
import textwrap
import types
from pathlib import Path

import pytest

from adjoint.host.code.decode import handlers_in, instructions
from adjoint.host.code.graph import graph_of, immediate_dominators, successors
from adjoint.host.code.positions import line_of

MODULES = [argparse, ast, bisect, copy, functools, heapq, inspect, json.decoder, statistics, textwrap]


def codes_in(code):
    """A code and those inside it."""
    yield code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from codes_in(c)


@functools.cache
def codes_of(module):
    """Every function, class and comprehension of a module, and the module itself."""
    return list(codes_in(compile(Path(module.__file__).read_text(encoding="utf-8"), module.__file__, "exec")))


def reached(edges, start, without=None):
    """The nodes that a node leads to, itself among them, if one is taken out."""
    found, waiting = set(), [start]
    while waiting:
        node = waiting.pop()
        if node != without and node not in found:
            found.add(node)
            waiting += edges[node]
    return found


def dominated(edges, root):
    """By definition: a node dominates what cannot be reached without it."""
    everything = reached(edges, root)
    return {a: everything - reached(edges, root, without=a) for a in everything}


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_blocks(module):
    """Every instruction is in one block; control comes in at the first of it only, and goes on from the last only."""
    for code in codes_of(module):
        graph, steps = graph_of(code), instructions(code)
        assert [k for b in graph.blocks for k in range(b.start, b.end)] == [*range(len(steps))]
        starts = {graph.start_of(b) for b in range(len(graph.blocks))}
        for k, step in enumerate(steps):
            following = [place for place, _ in successors(code, k)]
            block = graph.blocks[graph.block_at(step.place)]
            if k + 1 < block.end:
                assert following == [steps[k + 1].place]
            else:
                assert {*following} <= starts
                assert [graph.start_of(b) for b in block.successors] == following


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_dominators(module):
    """A block dominates another if there is no path around it: the other cannot be reached once it is taken out."""
    for code in codes_of(module):
        graph = graph_of(code)
        edges = graph.edges
        wanted = dominated(edges, 0)
        for a in range(len(edges)):
            assert {b for b in range(len(edges)) if graph.dominates(a, b)} == wanted.get(a, set())


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_post_dominators(module):
    """The same of the graph that is turned round, seen from its end."""
    for code in codes_of(module):
        graph = graph_of(code)
        end = len(graph.blocks)
        turned = [[] for _ in range(end + 1)]
        for number, block in enumerate(graph.blocks):
            for following in block.successors or (end,):
                turned[following].append(number)
        wanted = dominated(turned, end)
        for a in range(end):
            assert {b for b in range(end) if graph.post_dominates(a, b)} == wanted.get(a, set())


def test_immediate_dominators():
    """The closest one, also where loops overlap; what is not reached has none."""
    edges = [[1, 2], [3], [3, 4], [1, 5], [5], [], [5]]
    assert immediate_dominators(edges, 0) == [0, 0, 0, 0, 2, 0, None]
    irreducible = [[1, 2], [2], [1]]
    assert immediate_dominators(irreducible, 0) == [0, 0, 0]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_loops(module):
    """A block is in a loop if it leads back to itself, and every block of one leads to the header and back."""
    for code in codes_of(module):
        graph = graph_of(code)
        edges = graph.edges
        inside = {b for loop in graph.loops for b in loop.body}
        for b in reached(edges, 0):
            assert (b in inside) == (b in {n for s in edges[b] for n in reached(edges, s)})
        for header, body in graph.loops:
            assert all(graph.dominates(header, b) for b in body)
            within = [[s for s in following if s in body] for following in edges]
            assert all(reached(within, header) >= body and header in reached(within, b) for b in body)
            left = any(s not in body for b in body - {header} for s in graph.blocks[b].successors)
            assert graph.is_left_early(header) == left


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_liveness(module):
    """A variable is live if some path from here reads it before one sets it."""
    for code in codes_of(module):
        live, steps = graph_of(code).live, instructions(code)
        if not live:
            continue
        numbers = {step.place: k for k, step in enumerate(steps)}
        edges = [[numbers[place] for place, _ in successors(code, k)] for k in range(len(steps))]
        for name in code.co_varnames:
            reads = {k for k, s in enumerate(steps) if s.value == name and s.name in ("LOAD_FAST", "DELETE_FAST")}
            sets = {k for k, s in enumerate(steps) if s.value == name and s.name == "STORE_FAST"}
            on = [[] if k in sets else following for k, following in enumerate(edges)]
            for k, step in enumerate(steps):
                assert (name in live[step.place]) == (not reads.isdisjoint(reached(on, k)))


def branching(x, n):
    """Two branches that join, in a loop that can be left."""
    for _ in range(n):
        if x > 1.0:  # noqa: SIM108  (two blocks)
            x = x * 0.5
        else:
            x = x + 3.0
        x = x - 1.0
        if x < 0.0:
            return -x
    return x


def test_joins():
    """Where the two sides of an `if` meet again is its post-dominator; the test that may return has the end alone."""
    code = branching.__code__
    graph, first = graph_of(code), code.co_firstlineno
    blocks = {}
    for step in instructions(code):
        blocks.setdefault(line_of(code, step) - first, set()).add(graph.block_at(step.place))
    (test,), (joined,) = blocks[3], blocks[7]
    assert graph.post_dominators[test] == joined
    assert graph.dominators[joined] == test
    assert graph.post_dominates(joined, test)
    (loop,) = graph.loops_with(next(s.place for s in instructions(code) if line_of(code, s) - first == 3))
    assert {test, joined} <= loop.body
    assert graph.is_left_early(loop.header)


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_handlers(module):
    """Those that the standard library reads from the same table; errors lead from each block to the ones around it."""
    for code in codes_of(module):
        wanted = [(e.start, e.end, e.target) for e in dis.Bytecode(code).exception_entries]
        assert [tuple(handler) for handler in handlers_in(code)] == wanted
        graph = graph_of(code)
        for step in instructions(code):
            targets = [target for start, end, target in wanted if start <= step.place < end]
            block = graph.blocks[graph.block_at(step.place)]
            assert [*block.handlers] == [graph.block_at(target) for target in targets]


def retried(x):
    """A loop that an error alone leads round."""
    while True:
        try:
            return 1.0 / x
        except ZeroDivisionError:
            x += 1.0


def test_loops_through_handlers():
    """What is tried again is in a loop."""
    code = retried.__code__
    graph = graph_of(code)
    division = next(s for s in instructions(code) if s.name == "BINARY_OP")
    (loop,) = graph.loops_with(division.place)
    assert graph.is_left_early(loop.header)


def test_unknown_variables():
    """Where errors are caught, or variables are read by name, nothing is said of liveness."""

    def caught(x):
        try:
            return 1.0 / x
        except ZeroDivisionError:
            return x

    def named(x):
        y = x
        return locals()

    assert not graph_of(caught.__code__).live
    assert not graph_of(named.__code__).live
