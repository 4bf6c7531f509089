"""State that is replaced in branches, in loops and by solvers, or in several places: as without jit, or refused."""

import random

import numpy as np
import pytest
from scipy.optimize import brentq

import adjoint as ad
from adjoint.core.traced import Traced

POINTS = [np.array([1.0, 2.0, 0.5]) * s for s in (1.0, 0.5, 2.0, 0.1)]


class Keeper:
    made = 0

    def __init__(self):
        self.n, self.total, self.a, self.b = 0, 0.0, np.ones(3), np.zeros(3)

    def _one(self, x):
        self.n += 1
        return np.sum(x)

    def _other(self, x):
        self.n += 10
        self.total = self.total + x[0]
        return np.sum(x**2)

    def in_cond(self, x):
        return ad.cond(x[0] > 0.8, self._one, self._other, x)

    def in_switch(self, x):
        return ad.switch(x[0].astype(int), [self._one, self._other, self._one], x)

    def in_scan(self, x):
        def body(c, r):
            self.total = self.total + r
            return c + r, None

        return ad.scan(body, 0.0, x)[0]

    def in_while_loop(self, x):
        def body(c):
            self.total = c
            return 2.0 * c

        return ad.while_loop(lambda c: c < 10.0, body, np.sum(x))

    def in_two_places(self, x):
        self.a = self.b = self.b + x
        return np.sum(self.a * x)


def _state(keeper):
    return [keeper.n, keeper.total, *keeper.a, *keeper.b, keeper.a is keeper.b]


@pytest.mark.parametrize("name", [name for name in vars(Keeper) if name.startswith("in_")])
def test_as_without_jit(name):
    """Only the branch that is taken counts, a value of a body is that of its last step, one array stays one."""
    plain, keeper = Keeper(), Keeper()
    jitted = ad.jit(getattr(keeper, name))
    for x in POINTS:
        np.testing.assert_allclose(jitted(x), getattr(plain, name)(x), rtol=1e-12)
        np.testing.assert_allclose(_state(keeper), _state(plain), rtol=1e-12)
        assert not any([isinstance(v, Traced) for v in vars(keeper).values()])


def test_loops_keep_what_their_last_step_gives():
    """With and without jit."""
    keeper = Keeper()
    assert (keeper.in_scan(POINTS[0]), keeper.total) == (3.5, 3.5)
    assert (keeper.in_while_loop(POINTS[0]), keeper.total) == (14.0, 7.0)


def test_a_dict_that_also_grows_is_refused():
    """What cannot be set back is not done twice: the sum was 4 instead of 2, and so was the result."""
    counts = {"calls": 0}

    def f(x):
        counts["calls"] += 1
        counts["sum"] = counts.get("sum", 0) + 2
        return np.sum(x) * counts["sum"]

    with pytest.raises(ad.errors.ImpureError, match="captured dict"):
        ad.jit(f)(POINTS[0])
    assert counts["sum"] == 2


def test_a_count_of_the_call_itself_in_a_solver():
    """It ends with the call, and what is counted beside the solver is kept."""
    keeper = Keeper()

    def f(x):
        calls = 0

        def g(t):
            nonlocal calls
            calls += 1
            return t**3 + t - x[0]

        keeper.n += 1
        return brentq(g, -10.0, 10.0)

    jitted = ad.jit(f)
    assert [(round(jitted(x), 6), keeper.n) for x in POINTS[:2]] == [(0.682328, 1), (0.423854, 2)]


LINES = """
self.n += 1
self.n = self.n * 3 - 7
self.n -= 2
self.a = 0.5 * self.a + x[0]
self.a = float(x[1]) + self.n
self.w = self.w * 0.9 + x
self.w, self.v = self.v, self.w
self.v = x * self.a
self.best = min(self.best, y)
y = y + self.a * self.n
y = y + np.sum(self.w * self.v)
self.s["k"] += 1
self.s["m"] = max(self.s["m"], y)
y = y * 0.5 if self.n % 2 else y + self.s["k"]
self.flag = not self.flag
self.flag = bool(x[0] > 0.4)
self.l[0] += self.n
self.l[-1] = y
self.inner.n += 2
y = y + self.inner.n * self.l[0]
C.made += 1
""".strip().split("\n")


def _written(seed):
    """The source of a class with one random method of such lines, some of them in branches."""
    chance, lines = random.Random(seed), []
    for _ in range(chance.randint(2, 7)):
        line, kind = chance.choice(LINES), chance.random()
        if kind < 0.15:
            line = f"if x[0] > {chance.choice([0.3, 0.8])}: {line}"
        elif kind < 0.25:
            line = f"if self.n % {chance.choice([2, 3])}: {line}"
        elif kind < 0.32:
            line = f"if y > {chance.choice([4.0, 40.0])}: {line}\n        else: {chance.choice(LINES)}"
        elif kind < 0.37:
            line = "if x[0] < 0.2: raise ValueError('small')"
        lines.append("        " + line)
    body = "\n".join(["        y = np.sum(x**2)", *lines, "        return y"])
    return f"class C(Base):\n    made = 0\n\n    def f(self, x):\n{body}\n"


class Base:
    def __init__(self):
        self.n, self.a, self.w, self.v, self.best = 1, 1.0, np.ones(3), np.zeros(3), np.inf
        self.flag, self.l, self.s, self.inner = False, [1, 2.0], {"k": 0, "m": -1.0}, None


def _followed(source, wrap, calls):
    """Results and state after each call, as far as none is refused."""
    space = {"np": np, "Base": Base, "__name__": "written"}
    exec(source, space)
    c, seen = space["C"](), []
    c.inner = Base()
    f = wrap(c.f)
    for k in range(calls):
        try:
            y = f(POINTS[k % 4] * (1.0 + k // 4))
        except ad.errors.ImpureError:
            break
        except ValueError as error:
            y = str(error)
        inside = {"made": space["C"].made, "inner": c.inner.n, "l": c.l[0], "last": c.l[1], "s": 0}
        state = {**vars(c), **c.s, **inside}
        assert wrap is not ad.jit or not any([isinstance(v, Traced) for v in [*state.values(), y]])
        seen.append([y, *[state[name] for name in sorted(state)]])
    return seen, getattr(f, "recordings", 0)


def _check(seed, calls):
    """Compare jit with plain Python; how many calls were not refused."""
    source = _written(seed)
    wanted, _ = _followed(source, lambda f: f, calls)
    found, recordings = _followed(source, ad.jit, calls)
    for k, (row, other) in enumerate(zip(found, wanted, strict=False)):
        for a, b in zip(row, other, strict=True):
            assert type(a) is type(b), (seed, k, source)
            if isinstance(a, str):
                assert a == b, (seed, k, source)
            else:
                np.testing.assert_allclose(a, b, rtol=1e-9, err_msg=f"{seed}, call {k}\n{source}")
    assert recordings < calls, source
    return len(found)


def test_random_classes():
    """Results, state and its types are those of plain Python after every call; few are refused."""
    assert sum([_check(seed, 12) for seed in range(10)]) > 60


@pytest.mark.slow
def test_more_random_classes():
    """The same for many more."""
    assert sum([_check(seed, 12) for seed in range(10, 150)]) > 800
