"""The progress bar: what it prints in a terminal and elsewhere, and how often."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import re
import struct
import sys
import termios
import threading
import types

import pytest

from adjoint.training import progress as module
from adjoint.training.progress import progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is moved."""
    found = types.SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "perf_counter", lambda: found.now)
    return found


def train(stream, clock, *, seconds, epochs=20, steps=50, **options):
    """A run of so many seconds, with an update for every step."""
    with progress(epochs, stream=stream, **options) as shown:
        for epoch in range(1, epochs + 1):
            for step in range(1, steps + 1):
                clock.now += seconds / (epochs * steps)
                at_end = step == steps
                loss, validation = 1 / epoch, 2 / epoch if at_end else None
                shown.update(epoch, step / steps, loss=loss, validation_loss=validation, speed=1234.5)


class Terminal:
    """A terminal of some width: what is written to it can be read at the end."""

    def __init__(self, width):
        self.read_end, write_end = os.openpty()
        fcntl.ioctl(write_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        self.stream = os.fdopen(write_end, "w", encoding="utf-8")
        self.bytes = b""
        self.reader = threading.Thread(target=self._collect)
        self.reader.start()

    def _collect(self):
        """Read while there is something; a terminal that nobody writes to any more is an error to Linux."""
        with contextlib.suppress(OSError):
            while found := os.read(self.read_end, 65536):
                self.bytes += found

    def read(self):
        """Everything that was written; no more can be."""
        self.stream.close()
        self.reader.join()
        return self.bytes.decode()

    def close(self):
        """End of the tests."""
        self.read()
        os.close(self.read_end)


@pytest.fixture
def terminal(monkeypatch):
    """Terminals that are closed at the end."""
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    with contextlib.ExitStack() as stack:

        def made(width=80):
            found = Terminal(width)
            monkeypatch.setenv("COLUMNS", str(width))  # rich asks the process's own terminal
            stack.callback(found.close)
            return found

        yield made


def plain(text):
    """A text without the terminal's commands."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def pictures(text):
    """What was drawn, one bar after the other."""
    return [line.strip() for line in re.split(r"[\r\n]+", plain(text)) if "%" in line]


def test_lines_of_a_long_run(clock):
    """One line for each tenth, one after ten seconds, and the last."""
    stream = io.StringIO()
    train(stream, clock, seconds=1000.0, steps_per_epoch=50)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 11
    assert lines[0] == "epoch 1/20, step 10/50, loss 1, 1,234 samples/s, 16:30 left"
    assert lines[1] == "epoch 2/20, loss 0.5, validation loss 1, 1,234 samples/s, 15:00 left"
    assert lines[-2] == "epoch 18/20, loss 0.05556, validation loss 0.1111, 1,234 samples/s, 1:40 left"
    assert lines[-1] == "epoch 20/20, loss 0.05, validation loss 0.1, 1,234 samples/s, in 16:40"


def test_a_short_run_prints_its_last_line_if_asked_to(clock):
    """Nothing before half a second, and nothing at all by default."""
    stream = io.StringIO()
    train(stream, clock, seconds=0.0381)
    assert stream.getvalue() == ""
    train(stream, clock, seconds=0.0381, enabled=True)
    assert stream.getvalue() == "epoch 20/20, loss 0.05, validation loss 0.1, 1,234 samples/s, in 0.038 s\n"


def test_what_is_counted():
    """Epochs, or what else is said."""
    stream = io.StringIO()
    with module.Progress(2, enabled=True, stream=stream, unit="fold") as shown:
        shown.update(2)
    assert stream.getvalue().startswith("fold 2/2, in ")


def test_a_line_a_second_at_most(clock):
    """A run of four seconds has no time for ten lines."""
    stream = io.StringIO()
    train(stream, clock, seconds=4.0)
    assert len(stream.getvalue().splitlines()) == 5


def test_nothing_when_switched_off(clock, monkeypatch):
    """Not even the last line, and the clock is not asked."""
    stream = io.StringIO()
    shown = progress(3, enabled=False, stream=stream)
    monkeypatch.setattr(module, "perf_counter", lambda: pytest.fail("asked for the time"))
    shown.update(1, loss=1.0)
    monkeypatch.undo()
    train(stream, clock, seconds=100.0, enabled=False)
    assert stream.getvalue() == ""


def test_nothing_to_say():
    """A run that ends before its first update prints nothing."""
    stream = io.StringIO()
    with progress(3, stream=stream):
        pass
    assert stream.getvalue() == ""


def test_default_stream(clock, capsys):
    """What is printed goes where errors go."""
    with progress(1, enabled=True) as shown:
        shown.update(1, loss=0.25)
    assert capsys.readouterr() == ("", "epoch 1/1, loss 0.25, in 0 s\n")


def test_interrupted(clock):
    """Ctrl-C passes on, and the last line says how far it came."""
    stream = io.StringIO()

    def run():
        with progress(20, enabled=True, stream=stream) as shown:
            shown.update(7, 0.5, loss=0.25)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert stream.getvalue() == "epoch 7/20, loss 0.25, in 0 s\n"


def test_metrics_stay_until_there_are_others(clock):
    """Numbers that are not known at every step are shown as they were last."""
    stream = io.StringIO()
    with progress(2, enabled=True, stream=stream) as shown:
        shown.update(1, loss=0.5, validation_loss=0.75, validation_accuracy=0.875)
        shown.update(2, 0.5, loss=float("nan"))
    assert stream.getvalue() == "epoch 2/2, loss nan, validation loss 0.75, validation accuracy 0.875, in 0 s\n"


def test_time_left_of_a_resumed_run(clock):
    """What was done before the run began does not count as fast."""
    stream = io.StringIO()
    with progress(10, stream=stream) as shown:
        for epoch in range(6, 11):
            clock.now += 60.0
            shown.update(epoch)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "epoch 6/10, 4:00 left"
    assert lines[-1] == "epoch 10/10, in 5:00"


def test_compiling_does_not_count(clock):
    """Time before the first update is not taken for that of an epoch, once there are two."""
    stream = io.StringIO()
    with progress(10, stream=stream) as shown:
        clock.now += 50.0
        for epoch in range(1, 4):
            clock.now += 10.0
            shown.update(epoch)
    lines = stream.getvalue().splitlines()
    assert lines[:3] == ["epoch 1/10, 9:00 left", "epoch 2/10, 1:20 left", "epoch 3/10, 1:10 left"]


def test_bar_in_a_terminal(clock, terminal):
    """A bar with the numbers and the time left, in one line; at the end it is gone, and the last line is there."""
    screen = terminal(120)
    train(screen.stream, clock, seconds=10.0)
    bars = pictures(screen.read())
    half = next(bar for bar in bars if bar.startswith("50%"))
    assert re.fullmatch(
        "50% ━+[╸╺]?━+ epoch 10/20  loss 0.1  validation loss 0.2[0-9]*  1,234 samples/s 0:05 left", half
    )
    assert plain(screen.read()).endswith("epoch 20/20, loss 0.05, validation loss 0.1, 1,234 samples/s, in 0:10\r\n")
    assert "\x1b[?25h" in screen.read(), "the cursor is shown again"


@pytest.mark.parametrize("width", [30, 50, 80, 160])
def test_bar_fits_the_terminal(clock, terminal, width):
    """Fewer words, then fewer numbers, never a second line."""
    screen = terminal(width)
    train(screen.stream, clock, seconds=10.0)
    bars = pictures(screen.read())
    assert len(bars) > 50
    assert max(len(bar) for bar in bars) <= width
    assert all("epoch" in bar for bar in bars)
    if width >= 80:
        assert all(re.search(r"loss .* validation .*1,234.*left$", bar) for bar in bars[20:])


def test_ten_pictures_a_second_at_most(clock, terminal):
    """However many updates there are."""
    screen = terminal()
    train(screen.stream, clock, seconds=5.0, steps=500)
    assert 30 <= len(pictures(screen.read())) <= 52


def test_short_runs_do_not_load_rich(clock, terminal, monkeypatch):
    """A bar that nobody would see is not made."""
    monkeypatch.setattr(module, "Bar", lambda stream: pytest.fail("made a bar"))
    screen = terminal()
    train(screen.stream, clock, seconds=0.4, enabled=True)
    assert screen.read() == "epoch 20/20, loss 0.05, validation loss 0.1, 1,234 samples/s, in 0.4 s\r\n"


def test_bar_is_gone_after_an_error(clock, terminal):
    """The terminal is left as it was."""
    screen = terminal()

    def run():
        with progress(20, stream=screen.stream) as shown:
            shown.update(1)
            clock.now += 1.0
            shown.update(2, loss=0.5)
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        run()
    assert len(pictures(screen.read())) > 0
    assert screen.read().endswith("\x1b[?25h\r\x1b[1A\x1b[2Kepoch 2/20, loss 0.5, in 1 s\r\n")


@pytest.mark.parametrize("missing", ["rich", "cursor"])
def test_lines_in_a_terminal_without(clock, terminal, monkeypatch, missing):
    """Without rich, or in a terminal that cannot move its cursor, there are lines."""
    if missing == "rich":
        monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    else:
        monkeypatch.setenv("TERM", "dumb")
    screen = terminal()
    train(screen.stream, clock, seconds=100.0)
    assert len(screen.read().splitlines()) == 10
    assert "\x1b" not in screen.read()


@pytest.mark.parametrize("widgets", [True, False])
def test_notebooks(monkeypatch, widgets):
    """A notebook has a bar if it has widgets to draw it with."""
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: widgets or name != "ipywidgets" or None)
    assert module.is_notebook()
    assert module.has_bar(io.StringIO()) is widgets


def test_durations():
    """Hours only where there are some."""
    assert [module.duration(s) for s in (0.4, 59.6, 754, 3723, float("inf"))] == [
        "0:00",
        "1:00",
        "12:34",
        "1:02:03",
        "?",
    ]
