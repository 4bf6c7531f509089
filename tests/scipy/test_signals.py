"""Signals, images, Fourier transforms and distances: the laws over tables of cases, in programs too."""

import importlib

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import UnsupportedError
from adjoint.core.tree import flatten
from adjoint.numpy.patching.replacements import REPLACEMENTS, install
from adjoint.testing.laws import LAWS
from tests.cases import scipy_distance, scipy_fft, scipy_ndimage, scipy_signal

TOPICS = (
    "scipy.fft", "scipy.signal", "scipy.signal.windows", "scipy.ndimage", "scipy.spatial.distance", "scipy.cluster.vq",
    "scipy.cluster.hierarchy",
)  # fmt: skip
MODULES = {topic: importlib.import_module(topic) for topic in TOPICS}
install()

TABLES = {
    "scipy.fft": scipy_fft.CASES,
    "scipy.signal": scipy_signal.CASES,
    "scipy.ndimage": scipy_ndimage.CASES,
    "scipy.spatial.distance": scipy_distance.CASES,
}
CASES = [(topic, case) for topic, cases in TABLES.items() for case in cases]
QUICK = ("value", "tangent", "adjoint")
"""The others take longer: those of higher orders, of batches one by one, of whole programs."""


def _params():
    for topic, case in CASES:
        for law in case.laws or LAWS:
            marks = () if law in QUICK else pytest.mark.slow
            yield pytest.param(case, law, marks=marks, id=f"{law}-{topic}-{case.name}")


@pytest.mark.parametrize(("case", "law"), list(_params()))
def test_law(case, law):
    """Every function obeys the laws: SciPy's values, differences, both modes, higher orders, batches, precision."""
    LAWS[law](case)


def _arrays(x):
    return [np.asarray(leaf) for leaf in flatten(x)[0]]


def _same(f, args):
    for got, want in zip(_arrays(ad.jit(f)(*args)), _arrays(f(*args)), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-11 * (1 + np.max(np.abs(want), initial=0.0)))


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{topic}-{case.name}") for topic, case in CASES[::9]])
def test_jitted_value(case):
    """A program gives SciPy's own numbers."""
    _same(case.function, case.args)


@pytest.mark.slow
@pytest.mark.parametrize("case", [pytest.param(case, id=f"{topic}-{case.name}") for topic, case in CASES])
def test_jitted_value_and_gradient(case):
    """So it does for every function, and the gradient in a program is the gradient."""
    value = case.function(*case.args)
    _same(case.function, case.args)
    _same(lambda *args: ad.vjp(case.function, *args)[1](value), case.args)


@pytest.mark.parametrize("topic", TABLES)
def test_every_function_that_differentiates_has_a_case(topic):
    """A function that is added without a case is noticed."""
    known = {case.name.split()[0] for _, case in CASES} | {
        case.name.split()[1] for _, case in CASES if " " in case.name
    }
    for name, answer in REPLACEMENTS[topic].items():
        assert answer.kind != "differentiates" or name in known, name


@pytest.mark.parametrize("topic", TOPICS)
def test_every_public_name_has_an_answer(topic):
    """What SciPy adds is noticed."""
    module = MODULES[topic]
    names = [n for n in module.__all__ if callable(getattr(module, n)) and not _is_exception(getattr(module, n))]
    assert [n for n in names if n not in REPLACEMENTS[topic]] == []


def _is_exception(x):
    return isinstance(x, type) and issubclass(x, BaseException)


REFUSED = [
    (topic, name) for topic, answers in REPLACEMENTS.items() for name, a in answers.items() if a.kind == "refused"
]


@pytest.mark.parametrize(
    ("topic", "name"), [(topic, name) for topic, name in REFUSED if topic in TOPICS and hasattr(MODULES[topic], name)]
)
def test_refusals_name_the_call_and_a_fix(topic, name):
    """What is not differentiated says so, with the call, the line and what to write instead."""
    function = getattr(MODULES[topic], name)
    with pytest.raises(UnsupportedError) as caught:
        ad.grad(lambda x: np.sum(function(x, x)))(np.ones((4, 4)))
    text = str(caught.value)
    assert text.startswith(f"{topic}.{name} is not differentiated: ")
    assert REPLACEMENTS[topic][name].fix in text
    assert "in <lambda>()" in text
