"""Random programs of small whole numbers: whatever order they are added up in, results are the same to the last bit."""

import math

import numpy as np

import adjoint as ad

LIMIT = 2.0**20
"""Larger numbers are cut off, so that float32 stays exact."""
UNSIGNED_ZEROS = {"maximum", "minimum", "fmax", "fmin", "clip", "max", "min"}
"""NumPy itself gives either zero here, depending on where in an array it is."""


class Writer:
    """One random program: called with arrays or handles, it takes the same steps each time."""

    def __init__(self, seed, *, shapes, steps, largest=20_000, special=False):
        self.seed = seed
        self.steps = steps
        self.largest = largest
        self.special = special
        rng = np.random.default_rng((seed, 1))
        self.shapes = shapes
        self.dtypes = [np.dtype(rng.choice(["f8", "f8", "f8", "f4", "i8", "?"])) for _ in shapes]
        self.dtypes[0] = np.dtype("f8")
        self.layouts = [str(rng.choice(["C", "C", "C", "F", "strided", "reversed"])) for _ in shapes]

    def point(self, k):
        """Inputs; each `k` another point."""
        rng = np.random.default_rng((self.seed, 2, k))
        return tuple([self._input(rng, *given) for given in zip(self.shapes, self.dtypes, self.layouts, strict=True)])

    def _input(self, rng, shape, dtype, layout):
        wide = tuple([2 * n for n in shape]) if layout == "strided" else shape
        x = rng.integers(-4, 5, wide).astype(dtype)
        if self.special and dtype.kind == "f" and x.size:
            for value in (np.nan, np.inf, -np.inf, -0.0):
                x.flat[rng.integers(0, x.size, 1 + x.size // 50)] = value
        if layout == "strided":
            return x[tuple([slice(None, None, 2)] * x.ndim)]
        if layout == "reversed":
            return x[tuple([slice(None, None, -1)] * x.ndim)]
        return np.asfortranarray(x) if layout == "F" else x

    def __call__(self, *inputs):
        return Steps(self.seed, inputs, self.largest, self.special).taken(self.steps)


class Steps:
    """A program under way: the values so far, each with a bound."""

    def __init__(self, seed, inputs, largest, special):
        self.rng = np.random.default_rng((seed, 3))
        self.pool = [(x, 4.0) for x in inputs]
        self.largest = largest
        self.special = special

    def taken(self, steps):
        """So many steps, and a choice of what they gave."""
        names = sorted(STEPS)
        done = 0
        for _ in range(20 * steps):
            if done == steps:
                break
            done += self.take(STEPS[names[self.rng.integers(len(names))]])
        count = int(self.rng.integers(1, 5))
        chosen = [len(self.pool) - 1, *self.rng.integers(0, len(self.pool), count).tolist()]
        return tuple([self.pool[k][0] for k in chosen])

    def take(self, kind):
        """One more step, if it can be taken."""
        found = kind(self)
        if found is None:
            return False
        value, bound = found
        if np.size(value) > self.largest:
            return False
        if dtype_of(value).kind in "fi" and bound > LIMIT:
            value, bound = np.clip(value, -8, 8), 8.0
        self.pool.append((value, bound))
        return True

    def any(self, rank=None, floating=False, size=0):
        """A value of the pool; late ones more often."""
        for _ in range(20):
            k = max(self.rng.integers(0, len(self.pool), 2))
            x, bound = self.pool[k]
            if rank is not None and np.ndim(x) < rank:
                continue
            if np.size(x) < size or (floating and dtype_of(x) != np.float64):
                continue
            return x, bound
        return None

    def one_of(self, *choices):
        """One of several things."""
        return choices[self.rng.integers(len(choices))]

    def fitting(self, shape):
        """An operand that is broadcast to this shape: captured, or cut out of the pool."""
        x, bound = self.any()
        have = np.shape(x)
        if all(n == m or n == 1 for n, m in zip(have[::-1], shape[::-1], strict=False)) and len(have) <= len(shape):
            return x, bound
        kept = int(self.rng.integers(0, len(shape) + 1))
        new = tuple([1 if self.rng.random() < 0.3 else n for n in shape[kept:]])
        return self.rng.integers(-3, 4, new).astype(self.one_of("f8", "f8", "f4", "i8")), 3.0

    def key(self, shape, *, new_axes=True):
        """Slices, numbers, None and Ellipsis."""
        found = []
        for n in shape[: int(self.rng.integers(0, len(shape) + 1))]:
            kind = self.rng.random()
            if kind < 0.2 and n:
                found.append(int(self.rng.integers(-n, n)))
            elif kind < 0.3:
                found.append(slice(None))
            else:
                ends = [None if self.rng.random() < 0.3 else int(self.rng.integers(-n - 1, n + 2)) for _ in range(2)]
                if self.rng.random() < 0.7 and None not in ends:
                    ends.sort(key=lambda k: k % n if n else 0)
                found.append(slice(*ends, self.one_of(None, None, 1, 2, 3, -1, -2)))
        if self.rng.random() < 0.3:
            found = [Ellipsis, *([slice(None)] * (len(shape) - len(found))), *found][: len(shape) + 1]
        if new_axes and self.rng.random() < 0.2 and len(shape) < 4:
            found.insert(int(self.rng.integers(len(found) + 1)), None)
        return tuple(found)


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
    wide = np.shape(x)[:axis] + (4,) + np.shape(x)[axis + 1 :]
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


def writer(seed):
    """The program of a seed: many shapes, some of them around the sizes at which the compiler changes its mind."""
    rng = np.random.default_rng((seed, 0))
    kind = rng.random()
    if kind < 0.3:
        sizes, steps, rank = [0, 1, 1, 2, 3, 4], 12, 3
    elif kind < 0.8:
        sizes, steps, rank = [1, 2, 3, 5, 8, 9, 10, 16, 17, 31, 33, 40], 12, 3
    elif kind < 0.95:
        sizes, steps, rank = [4095, 4096, 4097, 8193], 8, 1
    else:
        sizes, steps, rank = [700, 901], 5, 2
    chosen = rng.choice(sizes, 3).tolist()
    shapes = []
    for _ in range(int(rng.integers(1, 4))):
        count = 2 if rank == 2 else int(rng.integers(0 if rank == 3 else 1, rank + 1))
        shapes.append(tuple([chosen[k] if rng.random() < 0.85 else 1 for k in rng.permutation(3)[:count]]))
    largest = 2_000_000 if rank == 2 else 20_000
    steps = int(rng.integers(2, steps + 1))
    return Writer(seed, shapes=shapes, steps=steps, largest=largest, special=bool(rng.random() < 0.2))
