"""Functions that branch on values `t`, and random ones; the sides differ in all that sides can differ in."""

from __future__ import annotations

import itertools
import linecache
import random

import numpy as np

PATTERNS = [np.array(signs) for signs in itertools.product([1.0, -1.0], repeat=3)]
W = np.linspace(0.5, 1.5, 3)


def hidden(t, x):
    """What the first side leaves behind is seen only by one side of the second: no steps between tell them apart."""
    k = 3 if t[0] > 0 else 5
    y = x * k if t[1] > 0 else x
    return y + 1.0 if t[2] > 0 else y * y


def fan_out(t, x):
    """In the gradient, how many terms there are for y depends on all outcomes together."""
    y, z = x * 0.3, x * x
    if t[0] > 0:
        z = z + y
    if t[1] > 0:
        z = z * y
    if t[2] > 0:
        z = z - 2.0 * y
    return z


def slopes(t, x):
    """Floats of Python's, which are handles on one side."""
    a = 1.5 if t[0] > 0 else 0.1
    b = 0.0 if t[1] > 0 else x * 2.0
    c = a if t[2] > 0 else b
    return x * x * a + b * c


def nested(t, x):
    if t[0] > 0:
        x = x * 2.0 if t[1] > 0 else x + 1.0
    elif t[2] > 0:
        x = x * x
    else:
        x = x - 1.0
    if t[1] > 0 and t[2] > 0:
        x = x * 3.0
    return x * x


def early(t, x):
    if t[0] > 0:
        return x * x
    if t[1] > 0:
        return x * 3.0
    y = x + 1.0
    if t[2] > 0:
        y = y * x
    return y * 2.0


def leaky(v):
    return v if v > 0 else 0.1 * v


def helpers(t, x):
    a = leaky(t[0] * x)
    b = leaky(t[1] * x)
    c = leaky(t[2] * x)
    return a * b + c


def rounds(t, x):
    for k in range(3):
        x = x * (k + 1.0) if t[k] > 0 else x + k
    return x * x


def uneven_rounds(t, x):
    """One side takes two rounds of the loop, with the same variables at their ends."""
    flag = False
    for k in [0, 1, 1, 1]:
        if flag:
            flag = False
            continue
        if t[k] > 0:
            x = x * 0.7
        else:
            x = x * x
            flag = True
    return x


def containers(t, x):
    p, items = {"a": x, "b": x * 2.0}, [x, x * x]
    if t[0] > 0:
        p["a"] = p["b"] * x
    else:
        items[1] = items[0] + 1.0
    if t[1] > 0:
        items = [items[1], p["a"]]
    if t[2] > 0:
        items.append(x * 7.0)
    return sum(items) + p["b"] * p["a"]


def same_or_not(t, x):
    """Two variables are one value after one side, and two after the other."""
    if t[0] > 0:
        a = b = x * 2.0
    else:
        a = x
        b = x * x
    if t[1] > 0:
        a = a * b
    if t[2] > 0:
        b = b + a
    return a * b


def only_here(t, x):
    """A variable is set on one side alone, and is not read afterwards."""
    if t[0] > 0:
        half = x * 2.0
        y = half + 1.0
    else:
        y = x
    if t[1] > 0:
        half = y * 3.0
        y = half * half
    if t[2] > 0:
        y = y + x
    return y


def in_place(t, x):
    y = np.zeros(3)
    if t[0] > 0:
        y[1] = x[0]
    else:
        y[1:] = x[:2]
    if t[1] > 0:
        x = x.copy()
        x[0] = y[1] + 2.0
    if t[2] > 0:
        y += x
    return np.sum(x * y)


def updated_alias(t, x):
    """An update of y is one of x after one side, not after the other."""
    x = x * 1.0
    y = x if t[0] > 0 else x * 2.0
    if t[1] > 0:
        y[0] = 5.0 * x[1]
    if t[2] > 0:
        x = x + y
    return np.sum(x * x * y)


def alias_after_loop(t, x):
    """The same, and a loop that is captured on its own before."""
    x, z = x * 1.0, np.sum(x)
    y = x if t[0] > 0 else x * 2.0
    while z < 40.0:
        z = z * 0.5 + 21.0
    if t[1] > 0:
        y[0] = 5.0 * x[1]
    if t[2] > 0:
        x = x + y
    return np.sum(x * x * y) + z


def alias(t, x):
    x = x * 1.0
    y = x if t[0] > 0 else x * 2.0
    if t[1] > 0:
        y = y * x
    if t[2] > 0:
        x = x + y
    return np.sum(x * x * y)


def views(t, x):
    a, b = x[1:], x[:-1]
    if t[0] > 0:
        a = a * b
    if t[1] > 0:
        b = np.sin(a)
    if t[2] > 0:
        a, b = b, a
    return np.sum(a * a * b)


def captured(t, x):
    x = x * W if t[0] > 0 else x + W * W
    x = np.cos(x) @ W if t[1] > 0 else np.sum(x)
    if t[2] > 0:
        x = x * np.sum(W)
    return x


def shapes(t, x):
    if t[0] > 0:
        x = x[:2]
    if t[1] > 0:
        x = x * 2.0
    if t[2] > 0:
        x = x.reshape(-1, 1) * x
    return np.sum(x)


def mixed_kinds(t, x):
    """A number of NumPy's on one side, of Python's on the other."""
    x = np.sin(x) if t[0] > 0 else x * x
    if t[1] > 0:
        x = round(x, 2) + x
    if t[2] > 0:
        x = x * 2.0
    return x


def own_tests(t, x):
    """What is tested depends on the sides taken before."""
    x = np.sin(x) if np.sum(x) * t[0] > 0.1 else x * x
    x = np.cos(x) if np.sum(x) * t[1] > 0.1 else x + 2.0
    x = np.exp(-x) if np.sum(x) * t[2] > 0.1 else x / 3.0
    return np.sum(x)


OF_NUMBERS = [
    hidden, fan_out, slopes, nested, early, helpers, rounds, uneven_rounds, containers, same_or_not, only_here,
    mixed_kinds,
]  # fmt: skip
OF_ARRAYS = [in_place, updated_alias, alias_after_loop, alias, views, captured, shapes, own_tests]


# Random ones


def written(seed, *, loops=False):
    """A function of random statements, and whether it is of arrays; between them are loops that values end."""
    rng = random.Random(seed)
    of_arrays = rng.random() < 0.5
    lines = ["def f(t, x):", "    y, k, a, items, d, flag = x * 0.5, 1, 1.5, [x], {'u': x}, False"]
    for _ in range(rng.randrange(4, 9)):
        lines += _statement(rng, 1, 0, of_arrays)
        lines += [f"    {line}" for line in rng.choice(LOOPS)] if loops and rng.random() < 0.5 else []
    end = "np.sum(x * y) + np.sum(items[-1] * d['u']) * a" if of_arrays else "(x * y + items[-1] * d['u']) * a"
    source, name = "\n".join([*lines, f"    return {end}", ""]), f"<random {seed}{' with loops' * loops}>"
    if loops:  # as long as a side says
        source = source.replace("range(3)", "range(min(k, 5) + 1)").replace("[1, 1]", "[1] * min(k, 4)")
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names = {"np": np, "leaky": leaky, "__name__": __name__}
    exec(compile(source, name, "exec"), names)
    return names["f"], of_arrays


LOOPS = [
    ["while np.sum(x * x) > 2.0:", "    x = x * 0.7"],
    [
        "while np.sum(x * x) > 2.0:",
        "    if np.sum(x) > 1.0:",
        "        y = y * 0.9",
        "    k = k + 1",
        "    x = x * 0.7",
    ],
    ["for i in range(20):", "    x, a = x * 0.8 + 0.1, a * 1.01", "    if np.sum(x) < 0.6:", "        break"],
    ["for i in range(40):", "    if np.sum(x) > 1.0:", "        x = x * 0.5", "    else:", "        x = x + 0.13"],
]

TESTS = [
    "t[{0}] > 0",
    "t[{0}] > 0",
    "t[{0}] * np.sum(x) > 0.3",
    "flag",
    "k > 1",
    "t[{0}] > 0 and t[{1}] > 0",
    "a > 1.0",
]


def _statement(rng, indent, depth, of_arrays):
    space, c = "    " * indent, rng.random()

    def inside():
        return [line for _ in range(rng.randrange(1, 3)) for line in _statement(rng, indent + 1, depth + 1, of_arrays)]

    if c < 0.32 and depth < 3:
        found = [f"{space}if {rng.choice(TESTS).format(rng.randrange(3), rng.randrange(3))}:", *inside()]
        if rng.random() < 0.08:
            found.append(f"{space}    return {'np.sum(x * y)' if of_arrays else 'x * y'}")
        return [*found, f"{space}else:", *inside()] if rng.random() < 0.7 else found
    if c < 0.40 and depth < 2:
        return [f"{space}for i in {rng.choice(['range(2)', 'range(3)', '[1, 1]'])}:", *inside()]
    if c < 0.50:
        return [f"{space}k = {rng.choice(['k + 1', '2', '3', '1'])}"]
    if c < 0.56:
        return [f"{space}a = {rng.choice(['0.5', '2.5', 'a', '1.5'])}"]
    if c < 0.60:
        return [f"{space}flag = {rng.choice(['True', 'False', 'not flag'])}"]
    if c < 0.69:
        target = rng.choice(["items[0] = {0}", "items.append({0})", "d['u'] = {0}"])
        return [space + target.format(_expression(rng, of_arrays))]
    if c < 0.76:
        return [f"{space}y = {'x' if of_arrays else 'leaky(x)'}"]
    if c < 0.80 and of_arrays:
        return [space + rng.choice(["y = y * 1.0; y[0] = y[1] * 2.0", "x = x * 1.0; x[1:] = y[1:]"])]
    return [f"{space}{rng.choice(['x', 'y'])} = {_expression(rng, of_arrays)}"]


def _expression(rng, of_arrays):
    v = rng.choice(["x", "y", "items[0]", "items[-1]", "d['u']"])
    factor, term = rng.choice(["k", "a", "2.0", "x", "y"]), rng.choice(["k", "a", "1.0", "y"])
    last = f"np.sin({v})" if of_arrays else f"{v} * 0.9"
    return rng.choice([f"{v} * {factor}", f"{v} + {term}", f"{v} - 0.5 * y", last, v])
