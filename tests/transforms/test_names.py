"""Names and signs: what derived functions are called, how they are pickled, what a wrong name or argument is told."""

import functools
import os
import pickle
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint import errors
from adjoint.core import hints
from adjoint.core.arguments.kinds import kind_of

MODULE = """
import numpy as np, adjoint as ad

def loss(x):
    return np.sum(x**2)

@ad.grad
def slope(x):
    return np.sum(x**3)

@ad.jit
def fast(x):
    return x * 2.0

@ad.custom_rule
def ruled(x):
    return np.sum(x)

@ruled.def_vjp
def _(primals, out, g):
    return (7.0 * g * np.ones_like(primals[0]),)

class Model:
    @staticmethod
    def energy(x):
        return np.sum(x**4)
"""

PICKLED = {
    "grad": "ad.grad(models.loss)",
    "decorated": "models.slope",
    "jacobian of decorated": "ad.jacobian(models.slope)",
    "value_and_grad": "ad.value_and_grad(models.loss)",
    "options": "ad.grad(models.loss, argnums=(0,))",
    "vmap": "ad.vmap(models.loss, in_axes=(0,))",
    "nested": "ad.grad(ad.jit(models.loss))",
    "hessian": "ad.hessian(models.loss)",
    "jitted": "models.fast",
    "jit of grad": "ad.jit(ad.grad(models.loss))",
    "static method": "ad.grad(models.Model.energy)",
    "checkpoint": "ad.grad(ad.checkpoint(models.loss))",
    "custom rule": "ad.grad(models.ruled)",
    "derivative": "ad.derivative(np.sin)",
}


def test_pickled_by_reference(tmp_path):
    """Another process finds the functions by name, and gets the same numbers; one made twice is the same."""
    (tmp_path / "models.py").write_text(MODULE)
    program = textwrap.dedent("""
        import pickle, sys, numpy as np, adjoint as ad, models
        functions = [eval(text) for text in sys.argv[2:]]
        point = np.arange(6.0).reshape(2, 3)
        values = [f(point) for f in functions]
        for f in functions:
            if not hasattr(f, "lower"):
                assert pickle.loads(pickle.dumps(f)) is f, f
        assert pickle.loads(pickle.dumps(models.fast)) is models.fast
        with open(sys.argv[1], "wb") as file:
            pickle.dump((functions, values, point), file)
    """)
    again = textwrap.dedent("""
        import pickle, sys, numpy as np
        with open(sys.argv[1], "rb") as file:
            functions, values, point = pickle.load(file)
        for f, want in zip(functions, values, strict=True):
            for part, expected in zip(np.atleast_1d(f(point)), np.atleast_1d(want), strict=True):
                np.testing.assert_allclose(part, expected)
    """)
    source = str(Path(ad.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, str(tmp_path)])}
    texts = [text for name, text in PICKLED.items() if name != "value_and_grad"]
    for code, extra in ((program, texts), (again, [])):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "data"), *extra],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


class Bound:
    def method(self, x):
        return x * x


@pytest.mark.parametrize(
    "function",
    [
        ad.grad(lambda x: x),
        ad.jit(lambda x: x),
        ad.grad(Bound().method),
        ad.grad(functools.partial(pow, exp=2)),
        ad.vmap(ad.grad(lambda x: x)),
    ],
)
def test_what_has_no_name_is_not_pickled(function):
    """A lambda, a method of an object, a partial function cannot be found by name; an error says so at once."""
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(function)


def named(x):
    return x * x


def test_names():
    """The repr of a derived function says what it was made of."""
    assert "grad(" in repr(ad.grad(named))
    assert "named" in repr(ad.grad(named))
    assert "vmap(grad(" in repr(ad.vmap(ad.grad(named)))
    assert "argnums=(0,)" in repr(ad.grad(named, argnums=(0,)))
    assert "named" in repr(ad.jit(named))
    assert ad.grad(named).__name__ == "named"
    assert ad.grad(named).__wrapped__ is named
    assert ad.grad(named, 0)(3.0) == 6.0


@pytest.mark.parametrize("name", sorted(hints.ELSEWHERE))
def test_names_of_other_libraries(name):
    """A name known from elsewhere is told what does the same here, and what it is told exists."""
    if name in ad.__all__:
        return
    with pytest.raises(AttributeError, match=f"no attribute '{name}': ") as caught:
        getattr(ad, name)
    for word in str(caught.value).replace(",", " ").replace(";", " ").replace("(", " ").split():
        if word.startswith("ad."):
            functools.reduce(getattr, word.rstrip(":?.)").split(".")[1:2], ad)


@pytest.mark.parametrize(
    ("slip", "meant"),
    [("gradd", "grad"), ("jacobain", "jacobian"), ("Vmap", "vmap"), ("stop_gradients", "stop_gradient")],
)
def test_slips(slip, meant):
    """A name that is nearly right."""
    with pytest.raises(AttributeError, match=f"did you mean  ad.{meant}"):
        getattr(ad, slip)
    with pytest.raises(AttributeError, match=r"no attribute 'xyzzy'$"):
        ad.xyzzy


@pytest.mark.parametrize("name", sorted(hints.MOVED))
def test_names_that_have_moved(name):
    """They go on working, and say once where they are now; they are not offered."""
    vars(ad).pop(name, None)
    home = hints.MOVED[name]
    with pytest.warns(DeprecationWarning, match=rf"^ad\.{name} is ") as told:
        before = getattr(ad, name)
    assert [str(w.message) for w in told] == [f"ad.{name} is  ad.{home}  now: write that instead"]
    assert told[0].filename == __file__
    assert before is functools.reduce(getattr, home.split("."), ad)
    assert getattr(ad, name) is before
    del vars(ad)[name]
    assert name not in dir(ad)
    assert len(dir(ad)) <= 50


@pytest.mark.parametrize("name", sorted({*hints.MOVED, *hints.NEVER_AT_THE_TOP}))
def test_messages_name_what_there_is(name):
    """The name of a transformation in messages leads to it."""
    assert functools.reduce(getattr, hints.public_name(name).split("."), ad).__name__ in (
        name,
        "pullback_metric",
        "partial_derivative",
    )


def test_attributes_in_the_old_spelling():
    """They go on working as well."""
    lowered, pattern = ad.jit(np.sin).lower(1.0), ad.sparse.sparsity(np.sin)(np.ones(2))
    with pytest.warns(DeprecationWarning, match=r"^f.lower\(x\).optimised is  f.lower\(x\).optimized  now"):
        assert lowered.optimised is lowered.optimized
    with pytest.warns(DeprecationWarning, match=r"^pattern.colours is  pattern.colors  now: write that instead$"):
        assert pattern.colours is pattern.colors


def test_types_for_annotations():
    """They are what the library's own functions ask by: a hint of yours means the same."""
    asked = {name: kind_of(getattr(ad.typing, name)) for name in ad.typing.__all__}
    assert {name: kind.words for name, kind in asked.items()} == {
        "Array": "a number or an array of numbers",
        "ArrayLike": "a number or an array of numbers",
        "DTypeLike": "a floating dtype",
        "Key": "a key of ad.random, or a seed",
        "Shape": "a shape: a whole number that is not negative, or a tuple of them",
        "Tree": "a number, an array, or a container of them",
    }
    assert [name for name, kind in asked.items() if kind.accepts([1.0, 2.0])] == ["ArrayLike", "Tree"]
    with pytest.raises(AttributeError, match=r"^module 'adjoint.typing' has no attribute 'PyTree': use  .*Tree$"):
        ad.typing.PyTree


def test_dir_offers_nothing_that_raises():
    """Every attribute that `dir(x)` names can be read, of numbers, arrays, views and batches."""

    def f(x):
        for v in (x, x[0], x[1:], x * 2.0, np.zeros(3), np.sum(x)):
            for name in dir(v):
                getattr(v, name)
        return np.sum(x)

    ad.grad(f)(np.ones(3))
    ad.vmap(f)(np.ones((2, 3)))
    ad.jvp(f, (np.ones(3),), (np.ones(3),))


def failing(x):
    return np.linalg.cholesky(x * np.ones((2, 3)))


FAILURES = {
    "grad": lambda: ad.grad(failing)(1.0),
    "value_and_grad": lambda: ad.value_and_grad(failing)(1.0),
    "jvp": lambda: ad.jvp(failing, (1.0,), (1.0,)),
    "vjp": lambda: ad.vjp(failing, 1.0),
    "vmap": lambda: ad.vmap(failing)(np.ones(3)),
    "hessian": lambda: ad.hessian(failing)(1.0),
    "jit": lambda: ad.jit(failing)(1.0),
    "jit of grad": lambda: ad.jit(ad.grad(failing))(1.0),
    "explain": lambda: ad.explain(failing)(1.0),
    "a refusal": lambda: ad.grad(lambda x: x.__float__())(1.0),
    "an input": lambda: ad.grad(failing)("a"),
}


@pytest.mark.parametrize("call", FAILURES.values(), ids=FAILURES.keys())
def test_tracebacks_are_folded(call, monkeypatch):
    """Of the library's frames one is left, where the user called it; all of them if they are asked for."""
    package = str(Path(ad.__file__).parent)

    def frames():
        with pytest.raises((np.linalg.LinAlgError, TypeError)) as caught:
            call()
        return [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename.startswith(package)]

    assert len(frames()) == 1
    monkeypatch.setenv("ADJOINT_FULL_TRACEBACKS", "1")
    assert len(frames()) > 1


TRANSFORMS = (
    ad.grad, ad.value_and_grad, ad.jacobian, ad.jacfwd, ad.jacrev, ad.hessian, ad.vmap, ad.jit, ad.checkpoint,
    ad.custom_rule, ad.explain, ad.derivative,
    lambda f: ad.jvp(f, (1.0,), (1.0,)), lambda f: ad.vjp(f, 1.0), lambda f: ad.linearize(f, 1.0),
    lambda f: ad.scan(f, 0.0, np.ones(3)), lambda f: ad.fori_loop(0, 3, f, 1.0), lambda f: ad.map(f, np.ones(3)),
    lambda f: ad.while_loop(f, f, 1.0), lambda f: ad.cond(True, f, f, 1.0),
)  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_what_cannot_be_called_is_refused(transform):
    """At once, with the transformation's name."""
    with pytest.raises(errors.InputError, match=r"needs a function\.(.|\n)*got \w+ = float 3.0"):
        transform(3.0)


class Own:
    pass


class Tensor:
    """An array of another library."""

    def __array__(self, dtype=None, copy=None):
        return np.ones(3)


@pytest.mark.parametrize(
    ("argument", "fix"),
    [
        (Own(), "Make  Own  a dataclass, or register it with  ad.tree.register"),
        ({"a": Own()}, "Make  Own  a dataclass"),
        (Tensor(), r"Pass  np\.asarray\(x\)"),
        (np.int64(3), "Pass a float"),
        ("a", "Pass a float"),
        ({1.0}, "Pass a list or a tuple"),
        (np.sin, "Pass the numbers"),
        (np.ma.array([1.0]), "x.filled"),
        (np.ones((1, 1)).view(np.matrix), "np.asarray"),
    ],
)
def test_arguments_that_cannot_be_differentiated(argument, fix):
    """The fix fits the argument."""
    with pytest.raises(errors.InputError, match=fix):
        ad.grad(lambda x: x)(argument)


def test_a_table_as_argument():
    """A pandas Series is told to be an array."""
    pandas = pytest.importorskip("pandas")
    with pytest.raises(errors.InputError, match=r"x\.to_numpy\(float\)"):
        ad.grad(lambda x: x.sum())(pandas.Series([1.0]))


def product(x, y):
    return x * y


BATCHES = {
    "sizes": (
        lambda: ad.vmap(product)(np.ones(3), np.ones(4)),
        ["vmap got arguments of different sizes along the axes to map over.",
         "got 3 in axis 0 of x: float64[3], 4 in axis 0 of y: float64[4]",
         "If one is the same for all examples, write  in_axes=(0, None)."],
    ),
    "a number": (
        lambda: ad.vmap(product)(np.ones(3), 2.0),
        ["vmap cannot map over axis 0 of the argument y, which does not have it.", "got y: float 2.0",
         "If it is the same for all examples, write  in_axes=(0, None)."],
    ),
    "inside": (
        lambda: ad.vmap(lambda p: p["w"])({"w": 1.0}),
        ["vmap cannot map over axis 0 of the argument p['w'], which does not have it.", "got p['w']: float 1.0",
         "Pass an array that has one entry for each example along it."],
    ),
    "a number beside one that is not mapped": (
        lambda: ad.vmap(product, in_axes=(None, 0))(np.ones(3), 2.0),
        ["vmap cannot map over axis 0 of the argument y, which does not have it.", "got y: float 2.0",
         "Pass an array that has one entry for each example along it."],
    ),
    "two numbers": (
        lambda: ad.vmap(product)(2.0, 3.0),
        ["vmap cannot map over axis 0 of the argument x, which does not have it.", "got x: float 2.0",
         "Pass an array that has one entry for each example along it."],
    ),
    "a number beside another axis": (
        lambda: ad.vmap(product, in_axes=(0, 1))(2.0, np.ones((2, 3))),
        ["vmap cannot map over axis 0 of the argument x, which does not have it.", "got x: float 2.0",
         "If it is the same for all examples, write  in_axes=(None, 1)."],
    ),
    "a number in a container": (
        lambda: ad.vmap(lambda p, x: p["w"] * x)({"w": [1.0, np.ones(3)], "v": np.ones(3)}, np.ones(3)),
        ["vmap cannot map over axis 0 of the argument p['w'][0], which does not have it.", "got p['w'][0]: float 1.0",
         "If it is the same for all examples, write  in_axes=({'v': 0, 'w': (None, 0)}, 0)."],
    ),
    "a number by name": (
        lambda: ad.vmap(product)(np.ones(3), y=2.0),
        ["vmap cannot map over axis 0 of the argument y, which does not have it.", "got y: float 2.0",
         "An argument that is given by name is mapped: pass it by position, and None for it in  in_axes."],
    ),
    "sizes inside": (
        lambda: ad.vmap(product, in_axes=(1, 0))(np.ones((2, 3)), np.ones(4)),
        ["vmap got arguments of different sizes along the axes to map over.",
         "got 3 in axis 1 of x: float64[2,3], 4 in axis 0 of y: float64[4]",
         "If one is the same for all examples, write  in_axes=(1, None)."],
    ),
    "entries": (
        lambda: ad.vmap(product, in_axes=(0, 0, 0))(np.ones(3), np.ones(3)),
        ["in_axes of vmap has to be one axis, or one entry for each of the 2 arguments.", "got 3 for 2: (0, 0, 0)",
         "Write  in_axes=(0, 0)."],
    ),
    "too few entries": (
        lambda: ad.vmap(product, in_axes=(1,))(np.ones((3, 3)), 2.0),
        ["in_axes of vmap has to be one axis, or one entry for each of the 2 arguments.", "got 1 for 2: (1,)",
         "Write  in_axes=(1, None)."],
    ),
    "entries of other kinds": (
        lambda: ad.vmap(product, in_axes="x")(2.0, np.ones(3)),
        ["in_axes of vmap has to be one axis, or one entry for each of the 2 arguments.", "got in_axes='x'",
         "Write  in_axes=(None, 0)."],
    ),
    "entries inside": (
        lambda: ad.vmap(lambda p: p[0], in_axes=((0, 0, 0),))((np.ones(3), np.ones(3))),
        ["in_axes of vmap has to be one axis, or one entry for each of the 2 parts of a container.",
         "got 3 for 2: (0, 0, 0)", "Write  (0, 0)  there."],
    ),
    "nothing": (
        lambda: ad.vmap(product, in_axes=None)(np.ones(3), np.ones(3)),
        ["vmap needs at least one argument to map over.", "got in_axes=None for all arguments",
         "Write  in_axes=(0, None),  or call the function itself."],
    ),
    "keys": (
        lambda: ad.vmap(lambda p: p["w"], in_axes=({"v": 0},))({"w": np.ones(3)}),
        ["An entry of in_axes is not nested like what it belongs to.", "got {'v': 0} for dict",
         "Give an integer, None, or the same containers with integers and None in them."],
    ),
    "results": (
        lambda: ad.vmap(lambda x: (x, x), out_axes=(0, 0, 0))(np.ones(3)),
        ["out_axes of vmap has to be one axis, or one entry for each of the 2 results.", "got 3 for 2: (0, 0, 0)",
         "Write  out_axes=(0, 0)."],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "lines"), BATCHES.values(), ids=BATCHES.keys())
def test_batches_that_do_not_fit(call, lines):
    """Which argument, which sizes, and what to write."""
    with pytest.raises(errors.BatchSizeError) as caught:
        call()
    found = [line.strip() for line in str(caught.value).splitlines()]
    assert "test_names.py" in found.pop(1)
    assert found == lines
    assert isinstance(caught.value, ValueError)
