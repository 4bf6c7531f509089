"""From a table to a matrix that networks learn from well.

Numbers are centred by their median, scaled by the distance of their quartiles and bent smoothly towards a largest
size, so that no outlier dominates; beside each stand the pieces between its quantiles, in which any function of it is
nearly linear. Words are columns of 0 and 1, rare ones together. Dates are numbers: elapsed time, year, month, day of
the year, weekday, hour. What is missing is the median, with a column that says so.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import OneHotEncoder

from ..labels import Array
from .columns import columns_in, kind_of, read, values_of

LARGEST = 3.0
"""Scaled numbers stay below this."""
MOST_WORDS = 256
"""Columns of 0 and 1 for each column of words; the rarest share one."""
LEAST_FREQUENT = 2
"""Words that are met less often than this share a column."""
MOST_PIECES = 1600
"""Pieces of all columns together; columns of wide tables have fewer each."""
ROWS_OF_PIECE = 3
"""At least so many rows for each of them."""
DAY = 86400.0
PARTS = ("elapsed", "year", "month", "day of year", "weekday", "hour")


class TableEncoder(BaseEstimator):
    """Tables to matrices: `fit(X)`, `transform(X)`.

    Parameters
    ----------
    pieces : int
        Pieces between quantiles for each column of numbers, or fewer if there are few rows.
    piece_size : float
        How large they are beside the numbers themselves, and so how soon they are used.

    Attributes
    ----------
    names_, kinds_ : lists of str
        The columns, and what each is: "number", "word" or "date".
    number_names_, word_names_ : lists of str
        Numbers, parts of dates among them, and words.
    center_, scale_ : arrays
        Of the numbers; a scale of 0 leaves out a constant.
    is_gappy_ : array of bool
        Numbers that may be missing.
    piece_column_, piece_left_, piece_width_ : arrays
        Pieces of all columns: the number of the column, the left end and the width.
    words_ : OneHotEncoder or None
    """

    def __init__(self, *, pieces: int = 8, piece_size: float = 1.0) -> None:
        self.pieces = pieces
        self.piece_size = piece_size

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out what the columns are."""
        self.names_, self.kinds_ = [], []
        for name, column in columns_in(X):
            self.names_.append(name)
            self.kinds_.append(kind_of(*values_of(column)))
        numbers, words = self._read(X)
        self.number_names_ = [
            f"{name} {part}".rstrip()
            for name, kind in zip(self.names_, self.kinds_, strict=True) if kind != "word"
            for part in (PARTS if kind == "date" else ("",))
        ]  # fmt: skip
        self.word_names_ = [name for name, kind in zip(self.names_, self.kinds_, strict=True) if kind == "word"]
        self._fit_numbers(numbers)
        self.words_ = None
        if self.word_names_:
            self.words_ = OneHotEncoder(
                handle_unknown="infrequent_if_exist", min_frequency=min(LEAST_FREQUENT, len(words)),
                max_categories=MOST_WORDS, sparse_output=False, drop=None,
            ).fit(words)  # fmt: skip
        return self

    def transform(self, X: Any) -> Array:
        """The matrix, in double precision."""
        numbers, words = self._read(X)
        missing = np.isnan(numbers)
        filled = np.where(missing, self.center_, numbers)
        scaled = ((filled - self.center_) * self.scale_)[:, self.scale_ > 0.0]
        parts = [
            scaled / np.sqrt(1.0 + (scaled / LARGEST) ** 2),
            missing[:, self.is_gappy_],
            self.piece_size
            * (np.clip((filled[:, self.piece_column_] - self.piece_left_) / self.piece_width_, 0.0, 1.0) - 0.5),
        ]
        if self.words_ is not None:
            parts.append(self.words_.transform(words))
        return np.concatenate(parts, axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns of the matrix."""
        numbers = np.array(self.number_names_, dtype=object)
        pieces = [f"{numbers[k]} from {left:.4g}" for k, left in zip(self.piece_column_, self.piece_left_, strict=True)]
        words = [] if self.words_ is None else list(self.words_.get_feature_names_out(self.word_names_))
        missing = [f"{name} missing" for name in numbers[self.is_gappy_]]
        return np.array([*numbers[self.scale_ > 0.0], *missing, *pieces, *words], dtype=object)

    def _read(self, X: Any) -> tuple[Array, Array]:
        """Numbers (n, ...) and words (n, ...) of a table."""
        numbers, words = [], []
        for kind, (name, column) in zip(self.kinds_, columns_in(X), strict=True):
            values = read(values_of(column)[0], kind, name)
            if kind == "word":
                words.append(values)
            else:
                numbers += [values] if kind == "number" else _parts_of(values)
        n = X.shape[0]
        matrix = np.stack(numbers, axis=1) if numbers else np.empty((n, 0))
        if np.any(np.isinf(matrix)):
            raise ValueError("Input X contains infinity; missing values are nan.")
        return matrix, np.stack(words, axis=1) if words else np.empty((n, 0), object)

    def _fit_numbers(self, numbers: Array) -> None:
        """Centres, scales and pieces."""
        self.is_gappy_ = np.any(np.isnan(numbers), axis=0) & ~np.all(np.isnan(numbers), axis=0)
        count = numbers.shape[1]
        self.center_, self.scale_ = np.zeros(count), np.zeros(count)
        most = min(MOST_PIECES, len(numbers) // ROWS_OF_PIECE)
        shares = np.linspace(0.0, 1.0, min(self.pieces, most // max(count, 1)) + 1)
        column, left, width = [], [], []
        for k in range(count):
            met = numbers[:, k][~np.isnan(numbers[:, k])]
            if not len(met):
                continue
            low, first, self.center_[k], third, high = np.quantile(met, [0.0, 0.25, 0.5, 0.75, 1.0])
            if not high - low > 10.0 * np.finfo(np.float64).eps * max(abs(low), abs(high)):
                continue
            self.scale_[k] = 1.0 / (third - first) if third > first else 2.0 / (high - low)
            edges = np.unique(np.quantile(met, shares))
            if len(edges) > 2:  # one piece says what the number says
                column += [k] * (len(edges) - 1)
                left.append(edges[:-1])
                width.append(np.diff(edges))
        self.piece_column_ = np.array(column, dtype=np.int64)
        self.piece_left_, self.piece_width_ = [np.concatenate([np.empty(0), *p]) for p in (left, width)]


def _parts_of(dates: Array) -> list[Array]:
    """Elapsed days since 1970, year, month, day of the year, weekday (0 is Monday) and hour."""
    gone = np.isnat(dates)
    days, years, months = dates.astype("datetime64[D]"), dates.astype("datetime64[Y]"), dates.astype("datetime64[M]")
    seconds = (dates - days).astype(np.float64)
    parts = [
        days.astype(np.int64) + seconds / DAY,
        years.astype(np.int64) + 1970,
        (months - years).astype(np.int64) + 1,
        (days - years).astype(np.int64) + 1,
        (days.astype(np.int64) + 3) % 7,
        seconds // 3600.0,
    ]
    return [np.where(gone, np.nan, part.astype(np.float64)) for part in parts]
