"""Damaged tables: each is read, or answered with an error of the command, never with another exception."""

from __future__ import annotations

import random
from collections import Counter

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from adjoint.cli.errors import CommandError
from adjoint.cli.kinds import described, features, kinds_in, target_column, target_values, task_of
from adjoint.cli.tables import BAD_FILE, read_table
from tests.cli.test_learning import frame

PIECES = [
    b",", b"\n", b'"', b"\r", b"\x00", b"\xff", b"nan", b"1e999", b"-", b"2024-99-99", b"\xef\xbb\xbf",
    b";", b"\t", b"'", b",,,,", b"\n\n\n", "é😀".encode(), b"9" * 400, b"inf", b" ", b"True",
]  # fmt: skip


def damaged(content: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice([1, 1, 2, 5])):
        k, n = sorted(chance.randrange(len(content) + 1) for _ in range(2))
        kind = chance.randrange(5)
        if kind == 0:
            content = content[:k]
        elif kind == 1:
            content = content[:k] + content[min(n, k + 30) :]
        elif kind == 2:
            content = content[:k] + chance.randbytes(chance.randrange(1, 9)) + content[k:]
        else:
            content = content[:k] + chance.choice(PIECES) + content[k + chance.choice([0, 1, 3]) :]
        content = content or b"\n"
    return content


def looked_at(path: str) -> None:
    """All that `adjoint fit` does with a table before it fits."""
    table = read_table(path)
    task = task_of(target_column(table, "kind"))
    kinds = kinds_in(table, ["kind"], dates="days")
    target_values(table, "kind", task)
    notes: list[str] = []
    features(table, kinds, notes, beside=["kind"])
    described(table, kinds, "kind")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_damaged_tables(suffix, tmp_path):
    """Some hundred files: clear errors or tables."""
    whole = tmp_path / f"whole.{suffix}"
    data = frame(30)
    data.to_csv(whole, index=False) if suffix == "csv" else data.to_parquet(whole)
    chance, found = random.Random(0), Counter()
    for _ in range(300):
        path = tmp_path / f"damaged.{suffix}"
        path.write_bytes(damaged(whole.read_bytes(), chance))
        try:
            looked_at(str(path))
            found["read"] += 1
        except CommandError as error:
            found[error.exit_code] += 1
    assert sum(found.values()) == 300
    assert found[BAD_FILE] > 100
