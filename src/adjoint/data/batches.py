"""`batches`: data in random batches, another order in every epoch, never more of it in memory than needed."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Count, Seed, checked
from .checks import check, check_lengths
from .frames import as_arrays
from .order import order
from .rows import rows_of
from .streams import is_stream, streamed


@checked("batch_size", "X", "y", size="batch_size=", random_state="seed=", chunks="data.batches(chunks, batch_size=32)")
def batches(
    X: Any,
    y: Any = None,
    batch_size: Count = 32,
    shuffle: bool = True,
    seed: Seed = 0,
    drop_last: bool = False,
    *,
    buffer: Count | None = None,
    checked: bool = True,
) -> Batches:
    """The data in batches: each `for` over it is one epoch, in another order than the last.

    An epoch passes every example once, in ceil(n / batch_size) batches. Its order is `data.order(n, seed, epoch)`.

    Parameters
    ----------
    X : array, containers of arrays, frame, iterable or callable
        The inputs, one row for each example. Of memory maps (and HDF5 or Zarr arrays) the rows of a batch are read when
        it is made, never the whole. An iterable gives chunks of any length, X or (X, y), which are streamed; a callable
        returns such an iterable anew for every epoch. Lists are data, not iterables of chunks.
    y : array, containers of arrays, frame, optional
        The targets. Without it, batches are parts of X alone, else pairs.
    batch_size : int, default 32
        How many examples a batch has.
    shuffle : bool, default True
        Whether the order is random. A stream is shuffled within blocks of `buffer` rows.
    seed : int, default 0
        Equal seeds give equal orders.
    drop_last : bool, default False
        Whether to leave out the last batch of an epoch if it has fewer than `batch_size` examples.
    buffer : int, optional
        How many rows of a stream are kept to be shuffled. Default 64 batches.
    checked : bool, default True
        Whether to look for nan and infinite numbers in arrays that are in memory.

    Returns
    -------
    Batches
        An iterable with a length (but for streams), and with `epoch(k)` for the batches of a certain epoch.

    Raises
    ------
    TypeError
        If an array holds objects or text instead of numbers.
    ValueError
        If there are no examples, lengths differ, or a number is nan or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import data
    >>> X, y = np.arange(10.0).reshape(5, 2), np.arange(5)
    >>> parts = data.batches(X, y, batch_size=2)
    >>> len(parts), [labels.tolist() for _, labels in parts]
    (3, [[2, 4], [3, 0], [1]])
    >>> [labels.tolist() for _, labels in parts]  # the next epoch
    [[1, 4], [3, 0], [2]]
    >>> [labels.tolist() for _, labels in parts.epoch(0)]  # a certain one
    [[2, 4], [3, 0], [1]]
    """
    size = _count(batch_size, "batch_size")
    options: dict[str, Any] = {"batch_size": size, "shuffle": bool(shuffle), "seed": seed, "drop_last": bool(drop_last)}
    if is_stream(X):
        block = _count(64 * size if buffer is None else buffer, "buffer")
        return Batches(_source(X, y), n=None, block=max(block, size), checked=checked, **options)
    X, y = as_arrays(X, "X"), as_arrays(y, "y")
    n = check(X, y) if checked else check_lengths(X, y)
    return Batches(X if y is None else (X, y), n=n, **options)


def _source(X: Any, y: Any) -> Any:
    """What gives the chunks; targets have to be in them."""
    if y is None:
        return X
    raise ValueError(
        ad.errors.message(
            "A stream of data gives its targets in its chunks.",
            got=f"X: {type(X).__name__}, and y: {type(y).__name__}",
            fix="Let the iterable give pairs (X, y), and leave y out.",
        )
    )


def _count(number: Any, name: str) -> int:
    """A whole number above 0."""
    try:
        found = operator.index(number)
    except TypeError:
        found = 0
    if found < 1 or isinstance(number, bool):
        raise ValueError(
            ad.errors.message(f"{name} has to be a whole number above 0.", got=f"{name}={number!r}", fix="32 is usual.")
        )
    return found


@dataclasses.dataclass(eq=False, repr=False)
class Batches:
    """What `data.batches` returns: an iterable over the batches of one epoch after the other.

    Parameters
    ----------
    source : array, containers of arrays, iterable or callable
        What the batches are parts of.
    n : int or None
        How many examples there are, None for a stream.
    batch_size : int
        How many examples a batch has.
    shuffle : bool
        Whether the order is random.
    seed : int
        The seed of the orders.
    drop_last : bool
        Whether a smaller last batch is left out.
    block : int, default 0
        How many rows of a stream are shuffled together.
    checked : bool, default True
        Whether chunks of a stream are checked for nan and infinite numbers.
    started : int, default 0
        How many epochs have been started: the number of the next one.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import data
    >>> data.batches(np.ones((100, 3)), batch_size=32)
    Batches(n=100, batch_size=32, shuffle=True, seed=0, drop_last=False)
    """

    source: Any
    n: int | None
    batch_size: int
    shuffle: bool
    seed: int
    drop_last: bool
    block: int = 0
    checked: bool = True
    started: int = dataclasses.field(default=0, compare=False)  # where it is, not what it is

    def __repr__(self) -> str:
        shown = ("n", "batch_size", "shuffle", "seed", "drop_last")
        return f"Batches({', '.join([f'{name}={getattr(self, name)}' for name in shown])})"

    def __len__(self) -> int:
        if self.n is None:
            raise TypeError(
                ad.errors.message("A stream of data has no known length.", fix="Count the batches as they come.")
            )
        return self.n // self.batch_size if self.drop_last else -(-self.n // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        self.started += 1
        return self._epoch(self.started - 1)

    def epoch(self, number: int) -> Iterator[Any]:
        """The batches of a certain epoch; a loop over the whole continues with the one after it.

        Parameters
        ----------
        number : int
            The number of the epoch, from 0.

        Returns
        -------
        iterator
            The batches, as iterating over the whole gives them in that epoch.

        Examples
        --------
        >>> import numpy as np
        >>> from adjoint import data
        >>> next(data.batches(np.arange(6.0), batch_size=3, seed=1).epoch(7))
        array([5., 4., 1.])
        """
        self.started = number + 1
        return self._epoch(number)

    def _epoch(self, number: int) -> Iterator[Any]:
        """One epoch; what is wrong with a stream is said here, before the first batch is asked for."""
        if self.n is not None:
            return self._of_arrays(self.n, number)
        draw = np.random.default_rng([self.seed, number]) if self.shuffle else None
        return streamed(
            self._chunks(), self.batch_size, draw=draw, block=self.block if self.shuffle else self.batch_size,
            drop_last=self.drop_last, checked=self.checked,
        )  # fmt: skip

    def _of_arrays(self, n: int, number: int) -> Iterator[Any]:
        places = order(n, self.seed, number) if self.shuffle else None
        for k in range(len(self)):
            here = slice(k * self.batch_size, min((k + 1) * self.batch_size, n))
            yield rows_of(self.source, here if places is None else places[here])

    def _chunks(self) -> Iterable[Any]:
        """The chunks of a stream, from its beginning."""
        if callable(self.source):
            return self.source()
        if not isinstance(self.source, Iterator):
            return self.source
        chunks, self.source = self.source, _used_up
        return chunks


def _used_up() -> Iterable[Any]:
    """In the place of an iterator that has been taken."""
    raise ValueError(
        ad.errors.message(
            "An iterator can be passed once, so there is no second epoch.",
            fix="Pass a function that returns a new one for each epoch:  data.batches(lambda: read(path)).",
        )
    )
