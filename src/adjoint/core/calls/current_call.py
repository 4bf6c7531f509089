"""Which call of the user's code is under way, for messages: `math.sin`, `scipy.stats.norm.logpdf`, `buf[0] = ...`."""

from __future__ import annotations

import builtins
import linecache
import types
from typing import TYPE_CHECKING

from ...host.code.positions import span_at
from ...host.frames.variables import instruction_of, looked_up
from ..errors import user_frame

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ...host.records import NamedTuple

if TYPE_CHECKING:
    import ast


class CurrentCall(NamedTuple):
    """What the user's line is doing."""

    call: str = ""
    """The full name of what is being called: `float()`, `math.sin`, `np.float64`, `scipy.optimize.brentq`."""
    target: str = ""
    """What is being assigned to: `buf[0]`."""


def met() -> CurrentCall:
    """What the instruction of the user's frame is: a call, an assignment to elements, or something else."""
    import ast  # for messages only, so not when the library is imported

    frame = user_frame()
    if frame is None:
        return CurrentCall()
    node = expression_at(*instruction_of(frame))
    if isinstance(node, ast.Call):
        return CurrentCall(call=_full_name(node.func, frame))
    if isinstance(node, ast.Subscript):
        return CurrentCall(target=ast.unparse(node))
    return CurrentCall()


def expression_at(code: types.CodeType, place: int) -> ast.expr | None:
    """The expression whose value, or to which a value, the instruction at a place of the code gives."""
    start, end, left, right = span_at(code, place)
    if start is None or end is None or left is None or right is None:
        return None
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(start, end + 1)]
    if not lines or not lines[0]:
        return None
    import ast

    lines[-1] = lines[-1][:right]
    lines[0] = lines[0][left:]
    try:
        return ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _full_name(func: ast.expr, frame: types.FrameType) -> str:
    """The name under which a function is known, whatever it was imported as; nothing if it has none."""
    import ast

    parts: list[str] = []
    while isinstance(func, ast.Attribute):
        parts.append(func.attr)
        func = func.value
    if not isinstance(func, ast.Name):
        return ""
    found = looked_up(frame, func.id)
    rest = "".join([f".{part}" for part in reversed(parts)])
    if isinstance(found, types.ModuleType):
        return _public(found.__name__) + rest
    if found is None or hasattr(found, "__array_interface__"):
        return func.id + rest
    home = _public(getattr(found, "__module__", None) or type(found).__module__)
    if home == "builtins":
        return f"{func.id}{rest}()" if getattr(builtins, func.id, None) is found else func.id + rest
    if not rest and hasattr(found, "__name__"):
        return f"{home}.{found.__name__}" if _is_package(home) else str(found.__name__)
    return f"{home}.{func.id}{rest}" if _is_package(home) else func.id + rest


def _public(module: str) -> str:
    """`scipy.optimize._zeros_py` is known as `scipy.optimize`, and `numpy` as `np`."""
    parts = module.split(".")
    shown = [part for k, part in enumerate(parts) if k == 0 or not part.startswith("_")]
    private = next((k for k, part in enumerate(parts) if k and part.startswith("_")), len(parts))
    shown = parts[:private] if private < len(parts) else shown
    return ".".join(["np" if shown[0] == "numpy" else shown[0], *shown[1:]])


def _is_package(home: str) -> bool:
    """Whether a module is one that can be known by its name: of a package or of Python, not the user's script."""
    return home not in ("__main__", "") and home.partition(".")[0] in (
        "np",
        "scipy",
        "math",
        "cmath",
        "pandas",
        "sklearn",
    )
