"""NumPy's functions as compositions of others, by the chapters of its reference."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

FILES = (
    "mathematical.sums", "manipulation.shape", "linalg.products", "sorting.searching", "mathematical.extrema",
    "statistics.averages", "manipulation.axes", "manipulation.dimensions", "creation.filled", "manipulation.joining",
    "mathematical.miscellaneous", "logic", "mathematical.complex", "indexing.picking", "linalg.norms",
    "linalg.solving", "linalg.einsum", "creation.matrices", "creation.ranges", "manipulation.rearranging",
    "sorting.sorting", "mathematical.differences", "mathematical.elementary", "manipulation.splitting",
    "manipulation.elements", "manipulation.padding", "linalg.measures", "linalg.decompositions", "linalg.matrices",
    "linalg.chains", "indexing.inserting", "indexing.generating", "indexing.windows", "statistics.quantiles",
    "statistics.correlating", "statistics.histograms", "sets", "fft", "polynomials", "functional", "information",
    "mathematical.automatic_domain",
)  # fmt: skip
"""All files of the chapters, those first whose functions are met most often.

They are imported one after the other, until a function that is met for the first time is found: importing the library
stays cheap, and so does a program that uses a few functions.
"""


def imported() -> Iterator[str]:
    """Import the files one after the other."""
    for file in FILES:
        importlib.import_module(f".{file}", __name__)
        yield file


def load() -> None:
    """Import all of them; a second call does nothing."""
    for _ in imported():
        pass
