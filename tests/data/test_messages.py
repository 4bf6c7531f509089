"""What is refused: every message word by word."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from adjoint import data

X, Y = np.ones((5, 2)), np.arange(5)
HOLE = X.copy()
HOLE[3, 1] = HOLE[4, 0] = np.nan
FILL = "Leave these rows out, or fill them in, as  np.nan_to_num  or scikit-learn's  SimpleImputer  do."
NUMBERS = (
    "Rows of different lengths have to be padded; text and categories have to be numbered, as by "
    "np.unique(y, return_inverse=True)[1]",
    "or  data.one_hot.",
)
COLUMN = (
    "Leave it out, number its values with  np.unique(values, return_inverse=True)[1],  or write one column for each of "
    "them with  data.one_hot."
)


def second_epoch():
    parts = data.batches(iter([X]))
    list(parts)
    list(parts)


ERRORS = {
    "lengths": (
        lambda: data.batches(X, Y[:4]),
        ValueError,
        "X and y need the same number of rows, one for each example.",
        "got X of shape (5, 2) and y of shape (4,)",
        "Wanted y with 5 rows.",
    ),
    "lengths in a dict": (
        lambda: data.batches({"a": X, "b": X[:3]}),
        ValueError,
        "X.a and X.b need the same number of rows, one for each example.",
        "got X.a of shape (5, 2) and X.b of shape (3, 2)",
        "Wanted X.b with 5 rows.",
    ),
    "no examples": (
        lambda: data.batches(X[:0], Y[:0]),
        ValueError,
        "There are no examples in the data.",
        "got X of shape (0, 2)",
        "Look at the filter or the file that the data come from.",
    ),
    "no arrays": (
        lambda: data.batches({}),
        ValueError,
        "There is no array in the data.",
        "got X: dict",
        "Pass an array with one row for each example.",
    ),
    "a number": (
        lambda: data.check(X, np.array(3.0)),
        ValueError,
        "y needs one row for each example.",
        "got y: a single float64",
        "Wanted an array of shape (n, ...);  y[None]  is one example.",
    ),
    "nan": (
        lambda: data.batches(HOLE, Y),
        ValueError,
        "X must not have nan or infinite numbers.",
        "got nan in row 3, column 1, and 1 more",
        FILL,
    ),
    "infinity in targets": (
        lambda: data.batches(X, np.array([0.0, 1.0, -np.inf, 0.0, 0.0])),
        ValueError,
        "y must not have nan or infinite numbers.",
        "got -inf in row 2",
        FILL,
    ),
    "nan in pictures": (
        lambda: data.check(np.full((2, 3, 3), np.nan)),
        ValueError,
        "X must not have nan or infinite numbers.",
        "got nan in row 0, axis 1 0, axis 2 0, and 17 more",
        FILL,
    ),
    "a ragged list": (
        lambda: data.batches([[1.0], [1.0, 2.0]]),
        ValueError,
        "X needs rows of one length.",
        "got X: a list whose items differ in shape",
        "Pad them; or pass  iter(chunks)  if these are pieces of the data, each of many rows.",
    ),
    "no array": (
        lambda: data.batches("rows.csv"),
        TypeError,
        "X has to be an array.",
        "got X: str",
        "Pass arrays, containers of arrays, a frame, or an iterator of chunks.",
    ),
    "masked numbers": (
        lambda: data.batches(np.ma.masked_equal([1, 2, 3], 2)),
        ValueError,
        "X must not have nan or infinite numbers.",
        "got nan in row 1",
        FILL,
    ),
    "objects": (
        lambda: data.batches(np.array([[1], [1, 2]], dtype=object)),
        TypeError,
        "X has to hold numbers.",
        "got X: object[2]",
        *NUMBERS,
    ),
    "text": (
        lambda: data.batches(X, list("abcde")),
        TypeError,
        "y has to hold numbers.",
        "got y: <U1[5]",
        *NUMBERS,
    ),
    "size 0": (
        lambda: data.batches(X, batch_size=0),
        ValueError,
        "batch_size has to be a whole number above 0.",
        "got batch_size=0",
        "32 is usual.",
    ),
    "size of a float": (
        lambda: data.batches(X, batch_size=2.5),
        ValueError,
        "batch_size has to be a whole number above 0.",
        "got batch_size=2.5",
        "32 is usual.",
    ),
    "targets beside a stream": (
        lambda: data.batches(iter([X]), Y),
        ValueError,
        "A stream of data gives its targets in its chunks.",
        "got X: list_iterator, and y: ndarray",
        "Let the iterable give pairs (X, y), and leave y out.",
    ),
    "a second epoch of an iterator": (
        second_epoch,
        ValueError,
        "An iterator can be passed once, so there is no second epoch.",
        "Pass a function that returns a new one for each epoch:  data.batches(lambda: read(path)).",
    ),
    "the length of a stream": (
        lambda: len(data.batches(iter([X]))),
        TypeError,
        "A stream of data has no known length.",
        "Count the batches as they come.",
    ),
    "chunks that do not fit": (
        lambda: list(data.batches(iter([X, np.ones((2, 3))]))),
        ValueError,
        "All chunks of a stream need rows of one shape.",
        "got chunks of shapes (5, 2) and (2, 3)",
        "Look at what the iterable gives.",
    ),
    "a share above 1": (
        lambda: data.split(X, test_size=1.5),
        ValueError,
        "split needs at least one example in each part.",
        "got test_size=1.5 of 5 examples",
        "Write a share between 0 and 1, as  test_size=0.2,  or a number of examples.",
    ),
    "all in the test set": (
        lambda: data.split(X, test_size=5),
        ValueError,
        "split needs at least one example in each part.",
        "got test_size=5 of 5 examples",
        "Write a share between 0 and 1, as  test_size=0.2,  or a number of examples.",
    ),
    "strata of another length": (
        lambda: data.split(X, stratify=Y[:3]),
        ValueError,
        "stratify needs one label for each example.",
        "got stratify of shape (3,) for 5 examples",
        "Wanted shape (5,).",
    ),
    "a label out of range": (
        lambda: data.one_hot([0, 3], 3),
        ValueError,
        "Labels have to be from 0 to 2, as there are 3 classes.",
        "got labels[1] = 3",
        "Count classes from 0:  np.unique(y, return_inverse=True)[1]  numbers them.",
    ),
    "labels that are floats": (
        lambda: data.class_weights([0.0, 1.0]),
        TypeError,
        "Labels have to be whole numbers.",
        "got labels: float64[2]",
        "Write  y.astype(int)  if these are numbers of classes;  "
        "np.unique(y, return_inverse=True)[1] numbers any others.",
    ),
    "no labels": (
        lambda: data.class_weights(np.empty(0, int)),
        ValueError,
        "There are no labels to count.",
        "got labels of shape (0,)",
        "Look at their source.",
    ),
    "other columns": (
        lambda: data.standardize(X).apply(np.ones((4, 3))),
        ValueError,
        "The data do not have the columns of those that were standardised.",
        "got data of shape (4, 3)",
        "Wanted 2 axes, and columns of shape (2,).",
    ),
    "a column of text": (
        lambda: data.batches(pd.DataFrame({"age": [31, 42], "name": ["a", "b"]})),
        TypeError,
        "Columns of X have to be numbers.",
        "got column 'name' of type String",
        COLUMN,
    ),
    "a column of dates": (
        lambda: data.as_arrays({"t": pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])})}),
        TypeError,
        "Columns of X.t have to be numbers.",
        "got column 'day' of type Datetime(time_unit='us', time_zone=None)",
        COLUMN,
    ),
    "missing numbers in a frame": (
        lambda: data.batches(pd.DataFrame({"age": [31, None], "size": [1, 2]})),
        ValueError,
        "X must not have nan or infinite numbers.",
        "got nan in row 1, column 0",
        FILL,
    ),
}


@pytest.mark.parametrize(("call", "kind", "what", "rest"), [(*e[:3], e[3:]) for e in ERRORS.values()], ids=ERRORS)
def test_message(call, kind, what, rest):
    """What, where, what was met, what to do."""
    with pytest.raises(kind) as caught:
        call()
    lines = str(caught.value).splitlines()
    assert lines[0] == what
    assert lines[1].startswith("  at test_messages.py:")
    assert lines[2:] == [f"  {line}" for line in rest]


def test_nan_may_be_allowed():
    """For models that know what to do with it."""
    assert np.isnan(next(iter(data.batches(HOLE, Y, checked=False)))[0]).any()


def test_large_numbers_are_not_taken_for_infinite():
    """Although their sum is."""
    assert data.check(np.full((3, 1), 1e308)) == 3


def test_names_of_other_libraries():
    """Names and options of others are answered with what does the same here."""
    expected = {
        "DataLoader": "module 'adjoint.data' has no attribute 'DataLoader': use  data.batches(X, y, batch_size=32)",
        "standardise": (
            "module 'adjoint.data' has no attribute 'standardise': use  data.standardize(X), then .apply(X)"
        ),
        "Standardiser": "module 'adjoint.data' has no attribute 'Standardiser': use  data.Standardizer",
        "nothing_like_it": "module 'adjoint.data' has no attribute 'nothing_like_it'",
    }
    for name, words in expected.items():
        with pytest.raises(AttributeError) as error:
            getattr(data, name)
        assert str(error.value) == words
    options = {
        "batches() got an unexpected keyword argument 'size': use  batch_size=": lambda: data.batches(X, size=2),
        "split() got an unexpected keyword argument 'test': use  test_size=": lambda: data.split(X, test=0.2),
    }
    for words, call in options.items():
        with pytest.raises(TypeError) as error:
            call()
        assert str(error.value) == words
    with pytest.raises(AttributeError, match=r"^'Standardizer' object has no attribute 'transform': use  .apply\(X\)$"):
        data.standardize(X).transform(X)
