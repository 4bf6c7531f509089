"""Bytes of a model file: a length, a JSON header, arrays one after another, as safetensors has them; and a checksum.

    8 bytes    the length of the header, little-endian
    header     {"__metadata__":{"format":"adjoint.learn","sha256":"...","version":"1","spec":"..."},"0":{...},...}
    arrays     without gaps, in the order of the header

The checksum is that of the whole file with zeros in its own place, which is the same in every file. Reading trusts
nothing: whatever is wrong ends in `RefusalError`, and nothing is made that the file has no bytes for.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

import adjoint as ad

from ..labels import Array

FORMAT = "{}.learn".format("adjoint")  # the name of a format: not the module, which this one must not import
VERSION = "1"
LONGEST_HEADER = 64 * 2**20
DEEPEST = 64
"""How deeply lists and objects may be nested, in the header and in the spec."""
MOST_BRACKETS, MOST_VALUES = 2**18, 2**19
"""Lists take some 50 times the memory of their two brackets, numbers 16 times that of theirs: no more than these."""

START = f'{{"__metadata__":{{"format":"{FORMAT}","sha256":"'.encode()
SEAL = slice(8 + len(START), 8 + len(START) + 64)
"""Where the checksum is."""
UNSEALED = b"0" * 64

DTYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "F16": "<f2", "U32": "<u4", "I32": "<i4",
    "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
}  # fmt: skip
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}

TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)  # possessive: nothing is kept to go back to
BRACKET = re.compile(r"[\[\]{}]")


class RefusalError(ValueError):
    """Why bytes are no model, in words that follow a file's name."""


class ModelFileError(ad.AdjointError, ValueError):
    """A file is not a model that this version can read, or it is damaged: the message names the file and says why."""


def written(spec: str, arrays: Mapping[str, Array]) -> bytes:
    """The bytes of a file with a spec and C-contiguous arrays."""
    header: dict[str, Any] = {"__metadata__": {"format": FORMAT, "sha256": UNSEALED.decode(), "version": VERSION}}
    header["__metadata__"]["spec"] = spec
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that arrays are aligned
    if len(text) > LONGEST_HEADER:
        raise RefusalError(f"would have a header of {len(text):,} bytes, of which {LONGEST_HEADER:,} are allowed.")
    parts = [len(text).to_bytes(8, "little"), text, *[array.tobytes() for array in arrays.values()]]
    return reseal(b"".join(parts))


def reseal(content: bytes) -> bytes:
    """The bytes of a model file with the checksum that they should have: for tests that damage files on purpose.

    Parameters
    ----------
    content : bytes
        The bytes of a file, damaged or not.

    Returns
    -------
    bytes
        The same, but for the checksum; as they are where there is no room for one.

    Examples
    --------
    >>> content = written("{}", {"0": np.zeros(3)})
    >>> reseal(content.replace(b'"{}"', b'"[]"')) == written("[]", {"0": np.zeros(3)})
    True
    """
    if len(content) < SEAL.stop:
        return content
    return content[: SEAL.start] + _digest(content) + content[SEAL.stop :]


def _digest(content: bytes) -> bytes:
    found = hashlib.sha256(content[: SEAL.start])
    found.update(UNSEALED)
    found.update(memoryview(content)[SEAL.stop :])
    return found.hexdigest().encode()


def parts(content: bytes) -> tuple[Any, dict[str, Array]]:
    """The spec and the arrays of a file, after everything about its form was checked."""
    header, data = _header(content)
    about = header.pop("__metadata__")
    if set(about) != {"format", "sha256", "version", "spec"} or not all(isinstance(v, str) for v in about.values()):
        raise RefusalError("has other facts in its header than a model has.")
    if about["version"] != VERSION:
        raise RefusalError(f"was written as version {about['version'][:20]!r}; this library reads version {VERSION!r}.")
    return parsed(about["spec"]), _arrays(header, data)


def _header(content: bytes) -> tuple[dict[str, Any], memoryview]:
    """The header, and the bytes behind it."""
    if len(content) < SEAL.stop or content[8 : SEAL.start] != START:
        raise RefusalError("is not a model that adjoint.learn has saved.")
    if content[SEAL] != _digest(content):
        raise RefusalError("is damaged: its checksum is not that of its content.")
    length = int.from_bytes(content[:8], "little")
    if length > LONGEST_HEADER or length > len(content) - 8:
        raise RefusalError(f"has a header of {length:,} bytes, by its own account; it has {len(content):,} in all.")
    try:
        text = content[8 : 8 + length].decode()
    except UnicodeDecodeError:
        raise RefusalError("has a header that is not text.") from None
    header = parsed(text)
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__"), dict):
        raise RefusalError("has no facts in its header.")
    return header, memoryview(content)[8 + length :]


def parsed(text: str) -> Any:
    """JSON, with no more nesting and no more lists than are allowed, no name twice, and finite numbers."""
    depth = count = 0
    bare = TEXT.sub("", text)
    if bare.count(",") > MOST_VALUES:
        raise RefusalError(f"has more than {MOST_VALUES:,} values beside its arrays.")
    for bracket in BRACKET.finditer(bare):
        opens = bracket.group() in "[{"
        depth, count = depth + (1 if opens else -1), count + opens
        if depth > DEEPEST:
            raise RefusalError(f"is nested more than {DEEPEST} levels deep.")
        if count > MOST_BRACKETS:
            raise RefusalError(f"has more than {MOST_BRACKETS:,} lists.")
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite)
    except RefusalError:
        raise
    except (ValueError, RecursionError) as error:
        raise RefusalError(f"has a header that is not JSON: {str(error)[:80]}.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RefusalError("has a name twice.")
    return found


def _refuse_constant(name: str) -> Any:
    raise RefusalError(f"has {name} among its numbers, which is not JSON.")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise RefusalError(f"has {text[:20]} among its numbers, which is not finite.")
    return value


def _arrays(table: dict[str, Any], data: memoryview) -> dict[str, Array]:
    """The arrays, each in memory of its own; together they are the data, without gaps and without overlap."""
    found: dict[str, Array] = {}
    reached = 0
    for name, entry in table.items():
        dtype, shape, start, end = _entry(name, entry)
        if start != reached or end > len(data) or math.prod(shape) * dtype.itemsize != end - start:
            raise RefusalError(f"has an array {name[:20]!r} whose place and shape do not go together.")
        array = np.frombuffer(data[start:end], dtype).reshape(shape).copy()
        if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
            raise RefusalError(f"has truth values in {name[:20]!r} that are neither true nor false.")
        found[name], reached = array, end
    if reached != len(data):
        raise RefusalError(f"has {len(data) - reached:,} bytes that belong to no array.")
    return found


def _entry(name: str, entry: Any) -> tuple[np.dtype, list[int], int, int]:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise RefusalError(f"says of its array {name[:20]!r} something else than type, shape and place.")
    code, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in DTYPES:
        raise RefusalError(f"has an array {name[:20]!r} of a type that there is not.")
    if not _counts(shape) or len(shape) > 32 or not _counts(place) or len(place) != 2:
        raise RefusalError(f"has an array {name[:20]!r} whose shape or place is not made of whole numbers.")
    return np.dtype(DTYPES[code]), shape, place[0], place[1]


def _counts(values: Any) -> bool:
    return isinstance(values, list) and all(type(v) is int and 0 <= v < 2**62 for v in values)
