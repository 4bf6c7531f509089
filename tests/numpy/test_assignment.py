"""In-place programs: each gives on traced values what it gives on plain arrays, with derivatives of every kind."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.core.errors import AssignmentError, BatchError, DerivativeDroppedError, UnsupportedError
from adjoint.testing import Case, check_case

LINE = np.array([0.7, -1.2, 2.1, 0.3, -0.4, 1.6])


def element(x):
    x[2] = x[0] * x[1]
    return x


def slice_with_step(x):
    x[1::2] = x[::2] ** 2
    return x


def negative_step(x):
    x[::-1][1:3] = x[:2] * 3
    return x


def reversed_onto_itself(x):
    x[:] = x[::-1]
    return x


def shifted_onto_itself(x):
    x[1:] = x[:-1]
    return x


def ellipsis(x):
    A = x.reshape(2, 3)
    A[..., 0] = A[..., 2] ** 2
    return x


def newaxis(x):
    x[:, None][2:4] = x[:2, None] * x[1]
    return x


def ellipsis_number(x):
    y = x[..., 0]
    y[...] = x[1] ** 2
    return x * y


def mask(x):
    x[x > 0] = x[0] * 2
    return x


def mask_of_rows(x):
    A = x.reshape(3, 2)
    A[A[:, 0] > 0] = x[4:] ** 2
    return A


def mask_constant(x):
    x[np.array([True, False, True, False, False, True])] = x[:3] ** 2
    return x


def mask_augmented(x):
    x[np.arange(6) % 2 == 0] *= x[1]
    return x


def repeated_places(x):
    x[[0, 0, 2, 0]] = x[1:5] * 2
    return x


def repeated_augmented(x):
    x[[0, 0, 2]] += x[3:] ** 2
    return x


def mixed(x):
    A = x.reshape(2, 3)
    A[:, [2, 0]] = A[:, :2] ** 2
    return x


def mixed_number(x):
    A = x.reshape(1, 2, 3) * 1.0
    A[0, :, [0, 2]] = A[0, :, :2] * x[0]
    return A


def places_grid(x):
    A = np.zeros((3, 3))
    A[[0, 1, 2], [1, 2, 0]] = x[:3] ** 2
    A[np.ix_([0, 2], [0, 2])] += x[0]
    return A


def method_view(x):
    x.view()[1:3] = x[:2] ** 2
    return x


def chained(x):
    A = np.zeros((2, 3))
    A[0][1] = x[0] ** 2
    A[1][::2] = x[1:3] * x[0]
    return A


def column_of_transpose(x):
    A = x.reshape(2, 3)
    A.T[1] = x[0] * x[5]
    return x


def reshaped(x):
    x.reshape(3, 2)[1] = x[:2] ** 2
    return x


def reshape_function(x):
    np.reshape(x, (3, 2))[:, 0] = x[0] ** 2
    return x


def reshape_fortran(x):
    np.reshape(x, (3, 2), order="F")[1] = x[0] ** 2
    return x


def raveled(x):
    A = x.reshape(2, 3)
    A.ravel()[2:4] = x[0] ** 2
    return A


def ravel_of_transpose_is_a_copy(x):
    A = x.reshape(2, 3).T
    line = A.ravel()
    line[0] = x[1] ** 2
    return A * line.reshape(3, 2)


def ravel_of_gaps_is_a_copy(x):
    line = x[::2].ravel()
    line[0] = x[1] ** 2
    return x[:3] * line


def flattened_is_a_copy(x):
    line = x.flatten()
    line[0] = x[1] ** 2
    return x * line


def flat(x):
    A = x.reshape(2, 3) * 1.0
    A.flat[4] = x[0] ** 2
    A.flat[[0, 2]] = x[1]
    A.flat[::5] = x[2:4] * 2
    return A


def flat_all(x):
    A = x.reshape(2, 3) * 1.0
    A.flat = x[:3] ** 2
    return A


def swapped_numbers(x):
    x[0], x[1] = x[1], x[0]
    return x


def swapped_rows(x):
    A = x.reshape(2, 3)
    A[0], A[1] = A[1], A[0]
    return A


def swapped_rows_by_places(x):
    A = x.reshape(2, 3)
    A[[0, 1]] = A[[1, 0]]
    return A


def swapped_axes(x):
    A = x.reshape(2, 3)
    np.swapaxes(A, 0, 1)[0] = x[:2] ** 2
    np.moveaxis(A, 0, 1)[2, 0] = x[0] * 3
    return A


def flipped(x):
    np.flip(x)[0] = x[0] ** 2
    np.flipud(x)[1] = x[1] ** 2
    return x


def rotated(x):
    A = x.reshape(2, 3)
    np.rot90(A)[0] = x[:2] ** 2
    return A


def split_parts(x):
    first, second = np.split(x, 2)
    first[:] = second**2
    return x


def rows_in_a_loop(x):
    A = x.reshape(3, 2)
    for row in A:
        row *= row[0]
    return A


def at_least(x):
    np.atleast_2d(x)[0, 1] = x[0] ** 2
    np.expand_dims(x, 0)[0, 2] = x[0] ** 3
    np.squeeze(x[None])[3] = x[1] ** 2
    return x


def diagonal_view_follows(x):
    A = np.outer(x, x)
    d = np.diagonal(A)
    A[0, 0] = x[1] ** 3
    return d * x


def broadcast_view_follows(x):
    wide = np.broadcast_to(x, (2, 6))
    x[0] = x[1] ** 2
    return wide


def view_after_update(x):
    y = x[1:4]
    x *= 2
    y += x[:3]
    return x * np.sum(y)


def view_of_view(x):
    y = x[1:][::2]
    y[1:][0] = x[0] ** 2
    return x


def copy_is_a_copy(x):
    y = x.copy()
    y[0] = 5.0
    z = np.array(x)
    z[1] = x[0] ** 2
    return x * y * z


def constant_copy_is_a_copy(x):
    y = np.zeros(6)
    z = y.copy()
    y[0] = 1.0
    y[1] = x[0]
    return x * (y + z)


def update_after_use(x):
    y = x * 2
    z = np.sin(y)
    y[0] = 5
    return z + y


def constant_update_after_use(x):
    c = np.ones(6)
    y = x * c
    c[0] = 7.0
    return y * c * x


def plain_constant_update_after_use(x):
    c = [1.0] * 6
    w = np.asarray(c)
    y = x * w
    w[0] = 7.0
    return y * w * x


def augmented_array(x):
    y = x
    y += np.sin(x)
    y *= 2.0
    y -= x[0]
    y /= 3.0
    y **= 2
    return x


def augmented_number(x):
    total = x[0]
    total += x[1]
    total *= x[2]
    return x * total


def augmented_matrix(x):
    A = x[:4].reshape(2, 2) * 1.0
    A @= A
    return A


def accumulate(x):
    total = np.zeros(3)
    for i in range(2):
        total += x[i : i + 3] ** 2
    return total


def recurrence(x):
    y = np.empty(6)
    y[0] = x[0]
    for i in range(1, 6):
        y[i] = y[i - 1] * x[i] + np.sin(y[i - 1])
    return y


def two_dimensional_fill(x):
    A = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            A[i, j] = x[i] * x[j + 3]
    return A


def rotation(x):
    R = np.eye(3)
    R[0, 0] = R[1, 1] = np.cos(x[0])
    R[0, 1] = -np.sin(x[0])
    R[1, 0] = np.sin(x[0])
    return R


def listed_constants(x):
    y = np.array([1.0, 2.0, 3.0])
    y[1] = x[0] * x[1]
    y += x[:3]
    return y


def copied_grids(x):
    y = np.array(np.linspace(0.0, 1.0, 6))
    y[2:4] = x[:2] ** 2
    t = np.array(np.arange(3.0))
    t[0] = x[5] ** 2
    return y * x * t[0]


def filled(x):
    y = np.empty_like(x)
    y.fill(x[0])
    y[1:] = np.ones_like(x)[1:] * x[1:]
    z = np.full(6, x[2])
    z[0] = 1.0
    return y * z


def put_and_place(x):
    np.put(x, [0, -1, 0], x[1:3] ** 2)
    np.place(x, np.array([False, True, False, True, False, True]), [x[2] ** 2, 4.0])
    x.put([3], x[0] * 2)
    return x


def put_modes(x):
    np.put(x, [7, -8], x[:2] * 2, mode="wrap")
    np.put(x, [9, -9], x[:2] * 2, mode="clip")
    return x


def put_along(x):
    A = x.reshape(2, 3)
    np.put_along_axis(A, np.array([[2], [0]]), A[:, 1:2] ** 2, axis=1)
    np.put_along_axis(A, np.argmax(A, axis=1)[:, None], x[0] * 2, axis=1)
    return A


def masks_by_function(x):
    np.putmask(x, x > 1, x[:2] ** 2)
    np.copyto(x, x[::-1] * 2, where=x < 0)
    return x


def copied(x):
    y = np.zeros((2, 6))
    np.copyto(y, x**2)
    np.copyto(y[0, :3], 4.0)
    return y


def diagonal_filled(x):
    A = np.outer(x, x)
    np.fill_diagonal(A, x**3)
    B = np.zeros((7, 2))
    np.fill_diagonal(B, x[:2], wrap=True)
    return A, B


def sorted_in_place(x):
    x.sort()
    x[0] = x[1] * x[2]
    x[2:].partition(1)
    return x


def added_at(x):
    y = np.zeros(4)
    np.add.at(y, [0, 1, 0, 3, 0, 1], x**2)
    np.subtract.at(y, [1, 1], x[0])
    return y


def multiplied_at(x):
    y = x * 1.0
    np.multiply.at(y, [0, 1, 0, 0], x[1:5])
    np.negative.at(y, [2])
    return y


def maximum_at(x):
    y = np.zeros(3)
    np.maximum.at(y, [0, 1, 0, 2, 1, 0], x**2)
    return y


def added_at_grid(x):
    A = np.zeros((2, 3))
    np.add.at(A, ([0, 1, 0], [2, 2, 2]), x[:3] ** 2)
    np.add.at(A, (slice(None), [0, 0]), x[0])
    return A


def out_keyword(x):
    y = np.zeros(6)
    np.multiply(x, x[0], out=y)
    np.add(y, x, out=y, where=x > 0)
    z = np.empty(3)
    np.sum(x.reshape(3, 2), axis=1, out=z)
    np.exp(z * 0.1, z)
    return y[:3] * z


def out_view(x):
    A = np.zeros((2, 6))
    np.sin(x, out=A[1])
    np.cumsum(x, out=A[0])
    return A


def real_and_imaginary(x):
    z = x * (1.0 + 2.0j)
    z.real = x**2
    z.imag[1:] = x[:-1]
    z.real[0] *= 3
    return np.real(z) * np.imag(z) + np.abs(z)


def deleted_history(x):
    y = x**2
    y[:] = 0.0
    return y + x


def array_without_axes(x):
    y = np.zeros(())
    y[...] = x[0] ** 2
    y += x[1]
    return y * x


def empty_selection(x):
    x[3:3] = x[:0]
    x[[]] = 5.0
    x[np.zeros(6, bool)] = x[0]
    return x * 2


def leading_ones(x):
    x[:3] = x[None, 3:] ** 2
    return x


def traced_slice_bounds(x):
    k = int(np.floor(3.7))
    x[:k] = x[0] ** 2
    return x


def precision_kept(x):
    y = np.zeros(6, np.float32)
    y[:] = 2.0
    return x * y


PROGRAMS = [
    function
    for name, function in list(globals().items())
    if callable(function) and getattr(function, "__module__", None) == __name__ and not name.startswith("_")
]


def leaves(result):
    """The arrays of a result."""
    return result if isinstance(result, tuple) else (result,)


def on_a_copy(program):
    """The program, given a fresh array: plain ones would be changed for the next call."""

    def run(x):
        return program(np.sin(x) + x)

    return run


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program(program):
    """Values are NumPy's; tangents are difference quotients; reverse, second order and vmap agree."""
    check_case(
        Case(program.__name__, on_a_copy(program), (LINE,), ("value", "tangent", "adjoint", "orders", "stacking"))
    )


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program_on_the_argument_itself(program):
    """The handle of the argument may be updated too; the caller's array stays as it was."""
    x = LINE.copy()
    want = program(LINE.copy())
    value, pullback = ad.vjp(program, x)
    for got, plain in zip(leaves(value), leaves(want), strict=True):
        np.testing.assert_allclose(got, plain, rtol=1e-14)
    assert x.tolist() == LINE.tolist()
    assert np.all(np.isfinite(pullback(value)[0]))


def test_overwritten_elements_receive_nothing():
    """What was written over contributes no cotangent, not even zero times infinity."""

    def f(x):
        y = np.sqrt(x)
        y[0] = 1.0
        return np.sum(y)

    assert ad.grad(f)(np.array([0.0, 4.0])).tolist() == [0.0, 0.25]


def test_places_that_differ_between_examples():
    """Inside vmap indices may depend on the values."""

    def f(x):
        y = x * 2
        y[np.argmax(x)] = x[0] ** 2
        y[np.argsort(x)[:2]] += x[1]
        np.add.at(y, np.argsort(x), x)
        z = np.zeros(6)
        z[np.argmin(x)] = 3.0
        np.put(z, np.argsort(x)[:2], x[:2])
        return y * z + z

    xs = np.stack([LINE, LINE[::-1], LINE**2])
    np.testing.assert_allclose(ad.vmap(f)(xs), np.stack([f(x) for x in xs]))

    def loss(x):
        return np.sum(f(x) ** 2)

    np.testing.assert_allclose(ad.vmap(ad.grad(loss))(xs), np.stack([ad.grad(loss)(x) for x in xs]))


KEYS = {
    "rows and columns": lambda i, j: (i, j),
    "rows": lambda i, j: i,
    "list": lambda i, j: [i[0], j[0]],
    "columns": lambda i, j: (slice(None), j),
    "ellipsis": lambda i, j: (..., j),
    "lists in a tuple": lambda i, j: ([i[0], i[1]], [0, 2]),
    "numbers": lambda i, j: (i[0], j[1]),
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.maximum])
def test_at_places_that_are_arguments(name, ufunc):
    """`ufunc.at` takes a tuple for a key, a list for an array, under jit as in NumPy, also if both hold arguments."""

    def f(x, i, j):
        y = x * 2
        ufunc.at(y, KEYS[name](i, j), x[0, 1])
        return y

    x, jitted, slope = np.arange(9.0).reshape(3, 3) + 1, ad.jit(f), ad.jit(ad.jacobian(f))
    for i, j in (([0, 1], [1, 1]), ([2, 2], [0, 0]), ([0, 1], [2, 1])):
        places = np.array(i), np.array(j)
        for _ in range(2):
            np.testing.assert_array_equal(jitted(x, *places), f(x, *places))
            np.testing.assert_allclose(slope(x, *places), ad.jacobian(f)(x, *places))
    if ufunc is np.multiply:
        with pytest.raises(BatchError, match=r"multiply\.at"):
            ad.vmap(lambda x, i: f(x, i, i))(np.stack([x, x]), np.array([[0, 1], [1, 2]]))


def test_masks_that_differ_between_examples():
    """A mask may be assigned to, as the shape stays; what it reads has a shape for each example, and is refused."""

    def f(x):
        y = x**2
        y[x > 0] = 3.0
        return y

    xs = np.stack([LINE, LINE[::-1], -LINE])
    np.testing.assert_allclose(ad.vmap(f)(xs), np.stack([f(x) for x in xs]))
    with pytest.raises(BatchError, match=r"np\.where"):
        ad.vmap(lambda x: np.sum(x[x > 0]))(xs)


def number(x):
    x[0][0] = 1.0


REFUSED = {
    "read-only argument": (lambda x: x.__setitem__(0, 1.0), AssignmentError, True),
    "broadcast": (lambda x: np.broadcast_to(x, (2, 6)).__setitem__((0, 0), 1.0), AssignmentError, False),
    "diagonal": (lambda x: np.diagonal(np.outer(x, x)).__setitem__(0, 1.0), AssignmentError, False),
    "number": (number, TypeError, False),
    "shape": (lambda x: x.__setitem__(slice(2), x[:3]), ValueError, False),
    "in-place shape": (lambda x: x[:1].__iadd__(x), AssignmentError, False),
    "in-place dtype": (lambda x: x.__iadd__(1j), AssignmentError, False),
    "complex into real": (lambda x: x.__setitem__(0, x[0] * 1j), AssignmentError, False),
    "real into integers": (lambda x: np.zeros_like(x, dtype=int).__setitem__(0, x[0]), AssignmentError, False),
    "plain array": (lambda x: (np.arange(6.0)).__setitem__(0, x[0]), DerivativeDroppedError, False),
    "plain out": (lambda x: np.sin(x, out=np.arange(6.0)), DerivativeDroppedError, False),
    "plain at": (lambda x: np.add.at(np.arange(6.0), [0], x[0]), DerivativeDroppedError, False),
    "plain copyto": (lambda x: np.copyto(np.arange(6.0), x), DerivativeDroppedError, False),
    "bits": (lambda x: x.view(np.int64), UnsupportedError, False),
    "size": (lambda x: x.resize(3), AssignmentError, False),
    "fill complex": (lambda x: x.fill(1j), AssignmentError, False),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """What NumPy refuses or what would lose a derivative is refused."""
    program, error, frozen = REFUSED[name]
    x = LINE.copy()
    x.flags.writeable = not frozen
    with pytest.raises(error):
        ad.grad(lambda x: program(x) or np.sum(x))(x)


def test_filling_in_a_loop_keeps_one_step_for_each_assignment():
    """Many assignments to one array stay cheap: one node each, of which the trace keeps no copy of the array."""
    x = LINE.copy()

    def f(x):
        y = np.zeros(2000)
        for i in range(2000):
            y[i] = x[i % 6] * 2
        return y

    value, pullback = ad.vjp(f, x)
    np.testing.assert_array_equal(value, np.resize(x * 2, 2000))
    assert pullback(np.ones(2000))[0].tolist() == [668.0, 668.0, 666.0, 666.0, 666.0, 666.0]
