"""NumPy's functions that move, pick, join, split, pad and build."""

import numpy as np

from adjoint.testing import LAWS, Case

LINE = np.array([0.7, -1.2, 2.1, 0.3, -0.4])

ROWS = np.array([[0.5, -1.1, 1.7], [2.3, 0.2, -0.6]])

SQUARE = np.array([[0.5, -1.1, 1.7], [2.3, 0.2, -0.6], [0.9, 1.4, -2.2]])

CUBE = np.linspace(-1.0, 1.3, 24).reshape(2, 3, 4) ** 3 + 0.1

POINT = 1.3


def changed(function, x, *args, **kwargs):
    """A copy of an array, after a function has changed it in place."""
    y = x * 1.0
    function(y, *args, **kwargs)
    return y


MOVING = {
    "atleast_1d": (np.atleast_1d, [POINT, LINE]),
    "atleast_2d": (np.atleast_2d, [POINT, LINE, ROWS]),
    "atleast_3d": (np.atleast_3d, [POINT, LINE, ROWS, CUBE]),
    "atleast_1d many": (lambda x: np.atleast_1d(x, x[0], 2.0), [LINE]),
    "hstack": (lambda x: np.hstack([x, x * 2, x[:1]]), [LINE]),
    "hstack rows": (lambda x: np.hstack((x, np.ones((2, 2)))), [ROWS]),
    "hstack numbers": (lambda x: np.hstack([x[0], 3.0, x[1]]), [LINE]),
    "vstack": (lambda x: np.vstack([x, np.arange(5.0), x**2]), [LINE]),
    "dstack": (lambda x: np.dstack([x, x + 1]), [LINE, ROWS]),
    "column_stack": (lambda x: np.column_stack([x, x**2, np.ones((5, 2))]), [LINE]),
    "stack": (lambda x: np.stack([x, x * 2], axis=-1), [LINE, ROWS]),
    "concatenate": (lambda x: np.concatenate([x, x[:, :1]], axis=1), [ROWS]),
    "concatenate flat": (lambda x: np.concatenate([x, np.ones(2)], axis=None), [ROWS]),
    "block": (lambda x: np.block([[x, np.zeros((3, 1))], [np.ones((1, 3)), x[0, 0]]]), [SQUARE]),
    "block line": (lambda x: np.block([x, 2.0, x]), [LINE]),
    "append": (lambda x: np.append(x, [x[0], 2.0]), [LINE]),
    "append axis": (lambda x: np.append(x, x[:1], axis=0), [ROWS]),
    "append flat": (lambda x: np.append(x, 3.0), [ROWS]),
    "insert": (lambda x: np.insert(x, 2, x[0] * 2), [LINE]),
    "insert many": (lambda x: np.insert(x, [0, 3, 3], x[:3] * 2), [LINE]),
    "insert column": (lambda x: np.insert(x, 1, x[:, 0] + 1, axis=1), [ROWS]),
    "insert slice": (lambda x: np.insert(x, slice(1, 4), 7.0), [LINE]),
    "insert rows": (lambda x: np.insert(x, [1], [[1.0], [2.0]], axis=1), [ROWS]),
    "delete": (lambda x: np.delete(x, 1), [LINE, ROWS]),
    "delete many": (lambda x: np.delete(x, [0, -1], axis=1), [ROWS]),
    "delete slice": (lambda x: np.delete(x, slice(None, None, 2)), [LINE]),
    "delete mask": (lambda x: np.delete(x, np.array([True, False, True]), axis=1), [ROWS]),
    "split": (lambda x: tuple(np.split(x, 3, axis=1)), [ROWS]),
    "split places": (lambda x: tuple(np.split(x, [1, 3, 9])), [LINE]),
    "array_split": (lambda x: tuple(np.array_split(x, 3)), [LINE]),
    "hsplit": (lambda x: tuple(np.hsplit(x, [1])), [LINE, ROWS]),
    "vsplit": (lambda x: tuple(np.vsplit(x, 2)), [ROWS]),
    "dsplit": (lambda x: tuple(np.dsplit(x, 2)), [CUBE]),
    "unstack": (lambda x: np.unstack(x, axis=1), [ROWS]),
    "tile": (lambda x: np.tile(x, 3), [POINT, LINE, ROWS]),
    "tile axes": (lambda x: np.tile(x, (2, 1, 2)), [LINE, ROWS]),
    "tile none": (lambda x: np.tile(x, ()), [ROWS]),
    "repeat": (lambda x: np.repeat(x, 2), [POINT, LINE, ROWS]),
    "repeat axis": (lambda x: np.repeat(x, 3, axis=-1), [ROWS]),
    "repeat each": (lambda x: np.repeat(x, [2, 0, 1], axis=1), [ROWS]),
    "resize": (lambda x: np.resize(x, (3, 4)), [POINT, LINE, ROWS]),
    "roll": (lambda x: np.roll(x, 2), [LINE, ROWS]),
    "roll axes": (lambda x: np.roll(x, (1, -2), axis=(0, 1)), [ROWS]),
    "roll twice": (lambda x: np.roll(x, (1, 2), axis=1), [ROWS]),
    "roll several": (lambda x: np.roll(x, 1, axis=(0, 2)), [CUBE]),
    "rollaxis": (lambda x: np.rollaxis(x, 2), [CUBE]),
    "rollaxis start": (lambda x: np.rollaxis(x, 0, 3), [CUBE]),
    "rot90": (np.rot90, [ROWS, CUBE]),
    "rot90 back": (lambda x: np.rot90(x, -1, axes=(1, 2)), [CUBE]),
    "rot90 twice": (lambda x: np.rot90(x, 2), [ROWS]),
    "rot90 none": (lambda x: np.rot90(x, 4), [ROWS]),
    "flip": (lambda x: np.flip(x), [LINE, CUBE]),
    "flip axes": (lambda x: np.flip(x, (0, 2)), [CUBE]),
    "fliplr": (np.fliplr, [ROWS]),
    "flipud": (np.flipud, [LINE, ROWS]),
    "matrix_transpose": (np.matrix_transpose, [ROWS, CUBE]),
    "moveaxis": (lambda x: np.moveaxis(x, (0, 1), (-1, 0)), [CUBE]),
    "swapaxes": (lambda x: np.swapaxes(x, 0, -1), [CUBE]),
    "transpose": (lambda x: np.transpose(x, (2, 0, 1)), [CUBE]),
    "squeeze": (lambda x: np.squeeze(x[:, None, :, None]), [ROWS]),
    "squeeze axis": (lambda x: np.squeeze(x[:, None, :, None], axis=-1), [ROWS]),
    "expand_dims": (lambda x: np.expand_dims(x, (0, -1)), [ROWS]),
    "amax": (lambda x: np.amax(x, axis=-1), [ROWS]),
    "amin": (np.amin, [LINE]),
    "zeros_like": (lambda x: np.zeros_like(x) + np.ones_like(x) * x, [ROWS]),
    "empty_like": (lambda x: np.empty_like(x) * 0.0 + x, [LINE]),
    "put": (lambda x: changed(np.put, x, [0, -1], x[1:3] ** 2), [LINE]),
    "put_along_axis": (lambda x: changed(np.put_along_axis, x, np.array([[2], [0]]), x[:, 1:2] ** 2, 1), [ROWS]),
    "putmask": (lambda x: changed(np.putmask, x, LINE > 0, x[:2] ** 2), [LINE]),
    "place": (lambda x: changed(np.place, x, LINE > 0, [x[2] ** 2, 4.0]), [LINE]),
    "copyto": (lambda x: changed(np.copyto, x, x[::-1] * 2, where=LINE < 0), [LINE]),
    "fill_diagonal": (lambda x: changed(np.fill_diagonal, x, x[0, 1] ** 2), [SQUARE]),
    "reshape F": (lambda x: np.reshape(x, (3, 2), order="F"), [ROWS]),
    "reshape A": (lambda x: np.reshape(x.T, (2, 3), order="A"), [ROWS]),
    "ravel F": (lambda x: np.ravel(x, order="F"), [CUBE]),
    "ravel K": (lambda x: np.ravel(x.transpose(1, 0, 2), order="K"), [CUBE]),
    "broadcast_to": (lambda x: np.broadcast_to(x, (4, 2, 3)), [POINT, ROWS]),
    "broadcast_arrays": (lambda x: np.broadcast_arrays(x, x[:, :1], 2.0), [ROWS]),
    "meshgrid": (lambda x: np.meshgrid(x, x[:2] * 2), [LINE]),
    "meshgrid ij": (lambda x: np.meshgrid(x, x[:2], x[0], indexing="ij"), [LINE]),
    "meshgrid sparse": (lambda x: np.meshgrid(x, x[:2], sparse=True, copy=False), [LINE]),
    "ix_": (lambda x: x[np.ix_([0, 1], [2, 0])], [ROWS]),
    "ix_ traced": (lambda x: np.ix_(x, x[:2])[0], [LINE]),
    "sliding_window_view": (lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 2)), [ROWS]),
    "sliding_window_view axis": (lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 1), (1, 0)), [ROWS, CUBE]),
    "take": (lambda x: np.take(x, [[0, 4], [2, 2]]), [LINE, ROWS]),
    "take number": (lambda x: np.take(x, 1), [LINE]),
    "take axis": (lambda x: np.take(x, [2, 0, 2, -1], axis=1), [ROWS, CUBE]),
    "take wrap": (lambda x: np.take(x, [7, -8], mode="wrap"), [LINE]),
    "take clip": (lambda x: np.take(x, [7, -8], mode="clip"), [LINE]),
    "take_along_axis": (lambda x: np.take_along_axis(x, np.array([[0, 2], [1, 1]]), axis=1), [ROWS]),
    "take_along_axis wide": (lambda x: np.take_along_axis(x, np.array([[1]]), axis=1), [ROWS]),
    "take_along_axis flat": (lambda x: np.take_along_axis(x, np.array([3, 0, 3]), axis=None), [ROWS]),
    "take_along_axis order": (lambda x: np.take_along_axis(x, np.argsort(x, axis=0), axis=0), [ROWS]),
    "choose": (lambda x: np.choose([0, 1, 1], [x, x * 2]), [ROWS]),
    "choose array": (lambda x: np.choose([[0, 1], [2, 0]], x[:3]), [LINE]),
    "choose wrap": (lambda x: np.choose([3, -1, 4], [x, x * 2], mode="wrap"), [ROWS]),
    "select": (lambda x: np.select([x > 1, x > 0], [x**2, -x], default=3.0), [LINE]),
    "select default": (lambda x: np.select([x > 1], [x], x * 3), [LINE, ROWS]),
    "compress": (lambda x: np.compress([False, True], x, axis=0), [ROWS]),
    "compress flat": (lambda x: np.compress([0, 1, 0, 1], x), [LINE, ROWS]),
    "extract": (lambda x: np.extract(np.arange(5) % 2 == 0, x), [LINE]),
    "diag": (np.diag, [LINE, SQUARE, ROWS]),
    "diag above": (lambda x: np.diag(x, 1), [LINE, SQUARE, ROWS]),
    "diag below": (lambda x: np.diag(x, -2), [LINE, SQUARE, ROWS]),
    "diagflat": (lambda x: np.diagflat(x, 1), [LINE, ROWS]),
    "diagonal": (lambda x: np.diagonal(x, 1, 0, 2), [CUBE]),
    "diagonal below": (lambda x: np.diagonal(x, -1, 1, 2), [CUBE]),
    "trace": (np.trace, [SQUARE, ROWS, CUBE]),
    "trace axes": (lambda x: np.trace(x, -1, 2, 1), [CUBE]),
    "tril": (lambda x: np.tril(x, 1), [LINE, ROWS, CUBE]),
    "triu": (lambda x: np.triu(x, 1), [LINE, ROWS, CUBE]),
    "vander": (np.vander, [LINE]),
    "vander increasing": (lambda x: np.vander(x, 3, increasing=True), [LINE]),
    "vander short": (lambda x: np.vander(x, 1), [LINE]),
    "partition": (lambda x: np.partition(x, 2), [LINE, CUBE]),
    "partition axis": (lambda x: np.partition(x, (0, 1), axis=0), [ROWS]),
    "partition flat": (lambda x: np.partition(x, 3, axis=None), [ROWS]),
    "sort": (lambda x: np.sort(x, axis=0), [SQUARE]),
    "sort flat": (lambda x: np.sort(x, axis=None), [SQUARE]),
    "piecewise": (lambda x: np.piecewise(x, [x < 0, x > 1], [lambda t: t**2, lambda t: -t, 3.0]), [LINE, ROWS]),
    "piecewise one": (lambda x: np.piecewise(x, x > 0, [lambda t: 2 * t]), [LINE]),
    "piecewise args": (lambda x: np.piecewise(x, [x > 0], [lambda t, a, b: a * t + b, 0], 2.0, b=3.0), [LINE]),
    "apply_along_axis": (lambda x: np.apply_along_axis(np.sum, 1, x), [ROWS, CUBE]),
    "apply_along_axis wider": (lambda x: np.apply_along_axis(np.diag, 1, x), [CUBE]),
    "apply_along_axis args": (lambda x: np.apply_along_axis(lambda a, s: a[::-1] * s, 0, x, 2.0), [CUBE]),
    "apply_over_axes": (lambda x: np.apply_over_axes(np.sum, x, [0, -1]), [CUBE]),
    "linspace": (lambda x: np.linspace(x[0], x[1], 5), [LINE]),
    "linspace open": (lambda x: np.linspace(x, 3.0, 4, endpoint=False), [POINT, LINE]),
    "linspace axis": (lambda x: np.linspace(x, x * 2, 4, axis=-1), [ROWS]),
    "linspace step": (lambda x: np.linspace(0.0, x, 4, retstep=True), [POINT, LINE]),
    "linspace one": (lambda x: np.linspace(x, 3.0, 1), [LINE]),
    "linspace none": (lambda x: np.linspace(x, 3.0, 0), [LINE]),
    "logspace": (lambda x: np.logspace(x, 1.5, 4), [POINT, LINE * 0.3]),
    "logspace base": (lambda x: np.logspace(0.0, 1.5, 4, base=x, axis=-1), [np.abs(LINE)]),
    "geomspace": (lambda x: np.geomspace(x, 7.0, 4), [POINT, np.abs(LINE)]),
    "geomspace negative": (lambda x: np.geomspace(-x, -7.0, 4, endpoint=False, axis=-1), [np.abs(LINE)]),
    "array nested": (lambda x: np.array([[x[0], 1.0], [x[1] * x[2], x[3]]]), [LINE]),
    "array rows": (lambda x: np.array([x, [1.0, 2.0, 3.0, 4.0, 5.0]]), [LINE]),
    "array ndmin": (lambda x: np.array(x, ndmin=3), [POINT, LINE]),
    "array list ndmin": (lambda x: np.array([x[0], x[1]], ndmin=2), [LINE]),
    "asarray tuple": (lambda x: np.asarray((x[0], 2.0)), [LINE]),
    "full": (lambda x: np.full((2, 5), x), [POINT, LINE]),
    "full_like": (lambda x: np.full_like(x, x[0, 1]), [ROWS]),
    "r_": (lambda x: np.r_[x, 1.0, x[0], 0:3], [LINE]),
    "r_ axis": (lambda x: np.r_["1", x, x], [ROWS]),
    "r_ columns": (lambda x: np.r_["0,2,0", x, x], [LINE]),
    "c_": (lambda x: np.c_[x, x**2], [LINE, ROWS]),
    "broadcast": (lambda x: sum(a * b for a, b in np.broadcast(x, x[:1])) * np.broadcast(x, x).size, [ROWS]),
    "ndenumerate": (lambda x: sum(v * (i + 2 * j) for (i, j), v in np.ndenumerate(x)), [ROWS]),
    "require": (lambda x: np.require(x, requirements="C") * x, [LINE]),
    "asarray_chkfinite": (lambda x: np.asarray_chkfinite(x) * x, [LINE]),
    "fromfunction": (lambda x: np.fromfunction(lambda i, j: x[0] * i + j * x[1], (2, 3)), [LINE]),
    "copy": (lambda x: np.copy(x) * x, [LINE]),
    "pad": (lambda x: np.pad(x, 2), [LINE, ROWS]),
    "pad constants": (lambda x: np.pad(x, ((1, 2), (0, 3)), constant_values=((1.0, 2.0), (3.0, 4.0))), [ROWS]),
    "pad traced": (lambda x: np.pad(x, 1, constant_values=x[0]), [LINE]),
    "pad dict": (lambda x: np.pad(x, {-1: (1, 2)}), [ROWS]),
    "pad edge": (lambda x: np.pad(x, 2, "edge"), [LINE, ROWS]),
    "pad linear_ramp": (lambda x: np.pad(x, (2, 3), "linear_ramp", end_values=(5.0, -4.0)), [LINE, ROWS]),
    "pad maximum": (lambda x: np.pad(x, 2, "maximum"), [LINE, ROWS]),
    "pad mean": (lambda x: np.pad(x, (1, 2), "mean", stat_length=2), [LINE, ROWS]),
    "pad median": (lambda x: np.pad(x, 2, "median", stat_length=((3, 2),)), [LINE, ROWS]),
    "pad minimum": (lambda x: np.pad(x, 2, "minimum", stat_length=1), [LINE, ROWS]),
    "pad reflect": (lambda x: np.pad(x, (3, 7), "reflect"), [LINE, ROWS]),
    "pad reflect odd": (lambda x: np.pad(x, (3, 7), "reflect", reflect_type="odd"), [LINE, ROWS, ROWS[:1]]),
    "pad symmetric": (lambda x: np.pad(x, (3, 7), "symmetric"), [LINE, ROWS]),
    "pad symmetric odd": (lambda x: np.pad(x, (6, 3), "symmetric", reflect_type="odd"), [LINE, ROWS]),
    "pad wrap": (lambda x: np.pad(x, (6, 3), "wrap"), [LINE, ROWS]),
    "pad function": (lambda x: np.pad(x, 2, pad_by_hand, padder=3.0), [LINE, ROWS]),
    "sort_complex": (lambda x: np.real(np.sort_complex(x * (1 + 2j))), [LINE]),
}

DATA_DEPENDENT = {
    "unique": (np.unique, [LINE]),
    "unique index": (lambda x: np.unique(x, return_index=True, return_inverse=True, return_counts=True)[0], [ROWS]),
    "unique axis": (lambda x: np.unique(x, axis=0), [SQUARE]),
    "unique_values": (np.unique_values, [LINE]),
    "unique_all": (lambda x: np.unique_all(x).values, [LINE]),
    "unique_counts": (lambda x: np.unique_counts(x).values, [LINE]),
    "unique_inverse": (lambda x: np.unique_inverse(x).values, [LINE]),
    "union1d": (lambda x: np.union1d(x, x[:2] * 2), [LINE]),
    "intersect1d": (lambda x: np.intersect1d(x, x[1:4]), [LINE]),
    "setdiff1d": (lambda x: np.setdiff1d(x, x[1:4]), [LINE]),
    "setxor1d": (lambda x: np.setxor1d(x, np.append(x[1:4], 9.0)), [LINE]),
    "trim_zeros": (lambda x: np.trim_zeros(np.concatenate([np.zeros(2), x, np.zeros(1)])), [LINE]),
    "trim_zeros front": (lambda x: np.trim_zeros(np.pad(x, 1), "f"), [LINE, ROWS]),
    "trim_zeros list": (lambda x: np.multiply(*np.trim_zeros([0.0, x[0], x[1], 0.0])), [LINE]),
    "trim_zeros tuple": (lambda x: np.stack(np.trim_zeros((0.0, x[0], x[1]), "b")), [LINE]),
    "trim_zeros axis": (lambda x: np.trim_zeros(np.pad(x, 1), axis=1), [ROWS]),
    "mask": (lambda x: x[x > 0], [LINE, ROWS]),
    "extract traced": (lambda x: np.extract(x > 0, x), [LINE]),
    "compress traced": (lambda x: np.compress(x > 0, x), [LINE]),
    "nonzero": (lambda x: x[np.nonzero(x > 0)], [ROWS]),
    "where one": (lambda x: x[np.where(x > 0)], [ROWS]),
    "argwhere": (lambda x: x[tuple(np.argwhere(x > 0)[0])], [ROWS]),
}


def pad_by_hand(vector, width, axis, kwargs):
    """The example of NumPy's documentation: change the padding of a line in place."""
    vector[: width[0]] = kwargs["padder"]
    vector[len(vector) - width[1] :] = vector[width[0]] * 2


def nonlinear(function):
    """The function between two nonlinear ones, so that its second derivative is not zero."""

    def composed(x):
        found = function(np.sin(x) + x)
        return tuple([np.exp(0.3 * f) for f in found]) if isinstance(found, (tuple, list)) else np.exp(0.3 * found)

    return composed


def cases(table, laws):
    """One case for each function and each of its arguments."""
    return [
        Case(f"{name} {np.shape(x)}", make(function), (x,), laws)
        for name, (function, args) in table.items()
        for x in args
        for make in ((lambda f: f), nonlinear)
    ]


EVERY_LAW = cases(MOVING, tuple(LAWS))

NO_BATCH = cases(DATA_DEPENDENT, ("value", "tangent", "adjoint", "orders"))
