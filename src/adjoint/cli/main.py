"""The command line: its options and help texts, and what becomes of errors."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import NoReturn

import adjoint as ad

from .errors import FAILURE, USAGE, CommandError, failure_text, suggestion
from .explaining import explain, say
from .functions import table
from .options import add_learning

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

COMMANDS = ("explain", "fit", "predict", "report")

DESCRIPTION = "Derivatives of plain NumPy code, and models of tables, from the command line."

EXAMPLES = """\
examples:
  adjoint explain "sqrt(x**2 + exp(x**2))" x=1.3
  adjoint explain model.py:loss w=-1,1.5,0.5 --page loss.html
  adjoint fit data.csv --target y --out m.adjoint
  adjoint predict m.adjoint new.csv > out.csv
  adjoint explain --help
"""

NOTHING_GIVEN = 'Write an expression, as in  adjoint explain "x**2 + sin(x)" x=1.3,  or  file.py:function.'

EXPLAIN_DESCRIPTION = """\
Show every step of a derivative: the forward trace with the value of each
step, and beside it the reverse trace with each adjoint."""

EXPLAIN_NOTES = """\
values:
  x=1.3               a number; 1e-3, pi/4 and sqrt(2) are numbers too
  w=-1,1.5,0.5        an array
  W=[[1,2],[3,4]]     a matrix
  n=int:3             a whole number that is not differentiated
  Every variable of an expression needs a value; parameters of a function
  that have a default do not. Quote what the shell would change: "W=[[1,2]]".

expressions:
  + - * / ** % @ ( )  as in Python; a power is x**2
  x[0]  x[-1]  x[1:]  elements and slices
  [x, 2*y]            an array
  < <= > >= == !=     in where(x > 0, x, 0)
  Equal parts are computed once. Nothing is executed but these functions:
{functions}

output:
  The trace goes to standard output, in colours on a terminal (NO_COLOR=1
  turns them off), as plain text into a pipe or a file. --sympy, --latex,
  --code and --cost print their text instead of the trace. Messages go to
  standard error. Exit code: 0 fine, 1 the function failed, 2 the command
  was not understood.

examples:
  adjoint explain "sqrt(x**2 + exp(x**2)) + cos(x**2 + exp(x**2))" x=1.3
  adjoint explain "x * y + sin(x)" x=2 y=3 --forward
  adjoint explain "sum((A @ w - b)**2)" "A=[[1,2],[3,4]]" w=1,-1 b=0.5,0 --scalar
  adjoint explain model.py:loss w=-1,1.5,0.5 --page loss.html --graph loss.svg
  adjoint explain model.py:loss w=-1,1.5,0.5 --code > loss_gradient.py
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, or with those of the process.

    Returns
    -------
    int
        The exit code: 0 fine, 1 the user's function failed, 2 the command was not understood, 3 a file is no table.
    """
    try:
        return _run(sys.argv[1:] if arguments is None else list(arguments))
    except CommandError as error:
        say(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # whoever reads the output has seen enough; without this Python complains again when it closes the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        say(f"error: {failure_text(error)}")
        return FAILURE


def _run(arguments: list[str]) -> int:
    parser = build_parser()
    _check_command(arguments)
    if arguments[:1] == ["explain"]:
        arguments = [_positional(argument) for argument in arguments]
    try:
        options, more = parser.parse_known_args(arguments)
    except SystemExit as leaving:  # after --help and --version
        return int(leaving.code or 0)
    if options.command is None:
        parser.print_help()
        return 0
    unknown = [argument for argument in more if argument.startswith("-")]
    if unknown:
        raise CommandError(f"unknown option {unknown[0]}", hint=_near_option(options.command, unknown[0]))
    if options.command != "explain":
        if more:
            raise CommandError(f"'{more[0]}' is one argument too many", hint=f"See  adjoint {options.command} --help.")
        options.run(options)
        sys.stdout.flush()
        return 0
    if options.target is None:
        raise CommandError("what is to be explained?", hint=NOTHING_GIVEN)
    options.target = options.target.strip()
    options.values += more  # those that stand behind an option
    explain(options)
    sys.stdout.flush()  # a closed pipe is noticed here, not when Python ends
    return 0


def _check_command(arguments: list[str]) -> None:
    """The first word is the command; an expression without it says what to write."""
    first = arguments[0] if arguments else "explain"
    if first in COMMANDS or first in ("-h", "--help", "--version"):
        return
    if first.startswith("--"):
        raise CommandError(f"unknown option {first}", hint="See  adjoint --help.")
    hint = suggestion(first, COMMANDS) or 'Write  adjoint explain "x**2 + sin(x)" x=1.3.'
    raise CommandError(f"argument COMMAND: invalid choice: '{first}'", hint=f"{hint}\nSee  adjoint --help.")


def _positional(argument: str) -> str:
    """An expression may begin with a minus sign; a space before it keeps it from being read as an option."""
    looks_like_option = argument in ("-h", "-") or argument.startswith("--")
    return f" {argument}" if argument.startswith("-") and not looks_like_option else argument


def _near_option(command: str, option: str) -> str:
    options = [name for action in _actions(build_parser(), command) for name in action.option_strings]
    return suggestion(option.partition("=")[0], options) or f"See  adjoint {command} --help."


def _actions(parser: argparse.ArgumentParser, command: str) -> list[argparse.Action]:
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return commands.choices[command]._actions


class _Parser(argparse.ArgumentParser):
    """A parser whose errors look like all others."""

    def error(self, message: str) -> NoReturn:
        raise CommandError(message, hint=f"See  {self.prog} --help.", exit_code=USAGE)


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = _Parser(
        prog="adjoint",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"adjoint {ad.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    _add_explain(commands)
    add_learning(commands)
    return parser


def _add_explain(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser(
        "explain",
        help="show every step of a derivative",
        description=EXPLAIN_DESCRIPTION,
        epilog=EXPLAIN_NOTES.format(functions=_functions()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="adjoint explain EXPRESSION|FILE.py:FUNCTION [NAME=VALUE ...] [options]",
        allow_abbrev=False,
    )
    parser.add_argument(
        "target", metavar="EXPRESSION", nargs="?", help='what to explain, such as "x**2 + sin(x)" or model.py:loss'
    )
    parser.add_argument("values", metavar="NAME=VALUE", nargs="*", help="the point, such as x=1.3 w=-1,1.5,0.5")

    sweeps = parser.add_argument_group("which sweeps are shown").add_mutually_exclusive_group()
    sweeps.add_argument(
        "--forward",
        dest="mode",
        action="store_const",
        const="forward",
        help="forward mode: tangents instead of adjoints",
    )
    sweeps.add_argument("--both", dest="mode", action="store_const", const="both", help="tangents and adjoints")
    parser.set_defaults(mode="reverse")

    files = parser.add_argument_group("files to write")
    files.add_argument("--page", metavar="OUT.html", help="a page that steps through the sweeps; needs no network")
    files.add_argument("--graph", metavar="OUT.svg", help="the graph as a picture: .svg, .png, .pdf or .dot")

    texts = parser.add_argument_group("texts to print instead of the trace")
    texts.add_argument("--sympy", action="store_true", help="function and derivative as SymPy expressions")
    texts.add_argument("--latex", action="store_true", help="function and derivative as LaTeX")
    texts.add_argument("--code", action="store_true", help="the derivative as NumPy code that runs by itself")
    texts.add_argument("--cost", action="store_true", help="operations and memory of the function and of both sweeps")

    looks = parser.add_argument_group("how the trace looks")
    looks.add_argument("--scalar", action="store_true", help="every element its own step, for small arrays")
    looks.add_argument(
        "--digits", metavar="N", type=_between(0, 17), default=4, help="digits after the point (default: 4)"
    )
    looks.add_argument(
        "--max-rows", metavar="N", type=_between(1, 10**6), default=60, help="at most so many rows (default: 60)"
    )
    looks.add_argument("--lines", action="store_true", help="the line of the file that each step comes from")
    looks.add_argument("--no-names", dest="names", action="store_false", help="v1, v2, ... instead of your names")
    looks.add_argument("--no-collapse", dest="collapse", action="store_false", help="every turn of a loop, every block")
    looks.add_argument("--plain", action="store_true", help="no colours on a terminal either")
    looks.add_argument("--ascii", action="store_true", help="plain text of ASCII characters only")


def _between(least: int, most: int) -> Callable[[str], int]:
    """The reader of a whole number within bounds."""

    def read(text: str) -> int:
        written = text.strip()
        if not (written.isdecimal() and len(written) <= len(str(most)) and least <= int(written) <= most):
            raise argparse.ArgumentTypeError(f"'{written}' is not a whole number from {least} to {most:,}")
        return int(written)

    return read


def _functions() -> str:
    """The table of functions, wrapped for the help text."""
    lines: list[str] = []
    for kind, names in table():
        wrapped = textwrap.wrap(names, width=56, break_on_hyphens=False)
        lines += [f"  {head:<20}{line}" for head, line in zip([kind] + [""] * len(wrapped), wrapped, strict=False)]
    return "\n".join(lines)
