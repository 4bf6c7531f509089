"""The compositions: by NumPy's chapters, and imported as they are met."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from adjoint.numpy import functions
from adjoint.numpy.dispatch.lookup import implementation_of
from adjoint.numpy.dispatch.registry import behaviour_of, implements

FOLDER = Path(functions.__file__).parent
HELPERS = {"places"}
"""Files that others use, without a function of NumPy's."""


def test_every_file_is_in_the_list():
    """None is forgotten, and each is named once."""
    files = [f.relative_to(FOLDER).with_suffix("") for f in FOLDER.rglob("*.py") if f.name != "__init__.py"]
    assert sorted(functions.FILES) == sorted({".".join(f.parts) for f in files} - HELPERS)


@pytest.mark.parametrize(
    ("function", "place"),
    [
        (np.sum, "mathematical.sums"),
        (np.nanmean, "statistics.averages"),
        (np.nanmedian, "statistics.quantiles"),
        (np.sort, "sorting.sorting"),
        (np.argsort, "sorting.sorting"),
        (np.partition, "sorting.sorting"),
        (np.searchsorted, "sorting.searching"),
        (np.unique, "sets"),
        (np.roll, "manipulation.rearranging"),
        (np.linalg.matrix_power, "linalg.chains"),
        (np.linalg.cond, "linalg.measures"),
        (np.put, "indexing.inserting"),
        (np.real, "mathematical.complex"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_a_function_is_where_numpys_reference_has_it(function, place):
    """One knows where to look."""
    assert implementation_of(function).__module__ == f"{functions.__name__}.{place}"


def test_files_are_imported_as_they_are_met():
    """Neither with the library nor with a derivative of a few sums; NumPy's face comes with the first one."""
    code = """
import sys, numpy as np, adjoint as ad
def found(): return [name for name in sys.modules if name.startswith(("adjoint.numpy.functions.", "adjoint.ops"))]
assert not found(), found()
ad.grad(lambda x: np.sum(x * x))(np.ones(2))
assert "adjoint.numpy.functions.mathematical.sums" in found()
assert not any("linalg" in name or "fft" in name for name in found()), found()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_behaviour_is_said_where_a_function_is_declared():
    """What is not said is the default; a behaviour that there is not is an error at once."""
    functions.load()
    assert behaviour_of(np.sum).exact
    assert behaviour_of(np.median).whole
    assert behaviour_of(np.put).in_place
    assert not behaviour_of(np.linalg.inv).exact
    with pytest.raises(TypeError, match="exactly"):
        implements(np.sum, exactly=True)
