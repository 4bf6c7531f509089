"""Tables from files, CSV and Parquet: what is wrong with one is said with the line and the column."""

from __future__ import annotations

import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import CommandError

BAD_FILE = 3
"""Exit code: a file cannot be read, or is not what it has to be."""
DELIMITERS = ",;\t|"
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "?", "#N/A")
"""What stands for a value that is missing."""
SUFFIXES = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet"}
LONGEST_FIELD = 2**24


@dataclass
class TableFile:
    """A frame, and the file that it is from."""

    path: Path
    frame: Any
    delimiter: str | None = None
    encoding: str = "utf-8"

    def problem(self, row: int, name: str, what: str, *, hint: str = "") -> CommandError:
        """The error for a value: with its line and column in a text file, with its row in another."""
        column = list(self.frame.columns).index(name) + 1
        if self.delimiter is None:
            return problem(f"{self.path}: row {row + 1}, column {column} ({name}): {what}", hint=hint)
        line, text = next(itertools.islice(_records(self), row + 1, None))[:2]
        return problem(f"{self.path}: line {line}, column {column} ({name}): {what}", text=text, hint=hint)


def problem(what: str, *, text: str | None = None, column: int = 0, hint: str = "") -> CommandError:
    """The error for a file."""
    return CommandError(what, text=text, column=column, hint=hint, exit_code=BAD_FILE)


def read_table(name: str, *, delimiter: str | None = None, encoding: str = "utf-8") -> TableFile:
    """The table in a file, whose name ends in .csv, .tsv, .txt, .parquet or .pq."""
    path = Path(name)
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise problem(f"{name}: a table's name has to end in {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise problem(f"{name} {'is not a file' if path.exists() else 'does not exist'}")
    if path.stat().st_size == 0:
        raise problem(f"{name} is empty")
    table = _from_parquet(path) if kind == "parquet" else _from_csv(path, delimiter, encoding)
    if len(table.frame) == 0:
        raise problem(f"{name} has names of columns, and no rows")
    return table


def _from_parquet(path: Path) -> TableFile:
    import pyarrow.parquet as parquet
    from pyarrow.lib import ArrowException

    try:
        frame = parquet.read_table(path).to_pandas()
    except (ArrowException, OSError, ValueError) as error:
        raise problem(f"{path} is not a Parquet file that can be read: {str(error)[:200]}") from None
    frame.columns = [str(column) for column in frame.columns]
    _check_names(path, list(frame.columns))
    return TableFile(path, frame.reset_index(drop=True))


def _from_csv(path: Path, delimiter: str | None, encoding: str) -> TableFile:
    import pandas as pd

    table = TableFile(path, None, delimiter, encoding)
    _check_text(table)
    table.delimiter = delimiter or _delimiter(table)
    names, count = _checked_records(table)
    try:
        table.frame = pd.read_csv(
            path, sep=table.delimiter, encoding=_codec(encoding), header=0, names=names, index_col=False,
            na_values=list(MISSING), keep_default_na=False, low_memory=False, skipinitialspace=True, memory_map=False,
        )  # fmt: skip
    except (pd.errors.ParserError, ValueError) as error:
        raise problem(f"{path} cannot be read: {str(error).strip()[:200]}") from None
    if len(table.frame) != count:  # the two readers do not agree on what a record is
        raise problem(f"{path} has {count} records, of which {len(table.frame)} can be read", hint="Are quotes closed?")
    return table


def _codec(encoding: str) -> str:
    return "utf-8-sig" if encoding.lower().replace("-", "").replace("_", "") == "utf8" else encoding


def _check_text(table: TableFile) -> None:
    """The file is text in its encoding."""
    try:
        with table.path.open(encoding=_codec(table.encoding), newline="") as file:
            while file.read(2**20):
                pass
    except LookupError:
        raise CommandError(f"--encoding {table.encoding}: there is no such encoding") from None
    except UnicodeDecodeError:
        raise _undecodable(table) from None


def _undecodable(table: TableFile) -> CommandError:
    """The first byte that is no text, with its line and column."""
    for number, line in enumerate(table.path.read_bytes().split(b"\n"), 1):
        try:
            line.decode(table.encoding)
        except UnicodeDecodeError as error:
            where = f"{table.path}: line {number}, character {len(line[: error.start].decode(table.encoding)) + 1}"
            what = f"the byte 0x{line[error.start]:02x} is not {table.encoding}"
            return problem(f"{where}: {what}", hint="Say which it is, as in  --encoding latin-1.")
    return problem(f"{table.path} is not {table.encoding}", hint="Say which it is, as in  --encoding latin-1.")


def _delimiter(table: TableFile) -> str:
    """What separates the names of columns."""
    with table.path.open(encoding=_codec(table.encoding), newline="") as file:
        first = next((line for line in file if line.strip()), "")
    counts = Counter(character for character in first if character in DELIMITERS)
    return max(DELIMITERS, key=lambda character: counts[character]) if counts else ","


def _records(table: TableFile) -> Iterator[tuple[int, str, list[str]]]:
    """Line, text and fields of each record, the first one being the names of columns; blank lines are left out."""
    csv.field_size_limit(LONGEST_FIELD)
    with table.path.open(encoding=_codec(table.encoding), newline="") as file:
        said: list[str] = []
        reader = csv.reader(
            _remembered(file, said), delimiter=table.delimiter or ",", strict=True, skipinitialspace=True
        )
        start = 1
        while True:
            said.clear()
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                text = "".join(said).rstrip("\r\n")[:200]
                raise problem(
                    f"{table.path}: line {start}: {error}", text=text.splitlines()[0] if text else None
                ) from None
            if fields:
                yield start, "".join(said).rstrip("\r\n"), fields
            start = reader.line_num + 1


def _remembered(file: io.TextIOBase | Any, said: list[str]) -> Iterator[str]:
    for line in file:
        said.append(line)
        yield line


def _checked_records(table: TableFile) -> tuple[list[str], int]:
    """The names of columns, and how many records there are, after all were found to have as many fields."""
    records = _records(table)
    first = next(records, None)
    if first is None:
        raise problem(f"{table.path} is empty")
    names = [name.strip() for name in first[2]]
    _check_names(table.path, names)
    count = 0
    for count, (line, text, fields) in enumerate(records, 1):  # noqa: B007  (it is given at the end)
        if len(fields) != len(names):
            what = f"{len(fields)} field{'s' if len(fields) != 1 else ''} where the first line has {len(names)}"
            place = min(len(fields), len(names))
            hint = "" if table.delimiter == "," else f"The fields are taken to be separated by {table.delimiter!r}."
            raise problem(f"{table.path}: line {line}, column {place + 1}: {what}", text=text, hint=hint)
    return names, count


def _check_names(path: Path, names: list[str]) -> None:
    """Columns have names of their own."""
    for place, name in enumerate(names, 1):
        if not name:
            hint = "Give it a name in the first line; what pandas writes as an index, it leaves out with  index=False."
            raise problem(f"{path}: column {place} has no name", hint=hint)
        if name in names[: place - 1]:
            raise problem(f"{path}: columns {names.index(name) + 1} and {place} have the same name, {name!r}")
