"""Objects as containers: code of theirs that runs on traced values."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.core.classes import KNOWN, Parts, form_of
from adjoint.core.tree import flatten


@dataclass
class Normal:
    w: Any
    total: Any = field(init=False)

    def __post_init__(self):
        self.w = np.asarray(self.w)
        self.total = np.sum(np.array([2.0 * self.w]))


def test_code_of_classes_runs_on_traced_values():
    """`__post_init__` may compute, with NumPy's array makers too, and what it makes has a derivative."""
    model = Normal(np.array([1.0, 2.0]))
    g = ad.grad(lambda m: m.total**2)(model)
    np.testing.assert_allclose(g.w, [24.0, 24.0])
    value, move = ad.jvp(lambda m: m.total, (model,), (model,))
    assert (value, move) == (6.0, 6.0)
    np.testing.assert_allclose(ad.vmap(lambda m: m.total)(Normal(np.ones((2, 3)))), [6.0, 6.0])
    f = ad.jit(lambda m: m.total)
    assert [f(Normal(np.full(2, float(k)))) for k in range(3)] == [0.0, 4.0, 8.0]
    assert f.stats()["recordings"] == 1


def test_code_of_classes_runs_on_the_first_traced_values():
    """Also if they are the first that a process traces."""
    code = (
        "import numpy as np, adjoint as ad\nfrom dataclasses import dataclass, field\n"
        "@dataclass\nclass C:\n    w: object\n    n: object = field(init=False)\n"
        "    def __post_init__(self):\n        self.n = np.sum(self.w)\n"
        "print(ad.vmap(lambda m: m.n)(C(np.ones((1, 2)))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[2.]"


def test_form_of_a_tree():
    """What a tree would be made of, without making objects: their code is not run."""
    _, rebuild = flatten({"a": [Normal(np.ones(2))], "b": 1.0})
    assert KNOWN[Normal].names == ("w",)
    assert form_of(rebuild, ["x", "y"]) == {"a": [Parts(Normal, {}, {"w": "x"})], "b": "y"}
    assert isinstance(rebuild([np.ones(2), 1.0])["a"][0], Normal)


@ad.tree.register(fields=("scale",))
class Slotted:
    """A registered class with slots, one of them private, and a dict."""

    __slots__ = ("__dict__", "__name", "scale")

    def __init__(self, scale, name):
        self.scale, self.__name = scale, name

    def name(self):
        """What the private slot holds."""
        return self.__name


def test_slots_of_registered_classes():
    """All that are set stay what they are, also under names that only the class itself can say."""
    x = Slotted(np.array([1.0, 2.0]), "left")
    x.side = "first"
    g = ad.grad(lambda x: np.sum(x.scale**2))(x)
    assert g.name() == "left"
    assert g.side == "first"
    assert np.array_equal(g.scale, [2.0, 4.0])
