"""A block many times over, as a loop."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import adjoint as ad

from ...typing import Array, Key
from .. import checks
from ..init import as_key
from ..layer import described, layer, set_fields, static
from ..training import is_stochastic, training
from ..walking import is_array, is_trained, places
from .sequential import inside


@layer
class Repeat:
    """Blocks of one kind, one after another: the same as `nn.Sequential` of them, as a loop.

    Each array has the arrays of all blocks one behind another, on a first axis of length `depth`, and `ad.scan` goes
    over it. So what is compiled is one block, however many there are.

    Parameters
    ----------
    block : callable or layer, or sequence of layers
        `block(key)`, which makes a block from a key of `ad.random`; or a layer, of which there are `depth` copies that
        start alike; or the blocks themselves.
    depth : int, optional
        How many there are; what a sequence has by default.
    key : int or array of two uint64, optional
        A seed, or a key of `ad.random`, from which `block(key)` gets one for each block.

    Notes
    -----
    A block gives the shape that it takes. `model[k]` is block k, and `nn.Sequential(*model)` has them
    all apart. A bias of a block has two axes here, so what asks for the number of axes, as `only="matrices"` of
    `optim.adamw`, takes it for a matrix: write `only="*weight"` there.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import nn
    >>> model = nn.Repeat(lambda key: nn.TransformerBlock(16, 4, key=key), 12, key=0)
    >>> model(np.zeros((2, 5, 16))).shape, len(model), nn.parameters(model)["blocks.mlp.layers.0.weight"].shape
    ((2, 5, 16), 12, (12, 16, 64))
    """

    blocks: Any
    depth: int = static()

    delegates = True  # it behaves differently in training only if a layer inside does

    def __init__(
        self,
        block: Callable[..., Any] | Sequence[Any],
        depth: int | None = None,
        *,
        key: Key | None = None,
    ) -> None:
        blocks = _blocks(block, depth, key)
        set_fields(self, blocks=_stacked(blocks), depth=len(blocks))

    def __call__(self, x: Array) -> Any:
        """Apply the blocks in turn."""
        arrays, rebuild = self._apart()

        def step(x: Array, own: Any) -> tuple[Any, None]:
            with inside("blocks"):
                return _alike(x, rebuild(own)(x)), None

        y, _ = ad.scan(step, x, arrays, length=self.depth)
        return y

    def training(self, x: Array, key: Any) -> tuple[Any, Repeat]:
        """Apply the blocks in turn as in training; the second result has their new statistics."""
        arrays, rebuild = self._apart()
        draws = key is not None and is_stochastic(self.blocks)
        keys = ad.random.split(key, self.depth) if draws else np.zeros(self.depth)

        def step(x: Array, given: Any) -> tuple[Any, Any]:
            own, one = given
            with inside("blocks"):
                y, changed = training(rebuild(own), x, one if draws else None)
            return _alike(x, y), _others(changed)

        y, new = ad.scan(step, x, (arrays, keys))
        at, leaves, structure = places(self.blocks)
        rest = iter(new)
        kept = [next(rest) if _is_other(place, leaf) else leaf for place, leaf in zip(at, leaves, strict=True)]
        return y, dataclasses.replace(self, blocks=ad.tree.unflatten(structure, kept))  # type: ignore[type-var]

    def start(self, *args: Any, **options: Any) -> Any:
        """What `start` of a block gives, once for each block: the caches of `nn.TransformerBlock`."""
        first = self[0].start(*args, **options)
        return ad.tree.map(lambda leaf: np.stack([leaf] * self.depth), first)

    def extend(self, x: Array, cache: Any) -> tuple[Any, Any]:
        """The blocks in turn for the next places of sequences, with a cache each; and the new caches."""
        arrays, rebuild = self._apart()

        def step(x: Array, given: Any) -> tuple[Any, Any]:
            own, one = given
            y, new = rebuild(own).extend(x, one)
            return _alike(x, y), new

        y, new = ad.scan(step, x, (arrays, cache))
        return y, new

    def __getitem__(self, index: int) -> Any:
        """Block k."""
        k = range(self.depth)[index]
        arrays, rebuild = self._apart()
        return rebuild([leaf[k] for leaf in arrays])

    def __len__(self) -> int:
        return self.depth

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(self.depth)])

    def _apart(self) -> tuple[list[Any], Callable[[list[Any]], Any]]:
        """The arrays, and the function that makes a block of its own."""
        at, leaves, structure = places(self.blocks)
        are = [is_array(leaf, place) for place, leaf in zip(at, leaves, strict=True)]

        def rebuild(own: list[Any]) -> Any:
            rest = iter(own)
            return ad.tree.unflatten(
                structure, [next(rest) if a else leaf for a, leaf in zip(are, leaves, strict=True)]
            )

        return [leaf for a, leaf in zip(are, leaves, strict=True) if a], rebuild


def _others(block: Any) -> list[Any]:
    """The arrays of a block that are not trained."""
    at, leaves, _ = places(block)
    return [leaf for place, leaf in zip(at, leaves, strict=True) if _is_other(place, leaf)]


def _is_other(place: Any, leaf: Any) -> bool:
    return is_array(leaf, place) and not is_trained(place, leaf)


def _blocks(block: Any, depth: int | None, key: Any) -> list[Any]:
    """The blocks one by one."""
    if isinstance(block, (list, tuple)):
        blocks = list(block)
        if not blocks or (depth is not None and depth != len(blocks)):
            raise checks.refuse(
                "Repeat needs as many blocks as depth says.", f"block: {len(blocks)} of them, depth={depth}"
            )
        return blocks
    count = checks.count("Repeat", "depth", depth)
    if isinstance(block, type) or not callable(block):
        raise checks.refuse(
            "Repeat needs a block, or a function that makes one from a key.",
            described(block),
            "Write  nn.Repeat(lambda key: nn.TransformerBlock(16, 4, key=key), 12, key=0).",
        )
    if not ad.tree.structure(block).is_leaf():
        return [block] * count
    if key is None:
        raise checks.refuse(
            "Repeat needs a key for the blocks that the function makes.", "key=None", "Write  key=0,  or a key."
        )
    return [block(own) for own in ad.random.split(as_key(key), count)]


def _stacked(blocks: list[Any]) -> Any:
    """One block, whose arrays have those of all blocks."""
    if not all([callable(block) for block in blocks]):
        raise checks.refuse(
            "Repeat needs blocks that can be called: block(x).", f"block = {described(blocks[0])}", "Give layers."
        )
    at, first, structure = places(blocks[0])
    every = [places(block) for block in blocks]
    for k, (_, leaves, other) in enumerate(every):
        shapes = [(np.shape(a), np.shape(b)) for a, b in zip(first, leaves, strict=False)]
        if other != structure or any([a != b for a, b in shapes]):
            raise checks.refuse(
                "Repeat needs blocks that are alike: the same layers, shapes and options.",
                f"block {k} differs from block 0",
                "Put blocks that differ into  nn.Sequential.",
            )
    columns = zip(at, *[leaves for _, leaves, _ in every], strict=True)
    stacked = [np.stack(own) if is_array(own[0], place) else own[0] for place, *own in columns]
    return ad.tree.unflatten(structure, stacked)


def _alike(x: Array, y: Any) -> Any:
    """What a block gives, refused if the next one cannot take it."""
    if np.shape(x) != np.shape(y):
        raise checks.refuse(
            "A block of Repeat gives what it takes, so that the next one can go on from it.",
            f"shape {np.shape(x)} in, {np.shape(y)} out",
            "Put blocks of other shapes into  nn.Sequential.",
        )
    return y
