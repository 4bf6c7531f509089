"""Options and help texts of `adjoint fit`, `adjoint predict` and `adjoint report`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from .learning import fit, predict, report
from .models import DEFAULT, MODELS

FIT = """\
Fit a model to a table, CSV or Parquet: types of columns are inferred and said,
missing values and texts are fine. A part of the rows is kept back, to say how
good it is; probabilities are calibrated, sets and intervals have a guarantee."""

FIT_NOTES = """\
Classes are predicted if the target is text, or whole numbers of at most 20
kinds; else numbers. A value is missing if it is empty, NA, nan, null or ?.

output:
  The model goes to --out (the data's name with .adjoint by default), scores on
  the rows kept back to standard output, all else to standard error.
  Exit code: 0 fine, 1 it cannot be fitted, 2 the command was not understood,
  3 a file cannot be read or is not what it has to be: the line is said.

examples:
  adjoint fit data.csv --target y
  adjoint fit data.csv --target y --model linear --out m.adjoint --json
  adjoint fit data.csv --target y --costs "[[0, 10], [1, 0]]" --drop id
"""

PREDICT = """\
Predict for the rows of a table: a line of CSV for each, with the class or the
number, probabilities, and sets or intervals of the coverage asked for."""

PREDICT_NOTES = """\
Columns that the model does not take are left out, and said; one that it takes
and that is not there is an error. Exit codes as of  adjoint fit.

examples:
  adjoint predict m.adjoint new.csv > out.csv
  adjoint predict m.adjoint new.csv --sets 0.9 --out out.csv
"""

REPORT = """\
Say how good a model is on a table that has the target: scores on standard
output, and with --out a page with diagrams, which needs no network."""

REPORT_NOTES = """\
The rows should be others than those that the model was fitted to. Exit codes as
of  adjoint fit.

examples:
  adjoint report m.adjoint test.csv
  adjoint report m.adjoint test.csv --json
"""


def add_learning(commands: Any) -> None:
    """Add the three commands to the parser."""
    parser = _added(commands, "fit", fit, "fit a model to a table", FIT, FIT_NOTES, "DATA --target NAME [options]")
    parser.add_argument("data", metavar="DATA", help="a table: .csv, .tsv, .txt, .parquet")
    parser.add_argument("--target", metavar="NAME", required=True, help="the column that is to be predicted")
    parser.add_argument("--model", choices=sorted(MODELS), default=DEFAULT, help=f"what is fitted (default: {DEFAULT})")
    parser.add_argument("--task", choices=("classify", "regress"), help="classes or numbers (default: by the target)")
    parser.add_argument("--out", metavar="M.adjoint", help="where the model is written")
    parser.add_argument("--report", metavar="OUT.html", help="a page on how good it is, on the rows kept back")
    _add_costs(parser)
    parser.add_argument("--drop", metavar="NAME", action="append", default=[], help="a column to leave out; repeatable")
    parser.add_argument("--test", metavar="SHARE", type=_share(0.0), default=0.2, help="rows kept back (default: 0.2)")
    parser.add_argument("--coverage", metavar="C", type=_share(), default=0.9, help="of sets, intervals (default: 0.9)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="for all that is random (default: 0)")
    parser.add_argument("--quiet", action="store_true", help="say nothing of what is being done")
    _add_reading(parser)

    parser = _added(commands, "predict", predict, "predict for the rows of a table", PREDICT, PREDICT_NOTES,
                    "M.adjoint DATA [options]")  # fmt: skip
    parser.add_argument("model", metavar="M.adjoint", help="a model that  adjoint fit  or  learn.save  has written")
    parser.add_argument("data", metavar="DATA", help="a table: .csv, .tsv, .txt, .parquet")
    parser.add_argument("--sets", metavar="C", type=_share(), help="sets of classes with this coverage")
    parser.add_argument("--interval", metavar="C", type=_share(), help="intervals with this coverage")
    parser.add_argument("--out", metavar="OUT.csv", help="a file instead of standard output")
    _add_reading(parser)

    parser = _added(commands, "report", report, "say how good a model is", REPORT, REPORT_NOTES,
                    "M.adjoint DATA [options]")  # fmt: skip
    parser.add_argument("model", metavar="M.adjoint", help="a model that  adjoint fit  or  learn.save  has written")
    parser.add_argument("data", metavar="DATA", help="a table with the target: .csv, .tsv, .txt, .parquet")
    parser.add_argument("--target", metavar="NAME", help="the column with the truth (default: as fitted)")
    parser.add_argument("--out", metavar="OUT.html", help="a page with diagrams")
    _add_costs(parser)
    parser.add_argument("--coverage", metavar="C", type=_share(), help="of sets and intervals (default: as fitted)")
    _add_reading(parser)


def _added(
    commands: Any, name: str, run: Callable[[argparse.Namespace], None], short: str, long: str, notes: str, usage: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=short, description=long, epilog=notes, usage=f"adjoint {name} {usage}", allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.set_defaults(run=run)
    return parser


def _add_costs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--costs", metavar="MATRIX", help="JSON, or a file of it: [i][j] is the cost of deciding i when j is true"
    )


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--delimiter", metavar="C", help="between fields of a CSV (default: found in the first line)")
    parser.add_argument("--encoding", metavar="NAME", default="utf-8", help="of a CSV (default: utf-8)")
    parser.add_argument("--json", action="store_true", help="JSON on standard output")


def _share(least: float | None = None) -> Callable[[str], float]:
    """The reader of a number between 0 and 1, `least` included."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0.0 < value < 1.0 and value != least:
            raise argparse.ArgumentTypeError(f"'{text}' is not a number between 0 and 1")
        return value

    return read
