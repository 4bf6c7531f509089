"""The law of batches with plain and batched arguments mixed: op(stack(xs), y) == stack([op(x, y) for x in xs])."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.core.tree import flatten
from adjoint.testing.check import random_like


def mixtures(count: int) -> Iterator[tuple[bool, ...]]:
    """Which arguments are batched: each alone, all but each, all."""
    found = {tuple([k == one for k in range(count)]) for one in range(count)}
    found |= {tuple([k != one for k in range(count)]) for one in range(count) if count > 1}
    yield from sorted(found | {(True,) * count})


def sizes(args: tuple[Any, ...]) -> list[int]:
    """Batch sizes to try: equal to the last axis of the data, which a wrong broadcast would take it for, and not."""
    lengths = [n for x in flatten(args)[0] for n in np.shape(x)]
    equal = max(lengths, default=1)
    return [next(n for n in (2, 3, 4, 5, 6, 7, 8, 9) if n not in lengths), *([equal] if 1 < equal < 30 else [])]


def check_mixture(function: Callable[..., Any], args: tuple[Any, ...], batched: tuple[bool, ...], size: int) -> None:
    """Values, gradients inside a batch and gradients of a batch, by `vmap` and one by one."""
    examples = _examples(args, batched, size)
    axes = tuple([0 if b else None for b in batched])
    together = tuple(
        [_stack(xs) if b else a for a, b, xs in zip(args, batched, zip(*examples, strict=True), strict=True)]
    )
    weight = random_like(function(*args), np.random.default_rng(0))

    def gradient(*given: Any) -> Any:
        return ad.vjp(function, *given)[1](weight)

    values = [function(*e) for e in examples]
    _same("value", ad.vmap(function, axes)(*together), [np.stack(x) for x in zip(*map(_arrays, values), strict=True)])
    gradients = [gradient(*e) for e in examples]
    each = [np.stack(x) for x in zip(*map(_arrays, gradients), strict=True)]
    _same("gradient inside", ad.vmap(gradient, axes)(*together), each)

    _, pullback = ad.vjp(ad.vmap(function, axes), *together)
    leaves, rebuild = flatten(weight)
    outside = pullback(rebuild([np.broadcast_to(w, (size, *np.shape(w))).copy() for w in leaves]))
    flags = flatten([flatten(a)[1]([b] * len(flatten(a)[0])) for a, b in zip(args, batched, strict=True)])[0]
    _same("gradient outside", outside, [x if b else x.sum(0) for x, b in zip(each, flags, strict=True)])


def _examples(args: tuple[Any, ...], batched: tuple[bool, ...], size: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(1)
    return [tuple([_near(a, rng) if b else a for a, b in zip(args, batched, strict=True)]) for _ in range(size)]


def _near(arg: Any, rng: np.random.Generator) -> Any:
    leaves, rebuild = flatten(arg)
    return rebuild([x * (1 + 0.03 * rng.uniform(size=np.shape(x))) for x in leaves])


def _stack(examples: tuple[Any, ...]) -> Any:
    leaves = zip(*[flatten(e)[0] for e in examples], strict=True)
    return flatten(examples[0])[1]([np.stack(x) for x in leaves])


def _arrays(tree: Any) -> list[np.ndarray]:
    return [np.asarray(x) for x in flatten(tree)[0]]


def _same(what: str, got: Any, wanted: list[np.ndarray]) -> None:
    for a, b in zip(_arrays(got), wanted, strict=True):
        assert a.shape == b.shape, f"{what}: shape {a.shape} instead of {b.shape}"
        assert a.dtype == b.dtype, f"{what}: dtype {a.dtype} instead of {b.dtype}"
        atol = 1e-9 * (1 + np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=atol, err_msg=what)
