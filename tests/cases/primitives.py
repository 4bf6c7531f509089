"""One or more cases for every primitive of the catalogue: elementwise ones from their domain, the others by hand."""

import numpy as np

from adjoint.numpy import functions
from adjoint.ops import special
from adjoint.ops.declare import CATALOGUE, WholeNumbers
from adjoint.ops.keys import HOLE
from adjoint.rules.elementwise import Elementwise
from adjoint.rules.multi_output import Several
from adjoint.rules.reducing import Reducing
from adjoint.rules.selecting import Selecting
from adjoint.testing import Case

from . import primitives_linalg

functions.load()
special.load()
SHAPE = (2, 3)
ROWS = np.array([[0.7, -1.3, 0.4], [1.9, 0.2, -0.6]])
CUBE = np.random.default_rng(1).normal(size=(2, 3, 4))
SQUARE = np.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [-0.3, 0.4, 1.8]])


def sample(interval, rng, shape=SHAPE):
    """Points inside an interval, away from its ends; whole numbers where only those are meant."""
    low, high = interval
    if isinstance(interval, WholeNumbers):
        return rng.integers(int(low), int(high) + 1, size=shape)
    u = rng.uniform(0.15, 0.85, size=shape)
    if np.isfinite(low) and np.isfinite(high):
        return low + (high - low) * u
    if np.isfinite(low):
        return low + 0.3 + 2.2 * u
    if np.isfinite(high):
        return high - 0.3 - 2.2 * u
    return np.where(rng.uniform(size=shape) < 0.5, -1, 1) * (0.3 + 1.5 * u)


def elementwise_cases(primitive):
    """All arguments move that have a partial; then one at a time against a broadcast other."""
    derivative = primitive.derivative
    known = derivative.weights if isinstance(derivative, Selecting) else derivative.partials
    rng = np.random.default_rng(3)
    args = [sample(interval, rng) for interval in primitive.domain]
    moving = [
        k for k, rule in enumerate(known) if rule is not None and not isinstance(primitive.domain[k], WholeNumbers)
    ]

    def function(*moved):
        full = list(args)
        for k, x in zip(moving, moved, strict=True):
            full[k] = x
        return primitive(*full)

    rtol = ROUGH.get(primitive.name, 3e-6)
    if primitive.name in FAINT:
        last = moving[-1]
        yield Case(f"{primitive.name}, magnified", lambda x: 1e6 * primitive(*args[:last], x), (args[last],), rtol=rtol)
    yield Case(primitive.name, function, tuple([args[k] for k in moving]), rtol=rtol)
    if len(moving) > 1:
        mixed = [args[k][0] if k == moving[-1] else args[k] for k in moving]
        yield Case(f"{primitive.name}, broadcast", function, tuple(mixed), rtol=rtol)


FAINT = {"radian"}
"""Functions whose last argument matters so little that the others drown it: an hour's seconds in radians."""

ROUGH = {"ncfdtrinc": 1e-3}
"""Where SciPy's own values are less accurate than that, so that differences of them are."""


BY_HAND = {
    "add": [((ROWS, ROWS[0] + 1), {})],
    "subtract": [((ROWS, ROWS[0] + 1), {})],
    "multiply": [((ROWS, ROWS[:, :1] + 1), {})],
    "negative": [((ROWS,), {})],
    "positive": [((ROWS,), {})],
    "real": [((ROWS + 1j * ROWS[::-1],), {})],
    "imag": [((ROWS + 1j * ROWS[::-1],), {})],
    "conjugate": [((ROWS + 1j * ROWS[::-1],), {}), ((ROWS,), {})],
    "fmod": [((5 * ROWS, np.abs(ROWS) + 0.33), {})],
    "remainder": [((5 * ROWS, np.abs(ROWS) + 0.33), {})],
    "clip": [((2 * ROWS, -0.9 - ROWS[0] ** 2, 0.7 + ROWS**2), {}), ((ROWS, ROWS[0] + 2.0, ROWS[0] + 3.0), {})],
    "reshape": [((CUBE,), {"shape": (4, 6)})],
    "transpose": [((CUBE,), {"axes": (2, 0, 1)})],
    "broadcast_to": [((ROWS,), {"shape": (4, 2, 3)}), ((ROWS[:, :1],), {"shape": (2, 5)})],
    "flip": [((CUBE,), {"axis": (-3, -1)})],
    "roll": [((CUBE,), {"shift": (1, -2), "axis": (-3, -1)})],
    "concatenate": [((ROWS, ROWS[:, :2] * 2), {"axis": -1}), ((ROWS, ROWS, ROWS[:1]), {"axis": -2})],
    "stack": [((ROWS, ROWS * 2), {"axis": -1}), ((ROWS, ROWS, ROWS + 1), {"axis": -3})],
    "astype": [((ROWS,), {"dtype": np.dtype(np.complex128)})],
    "sum": [((CUBE,), {"axis": (-3, -1), "keepdims": False}), ((CUBE,), {"axis": (-2,), "keepdims": True}),
            ((CUBE,), {"axis": (-3, -2, -1), "keepdims": False})],
    "cumsum": [((CUBE,), {"axis": -2})],
    "max": [((CUBE,), {"axis": (-3, -1), "keepdims": False}), ((CUBE,), {"axis": (-2,), "keepdims": True})],
    "min": [((CUBE,), {"axis": (-3, -1), "keepdims": False}), ((CUBE,), {"axis": (-2,), "keepdims": True})],
    "logsumexp": [((CUBE,), {"axis": (-3, -1), "keepdims": False}), ((CUBE,), {"axis": (-2,), "keepdims": True})],
    "matmul": [((CUBE, CUBE[0].T[:, :2]), {}),
               ((CUBE[0], CUBE[1, 0]), {}), ((CUBE[1, :, 0], CUBE[0]), {}), ((CUBE[0, 0], CUBE[1, 1]), {}),
               ((CUBE, np.swapaxes(CUBE[::-1], 1, 2)), {})],
    "contract": [((CUBE, CUBE[::-1, 0]), {"first": "abc", "second": "ac", "result": "ba"}),
                 ((CUBE, CUBE[0] + 1), {"first": "abc", "second": "dc", "result": "dab"}),
                 ((np.tile(CUBE, (3, 2, 2)), np.ones((4, 3))), {"first": "abc", "second": "de", "result": "abcde"}),
                 ((np.tile(CUBE, (1, 4, 4)), np.tile(CUBE[0, 0], (2, 4))),
                  {"first": "abc", "second": "ac", "result": "ba"}),
                 ((ROWS, ROWS[:, 0]), {"first": "ab", "second": "c", "result": "cba"})],
    "convolve": [((ROWS[0], CUBE[0, 0]), {"mode": "full"}), ((CUBE[0, 0], ROWS[0]), {"mode": "valid"})],
    "prod": [((CUBE,), {"axis": (-3, -1), "keepdims": False}),
             ((CUBE * (CUBE > 0),), {"axis": (-2,), "keepdims": True})],
    "product_of_others": [((CUBE,), {"axis": (-3, -1)}), ((CUBE * (CUBE > 0),), {"axis": (-2,)}),
                          ((CUBE[:, :1],), {"axis": (-2,)})],
    "sinc_derivative": [((ROWS * 0.4,), {"order": 0}), ((ROWS * 3,), {"order": 1}), ((ROWS * 0.1,), {"order": 4})],
    "i0_derivative": [((ROWS,), {"order": 0}), ((ROWS,), {"order": 3})],
    "unwrap": [((4 * CUBE,), {"discont": None, "axis": -2, "period": 2 * np.pi})],
}  # fmt: skip

PLACES = np.array([0, 2, 0])
MASK = np.array([True, False, True])


def by_hand_cases(name):
    """The listed arguments, all of them moving; of a reduction with shares also with zeros among them."""
    primitive = CATALOGUE[name]
    for number, (args, params) in enumerate(BY_HAND[name]):
        label = f"{name}, {number}" if number else name
        yield Case(label, lambda *a, p=params: primitive(*a, **p), args)
        if isinstance(primitive.derivative, Reducing):
            yield Case(f"{label}, zeros", lambda *a, p=params: primitive(*a, **p), with_zeros(args))


def with_zeros(args):
    """The arguments with zeros among their elements, where the share of one may be 0 and yet change nearby."""
    found = tuple([np.array(a) for a in args])
    for a in found:
        a.flat[::7] = 0.0
    return found


def indexing_cases():
    """Reading, writing and adding, with index arrays as constants."""
    c = CATALOGUE
    yield Case("index", lambda x: c["index"](x, template=(slice(None), slice(2, None, -1))), (ROWS,))
    yield Case("index, arrays", lambda x: c["index"](x, PLACES, template=(..., HOLE)), (ROWS,))
    yield Case("index, mask", lambda x: c["index"](x, MASK, template=(..., HOLE)), (ROWS,))
    yield Case("unindex", lambda g: c["unindex"](g, template=(slice(1, 3),), shape=(4, 3)), (ROWS,))
    yield Case("unindex, arrays", lambda g: c["unindex"](g, PLACES, template=(..., HOLE), shape=(2, 4)), (ROWS,))
    yield Case(
        "assign", lambda x, v: c["assign"](x, v, template=(slice(None), slice(1, None))), (ROWS, ROWS[:, :1] * 3)
    )
    yield Case("assign, arrays", lambda x, v: c["assign"](x, v, PLACES, template=(..., HOLE)), (ROWS, 2 * ROWS))
    yield Case("take_along", lambda x: c["take_along"](x, np.array([[2, 0, 0], [1, 1, 2]]), axis=-1), (ROWS,))
    yield Case("put_along", lambda g: c["put_along"](g, np.array([[2, 0, 0], [1, 1, 2]]), axis=-1, length=4), (ROWS,))
    yield Case("where", lambda x, y: c["where"](ROWS > 0, x, y), (ROWS, ROWS[0] * 2))


def one_argument_cases(name):
    """Functions of which only one argument moves: the other is an integer, or stands at the jump."""
    yield {
        "ldexp": Case("ldexp", lambda x: CATALOGUE["ldexp"](x, np.array([1, -2, 3])), (ROWS,)),
        "heaviside": Case("heaviside", lambda y: CATALOGUE["heaviside"](np.array([0.0, 0.0, 1.0]), y), (ROWS,)),
    }[name]


ONE_ARGUMENT = ("ldexp", "heaviside")
INDEXING = ("index", "unindex", "assign", "take_along", "put_along", "where")


def cases_of(primitive):
    """Every case of one primitive."""
    name = primitive.name
    if name in INDEXING:
        return [case for case in indexing_cases() if case.name.split(",")[0] == name]
    if name in ONE_ARGUMENT:
        return list(one_argument_cases(name))
    if name in BY_HAND:
        return list(by_hand_cases(name))
    if isinstance(primitive.derivative, (Elementwise, Selecting, Several)):
        return list(elementwise_cases(primitive))
    return list(ELSEWHERE[name]) if name in ELSEWHERE else []


ELSEWHERE: dict = {**primitives_linalg.CASES}
"""Primitives whose cases have a file for their topic."""

DIFFERENTIABLE = {
    name: p
    for name, p in CATALOGUE.items()
    if not p.derivative.is_zero and any(getattr(p.derivative, "partials", [True]))
}
"""Without those of which no partial is known, so that nothing may move: they only have values."""
