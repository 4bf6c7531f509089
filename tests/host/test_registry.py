"""The registry of what is changed outside the library: every place that changes something has declared it."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from adjoint.host.patches.registry import DURATIONS, LASTING, SOURCE, declarations, declared_in

FILES = sorted(SOURCE.rglob("*.py"))
OF_FUNCTIONS = {"__code__", "__defaults__", "__kwdefaults__", "__wrapped__", "__signature__", "cell_contents"}
"""Attributes of functions and cells, which the library has no class of its own for."""
OF_ANYTHING = {"__class__", "__dict__"}
FOREIGN = {"Any", "object", "FunctionType", "ModuleType", "type", "None"}
"""Annotations of parameters that may be anybody's objects."""
MAKERS = {"FunctionType", "types.FunctionType", "ModuleType", "CellType", "object.__new__", "type", "namedtuple"}
"""What gives a new object, which nobody else has."""
PROCESS = {
    "addaudithook", "setprofile", "settrace", "set_events", "register_callback", "use_tool_id", "free_tool_id",
    "restart_events", "set_threshold", "freeze", "register_at_fork", "atexit.register", "signal.signal", "Thread",
    "start_new_thread", "copyreg.pickle", "copyreg.constructor", "register_pytree_node", "unregister_pytree_node",
    "simplefilter", "filterwarnings", "resetwarnings", "seterr", "seterrcall", "setstate", "set_state",
    "PyFrame_LocalsToFast", "PyType_Modified", "memmove", "memset", "cache_clear", "putenv", "unsetenv", "chdir",
    "umask", "setrecursionlimit", "setswitchinterval", "addHandler", "removeHandler", "setlocale", "set_printoptions",
    "set_start_method", "gc.disable", "gc.enable", "sys.path.insert", "sys.path.remove", "sys.path.append",
    "sys.modules.pop", "sys.meta_path.insert", "sys.path_hooks.insert", "llvm.add_symbol", "_variable.set",
}  # fmt: skip
"""Functions that change the process, or what all threads share, by the end of their full names."""


def root_of(node: ast.expr) -> str:
    """The name that an expression begins with."""
    while not isinstance(node, ast.Name):
        inner = getattr(node, "func", getattr(node, "value", None))
        if inner is None:
            return ""
        node = inner
    return node.id


def dotted(node: ast.expr) -> str:
    """`a.b.c`, as it is written; what is called or indexed on the way is left out."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def written(node: ast.AST) -> list[ast.expr]:
    """The places that a statement writes to."""
    if isinstance(node, (ast.Assign, ast.Delete)):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        targets = [node.target]
    else:
        return []
    return [part for t in targets for part in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t])]


class Scan(ast.NodeVisitor):
    """Finds the places in a file that write to what is not the library's own, as far as the text tells."""

    def __init__(self, tree: ast.Module) -> None:
        self.sites: list[tuple[int, str]] = []
        self.foreign: set[str] = set()
        self.own: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                self.own.add(node.name)
            elif isinstance(node, ast.Import):
                self.foreign |= {(a.asname or a.name).partition(".")[0] for a in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {a.asname or a.name for a in node.names}
                (self.own if node.level else self.foreign).update(names)
        self.in_class, self.scoped = False, 0
        self.parameters: dict[str, str] = {}
        self.fresh: set[str] = set()
        self.visit(tree)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        before, self.in_class = self.in_class, True
        self.generic_visit(node)
        self.in_class = before

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before = self.in_class, self.parameters, self.fresh
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        known = {a.arg: ast.unparse(a.annotation) if a.annotation else "None" for a in arguments}
        if self.in_class and arguments:
            known[arguments[0].arg] = "own"
        self.in_class, self.parameters = False, {**self.parameters, **known}
        self.fresh = set(self.fresh)
        self.generic_visit(node)
        self.in_class, self.parameters, self.fresh = before

    def visit_With(self, node: ast.With) -> None:
        is_scoped = any("catch_warnings" in ast.unparse(item.context_expr) for item in node.items)
        self.scoped += is_scoped
        self.generic_visit(node)
        self.scoped -= is_scoped

    def generic_visit(self, node: ast.AST) -> None:
        places = written(node)
        made = getattr(node, "value", None) if places else None
        is_new = isinstance(made, ast.Call) and dotted(made.func) in MAKERS
        for place in places:
            if is_new and isinstance(place, ast.Name):
                self.fresh.add(place.id)
            elif self.is_foreign(place):
                self.sites.append((place.lineno, ast.unparse(place)))
        super().generic_visit(node)

    def is_own(self, name: str) -> bool:
        """Whether a name stands for something of the library's: a class, an object made here, `self`."""
        return name in self.own or name in self.fresh or self.parameters.get(name) == "own"

    def is_foreign(self, place: ast.expr) -> bool:
        """Whether a place that is written to may be somebody else's."""
        root = root_of(place)
        if isinstance(place, ast.Attribute):
            if "from_address" in ast.unparse(place):
                return True
            if self.is_own(root):
                return False
            return (
                place.attr in OF_FUNCTIONS | OF_ANYTHING
                or root in self.foreign
                or (isinstance(place.value, ast.Name) and self.parameters.get(root) in FOREIGN)
            )
        if isinstance(place, ast.Subscript):
            return self.is_table(place.value) and not self.is_own(self.owner_of(place.value))
        return False

    def is_table(self, node: ast.expr) -> bool:
        """Whether an expression is the table of names of a module, a class, an object or a frame."""
        text = ast.unparse(node)
        ends = ("__dict__", "__globals__", "f_locals", "__kwdefaults__", "sys.modules", "os.environ", "sys.path")
        is_names = self.parameters.get(text) == "dict[str, Any]" and text == "names"
        return text.endswith(ends) or text.startswith("vars(") or is_names or root_of(node) in self.foreign

    def owner_of(self, node: ast.expr) -> str:
        """Whose table of names it is."""
        is_vars = isinstance(node, ast.Call) and ast.unparse(node.func) == "vars"
        return root_of(node.args[0] if is_vars else node)  # type: ignore[attr-defined]

    def visit_Call(self, node: ast.Call) -> None:
        name = dotted(node.func)
        if name in ("setattr", "delattr", "object.__setattr__", "type.__setattr__"):
            is_site = not (isinstance(node.args[0], ast.Name) and self.is_own(node.args[0].id))
        elif name.endswith((".update", ".setdefault", ".pop", ".clear")):
            table = node.func.value  # type: ignore[attr-defined]
            is_site = self.is_table(table) and not self.is_own(self.owner_of(table))
        else:
            is_known = not PROCESS.isdisjoint((name, ".".join(name.split(".")[-2:]), name.rpartition(".")[2]))
            is_site = is_known and not (self.scoped and name.startswith("warnings."))
        if is_site:
            self.sites.append((node.lineno, ast.unparse(node)))
        self.generic_visit(node)


def sites_in(file: Path) -> list[tuple[int, str]]:
    """The lines of a file that write to what is not the library's own, as far as the text tells."""
    return Scan(ast.parse(file.read_text(encoding="utf-8"))).sites


OWN = {
    "capture/environment/clone.py": "copies of functions and objects, made for a recording",
    "cli/evaluation.py": "a function made of a formula",
    "compile/call/objects.py": "objects made to be looked at",
    "compile/call/table.py": "likewise",
    "core/derived.py": "the function that a transformation returns",
    "explanation/record/recorder.py": "a copy of a trace",
    "host/code/graph.py": "a graph of the library, which keeps what has been computed of it",
    "host/objects/copier.py": "copies of objects",
    "host/objects/parts.py": "cells that the copier has made",
    "host/patches/changes.py": "the changes that others declare are made here",
    "learn/adapt/fine_tuned.py": "estimators of the library",
    "learn/calibration/scaling.py": "likewise",
    "learn/linear/columns.py": "likewise",
    "learn/files/decoding.py": "objects made of what a file holds",
    "nn/layer.py": "a layer made of another",
    "numpy/dispatch/lists.py": "functions of the library that stand for NumPy's",
    "optim/schedule/length.py": "a schedule of the library",
    "numpy/patching/module_properties.py": "modules of the library; what a user writes to a module goes to its names",
    "rules/singular/retrace.py": "a handle",
    "scipy/module_copies.py": "twins of modules",
    "scipy/spatial/rotations.py": "a twin of a module",
    "transforms/callbacks/copies.py": "copies of functions and objects, made for a solver",
    "transforms/control/branches.py": "a handle",
}
"""Files that write to nothing but the library's own objects, where the text does not tell: whose these are."""

DECLARED_IN = {
    "scipy/integrate/": "scipy/patched_methods.py",
    "scipy/interpolate/": "scipy/patched_methods.py",
    "scipy/sparse/": "scipy/patched_methods.py",
    "scipy/stats/": "scipy/patched_methods.py",
}
"""Folders whose files do what another one declares for all of them."""


def name_of(file: Path) -> str:
    return file.relative_to(SOURCE).as_posix()


@functools.cache
def writing() -> dict[str, list[tuple[int, str]]]:
    """The files that write to something foreign, as far as the text tells, and where."""
    return {name_of(file): sites for file in FILES if (sites := sites_in(file))}


def is_declared(name: str) -> bool:
    """Whether a file declares something, or another one does for all of its folder."""
    homes = [home for folder, home in DECLARED_IN.items() if name.startswith(folder)]
    return any(declared_in(SOURCE / place) for place in [name, *homes])


def test_every_change_outside_is_declared():
    """A file that writes to what may be somebody else's declares it, or the objects are the library's own."""
    assert len(writing()) >= 40
    assert {name: sites for name, sites in writing().items() if not is_declared(name) and name not in OWN} == {}


def test_what_needs_no_declaration_is_still_there():
    """A file that writes to nothing any more is taken off the list, and so is one that declares something."""
    names = writing().keys()
    assert OWN.keys() - names == set()
    assert [name for name in OWN if declared_in(SOURCE / name)] == []
    assert all(any(name.startswith(folder) for name in names) for folder in DECLARED_IN)


SITES = """
import sys, gc, other
from .core import Own
def change(f, x: Any, names: dict[str, Any], mine: Own):
    f.__code__ = None
    x.__class__ = int
    x.anything = 1
    names["a"] = 1
    vars(f)["a"] = 1
    f.__globals__.update(a=1)
    setattr(x, "a", 1)
    other.name = 1
    sys.modules["a"] = x
    sys.setprofile(None)
    gc.set_threshold(1)
    ctypes.c_int.from_address(id(x)).value = 1
    setattr(self.owner, "a", 1)
"""
NO_SITES = """
from .core import Own
class Mine:
    def change(self, mine: Own):
        self.__class__ = Other
        self.__dict__["a"] = 1
        mine.anything = 1
        made = FunctionType(code, {})
        made.__defaults__ = ()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
        setattr(Own, "a", 1)
        local = {}
        local["a"] = 1
"""


def test_changes_are_found():
    """Each line of a text that writes to something foreign, and none of one that does not."""
    assert len({line for line, _ in Scan(ast.parse(SITES)).sites}) == SITES.strip().count("\n") - 2
    assert Scan(ast.parse(NO_SITES)).sites == []


def test_declarations_are_complete():
    """Each says what, when, why and how it is undone; what lasts is undone by a call, or says why not."""
    entries = declarations()
    assert len(entries) >= 30
    for entry in entries:
        assert all(entry), entry
        assert entry.when in DURATIONS
        if entry.when == LASTING:
            assert (
                entry.undone == "`ad.debug.unpatch()`" or entry.undone.startswith("never: ") or "ends" in entry.undone
            )


def test_what_can_be_undone_is_recorded():
    """Every declaration that promises it is handed to what makes and records a change."""
    text = "".join(file.read_text("utf-8") for file in FILES)
    for entry in declarations():
        if entry.undone == "`ad.debug.unpatch()`":
            tree = ast.parse((SOURCE / entry.where).read_text("utf-8"))
            names = [
                node.targets[0].id
                for node in tree.body
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
                if node.targets[0].id.endswith("PATCH") and ast.literal_eval(node.value)["what"] == entry.what
            ]
            makers = ("GlobalName", "Attribute", "KeywordDefault", "WholeFunction", "ListItem", "replace_code")
            assert any(
                f"{maker}({name}," in text or f"{maker}(late.{name}," in text for maker in makers for name in names
            )
