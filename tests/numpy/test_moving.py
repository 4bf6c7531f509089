"""NumPy's functions that move, pick, join, split, pad and build: every law for each, inside a nonlinear function."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import AssignmentError, BatchError, DerivativeDroppedError, UnsupportedError
from adjoint.testing import Case, check_case
from tests.cases.constants import CONSTANT, QUESTIONS
from tests.cases.moving import DATA_DEPENDENT, EVERY_LAW, LINE, MOVING, NO_BATCH

COMPLEX = np.array([0.7 - 0.2j, -1.2 + 0.5j, 2.1 + 0.1j])


BAD = {
    "reshape": lambda x: np.reshape(x, (2, 4)),
    "reshape unknown": lambda x: np.reshape(x, (-1, -1)),
    "transpose": lambda x: np.transpose(x, (0, 1)),
    "swapaxes": lambda x: np.swapaxes(x, 0, 2),
    "moveaxis": lambda x: np.moveaxis(x, 0, 3),
    "matrix_transpose": np.matrix_transpose,
    "squeeze": lambda x: np.squeeze(x, 0),
    "expand_dims": lambda x: np.expand_dims(x, 5),
    "concatenate": lambda x: np.concatenate([x, x[None]]),
    "concatenate axis": lambda x: np.concatenate([x, x], axis=1),
    "concatenate nothing": lambda x: np.concatenate([x[0], x]),
    "stack": lambda x: np.stack([x, x[:2]]),
    "vstack": lambda x: np.vstack([x, x[:2]]),
    "block": lambda x: np.block([[x], [x[:2]]]),
    "block tuple": lambda x: np.block((x, x)),
    "insert": lambda x: np.insert(x, 9, 1.0),
    "delete": lambda x: np.delete(x, 9),
    "split": lambda x: np.split(x, 2),
    "array_split": lambda x: np.array_split(x, 0),
    "hsplit": lambda x: np.hsplit(x[0], 2),
    "vsplit": lambda x: np.vsplit(x, 2),
    "dsplit": lambda x: np.dsplit(x, 2),
    "unstack": lambda x: np.unstack(x[0]),
    "repeat": lambda x: np.repeat(x, [1, 2]),
    "resize": lambda x: np.resize(x, (-1,)),
    "roll": lambda x: np.roll(x, 1, axis=2),
    "rollaxis": lambda x: np.rollaxis(x, 0, 5),
    "rot90": np.rot90,
    "fliplr": np.fliplr,
    "flip": lambda x: np.flip(x, 3),
    "broadcast_to": lambda x: np.broadcast_to(x, (4,)),
    "take": lambda x: np.take(x, 9),
    "take mode": lambda x: np.take(x, 1, mode="round"),
    "take float": lambda x: np.take(x, np.array([1.5])),
    "take_along_axis": lambda x: np.take_along_axis(x, np.array([[1]]), 0),
    "take_along_axis float": lambda x: np.take_along_axis(x, np.array([1.0]), 0),
    "choose": lambda x: np.choose([5], [x, x]),
    "select": lambda x: np.select([x > 0], [x, x]),
    "select condition": lambda x: np.select([[1, 0, 1, 0, 1]], [x]),
    "compress": lambda x: np.compress([[True]], x),
    "diag": lambda x: np.diag(x[None, None]),
    "diagonal": np.diagonal,
    "vander": lambda x: np.vander(x[None]),
    "meshgrid": lambda x: np.meshgrid(x, x, indexing="yx"),
    "ix_": lambda x: np.ix_(x[None]),
    "pad mode": lambda x: np.pad(x, 1, "sideways"),
    "pad keyword": lambda x: np.pad(x, 1, "edge", end_values=2),
    "pad width": lambda x: np.pad(x, -1),
    "pad float": lambda x: np.pad(x, 1.5),
    "pad empty": lambda x: np.pad(x[:0], 1, "edge"),
    "pad statistic": lambda x: np.pad(x, 1, "maximum", stat_length=0),
    "piecewise": lambda x: np.piecewise(x, [x > 0], [1, 2, 3]),
    "linspace": lambda x: np.linspace(x, 1.0, -1),
    "linspace count": lambda x: np.linspace(x, 1.0, 2.5),
    "geomspace": lambda x: np.geomspace(x * 0, 1.0),
    "partition": lambda x: np.partition(x, 7),
    "trim_zeros": lambda x: np.trim_zeros(x, "q"),
    "index": lambda x: x[7],
    "index kind": lambda x: x["a"],
    "index float": lambda x: x[1.0],
    "index many": lambda x: x[0, 0],
    "put": lambda x: np.put(x, [9], 1.0),
    "putmask": lambda x: np.putmask(x, [True, False], 1.0),
    "place": lambda x: np.place(x, x > 0, []),
    "copyto": lambda x: np.copyto(x, np.ones(5, complex)),
    "copyto shape": lambda x: np.copyto(x, np.ones(4)),
    "fill_diagonal": lambda x: np.fill_diagonal(x, 1.0),
    "broadcast write": lambda x: np.broadcast_to(x, (2, 5)).__setitem__(0, 1.0),
    "diagonal write": lambda x: np.diagonal(np.outer(x, x)).__setitem__(0, 1.0),
    "array ragged": lambda x: np.array([x, x[:2]]),
    "item": lambda x: x.item(),
    "len": lambda x: len(x[0]),
    "r_ directive": lambda x: np.r_["sideways", x],
}

REFUSED = {
    "arange": (lambda x: np.arange(x[0]), DerivativeDroppedError),
    "nditer": (lambda x: np.nditer(x), DerivativeDroppedError),
    "frompyfunc": (lambda x: np.frompyfunc(lambda v, w: v * w, 2, 1).outer(x, x), UnsupportedError),
    "resize": (lambda x: x.resize((2, 2)), AssignmentError),
    "store": (lambda x: np.put(np.arange(3), [0], x[:1]), DerivativeDroppedError),
}


@pytest.mark.parametrize("case", EVERY_LAW + NO_BATCH, ids=lambda case: case.name)
def test_laws_of_moving(case):
    """Value, tangent, adjoint, second order and, where the shape is known beforehand, vmap."""
    check_case(case)


@pytest.mark.parametrize("name", DATA_DEPENDENT)
def test_data_dependent_shapes_are_refused_in_a_batch(name):
    """Inside vmap a shape that depends on the values is refused, unless NumPy sees no traced value at all."""
    function, args = DATA_DEPENDENT[name]
    with pytest.raises(BatchError):
        ad.vmap(function)(np.stack([args[0], args[0] * 0.5]))


@pytest.mark.parametrize("name", CONSTANT)
def test_constants(name):
    """What has no derivative is NumPy's value under every transformation, one for each example inside vmap."""
    function = CONSTANT[name]
    xs = np.stack([LINE, LINE[::-1], LINE * 0.5])
    for x in xs:
        want = function(x)
        seen = []
        ad.grad(lambda x: seen.append(function(x)) or np.sum(x))(x)
        ad.jvp(lambda x: seen.append(function(x)) or np.sum(x), (x,), (x,))
        for got in seen:
            np.testing.assert_array_equal(got, want)
            assert np.asarray(got).dtype == np.asarray(want).dtype
    np.testing.assert_array_equal(ad.vmap(function)(xs), np.stack([function(x) for x in xs]))


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions(name):
    """Questions about an array are answered as for the plain one."""
    seen = []
    ad.grad(lambda x: seen.append(QUESTIONS[name](x)) or np.sum(x))(LINE)
    ad.jvp(lambda x: seen.append(QUESTIONS[name](x)) or np.sum(x), (LINE,), (LINE,))
    assert seen == [QUESTIONS[name](LINE)] * 2


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_raise_what_numpy_raises(name):
    """An error of NumPy's is an error here, of the same class or one derived from it."""
    with pytest.raises((ValueError, TypeError, IndexError)) as theirs:
        BAD[name](LINE.copy())
    with pytest.raises(theirs.type):
        ad.grad(lambda x: BAD[name](x) or np.sum(x))(LINE)


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_line(name):
    """What cannot be followed is refused, and the message points to the user's line."""
    function, error = REFUSED[name]
    with pytest.raises(error) as refusal:
        ad.grad(lambda x: function(x) or np.sum(x))(LINE)
    assert "test_moving.py" in str(refusal.value)


def test_equal_elements_share_nothing():
    """Of equal elements np.unique takes the first, and the first alone gets the cotangent."""
    x = np.array([2.0, 0.5, 2.0, 0.5])
    values, index, inverse, counts = ad.jvp(lambda x: np.unique(x, True, True, True), (x,), (x,))[0]
    for got, want in zip((values, index, inverse, counts), np.unique(x, True, True, True), strict=True):
        np.testing.assert_array_equal(got, want)
    assert ad.grad(lambda x: np.sum(np.unique(x) ** 2))(x).tolist() == [4.0, 1.0, 0.0, 0.0]


def test_complex_values_move_too():
    """Moving is linear over the complex numbers."""
    for name in ("pad reflect odd", "roll", "tile", "insert many", "diag", "tril", "take wrap", "linspace", "vander"):
        function = MOVING[name][0] if name != "insert many" else (lambda x: np.insert(x, [0, 2], x[:2] * 2))
        check_case(Case(name, function, (COMPLEX,), ("value", "tangent", "adjoint", "stacking")))


def test_every_function_of_the_list_has_a_rule():
    """Nothing NumPy dispatches and this room promises is without an entry."""
    from adjoint.numpy.dispatch.registry import FUNCTIONS

    names = """
        atleast_1d atleast_2d atleast_3d hstack vstack dstack column_stack block append insert delete split
        array_split hsplit vsplit dsplit unstack tile repeat resize trim_zeros pad roll rollaxis rot90
        fliplr flipud matrix_transpose moveaxis take take_along_axis put put_along_axis putmask place copyto
        fill_diagonal choose select compress extract diag diagflat diagonal trace tril triu vander meshgrid
        broadcast_arrays ix_ ravel_multi_index unravel_index squeeze partition argpartition lexsort unique
        unique_values unique_all unique_counts unique_inverse sort_complex flatnonzero nonzero argwhere
        count_nonzero searchsorted digitize where piecewise apply_along_axis apply_over_axes linspace
        logspace geomspace shape ndim size result_type can_cast common_type min_scalar_type iscomplex isreal
        isrealobj array_equal array_equiv allclose isclose array_repr array_str array2string
        may_share_memory shares_memory einsum_path copy save savetxt isin union1d intersect1d setdiff1d
        setxor1d"""
    assert [name for name in names.split() if getattr(np, name) not in FUNCTIONS] == []
