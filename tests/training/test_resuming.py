"""Runs that are killed at any moment, and go on from their file as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import adjoint as ad
from adjoint import losses, nn, optim
from adjoint.training.checkpoints import files

PROGRAM = """
import sys, time
import numpy as np, adjoint as ad
from adjoint import losses, nn, optim

X = np.random.default_rng(0).normal(size=(70, 3))
y = (X.sum(axis=1) > 0).astype(int)
model = nn.MLP([3, 8, 2], dropout=0.2, norm="batch", key=0)

def tell(fit):
    print(fit.history.epochs, flush=True)
    time.sleep(float(sys.argv[2]))

fit = ad.train(model, losses.cross_entropy, (X, y), optim.adam(0.01), epochs=12, batch_size=16, patience=50,
               validation=0.2, checkpoint=sys.argv[1] or None, callbacks=tell, progress=False)
arrays = {**nn.parameters(fit.model), **nn.statistics(fit.model)}
arrays |= {f"history {name}": fit.history[name] for name in fit.history if name != "seconds"}
arrays |= {f"optimizer {k}": np.asarray(a) for k, a in enumerate(ad.tree.leaves(fit.optimizer_state))}
np.savez(sys.argv[3], **arrays)
"""


def run(*arguments):
    """The program, under way."""
    return subprocess.Popen([sys.executable, "-c", PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def test_killed_runs_go_on_bit_by_bit(tmp_path):
    """Killed four times in the middle, the run ends with the bits of an unbroken one."""
    whole = run("", 0, tmp_path / "whole.npz")
    assert whole.wait(120) == 0
    checkpoint, seen = tmp_path / "run.npz", []
    for after in (2, 3, 1, 3):
        process = run(checkpoint, 0.05, tmp_path / "killed.npz")
        for _ in range(after):
            seen.append(int(process.stdout.readline()))
        time.sleep(0.02 * after)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    last = run(checkpoint, 0, tmp_path / "killed.npz")
    assert last.wait(120) == 0
    assert seen[2] > 1  # it did go on
    one, other = np.load(tmp_path / "whole.npz"), np.load(tmp_path / "killed.npz")
    assert one.files == other.files
    for name in one.files:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    whole.stdout.close()
    last.stdout.close()


def train(path, **options):
    """A short run with a checkpoint."""
    X = np.linspace(0.0, 1.0, 12)[:, None]
    given = {"epochs": 2, "batch_size": 4, **options}
    return ad.train(
        nn.MLP([1, 4, 1], key=0), losses.squared, (X, X**2), optim.adam(0.01), checkpoint=path, progress=False, **given
    )


def test_more_epochs(tmp_path):
    """A run that is over goes on if it is given more epochs, and is returned as it was if not."""
    path = tmp_path / "folder" / "run.npz"
    first = train(path)
    again = train(path)
    np.testing.assert_array_equal(first.history["loss"], again.history["loss"])
    more = train(path, epochs=5)
    np.testing.assert_array_equal(more.history["loss"], train(None, epochs=5).history["loss"])
    assert more.steps == 15


def test_another_run(tmp_path):
    """Other settings are not mixed with what is in the file."""
    path = tmp_path / "run.npz"
    train(path)
    with pytest.raises(ad.errors.InputError) as error:
        train(path, batch_size=6)
    assert str(error.value).splitlines()[0] == f"The checkpoint {str(path)!r} is of another run: batch_size differs."
    assert "  got 4 in the file, 6 here" in str(error.value)


def test_no_checkpoint(tmp_path):
    """A file of something else is left alone, and named."""
    path = tmp_path / "run.npz"
    path.write_text("something else")
    with pytest.raises(ad.errors.InputError, match="is not a checkpoint of a training run"):
        train(path)
    assert path.read_text() == "something else"


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """Nor does it leave anything else."""
    path = tmp_path / "run.npz"
    files.save(path, {"a": np.ones(2)}, {})

    def fail(*args, **options):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        files.save(path, {"a": np.zeros(2)}, {})
    assert files.load(path)[0]["a"].tolist() == [1.0, 1.0]
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]
