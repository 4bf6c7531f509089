"""Arguments that are given away: results take their memory where nobody can tell, and only there."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pytest

import adjoint as ad
from adjoint.transforms.compiler import can_compile

compiled = pytest.mark.skipif(not can_compile(), reason="needs machine code")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 4))


def descend(state, x):
    """One step with momentum; the weights are read by two products before they are written."""
    weight, mean = state
    gradient = ad.grad(lambda w: np.sum(np.tanh(x @ w) ** 2))(weight)
    mean = 0.9 * mean + gradient
    return (weight - 0.1 * mean, mean), np.sum(gradient * gradient)


def fresh():
    """A state that nobody else holds."""
    return np.random.default_rng(1).normal(size=(4, 5)), np.zeros((4, 5))


def ready(fun, *rest):
    """The function, recorded for such a state."""
    jitted = ad.jit(fun, donate_argnums=0)
    jitted(fresh(), *rest)
    return jitted


@compiled
def test_memory_is_used_again():
    """The same arrays come back, with the numbers that the plain function gives."""
    step, plain = ready(descend, X), ad.jit(descend)
    state, expected = fresh(), fresh()
    plain(expected, X)
    for _ in range(4):
        before = [id(a) for a in state]
        state, square = step(state, X)
        expected, wanted = plain(expected, X)
        assert [id(a) for a in state] == before
        assert square == wanted
        np.testing.assert_array_equal(state, expected)


@pytest.mark.parametrize("held", ["array", "view", "memoryview", "weak", "container", "twice", "elsewhere", "readonly"])
def test_what_others_hold_is_left_alone(held):
    """Whoever has a reference to an array finds in it what was there."""
    step = ready(descend, X)
    state = fresh()
    other = np.zeros((4, 5))
    keep = {
        "array": lambda: state[0],
        "view": lambda: state[0][1:],
        "memoryview": lambda: memoryview(state[0]),
        "weak": lambda: weakref.ref(state[0]),
        "container": lambda: state,
        "twice": lambda: None,
        "elsewhere": lambda: [state[0], other],
        "readonly": lambda: state[0].flags.__setitem__("WRITEABLE", False),
    }[held]
    kept = keep()
    if held == "twice":
        state = (state[0], state[0])
    before = state[0].copy()
    watched = state[0]
    del watched
    address = state[0].ctypes.data
    gc.collect()
    new, _ = step(state, X)
    assert new[0].ctypes.data != address
    np.testing.assert_array_equal(state[0], before)
    del kept


def test_variables_that_lend_what_they_hold():
    """What a variable further out holds is left alone; newer Pythons do not count variables of functions between."""
    step = ready(descend, X)

    def pass_on(given):
        return step(given, X)

    def and_on(given):
        return pass_on(given)

    class Owner:
        held = fresh()

    calls = {
        "one function between": lambda state: pass_on(state),
        "two": lambda state: and_on(state),
        "its own argument": lambda state: step(state, X),
        "beside it": lambda state: (state, step(state, X))[1],
        "with a star": lambda state: pass_on(*[state]),
        "an attribute": lambda state: pass_on(Owner.held),
    }
    for name, call in calls.items():
        state = fresh()
        Owner.held = state if name == "an attribute" else None
        before = [a.copy() for a in state]
        new, _ = call(state)
        np.testing.assert_array_equal(state, before, err_msg=name)
        assert not np.shares_memory(new[0], state[0]), name


@compiled
def test_a_guard_that_does_not_hold():
    """Where the machine code gives up in the middle, it has not written anything."""

    def step(state, limit):
        weight, mean = state
        mean = mean + 2.0 * weight
        if np.sum(mean) > limit:
            return (weight, mean * 0.0), limit
        return (weight - mean, mean), limit

    jitted = ready(step, 1e9)
    for limit in (1e9, -1e9, 1e9):
        state, same = fresh(), fresh()
        found, expected = jitted(state, limit), step(same, limit)
        np.testing.assert_array_equal(found[0], expected[0])


@compiled
def test_an_index_out_of_bounds():
    """The same for an index: NumPy's error comes from arrays that are as they were."""
    jitted = ready(lambda state, k: (state[0] + 1.0, state[1][k] + state[0]), np.array([0, 1, 2, 3]))
    state = fresh()
    with pytest.raises(IndexError):
        jitted(state, np.array([0, 1, 2, 9]))
    np.testing.assert_array_equal(state, fresh())


STEPS = {
    "sum": lambda a, b: a + 2.0 * b,
    "turned": lambda a, b: a.T * 0.5 + b,
    "product": lambda a, b: a @ b * 0.1,
    "row": lambda a, b: a + b[0],
    "column": lambda a, b: a * b[:, :1],
    "mean": lambda a, b: a - np.mean(b),
    "flipped": lambda a, b: a[::-1] + b,
    "rolled": lambda a, b: np.roll(a, 1, 0) - b,
    "running": lambda a, b: np.cumsum(a, 1) * 0.2 + b,
    "root": lambda a, b: a / (np.sqrt(b * b) + 1.0),
    "padded": lambda a, b: a + np.pad(b[1:], ((0, 1), (0, 0))),
    "chosen": lambda a, b: np.where(b > 0.0, a, b),
    "rows": lambda a, b: np.sum(b, 1)[:, None] * 0.1 + a,
    "itself": lambda a, b: a * 1.5,
}


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    """Whatever reads whatever: the numbers are the same, to the last bit, if nothing may be written over."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 24))
    plan = [(rng.choice(list(STEPS)), *rng.integers(0, 3, 3)) for _ in range(rng.integers(2, 9))]

    def step(state):
        values = list(state)
        for name, i, j, k in plan:
            values[k] = STEPS[name](values[i], values[j])
        return tuple(values)

    state = tuple(map(np.array, rng.normal(size=(3, n, n))))
    expected, plain = [tuple(map(np.copy, state)) for _ in range(2)]
    jitted, history = ad.jit(step, donate_argnums=0), []
    jitted(expected)
    for _ in range(3):
        history.append(expected)  # so that it is not written over
        state, expected, plain = jitted(state), jitted(expected), step(plain)
        np.testing.assert_array_equal(state, expected)
        np.testing.assert_allclose(state, plain, rtol=1e-9, atol=1e-9)


@compiled
def test_containers_of_any_kind():
    """Dicts and lists give their arrays away as tuples do; a shared inner container keeps them."""
    jitted = ad.jit(lambda s: {"w": [s["w"][0] + 1.0], "n": s["n"]}, donate_argnums=0)
    jitted({"w": [np.zeros(20)], "n": np.zeros(20)})
    state = {"w": [np.zeros(20)], "n": np.zeros(20)}
    number = id(state["w"][0])
    state = jitted(state)
    assert id(state["w"][0]) == number
    inner = state["w"]
    state = jitted(state)
    assert state["w"][0] is not inner[0]
    assert inner[0][0] == 1.0
    assert state["w"][0][0] == 2.0


def test_complex_numbers_and_pairs():
    """A complex array takes the place of a complex one, never of one of pairs of reals, which lies alike in memory."""

    def swap(state):
        z, pairs = state
        return pairs * 2.0 + np.abs(z)[:, None], z * 1j + pairs[:, 0]

    jitted = ad.jit(swap, donate_argnums=0)
    state = (np.arange(30) * (1.0 + 2.0j), np.arange(60.0).reshape(30, 2))
    expected = swap(state)
    jitted((state[0].copy(), state[1].copy()))
    given = (state[0].copy(), state[1].copy())
    found = jitted(given)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b)


def module_level(state):
    """A function that is found by its name."""
    return (state[0] + 1.0,)


stepped = ad.jit(module_level, donate_argnums=(0,))


def test_pickled():
    """Another process gives the same arguments away."""
    again = pickle.loads(pickle.dumps(stepped))
    assert again.donate_argnums == (0,)


def test_arguments_that_there_are_not():
    """A number too large is refused with the function's arguments."""
    with pytest.raises(ad.errors.InputError, match="has no argument 3 that could be donated"):
        ad.jit(descend, donate_argnums=3)
    with pytest.raises(ad.errors.InputError, match="jit needs donate_argnums, a whole number"):
        ad.jit(descend, donate_argnums="state")
