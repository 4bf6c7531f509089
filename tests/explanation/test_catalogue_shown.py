"""Every function of the catalogue can be explained: both sweeps, whole and by numbers, also at singular points."""

import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.tree import flatten
from tests.cases.catalogue import every_entry
from tests.cases.points import moved, weighted

PARTS = 16
ENTRIES = every_entry()


def leaves(tree):
    return [leaf for leaf in flatten(tree)[0] if leaf is not None]


def agree(found, wanted):
    for a, b in zip(leaves(found), leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13 * float(np.nanmax(np.abs(b), initial=1.0)))


def point(args, how):
    return args if how == "as it is" else tuple(moved(a, how) for a in args)


@pytest.mark.parametrize("how", ["as it is", "half", "zeros", "ties"])
@pytest.mark.parametrize("part", range(PARTS))
def test_every_function_can_be_explained(part, how):
    """The gradient that is shown is that of `ad.grad`; the table, and the one in ASCII, can be printed."""
    seen = 0
    for entry in ENTRIES[part::PARTS]:
        total, args = weighted(entry.function), point(entry.args, how)
        moving = tuple(k for k, a in enumerate(args) if np.asarray(leaves(a)[0]).dtype.kind in "fc")
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                wanted = ad.grad(total, argnums=moving)(*args)
            except Exception as error:
                with pytest.raises(type(error)):
                    ad.explain(total)(*args)
                continue
            try:
                explanation = ad.explain(total, mode="both")(*args)
            except np.linalg.LinAlgError:  # a tangent that is not finite, which LAPACK refuses
                assert how != "as it is"
                explanation = ad.explain(total)(*args)
            found = explanation.gradient if len(args) > 1 else (explanation.gradient,)
            agree([found[k] for k in moving], wanted)
            assert str(explanation)
            assert explanation.text(ascii=True).isascii()
            seen += 1
    assert seen


@pytest.mark.parametrize("part", range(PARTS))
def test_number_by_number(part):
    """Where a function can be written out number by number, the gradient is the same; else that is refused."""
    seen, refusals = 0, []
    for entry in ENTRIES[part::PARTS]:
        total, args = weighted(entry.function), entry.args
        moving = tuple(k for k, a in enumerate(args) if np.asarray(leaves(a)[0]).dtype.kind in "fc")
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            wanted = ad.grad(total, argnums=moving)(*args)
            try:
                explanation = ad.explain(total, level="scalar")(*args)
            except ad.errors.UnsupportedError as error:
                refusals.append(str(error))
                continue
            found = explanation.gradient if len(args) > 1 else (explanation.gradient,)
            agree([found[k] for k in moving], wanted)
            assert str(explanation)
            seen += 1
    assert seen
    assert all("number by number" in text for text in refusals)
