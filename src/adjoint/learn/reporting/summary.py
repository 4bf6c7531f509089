"""What the numbers say, in a few sentences."""

from __future__ import annotations

from typing import Any

from .svg import short


def sentences(numbers: dict[str, Any]) -> list[str]:
    """The first things to know of a model."""
    found = [_score(numbers)]
    if "reliability" in numbers:
        found.append(_calibration(numbers))
    if "costs" in numbers:
        found.append(_costs(numbers["costs"]))
    for kind in ("sets", "intervals"):
        if "coverage" in numbers.get(kind, {}):
            found.append(_coverage(numbers[kind], kind))
    if numbers.get("gap"):
        found.append(_gap(numbers["gap"]))
    return [sentence for sentence in found if sentence]


def _score(numbers: dict[str, Any]) -> str:
    scores = numbers["scores"]
    if numbers["kind"] == "regression":
        error = scores["root mean square error"]
        explained = f" It explains {100 * scores['R²']['value']:.0f} % of the variance." if "R²" in scores else ""
        return (
            f"Its errors are {short(error['value'])} (root mean square), {short(error['low'])} to "
            f"{short(error['high'])} with 95 % confidence.{explained}"
        )
    right = scores["accuracy"]
    most = max(sum(row[j] for row in numbers["confusion"]["counts"]) for j in range(len(numbers["classes"])))
    return (
        f"It is right in {100 * right['value']:.1f} % of cases, {100 * right['low']:.1f} to "
        f"{100 * right['high']:.1f} % with 95 % confidence; the most frequent class alone would be in "
        f"{100 * most / numbers['rows']:.1f} %."
    )


def _calibration(numbers: dict[str, Any]) -> str:
    parts, bins = numbers["decomposition"]["log loss"], numbers["reliability"]["bins"]
    total = sum(b["count"] for b in bins)
    error = numbers["scores"]["calibration error"]
    size = f"calibration error {error['value']:.3f}, {error['low']:.3f} to {error['high']:.3f}"
    share = parts["calibration"] / parts["value"] if parts["value"] > 0 else 0.0
    if share < 0.02 or error["low"] <= 0.0:
        return f"Its probabilities come true as often as they say, as far as {total:,.0f} rows can tell ({size})."
    if numbers["reliability"]["kind"] == "top-label":
        says = sum(b["count"] * b["confidence"] for b in bins) / total
        true = sum(b["count"] * b["accuracy"] for b in bins) / total
        how = "too sure" if says > true else "not sure enough"
        return (
            f"It is {how}: it says {100 * says:.0f} % on average and is right in {100 * true:.0f} % ({size}). "
            f"Calibration would win {100 * share:.0f} % of its log loss."
        )
    return (
        f"Its probabilities do not come true as often as they say ({size}): calibration would win {100 * share:.0f} % "
        "of its log loss."
    )


def _costs(found: dict[str, Any]) -> str:
    mean = found["mean"]
    if "least expected cost" not in mean:
        return ""
    own, least = mean.get("what the model decides"), mean["least expected cost"]
    if own is not None and own > least * 1.001:
        return f"Its decisions cost {short(own)} a row; by least expected cost it would be {short(least)}."
    paid, plain = short(least if own is None else own), short(mean["the likeliest class"])
    return f"Its decisions cost {paid} a row; taking the likeliest class would cost {plain}."


def _coverage(found: dict[str, Any], kind: str) -> str:
    held = found["coverage"]
    size = (
        f"{found['mean size']:.2f} classes on average"
        if kind == "sets"
        else f"{short(found['mean width'])} wide on average"
    )
    value, low, high = (f"{100 * held[end]:.1f}" for end in ("value", "low", "high"))
    return f"Of its {kind} at {found['asked']:g}, {value} % hold the truth ({low} to {high} %); they are {size}."


def _gap(found: dict[str, Any]) -> str:
    ratio = found["new"] / found["train"] if found["train"] > 0 else float("inf")
    more = f"{ratio:.1f} times" if ratio < 100 else "many times"
    how = "It hardly overfits" if ratio < 1.2 else "It overfits a little" if ratio < 2 else "It overfits"
    words = f"{found['score']} {short(found['new'])} on new rows, {short(found['train'])} on rows of training"
    return f"{how}: {words}, {more} as much." if ratio >= 1.2 else f"{how}: {words}."
