"""`file.py:function`: the user's own function, loaded from its file and called with values by name."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from .arguments import Argument
from .errors import FAILURE, CommandError, sentences, suggestion

READING_PATCH = {
    "what": "`sys.path`, `sys.dont_write_bytecode` and `sys.modules`: the folder and the module of the user's file",
    "when": "while a command reads a file",
    "why": "the file imports what is beside it, and no compiled files are left there",
    "undone": "when the command is done",
}
TARGET = re.compile(r"(?P<path>.+\.py)(:(?P<name>.*))?", re.DOTALL)
"""A file, and the name of a function in it; no expression looks like this."""


def is_file(text: str) -> bool:
    """Whether a target means a file, not an expression."""
    return TARGET.fullmatch(text.strip()) is not None


@contextmanager
def loaded(text: str) -> Iterator[Callable[..., Any]]:
    """The function that `file.py:function` names; its folder is on the path as long as the context lasts.

    Raises
    ------
    CommandError
        If the file or the function is not there.
    """
    found = TARGET.fullmatch(text.strip())
    if found is None:
        raise CommandError("not of the form file.py:function", text=text)
    path, name = Path(found["path"]).expanduser(), found["name"] or ""
    if not path.is_file():
        near = suggestion(path.name, [file.name for file in path.parent.glob("*.py")])
        raise CommandError(f"there is no file {path}", text=text, hint=near)
    if not name.isidentifier():
        what = f"'{name}' is not the name of a function" if name else "which function of the file?"
        column = len(found["path"]) + 1 if name else len(text) - 1
        hint = f"Write  {path.name}:name.  {_listing(_written_in(path))}"
        raise CommandError(what, text=text, column=column, hint=hint)
    # a module name of its own, so that a file called like an installed module hides nothing
    module_name, folder = f"_explained_{path.stem}", str(path.resolve().parent)
    sys.path.insert(0, folder)
    writes_nothing, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # no compiled files beside the user's
    try:
        yield _function(_module(path, module_name), path, name, text)
    finally:
        sys.dont_write_bytecode = writes_nothing
        sys.modules.pop(module_name, None)
        sys.path.remove(folder)


def _module(path: Path, name: str) -> ModuleType:
    """The file as a module, run once."""
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise CommandError(f"{path} cannot be read as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except SystemExit as error:
        what = f"{path.name} ended the program while it was read"
        hint = "Put what is to run as a script under  if __name__ == '__main__'."
        raise CommandError(what, hint=hint, exit_code=FAILURE) from error
    return module


def _function(module: ModuleType, path: Path, name: str, text: str) -> Callable[..., Any]:
    column = text.rindex(":") + 1
    own = [key for key, value in vars(module).items() if _is_own(value, module) and not key.startswith("_")]
    if name not in vars(module):
        hint = sentences(suggestion(name, own), _listing(own))
        raise CommandError(f"{path.name} has no function '{name}'", text=text, column=column, hint=hint)
    function = getattr(module, name)
    if not callable(function):
        what = f"{name} is a value, not a function"
        raise CommandError(what, text=text, column=column, hint=_listing(own))
    return function


def _is_own(value: Any, module: ModuleType) -> bool:
    return callable(value) and getattr(value, "__module__", None) == module.__name__


def _written_in(path: Path) -> list[str]:
    """The functions of a file, without running it."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return []
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]


def _listing(names: list[str]) -> str:
    return f"It has: {', '.join(names)}." if names else "It has no functions."


def with_positions(
    function: Callable[..., Any], arguments: Mapping[str, Argument]
) -> tuple[Callable[..., Any], list[Any]]:
    """The function and its values as positional arguments, which are the ones that are differentiated.

    Raises
    ------
    CommandError
        If the function has no such parameter, or one that has no value.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # universal functions and builtins have none: in the order given
        return function, [argument.value for argument in arguments.values()]
    _check_names(function, signature, arguments)
    ordered = [name for name in signature.parameters if name in arguments]
    ordered += [name for name in arguments if name not in signature.parameters]
    values = [arguments[name].value for name in ordered]
    leading = [p.name for p in list(signature.parameters.values())[: len(ordered)] if p.kind in _BY_POSITION]
    if leading == ordered:
        return function, values
    return _by_name(function, signature, ordered), values


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _by_name(function: Callable[..., Any], signature: inspect.Signature, names: list[str]) -> Callable[..., Any]:
    """The function of these parameters only, where some can only be given by their names."""
    by_position = [p for p in signature.parameters.values() if p.kind is p.POSITIONAL_ONLY]

    def called(*values: Any) -> Any:
        given = dict(zip(names, values, strict=True))
        positional = [given.pop(p.name, p.default) for p in by_position]
        return function(*positional, **given)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    called.__name__ = getattr(function, "__name__", "f")
    called.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return called


def _check_names(function: Callable[..., Any], signature: inspect.Signature, arguments: Mapping[str, Argument]) -> None:
    called = getattr(function, "__name__", "the function")
    shown = f"It is  {called}{signature}."
    parameters = signature.parameters.values()
    named = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    for name, argument in arguments.items():
        if name not in named and not takes_any:
            hint = sentences(shown, suggestion(name, named))
            raise CommandError(f"{called} has no parameter '{name}'", text=argument.text, hint=hint)
    missing = [p.name for p in parameters if p.name in named and p.default is p.empty and p.name not in arguments]
    if missing:
        wanted = " and ".join(f"{name}=..." for name in missing)
        what = f"{called} needs a value for {' and '.join(missing)}"
        raise CommandError(what, hint=f"{shown} Write  {wanted}  after its name.")
