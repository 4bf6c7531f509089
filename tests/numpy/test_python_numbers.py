"""Numbers of Python inside a trace follow Python, those of NumPy NumPy: value, type, error, in all transformations."""

import math
import operator

import numpy as np
import pytest

import adjoint as ad

pytestmark = pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")  # from Python 3.12 on

POINTS = (2.675, -2.675, 0.5, 4.0, -0.0)


def two(x):
    return x > 0, x > 1


UNARY = (operator.neg, operator.pos, operator.abs, operator.invert, operator.not_, round, int, float, complex, bool)
BINARY = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.lt, operator.le, operator.gt,
    operator.ge, operator.eq, operator.ne, divmod, max, min,
)  # fmt: skip

PROGRAMS = {
    **{f"{op.__name__} of a truth value": lambda x, op=op: op(x > 0) for op in UNARY},
    **{f"{op.__name__} of truth values": lambda x, op=op: op(*two(x)) for op in BINARY},
    **{f"{op.__name__} with 3": lambda x, op=op: op(x > 0, 3) for op in BINARY},
    **{f"{op.__name__} of the number": lambda x, op=op: op(x) for op in UNARY if op not in (float, complex)},
    **{f"{op.__name__} by 2": lambda x, op=op: op(x, 2) for op in BINARY},
    **{f"{op.__name__} by -0.7": lambda x, op=op: op(x, -0.7) for op in BINARY if op is not operator.pow},
    **{f"{op.__name__} of 7": lambda x, op=op: op(7, x + 0.1) for op in BINARY},
    "times the number": lambda x: (x > 0) * x,
    "the number times": lambda x: x * (x > 1),
    "counted": lambda x: sum([x > 0, x > 1, x > 2]),
    "chained": lambda x: 0 < x < 3,
    "an index": lambda x: ["a", "b"][x > 1],
    "a key": lambda x: {True: 1, False: 0}[x > 0],
    "repeated": lambda x: [1, 2] * (x > 0),
    "text repeated": lambda x: "ab" * (x > 0),
    "a range": lambda x: list(range(x > 0)),
    "shifted": lambda x: int(x) << 3 if x >= 0 else 0,
    "an integer power": lambda x: int(x + 1) ** 2 if x > 0 else 0,
    "a negative power": lambda x: (int(x) + 1) ** -2 if x > 0 else 0,
    "an integer quotient": lambda x: (int(x * 10) // 4, -int(x * 10) // 4, int(x * 10) % -4),
    "a modular power": lambda x: pow(int(abs(x)) + 2, 5, 7),
    **{f"round to {n}": lambda x, n=n: round(x * 1.0, n) for n in (2, 1, 0, -1, 3)},
    "round half": lambda x: (round(x - x + 0.125, 2), round(x - x + 2.5), round(x - x + 1e16 + 0.5, 1)),
    "round to None": lambda x: round(x, None),
    "absolute": lambda x: (abs(x) > 0) + (abs(x) > 0.1),
    "after operators": lambda x: (x * x + 1 > 0) + (-x / 2 < 9) + (x**2 > -1) + (+x < 9),
    "modulo infinity": lambda x: (x % math.inf, x // math.inf, x % -math.inf),
    "is_integer": lambda x: x.is_integer(),
    "conjugate": lambda x: (x.conjugate(), x.real, x.imag),
    "after a NumPy function": lambda x: (np.cos(x) > -2) + (np.cos(x) > -3),
    "np.abs": lambda x: (np.abs(x) > -1) + (np.abs(x) > -2),
    "np.add": lambda x: (np.add(x, 1.0) > -9) + (np.multiply(x, 1.0) > -9),
    "an element": lambda x: (np.array([x, 2.0])[0] > -9) + (np.array([x, 2.0])[0] > -8),
    "NumPy's and Python's": lambda x: (x > np.float64(-9)) + (x > -9),
    "rounded by NumPy": lambda x: round(np.float64(1.0) * x, 2),
    "sum with an array element": lambda x: round(np.sum(np.array([x])), 2),
}

TRANSFORMS = {
    "grad": lambda f, x: ad.grad(lambda z: (z * 1.0, f(z)), has_aux=True)(x)[1],
    "jvp": lambda f, x: ad.jvp(lambda z: (z * 1.0, f(z)), (x,), (1.0,), has_aux=True)[2],
    "vjp": lambda f, x: ad.vjp(lambda z: (z * 1.0, f(z)), x, has_aux=True)[2],
    "grad of grad": lambda f, x: ad.grad(
        lambda z: ad.grad(lambda y: (y * z, f(y)), has_aux=True)(z), has_aux=True
    )(x)[1],
    "jvp of grad": lambda f, x: ad.jvp(
        lambda z: ad.grad(lambda y: (y * z, f(y)), has_aux=True)(z), (x,), (1.0,), has_aux=True
    )[2],
    "beside an array": lambda f, x: ad.grad(lambda z, w: (z * 1.0, f(z)), (0, 1), has_aux=True)(x, np.ones(2))[1],
}  # fmt: skip


def attempted(call):
    """The result with its types, or the kind of error."""
    try:
        with np.errstate(all="ignore"):
            return shown(call())
    except (TypeError, ValueError, ZeroDivisionError) as error:
        return "refused", isinstance(error, TypeError)


def shown(x):
    if isinstance(x, (tuple, list)):
        return [shown(part) for part in x]
    return type(x).__name__, repr(x)


KINDS = (float, np.float64)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_numbers_are_as_without_a_trace(program):
    """The same value, of the same type, or refused where plain Python refuses."""
    is_conversion = program in (PROGRAMS.get("float of a truth value"), PROGRAMS.get("complex of a truth value"))
    for point in POINTS:
        for kind in KINDS:
            want = attempted(lambda: program(kind(point)))
            if kind is np.float64 and is_conversion:
                continue
            if _is_division_by_zero(program, kind(point)):
                continue
            for name, transform in TRANSFORMS.items():
                assert attempted(lambda: transform(program, kind(point))) == want, (name, kind, point)


def _is_division_by_zero(program, x):
    """Where Python raises and traced numbers are documented to be infinite or nan."""
    try:
        with np.errstate(all="ignore"):
            program(x)
    except ZeroDivisionError:
        return True
    except (TypeError, ValueError):
        pass
    return False


JITTED = [
    "add of truth values", "sub of truth values", "mul of truth values", "floordiv of truth values",
    "mod of truth values", "neg of a truth value", "invert of a truth value", "abs of a truth value",
    "round of a truth value", "add with 3", "pow with 3", "counted", "repeated", "text repeated", "an index", "a range",
    "round to 2", "round to -1", "round half", "absolute", "after operators", "after a NumPy function", "np.abs",
    "is_integer", "conjugate", "an integer quotient", "shifted", "mod by -0.7", "floordiv by 2",
]  # fmt: skip


@pytest.mark.parametrize("name", JITTED)
def test_numbers_in_recordings(name):
    """Recorded and run again, also with other numbers, the results are those of the plain function."""
    program = PROGRAMS[name]
    recorded = ad.jit(program)
    for point in (2.675, 2.675, 3.5, 0.5, 2.675):
        if not _is_division_by_zero(program, point):
            assert shown(recorded(point)) == shown(program(point))


def test_a_gradient_that_counts():
    """A count of conditions as a factor, with its value and its derivative."""

    def f(x):
        return x * ((x > 0) + (x > 1))

    assert ad.value_and_grad(f)(3.0) == (6.0, 2.0)
    assert ad.grad(f)(0.5) == 1.0
    assert ad.jvp(f, (3.0,), (1.0,)) == (6.0, 2.0)
    assert ad.jit(ad.grad(f))(3.0) == 2.0
    assert ad.grad(f)(np.float64(3.0)) == 1.0  # NumPy's truth values add up to one
    np.testing.assert_array_equal(ad.vmap(f)(np.array([0.5, 3.0])), [0.5, 3.0])


def test_precision_beside_single_precision_arrays():
    """A Python number gives way to an array's precision, NumPy's number does not, whatever else is an input."""
    low = np.ones(2, np.float32)

    def dtype_of_product(x, w):
        return np.sum(x), ((x * w).dtype, (np.sin(x) * w).dtype, (x * 2.0 * w).dtype)

    for x in (0.5, np.float64(0.5)):
        want = dtype_of_product(x, low)[1]
        assert ad.grad(dtype_of_product, has_aux=True)(x, low)[1] == want
        assert ad.grad(dtype_of_product, (0, 1), has_aux=True)(x, low)[1] == want


NUMPYS = [np.array, np.asarray, np.asanyarray, np.copy, np.squeeze, np.transpose, lambda x: np.reshape(x, ())]


@pytest.mark.parametrize("convert", [*NUMPYS, lambda x: np.full((), x), lambda x: np.broadcast_to(x, ())])
def test_what_numpy_made_of_a_python_number_is_numpys(convert):
    """Truth values, precision: those of an array without axes, also where it has the number's handle."""

    def kinds(x):
        return ~(convert(x) > 0), (convert(x) > 0) + (convert(x) > 1), (convert(x) * np.ones(1, np.float32)).dtype

    seen = []

    def f(x):
        seen.append(kinds(x))
        return convert(x) ** 2

    assert ad.grad(f)(1.5) == 3.0
    assert ad.jvp(f, (1.5,), (1.0,))[1] == 3.0
    assert ad.grad(ad.grad(f))(1.5) == 2.0
    assert kinds(1.5) == (False, True, np.dtype(float))
    assert seen == [kinds(1.5)] * 3


@pytest.mark.parametrize("part", [np.real, lambda x: np.imag(1j * x)])
def test_parts_of_python_numbers_are_pythons(part):
    """They are attributes of the number."""
    seen = []

    def f(x):
        seen.append((part(x) > 0) + (part(x) > 1))
        return x

    ad.grad(f)(1.5)
    ad.jvp(f, (1.5,), (1.0,))
    assert seen == [2, 2]
