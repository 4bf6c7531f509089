"""Every public function has a complete help page: parameters with types, what is returned, an example that runs."""

from __future__ import annotations

import builtins
import inspect
import re
from types import ModuleType

import pytest

import adjoint as ad
import adjoint.scipy.optimize
from adjoint.explanation.explanation import Explanation
from adjoint.explanation.formula.symbolic import Symbolic
from adjoint.explanation.show.graph import Graph
from adjoint.transforms.custom import CustomRule
from adjoint.transforms.jit.jit import Jitted

MODULES = (
    ad, adjoint.scipy.optimize, ad.config, ad.curvature, ad.data, ad.debug, ad.implicit, ad.losses, ad.nn,
    ad.nn.init, ad.numerical, ad.optim, ad.optim.schedule, ad.optim.stop, ad.random, ad.sparse, ad.testing, ad.tree,
)  # fmt: skip
FOR_THE_LIBRARY = {"switched", "on_plain", "derived", "drop"}
"""Methods of jitted functions that other parts of the library call."""

METHODS = [
    getattr(kind, name)
    for kind in (
        Jitted,
        CustomRule,
        Explanation,
        Graph,
        Symbolic,
        ad.testing.Case,
        ad.data.Batches,
        ad.data.Standardizer,
    )
    for name, method in vars(kind).items()
    if inspect.isfunction(method) and not name.startswith("_") and name not in FOR_THE_LIBRARY
]
FUNCTIONS = [
    function
    for module in MODULES
    for name in module.__all__
    if callable(function := getattr(module, name)) and name != "AdjointError"
]
TITLE = re.compile(r"^(\w+)\n(-+)$", re.MULTILINE)


def sections(function) -> dict[str, str]:
    """The parts of a help page by their titles."""
    found = TITLE.split(inspect.getdoc(function) or "")
    return dict(zip(found[1::3], found[3::3], strict=True))


def entries(section: str) -> dict[str, tuple[str, str]]:
    """Name, to type and description, of `name : type` with indented lines below it."""
    found = re.findall(r"^(\S.*?) : (\S.*)\n((?:[ ]{4}.*\n?|\n)+)", section.strip("\n") + "\n", re.MULTILINE)
    return {name: (kind, " ".join(text.split())) for name, kind, text in found}


def parameters(function) -> list[str]:
    """The names in the signature as a help page writes them."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    given = inspect.signature(function).parameters.values()
    return [stars.get(p.kind, "") + p.name for p in given if p.name != "self"]


def name_of(function) -> str:
    return f"{function.__module__.removeprefix('adjoint.')}.{function.__qualname__}"


@pytest.mark.parametrize("function", [*FUNCTIONS, *METHODS], ids=name_of)
def test_help_page_is_complete(function):
    """All parameters in the order of the signature, each with a type and a sentence; results; an example."""
    parts = sections(function)
    described = entries(parts.get("Parameters", ""))
    assert list(described) == parameters(function)
    assert all(kind and text.endswith((".", "`.")) for kind, text in described.values())
    if not isinstance(function, type) and inspect.signature(function).return_annotation != "None":
        kind, *text = parts["Returns"].strip("\n").splitlines()
        assert not kind.startswith(" ")
        assert text
        assert all(line.startswith("    ") or " : " in line for line in text if line)
    assert ">>> " in parts["Examples"]
    for section in parts.get("Raises", "").strip("\n").splitlines():
        name = section.strip()
        assert section.startswith(" ") or hasattr(ad.errors, name) or hasattr(builtins, name)


@pytest.mark.parametrize("module", [*MODULES, ad.errors], ids=lambda m: m.__name__)
def test_names_are_what_is_offered(module):
    """What a module imports for itself is not among its names."""
    assert sorted(dir(module)) == sorted(module.__all__)
    for name in module.__all__:
        assert isinstance(getattr(module, name), ModuleType) or inspect.getdoc(getattr(module, name))


@pytest.mark.parametrize("name", [n for n in ad.errors.__all__ if n != "AdjointError"])
def test_errors_show_what_to_write(name):
    """The page of an exception has code that raises it and code that does not."""
    page = inspect.getdoc(getattr(ad.errors, name))
    assert "Wrong: " in page
    assert "Right: " in page
