"""Splitting, one-hot rows, weights of classes, standardisation, frames: as scikit-learn and pandas have them."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_class_weight

import adjoint as ad
from adjoint import data

R = np.random.default_rng(0)
X = R.normal(size=(50, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -3.0]


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 60), st.floats(0.01, 0.99), st.integers(0, 5))
def test_split_is_a_partition(n, test, seed):
    """Each example is in one part, with its target; the test set is rounded up, as scikit-learn does."""
    held = int(np.ceil(test * n))
    if held == n:
        return
    x = R.normal(size=(n, 2))
    x_train, x_test, train, tested = data.split(x, np.arange(n), test_size=test, seed=seed)
    assert len(tested) == held
    assert sorted([*train, *tested]) == list(range(n))
    np.testing.assert_array_equal(x[train], x_train)
    np.testing.assert_array_equal(x[tested], x_test)
    np.testing.assert_array_equal(data.split(np.arange(n), test_size=held, seed=seed)[1], tested)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=4, max_size=60), st.floats(0.1, 0.9))
def test_split_by_labels_keeps_their_shares(labels, test):
    """To less than one example for each label."""
    labels = np.array(labels)
    held = int(np.ceil(test * len(labels)))
    if held == len(labels):
        return
    train, tested = data.split(np.arange(len(labels)), test_size=test, stratify=labels)
    assert sorted([*train, *tested]) == list(range(len(labels)))
    wanted = np.bincount(labels, minlength=4) * held / len(labels)
    assert (np.abs(np.bincount(labels[tested], minlength=4) - wanted) < 1).all()


def test_split_of_containers_and_texts_as_strata():
    """Whatever can be compared is a label to stratify by."""
    parts = data.split({"a": X}, test_size=0.5, stratify=np.array(["no", "yes"] * 25))
    assert [len(part["a"]) for part in parts] == [25, 25]


def test_one_hot():
    """Of labels of any shape and integer type, traced ones too."""
    labels = R.integers(0, 4, (5, 2))
    np.testing.assert_array_equal(data.one_hot(labels, 4), np.eye(4)[labels])
    assert data.one_hot(labels.astype(np.uint8), 6, dtype=np.float32).shape == (5, 2, 6)
    assert data.one_hot(3).tolist() == [0, 0, 0, 1]
    np.testing.assert_array_equal(ad.jit(lambda y: data.one_hot(y, 4))(labels), np.eye(4)[labels])


def test_class_weights_are_balanced():
    """As scikit-learn's; a class without examples has weight 0."""
    labels = np.array([0, 0, 0, 1, 3, 3])
    want = compute_class_weight("balanced", classes=np.array([0, 1, 3]), y=labels)
    np.testing.assert_allclose(data.class_weights(labels)[[0, 1, 3]], want)
    assert data.class_weights(labels, 5)[[2, 4]].tolist() == [0, 0]
    assert data.class_weights(labels)[labels].mean() == pytest.approx(1)


def test_standardize():
    """As scikit-learn's; fitted once and applied to others; undone."""
    standard, want = data.standardize(X[:40]), StandardScaler().fit(X[:40])
    np.testing.assert_allclose(standard.apply(X[40:]), want.transform(X[40:]))
    np.testing.assert_allclose(standard.undo(standard.apply(X)), X)
    single = data.standardize(np.float32(X))
    assert single.apply(np.float32(X)).dtype == single.mean.dtype == np.float32
    assert standard.apply(np.float32(X)).dtype == np.float32
    np.testing.assert_allclose(ad.jit(standard.apply)(X), standard.apply(X))
    np.testing.assert_allclose(ad.jit(lambda s, x: s.apply(x))(standard, X), standard.apply(X))


def test_standardize_constant_columns_and_integers():
    """A constant column becomes 0, and stays exactly so; integers become floats."""
    x = np.stack([np.full(7, 0.1), np.arange(7.0)], axis=1)
    found = data.standardize(x)
    assert (found.apply(x)[:, 0] == 0).all()
    assert found.scale[0] == 1
    assert data.standardize(np.arange(6).reshape(3, 2)).apply(np.arange(6).reshape(3, 2)).dtype == np.float64


def test_standardize_channels():
    """Means over several axes: one for each channel of a picture."""
    images = R.normal(size=(5, 4, 4, 3)) + np.array([1.0, 2.0, 3.0])
    found = data.standardize(images, axis=(0, 1, 2))
    np.testing.assert_allclose(found.mean, images.mean((0, 1, 2)))
    np.testing.assert_allclose(found.apply(images).std((0, 1, 2)), 1)
    np.testing.assert_allclose(found.undo(found.apply(images)), images)


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def library(request):
    """A package that has frames."""
    return pytest.importorskip(request.param)


def frame_of(library, columns):
    return library.table(columns) if library.__name__ == "pyarrow" else library.DataFrame(columns)


def test_frames_are_arrays(library):
    """All numeric columns side by side; missing numbers are nan; a series is one axis."""
    frame = frame_of(library, {"a": [1, 2, 3], "b": [0.5, 1.5, 2.5], "c": [True, False, True]})
    np.testing.assert_array_equal(data.as_arrays(frame), [[1, 0.5, 1], [2, 1.5, 0], [3, 2.5, 1]])
    np.testing.assert_array_equal(data.as_arrays({"x": frame["a"]})["x"], [1, 2, 3])
    assert data.as_arrays(frame["a"]).dtype == np.int64
    missing = frame_of(library, {"a": [1, None, 3], "b": [0.5, 1.5, None]})
    np.testing.assert_array_equal(data.as_arrays(missing), [[1, 0.5], [np.nan, 1.5], [3, np.nan]])
    parts = list(data.batches(frame, frame["a"], batch_size=2))
    assert [x.shape for x, _ in parts] == [(2, 3), (1, 3)]
    assert all((x[:, 0] == y).all() for x, y in parts)
    assert [len(part) for part in data.split(frame, frame["a"], test_size=1)] == [2, 1, 2, 1]


def test_lazy_frames_are_collected():
    """Those of polars."""
    polars = pytest.importorskip("polars")
    np.testing.assert_array_equal(data.as_arrays(polars.LazyFrame({"a": [1, 2]})), [[1], [2]])


def test_single_precision_frames_stay():
    """A frame of float32 is an array of float32."""
    assert data.as_arrays(pd.DataFrame({"a": np.float32([1, 2]), "b": np.float32([1, 2])})).dtype == np.float32


def test_without_narwhals(monkeypatch):
    """The error says what to install, and what to do without."""
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(ImportError, match=r"pip install 'adjoint\[data\]'"):
        data.as_arrays(pd.DataFrame({"a": [1]}))
