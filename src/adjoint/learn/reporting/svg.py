"""Charts as SVG: texts that can be selected, colours by the classes of the page's style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Any

WIDTH, HEIGHT = 380, 260
MINUS = "\N{MINUS SIGN}"
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 12, 40


class Chart:
    """A chart with two axes; what is added is drawn in that order."""

    def __init__(
        self,
        label: str,
        *,
        x: tuple[float, float],
        y: tuple[float, float],
        x_label: str,
        y_label: str,
        top: int = TOP,
        height: int = HEIGHT,
        x_ticks: Sequence[float] | None = None,
    ) -> None:
        self.label, self.height, self.top = label, height, top
        self.x, self.y = _wide(*x), _wide(*y)
        self.parts: list[str] = []
        self._axes(x_label, y_label, x_ticks)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is drawn."""
        (x0, x1), (y0, y1) = self.x, self.y
        right, down = (x - x0) / (x1 - x0), (y - y0) / (y1 - y0)
        span = self.height - self.top - BOTTOM
        return LEFT + right * (WIDTH - LEFT - RIGHT), self.height - BOTTOM - down * span

    def line(self, points: Iterable[tuple[float, float]], kind: str, *, steps: bool = False) -> None:
        """A curve through points; or steps, with the height of each point before it."""
        path: list[str] = []
        for x, y in points:
            px, py = self.at(x, y)
            path.append(f"{'L' if path else 'M'}{px:.1f},{py:.1f}" if not (path and steps) else f"V{py:.1f}H{px:.1f}")
        self.parts.append(f'<path class="line {kind}" d="{"".join(path)}"/>')

    def area(self, points: Iterable[tuple[float, float, float]], kind: str) -> None:
        """What lies between two curves: x, low, high."""
        points = list(points)
        around = [self.at(x, high) for x, _, high in points] + [self.at(x, low) for x, low, _ in reversed(points)]
        path = " ".join([f"{x:.1f},{y:.1f}" for x, y in around])
        self.parts.append(f'<polygon class="area {kind}" points="{path}"/>')

    def box(self, x: tuple[float, float], y: tuple[float, float], kind: str, title: str = "") -> None:
        """A rectangle between two corners."""
        (left, bottom), (right, top) = self.at(x[0], y[0]), self.at(x[1], y[1])
        top, bottom = sorted((top, bottom))
        inside = f"<title>{escape(title)}</title>" if title else ""
        self.parts.append(
            f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 0.5):.1f}" '
            f'height="{bottom - top:.1f}">{inside}</rect>'
        )

    def dot(self, x: float, y: float, kind: str, title: str = "", radius: float = 3.5) -> None:
        """A point."""
        px, py = self.at(x, y)
        inside = f"<title>{escape(title)}</title>" if title else ""
        self.parts.append(f'<circle class="dot {kind}" cx="{px:.1f}" cy="{py:.1f}" r="{radius}">{inside}</circle>')

    def text(self, x: float, y: float, text: str, *, anchor: str = "start", dx: float = 0, dy: float = 0) -> None:
        """A few words at a point."""
        px, py = self.at(x, y)
        self.parts.append(
            f'<text class="note" x="{px + dx:.1f}" y="{py + dy:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
        )

    def html(self) -> str:
        """The whole picture."""
        return picture(self.label, WIDTH, self.height, self.parts)

    def _axes(self, x_label: str, y_label: str, x_ticks: Sequence[float] | None) -> None:
        (x0, x1), (y0, y1) = self.x, self.y
        for tick in x_ticks or ticks(x0, x1, 6):
            px, py = self.at(tick, y0)
            self.parts.append(f'<path class="grid" d="M{px:.1f},{self.top}V{py:.1f}"/>')
            self.parts.append(
                f'<text class="tick" x="{px:.1f}" y="{py + 15:.1f}" text-anchor="middle">{short(tick)}</text>'
            )
        for tick in ticks(y0, y1, 5):
            px, py = self.at(x0, tick)
            self.parts.append(f'<path class="grid" d="M{px:.1f},{py:.1f}H{WIDTH - RIGHT}"/>')
            self.parts.append(
                f'<text class="tick" x="{px - 6:.1f}" y="{py + 4:.1f}" text-anchor="end">{short(tick)}</text>'
            )
        middle = (self.top + self.height - BOTTOM) / 2
        self.parts.append(
            f'<text class="axis" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{self.height - 6}" text-anchor="middle">'
            f'{escape(x_label)}</text><text class="axis" transform="translate(11,{middle:.0f}) rotate(-90)" '
            f'text-anchor="middle">{escape(y_label)}</text>'
        )


def picture(label: str, width: int, height: int, parts: Iterable[str]) -> str:
    """An SVG that is as wide as its place, with a label for those who do not see it."""
    spoken = escape(label, quote=True)
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{spoken}">{"".join(parts)}</svg>'


CELL, GUTTER, HEAD = 104, 74, 34


def matrix(
    label: str, values: Sequence[Sequence[float]], texts: Sequence[Sequence[str]] | None, *,
    rows: Sequence[str], columns: Sequence[str], corner: tuple[str, str],
) -> str:  # fmt: skip
    """A matrix of cells that are darker for larger values; the diagonal has another colour."""
    size = max(12, min(CELL, (WIDTH - GUTTER) // max(len(columns), 1)))
    high = max(18, min(44, size))
    most = max((v for row in values for v in row), default=0.0) or 1.0
    width, height = GUTTER + size * len(columns) + 2, HEAD + high * len(rows) + 2
    parts = [
        f'<text class="axis" x="{GUTTER - 6}" y="12" text-anchor="end">{escape(corner[0])} ↓</text>'
        f'<text class="axis" x="{GUTTER}" y="12">{escape(corner[1])} →</text>'
    ]
    for j, name in enumerate(columns):
        parts.append(
            f'<text class="tick" x="{GUTTER + size * (j + 0.5):.1f}" y="28" text-anchor="middle">'
            f"<title>{escape(name)}</title>{escape(clipped(name, size))}</text>"
        )
    for i, name in enumerate(rows):
        y = HEAD + high * i
        parts.append(
            f'<text class="tick" x="{GUTTER - 6}" y="{y + high / 2 + 4:.1f}" text-anchor="end">'
            f"<title>{escape(name)}</title>{escape(clipped(name, GUTTER - 8))}</text>"
        )
        for j, value in enumerate(values[i]):
            x, kind = GUTTER + size * j, "same" if rows[i] == columns[j] else "other"
            words = f"{corner[0]} {name}, {corner[1]} {columns[j]}: {texts[i][j] if texts else short(value)}"
            parts.append(
                f'<rect class="cell {kind}" x="{x}" y="{y}" width="{size - 1}" height="{high - 1}" '
                f'fill-opacity="{0.42 * value / most:.3f}"><title>{escape(words)}</title></rect>'
            )
            if texts and size >= 24:
                parts.append(
                    f'<text class="number" x="{x + size / 2 - 0.5:.1f}" y="{y + high / 2 + 4:.1f}" '
                    f'text-anchor="middle">{escape(texts[i][j])}</text>'
                )
    return picture(label, max(width, WIDTH), height, parts)


def clipped(name: str, pixels: float) -> str:
    """A name that fits in so many pixels."""
    most = max(2, int(pixels / 6.8))
    return name if len(name) <= most else name[: most - 1] + "…"


def ticks(low: float, high: float, count: int) -> list[float]:
    """Some round numbers from low to high."""
    raw = (high - low) / count
    unit = 10.0 ** floor(log10(raw))
    step = next(m * unit for m in (1, 2, 2.5, 5, 10) if m * unit >= raw * 0.999)
    return [k * step for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def short(number: Any) -> str:
    """A number with three digits, without needless zeros."""
    text = f"{float(number):.3g}"
    if "e" in text and abs(float(number)) < 1e7 and abs(float(number)) >= 1:
        text = f"{float(number):,.0f}"
    return "0" if text in ("-0", "0") else text.replace("-", MINUS)


def _wide(low: float, high: float) -> tuple[float, float]:
    return (low, high) if high > low else (low - 0.5, high + 0.5)
