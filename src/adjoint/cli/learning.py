"""`adjoint fit`, `adjoint predict`, `adjoint report`: from a table to a model, from a model to predictions."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .errors import FAILURE, CommandError
from .explaining import say
from .kinds import Kinds, described, features, kind_of, kinds_in, target_column, target_values, task_of
from .models import TAKE_FRAMES, honest, model_of
from .tables import TableFile, problem, read_table

FEWEST = 20
"""Rows that it takes at the least: some to fit, some to calibrate, some to look at."""


def fit(options: argparse.Namespace) -> None:
    """Fit a model to a table, save it, and say how good it is on rows that it has not seen."""
    _check_installed()
    from sklearn.model_selection import train_test_split

    from adjoint import learn

    out = options.out or f"{Path(options.data).stem}.adjoint"
    _check_writable(out, options.report)
    notes: list[str] = []
    table = read_table(options.data, delimiter=options.delimiter, encoding=options.encoding)
    task = options.task or task_of(target_column(table, options.target))
    dates = "date" if options.model in TAKE_FRAMES else "days"
    kinds = kinds_in(table, [options.target, *options.drop], dates=dates)
    y, there = target_values(table, options.target, task)
    costs = _costs(options.costs, task, np.unique(y[there]))
    X = features(table, kinds, notes, beside=[options.target, *options.drop])
    _told(options, [described(table, kinds, options.target), *_columns(kinds), *_left_out(there), *notes])
    X, y = X[there].reset_index(drop=True), y[there]
    if len(y) < FEWEST:
        raise problem(f"{table.path} has {len(y)} rows with a target; {FEWEST} are the least")
    seen, test = np.arange(len(y)), np.arange(0)
    if options.test > 0.0:
        stratify = y if task == "classify" and np.min(np.unique(y, return_counts=True)[1]) > 1 else None
        seen, test = train_test_split(seen, test_size=options.test, random_state=options.seed, stratify=stratify)
    words = {"classify": f"{len(np.unique(y))} classes", "regress": "numbers"}[task]
    _told(options, [f"fitting {options.model} to {len(seen):,} rows, predicting {words} ..."])
    begun = time.perf_counter()
    estimator = model_of(options.model, task, seed=options.seed)
    model = honest(estimator, task, costs=costs, coverage=options.coverage, seed=options.seed)
    _fitted(model, X.iloc[seen], y[seen])
    seconds = time.perf_counter() - begun
    model.column_kinds_, model.target_name_ = dict(kinds), options.target
    learn.save(model, out)
    _told(options, [f"fitted in {seconds:.1f} s; written to {out}", *_guarantee(model)])
    numbers: dict[str, Any] = {"model": out, "task": task, "columns": kinds, "rows": len(seen), "tested on": len(test)}
    if len(test):
        numbers["scores"] = scores(model, X.iloc[test], y[test], task, options.coverage)
    if options.report:
        if len(test) == 0:
            raise CommandError("--report needs rows to look at: --test 0 leaves none")
        _page(model, X.iloc[test], y[test], options.report, (X.iloc[seen], y[seen]), costs, options.coverage)
        numbers["report"] = options.report
    _shown(numbers, options.json)


def predict(options: argparse.Namespace) -> None:
    """Predict for the rows of a table: a line of CSV for each."""
    _check_installed()
    notes: list[str] = []
    model = _loaded(options.model)
    table = read_table(options.data, delimiter=options.delimiter, encoding=options.encoding)
    X = features(table, _kinds(model, table), notes, beside=[getattr(model, "target_name_", "")])
    for note in notes:
        say(note)
    columns = _predicted(model, X, options)
    if options.json:
        lines = "".join(
            json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in zip(*columns.values(), strict=True)
        )
    else:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        lines = text.getvalue()
    if options.out:
        Path(options.out).write_text(lines, encoding="utf-8")
    else:
        sys.stdout.write(lines)


def report(options: argparse.Namespace) -> None:
    """Say how good a model is on a table that has the target."""
    _check_installed()
    notes: list[str] = []
    model = _loaded(options.model)
    name = options.target or getattr(model, "target_name_", None)
    if name is None:
        raise CommandError(f"{options.model} does not say what its target is called", hint="Write  --target NAME.")
    table = read_table(options.data, delimiter=options.delimiter, encoding=options.encoding)
    kinds = _kinds(model, table, without=name)
    task = "classify" if hasattr(model, "classes_") else "regress"
    y, there = target_values(table, name, task)
    if task == "classify" and model.classes_.dtype.kind in "US" and y.dtype.kind not in "US":
        y = np.array([str(v) for v in y])
    X = features(table, kinds, notes, beside=[name])[there].reset_index(drop=True)
    y = y[there]
    if task == "classify":
        _check_classes(table, name, y, there, model.classes_)
    for note in notes:
        say(note)
    coverage = options.coverage or getattr(model, "coverage", 0.9)
    numbers: dict[str, Any] = {"model": options.model, "task": task, "tested on": len(y)}
    numbers["scores"] = scores(model, X, y, task, coverage)
    if options.out:
        costs = None if options.costs is None else _costs(options.costs, task, model.classes_)
        _page(model, X, y, options.out, None, costs, coverage)
        numbers["report"] = options.out
    _shown(numbers, options.json)


def scores(model: Any, X: Any, y: Any, task: str, coverage: float) -> dict[str, float]:
    """How good predictions are on rows that the model has not seen."""
    from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, r2_score, root_mean_squared_error

    from adjoint import learn

    if task == "regress":
        values = model.predict(X)
        found = {
            "r2": float(r2_score(y, values)),
            "root mean squared error": float(root_mean_squared_error(y, values)),
            "mean absolute error": float(mean_absolute_error(y, values)),
        }
        if hasattr(model, "predict_interval"):
            ends = model.predict_interval(X, coverage)
            found["coverage"] = float(np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])))
            found["mean width"] = float(np.mean(ends[:, 1] - ends[:, 0]))
        return found
    p = model.predict_proba(X)
    found = {
        "accuracy": float(accuracy_score(y, model.classes_[np.argmax(p, axis=1)])),
        "log loss": float(log_loss(y, p, labels=model.classes_)),
        "calibration error": float(np.asarray(learn.calibration_error(y, p, labels=model.classes_))),
    }
    if hasattr(model, "predict_set"):
        held = model.predict_set(X, coverage)
        found["coverage"] = float(np.mean(held[np.arange(len(y)), np.searchsorted(model.classes_, y)]))
        found["mean set size"] = float(np.mean(held.sum(axis=1)))
    return found


def _predicted(model: Any, X: Any, options: argparse.Namespace) -> dict[str, list[Any]]:
    """The columns of the output, by name."""
    name = getattr(model, "target_name_", "prediction")
    found: dict[str, list[Any]] = {name: model.predict(X).tolist()}
    if hasattr(model, "classes_") and hasattr(model, "predict_proba"):
        for label, column in zip(model.classes_, model.predict_proba(X).T, strict=True):
            found[f"p({label})"] = column.tolist()
    if options.sets is not None:
        if not hasattr(model, "predict_set"):
            raise CommandError(f"--sets is for classes: {options.model} predicts numbers", hint="Write  --interval.")
        held = model.predict_set(X, options.sets)
        found["set"] = ["|".join(str(c) for c in model.classes_[row]) for row in held]
    if options.interval is not None:
        if not hasattr(model, "predict_interval"):
            raise CommandError(f"--interval is for numbers: {options.model} predicts classes", hint="Write  --sets.")
        low, high = model.predict_interval(X, options.interval).T
        found["low"], found["high"] = low.tolist(), high.tolist()
    return found


def _fitted(model: Any, X: Any, y: Any) -> None:
    """Fit; what cannot be fitted is the data's fault, as a class with too few rows."""
    import warnings

    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        try:
            model.fit(X, y)
        except ValueError as error:
            raise CommandError(f"the model cannot be fitted: {error}", exit_code=FAILURE) from None
    for text in dict.fromkeys(str(w.message).splitlines()[0] for w in met if not issubclass(w.category, FutureWarning)):
        say(f"note: {text}")


def _loaded(path: str) -> Any:
    from adjoint import learn
    from adjoint.learn.files import ModelFileError

    try:
        return learn.load(path)
    except FileNotFoundError:
        raise problem(f"{path} does not exist") from None
    except (ModelFileError, OSError) as error:
        raise problem(str(error)) from None


def _kinds(model: Any, table: TableFile, without: str | None = None) -> Kinds:
    """The kinds of columns that a model takes: those of its file, or for one that was saved elsewhere, as they look."""
    kept = getattr(model, "column_kinds_", None)
    if isinstance(kept, dict):
        return kept
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        count = getattr(model, "n_features_in_", 0)
        names = [name for name in table.frame.columns if name != without]
        if len(names) != count:
            raise problem(
                f"{table.path} has {len(names)} columns, and the model, which has no names for them, takes {count}"
            )
    return {str(n): kind_of(table.frame[n]) if n in table.frame.columns else "number" for n in names}


def _check_classes(table: TableFile, name: str, y: Any, there: Any, classes: Any) -> None:
    unknown = np.flatnonzero(~np.isin(y, classes))
    if len(unknown):
        row = int(np.flatnonzero(there)[unknown[0]])
        hint = f"The classes are {', '.join(map(str, classes))}."[:300]
        raise table.problem(row, name, f"{str(y[unknown[0]])!r} is none of the model's classes", hint=hint)


def _costs(given: str | None, task: str, classes: Any) -> Any:
    """A matrix from a file of JSON, or from the command line: a row for each decision, a column for each class."""
    if given is None:
        return None
    if task == "regress":
        raise CommandError("--costs is for classes, and numbers are predicted")
    text = Path(given).read_text(encoding="utf-8") if Path(given).is_file() else given
    try:
        matrix = np.asarray(json.loads(text), dtype=np.float64)
    except (ValueError, TypeError):
        raise CommandError(f"--costs {given}: not a matrix", hint='Write  --costs "[[0, 10], [1, 0]]".') from None
    if matrix.shape != (len(classes), len(classes)) or not np.all(np.isfinite(matrix)):
        count = len(classes)
        hint = f"A row for each decision, a column for each class, in the order {', '.join(map(str, classes))}."[:300]
        raise CommandError(f"--costs has to be {count} rows of {count} finite numbers, got {matrix.shape}", hint=hint)
    return matrix


def _page(model: Any, X: Any, y: Any, path: str, train: Any, costs: Any, coverage: float) -> None:
    from adjoint import learn

    learn.report(model, X, y, train=train, costs=costs, coverage=coverage).save(path)


def _check_installed() -> None:
    lacking = [name for name in ("sklearn", "pandas", "pyarrow") if find_spec(name) is None]
    if lacking:
        raise CommandError(f"this needs {', '.join(lacking)}", hint="pip install 'adjoint[learn]'", exit_code=FAILURE)


def _check_writable(*paths: str | None) -> None:
    """Refuse what cannot be written before anything is computed."""
    for path in paths:
        if path is not None and (Path(path).is_dir() or not Path(path).resolve().parent.is_dir()):
            raise CommandError(f"{path} cannot be written: it is a folder, or in one that does not exist")


def _columns(kinds: Kinds) -> list[str]:
    """The names of columns that are not numbers: where a mistake is easiest to see."""
    return [
        f"  {kind}s: {', '.join(n for n, k in kinds.items() if k in (kind, other))}"[:200]
        for kind, other in (("text", ""), ("date", "days"))
        if any(k in (kind, other) for k in kinds.values())
    ]


def _left_out(there: Any) -> list[str]:
    return [f"{int(np.sum(~there)):,} rows without a target are left out"] if not there.all() else []


def _guarantee(model: Any) -> list[str]:
    words = "sets" if hasattr(model, "predict_set") else "intervals"
    return [f"{words}: {model.guarantee_}"] if hasattr(model, "guarantee_") else []


def _told(options: argparse.Namespace, lines: list[str]) -> None:
    """What is being done, on standard error."""
    if not options.quiet:
        for line in lines:
            say(line)


def _shown(numbers: dict[str, Any], as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(numbers) + "\n")
        return
    for name, value in numbers.get("scores", {}).items():
        sys.stdout.write(f"{name:<26}{value:.4g}\n")
    if "report" in numbers:
        sys.stdout.write(f"{'report':<26}{numbers['report']}\n")
