"""Compiled code on disk: found again, never trusted when damaged, written by many at once."""

from __future__ import annotations

import concurrent.futures
import os
import subprocess
import sys
import time

import pytest

import adjoint as ad
from adjoint.compile.runtime import cache, engine

PROGRAM = """
import time, numpy as np, adjoint as ad
import adjoint.compile.runtime.cache as cache
compiled = []
save = cache.save
cache.save = lambda key, content: (compiled.append(key), save(key, content))[1]
f = ad.jit(ad.value_and_grad(lambda x: np.sum(np.sin(x) ** 2)))
value, slope = f(np.arange(5.0))
print(len(compiled), repr(float(value)), slope.tolist())
"""


@pytest.fixture
def folder(tmp_path):
    """A cache of this test's own, in memory and on disk."""
    engine._recent.clear()
    cache.set_cache(tmp_path)
    yield tmp_path
    cache.set_cache(None)


def in_a_new_process(folder) -> list[str]:
    environment = {**os.environ, "ADJOINT_CACHE": str(folder)}
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    return found.stdout.split(maxsplit=1)


@pytest.mark.parametrize("wish", ["", "0", "off", "None", " FALSE "])
def test_the_variable_can_say_no(monkeypatch, tmp_path, wish):
    """It names a folder, unless it says that there is none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADJOINT_CACHE", wish)
    monkeypatch.setattr(cache, "_is_set", False)
    assert cache.folder() is None
    assert not list(tmp_path.iterdir())


def test_a_later_process_does_not_compile(tmp_path):
    """The second process finds everything, and the same numbers come out."""
    first, second = in_a_new_process(tmp_path), in_a_new_process(tmp_path)
    assert int(first[0]) > 0
    assert int(second[0]) == 0
    assert first[1] == second[1]


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-3], lambda b: b"", lambda b: b[:40] + b"\0" + b[41:], lambda b: b"x" * 99]
)
def test_damaged_files_are_taken_for_missing(folder, damage):
    """Cut off, empty, changed in the middle, something else: compiled anew, and mended."""
    f = lambda x: 3.0 * x + 1.0  # noqa: E731
    assert ad.jit(f)(2.0) == 7.0
    engine._recent.clear()
    files = list(folder.iterdir())
    assert files
    for file in files:
        file.write_bytes(damage(file.read_bytes()))
    assert ad.jit(f)(2.0) == 7.0
    key = files[0].name
    assert cache.load(key) is not None


def test_many_writers_leave_one_whole_file(folder):
    """Whoever comes last wins; readers see a whole file or none, and no temporary ones stay."""
    contents = [bytes([k]) * 100_000 for k in range(16)]

    def write(content: bytes) -> bool:
        cache.save("key", content)
        found = cache.load("key")
        return found is not None and found in contents

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert all(pool.map(write, contents * 4))
    assert [file.name for file in folder.iterdir()] == ["key"]


def test_a_folder_that_others_may_write_to_is_refused(tmp_path):
    """They could put their own code into it."""
    tmp_path.chmod(0o777)
    with pytest.raises(ad.errors.InputError, match="can be written to by others"):
        ad.config.set_cache(tmp_path)


def test_a_folder_inside_one_that_others_may_write_to_is_refused(tmp_path):
    """They could put another folder in its place; not so where everybody keeps what is theirs, as in /tmp."""
    outer = tmp_path / "outer"
    (outer / "inner").mkdir(parents=True)
    outer.chmod(0o777)
    with pytest.raises(ad.errors.InputError, match="because of"):
        ad.config.set_cache(outer / "inner")
    outer.chmod(0o1777)
    ad.config.set_cache(outer / "inner")
    ad.config.set_cache(None)


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    """In a warning; code is kept in memory then."""
    (tmp_path / "file").touch()
    with pytest.warns(RuntimeWarning, match="Compiled code is not kept, as there can be no folder for it"):
        ad.config.set_cache(tmp_path / "file" / "inner")
    assert cache.folder() is None
    assert ad.jit(lambda x: 11.0 * x)(2.0) == 22.0


@pytest.mark.parametrize("trick", ["link", "hard link", "writable", "another's", "folder"])
def test_files_of_others_are_not_run(folder, tmp_path_factory, trick):
    """A link to another file, a file with another name too, one that others may write to or own, no file at all."""
    cache.save("a" * 64, b"code")
    file, other = folder / ("a" * 64), tmp_path_factory.mktemp("other") / "file"
    assert cache.load(file.name) == b"code"
    if trick == "link":
        file.replace(other)
        file.symlink_to(other)
    elif trick == "hard link":
        other.hardlink_to(file)
    elif trick == "writable":
        file.chmod(0o666)
    elif trick == "another's":
        if os.getuid():
            pytest.skip("needs the right to give files away")
        os.chown(file, 12345, 12345)
    else:
        file.unlink()
        file.mkdir()
    assert cache.load(file.name) is None


def test_old_files_go(folder, monkeypatch):
    """Those that nobody has used for long, then those used longest ago if there is too much; nothing else."""
    names = [letter * 64 for letter in "abcd"]
    for k, name in enumerate(names):
        cache.save(name, bytes(100_000))
        os.utime(folder / name, (time.time() - 1000 * (9 - k),) * 2)
    (folder / "notes").touch()
    (folder / f"{cache.TEMPORARY}1").touch()
    os.utime(folder / f"{cache.TEMPORARY}1", (1e9, 1e9))
    assert cache.load(names[0]) is not None  # which is used then
    monkeypatch.setattr(cache, "OLDEST_SECONDS", 7500)
    monkeypatch.setattr(cache, "MOST_BYTES", 250_000)
    cache._tidy(folder)
    assert sorted(f.name for f in folder.iterdir()) == [names[0], names[3], "notes"]


def test_a_folder_that_cannot_be_written_to_is_no_reason_to_stop(folder):
    """The code is compiled; it is just not kept."""
    if os.getuid() == 0:
        folder = folder / "gone"
        cache._folder = folder
    else:
        folder.chmod(0o500)
    assert ad.jit(lambda x: 5.0 * x)(2.0) == 10.0


def test_the_key_knows_everything_that_matters():
    """Program, level, processor, versions."""
    assert engine._key("a", 2) != engine._key("b", 2)
    assert engine._key("a", 2) != engine._key("a", 1)
    assert len(engine._key("a", 2)) == 64
