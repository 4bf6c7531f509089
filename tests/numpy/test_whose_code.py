"""Whose code is traced: the same source means the same wherever it is, however it names NumPy's functions."""

import copy
import functools
import importlib
import pickle
import sys
import threading
import types
from unittest import mock

import numpy as np
import pytest

import adjoint as ad

POINT = np.array([0.3, 0.7])

BY_ATTRIBUTE = """
import numpy as np
import numpy

def attribute(x):
    y = np.zeros(2)
    y[0] = x[0] ** 2
    y[1] = x[1]
    return np.sum(y * y)

def filled(x):
    y = numpy.full((2,), 1.0)
    y[1] = x[1] * x[0]
    return (y * y).sum()

def of_a_list(x):
    return np.array([x[0], 2.0 * x[1]]) @ np.array([x[1], 1.0])
"""

BY_NAME = """
from numpy import array, asarray, empty, exp, ones, sum, zeros
from numpy import zeros as nil
from numpy.linalg import norm

def named(x):
    y = zeros(2)
    y[0] = x[0] ** 2
    y[1] = x[1]
    return sum(y * y)

def renamed(x):
    y = nil((2, 1))
    y[0, 0] = x[1] * x[0]
    return sum(y)

def converted(x):
    return sum(asarray([x[0], exp(x[1])]) * array([1.0, 2.0])) + norm([x[0], x[1]])

def default(x, make=empty):
    y = make(2)
    y[:] = x * x
    return sum(y)

class Model:
    make = zeros

    def __call__(self, x, start=ones):
        y = self.make(2) + start(2)
        y[0] = x[0] * x[1]
        return sum(y * y)

model = Model()
"""

STAR = """
from numpy import *

def starred(x):
    y = zeros_like(x)
    z = ones(2)
    z[1] = x[0] * x[1]
    return sum(y + z)
"""

SOURCES = {
    "by_attribute": (BY_ATTRIBUTE, ("attribute", "filled", "of_a_list")),
    "by_name": (BY_NAME, ("named", "renamed", "converted", "default", "model")),
    "star": (STAR, ("starred",)),
}
CASES = [(source, name) for source, (_, names) in SOURCES.items() for name in names]


@pytest.fixture(params=["home", "lib/python3/site-packages", "dist-packages"])
def folder(request, tmp_path, monkeypatch):
    """A folder on the path, with a package in it."""
    place = tmp_path / request.param
    package = place / "some_package_of_tests"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    for name, (source, _) in SOURCES.items():
        (package / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(str(place))
    yield place
    for name in [name for name in sys.modules if name.startswith("some_package_of_tests")]:
        del sys.modules[name]


@pytest.mark.parametrize(("module", "name"), CASES)
def test_the_same_source_means_the_same_everywhere(folder, module, name):
    """Installed or not: new arrays take traced values, whether NumPy's functions are attributes or imported names."""
    f = getattr(importlib.import_module(f"some_package_of_tests.{module}"), name)
    expected = ad.numerical.grad(f)(POINT)
    np.testing.assert_allclose(ad.grad(f)(POINT), expected, rtol=1e-6)
    np.testing.assert_allclose(ad.jvp(f, (POINT,), (np.ones(2),))[1], expected.sum(), rtol=1e-6)
    np.testing.assert_allclose(ad.vmap(f)(np.stack([POINT, 2 * POINT])), [f(POINT), f(2 * POINT)], rtol=1e-12)
    jitted = ad.jit(ad.grad(f))
    for _ in range(2):
        np.testing.assert_allclose(jitted(POINT), expected, rtol=1e-6)
    np.testing.assert_allclose(ad.jit(f)(POINT), f(POINT), rtol=1e-12)


def test_names_in_a_script_and_in_a_text():
    """Modules without a file, and names that arrive after the first trace, are no different."""
    names = {"__name__": "__console__"}
    exec("from numpy import zeros\ndef f(x):\n    y = zeros(2)\n    y[0] = x[0] ** 2\n    return y.sum()", names)
    np.testing.assert_allclose(ad.grad(names["f"])(POINT), [0.6, 0.0])
    exec("from numpy import ones\ndef g(x):\n    y = ones(2)\n    y[1] = x[0] ** 2\n    return y.sum()", names)
    np.testing.assert_allclose(ad.grad(names["g"])(POINT), [0.6, 0.0])
    exec("from numpy import zeros", names)  # set anew, as by reloading
    np.testing.assert_allclose(ad.grad(names["f"])(POINT), [0.6, 0.0])


def test_modules_that_are_loaded_again(tmp_path, monkeypatch):
    """After `importlib.reload`, of the function's own module and of one that it uses."""
    (tmp_path / "makes_arrays.py").write_text(BY_NAME, encoding="utf-8")
    (tmp_path / "uses_arrays.py").write_text("import makes_arrays\ndef f(x): return makes_arrays.named(x)\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    inner, outer = importlib.import_module("makes_arrays"), importlib.import_module("uses_arrays")
    for _ in range(3):
        for f in (outer.f, inner.named, inner.default, inner.model):
            np.testing.assert_allclose(ad.grad(f)(POINT), ad.numerical.grad(f)(POINT), rtol=1e-6)
        importlib.reload(inner)
        importlib.reload(outer)
    del sys.modules["makes_arrays"], sys.modules["uses_arrays"]


def test_names_imported_inside_the_function():
    """`from numpy import zeros` within the traced function; a variable of an enclosing function."""
    make = np.zeros

    def inside(x):
        from numpy import zeros

        y = zeros(2)
        y[0] = x[0] ** 2
        z = make(2)
        z[1] = x[1]
        w = getattr(np, "empty")(1)  # noqa: B009
        w[0] = x[1]
        return np.sum(y + z) + w[0]

    np.testing.assert_allclose(ad.grad(inside)(POINT), [0.6, 2.0])


def test_a_name_by_name_is_numpys_for_everybody_else():
    """What replaces an imported name equals, hashes, prints, copies and pickles as NumPy's own."""
    names = {"__name__": "__console__"}
    exec("from numpy import zeros, array\ndef f(x): return zeros(1)[0] + x", names)
    ad.grad(names["f"])(1.0)
    zeros = names["zeros"]
    assert zeros == np.zeros
    assert {np.zeros: 1}[zeros] == 1
    assert repr(zeros) == repr(np.zeros)
    assert zeros.__name__ == "zeros"
    assert pickle.loads(pickle.dumps(zeros)) is np.zeros
    assert copy.copy(zeros) == np.zeros
    assert type(zeros(2)) is np.ndarray
    assert type(names["array"]([1.0])) is np.ndarray


def test_numpy_is_itself_for_everybody_else():
    """Neither its dictionary nor what another thread reads changes while a function is traced, nor anything later."""
    before = dict(vars(np))
    found = {}
    inside, outside = threading.Event(), threading.Event()

    def look():
        inside.wait(10)
        found.update({name: getattr(np, name) for name in before})
        found["made"] = np.zeros(2)
        found["type"] = np.zeros is before["zeros"]
        outside.set()

    thread = threading.Thread(target=look)
    thread.start()

    def f(x):
        inside.set()
        assert outside.wait(10)
        y = np.zeros(1)
        y[0] = x
        assert vars(np) == before
        return y[0] ** 2

    assert ad.grad(f)(3.0) == 6.0
    thread.join()
    assert type(found.pop("made")) is np.ndarray
    assert found.pop("type") is True
    assert all(found[name] is before[name] for name in before)
    assert all(getattr(np, name) is before[name] for name in before)
    assert type(np) is types.ModuleType
    assert set(dir(np)) >= {"zeros", "sin", "array"}


def test_a_thread_started_inside_is_not_tracing():
    """It makes plain arrays, and what it gives back is used as any other."""

    def f(x):
        made = []
        thread = threading.Thread(target=lambda: made.append(np.ones(2)))
        thread.start()
        thread.join()
        assert type(made[0]) is np.ndarray
        return np.sum(x * made[0])

    np.testing.assert_allclose(ad.grad(f)(POINT), [1.0, 1.0])


def test_functions_seen_as_objects_are_everybodys():
    """`activation is np.tanh` answers as without a derivative; so do dictionaries of functions."""
    chosen = {np.tanh: 2.0, np.sum: 3.0}

    def f(x, activation=np.tanh, reduction=np.sum):
        assert activation is np.tanh
        assert reduction is np.sum
        assert isinstance(np.tanh, np.ufunc)
        return chosen[np.tanh] * chosen[np.sum] * reduction(activation(x))

    np.testing.assert_allclose(ad.grad(f)(POINT), 6 / np.cosh(POINT) ** 2)


def test_what_somebody_has_replaced_stays_replaced():
    """A mock of a NumPy function is called while a function is traced, and is there afterwards."""
    with mock.patch("numpy.zeros", side_effect=lambda n: np.ones(n)) as zeros:
        assert ad.grad(lambda x: np.sum(np.zeros(2) * x))(3.0) == 2.0
        assert np.zeros is zeros
        assert zeros.call_count == 1

    def inside(x):
        with mock.patch("numpy.sin", new=np.cos):
            return np.sin(x)

    assert ad.grad(inside)(0.5) == pytest.approx(-np.sin(0.5))
    assert ad.grad(lambda x: np.sin(x))(0.5) == pytest.approx(np.cos(0.5))


def test_compiled_code_gets_plain_arrays():
    """NumPy's generators and SciPy make their arrays with `np.empty`: they are not asked for by the user's line."""
    scipy = pytest.importorskip("scipy.sparse")

    def f(x):
        noise = np.random.default_rng(0).normal(size=2)
        noise += np.random.RandomState(0).permutation(2)
        matrix = scipy.eye(2).toarray()
        assert type(noise) is type(matrix) is np.ndarray
        return np.sum(matrix @ (noise * x))

    np.testing.assert_allclose(ad.grad(f)(POINT), ad.numerical.grad(f)(POINT), rtol=1e-6)


def test_generators_and_partials():
    """A generator that runs inside the function, and a partial of it."""

    def rows(x):
        for k in range(2):
            y = np.zeros(2)
            y[k] = x[k] ** 2
            yield y

    def f(scale, x):
        return scale * np.sum(np.stack(list(rows(x))))

    np.testing.assert_allclose(ad.grad(functools.partial(f, 2.0))(POINT), 4 * POINT)


def test_async_tasks():
    """Tasks that take turns each have gradients of their own; what they make in between is plain."""
    import asyncio

    async def task(scale):
        def f(x):
            y = np.zeros(2)
            y[0] = x[0] * scale
            return y.sum()

        found = ad.grad(f)(POINT)
        await asyncio.sleep(0)
        assert type(np.zeros(1)) is np.ndarray
        return found[0]

    async def all_of_them():
        return await asyncio.gather(*[task(float(k)) for k in range(4)])

    assert asyncio.run(all_of_them()) == [0.0, 1.0, 2.0, 3.0]
