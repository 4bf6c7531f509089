"""Every answer of these topics is held: what differentiates has a case, what is refused says so by name."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.sparse.linalg

import adjoint as ad
from adjoint.core.errors import UnsupportedError
from adjoint.numpy.patching.replacements import REPLACEMENTS, install

install()
HERE = Path(__file__).parent
MODULES = {m.__name__: m for m in (scipy.interpolate, scipy.linalg, scipy.sparse, scipy.sparse.linalg)}
FILES = [
    *(HERE.parent / "cases").glob("scipy_*.py"), HERE / "test_sparse_elements.py", HERE / "test_linalg_structures.py",
    HERE / "test_linalg.py",
]  # fmt: skip
TEXT = "\n".join([file.read_text(encoding="utf-8") for file in FILES])
STRUCTURAL = re.compile(
    "is.*|get_.*|find_best_blas_type|.*_(array|matrix)|sparray|spmatrix|spilu|SuperLU|LaplacianNd|spbandwidth|"
    ".*BivariateSpline|eigvals|svdvals|solve_lyapunov"
)
"""Names that compute nothing of their own, or are there under another one."""


@pytest.mark.parametrize("topic", MODULES)
def test_what_differentiates_has_a_case(topic):
    """A function that is answered for without a case is noticed."""
    names = [n for n, a in REPLACEMENTS[topic].items() if a.kind == "differentiates" and not STRUCTURAL.fullmatch(n)]
    assert [n for n in names if not re.search(rf"\b{n}\b", TEXT)] == []


REFUSED = [(t, n) for t in MODULES for n, a in REPLACEMENTS[t].items() if a.kind == "refused"]


@pytest.mark.parametrize(("topic", "name"), REFUSED, ids=lambda x: x)
def test_refusals_name_the_call(topic, name):
    """The function, the reason and what to write instead, whatever it would do with the arguments."""
    function, answer = getattr(MODULES[topic], name, None), REPLACEMENTS[topic][name]
    if function is None:
        pytest.skip("not in this SciPy")
    with pytest.raises(UnsupportedError) as caught:
        ad.grad(lambda x: np.sum(function(x, x)))(np.eye(2))
    assert f"{topic}.{name} is not differentiated: {answer.note}." in str(caught.value)
    assert answer.fix.splitlines()[0] in str(caught.value)


def test_classes_stay_classes():
    """A class that is refused can still be asked for its instances, and be derived from."""
    assert isinstance(scipy.interpolate.NdPPoly, type)
    assert isinstance(scipy.interpolate.Rbf, type)
