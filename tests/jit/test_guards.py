"""Decisions on values: each is guarded, so that no result of a wrong path is ever seen."""

import math
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.transforms.jit import path

X = np.array([0.3, -1.2, 2.0])


def branch(x):
    return np.sum(x**2) if np.sum(x) > 0 else -np.sum(x)


def loop(x):
    while np.sum(x) < 20.0:
        x = x * 1.5 + 1.0
    return x


def chained(x):
    return x if 0 < x[0] < 1 and not x[1] > 0 else x * 2


def recursion(x):
    return x if x[0] > 5 else recursion(x + 1.0)


def nested(x):
    out = 0.0
    for v in x:
        out = out + (v**3 if v > 1 else (np.sin(v) if v > 0 else 1.0))
    return out


def asserted(x):
    assert x[0] > 0
    return x * 2


def raised(x):
    if x[0] < 0:
        raise KeyError("negative")
    return x + 1


def looked_up(x):
    return {0: x, 1: -x}[int(x[0])]


FUNCTIONS = {
    "branch": branch,
    "while": loop,
    "chained": chained,
    "recursion": recursion,
    "nested": nested,
    "assert": asserted,
    "raise": raised,
    "key": looked_up,
    "int": lambda x: x * int(x[0]),
    "float": lambda x: x * float(x[0]),
    "math": lambda x: x * math.floor(x[0]) + math.sin(x[1]),
    "round": lambda x: x * round(x[0]),
    "item": lambda x: x * x[0].item(),
    "tolist": lambda x: sum(v for v in x.tolist() if v > 0),
    "range": lambda x: sum(x[i] for i in range(abs(int(x[0])))) + 0 * x[0],
    "mask": lambda x: x[x > 0] * 2,
    "mask sum": lambda x: np.sum(x[x > 0]),
    "mask assignment": lambda x: assigned(x),
    "nonzero": lambda x: np.nonzero(x > 0)[0],
    "argwhere": lambda x: np.argwhere(x > 0),
    "unique": lambda x: np.unique(np.round(x)),
    "sorted": lambda x: np.stack(sorted(x)),
    "max of list": lambda x: max(x.tolist()),
    "builtin max": lambda x: max(x[0], x[1]) * 2,
    "in": lambda x: x if 2.0 in x else -x,
    "index": lambda x: x[int(np.argmax(x))],
    "slice": lambda x: x[: int(np.sum(x > 0))],
    "repeat": lambda x: np.repeat(x, np.abs(x).astype(int)),
    "equal": lambda x: 1.0 if np.array_equal(x, X) else 2.0,
    "allclose": lambda x: x if np.allclose(x, 0.3) else -x,
    "any": lambda x: x if (x > 1.9).any() else -x,
    "isnan": lambda x: 0.0 if np.isnan(x).any() else np.sum(x),
    "where": lambda x: np.where(x > 0)[0],
    "histogram": lambda x: np.histogram(x, 4)[0],
    "searchsorted": lambda x: np.searchsorted(np.sort(x), 0.0),
    "solve": lambda x: np.linalg.solve(np.outer(x, x) + np.diag(x), x),
    "cholesky": lambda x: np.linalg.cholesky(np.diag(x)),
    "inv": lambda x: np.linalg.inv(np.diag(x)),
    "dict of values": lambda x: {"big": x} if x[0] > 1 else {"small": x, "n": 1.0},
}
POINTS = [
    X,
    np.array([1.3, 1.2, 0.0]),
    np.array([-0.3, -2.0, 1.5]),
    np.array([0.0, -0.0, 2.0]),
    np.array([np.nan, 1.0, 2.0]),
    np.array([0.3, 0.3, 0.3]),
    np.array([3.7, np.inf, -1.0]),
    X.copy(),
]


def assigned(x):
    y = x.copy()
    y[y < 0] = 0.0
    return y


def outcome(f, *args):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return f(*args)
    except Exception as error:
        return type(error)


def check(found, want):
    if isinstance(want, type):
        assert found is want
        return
    assert not isinstance(found, type), found
    if isinstance(want, dict):
        assert list(found) == list(want)
        for k in want:
            check(found[k], want[k])
        return
    assert np.shape(found) == np.shape(want)
    np.testing.assert_allclose(found, want, rtol=1e-13)


@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_path_is_the_right_one(name, order):
    """The same result or error as without jit, whatever was recorded before."""
    f = FUNCTIONS[name]
    jitted = ad.jit(f)
    for x in POINTS[::order] + POINTS:
        check(outcome(jitted, x), outcome(f, x))


@pytest.mark.parametrize("name", ["branch", "nested", "mask sum", "chained", "any", "isnan", "builtin max"])
def test_gradients_take_the_right_path_too(name):
    """jit of a gradient, and the gradient of a jitted function."""
    f = FUNCTIONS[name]
    want = ad.grad(lambda x: np.sum(f(x)))
    inside, outside = ad.grad(lambda x, f=ad.jit(f): np.sum(f(x))), ad.jit(want)
    for x in POINTS:
        check(outcome(inside, x), outcome(want, x))
        check(outcome(outside, x), outcome(want, x))


def test_a_path_is_recorded_once():
    """Known paths are found again without a recording."""
    f = ad.jit(branch)
    for x in (X, -X, X * 2, -X * 3, X, -X):
        f(x)
    assert f.stats()["recordings"] == f.stats()["paths"] == 2
    assert all("np.sum(x) > 0" in line for lines in f.stats()["guards"] for line in lines)


@pytest.mark.parametrize(("steps", "most"), [(0, 32), (path.MAX_STEPS, 36)])
def test_too_many_paths(steps, most, monkeypatch):
    """Past the cap, higher for short programs, the function runs eagerly, with one warning that names the line."""
    monkeypatch.setattr(path, "MAX_STEPS", steps)
    monkeypatch.setattr(path, "MAX_SHORT_PATHS", 36)
    f = ad.jit(lambda x: x * len(range(int(x))))
    words = rf"(?s){most} different paths.*range\(int\(x\).*ad.while_loop"
    with pytest.warns(RuntimeWarning, match=words) as caught:  # noqa: PT031
        for n in range(most + 5):
            assert f(n + 0.5) == (n + 0.5) * n
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert f.stats()["recordings"] == most
    assert "int(x)" in f.stats()["eager"][0]


def test_signed_zeros_are_different_values():
    """float(x) of 0.0 and -0.0."""
    f = ad.jit(lambda x: math.copysign(1.0, float(x)))
    assert [f(0.0), f(-0.0), f(0.0)] == [1.0, -1.0, 1.0]


def test_an_error_of_one_path_does_not_disturb_another():
    """A recording whose steps fail is not the answer; the function is."""
    f = ad.jit(lambda a: np.linalg.inv(a) if np.linalg.det(a) != 0 else np.zeros_like(a))
    regular = np.array([[2.0, 1.0], [1.0, 1.0]])
    for a in (regular, np.zeros((2, 2)), regular * 3, np.ones((2, 2))):
        want = np.linalg.inv(a) if np.linalg.det(a) != 0 else np.zeros_like(a)
        np.testing.assert_allclose(f(a), want, rtol=1e-12)


@pytest.mark.filterwarnings("default::RuntimeWarning")
def test_a_warning_is_no_change_of_the_surroundings():
    """Python notes in a module which warnings it has given; that is not the function's doing."""
    weights = np.array([1.0, 2.0])

    def f(x):
        globals()
        return np.sum(np.log(x * weights))

    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        assert np.isnan(ad.jit(f)(np.array([-1.0, 1.0])))


@pytest.mark.parametrize("rounded", [int, round, math.floor, math.ceil, math.trunc])
def test_integers_of_numbers_are_guarded_as_integers(rounded):
    """A recording serves all numbers that are rounded to the same integer, as the radius of a filter is."""

    f = ad.grad(lambda x: x**2 * np.sum(np.ones(rounded(4 * x))))
    compiled = ad.jit(f)
    for x in (1.01, 1.02, 1.03, 1.04, 1.03, 1.6, 1.01):
        assert compiled(x) == f(x)
    assert compiled.stats()["recordings"] == 2
