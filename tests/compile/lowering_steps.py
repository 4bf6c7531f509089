"""The steps of random programs: `(writer) -> (value, bound)`, or None where there is nothing that fits."""

import math

import numpy as np

import adjoint as ad


def dtype_of(x):
    return np.asarray(x).dtype if not hasattr(x, "dtype") else x.dtype


def number(w):
    """A step of one operand, elementwise."""
    x, b = w.any()
    if dtype_of(x).kind == "b":
        return w.one_of((~x, 1.0), (x * 2.0, 2.0), (np.where(x, 3.0, -1.0), 3.0))
    return w.one_of(
        lambda: (-x, b),
        lambda: (np.abs(x), b),
        lambda: (x + 1, b + 1),
        lambda: (2 * x - 3, 2 * b + 3),
        lambda: (np.square(x), b * b),
        lambda: (np.sign(x), 1.0),
        lambda: (np.remainder(x, 5), 5.0),
        lambda: (np.clip(x, -2, 3), 3.0),
        lambda: (np.where(x > 0, x, 0 * x), b),
        lambda: (np.floor(x * 0.5) if dtype_of(x).kind == "f" else x // 2, b),
        lambda: (x != 0, 1.0),
    )()


def pair(w):
    """A step of two operands, elementwise and broadcast."""
    x, b = w.any()
    y, c = w.fitting(np.shape(x))
    if w.rng.random() < 0.5:
        (x, b), (y, c) = (y, c), (x, b)
    if dtype_of(x).kind == "b" or dtype_of(y).kind == "b":
        return w.one_of(lambda: (x * y, b * c), lambda: (x == y, 1.0), lambda: (np.where(x, y, 1 * y), c))()
    return w.one_of(
        lambda: (x + y, b + c),
        lambda: (x - y, b + c),
        lambda: (x * y, b * c),
        lambda: (x * y, b * c),
        lambda: (np.maximum(x, y), max(b, c)),
        lambda: (np.minimum(x, y), max(b, c)),
        lambda: (x < y, 1.0),
        lambda: (x >= y, 1.0),
        lambda: (np.where(x < y, x, y), max(b, c)),
    )()


def cast(w):
    """Another dtype."""
    x, b = w.any()
    kind = w.one_of("f4", "f8", "i8", "i4", "?")
    if w.special and dtype_of(x).kind == "f" and kind[0] == "i":
        x = np.where(np.isfinite(x), x, 1.0)
    return x.astype(kind) if hasattr(x, "astype") else np.asarray(x).astype(kind), b


def view(w):
    """Slices, transposes, reshapes, broadcasts."""
    x, b = w.any(rank=1) or (None, 0)
    if x is None:
        return None
    shape = np.shape(x)
    axis = int(w.rng.integers(len(shape)))
    other = int(w.rng.integers(len(shape)))
    return w.one_of(
        lambda: (x[w.key(shape)], b),
        lambda: (x[w.key(shape)], b),
        lambda: (x[w.key(shape)], b),
        lambda: (np.transpose(x, w.rng.permutation(len(shape)).tolist()), b),
        lambda: (x.T, b),
        lambda: (np.reshape(x, factors(w, math.prod(shape))), b),
        lambda: (np.reshape(x, factors(w, math.prod(shape))), b),
        lambda: (np.ravel(x), b),
        lambda: (np.flip(x, axis), b),
        lambda: (np.swapaxes(x, axis, other), b),
        lambda: (np.expand_dims(x, axis), b) if len(shape) < 4 else None,
        lambda: (np.broadcast_to(x, (int(w.rng.integers(1, 4)), *shape)), b) if len(shape) < 4 else None,
        lambda: (np.squeeze(x), b),
    )()


def factors(w, size):
    """A shape with so many elements."""
    if size == 0:
        return w.one_of((0,), (0, 3), (2, 0))
    found = []
    for _ in range(int(w.rng.integers(0, 3))):
        n = w.one_of(*[k for k in range(1, min(size, 40) + 1) if size % k == 0])
        found.append(n)
        size //= n
    found.append(size)
    return tuple([found[k] for k in w.rng.permutation(len(found))])


def join(w):
    """Concatenations, stacks, rolls."""
    x, b = w.any(rank=1) or (None, 0)
    if x is None:
        return None
    shape = np.shape(x)
    axis = int(w.rng.integers(len(shape)))
    y, c = w.fitting(shape)
    y = np.broadcast_to(y, shape).astype(dtype_of(x)) if dtype_of(y) != dtype_of(x) else np.broadcast_to(y, shape)
    cut = (*[slice(None)] * axis, slice(0, int(w.rng.integers(0, shape[axis] + 1))))
    return w.one_of(
        lambda: (np.concatenate([x, y], axis), max(b, c)),
        lambda: (np.concatenate([x[cut], y, x], axis), max(b, c)),
        lambda: (np.stack([x, y], axis), max(b, c)) if len(shape) < 4 else None,
        lambda: (np.roll(x, int(w.rng.integers(-5, 6)), axis), b),
        lambda: (np.roll(x, int(w.rng.integers(-5, 6))), b),
        lambda: (np.repeat(x, 2, axis), b),
    )()


def assign(w):
    """Assignments to copies, one after the other, through views and from what was read before."""
    x, b = w.any(rank=1) or (None, 0)
    if x is None or dtype_of(x).kind == "b":
        return None
    y, new = x.copy(), b
    for _ in range(int(w.rng.integers(1, 4))):
        key = w.key(np.shape(x), new_axes=False)
        part = y[key]
        value, c = w.fitting(np.shape(part))
        if dtype_of(value) != dtype_of(x):
            value = value.astype(dtype_of(x))
        kind = w.rng.random()
        if kind < 0.4:
            y[key] = value
        elif kind < 0.6:
            y[key] += value
            c = new + c
        elif kind < 0.75:
            y[key] = y[key][tuple([slice(None, None, -1)] * np.ndim(part))] + value
            c = new + c
        elif kind < 0.9 and np.ndim(part):
            part[...] = value
        else:
            y[key] = 7
            c = 7.0
        new = max(new, c)
    return y, new


def reduce(w):
    """Reductions over any axes."""
    x, b = w.any(rank=1) or (None, 0)
    if x is None:
        return None
    rank = np.ndim(x)
    axes = w.rng.permutation(rank)[: int(w.rng.integers(1, rank + 1))].tolist()
    axis = None if w.rng.random() < 0.3 else tuple(axes)
    keep = bool(w.rng.integers(2))
    size = np.size(x)
    if dtype_of(x).kind == "b":
        return w.one_of(
            lambda: (np.any(x, axis, keepdims=keep), 1.0),
            lambda: (np.all(x, axis, keepdims=keep), 1.0),
            lambda: (np.sum(x, axis, keepdims=keep), float(size)),
        )()
    return w.one_of(
        lambda: (np.sum(x, axis, keepdims=keep), b * size),
        lambda: (np.sum(x, axis, keepdims=keep), b * size),
        lambda: (np.sum(x, axis, keepdims=keep), b * size),
        lambda: (np.max(x, axis, keepdims=keep), b) if size else None,
        lambda: (np.min(x, axis, keepdims=keep), b) if size else None,
        lambda: (np.prod(np.sign(x), axis, keepdims=keep), 1.0),
    )()


def running(w):
    """Running sums."""
    x, b = w.any(rank=1) or (None, 0)
    if x is None or dtype_of(x).kind == "b":
        return None
    return np.cumsum(x, int(w.rng.integers(np.ndim(x)))), b * np.size(x)


def gather(w):
    """Places from an array, known only at run time."""
    x, b = w.any(rank=1, size=1) or (None, 0)
    if x is None:
        return None
    axis = int(w.rng.integers(np.ndim(x)))
    n = np.shape(x)[axis]
    if n == 0:
        return None
    shape = w.one_of((0,), (1,), (3,), (17,), (2, 3))
    places = w.rng.integers(-n, n, shape)
    if w.rng.random() < 0.4:
        y, _ = w.any()
        if dtype_of(y).kind == "f" and not w.special:
            places = np.remainder(y.astype("i8") if hasattr(y, "astype") else np.int64(y), n)
    if np.ndim(places) + np.ndim(x) > 5:
        return None
    key = (*[slice(None)] * axis, places)
    wide = (*np.shape(x)[:axis], 4, *np.shape(x)[axis + 1 :])
    return w.one_of(
        lambda: (x[key], b),
        lambda: (np.take(x, places, axis), b),
        lambda: (np.take_along_axis(x, w.rng.integers(0, n, wide), axis), b),
    )()


def product(w):
    """Matrix products of all ranks and memory orders."""
    x, b = w.any(rank=1, floating=True) or (None, 0)
    if x is None:
        return None
    n = np.shape(x)[-1]
    rank = int(w.rng.integers(1, 4))
    columns = int(w.rng.integers(1, 20))
    other = [(n,), (n, columns), (*[w.one_of(1, m) for m in np.shape(x)[:-2]], n, columns)][rank - 1]
    y = w.rng.integers(-2, 3, other).astype(float)
    if rank > 1 and w.rng.random() < 0.5:
        y = np.swapaxes(np.swapaxes(y, -1, -2).copy(), -1, -2)
    z, c = w.any(floating=True) or (None, 0)
    bound = 2 * b * max(n, 1)
    if z is not None and w.rng.random() < 0.4:
        if np.ndim(z) > 1 and np.shape(z)[-2] == n and np.ndim(x) <= 2 >= np.ndim(z):
            return x @ z, b * c * max(n, 1)
        if np.ndim(x) == np.ndim(z) == 2 and np.shape(z)[-1] == n:
            return x @ z.T, b * c * max(n, 1)
    if np.ndim(x) == 2 and w.rng.random() < 0.4:
        m = np.shape(x)[0]
        return w.one_of(
            lambda: (np.einsum("ij,jk->ki", x, w.rng.integers(-2, 3, (n, columns)) * 1.0), bound),
            lambda: (np.einsum("ij,ik->jk", x, w.rng.integers(-2, 3, (m, columns)) * 1.0), 2 * b * max(m, 1)),
            lambda: (np.einsum("ij,ij->j", x, w.rng.integers(-2, 3, (m, n)) * 1.0), 2 * b * max(m, 1)),
            lambda: (np.einsum("ij,kji->ikj", x, w.rng.integers(-2, 3, (3, n, m)) * 1.0), 2 * b),
            lambda: (np.einsum("ij,kji->k", x, w.rng.integers(-2, 3, (3, n, m)) * 1.0), 2 * b * max(m * n, 1)),
        )()
    if np.ndim(x) > 1 and w.rng.random() < 0.3:
        return np.swapaxes(x, -1, -2) @ w.rng.integers(-2, 3, (np.shape(x)[-2], columns)) * 1.0, bound * np.size(x)
    return x @ y, bound


SMOOTH = (pair, view, view, join, assign, reduce, running, gather, product)


def slope(w):
    """A gradient of further steps."""
    x, _ = w.any(rank=1, floating=True) or (None, 0)
    if x is None or np.size(x) > 3000:
        return None
    before = len(w.pool)
    kinds = [w.one_of(*SMOOTH) for _ in range(int(w.rng.integers(1, 5)))]
    state = w.rng.bit_generator.state

    def inner(y):
        w.rng.bit_generator.state = state
        w.pool.append((y, 4.0))
        total = np.sum(y * y)
        for kind in kinds:
            w.take(kind)
        for value, _ in w.pool[before + 1 :]:
            if dtype_of(value).kind == "f":
                total = total + np.sum(value * value)
        del w.pool[before:]
        return total

    return np.clip(ad.grad(inner)(x), -8, 8), 8.0


def loop(w):
    """`scan`, `fori_loop`, `while_loop`, `cond` around steps that keep the shape."""
    x, _ = w.any(floating=True) or (None, 0)
    if x is None:
        return None
    shift = int(w.rng.integers(1, 4))

    def body(c):
        new = np.clip(2 * c - 1, -8, 8)
        if np.ndim(c):
            new = np.roll(new, shift, 0) - np.flip(c, 0)
            new = new + np.sum(c, axis=-1, keepdims=True)
        return np.clip(new, -8, 8)

    def limited(c):
        i, v = c
        return i + 1, body(v)

    return w.one_of(
        lambda: (ad.fori_loop(0, 3, lambda i, c: body(c + i), x), 8.0),
        lambda: (ad.while_loop(lambda c: c[0] < 3, limited, (0, x))[1], 8.0),
        lambda: (ad.cond(np.sum(x) > 0, body, lambda c: -c, x), 8.0),
        lambda: (ad.scan(lambda c, y: (body(c), c + y), x, np.arange(3.0))[1], 12.0),
    )()


STEPS = {
    f.__name__: f for f in (number, pair, cast, view, join, assign, reduce, running, gather, product, slope, loop)
} | {"pair2": pair, "view2": view, "number2": number, "reduce2": reduce, "assign2": assign}
