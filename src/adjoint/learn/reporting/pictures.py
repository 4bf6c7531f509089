"""The pictures of a report, from its numbers."""

from __future__ import annotations

from typing import Any

from .svg import MINUS, WIDTH, Chart, matrix, picture, short

MOST_CELLS = 30
"""Classes up to which a matrix is drawn."""


def reliability(found: dict[str, Any]) -> str:
    """Accuracy over confidence in bins, with bands; above it the share of rows in each bin."""
    asks = "probability of the second class" if found["kind"] == "binary" else "confidence in the likeliest class"
    chart = Chart(
        f"Reliability diagram: how often it comes true over the {asks}; calibration error {short(found['error'])}",
        x=(0, 1), y=(0, 1), x_label=asks, y_label="how often it comes true", top=46, height=330,
    )  # fmt: skip
    most = max(b["count"] for b in found["bins"])
    for b in found["bins"]:
        x, right = chart.at(b["from"], 0)[0], chart.at(b["to"], 0)[0]
        tall = 34 * b["count"] / most
        chart.parts.append(
            f'<rect class="bar" x="{x + 0.5:.1f}" y="{40 - tall:.1f}" width="{right - x - 1:.1f}" height="{tall:.1f}">'
            f"<title>{b['count']:,} rows from {b['from']:.1f} to {b['to']:.1f}</title></rect>"
        )
        chart.box((b["from"], b["to"]), (b["accuracy"], b["confidence"]), "gap")
    chart.line([(0, 0), (1, 1)], "ideal")
    for b in found["bins"]:
        chart.line([(b["confidence"], b["low"]), (b["confidence"], b["high"])], "whisker")
    chart.line([(b["confidence"], b["accuracy"]) for b in found["bins"]], "first")
    for b in found["bins"]:
        words = f"{b['count']:,} rows: confidence {b['confidence']:.3f}, came true {b['accuracy']:.3f}"
        chart.dot(b["confidence"], b["accuracy"], "first", words)
    return chart.html()


def parts_of_scores(found: dict[str, Any]) -> str:
    """Calibration and refinement side by side, with a mark at the score of the base rates."""
    left, right, parts = 12, WIDTH - 12, []
    for k, (name, each) in enumerate(found.items()):
        y = 20 + 66 * k
        most = max(each["value"], each["uncertainty"]) or 1.0
        scale = (right - left) / most
        refined, calibrated = each["refinement"] * scale, each["calibration"] * scale
        mark = left + each["uncertainty"] * scale
        parts.append(
            f'<text class="note" x="{left}" y="{y - 5}">{name} {each["value"]:.3f}</text>'
            f'<rect class="bar" x="{left}" y="{y}" width="{max(refined, 0):.1f}" height="18">'
            f"<title>refinement {each['refinement']:.4f}</title></rect>"
            f'<rect class="gap-bar" x="{left + refined:.1f}" y="{y}" width="{max(calibrated, 0):.1f}" height="18">'
            f"<title>calibration {each['calibration']:.4f}</title></rect>"
            f'<path class="line whisker" d="M{mark:.1f},{y - 3}V{y + 21}"/>'
            f'<text class="tick" x="{mark - 4:.1f}" y="{y + 33}" text-anchor="end">'
            f"base rates {each['uncertainty']:.3f}</text>"
        )
    words = "; ".join([
        f"{name}: refinement {each['refinement']:.3f}, calibration {each['calibration']:.3f}, base rates "
        f"{each['uncertainty']:.3f}" for name, each in found.items()
    ])  # fmt: skip
    return picture(words, WIDTH, 18 + 66 * len(found), parts)


def confusion(found: dict[str, Any], classes: list[str]) -> str:
    """Decisions by truths, coloured by the share of their truth."""
    if len(classes) > MOST_CELLS:
        return ""
    totals = [sum(row[j] for row in found["counts"]) or 1 for j in range(len(classes))]
    shares = [[n / totals[j] for j, n in enumerate(row)] for row in found["counts"]]
    texts = [[f"{n:,}" for n in row] for row in found["counts"]]
    return matrix(
        "Confusion matrix: decisions in rows, truths in columns", shares, texts,
        rows=found["decisions"], columns=classes, corner=("decided", "true"),
    )  # fmt: skip


def cost_matrix(found: dict[str, Any], classes: list[str]) -> str:
    """What each pair of decision and truth has cost."""
    pairs = found.get("by pair")
    if pairs is None or len(classes) > MOST_CELLS:
        return ""
    texts = [[short(v) for v in row] for row in pairs]
    return matrix(
        "Cost matrix: mean cost of a row from each pair of decision and truth", pairs, texts,
        rows=found["decisions"], columns=classes, corner=("decided", "true"),
    )  # fmt: skip


def cost_curve(found: dict[str, Any], second: str) -> str:
    """The cost over the threshold, observed and as the probabilities have it."""
    at, observed, expected = found["at"], found["observed"], found["expected"]
    inside = [v for side in (observed, expected) for t, v in zip(at, side, strict=True) if 0.01 <= t <= 0.99]
    most = max([*inside, found["cost at rule"], found["cost at best"]]) * 1.15
    chart = Chart(
        f"Mean cost over the threshold; {short(found['cost at rule'])} at the chosen one, {short(found['rule'])}",
        x=(0, 1), y=(0, most), x_label=f"“{second}” is decided from this probability on", y_label="mean cost of a row",
    )  # fmt: skip
    for values, kind in ((expected, "ideal"), (observed, "first")):
        points = [(t, min(v, most)) for t, v in zip(at, values, strict=True)]
        chart.line([(0.0, points[0][1]), *points], kind, steps=True)
    chart.line([(found["rule"], 0), (found["rule"], most)], "rule")
    chart.dot(found["rule"], found["cost at rule"], "second", f"chosen: {short(found['cost at rule'])}", 4.5)
    chart.dot(found["best"], found["cost at best"], "hollow", f"best in hindsight: {short(found['cost at best'])}", 4.5)
    return chart.html()


def coverage(levels: list[dict[str, float]], size: str) -> str:
    """How often sets or intervals hold the truth, over what was asked for."""
    low = min(0.5, *[v["held"] for v in levels])
    chart = Chart(
        "Coverage over the coverage asked for: "
        + ", ".join([f"{v['held']:.3f} for {v['asked']:g}" for v in levels]),
        x=(low, 1), y=(low, 1), x_label="coverage asked for", y_label="coverage on these rows",
    )  # fmt: skip
    chart.line([(low, low), (1, 1)], "ideal")
    chart.line([(v["asked"], v["held"]) for v in levels], "first")
    for v in levels:
        chart.dot(v["asked"], v["held"], "first", f"{v['asked']:g}: {v['held']:.3f}, {size} {short(v[size])}")
    return chart.html()


def sizes(counts: list[int]) -> str:
    """How many sets have how many classes."""
    last = max([k for k, n in enumerate(counts) if n], default=1)
    shown = counts[: max(last, 1) + 1]
    total = sum(counts)
    chart = Chart(
        "Sizes of sets: " + ", ".join([f"{n:,} of {k}" for k, n in enumerate(shown) if n]),
        x=(-0.5, len(shown) - 0.5), y=(0, max(shown) / total * 1.12), x_label="classes in the set",
        y_label="share of rows", height=200, x_ticks=range(0, len(shown), max(1, len(shown) // 10)),
    )  # fmt: skip
    for k, n in enumerate(shown):
        if n:
            chart.box((k - 0.38, k + 0.38), (0, n / total), "bar", f"{n:,} rows")
            chart.text(k, n / total, "< 1 %" if n < total / 100 else f"{100 * n / total:.0f} %", anchor="middle", dy=-4)
    return chart.html()


def learning(found: dict[str, Any]) -> str:
    """The score on rows of training and on new ones, over the number of rows."""
    rows, known, new, spread = found["rows"], found["train"], found["new"], found["deviation"]
    most = max([*known, *[v + s for v, s in zip(new, spread, strict=True)]]) * 1.08
    chart = Chart(
        f"Learning curve: {found['score']} on new rows " + ", ".join([
            f"{short(v)} with {n:,}" for n, v in zip(rows, new, strict=True)
        ]),
        x=(0, rows[-1] * 1.03), y=(0, most), x_label="rows to train on", y_label=found["score"],
    )  # fmt: skip
    chart.area([(n, v - s, v + s) for n, v, s in zip(rows, new, spread, strict=True)], "second")
    for values, kind, words in ((known, "first", "rows of training"), (new, "second", "new rows")):
        chart.line(zip(rows, values, strict=True), kind)
        for n, v in zip(rows, values, strict=True):
            chart.dot(n, v, kind, f"{words}: {short(v)} with {n:,}")
    return chart.html()


def predictions(points: dict[str, Any]) -> str:
    """Truths over predictions, with intervals where there are any."""
    truth, said = points["truth"], points["prediction"]
    low, high = min([*truth, *said]), max([*truth, *said])
    room = 0.04 * (high - low or 1.0)
    chart = Chart(
        f"Truth over prediction for {len(truth):,} rows", x=(low - room, high + room), y=(low - room, high + room),
        x_label="prediction", y_label="truth", height=330,
    )  # fmt: skip
    for x, *ends in zip(said, points.get("low", []), points.get("high", []), strict=False):
        chart.line([(x, min(max(end, low - room), high + room)) for end in ends], "span")
    chart.line([(low, low), (high, high)], "ideal")
    for t, s in zip(truth, said, strict=True):
        chart.dot(s, t, "faint", f"truth {short(t)}, prediction {short(s)}", 2.4)
    return chart.html()


def residuals(found: dict[str, Any]) -> str:
    """How often errors are how large."""
    counts, edges = found["counts"], found["edges"]
    chart = Chart(
        f"Histogram of truth minus prediction, from {short(edges[0])} to {short(edges[-1])}",
        x=(edges[0], edges[-1]), y=(0, max(counts) * 1.08), x_label=f"truth {MINUS} prediction", y_label="rows",
    )  # fmt: skip
    for n, left, right in zip(counts, edges[:-1], edges[1:], strict=True):
        chart.box((left, right), (0, n), "bar", f"{n:,} rows from {short(left)} to {short(right)}")
    if edges[0] < 0 < edges[-1]:
        chart.line([(0, 0), (0, max(counts) * 1.08)], "ideal")
    return chart.html()
