"""Who calls: a line of Python, or compiled code that it has called (and that has no frame of its own)."""

from __future__ import annotations

import ast
import functools
import linecache
from itertools import islice
from types import CodeType


@functools.lru_cache(4096)
def calls(code: CodeType, place: int, name: str) -> bool:
    """Whether the instruction at a place of the code is itself a call of `name`.

    NumPy's random generators make their arrays with `np.empty`, as read from the module; they have to get an array,
    whatever the line that called them gets. Where the source is not at hand, a code that mentions the name will do.
    """
    if name not in code.co_names:
        return False
    start, end, left, right = next(islice(code.co_positions(), place // 2, None), (None,) * 4)
    if start is None or end is None or left is None or right is None:
        return True
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(start, end + 1)]
    if not lines or not lines[0]:
        return True
    lines[-1] = lines[-1][:right]
    lines[0] = lines[0][left:]
    try:
        call = ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except (SyntaxError, ValueError):
        return True
    return isinstance(call, ast.Call) and name in (getattr(call.func, "attr", ""), getattr(call.func, "id", ""))
