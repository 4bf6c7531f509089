"""`adjoint explain`: every step of a derivative, for an expression or a function in a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import adjoint as ad

from .arguments import FORM, Argument, parse_arguments
from .errors import FAILURE, CommandError, suggestion
from .evaluation import first_not_finite, function_of
from .expression import ParsedExpression, parse
from .files import is_file, loaded, with_positions

PICTURES = (".svg", ".png", ".pdf", ".dot", ".gv")

FILES = ("page", "graph")
"""What is written to the path that is given with it."""

TEXTS = ("sympy", "latex", "code", "cost")
"""What is printed instead of the trace, in this order."""


def explain(options: argparse.Namespace) -> None:
    """Do what the options of `adjoint explain` say.

    Raises
    ------
    CommandError
        If the options, the expression, the file or the values cannot be understood.
    """
    _check_paths(options)
    arguments = parse_arguments(options.values)
    if is_file(options.target):
        with loaded(options.target) as function:
            called, values = with_positions(function, arguments)
            _check_real(arguments)
            _present(called, values, options)
    else:
        expression = parse(options.target, list(arguments))
        _check_used(expression, arguments)
        _check_real(arguments)
        if options.lines:
            raise CommandError("--lines is for functions in a file: an expression has one line")
        values = [argument.value for argument in arguments.values()]
        _present(function_of(expression, list(arguments)), values, options)
        note = first_not_finite(expression, {name: argument.value for name, argument in arguments.items()})
        if note is not None:
            say(f"note: {note}")


def _check_paths(options: argparse.Namespace) -> None:
    """Refuse what cannot be written before anything is computed."""
    if options.graph is not None and Path(options.graph).suffix.lower() not in PICTURES:
        what = f"--graph {options.graph}: its name has to end in {', '.join(PICTURES)}"
        raise CommandError(what)
    for path in (getattr(options, kind) for kind in FILES):
        if path is not None and Path(path).is_dir():
            raise CommandError(f"{path} cannot be written: it is a folder")
        if path is not None and not Path(path).resolve().parent.is_dir():
            raise CommandError(f"{path} cannot be written: there is no folder {Path(path).parent}")


def _check_used(expression: ParsedExpression, arguments: Mapping[str, Argument]) -> None:
    """Every value belongs to a variable of the expression; parsing made sure of the converse."""
    used = expression.variables
    if not used and not arguments:
        raise CommandError("the expression has no variable, so there is nothing to differentiate", text=expression.text)
    for name, argument in arguments.items():
        if name not in used:
            hint = suggestion(name, used)
            raise CommandError(f"{name} does not occur in the expression", text=argument.text, hint=hint)


def _check_real(arguments: Mapping[str, Argument]) -> None:
    """Something has to be differentiated."""
    if not arguments:
        raise CommandError("no value is given, so there is nothing to differentiate", hint=FORM)
    if not any(argument.differentiated for argument in arguments.values()):
        what = "every value is an integer constant, so there is nothing to differentiate"
        raise CommandError(what, hint="Leave out  int:  where a derivative is wanted.")


def _present(function: Callable[..., Any], values: list[Any], options: argparse.Namespace) -> None:
    """Explain a function at these values, and show or write what is asked for."""
    explanation = ad.explain(
        function,
        mode=options.mode,
        level="scalar" if options.scalar else "vector",
        digits=options.digits,
        names=options.names,
        lines=options.lines,
        collapse=options.collapse,
        max_rows=options.max_rows,
    )(*values)
    asked = [kind for kind in TEXTS if getattr(options, kind)]
    if asked:
        _write("\n\n".join(str(getattr(explanation, kind)()).rstrip("\n") for kind in asked))
    else:
        _show(explanation, options)
    for kind in FILES:
        path = getattr(options, kind)
        if path is not None:
            try:
                getattr(explanation, kind)(path)
            except OSError as error:
                what = f"{path} cannot be written: {error.strerror or error}"
                raise CommandError(what, exit_code=FAILURE) from error
            say(f"{kind} written to {path}")


def _show(explanation: Any, options: argparse.Namespace) -> None:
    """The traces: in colours on a terminal, as plain text elsewhere."""
    if options.ascii or not _can_print(str(explanation)):
        _write(explanation.text(ascii=True))
    elif options.plain or not sys.stdout.isatty():
        _write(str(explanation))
    else:
        explanation.show()


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _write(text: str) -> None:
    sys.stdout.write(text.rstrip("\n") + "\n")


def say(text: str) -> None:
    """A message beside the result: on standard error, so that the result can be piped on."""
    sys.stdout.flush()
    sys.stderr.write(f"adjoint: {text}\n")
