"""Batches: every example once in an epoch, in an order that seed and epoch determine, from whatever holds the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjoint as ad
from adjoint import data

X, Y = np.arange(20.0).reshape(10, 2), np.arange(10)


def labels(epoch):
    """The labels of an epoch, batch by batch."""
    return [y.tolist() for _, y in epoch]


def test_order_is_the_permutation_of_seed_and_epoch():
    """Nothing else: so a run that was broken off continues as if it had not been."""
    np.testing.assert_array_equal(data.order(10, 3, 4), np.random.default_rng([3, 4]).permutation(10))
    assert not np.array_equal(data.order(10, 3, 4), data.order(10, 3, 5))
    assert not np.array_equal(data.order(10, 3, 4), data.order(10, 4, 4))


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.integers(1, 12), st.booleans(), st.booleans(), st.integers(0, 3))
def test_an_epoch_is_one_pass(n, size, shuffle, drop_last, epoch):
    """ceil(n / size) batches, or floor if the last is dropped; each row once, X and y together."""
    parts = data.batches(np.arange(n)[:, None] * 1.0, np.arange(n), size, shuffle, 7, drop_last)
    found = list(parts.epoch(epoch))
    assert len(found) == len(parts) == (n // size if drop_last else -(-n // size))
    assert all(len(x) == len(y) for x, y in found)
    assert all(len(y) == size for _, y in found[:-1])
    places = np.concatenate([y for _, y in found]) if found else np.empty(0, int)
    wanted = data.order(n, 7, epoch) if shuffle else np.arange(n)
    np.testing.assert_array_equal(places, wanted[: len(places)])
    assert all(np.array_equal(x[:, 0], y) for x, y in found)


def test_every_loop_is_another_epoch():
    """And `epoch(k)` goes to a certain one, after which loops go on."""
    parts = data.batches(X, Y, batch_size=4)
    first, second = labels(parts), labels(parts)
    assert first != second
    again = data.batches(X, Y, batch_size=4)
    assert labels(again.epoch(1)) == second
    assert labels(again) == labels(parts)
    assert labels(again.epoch(0)) == first
    assert labels(data.batches(X, Y, batch_size=4, shuffle=False)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_without_targets_batches_are_inputs():
    """Arrays, not pairs."""
    (whole,) = data.batches(X, batch_size=10, shuffle=False)
    np.testing.assert_array_equal(whole, X)


def test_containers_of_arrays():
    """Keep their form; lists are data, not containers."""
    parts = data.batches({"left": X, "right": (X[:, 0], X[:, 1])}, {"y": Y}, batch_size=3, seed=1)
    for x, y in parts:
        np.testing.assert_array_equal(x["left"], X[y["y"]])
        np.testing.assert_array_equal(x["right"][1], X[y["y"], 1])
    (x, y), *_ = data.batches(X.tolist(), Y.tolist(), batch_size=10)
    np.testing.assert_array_equal(x, X[y])


def test_batches_of_arrays_are_copies_when_shuffled():
    """Writing to a batch does not change the data."""
    for x, _ in data.batches(X, Y):
        x[:] = -1
    assert X.min() == 0


def test_memory_maps_are_read_batch_by_batch(tmp_path):
    """As plain arrays, which jit takes; only the rows that are asked for."""
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for shuffle in (True, False):
        for x, y in data.batches(mapped, Y, batch_size=3, shuffle=shuffle):
            assert type(x) is np.ndarray
            np.testing.assert_array_equal(x, X[y])
            ad.jit(np.sum)(x)


class Read:
    """An array in a file, as HDF5 has it: rows in rising order only; it notes how many were read at once."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.most = array, array.shape, array.dtype, 0

    def __getitem__(self, places):
        rows = self.array[places]
        assert isinstance(places, slice) or (np.diff(places) > 0).all()
        self.most = max(self.most, len(rows))
        return rows


def test_arrays_in_files_are_never_read_whole():
    """Nor are they looked through for nan."""
    read = Read(np.where(X == 3, np.nan, X))
    for x, y in data.batches(read, Y, batch_size=3):
        np.testing.assert_array_equal(x, read.array[y])
    assert read.most == 3


def test_sparse_matrices_are_filled_up():
    """Row by row, in batches."""
    sparse = pytest.importorskip("scipy.sparse").csr_array(X)
    for x, y in data.batches(sparse, Y, batch_size=3):
        np.testing.assert_array_equal(x, X[y])


def chunks(lengths=(3, 1, 4, 2)):
    """The data in pieces."""
    start = 0
    for length in lengths:
        yield X[start : start + length], Y[start : start + length]
        start += length


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("buffer", [1, 5, 100])
@pytest.mark.parametrize("shuffle", [False, True])
def test_streams(shuffle, buffer, drop_last):
    """Chunks of any length become batches of one; each row once; in order if not shuffled."""
    parts = data.batches(chunks, batch_size=4, shuffle=shuffle, drop_last=drop_last, buffer=buffer)
    found = list(parts)
    assert [len(y) for _, y in found] == [4, 4, 2][: 2 if drop_last else 3]
    places = np.concatenate([y for _, y in found])
    assert len(set(places.tolist())) == len(places)
    assert shuffle or places.tolist() == Y[: len(places)].tolist()
    assert all(np.array_equal(x, X[y]) for x, y in found)
    again = data.batches(chunks, batch_size=4, shuffle=shuffle, drop_last=drop_last, buffer=buffer)
    assert labels(again) == labels(found)
    assert labels(again) == labels(parts)
    assert labels(parts.epoch(0)) == labels(found)


def test_an_iterable_of_chunks_is_taken_anew():
    """A loader of another library, say."""

    class Loader:
        def __iter__(self):
            return chunks()

    parts = data.batches(Loader(), batch_size=4, shuffle=False)
    assert labels(parts) == labels(parts) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_stream_is_not_read_ahead():
    """More than a block of rows is never kept."""
    given = []

    def endless():
        while True:
            given.append(1)
            yield X

    parts = iter(data.batches(endless, batch_size=5, buffer=30))
    next(parts)
    assert len(given) == 3


def test_streams_of_inputs_alone_and_of_frames():
    """A chunk is a pair, or inputs; a frame is taken as arrays."""
    (x, *_) = data.batches(iter([X, X]), batch_size=20, shuffle=False)
    np.testing.assert_array_equal(x, np.concatenate([X, X]))
    pandas = pytest.importorskip("pandas")
    (x, y), *_ = data.batches(iter([(pandas.DataFrame(X), pandas.Series(Y))]), batch_size=20, shuffle=False)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)
