"""Primitives as NumPy source: what one operation of a program looks like in code that needs no library."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ...ir.program import Type
from ...ops.indexing import HOLE
from .literals import ATOM, SIGN, Written, parameter

COMPARE, EITHER, EXCLUSIVE, BOTH, SHIFT, SUM, PRODUCT, _, POWER, _ = range(10)
"""How tightly an expression holds together, in Python's order; SIGN and ATOM are the two left out."""


class Operand(NamedTuple):
    """An argument as it stands in the source."""

    text: str
    hold: int
    type: Type
    is_python: bool
    """Whether it is a number of Python's when the source runs."""

    def inside(self, hold: int) -> str:
        """The text, in brackets if what stands around it holds tighter."""
        return f"({self.text})" if self.hold < hold else self.text


class Needs:
    """What the source needs around the function: imports, and functions that NumPy does not have."""

    def __init__(self) -> None:
        self.modules = {"numpy"}
        self.helpers: dict[str, str] = {}
        self._known: set[str] = set()

    def module(self, name: str) -> str:
        """Import a module; its name."""
        self.modules.add(name)
        return name

    def helper(self, function: Any) -> str:
        """Put a function into the source, with everything that it uses; its name there."""
        name = str(function.__name__)
        if name not in self._known:
            self._known.add(name)  # before what it calls, which may be itself
            self.helpers[name] = self._embedded(function)
        return name

    def _embedded(self, function: FunctionType) -> str:
        tree = _Bare(function, self).visit(ast.parse(textwrap.dedent(inspect.getsource(function))))
        return ast.unparse(ast.fix_missing_locations(tree))

    def text(self) -> str:
        """The lines above the function."""
        lines = [f"import {m}" + (" as np" if m == "numpy" else "") for m in sorted(self.modules)]
        return "\n\n\n".join(["\n".join(lines), *self.helpers.values()])


class _Bare(ast.NodeTransformer):
    """A function of the library without annotations; its constants are written out, what it calls is put beside it."""

    def __init__(self, function: FunctionType, needs: Needs) -> None:
        self.function, self.needs = function, needs

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        found = self.function.__globals__.get(node.id)
        if isinstance(found, ModuleType) and found is not np:
            self.needs.module(found.__name__)
        elif isinstance(found, FunctionType):
            self.needs.helper(found)
        elif isinstance(found, (int, float)):
            return ast.Constant(found)
        return node


# Functions that are put into the source, where an expression would be too long.


def _placed(g: Any, key: Any, shape: Any) -> Any:
    """Zeros, with g added at the key."""
    out = np.zeros(shape, np.asarray(g).dtype)
    np.add.at(out, key, g)
    return out


def _written(x: Any, key: Any, v: Any) -> Any:
    """A copy of x in which x[key] is v; whole numbers that are given for others become such."""
    out = np.array(x)
    out = out.astype(np.result_type(out, 0.0), copy=False)
    out[key] = v
    return out


def _written_whole(x: Any, key: Any, v: Any) -> Any:
    """A copy of x in which x[key] is v, cut to a whole number."""
    out = np.array(x)
    out[key] = v
    return out


def _last_writes(key: Any, shape: Any) -> Any:
    """Which of several writes to one place stays, as a mask of what is written."""
    board = np.zeros(shape, dtype=int)
    numbers = np.arange(board[key].size).reshape(board[key].shape)
    board[key] = numbers
    return board[key] == numbers


def _of_each(function: Any, a: Any) -> Any:
    """A function of a matrix, for every matrix of a stack."""
    parts = [function(part) for part in a.reshape(-1, *a.shape[-2:])]
    return np.stack(parts).reshape(a.shape) if parts else a


# Operators.

BINARY = {
    "add": ("+", SUM), "subtract": ("-", SUM), "multiply": ("*", PRODUCT), "divide": ("/", PRODUCT),
    "matmul": ("@", PRODUCT), "floor_divide": ("//", PRODUCT), "remainder": ("%", PRODUCT),
    "bitwise_and": ("&", BOTH), "bitwise_or": ("|", EITHER), "bitwise_xor": ("^", EXCLUSIVE),
    "left_shift": ("<<", SHIFT), "right_shift": (">>", SHIFT),
}  # fmt: skip

COMPARISONS = {
    "greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<=", "equal": "==", "not_equal": "!=",
}  # fmt: skip

PYTHON_STAYS = frozenset((*BINARY, *COMPARISONS, "negative", "positive", "power", "square", "named"))
"""Operations that are written as operators, so that Python's numbers give Python's numbers."""

MAY_RAISE = frozenset(("divide", "reciprocal", "power", "remainder", "floor_divide"))
"""Operations for which Python's numbers raise an exception where NumPy's are infinite or nan."""


def written(primitive: Any, args: list[Operand], params: dict[str, Any], needs: Needs) -> Written | None:
    """One operation as source, or None if NumPy and SciPy cannot write it."""
    name = primitive.name
    if name in BINARY and len(args) == 2:
        sign, hold = BINARY[name]
        return f"{args[0].inside(hold)} {sign} {args[1].inside(hold + 1)}", hold
    if name in COMPARISONS:
        return f"{args[0].inside(EITHER)} {COMPARISONS[name]} {args[1].inside(EITHER)}", COMPARE
    if name in WRITERS:
        return WRITERS[name](args, params, needs)
    if name in TEMPLATES:
        return _filled(TEMPLATES[name], args, params, needs), ATOM
    if name in EMBEDDED:
        named = "".join([f", {k}={parameter(v)}" for k, v in params.items()])
        return f"{needs.helper(primitive.evaluate)}({_listed(args)}{named})", ATOM
    module = _module_of(name)
    return (
        None
        if module is None
        else (f"{needs.module(module) if module != 'np' else module}.{name}({_listed(args)})", ATOM)
    )


def can_be_written(primitive: Any) -> bool:
    """Whether NumPy or SciPy can do what a primitive does."""
    name = primitive.name
    tables: tuple[Any, ...] = (BINARY, COMPARISONS, WRITERS, TEMPLATES, EMBEDDED)
    return any(name in table for table in tables) or _module_of(name) is not None


def _module_of(name: str) -> str | None:
    """Where a universal function of that name is."""
    if isinstance(getattr(np, name, None), np.ufunc):
        return "np"
    special = sys.modules.get("scipy.special")  # there if the function has used it
    return "scipy.special" if isinstance(getattr(special, name, None), np.ufunc) else None


def _listed(args: list[Operand]) -> str:
    return ", ".join([a.text for a in args])


def _filled(template: str, args: list[Operand], params: dict[str, Any], needs: Needs) -> str:
    if template.startswith("scipy"):
        needs.module(template[: template.rindex(".", 0, template.index("("))])
    values = {k: parameter(v) for k, v in params.items()}
    return template.format(*[a.text for a in args], all=_listed(args), **values)


def key_text(template: Any, arrays: list[Operand]) -> str:
    """`0, 1:3`: what stands between the brackets of an index."""
    rest = iter(arrays)
    entries = template if isinstance(template, tuple) else (template,)
    texts = [next(rest).text if e is HOLE else _entry(e) for e in entries]
    return ", ".join(texts) or "()"


def _entry(e: Any) -> str:
    if isinstance(e, slice):
        parts = [e.start, e.stop] + ([] if e.step is None else [e.step])
        return ":".join(["" if p is None else parameter(p) for p in parts])
    return "..." if e is Ellipsis else parameter(e)


def _index(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
    x = f"np.asarray({args[0].text})" if args[0].is_python else args[0].inside(ATOM)
    return f"{x}[{key_text(params['template'], args[1:])}]", ATOM


def _unindex(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
    key = key_text(params["template"], args[1:])
    return f"{needs.helper(_placed)}({args[0].text}, np.s_[{key}], {parameter(params['shape'])})", ATOM


def _assign(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
    key = key_text(params["template"], args[2:])
    helper = _written if args[0].type.dtype.kind in "fc" else _written_whole
    return f"{needs.helper(helper)}({args[0].text}, np.s_[{key}], {args[1].text})", ATOM


def _last(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
    key = key_text(params["template"], args)
    return f"{needs.helper(_last_writes)}(np.s_[{key}], {parameter(params['shape'])})", ATOM


def _transpose(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
    axes, rank = params["axes"], len(args[0].type.shape)
    if axes is None or [a % rank for a in axes] == list(range(rank))[::-1]:
        return f"{args[0].inside(ATOM)}.T", ATOM
    return f"np.transpose({args[0].text}, {parameter(axes)})", ATOM


def _broadcast(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
    shape = params["shape"]
    if args[0].type.shape == ():
        return f"np.full({parameter(shape[0] if len(shape) == 1 else shape)}, {args[0].text})", ATOM
    return f"np.broadcast_to({args[0].text}, {parameter(shape)})", ATOM


def _power(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
    exponent = args[1].inside(SIGN) if len(args) > 1 else "2"
    return f"{args[0].inside(ATOM)}**{exponent}", POWER


def _sign(sign: str) -> Callable[..., Written]:
    return lambda args, params, needs: (f"{sign}{args[0].inside(SIGN)}", SIGN)


def _invert(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
    return (f"np.invert({args[0].text})", ATOM) if args[0].is_python else (f"~{args[0].inside(SIGN)}", SIGN)


def _reduction(function: str) -> Callable[..., Written]:
    def write(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
        axis, rank = params["axis"], len(args[0].type.shape)
        axes = axis if isinstance(axis, tuple) else (axis,)
        text = args[0].text
        if axis is not None and len(axes) < rank:
            text += f", axis={parameter(axes[0] if len(axes) == 1 else axes)}"
        if params.get("keepdims"):
            text += ", keepdims=True"
        return f"{function}({text})", ATOM

    return write


def _astype(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
    kind = parameter(np.dtype(params["dtype"]))
    if args[0].type.shape == ():
        return f"{kind}({args[0].text})", ATOM
    return f"{args[0].inside(ATOM)}.astype({kind})", ATOM


def _contract(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
    labels = f"{params['first']},{params['second']}->{params['result']}"
    return f"np.einsum({labels!r}, {args[0].text}, {args[1].text})", ATOM


def _fourier(name: str) -> Callable[..., Written]:
    def write(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
        axes = params["axes"]
        rest = "" if params["norm"] is None else f", norm={params['norm']!r}"
        if len(axes) == 1:
            return f"np.fft.{name}({args[0].text}, axis={axes[0]}{rest})", ATOM
        return f"np.fft.{name}n({args[0].text}, axes={parameter(axes)}{rest})", ATOM

    return write


def _derivative(function: str, order: str) -> Callable[..., Any]:
    """The function itself, or one of its derivatives, which is put into the source."""

    def write(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
        from ...ops import transcendental

        if params["order"] == 0:
            return f"{function}({args[0].text})", ATOM
        return f"{needs.helper(getattr(transcendental, order))}({args[0].text}, order={params['order']})", ATOM

    return write


def _matrix_function(name: str) -> Callable[..., Written]:
    def write(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
        function = f"{needs.module('scipy.linalg')}.{name}"
        if len(args[0].type.shape) == 2:
            return f"{function}({args[0].text})", ATOM
        return f"{needs.helper(_of_each)}({function}, {args[0].text})", ATOM

    return write


def _call(function: str, *, keywords: bool = False) -> Callable[..., Written]:
    """A function of the arguments in their order, perhaps with the parameters by name."""

    def write(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
        if function.startswith("scipy"):
            needs.module(function.rpartition(".")[0])
        named = [f"{k}={parameter(v)}" for k, v in params.items()] if keywords else []
        return f"{function}({', '.join([*[a.text for a in args], *named])})", ATOM

    return write


def _search(args: list[Operand], params: dict[str, Any], needs: Needs) -> Written:
    sorter = f", {args[2].text}" if len(args) > 2 else ""
    return f"np.searchsorted({args[0].text}, {args[1].text}, {params['side']!r}{sorter})", ATOM


WRITERS: dict[str, Callable[[list[Operand], dict[str, Any], Needs], Written]] = {
    "index": _index, "unindex": _unindex, "assign": _assign, "last_writes": _last, "transpose": _transpose,
    "broadcast_to": _broadcast,
    "power": _power, "square": _power, "negative": _sign("-"), "positive": _sign("+"), "invert": _invert,
    "sum": _reduction("np.sum"), "prod": _reduction("np.prod"), "max": _reduction("np.max"),
    "min": _reduction("np.min"), "any": _reduction("np.any"), "all": _reduction("np.all"),
    "argmax": _reduction("np.argmax"), "argmin": _reduction("np.argmin"), "astype": _astype, "contract": _contract,
    "fft": _fourier("fft"), "ifft": _fourier("ifft"), "expm": _matrix_function("expm"),
    "logm": _matrix_function("logm"), "sqrtm": _matrix_function("sqrtm"), "searchsorted": _search,
    "sinc_derivative": _derivative("np.sinc", "_sinc"), "i0_derivative": _derivative("np.i0", "_i0"),
    "cholesky": _call("np.linalg.cholesky", keywords=True), "unwrap": _call("np.unwrap", keywords=True),
    "absolute": _call("np.abs"), "conjugate": _call("np.conj"), "lambertw": _call("scipy.special.lambertw"),
    "clip": _call("np.clip"), "where": _call("np.where"), "real": _call("np.real"), "imag": _call("np.imag"),
    "sech_squared": lambda args, params, needs: (f"(1.0 / np.cosh({args[0].text}))**2", POWER),
    "bin_of": lambda args, params, needs: (f"np.searchsorted({args[1].text}, {args[0].text}, 'right') - 1", SUM),
    "named": lambda args, params, needs: (args[0].text, args[0].hold),
    **{
        name: _call(f"scipy.special.{name}")
        for name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn", "polygamma", "zeta", "sph_harm_y")
    },
}  # fmt: skip

TEMPLATES = {
    "reshape": "np.reshape({0}, {shape})",
    "flip": "np.flip({0}, {axis})", "roll": "np.roll({0}, {shift}, {axis})",
    "concatenate": "np.concatenate([{all}], {axis})", "stack": "np.stack([{all}], {axis})",
    "convolve": "np.convolve({0}, {1}, {mode})", "take_along": "np.take_along_axis({0}, {1}, {axis})",
    "cumsum": "np.cumsum({0}, {axis})", "argsort": "np.argsort({0}, {axis}, kind='stable')",
    "fraction": "np.modf({0})[0]", "exponent": "np.frexp({0})[1]", "round_to": "np.round({0}, {decimals})",
    "argsort_down": "np.argsort({0}, {axis}, stable=True, descending=True)", "isin": "np.isin({0}, {1}, kind={kind})",
    "endless": "np.where({1}, np.inf, {0})", "angle_of_real": "np.angle({0})", "round_number": "round({0}, {digits})",
    "peak": "np.max({0}, axis={axis}, keepdims=True)", "solve": "np.linalg.solve({0}, {1})",
    "inv": "np.linalg.inv({0})", "det": "np.linalg.det({0})", "slogdet": "np.linalg.slogdet({0})",
    "pinv": "np.linalg.pinv({0}, {1}, {hermitian})", "condition": "np.linalg.cond({0})",
    "matrix_rank": "np.linalg.matrix_rank({0}, {tol}, {hermitian}, rtol={rtol})",
    "least_squares": "np.linalg.lstsq({0}, {1}, {rcond})[0]", "eigh": "np.linalg.eigh({0}, {UPLO})",
    "eig": "np.linalg.eig({0})", "qr": "np.linalg.qr({0}, {mode})", "svd": "np.linalg.svd({0}, {full_matrices})",
    "steady": "np.where(np.equal({1}, 1), 0.0, np.ones_like({0}))",
    "rfft": "np.fft.rfft({0}, axis={axis}, norm={norm})", "irfft": "np.fft.irfft({0}, {n}, {axis}, {norm})",
    "argpartition": "np.argpartition({0}, {kth}, {axis}, {kind})", "lexsort": "np.lexsort(({all},), {axis})",
    "digitize": "np.digitize({0}, {1}, {right})", "nonzero": "np.stack(np.nonzero({0}))",
    "special.i0": "scipy.special.i0({0})", "special.round": "scipy.special.round({0})",
}  # fmt: skip

EMBEDDED = frozenset((
    "logistic", "put_along", "logsumexp", "product_of_others", "cofactors", "alike", "connected", "vanishing",
    "leaders", "partition_places", "unique", "triangular_solve", "sylvester",
))  # fmt: skip
"""Operations whose own code is put into the source: it is plain NumPy."""
