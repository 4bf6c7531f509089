"""The command as a user meets it: what is printed where, what is written, and the exit code."""

from __future__ import annotations

import ast
import os
import pty
import re
import shlex
import subprocess
import sys

import pytest

import adjoint as ad
from adjoint.cli.evaluation import function_of
from adjoint.cli.expression import parse
from adjoint.cli.main import main

WORKED = "sqrt(x**2 + exp(x**2)) + cos(x**2 + exp(x**2))"

MODEL = """\
import math
import numpy as np

def loss(w):
    a = w[0] + w[1] + 1.5 * w[2]
    return a**2

def drops(x):
    return __import__("array").array("d", [x])

def fails(x):
    raise RuntimeError("no luck")

def constant():
    return 1.0

def looped(x):
    for _ in range(30):
        x = np.sin(x)
    return x
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with model.py in it, as the current one."""
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "adjoint", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env={**os.environ, **environment},
    )


def worked_explanation(**options):
    return ad.explain(function_of(parse(WORKED, ["x"]), ["x"]), **options)(1.3)


def test_worked_example():
    """As a command of its own: six steps and the derivative, on standard output only."""
    done = command("explain", WORKED, "x=1.3")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{worked_explanation()}\n"
    assert "v6 = v4 + v5" in done.stdout
    assert "v7" not in done.stdout
    assert "-9.1449" in done.stdout


def test_help_and_version(capsys):
    """Help is printed on standard output; without a command there is help too."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"adjoint {ad.__version__}\n"
    assert main([]) == 0
    short = capsys.readouterr().out
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == short
    assert main(["explain", "--help"]) == 0
    long = capsys.readouterr().out
    assert long.isascii()
    assert max(map(len, (short + long).splitlines())) <= 82


def test_the_examples_of_the_help_run(here, capsys):
    """Every example that the help shows does what it says."""
    main(["explain", "--help"])
    examples = capsys.readouterr().out.partition("examples:\n")[2].splitlines()
    assert len(examples) >= 5
    for example in examples:
        words = shlex.split(example.partition(" > ")[0])
        assert words[0] == "adjoint"
        assert main(words[1:]) == 0, example
        assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        (["--forward"], {"mode": "forward"}),
        (["--both"], {"mode": "both"}),
        (["--digits", "2"], {"digits": 2}),
        (["--digits=2"], {"digits": 2}),
        (["--no-names"], {"names": False}),
        (["--max-rows", "5"], {"max_rows": 5}),
        (["--scalar"], {"level": "scalar"}),
        (["--no-collapse"], {"collapse": False}),
        (["--plain"], {}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options(capsys, flags, options):
    """Each option is that of `ad.explain`, wherever it stands."""
    expected = f"{worked_explanation(**options)}\n"
    for arguments in ([WORKED, "x=1.3", *flags], [*flags, WORKED, "x=1.3"], [WORKED, *flags, "x=1.3"]):
        assert main(["explain", *arguments]) == 0
        assert capsys.readouterr().out == expected


def test_options_change_what_is_shown(here, capsys):
    """Loops are collapsed unless the option says otherwise, and lines are shown where they are asked for."""
    shown = {}
    for flags in ([], ["--no-collapse"], ["--lines"], ["--no-names"]):
        assert main(["explain", "model.py:looped", "x=1", *flags]) == 0
        shown[" ".join(flags)] = capsys.readouterr().out
    assert len(set(shown.values())) == 4
    assert len(shown["--no-collapse"]) > 2 * len(shown[""])
    assert "model.py:19" in shown["--lines"]


def test_ascii(capsys):
    """Only ASCII characters are printed."""
    assert main(["explain", WORKED, "x=1.3", "--ascii"]) == 0
    assert capsys.readouterr().out == worked_explanation().text(ascii=True).rstrip("\n") + "\n"


def test_a_terminal_that_cannot_show_the_signs():
    """Where the encoding has no nabla, the ASCII text is printed instead."""
    done = command("explain", WORKED, "x=1.3", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout == worked_explanation().text(ascii=True).rstrip("\n") + "\n"


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """What the command prints if its standard output is a terminal."""
    ours, theirs = pty.openpty()
    settings = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", **environment}
    process = subprocess.Popen([sys.executable, "-m", "adjoint", *arguments], stdout=theirs, env=settings)
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how a terminal says that the other side is gone
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    assert process.wait(60) == 0
    return b"".join(parts).decode()


def test_colours_on_a_terminal():
    """Colours where there is a terminal, none with --plain; NO_COLOR is respected."""
    pytest.importorskip("rich")
    escape = "\x1b["
    environment = {"NO_COLOR": ""}
    assert escape in on_a_terminal("explain", WORKED, "x=1.3", **environment)
    assert escape not in on_a_terminal("explain", WORKED, "x=1.3", "--plain", **environment)
    # rich keeps bold and italic without colours; a colour is a number from 30 on
    without = on_a_terminal("explain", WORKED, "x=1.3", NO_COLOR="1")
    codes = {int(code) for found in re.findall(r"\x1b\[([\d;]*)m", without) for code in found.split(";") if code}
    assert all(code < 30 for code in codes)


def test_files(here, capsys):
    """The page and the picture are written, and where is said on standard error."""
    pytest.importorskip("pygraphviz")
    assert main(["explain", "model.py:loss", "w=-1,1.5,0.5", "--page", "out.html", "--graph", "out.svg"]) == 0
    printed = capsys.readouterr()
    assert printed.err == "adjoint: page written to out.html\nadjoint: graph written to out.svg\n"
    assert "loss = " in printed.out
    assert "<html" in (here / "out.html").read_text(encoding="utf-8")
    assert "<svg" in (here / "out.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["sympy", "latex", "code", "cost"])
def test_texts(capsys, kind):
    """Each text is printed instead of the trace."""
    if kind in ("sympy", "latex"):
        pytest.importorskip("sympy")
    assert main(["explain", WORKED, "x=1.3", f"--{kind}"]) == 0
    expected = str(getattr(worked_explanation(), kind)())
    assert capsys.readouterr().out == expected.rstrip("\n") + "\n"


def test_code_runs_by_itself(here, capsys):
    """The printed code, run where the library cannot be imported, gives the value and the gradient."""
    assert main(["explain", "x**2 * y", "x=3", "y=5", "--code"]) == 0
    source = capsys.readouterr().out
    (name,) = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    without = "import sys; sys.modules['adjoint'] = None\n"
    (here / "derivative.py").write_text(f"{without}{source}\nprint({name}(3.0, 5.0))\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "derivative.py"], capture_output=True, text=True, timeout=60)
    assert done.stdout == "(45.0, (30.0, 9.0))\n", done.stderr


ERRORS = [
    (
        ["sqrt(x**2 + y)", "x=1"],
        2,
        "unknown name 'y'\n  sqrt(x**2 + y)\n              ^\n  given: x. Write  y=...  after the expression.",
    ),
    (["x", "x=1", "z=2"], 2, "z does not occur in the expression\n  z=2\n  ^"),
    (
        ["1 + 1"],
        2,
        "the expression has no variable, so there is nothing to differentiate\n  1 + 1\n  ^",
    ),
    (
        ["n*n", "n=int:2"],
        2,
        "every value is an integer constant, so there is nothing to differentiate\n"
        "  Leave out  int:  where a derivative is wanted.",
    ),
    (
        ["model.py:constant"],
        2,
        "no value is given, so there is nothing to differentiate\n"
        "  Write  name=value  without spaces, as in  x=1.3  or  w=-1,1.5,0.5.",
    ),
    (
        [],
        2,
        "what is to be explained?\n"
        '  Write an expression, as in  adjoint explain "x**2 + sin(x)" x=1.3,  or  file.py:function.',
    ),
    (["x", "x=1", "--lines"], 2, "--lines is for functions in a file: an expression has one line"),
    (["x", "x=1", "--digit", "3"], 2, "unknown option --digit\n  Did you mean --digits?"),
    (["x", "x=1", "--verbose"], 2, "unknown option --verbose\n  See  adjoint explain --help."),
    (
        ["x", "x=1", "--digits", "-3"],
        2,
        "argument --digits: '-3' is not a whole number from 0 to 17\n  See  adjoint explain --help.",
    ),
    (
        ["x", "x=1", "--max-rows=0"],
        2,
        "argument --max-rows: '0' is not a whole number from 1 to 1,000,000\n  See  adjoint explain --help.",
    ),
    (["x", "x=1", "--page", "."], 2, ". cannot be written: it is a folder"),
    (["x", "x=1", "--digits"], 2, "argument --digits: expected one argument\n  See  adjoint explain --help."),
    (
        ["x", "x=1", "--forward", "--both"],
        2,
        "argument --both: not allowed with argument --forward\n  See  adjoint explain --help.",
    ),
    (["x", "x=1", "--graph", "out.txt"], 2, "--graph out.txt: its name has to end in .svg, .png, .pdf, .dot, .gv"),
    (["x", "x=1", "--page", "no/out.html"], 2, "no/out.html cannot be written: there is no folder no"),
    (
        ["w[5]", "w=1,2"],
        1,
        "[5] cannot be computed: index 5 is out of bounds for axis 0 with size 2\n  w[5]\n   ^",
    ),
    (["model.py:fails", "x=1"], 1, 'RuntimeError: no luck\n  at model.py:12 in fails:  raise RuntimeError("no luck")'),
]


@pytest.mark.parametrize(
    ("arguments", "code", "message"), ERRORS, ids=[" ".join(row[0]) or "nothing" for row in ERRORS]
)
def test_errors(here, capsys, arguments, code, message):
    """The message goes to standard error, nothing to standard output; 2 is the command line, 1 the function."""
    assert main(["explain", *arguments]) == code
    printed = capsys.readouterr()
    assert printed.err == f"adjoint: error: {message}\n"
    assert printed.out == ""


def test_errors_of_the_library_have_no_traceback(here):
    """The library's own message, with the user's line, and nothing else."""
    done = command("explain", "model.py:drops", "x=1")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith(
        "adjoint: error: A traced value cannot become a Python float without losing its derivative."
    )
    assert lines[1] == '  at model.py:9 in drops():  return __import__("array").array("d", [x])'
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_missing_package_is_named(here):
    """What has to be installed is said, without a line of the command itself."""
    (here / "pygraphviz.py").write_text("raise ImportError('not here')", encoding="utf-8")
    done = command("explain", "x**2", "x=1", "--graph", "out.svg", PYTHONPATH=str(here))
    assert done.returncode == 1
    assert "pip install 'adjoint[viz]'" in done.stderr
    assert "  at " not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_cannot_be_written(here, capsys, monkeypatch):
    """What the system says about it, in one line."""

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(worked_explanation()), "page", full)
    assert main(["explain", WORKED, "x=1.3", "--page", "out.html"]) == 1
    assert capsys.readouterr().err == "adjoint: error: out.html cannot be written: No space left on device\n"


def test_a_command_that_does_not_exist(capsys):
    """The commands there are, are named."""
    assert main(["explian", "x"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("adjoint: error: argument COMMAND: invalid choice: 'explian'")
    assert error.endswith("  See  adjoint --help.\n")
    assert "  Did you mean explain?\n" in error


@pytest.mark.parametrize("first", ["grad", "x**2", "-x", "model.py:loss"])
def test_a_forgotten_command(capsys, first):
    """Whoever writes an expression at once, or the name of a function of the library, is shown a whole command."""
    assert main([first, "x=1"]) == 2
    assert capsys.readouterr().err == (
        f"adjoint: error: argument COMMAND: invalid choice: '{first}'\n"
        '  Write  adjoint explain "x**2 + sin(x)" x=1.3.\n  See  adjoint --help.\n'
    )


def test_an_unknown_option_before_the_command(capsys):
    """Options of the command itself are named in its help."""
    assert main(["--verbose"]) == 2
    assert capsys.readouterr().err == "adjoint: error: unknown option --verbose\n  See  adjoint --help.\n"


def test_an_expression_may_begin_with_a_minus_sign(capsys):
    """-x is an expression, not an option, and columns are counted from its first character."""
    assert main(["explain", "-x**2", "x=3"]) == 0
    assert "-9" in capsys.readouterr().out
    assert main(["explain", "-x*y", "x=3"]) == 2
    assert "  -x*y\n     ^\n" in capsys.readouterr().err


def test_a_note_where_the_value_is_not_finite(capsys):
    """The trace is shown, and the step that made it nan is pointed at; the command did what it was asked to."""
    assert main(["explain", "1 + log(x - 2)", "x=1"]) == 0
    printed = capsys.readouterr()
    assert "nan" in printed.out
    assert printed.err == "adjoint: note: log is nan here\n  1 + log(x - 2)\n      ^\n"


def test_a_reader_that_has_seen_enough(here):
    """A closed pipe ends the command without complaint."""
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, "-m", "adjoint", "explain", WORKED, "x=1.3"],
        stdout=theirs,
        stderr=subprocess.PIPE,
        timeout=120,
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


def test_interruption(monkeypatch, capsys):
    """Ctrl-C ends the command with a word, not a traceback."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ad, "explain", interrupted)
    assert main(["explain", "x", "x=1"]) == 130
    assert capsys.readouterr().err == "adjoint: interrupted\n"
