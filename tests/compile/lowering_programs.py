"""Random programs of small whole numbers: whatever order they are added up in, results are the same to the last bit."""

import numpy as np

from tests.compile.lowering_steps import STEPS, dtype_of

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
