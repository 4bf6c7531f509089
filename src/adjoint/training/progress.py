"""How far training has come: a bar in a terminal, a line that changes in a notebook, a few lines elsewhere.

An update that is not shown costs less than a microsecond: it notes its numbers and looks at the clock. The bar is made
after the first half second only, so a short run neither imports rich nor flickers.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import AbstractContextManager
from math import isfinite
from time import perf_counter
from types import TracebackType
from typing import Any, Protocol, TextIO

from ..notebooks import is_notebook

__all__ = ["Progress", "progress"]

DELAY = 0.5
"""Seconds before anything is shown."""

PERIOD = 0.1
"""The least time between two pictures of the bar."""

CELL_PERIOD = 0.25
"""The least time between two texts of a notebook's line."""

EARLY = 10.0
"""Seconds after which a run that prints lines says something, however long it will take."""

LINES = 10
"""How many lines a run prints at most, besides an early one and the last."""


SHORTEST, LONGEST = 8, 32
"""How many characters wide a bar is."""


class Progress(AbstractContextManager["Progress"]):
    """Shows how far training has come.

    Parameters
    ----------
    epochs : int
        How many epochs there will be.
    enabled : bool, optional
        False shows nothing. By default, a run that takes longer than half a second has a bar, in a terminal and in a
        notebook with widgets if rich is installed, in other notebooks one line that changes, and else a few lines, of
        which the last one stays; with True it has that line however short it is.
    steps_per_epoch : int, optional
        How many steps an epoch has, to be shown where an epoch takes long.
    stream : file, optional
        Where to print, by default `sys.stderr`.
    unit : str
        What is counted, if not epochs.

    Examples
    --------
    >>> import sys
    >>> with Progress(2, enabled=True, stream=sys.stdout) as progress:
    ...     for epoch in (1, 2):
    ...         progress.update(epoch, loss=1 / epoch, validation_loss=0.75, speed=12_345.6)
    epoch 2/2, loss 0.5, validation loss 0.75, 12,346 samples/s, in ... s
    """

    def __init__(
        self,
        epochs: int,
        *,
        enabled: bool | None = None,
        steps_per_epoch: int | None = None,
        stream: TextIO | None = None,
        unit: str = "epoch",
    ) -> None:
        self.epochs = epochs
        self.unit = unit
        self.steps_per_epoch = steps_per_epoch
        self.enabled, self.always = enabled is not False, enabled is True
        self._stream = stream
        self._display: Display | None = None
        self._cell = Cell()
        self._next = float("inf")
        self._latest: tuple[int, float, Any, Any] | None = None
        self._validation: Any = None
        self._metrics: dict[str, Any] = {}
        self._began = perf_counter()
        self._first: tuple[float, float] | None = None
        self._origin = (self._began, 0.0)

    def __enter__(self) -> Progress:
        self._began = perf_counter()
        if self.enabled:
            self._next = self._began + DELAY
        return self

    def update(
        self,
        epoch: int,
        fraction: float = 1.0,
        *,
        loss: Any = None,
        validation_loss: Any = None,
        speed: Any = None,
        **metrics: Any,
    ) -> None:
        """Tell how far training has come.

        Parameters
        ----------
        epoch : int
            The number of the epoch, from 1.
        fraction : float
            How much of this epoch is done.
        loss, validation_loss, speed : float, optional
            The numbers to show; the speed is in samples per second. The validation loss stays until there is another.
        **metrics : float
            More numbers to show, by name; each stays until there is another.
        """
        if not self.enabled:
            return
        self._latest = (epoch, fraction, loss, speed)
        if validation_loss is not None:
            self._validation = validation_loss
        if metrics:
            self._metrics.update(metrics)
        now = perf_counter()
        if self._first is None:
            self._origin = (self._began, (epoch - 1) / max(self.epochs, 1))
            self._first = (now, self._done())
        if now >= self._next:
            self._show(now)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._next = float("inf")
        if self._display is not None:
            self._display.close()
            self._display = None
        taken = perf_counter() - self._began
        if self._latest is not None and (self.always or (self.enabled and taken > DELAY)):
            end = f"in {taken:.2g} s" if taken < 9.9 else f"in {duration(taken)}"
            text = ", ".join([*self._texts(), end])
            if self._stream is None and is_notebook():  # which shows what goes to stderr as an error
                self._cell.write(text, None)
            else:
                print(text, file=self._out(), flush=True)

    def _out(self) -> TextIO:
        return self._stream or sys.stderr

    def _show(self, now: float) -> None:
        """Show what is known now, and note when to show something again."""
        if self._display is None:
            self._display = self._chosen()
        texts = (self._texts(), self._texts(compact=True))
        self._next = now + self._display.show(self._done(), texts, now - self._began, self._left(now))

    def _chosen(self) -> Display:
        """What shows the numbers here."""
        out = self._out()
        if has_bar(out):
            return Bar(out)
        return self._cell if self._stream is None and is_notebook() else Lines(out)

    def _left(self, now: float) -> float | None:
        """The seconds that are left: as fast as since the first update, before which things were compiled."""
        done = self._done()
        for start, before in (self._first or self._origin, self._origin):
            if done > before:
                return (now - start) * (1.0 - done) / (done - before)
        return None

    def _done(self) -> float:
        """Which part of the whole run is done."""
        epoch, fraction, *_ = self._latest or (1, 0.0)
        return min(1.0, max(0.0, (epoch - 1 + fraction) / max(self.epochs, 1)))

    def _texts(self, *, compact: bool = False) -> list[str]:
        """What is shown: the epoch, then each number with its name."""
        epoch, fraction, loss, speed = self._latest or (1, 0.0, None, None)
        place = f"{self.unit} {epoch}/{self.epochs}"
        if self.steps_per_epoch and fraction < 1.0 and not compact:
            place += f", step {round(fraction * self.steps_per_epoch):,}/{self.steps_per_epoch:,}"
        numbers = {"loss": loss, "validation" if compact else "validation loss": self._validation}
        rate = [] if speed is None else [f"{float(speed):,.0f}{'/s' if compact else ' samples/s'}"]
        others = {name.replace("_", " "): value for name, value in self._metrics.items()}
        shown, more = ([f"{k} {short(v)}" for k, v in d.items() if v is not None] for d in (numbers, others))
        return [place, *shown, *rate, *more]


def progress(
    epochs: int, enabled: bool | None = None, steps_per_epoch: int | None = None, stream: TextIO | None = None
) -> Progress:
    """Show how far training has come, in a `with` block; `Progress` says how.

    Parameters
    ----------
    epochs, enabled, steps_per_epoch, stream
        As for `Progress`.

    Returns
    -------
    Progress
        Its `update` is told the numbers.

    Examples
    --------
    >>> with progress(20, enabled=False) as shown:
    ...     shown.update(1, 0.5, loss=0.7)
    """
    return Progress(epochs, enabled=enabled, steps_per_epoch=steps_per_epoch, stream=stream)


Texts = tuple[list[str], list[str]]
"""What to show, in full and in few words."""


class Display(Protocol):
    """What shows the numbers."""

    def show(self, done: float, texts: Texts, seconds: float, left: float | None) -> float:
        """Show them, if it is time to; gives for how many seconds there is no need to ask again."""

    def close(self) -> None:
        """Take down what should not stay."""


class Lines:
    """Lines of text: one for each tenth of a run that takes long enough."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._from = 1.0 / LINES
        self._early = True

    def show(self, done: float, texts: Texts, seconds: float, left: float | None) -> float:
        """Print a line when another tenth is done, or none was printed for a while at the start."""
        is_early = self._early and seconds >= EARLY
        if done < 1.0 and (done >= self._from or is_early):
            self._early = False
            self._from = (int(done * LINES + 1e-9) + 1) / LINES
            rest = [] if left is None else [f"{duration(left)} left"]
            print(", ".join([*texts[0], *rest]), file=self._stream, flush=True)
            return 1.0
        return PERIOD

    def close(self) -> None:
        """Lines stay."""


class Cell:
    """One line below the cell of a notebook, which is written over."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, done: float, texts: Texts, seconds: float, left: float | None) -> float:
        """Write the line again."""
        rest = [] if left is None else [f"{duration(left)} left"]
        self.write(", ".join([*texts[0], *rest]), done)
        return CELL_PERIOD

    def write(self, text: str, done: float | None) -> None:
        """Show a text, with a bar if something is left to be done."""
        from html import escape

        from IPython.display import display

        bar = "" if done is None else f'<progress value="{done:.3f}" style="width:12em"></progress> '
        data = {"text/plain": text, "text/html": f"<div>{bar}<code>{escape(text)}</code></div>"}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def close(self) -> None:
        """The line stays, and says at last how it ended."""


class Bar:
    """A bar drawn by rich, which goes when training ends: the last line says the same."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._column = BarColumn()
        numbers = TextColumn("{task.fields[texts]}", markup=False)
        left = TextColumn("{task.fields[left]}", style="cyan", markup=False)
        self._console = Console() if is_notebook() else Console(file=stream)
        self._bar = RichProgress(
            TextColumn("{task.percentage:>3.0f}%"), self._column, numbers, left,
            console=self._console, transient=True, auto_refresh=False,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=1.0, texts="", left="")

    def show(self, done: float, texts: Texts, seconds: float, left: float | None) -> float:
        """Draw the bar again, in one line: where the terminal is narrow, in fewer words and then with fewer numbers."""
        rest = "" if left is None else f"{duration(left)} left"
        room = self._console.width - len("100%    ") - len(rest)
        full, compact = texts
        choices = ["  ".join(full), *["  ".join(compact[:k]) for k in range(len(compact), 0, -1)]]
        shown = next((text for text in choices if len(text) <= room - SHORTEST), choices[-1])
        self._column.bar_width = max(1, min(LONGEST, room - len(shown)))
        self._bar.update(self._task, completed=done, texts=shown, left=rest)
        self._bar.start()
        self._bar.refresh()
        return PERIOD

    def close(self) -> None:
        """Take the bar down."""
        self._bar.stop()


def has_bar(stream: TextIO) -> bool:
    """Whether a bar can be drawn: in a terminal that moves its cursor, or in a notebook with widgets."""
    if importlib.util.find_spec("rich") is None:
        return False
    if is_notebook():
        return importlib.util.find_spec("ipywidgets") is not None
    return stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def short(number: Any) -> str:
    """A number with four digits, as in 0.01234, 123.4 and 1.2e-07."""
    return f"{float(number):.4g}"


def duration(seconds: float) -> str:
    """A time as in 0:07, 12:34 and 1:02:03."""
    if not isfinite(seconds):
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
