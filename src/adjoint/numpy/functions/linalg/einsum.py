"""`np.einsum`: diagonals and own sums of each operand first, then contractions of two at a time."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.values import dtype_of, shape_of
from ....ops.contraction import LABELS, contract
from ...dispatch.arguments import as_value, given, ndim_of, number
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements

SMALL = 3
"""Up to so many operands are contracted from left to right."""


@implements(np.einsum)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **keywords: Any) -> Any:
    """`np.einsum`, in all its forms of subscripts."""
    if len(operands) == 3 and type(operands[0]) is str and not keywords and not given(out):
        quick = _plain_pair(operands[0])
        x, y = as_value(operands[1]), as_value(operands[2])
        if quick and _fits(quick, shape_of(x), shape_of(y)):
            return contract(x, y, first=quick[0], second=quick[1], result=quick[2])
    terms, result, values = parsed(operands)
    if given(keywords.get("dtype")):
        values = [np.astype(v, keywords["dtype"]) for v in values]
    for value, term in zip(values, terms, strict=True):
        if ndim_of(value) != len(term):
            raise ValueError(
                f"einstein sum subscripts string has {len(term)} labels for an operand of {ndim_of(value)} axes"
            )
    values, terms = _without_ones(values, terms, _sizes(values, terms))
    pairs = [_own(v, t, _wanted(terms, k, result)) for k, (v, t) in enumerate(zip(values, terms, strict=True))]
    for places in _order(pairs, result):
        chosen = [pairs[i] for i in places]
        pairs = [p for i, p in enumerate(pairs) if i not in places]
        later = set(result).union(*[term for _, term in pairs])
        pairs.append(_joined(chosen[0], chosen[1], later))
    value, term = pairs[0]
    return deliver(number(np.transpose(value, [term.index(c) for c in result])), out)


@functools.lru_cache(maxsize=512)
def _plain_pair(subscripts: str) -> tuple[str, str, str] | None:
    """The labels of a product of two without ellipsis, diagonals or own sums, which needs nothing but a contraction."""
    inputs, arrow, result = subscripts.replace(" ", "").partition("->")
    if not arrow:
        counts = Counter(inputs.replace(",", ""))
        result = "".join(sorted([c for c in counts if counts[c] == 1]))
    first, _, second = inputs.partition(",")
    parts = (first, second, result)
    is_plain = all(part.isalpha() or not part for part in parts) and all(len(set(p)) == len(p) for p in parts)
    counts = Counter(first + second + result)
    return parts if is_plain and set(result) <= set(first + second) and min(counts.values(), default=2) > 1 else None


def _fits(labels: tuple[str, str, str], first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Whether the shapes have as many axes as labels, and the same length for the same label."""
    if len(first) != len(labels[0]) or len(second) != len(labels[1]):
        return False
    size = dict(zip(labels[0], first, strict=True))
    return all(size.get(c, n) == n for c, n in zip(labels[1], second, strict=True))


def parsed(operands: tuple[Any, ...]) -> tuple[list[str], str, list[Any]]:
    """Subscripts as letters only, without ellipses, and the operands."""
    if not isinstance(operands[0], str):
        operands = _from_lists(operands)
    subscripts, values = operands[0].replace(" ", ""), [as_value(v) for v in operands[1:]]
    inputs, arrow, result = subscripts.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(values):
        raise ValueError("the number of operands and of subscripts differ")
    ranks = [ndim_of(v) - len(t.replace("...", "")) if "..." in t else 0 for v, t in zip(values, terms, strict=True)]
    spare = [c for c in LABELS if c not in subscripts][: max(ranks)]
    letters = "".join(spare)
    terms = [t.replace("...", letters[len(letters) - rank :]) for t, rank in zip(terms, ranks, strict=True)]
    if arrow:
        result = result.replace("...", letters)
    else:
        counts = Counter("".join(terms))
        result = letters + "".join(sorted([c for c in counts if counts[c] == 1 and c not in letters]))
    for c in result:
        if not any(c in t for t in terms) or result.count(c) > 1:
            raise ValueError(f"einstein sum subscripts string has the output label {c!r} twice, or in no operand")
    return terms, result, values


def _from_lists(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """`einsum(a, [0, 1], b, [1, 2], [0, 2])` as `einsum("ab,bc->ac", a, b)`; labels are ordered as the numbers are."""
    has_result = len(operands) % 2 == 1
    pairs = operands[: len(operands) - has_result]
    sublists = [*pairs[1::2], *operands[len(pairs) :]]
    numbers = sorted({int(n) for sublist in sublists for n in sublist if n is not Ellipsis})
    letter = dict(zip(numbers, sorted(LABELS), strict=False))
    terms = ["".join(["..." if n is Ellipsis else letter[int(n)] for n in sublist]) for sublist in sublists]
    subscripts = ",".join(terms[:-1]) + "->" + terms[-1] if has_result else ",".join(terms)
    return (subscripts, *pairs[0::2])


def _sizes(values: Sequence[Any], terms: Sequence[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for value, term in zip(values, terms, strict=True):
        for c, n in zip(term, shape_of(value), strict=True):
            if n != sizes.get(c, n) and 1 not in (n, sizes[c]):
                raise ValueError(
                    f"operands could not be broadcast together: the label {c!r} has sizes {sizes[c]} and {n}"
                )
            sizes[c] = n if sizes.get(c, 1) == 1 else sizes[c]
    return sizes


def _without_ones(values: Sequence[Any], terms: Sequence[str], sizes: dict[str, int]) -> tuple[list[Any], list[str]]:
    """Drop axes of length 1 that stand for a longer one elsewhere."""
    kept = [
        [i for i, (c, n) in enumerate(zip(t, shape_of(v), strict=True)) if n == sizes[c]]
        for v, t in zip(values, terms, strict=True)
    ]
    reshaped = [
        v if len(k) == len(t) else np.reshape(v, tuple([shape_of(v)[i] for i in k]))
        for v, t, k in zip(values, terms, kept, strict=True)
    ]
    return reshaped, ["".join([t[i] for i in k]) for t, k in zip(terms, kept, strict=True)]


def _wanted(terms: Sequence[str], k: int, result: str) -> set[str]:
    return set(result).union(*[t for i, t in enumerate(terms) if i != k])


def _own(value: Any, term: str, wanted: set[str]) -> tuple[Any, str]:
    """Take diagonals of repeated labels, and sum over those that nobody else has."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            first, second = term.index(c), term.rindex(c)
            n, lead = shape_of(value)[first], [i for i in range(len(term)) if i not in (first, second)]
            moved = np.transpose(value, [*lead, first, second])
            flat = np.reshape(moved, (*shape_of(moved)[:-2], n * n))
            value, term = flat[..., :: n + 1], "".join([term[i] for i in lead]) + c
    alone = tuple([i for i, c in enumerate(term) if c not in wanted])
    if alone:
        value, term = np.sum(value, axis=alone), "".join([c for c in term if c in wanted])
    return value, term


def _order(pairs: Sequence[tuple[Any, str]], result: str) -> list[tuple[int, ...]]:
    """Which operands to contract, step by step; a contracted pair goes to the end."""
    if len(pairs) < SMALL:
        return [(0, 1)] if len(pairs) == 2 else []
    subscripts = ",".join([t for _, t in pairs]) + "->" + result
    stand_ins = [np.broadcast_to(np.empty((), dtype_of(v)), shape_of(v)) for v, _ in pairs]
    path = np.einsum_path(subscripts, *stand_ins, optimize="greedy")[0][1:]
    steps: list[tuple[int, ...]] = []
    for places in path:
        # a step of three or more is taken in pairs: the last two first, then their product with the one before
        rest = sorted(places)
        while len(rest) > 1:
            last, before = rest.pop(), rest.pop()
            steps.append((before, last))
            count = len(pairs) - len(steps)
            rest = [*rest, count - 1] if rest else rest
    return steps


def _joined(x: tuple[Any, str], y: tuple[Any, str], later: set[str]) -> tuple[Any, str]:
    """The contraction of two, keeping the labels that are still wanted."""
    (a, first), (b, second) = x, y
    a, first = _own(a, first, later | set(second))
    b, second = _own(b, second, later | set(first))
    kept = "".join([c for c in dict.fromkeys(first + second) if c in later])
    return contract(a, b, first=first, second=second, result=kept), kept
