"""How many floating-point operations a step of a program takes: a small table, and loops by what is inside them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..ir.program import GUARD, Program, Step, Type
from ..rules.elementwise import Elementwise
from ..transforms.loop_schedule import advances
from .notebook import NAMED, is_elementwise

Shapes = Sequence[Type]

FREE = frozenset((
    "index", "reshape", "transpose", "broadcast_to", "astype", "concatenate", "stack", "flip", "roll", "take_along",
    "assign", "item", "stop_gradient", "real", "imag", "positive", "zeros", "last_writes", "nonzero",
))  # fmt: skip
"""Operations that move elements and compute nothing."""

PLAIN = frozenset((
    "divide", "absolute", "fabs", "square", "reciprocal", "copysign", "deg2rad", "rad2deg", "fmod", "remainder",
    "fraction", "ldexp",
))  # fmt: skip
"""Elementwise operations that are arithmetic, not a function such as exp."""


def operations(
    program: Program,
    steps: Iterable[Step] | None = None,
    values: Mapping[int, Any] | None = None,
    guessed: set[str] | None = None,
) -> Counter[str]:
    """The operations of a program, or of some of its steps, by the name of the primitive.

    An operation is one addition, multiplication, comparison, or one evaluation of an elementary or special function.
    `values` tell how often a `while_loop` has turned; inside other loops that is not known, and one turn is counted.
    What had to be taken like that is added to `guessed`.
    """
    found: Counter[str] = Counter()
    known = {**program.constants, **(values or {})}
    guesses = set() if guessed is None else guessed
    for step in program.steps if steps is None else steps:
        if step.primitive is GUARD or step.primitive is NAMED or step.primitive.name in FREE:
            continue
        inside = LOOPS.get(step.primitive.name)
        if inside is not None:
            found.update(inside(step, known, guesses))
        else:
            found[step.primitive.name] += _of_one(program, step)
    return found


GUESSES = {
    "while_loop": "A while_loop inside a loop or a choice is counted as one turn: how often it turns is not known.",
    "cond": "A choice inside a loop is counted as its dearest branch: which one is taken is not known.",
}
"""What to say where a count is not that of this very evaluation."""


def functions(counted: Counter[str], primitives: Iterable[Any]) -> dict[str, int]:
    """Those operations that are evaluations of a function such as exp or sin, which take longer than an addition."""
    names = {p.name for p in primitives if _is_function(p)}
    return {name: n for name, n in counted.most_common() if name in names and n}


def primitives_of(program: Program, steps: Iterable[Step] | None = None) -> list[Any]:
    """The primitives of the steps, and of the programs inside them."""
    found: dict[int, Any] = {}
    for step in program.steps if steps is None else steps:
        found[id(step.primitive)] = step.primitive
        for p in step.params.values():
            for inner in p if isinstance(p, tuple) else (p,):
                if isinstance(inner, Program):
                    found.update({id(q): q for q in primitives_of(inner)})
    return list(found.values())


def is_estimated(primitive: Any) -> bool:
    """Whether there is no entry for an operation: then one operation is counted for each number it gives."""
    if primitive is GUARD or primitive is NAMED or primitive.name in FREE:
        return False
    return primitive.name not in LOOPS and primitive.name not in TABLE and not is_elementwise(primitive)


def _is_function(primitive: Any) -> bool:
    return isinstance(getattr(primitive, "derivative", None), Elementwise) and primitive.name not in PLAIN


def _of_one(program: Program, step: Step) -> int:
    takes = [program.types[a] for a in step.args]
    gives = [program.types[o] for o in step.outs]
    rule = TABLE.get(step.primitive.name)
    return sum([t.size for t in gives]) if rule is None else round(rule(takes, gives, step.params))


# Loops: as often as they turn, what is inside


def _times(n: int, once: Counter[str]) -> Counter[str]:
    return Counter({name: n * count for name, count in once.items()})


def _scan(step: Step, values: Mapping[int, Any], guessed: set[str]) -> Counter[str]:
    return _times(step.params["length"], operations(step.params["body"], guessed=guessed))


def _while(step: Step, values: Mapping[int, Any], guessed: set[str]) -> Counter[str]:
    turns = _turns(step.outs[-1], values, guessed)
    asked = operations(step.params["cond"], guessed=guessed)
    return _times(turns, operations(step.params["body"], guessed=guessed)) + _times(turns + 1, asked)


def _turns(number: int, values: Mapping[int, Any], guessed: set[str]) -> int:
    if number not in values:
        guessed.add("while_loop")
    return int(values.get(number, 1))


def _cond(step: Step, values: Mapping[int, Any], guessed: set[str]) -> Counter[str]:
    """The branch that is taken, or the dearest one where that is not known."""
    chosen = values.get(step.args[0])
    if chosen is not None:
        return operations(step.params["branches"][int(chosen)], guessed=guessed)
    guessed.add("cond")
    return max([operations(b, guessed=guessed) for b in step.params["branches"]], key=lambda counted: counted.total())


def _unwound(step: Step, values: Mapping[int, Any], guessed: set[str]) -> Counter[str]:
    """A walk back through a loop that stored few of its carries, or none: turns are taken again, by the schedule."""
    p = step.params
    turns, slots = _turns(step.args[0], values, guessed), 0
    if p["memory"]:
        first = p["n_body"] + p["n_consts"]
        carry = [p["body"].types[n] for n in p["body"].inputs[first : first + p["n_carry"]]]
        slots = max(p["memory"] // max(sum([t.size * t.dtype.itemsize for t in carry]), 1), 1)
    again = advances(turns, slots or max(turns, 1))
    back = operations(p["back"], guessed=guessed)
    return _times(turns, back) + _times(again, operations(p["body"], guessed=guessed))


LOOPS: dict[str, Callable[[Step, Mapping[int, Any], set[str]], Counter[str]]] = {
    "scan": _scan, "while_loop": _while, "cond": _cond, "while_pull": _unwound, "scan_pull": _unwound,
}  # fmt: skip


# Everything else that is not elementwise. The constants are those of Golub and Van Loan, and of Higham for functions
# of matrices.


def _each_element(takes: Shapes, gives: Shapes, params: dict[str, Any]) -> float:
    return takes[0].size


def _matmul(takes: Shapes, gives: Shapes, params: dict[str, Any]) -> float:
    return 2 * gives[0].size * takes[0].shape[-1]


def _contract(takes: Shapes, gives: Shapes, params: dict[str, Any]) -> float:
    """Every combination of labels is a product; it is an addition too if something is summed."""
    sizes: dict[str, int] = {}
    for labels, t in zip((params["first"], params["second"]), takes, strict=True):
        for label, n in zip(labels, t.shape, strict=True):
            sizes[label] = max(n, sizes.get(label, 1))
    return math.prod(sizes.values()) * (1 if set(sizes) == set(params["result"]) else 2)


def _convolve(takes: Shapes, gives: Shapes, params: dict[str, Any]) -> float:
    each = takes[1].size if params["mode"] == "full" else gives[0].size
    return 2 * each * (takes[0].size if params["mode"] == "full" else takes[1].size)


def _scatter(takes: Shapes, gives: Shapes, params: dict[str, Any]) -> float:
    """Adding at places; where they are a slice, elements are only moved."""
    return takes[0].size if len(takes) > 1 else 0


def _sort(takes: Shapes, gives: Shapes, params: dict[str, Any]) -> float:
    return takes[0].size * math.log2(max(takes[0].shape[-1] if takes[0].shape else 1, 2))


def _search(takes: Shapes, gives: Shapes, params: dict[str, Any]) -> float:
    return gives[0].size * math.log2(max(min(t.size for t in takes), 2))


def _fourier(takes: Shapes, gives: Shapes, params: dict[str, Any]) -> float:
    """5 n log2 n, and half of that for real numbers."""
    t = takes[0] if takes[0].size >= gives[0].size else gives[0]
    axes = params["axes"] if "axes" in params else (params["axis"],)
    length = math.prod([t.shape[a] for a in axes])
    half = 0.5 if "axes" not in params else 1
    return half * 5 * t.size * math.log2(max(length, 2))


def _cubic(constant: float) -> Callable[[Shapes, Shapes, dict[str, Any]], float]:
    """So many n³, for each matrix of a batch."""
    return lambda takes, gives, params: constant * takes[0].size * takes[0].shape[-1]


def _solve(takes: Shapes, gives: Shapes, params: dict[str, Any]) -> float:
    """An LU decomposition, and two triangular systems for each right-hand side."""
    return 2 / 3 * takes[0].size * takes[0].shape[-1] + 2 * gives[0].size * takes[0].shape[-1]


def _tall(formula: Callable[[int, int], float]) -> Callable[[Shapes, Shapes, dict[str, Any]], float]:
    """A formula of the longer and the shorter side, for each matrix of a batch."""

    def counted(takes: Shapes, gives: Shapes, params: dict[str, Any]) -> float:
        *batch, rows, columns = takes[0].shape
        return math.prod(batch) * formula(max(rows, columns), min(rows, columns))

    return counted


TABLE: dict[str, Callable[[Shapes, Shapes, dict[str, Any]], float]] = {
    **dict.fromkeys(("sum", "prod", "max", "min", "any", "all", "cumsum", "argmax", "argmin"), _each_element),
    "logsumexp": lambda takes, gives, params: 4 * takes[0].size + 2 * gives[0].size,
    "product_of_others": lambda takes, gives, params: 3 * takes[0].size,
    "matmul": _matmul,
    "contract": _contract,
    "convolve": _convolve,
    **dict.fromkeys(("unindex", "put_along"), _scatter),
    **dict.fromkeys(("argsort", "lexsort", "unique", "partition_places"), _sort),
    **dict.fromkeys(("searchsorted", "digitize"), _search),
    "argpartition": _each_element,
    **dict.fromkeys(("fft", "ifft", "rfft", "irfft"), _fourier),
    "cholesky": _cubic(1 / 3),
    "det": _cubic(2 / 3),
    "slogdet": _cubic(2 / 3),
    "inv": _cubic(2),
    "solve": _solve,
    "eigh": _cubic(9),
    "eig": _cubic(25),
    "expm": _cubic(2 * 6 + 8 / 3),
    "logm": _cubic(25),
    "sqrtm": _cubic(28 + 1 / 3),
    "qr": _tall(lambda m, n: 4 * m * n**2 - 4 / 3 * n**3),
    "svd": _tall(lambda m, n: 4 * m**2 * n + 8 * m * n**2 + 9 * n**3),
    "cofactors": _tall(lambda m, n: 4 * m**2 * n + 8 * m * n**2 + 13 * n**3),
    "pinv": _tall(lambda m, n: 6 * m**2 * n + 8 * m * n**2 + 9 * n**3),
    "matrix_rank": _tall(lambda m, n: 4 * m * n**2 - 4 / 3 * n**3),
    "least_squares": _tall(lambda m, n: 4 * m * n**2 + 8 * n**3),
}
"""Operations of a step, from the types that it takes and gives and from its parameters."""
