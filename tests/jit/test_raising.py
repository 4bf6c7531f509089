"""Whether a step raises is a decision of the program: jit raises where plain code raises, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from tests.jit.value_errors import CASES, EYE, MATRICES, X


def outcome(f: Any, args: Any) -> Any:
    """What a call gives: leaves of its result as arrays, or the kind and text of its error."""
    try:
        found = f(*args)
    except Exception as error:
        return type(error), str(error)
    return [np.asarray(x) for x in (found if isinstance(found, (list, tuple)) else [found])]


def same(one: Any, other: Any) -> bool:
    """Whether two outcomes are alike."""
    if isinstance(one, tuple) or isinstance(other, tuple):
        return bool(isinstance(one, tuple) and one == other)
    return len(one) == len(other) and all(
        a.shape == b.shape and a.dtype == b.dtype and np.allclose(a, b, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def caught(f: Any) -> Any:
    """The function with a way out."""

    def call(*args: Any) -> Any:
        try:
            return f(*args)
        except (ValueError, TypeError, ArithmeticError, LookupError) as error:
            return {ValueError: 1.0, IndexError: 2.0, OverflowError: 3.0}.get(type(error), 4.0)

    return call


def unused(f: Any) -> Any:
    """The function, for its errors alone."""

    def call(*args: Any) -> Any:
        f(*args)
        return 5.0

    return call


@pytest.mark.parametrize("order", ["good, bad, good", "bad, good, bad"])
@pytest.mark.parametrize("name", CASES)
def test_errors_are_those_of_numpy(name: str, order: str) -> None:
    """The same error, or the same numbers, whatever was recorded before; also if it is caught, or nobody looks."""
    f, good, bad = CASES[name]
    assert isinstance(outcome(f, bad), tuple), "this is not an error without jit"
    for variant in (f, caught(f), unused(f)):
        jitted = ad.jit(variant)
        for kind in order.split(", "):
            args = good if kind == "good" else bad
            got, want = outcome(jitted, args), outcome(variant, args)
            assert same(got, want), (variant.__name__, kind, got, want)


def robust(a: Any) -> Any:
    """A factorisation with a second attempt."""
    try:
        return np.sum(np.log(np.diag(np.linalg.cholesky(a))))
    except np.linalg.LinAlgError:
        return np.sum(np.log(np.diag(np.linalg.cholesky(a + 0.5 * np.eye(3))))) + 100


GOOD, BAD = 2.0 * np.eye(3), np.ones((3, 3))
STACKS = [np.stack(pair) for pair in ((GOOD, GOOD), (BAD, GOOD), (BAD, BAD))]


@pytest.mark.parametrize("first", [GOOD, BAD], ids=["good first", "bad first"])
@pytest.mark.parametrize(
    "transform",
    [
        lambda f, jit: jit(f),
        lambda f, jit: jit(ad.grad(f)),
        lambda f, jit: ad.grad(jit(f)),
        lambda f, jit: jit(ad.value_and_grad(jit(f))),
        lambda f, jit: jit(lambda a: ad.jvp(f, (a,), (np.eye(3),))[1]),
        lambda f, jit: ad.jacobian(jit(f)),
    ],
    ids=["jit", "jit grad", "grad jit", "jit value_and_grad jit", "jit jvp", "jacobian jit"],
)
def test_every_transform_takes_the_way_out_only_when_it_has_to(transform: Any, first: Any) -> None:
    """A caught error means another path, in derivatives as well."""
    jitted, plain = transform(robust, ad.jit), transform(robust, lambda f: f)
    for a in (first, BAD, GOOD, BAD, GOOD):
        for got, want in zip(outcome(jitted, (a,)), outcome(plain, (a,)), strict=True):
            np.testing.assert_allclose(got, want)


@pytest.mark.parametrize(
    "transform", [lambda f: ad.vmap(ad.jit(f)), lambda f: ad.jit(ad.vmap(f))], ids=["outside", "inside"]
)
def test_batches(transform: Any) -> None:
    """As vmap without jit: one bad example is a bad batch."""
    mapped = transform(robust)
    for stack in (*STACKS, *STACKS[::-1]):
        np.testing.assert_allclose(mapped(stack), ad.vmap(robust)(stack))


def test_kinds_of_errors_are_told_apart() -> None:
    """A recording in which one error was caught is not for another one."""

    def kind(a: Any, i: Any) -> Any:
        try:
            return np.linalg.inv(a)[i, i]
        except np.linalg.LinAlgError:
            return -1.0
        except IndexError:
            return -2.0

    jitted = ad.jit(kind)
    one, many = np.int64(1), np.int64(7)
    for a, i in ((EYE, one), (0 * EYE, one), (EYE, many), (0 * EYE, many), (EYE, one)):
        assert jitted(a, i) == kind(a, i)


def test_the_text_of_an_error_decides() -> None:
    """What an error says may be looked at, but for the numbers in it."""

    def reason(x: Any) -> Any:
        try:
            with np.errstate(all="raise"):
                return np.sum(1.0 / np.sqrt(x))
        except FloatingPointError as error:
            return 1.0 if "divide" in str(error) else 2.0

    jitted = ad.jit(reason)
    for x in (X, 0 * X, -X, X, -X, 0 * X):
        assert jitted(x) == reason(x)


def test_many_different_wrong_places_are_one_path() -> None:
    """The number of a bad place is in the error's text, but does not make another recording."""
    jitted = ad.jit(lambda x, i: caught(lambda: x[i])())
    for k in range(3, 60):
        assert jitted(X, np.int64(k)) == 2.0
    assert jitted.stats()["paths"] == 1


def test_a_failure_is_shown() -> None:
    """The program says on which error it relies, and where."""
    text = str(ad.jit(robust).lower(BAD).program)
    assert "raises LinAlgError" in text
    assert "test_raising.py" in text


@pytest.mark.parametrize("name", MATRICES)
def test_loops(name: str) -> None:
    """The body of a loop may catch what one of its steps raises, also if the first step does not."""
    f, (good,), (bad,) = MATRICES[name]

    def body(total: Any, x: Any) -> Any:
        y = caught(lambda v: np.sum(f(v)).real)(x)
        return total + y, y

    def plain(xs: Any) -> Any:
        total, ys = 0.0, []
        for x in xs:
            total, y = body(total, x)
            ys.append(y)
        return total, np.array(ys)

    scanned = ad.jit(lambda xs: ad.scan(body, 0.0, xs))
    for parts in ((good, good), (good, bad), (bad, good), (good, good), (bad, bad)):
        xs = np.stack(parts)
        for loop in (scanned, lambda xs: ad.scan(body, 0.0, xs)):
            total, ys = loop(xs)
            np.testing.assert_allclose(total, plain(xs)[0])
            np.testing.assert_allclose(ys, plain(xs)[1])


def test_while_and_cond() -> None:
    """The same for the other loops."""

    def first(a: Any) -> Any:
        try:
            return np.linalg.cholesky(a)[0, 0]
        except np.linalg.LinAlgError:
            return 7.0

    def repeated(a: Any) -> Any:
        return ad.while_loop(lambda s: s[0] < 4.0, lambda s: (s[0] + 1.0, s[1] * first(s[1] - s[0] * EYE)), (0.0, a))[1]

    def wanted(a: Any) -> Any:
        for k in range(4):
            a = a * first(a - k * EYE)
        return a

    def chosen(p: Any, a: Any) -> Any:
        return ad.cond(p > 0, first, lambda a: 1.0 + a[0, 0], a)

    jitted, choosing = ad.jit(repeated), ad.jit(chosen)
    for a in (3 * EYE, 9 * EYE, 0.1 * EYE, 3 * EYE, -EYE, 9 * EYE):
        np.testing.assert_allclose(repeated(a), wanted(a))
        np.testing.assert_allclose(jitted(a), wanted(a))
        for p in (1.0, -1.0):
            assert choosing(p, a) == (first(a) if p > 0 else 1.0 + a[0, 0])


def divided(x: Any, y: Any) -> Any:
    """Speaks of the error."""
    try:
        return x / y
    except ZeroDivisionError:
        return 7.0


def raised_to(x: Any, y: Any) -> Any:
    """Speaks of two errors."""
    try:
        return x**y
    except OverflowError:
        return 7.0
    except ZeroDivisionError:
        return 8.0


def rest(x: Any, y: Any) -> Any:
    """Speaks of both by their common name, around a function that does not."""
    try:
        return (lambda: x % y + x // y)()
    except ArithmeticError:
        return 7.0


@pytest.mark.parametrize(
    ("f", "points"),
    [
        (divided, [(1.0, 2.0), (1.0, 0.0), (1.0, 4.0), (0.0, 0.0)]),
        (divided, [(1.0, 0.0), (1.0, 2.0), (3.0, 0.0)]),
        (raised_to, [(2.0, 2.0), (1e300, 2.0), (0.0, -1.0), (3.0, 2.0)]),
        (raised_to, [(0.0, -1.0), (2.0, 2.0), (1e300, 2.0)]),
        (rest, [(1.0, 2.0), (1.0, 0.0), (5.0, 2.0)]),
        (rest, [(1.0, 0.0), (1.0, 2.0), (1, 0), (7, 2)]),
    ],
)
def test_errors_of_pythons_arithmetic(f: Any, points: Any) -> None:
    """A function that names an error of Python's arithmetic gets it."""
    jitted = ad.jit(f)
    for point in points:
        assert jitted(*point) == f(*point)


def test_pythons_floats_follow_numpy_elsewhere() -> None:
    """Nobody speaks of the error: infinite, and not checked."""
    jitted = ad.jit(lambda x, y: x / y)
    assert [jitted(1.0, 2.0), jitted(1.0, 0.0)] == [0.5, np.inf]
    assert not [name for name in jitted.stats()["called by NumPy"] if "checked" in name]


def test_an_error_in_a_long_loop() -> None:
    """Caught around the loop, whose body cannot catch it: the loop stays one."""

    def f(x: Any, places: Any) -> Any:
        try:
            return ad.scan(lambda total, k: (total + x[k], None), 0.0, places)[0]
        except IndexError:
            return -1.0

    jitted, good = ad.jit(f), np.zeros(30_000, int)
    bad = np.append(good[1:], 7)
    for places in (good, bad, good, bad):
        assert jitted(X, places) == f(X, places)
    assert max([len(p.program.steps) for paths in jitted._paths.values() for p in paths]) < 10
