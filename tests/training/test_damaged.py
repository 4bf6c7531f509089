"""Files that are no checkpoints, or no longer: one clear error, whatever is wrong; and disks that are full."""

from __future__ import annotations

import errno
import io
import json
import os
import pickle
import random
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest

import adjoint as ad
from adjoint import losses, nn, optim
from adjoint.core.files import replacing
from adjoint.training.checkpoints import state

X = np.linspace(0.0, 1.0, 12)[:, None]


def train(path, **options):
    """A short run with a checkpoint."""
    given = {"epochs": 2, "batch_size": 4, "patience": 9, "progress": False, **options}
    return ad.train(nn.MLP([1, 3, 1], key=0), losses.squared, (X, X**2), optim.adam(0.01), checkpoint=path, **given)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a checkpoint, and the numbers of the run."""
    path = tmp_path_factory.mktemp("run") / "run.npz"
    fit = train(path)
    return path.read_bytes(), fit


def names_in(folder):
    """The names of all files, in order."""
    return sorted([path.name for path in folder.iterdir()])


def archive(members, compression=zipfile.ZIP_STORED):
    """The bytes of an archive of these members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in members:
            file.writestr(name, content)
    return out.getvalue()


def members_of(content):
    """Names and contents of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return [(name, file.read(name)) for name in file.namelist()]


def as_npy(a, **options):
    """An array as a file."""
    out = io.BytesIO()
    np.save(out, a, **options)
    return out.getvalue()


def with_array(name, change):
    """A checkpoint in which one array is another one."""

    def changed(content):
        return archive(
            [(m, as_npy(change(np.load(io.BytesIO(c)))) if m == name else c) for m, c in members_of(content)]
        )

    return changed


def with_facts(**facts):
    """A checkpoint with other facts."""
    return with_array("facts.npy", lambda a: np.array(json.dumps({**json.loads(str(a)), **facts})))


def with_member(name, new):
    """A checkpoint in which the bytes of one array are others."""
    return lambda content: archive([(m, new if m == name else c) for m, c in members_of(content)])


def nan_at_first(a):
    """The array with a nan."""
    a.flat[0] = np.nan
    return a


def header(text):
    """An array with this header and no content."""
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


HUGE = header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000)}")
WEIGHT = "parameters.0.npy"
BAD = {
    "empty": lambda c: b"",
    "a text": lambda c: b"something else",
    "half of it": lambda c: c[: len(c) // 2],
    "without its end": lambda c: c[:-30],
    "a pickle": lambda c: pickle.dumps({"a": 1}),
    "one array": lambda c: as_npy(np.ones(3)),
    "an empty archive": lambda c: archive([]),
    "no facts": lambda c: archive([m for m in members_of(c) if m[0] != "facts.npy"]),
    "no weights": lambda c: archive([m for m in members_of(c) if m[0] != WEIGHT]),
    "no history": lambda c: archive([m for m in members_of(c) if m[0] != "history.values.npy"]),
    "an array twice": lambda c: archive([*members_of(c), members_of(c)[1]]),
    "compressed": lambda c: archive(members_of(c), zipfile.ZIP_DEFLATED),
    "another shape": with_array(WEIGHT, lambda a: a[:2]),
    "another dtype": with_array(WEIGHT, lambda a: a.astype(np.float32)),
    "big-endian": with_array(WEIGHT, lambda a: a.astype(">f8")),
    "nan": with_array(WEIGHT, nan_at_first),
    "nan in a snapshot": with_array("snapshot.0.0.npy", nan_at_first),
    "nan in the moments": with_array("optimizer.1.npy", nan_at_first),
    "nan in the history": with_array("history.values.npy", nan_at_first),
    "objects": with_member(WEIGHT, as_npy(np.array([1, None], dtype=object), allow_pickle=True)),
    "no array": with_member(WEIGHT, b"12345"),
    "a huge array": with_member(WEIGHT, HUGE),
    "a negative shape": with_member(WEIGHT, header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1)}")),
    "a nested header": with_member(WEIGHT, header("(" * 500)),
    "a header of code": with_member(WEIGHT, header("__import__('os').abort()")),
    "facts of numbers": with_member("facts.npy", as_npy(np.ones(3))),
    "garbage for JSON": with_member("facts.npy", as_npy(np.array("{'a': "))),
    "a list for facts": with_member("facts.npy", as_npy(np.array("[1, 2]"))),
    "nested JSON": with_member("facts.npy", as_npy(np.array("[" * 20000))),
    "a fact twice": with_member("facts.npy", as_npy(np.array('{"version": 2, "version": 2}'))),
    "an older version": with_facts(version=1),
    "a newer version": with_facts(version=99),
    "no version": with_facts(version=None),
    "steps": with_facts(steps="many"),
    "too many steps": with_facts(steps=10**30),
    "a truth value for steps": with_facts(steps=True),
    "snapshots": with_facts(snapshots={"a": 1}),
    "snapshots twice": with_facts(snapshots=[0, 0]),
    "snapshots that are missing": with_facts(snapshots=[0, 77]),
    "the run": with_facts(run=[1]),
    "what is not finite": with_facts(not_finite=3),
    "names of the history": with_array("history.names.npy", lambda a: a[:-1]),
    "names twice": with_array("history.names.npy", lambda a: np.array(["loss"] * a.size)),
    "no loss": with_array("history.names.npy", lambda a: np.char.add(a, "x")),
    "norms": with_array("history.norms.npy", lambda a: a[:-1]),
    "no epochs": with_array("history.values.npy", lambda a: a[:0]),
}
"""What is made of a checkpoint."""


@pytest.mark.parametrize("kind", BAD)
def test_damaged_files(kind, whole, tmp_path):
    """One error, that names the file and what to do; the file is left alone."""
    path = tmp_path / "run.npz"
    content = BAD[kind](whole[0])
    path.write_bytes(content)
    with pytest.raises(ad.errors.InputError) as error:
        train(path)
    first, *_, last = str(error.value).splitlines()
    assert first == f"{str(path)!r} is not a checkpoint of a training run, or it is damaged."
    assert last == "  Give  checkpoint=  another name, or delete the file."
    assert path.read_bytes() == content


def test_what_is_no_file(tmp_path):
    """A folder, a pipe: nobody waits for the other end of it."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(ad.errors.InputError, match="is not a checkpoint of a training run"):
            train(tmp_path / name)


def test_a_bomb_is_not_read(whole, tmp_path):
    """An archive that inflates to 4 GB is refused by what it says of itself, with 200 MB of memory left."""
    path = tmp_path / "run.npz"
    big = 2**28
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members_of(whole[0]):
            file.writestr(name, content)
        with file.open("snapshot.9.0.npy", "w") as member:
            member.write(header(f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({big},)}}"))
            for _ in range(256):
                member.write(bytes(2**20))
    assert path.stat().st_size < 2**20
    program = f"from adjoint.training.checkpoints import files\nimport resource\nfiles.load({str(path)!r})"
    limit = f"import resource\nfrom adjoint.training.checkpoints import files\n{LIMIT}"
    done = subprocess.run([sys.executable, "-c", limit + program], capture_output=True, text=True, timeout=60)
    assert "ValueError: it is compressed" in done.stderr


LIMIT = """
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 200 * 2**20,) * 2)
"""


def mutant(content, draw):
    """The bytes with a few of them changed, left out, put in or moved."""
    found = bytearray(content)
    for _ in range(draw.choice([1, 1, 1, 2, 5, 30])):
        at, kind = draw.randrange(len(found) + 1) % max(1, len(found)), draw.randrange(5) if found else 3
        if kind == 0:
            found[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            found[at] = draw.choice([0, 255, draw.randrange(256)])
        elif kind == 2:
            del found[at : at + draw.choice([1, 7, 500])]
        elif kind == 3:
            found[at:at] = draw.randbytes(draw.choice([1, 7, 100]))
        else:
            there = draw.randrange(len(found))
            found[at : at + 40] = found[there : there + 40]
    return bytes(found)


@pytest.fixture
def leaves(whole, tmp_path):
    """From the bytes of a file to the arrays that a run would go on with; None for the one error."""
    path = tmp_path / "run.npz"
    path.write_bytes(whole[0])
    facts = json.loads(str(np.load(path)["facts"]))["run"]
    parameters = nn.parameters(nn.MLP([1, 3, 1], key=0))
    started = state.State(parameters, {}, optim.adam(0.01).init(parameters))
    start = state.Saved(started, None, state.History(list(parameters)), {}, 0)

    def taken(content):
        path.write_bytes(content)
        try:
            return ad.tree.leaves(state.read(path, start, "loss", facts).state)
        except ad.errors.InputError:
            return None

    return taken


@pytest.mark.parametrize("count", [300, pytest.param(2_000, marks=pytest.mark.slow)])
def test_random_damage(count, whole, leaves):
    """Thousands of damaged files end in the error, or have the numbers of the whole one."""
    content, taken, draw = whole[0], 0, random.Random(count)
    right = leaves(content)
    for _ in range(count):
        found = leaves(mutant(content, draw))
        taken += found is not None
        for a, b in zip(right, found or right, strict=True):
            np.testing.assert_array_equal(a, b)
    assert taken < count / 4


@pytest.mark.parametrize("count", [150, pytest.param(1_000, marks=pytest.mark.slow)])
def test_random_damage_with_right_checksums(count, whole, leaves):
    """Members whose bytes are damaged before they are packed end in the error, or in finite arrays of the same kind."""
    members, draw = members_of(whole[0]), random.Random(count)
    right = leaves(whole[0])
    for _ in range(count):
        k = draw.randrange(len(members))
        found = leaves(archive([(n, mutant(c, draw) if j == k else c) for j, (n, c) in enumerate(members)]))
        for a, b in zip(right, found or right, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            assert np.all(np.isfinite(b))


def test_a_full_disk_ends_the_run_with_the_fit(tmp_path, monkeypatch):
    """With a warning; the old file is whole, nothing else is left, and the run goes on from there later."""
    path = tmp_path / "run.npz"
    train(path, epochs=1)
    real, calls = os.fsync, []

    def full(handle):
        calls.append(handle)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    said = rf"could not be written after epoch 3: .*{os.strerror(errno.ENOSPC)}"
    with pytest.warns(RuntimeWarning, match=said):
        fit = train(path, epochs=9)
    monkeypatch.undo()
    assert fit.history.epochs == 3
    assert "could not be written" in fit.stopped
    assert names_in(tmp_path) == ["run.npz"]
    np.testing.assert_array_equal(train(path, epochs=9).history["loss"], train(None, epochs=9).history["loss"])


FULL = """
import resource, signal, sys, warnings
import numpy as np, adjoint as ad
from adjoint import losses, nn, optim
warnings.simplefilter("ignore")
X = np.linspace(0.0, 1.0, 12)[:, None]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
fit = ad.train(nn.MLP([1, 8, 1], key=0), losses.squared, (X, X**2), optim.adam(0.01), epochs=5,
               checkpoint=sys.argv[1], progress=False)
sys.stdout.write(f"{fit.history.epochs} {fit.stopped}")
"""


@pytest.mark.slow
def test_files_that_may_not_grow(tmp_path):
    """The same with the limit of the system itself."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "run.npz"], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.startswith("1 the checkpoint"), done.stderr
    assert names_in(tmp_path) == []


def test_leftovers_are_removed(tmp_path):
    """What a killed process has left goes with the next write; what somebody is writing stays."""
    path = tmp_path / "a page.html"
    program = (
        "import os, sys\nfrom adjoint.core.files.replacing import replaced\n"
        "with replaced(sys.argv[1]) as file:\n file.write(b'x' * 10**6)\n file.flush()\n os._exit(9)"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", program, path], timeout=60)
        assert len(names_in(tmp_path)) == 1  # the second run has removed what the first one left
    with replacing.replaced(path) as mine:
        mine.write(b"mine")
        mine.flush()
        replacing.write_text(path, "whole")
        replacing.write_text(tmp_path / "other", "another file")
        assert path.read_text() == "whole"
        assert len(names_in(tmp_path)) == 3
    assert path.read_text() == "mine"
    assert names_in(tmp_path) == ["a page.html", "other"]


def test_written_as_a_file_is(tmp_path):
    """A link stays, the mode stays, a new file has the usual one, names may be long, a pipe is written to."""
    path = tmp_path / ("x" * 250)
    (tmp_path / "link").symlink_to(path)
    path.write_text("old")
    path.chmod(0o640)
    replacing.write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    usual = os.umask(0o022)
    os.umask(usual)
    assert replacing.write_text(tmp_path / "another", "").stat().st_mode & 0o777 == 0o666 & ~usual
    assert replacing.write_text("/dev/null", "gone").exists()


def test_a_page_is_whole_or_the_old_one(tmp_path, monkeypatch):
    """Pages of both kinds, when the disk is full: what was there stays, and nothing else is there."""
    explained, fit = ad.explain(lambda x: x**2)(3.0), train(None)

    def full(handle):
        raise OSError(errno.ENOSPC, "full")

    for page in (explained.page, fit.page):
        path = tmp_path / "page.html"
        path.write_text("old")
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(OSError, match="full"):
                page(path)
        assert path.read_text() == "old"
        page(path)
        assert path.read_text().startswith("<!")
        assert names_in(tmp_path) == ["page.html"]
