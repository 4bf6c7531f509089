"""Derivatives of plain NumPy code in 100 lines: the design of `adjoint`, without its comfort.

A function runs once, on `Traced` values, and a trace decides what happens at each step: the forward trace pushes a
tangent along, the reverse trace records the step, for the sweep back. Traces nest, so every order works."""

from collections import namedtuple
from itertools import count

import numpy as np

LEVELS, PRIMITIVES = count(1), {np.shape: lambda x: np.shape(x.value)}


class Traced(np.lib.mixins.NDArrayOperatorsMixin):  # the mixin turns x * y into np.multiply(x, y)
    def __init__(self, value, trace, node):  # the node is a tangent (forward) or a place in the trace (reverse)
        self.value, self.traced_by, self.node = value, trace, node

    def __array_ufunc__(self, ufunc, method, *args):  # np.sin(x) arrives here
        return PRIMITIVES[ufunc](*args)

    def __array_function__(self, function, types, args, kwargs):  # np.sum(x) arrives here
        return PRIMITIVES[function](*args)


class Primitive(namedtuple("Facts", "evaluate push pull")):
    def __call__(self, *args):  # the innermost trace decides
        traces = [a.traced_by for a in args if isinstance(a, Traced)]
        return max(traces, key=lambda trace: trace.level).process(self, args) if traces else self.evaluate(*args)


def elementwise(op, *partials):  # d out = sum of partial * d argument
    def push(moves, out, args):
        return sum(t * p(out, *args) for t, p in zip(moves, partials, strict=True) if t is not None)

    PRIMITIVES[op] = Primitive(op, push, lambda k, g, out, args: g * partials[k](out, *args))


def linear(op, *transposes):  # no partial to multiply with: the tangent is the operation itself
    def push(moves, out, args):
        return PRIMITIVES[op](*[0.0 if t is None else t for t in moves])

    PRIMITIVES[op] = Primitive(op, push, lambda k, g, out, args: transposes[k](g))


class Trace(list):
    def split(self, args):  # what belongs to this trace, and the values one trace further out
        return zip(*[(a.node, a.value) if getattr(a, "traced_by", 0) is self else (None, a) for a in args], strict=True)

    def run(self, f, x, node):
        self.level = next(LEVELS)
        (node,), (value,) = self.split([f(Traced(x, self, node))])
        return value, node


class Forward(Trace):
    def process(self, primitive, args):
        moves, values = self.split(args)
        out = primitive(*values)
        return Traced(out, self, primitive.push(moves, out, values))


class Reverse(Trace):
    def process(self, primitive, args):
        parents, values = self.split(args)
        self.append((primitive, parents, values, primitive(*values)))
        return Traced(self[-1][3], self, len(self))


def jvp(f, x, tangent):  # (f(x), its tangent); None is a tangent that is zero by structure
    return Forward().run(f, x, tangent)


def grad(f):
    def gradient(x):
        trace = Reverse()
        adjoints = {trace.run(f, x, 0)[1]: 1.0}
        for place in range(len(trace), 0, -1):
            g, (primitive, parents, values, out) = adjoints.pop(place, None), trace[place - 1]
            for k, parent in enumerate(parents):
                if g is not None and parent is not None:
                    c = primitive.pull(k, g, out, values)  # next, undo broadcasting: one place for all rules
                    c = np.sum(c) if np.shape(values[k]) == () else c * np.ones(np.shape(values[k]))
                    adjoints[parent] = adjoints.get(parent, 0.0) + c  # fan-out adds
        return adjoints.get(0, 0.0 * x)

    return gradient


linear(np.add, lambda g: g, lambda g: g)
linear(np.subtract, lambda g: g, lambda g: -g)
linear(np.negative, lambda g: -g)
linear(np.sum, lambda g: g)
elementwise(np.multiply, lambda out, x, y: y, lambda out, x, y: x)
elementwise(np.divide, lambda out, x, y: 1.0 / y, lambda out, x, y: -out / y)
elementwise(np.power, lambda out, x, y: y * x ** (y - 1.0), lambda out, x, y: out * np.log(x))
elementwise(np.exp, lambda out, x: out)
elementwise(np.log, lambda out, x: 1.0 / x)
elementwise(np.sqrt, lambda out, x: 0.5 / out)
elementwise(np.sin, lambda out, x: np.cos(x))
elementwise(np.cos, lambda out, x: -np.sin(x))
