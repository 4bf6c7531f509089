"""One picture of the tables: time relative to the best of each row, on a logarithmic scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .report import shown, times_as_long
from .sets import ALL, SETS
from .verdict import limit_of

SHOWN = {
    "adjoint": "#c2410c",
    "JAX": "#2563eb",
    "PyTorch": "#7c3aed",
    "autograd": "#9ca3af",
    "NumPy by hand": "#0f766e",
    "C by hand": "#111827",
}
"""Contestants and their colours."""
MERGED = {
    "PyTorch": ("PyTorch", "torch.compile"),
    "NumPy by hand": ("NumPy by hand", "Python by hand"),
    "C by hand": ("C by hand", "C with libmvec"),
}
"""Of these the better way counts."""
KINDS = {"jit": "compiled", "families": "problem families"}
BAR = 0.115
"""Inches of one bar."""


def draw(kept: dict[str, Any], path: Path) -> bool:
    """Write the chart; False if there is nothing to draw with."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "adjoint", "font.size": 8.5})
    import matplotlib.pyplot as plt

    kinds = [kind for kind in KINDS if kind in kept]
    heights = [len(drawn(kept[kind]["rows"])) for kind in kinds]
    figure, axes = plt.subplots(
        1, len(kinds), figsize=(5.6 * len(kinds), 0.9 + max(heights) * (len(SHOWN) + 1.5) * BAR), squeeze=False
    )
    longest = max(spread(times) for kind in kinds for times in drawn(kept[kind]["rows"]).values())
    for axis, kind in zip(axes[0], kinds, strict=True):
        panel(axis, drawn(kept[kind]["rows"]), max(heights), longest)
        axis.set_title(KINDS[kind], loc="left", fontweight="bold")
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in SHOWN.values()]
    figure.legend(handles, labels(), loc="upper center", ncol=len(SHOWN), frameon=False)
    figure.supxlabel("time of one call relative to the best of the row (shorter is better, logarithmic)", fontsize=9)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.3 / figure.get_figheight()))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return True


def labels() -> list[str]:
    return [" or ".join(MERGED.get(name, (name,))).replace(" by hand or", " or") for name in SHOWN]


def drawn(rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, float | str]]:
    """Of each row the contestants that have a bar: the time of their best way, or why there is none."""
    found = {}
    for row, result in rows.items():
        times: dict[str, float | str] = {}
        for name in SHOWN:
            ways = MERGED.get(name, (name,))
            known = [result["times"][way] for way in ways if way in result["times"]]
            if known:
                times[name] = min(known)
            elif name in result["failed"]:
                reason = result["failed"][name]
                times[name] = f"{name}: {reason if limit_of(reason) else 'fails'}"
        found[row] = times
    return found


def spread(times: dict[str, float | str]) -> float:
    """The longest time, relative to the best."""
    known = [time for time in times.values() if not isinstance(time, str)]
    return max(known) / min(known)


def panel(axis: Any, rows: dict[str, dict[str, float | str]], height: int, longest: float) -> None:
    """Groups of bars, one group a row, from the top."""
    step = len(SHOWN) + 1.5
    for i, times in enumerate(rows.values()):
        best = min(time for time in times.values() if not isinstance(time, str))
        top = i * step + (len(SHOWN) - len(times)) / 2
        for j, (name, time) in enumerate(times.items()):
            look = {"va": "center", "fontsize": 6, "color": SHOWN[name]}
            if isinstance(time, str):
                axis.text(0.9, top + j, time, **look)
                continue
            ratio = time / best
            axis.barh(top + j, ratio - 0.85, left=0.85, height=0.9, color=SHOWN[name])
            if name == "adjoint":
                axis.text(
                    ratio * 1.06, top + j, f"{times_as_long(ratio)[:-1]}  ({shown(time)})", fontweight="bold", **look
                )
            else:
                axis.text(ratio * 1.06, top + j, times_as_long(ratio)[:-1], **look)
    axis.set_xscale("log")
    axis.set_xlim(0.85, longest * 2.5)
    axis.set_ylim(height * step - 1.0, -1.5)
    middles = [i * step + (len(SHOWN) - 1) / 2 for i in range(len(rows))]
    axis.set_yticks(middles, [wrapped(ALL[row].title) for row in rows])
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x", which="major", linewidth=0.4, alpha=0.5)
    axis.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)


def wrapped(title: str, width: int = 30) -> str:
    """A title in two or three short lines."""
    lines = [""]
    for word in title.split():
        if lines[-1] and len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


assert set(KINDS) <= set(SETS)
