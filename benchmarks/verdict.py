"""What is asked of a row, and in plain words whether it was met."""

from __future__ import annotations

import re
from typing import Any

from .row import Row
from .sets import ALL, TEAMS

FIRST_ASKED = 3.0
"""How many times longer JAX's first call should take."""
DIFFERENCES = 1e-5
"""How close differences come to a derivative."""


def asked(row: str, kind: str) -> str:
    """The conditions, in words."""
    if kind == "families":
        in_c = f"; {condition('C by hand', ALL[row].asked['C by hand'])}" if ALL[row].in_c else ""
        limit = ALL[row].compile_limit
        return "at most 2x the best; first or second" + in_c + ("" if limit is None else f"; first call < {limit:g} s")
    parts = [condition(name, ratio) for name, ratio in ALL[row].asked.items()]
    limit = ALL[row].compile_limit
    return "; ".join(parts + ([] if limit is None else [f"first call < {limit:g} s"]))


def condition(name: str, ratio: float) -> str:
    if ratio < 1.0:
        return f"<= {1 / ratio:g}x {name}"
    return f"faster than {name}" if ratio == 1.0 else f">= {ratio:g}x {name}"


def verdict(row: str, kind: str, found: dict[str, Any]) -> str:
    """What the row says, in words: wrong results before slow ones."""
    us = TEAMS[kind][0]
    wrong = disagreeing(ALL[row], found)
    if us in found["failed"]:
        return f"**fails**: {short(found['failed'][us])}"
    if wrong:
        return f"**not comparable**: {' and '.join(wrong)} differ"
    times = found["times"]
    if us not in times:
        return ""
    remarks = speed_remarks(ALL[row], us, times)
    if kind == "families":
        remarks = families_remarks(us, times) + [remark for remark in remarks if "C by hand" in remark]
    if kind != "eager":
        remarks += first_remarks(ALL[row], found)
    place = f"; {placed(us, times)}" if kind == "families" else ""
    absent = [name for name in ALL[row].asked if name in TEAMS[kind] and not has_answered(name, ALL[row], found)]
    if remarks:
        return f"not met: {'; '.join(remarks)}{place}"
    return f"met{place}" if not absent else f"not asked: {', '.join(absent)}{place}"


def has_answered(name: str, row: Row, found: dict[str, Any]) -> bool:
    """Whether a contestant took part, or could not: only those left out by choice leave a question open."""
    return name in found["times"] or name in found["failed"] or name in row.without


def disagreeing(row: Row, found: dict[str, Any]) -> list[str]:
    """Whose result is not the one worked out by hand; and that one, if differences say otherwise."""
    wrong = [name for name, error in found["errors"].items() if not error <= row.tolerance]
    independent = found["difference"]
    if independent is not None and not independent <= max(DIFFERENCES, row.tolerance):
        wrong.append("differences and the result by hand")
    return wrong


def speed_remarks(row: Row, us: str, times: dict[str, float]) -> list[str]:
    return [
        f"{times[name] / times[us]:.3g}x {name}"
        if ratio >= 1.0
        else f"{times[us] / times[name]:.3g}x the time of {name}"
        for name, ratio in row.asked.items()
        if name in times and times[name] < ratio * times[us]
    ]


def families_remarks(us: str, times: dict[str, float]) -> list[str]:
    best = min(times, key=times.__getitem__)
    remarks = [f"{times[us] / times[best]:.3g}x the time of {best}"] if times[us] > 2.0 * times[best] else []
    return remarks + (["neither first nor second"] if rank(us, times) > 2 else [])


def first_remarks(row: Row, found: dict[str, Any]) -> list[str]:
    """A contestant that did not compile in time took at least that long."""
    first = found["first"]
    if "adjoint" not in first:
        return []
    theirs = first.get("JAX") or limit_of(found["failed"].get("JAX", ""))
    remarks = []
    if theirs and theirs < FIRST_ASKED * first["adjoint"]:
        remarks.append(f"first call {first['adjoint'] / theirs:.2g}x that of JAX, asked at most 1/{FIRST_ASKED:g}")
    if row.compile_limit is not None and first["adjoint"] > row.compile_limit:
        remarks.append(f"first call {first['adjoint']:.2g} s")
    return remarks


def limit_of(failure: str) -> float | None:
    """The seconds of "not in 60 s"."""
    match = re.fullmatch(r"not in (\S+) s", failure)
    return float(match[1]) if match else None


def rank(us: str, times: dict[str, float]) -> int:
    return 1 + sum(time < times[us] for time in times.values())


def placed(us: str, times: dict[str, float]) -> str:
    return f"place {rank(us, times)} of {len(times)}"


def short(text: str, length: int = 90) -> str:
    """The first line of an error, so that a table stays one."""
    line = text.strip().splitlines()[0].replace("|", "/") if text.strip() else ""
    return line if len(line) <= length else line[: length - 3] + "..."
