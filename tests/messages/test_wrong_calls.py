"""Wrong arguments of public functions: named in the error, never an error from inside, a crash or an endless call."""

from __future__ import annotations

import inspect
import os
import pathlib
import typing
import zlib
from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.arguments.kinds import kind_of

from .calls import calls
from .wrong import VALUES, outcome

CALLS = calls()
USERS_OWN = {("while_loop", "cond", "type"), ("while_loop", "body", "type")}
"""Loops that do not end in Python either: `float` as the condition, or as the body."""
MOST_VAGUE = 100
"""Errors that do not name the argument: nearly all are raised by the user's own function, at its own line."""


def sample(name: str, parameter: str) -> list[str]:
    """A container without an end, and another value for each parameter, so that all of them are used somewhere."""
    rest = [value for value in VALUES if value != "deep"]
    return ["deep", rest[zlib.crc32(f"{name}.{parameter}".encode()) % len(rest)]]


def endings(name: str, values: Callable[[str, str], Iterable[str]]) -> list[tuple[str, ...]]:
    """What wrong calls of a function end in."""
    return [
        (name, parameter, value, *outcome(CALLS[name], parameter, VALUES[value]()))
        for parameter in CALLS[name].arguments
        for value in values(name, parameter)
        if (name, parameter, value) not in USERS_OWN
    ]


@pytest.mark.parametrize("place", sorted({name.rpartition(".")[0] for name in CALLS}))
def test_no_error_from_inside(place, tmp_path, monkeypatch):
    """The right calls work; wrong ones are refused, or work: a sample of them."""
    monkeypatch.chdir(tmp_path)
    for name in CALLS:
        if name.rpartition(".")[0] == place:
            CALLS[name]()
            assert [row for row in endings(name, sample) if row[3] in ("inside", "hang")] == []


@pytest.mark.slow
def test_wrong_calls_name_their_argument(tmp_path, monkeypatch):
    """All wrong calls there are: none ends inside the library or not at all, and few errors name no argument."""
    monkeypatch.chdir(tmp_path)
    rows = [row for name in CALLS for row in endings(name, lambda name, parameter: VALUES)]
    print(table(rows))  # noqa: T201 - with  pytest -s,  to see what is left
    assert [row for row in rows if row[3] in ("inside", "hang")] == []
    vague = [row for row in rows if row[3] == "vague"]
    assert len(vague) <= MOST_VAGUE, "\n".join([": ".join(row[:3]) + f": {row[4]}" for row in vague])


def table(rows: list[tuple[str, ...]]) -> str:
    """How many calls end in what, and which functions have errors that name no argument."""
    classes = Counter([row[3] for row in rows])
    vague = Counter([f"{row[0]}({row[1]}=)" for row in rows if row[3] == "vague"])
    lines = [f"{len(rows)} wrong calls of {len({row[0] for row in rows})} functions"]
    return "\n".join([*lines, *[f"{n:6} {what}" for what, n in (*classes.most_common(), *vague.most_common())]])


WRONG = {
    "no modes": (lambda: ad.testing.check_grads(np.sin, (1.0,), modes=()), "check_grads needs modes"),
    "infinite order": (lambda: ad.testing.check_grads(np.sin, (1.0,), order=np.inf), "check_grads needs order"),
    "tolerance below 0": (lambda: ad.odeint(lambda y, t: y, 1.0, [0.0, 1.0], atol=-1), "odeint needs atol"),
    "tolerance nan": (lambda: ad.odeint(lambda y, t: y, 1.0, [0.0, 1.0], rtol=np.nan), "odeint needs rtol"),
    "steps below 0": (lambda: ad.odeint(lambda y, t: y, 1.0, [0.0, 1.0], max_steps=-7), "odeint needs max_steps"),
    "scale below 0": (lambda: ad.random.normal(ad.random.key(0), scale=-1.0), "scale"),
    "ends the wrong way round": (lambda: ad.random.uniform(ad.random.key(0), low=3.0, high=1.0), "low"),
    "shuffle as text": (
        lambda: ad.data.batches(np.ones((4, 2)), np.ones(4), shuffle="no"),
        "batches needs shuffle, True or False.",
    ),
    "order of nothing": (lambda: ad.data.order(-3), "order needs n, a whole number of at least 0"),
    "huge order": (lambda: ad.taylor(np.sin, 0.3, 10**30), "taylor needs order"),
    "a list that holds itself": (lambda: ad.data.order(3, seed=VALUES["circular list"]()), "order needs seed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_named(name):
    """An argument that is out of range, or of another kind, is named."""
    call, words = WRONG[name]
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert words in str(caught.value)


def test_message():
    """Word by word."""
    with pytest.raises(ad.errors.ArgumentError) as caught:
        ad.data.order(-3)
    assert str(caught.value).splitlines()[0] == ("order needs n, a whole number of at least 0 and at most 2**62.")
    assert str(caught.value).splitlines()[-1] == "  got n = int -3"


def test_containers_of_functions_that_were_made():
    """What a derivative is called with has an end too."""
    for made in (ad.grad(np.sum), ad.jit(np.sum), ad.vmap(np.sum)):
        with pytest.raises(ad.errors.InputError, match="holds itself"):
            made(VALUES["circular list"]())


KINDS = [
    (int, [3, np.int64(3), np.array(3)], [True, 3.0, "3", None, [3]]),
    (
        float,
        [3, 3.0, np.float32(3), np.array(3.0), np.inf],
        [True, np.nan, "3", 1j, np.ones(2), np.ma.masked_array(1.0)],
    ),
    (bool, [True, np.True_], [1, "no", None]),
    (str | None, ["a", None], [b"a", 1]),
    (typing.Literal["a", "b"], ["a"], ["c", 1, np.array(["a", "b"])]),
    (tuple[int, float], [(1, 2.0)], [(1,), (1, 2, 3), ("a", 2.0), 1]),
    (list[str], [["a"], ("a", "b")], ["ab", [1], {"a": 1}]),
    (ad.arguments.Count, [1, 10**6], [0, -1, 10**30]),
    (ad.arguments.Fraction, [0, 0.5, 1], [1.5, -0.1, np.nan]),
    (ad.arguments.Positive, [0.1], [0, np.inf, np.nan]),
    (
        ad.arguments.Numbers,
        [1, [1.0, 2.0], np.ones(3), 1j],
        ["a", {1.0}, np.array(["a"]), np.datetime64("2020"), float],
    ),
    (
        ad.arguments.Tree,
        [1, {"a": [np.ones(2), 1.0]}, None],
        ["a", {"a": "b"}, object(), np.array([1.0, None], object)],
    ),
    (ad.arguments.Truth, [True, 1, np.array(2.0), np.bool(0)], [None, "", np.nan, 1j, [], {}, np.ones(2), len]),
    (ad.arguments.Finite | None, [0, -1.5, None], [np.inf, np.nan, True, "1"]),
    (ad.arguments.NonNegativeNumbers, [0, [1.0, 2.0], np.ones(3)], [-1, [1.0, -1.0], np.nan, True, 1j, "a"]),
    (ad.arguments.Bounds, [-np.inf, 0.0, np.array([0.0, np.inf])], [np.nan, "a", [np.nan], 10**400]),
    (ad.arguments.RealArray, [1.0, np.ones(2), np.int64(3)], [True, 1j, [1.0], np.array([True])]),
    (ad.arguments.Key | None, [0, 10**30, ad.random.key(0), None], [-1, True, "a", np.ones(2), 1.5]),
    (ad.arguments.Model, [len, np.ones(2), {"w": np.ones(2)}], [None, "a", 3, 2.5]),
    (str | os.PathLike[str] | None, ["a", pathlib.Path("a"), None], ["", "a\0b", 3]),
    (ad.core.arguments.Axes, [0, -1, None, (0, None), {"a": 1}], [True, 1.5, 10**30, np.ones(2), (0, True)]),
    (ad.arguments.Shape, [3, (), (2, 3), [2]], [-1, (2, -1), 2.0, (10**12, 10**12), "a"]),
    (ad.arguments.DTypeLike, [float, "float32", np.float64], [int, "no", 3, None]),
]


@pytest.mark.parametrize("hint", range(len(KINDS)))
def test_kinds(hint):
    """What a type hint takes, and what it does not."""
    hint, right, wrong = KINDS[hint]
    kind = kind_of(hint)
    assert [x for x in right if not kind.accepts(x)] == []
    assert [x for x in wrong if kind.accepts(x)] == []


MODULES = (
    "config", "curvature", "data", "debug", "implicit", "losses", "nn", "optim", "random", "sparse", "tree",
)  # fmt: skip


def test_every_public_function_is_in_the_table():
    """A function that is new has to be called here."""
    named = {name.split(".x")[0] for name in CALLS}
    places = {"": ad, **{m: getattr(ad, m) for m in MODULES}}
    missing = [
        f"{place}.{name}".lstrip(".")
        for place, module in places.items()
        for name in module.__all__
        if inspect.isfunction(getattr(module, name)) and f"{place}.{name}".lstrip(".") not in named
    ]
    assert sorted(missing) == [
        "config.clear_caches", "debug.unpatch", "nn.from_torch", "nn.set_fields", "nn.statistic", "nn.to_torch",
        "optim.cached", "tree.register",
    ]  # fmt: skip  # take nothing, whatever they are given, or modules of PyTorch, for which see nn/test_torch.py
