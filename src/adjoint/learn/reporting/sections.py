"""The panels of the page, from the numbers of a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from . import pictures
from .svg import MINUS, short


def panels(numbers: dict[str, Any]) -> str:
    """All panels that there are numbers for: narrow ones in columns, then tables over the whole width."""
    narrow = _regression(numbers) if numbers["kind"] == "regression" else _classification(numbers)
    wide = [_per_class(numbers["per class"])] if "per class" in numbers else []
    columns = "\n".join([*narrow, _learning(numbers)])
    return "\n".join([f'<div class="columns">{columns}</div>', *wide, _rows(numbers)])


def _classification(numbers: dict[str, Any]) -> list[str]:
    classes = numbers["classes"]
    found = [_scores(numbers)]
    if "reliability" in numbers:
        found.append(_reliability(numbers["reliability"]))
        found.append(_parts(numbers["decomposition"]))
    found.append(_confusion(numbers["confusion"], classes))
    if "costs" in numbers:
        found.append(_costs(numbers["costs"], classes))
    if "sets" in numbers:
        found.append(_coverage(numbers["sets"], "Sets", "size"))
    return found


def _regression(numbers: dict[str, Any]) -> list[str]:
    band = "" if "low" not in numbers["points"] else " Vertical lines are the intervals."
    return [
        _scores(numbers),
        panel("Predictions", pictures.predictions(numbers["points"]), f"Points on the dashed line are exact.{band}"),
        panel(
            "Residuals", pictures.residuals(numbers["residuals"]), "Right of 0 the truth is more than was predicted."
        ),
        _coverage(numbers["intervals"], "Intervals", "width"),
    ]


def _scores(numbers: dict[str, Any]) -> str:
    rows = [
        (name, short(each["value"]) if abs(each["value"]) >= 1 else f"{each['value']:.3f}", _interval(each))
        for name, each in numbers["scores"].items()
    ]
    body = table(("score", "value", "95 % interval"), rows, numeric=(1, 2))
    return panel("Scores", body, "Intervals by the bootstrap over these rows; the model stays as it is.")


def _interval(each: dict[str, float]) -> str:
    return " to ".join(
        [short(v) if abs(v) >= 1 else f"{v:.3f}".replace("-", MINUS) for v in (each["low"], each["high"])]
    )


def _reliability(found: dict[str, Any]) -> str:
    rows = [
        (f"{b['from']:.1f} to {b['to']:.1f}", f"{b['count']:,}", f"{b['confidence']:.3f}", f"{b['accuracy']:.3f}",
         f"{b['low']:.3f} to {b['high']:.3f}") for b in found["bins"]
    ]  # fmt: skip
    bins = table(("bin", "rows", "confidence", "accuracy", "95 % interval"), rows, numeric=(1, 2, 3, 4))
    words = (
        "Points on the dashed line come true as often as they say; below it the model is too sure. Bars above: rows in "
        f"each bin. Whiskers: exact 95 % intervals. Mean difference over the bins {found['error']:.3f}."
    )
    return panel("Reliability", pictures.reliability(found), words, more=("The bins", bins))


def _parts(found: dict[str, Any]) -> str:
    method = found["log loss"]["method"]
    best = "No scaling wins anything." if method == "none" else f"Best for the log loss: {method} scaling."
    return panel(
        "What the scores are made of", pictures.parts_of_scores(found),
        '<span class="key bar"></span> refinement: what is left when probabilities are scaled as well as can be. '
        '<span class="key gap"></span> calibration: what such a scaling wins, fitted to other rows. '
        f"{escape(best)}",
    )  # fmt: skip


def _confusion(found: dict[str, Any], classes: list[str]) -> str:
    drawn = pictures.confusion(found, classes)
    pairs = sorted(
        [(n, i, j) for i, row in enumerate(found["counts"]) for j, n in enumerate(row)
         if n and found["decisions"][i] != classes[j]], reverse=True,
    )[:10]  # fmt: skip
    rows = [(classes[j], found["decisions"][i], f"{n:,}") for n, i, j in pairs]
    most = table(("truth", "decided", "rows"), rows, numeric=(2,)) if rows else "<p>None.</p>"
    words = "Rows are what was decided, columns what is true; colours are shares of a column."
    if not drawn:
        return panel("Confusion", most, f"The pairs met most often, of {len(classes)} classes.")
    return panel("Confusion", drawn, words, more=("Pairs taken for one another most often", most))


def _costs(found: dict[str, Any], classes: list[str]) -> str:
    means = table(("decided by", "mean cost of a row"), [(k, short(v)) for k, v in found["mean"].items()], numeric=(1,))
    drawn = ""
    if "thresholds" in found:
        at = found["thresholds"]
        drawn = pictures.cost_curve(at, found["decisions"][1])
        drawn += (
            f'<p class="words"><span class="key second"></span> chosen by cost: {short(at["rule"])} = '
            f'1 / (1 + ratio of costs). <span class="key hollow"></span> best in hindsight: {short(at["best"])}. '
            "Dashed: the cost as the probabilities have it.</p>"
        )
    pairs = pictures.cost_matrix(found, classes)
    matrix = ""
    if found["matrix"] is not None:
        rows = [(name, *[short(v) for v in row]) for name, row in zip(found["decisions"], found["matrix"], strict=True)]
        matrix = table(("decided \\ true", *classes), rows, numeric=range(1, len(classes) + 1))
    words = "Mean cost of a row from each pair of decision and truth, deciding by least expected cost." if pairs else ""
    more = ("The costs: deciding the row when the column is true", matrix) if matrix else None
    return panel("Costs", means + drawn + pairs, words, more=more)


def _coverage(found: dict[str, Any], title: str, size: str) -> str:
    if "coverage" not in found:
        few = f"There are too few rows to calibrate {title.lower()} at {found['asked']:g}."
        if not found["levels"]:
            return panel(title, f"<p>{few}</p>", "")
        body = pictures.coverage(found["levels"], size)
    else:
        held, few = found["coverage"], ""
        body = (
            f'<p class="large">{100 * held["value"]:.1f} % <small>hold the truth, {100 * found["asked"]:g} % asked for '
            f"(95 %: {100 * held['low']:.1f} to {100 * held['high']:.1f} %)</small></p>"
        ) + pictures.coverage(found["levels"], size)
        if "sizes" in found:
            body += pictures.sizes(found["sizes"])
    rows = [(f"{v['asked']:g}", f"{v['held']:.3f}", short(v[size])) for v in found["levels"]]
    levels = table(("asked for", "held", f"mean {size}"), rows, numeric=(0, 1, 2))
    guarantee = f" Guaranteed: {escape(found['guarantee'])}." if found.get("guarantee") else ""
    words = f"{few} {title} are {escape(found['method'])}.{guarantee}"
    return panel(f"{title} with a guarantee", body, words, more=("All levels", levels))


COLUMNS = {
    "class": "class", "rows": "rows", "decided": "decided", "precision": "precision", "recall": "recall", "F1": "F1",
    "area": "area under ROC", "share": "share", "mean probability": "mean p", "calibration error": "calibration error",
    "in its set": "in its set",
}  # fmt: skip


def _per_class(found: list[dict[str, Any]]) -> str:
    names = [key for key in COLUMNS if key in found[0]]
    rows = [
        tuple(
            row[key] if key == "class" else "\N{EN DASH}" if row[key] is None
            else f"{row[key]:,}" if isinstance(row[key], int) else f"{row[key]:.3f}"
            for key in names
        )
        for row in found
    ]  # fmt: skip
    body = table([COLUMNS[key] for key in names], rows, numeric=range(1, len(names)))
    return panel("Each class", body, "Each class against all others.")


def _learning(numbers: dict[str, Any]) -> str:
    found, gap = numbers.get("learning"), numbers.get("gap")
    if not found and not gap:
        return ""
    body, words = "", f"The gap: {gap['how']}. " if gap else ""
    if gap:
        body = table(
            ("", "training", "new rows", "gap"),
            [(gap["score"], short(gap["train"]), short(gap["new"]), short(gap["gap"]))], numeric=(1, 2, 3),
        )  # fmt: skip
    if found:
        body = pictures.learning(found) + body
        words += (
            '<span class="key first"></span> rows of training, <span class="key second"></span> new rows (the band is '
            "one deviation over the folds). If the curve of new rows still falls at its end, more rows would help; if "
            "both are flat and high, another model would."
        )
    return panel("Learning curve and generalisation gap", body, words)


def _rows(numbers: dict[str, Any]) -> str:
    found = numbers["rows to look at"]
    rows = [
        (row["row"], _text(row["truth"]), _text(row["prediction"]),
         *([f"{row['probability of the truth']:.2g}"] if "probability of the truth" in row else []), short(row["loss"]))
        for row in found["worst"]
    ]  # fmt: skip
    middle = ["p of the truth"] if rows and len(rows[0]) == 5 else []
    head = ("row", "truth", "prediction", *middle, found["loss"])
    body = f"<h3>Predicted worst</h3>{table(head, rows, numeric=range(3, len(head)))}"
    if found["influential"] is None:
        words = "Shown are the rows with the largest loss; the influence of rows of training is not: "
        words += escape(found["why not"]).rstrip(".") + "."
    else:
        moved = [
            (
                row["row"],
                _text(row["truth"]),
                short(row["influence"]),
                "raises the loss" if row["influence"] > 0 else "lowers it",
            )
            for row in found["influential"]
        ]
        most = table(("row of training", "truth", "influence", "more of it"), moved, numeric=(2,))
        body = f'<div class="two"><div><h3>Most influential</h3>{most}</div><div>{body}</div></div>'
        words = (
            "Influence: by how much the mean loss on new rows changes for each unit of the row's weight, by "
            f"differentiating the fit of {escape(found['influence of'])}."
        )
    return panel("Rows to look at", body, words + " Wrong labels are often among them.")


def _text(value: Any) -> str:
    return short(value) if isinstance(value, float) else str(value)


def panel(title: str, body: str, words: str, *, more: tuple[str, str] | None = None) -> str:
    """A box with a title, a picture or a table, a few words, and more to unfold."""
    name = "".join([c for c in title.lower().replace(" ", "-") if c.isalnum() or c == "-"])
    folded = f"<details><summary>{escape(more[0])}</summary>{more[1]}</details>" if more else ""
    below = f'<p class="words">{words}</p>' if words else ""
    return (
        f'<section class="panel" aria-labelledby="{name}"><h2 id="{name}">{escape(title)}</h2>'
        f"{body}{below}{folded}</section>"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numeric: Iterable[int] = ()) -> str:
    """A table that scrolls by itself where it is too wide."""
    right = set(numeric)
    kinds = [' class="n"' if k in right else "" for k in range(len(head))]
    first = "".join([f'<th scope="col"{kinds[k]}>{escape(str(name))}</th>' for k, name in enumerate(head)])
    body = "".join([
        "<tr>" + "".join([f"<td{kinds[k]}>{escape(str(cell))}</td>" for k, cell in enumerate(row)]) + "</tr>"
        for row in rows
    ])  # fmt: skip
    label = escape(", ".join([str(name) for name in head if name]), quote=True)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table><thead><tr>{first}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
