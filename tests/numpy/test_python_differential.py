"""Small functions of Python floats, at ordinary and extreme points: in a trace they do what they do without one."""

import math

import pytest

import adjoint as ad

INF = math.inf
POINTS = (2.0, 0.0, -8.0, 1e200, 0.5, -0.0, INF, -INF, math.nan, 1000.0, 5e-324, 1.0, 2.5, 9007199254740993.0)

PROGRAMS = {
    "square": lambda x: x**2, "cube": lambda x: x**3, "product": lambda x: x * x, "inverse": lambda x: 1 / x,
    "over zero": lambda x: x / 0, "modulo zero": lambda x: x % 0, "floor by zero": lambda x: x // 0.0,
    "floor": lambda x: 1 // x, "modulo": lambda x: 1 % x, "zero to": lambda x: 0.0**x, "to -1": lambda x: x**-1,
    "to -1.0": lambda x: x**-1.0, "two to": lambda x: 2**x, "ten to": lambda x: 10.0**x, "itself": lambda x: x**x,
    "pow": lambda x: pow(x, 2), "pow -2": lambda x: pow(x, -2), "pow of three": lambda x: pow(x, 2, 3),
    "divmod": lambda x: divmod(x, 3), "divmod by": lambda x: divmod(7, x), "divmod zero": lambda x: divmod(x, 0),
    "round": round, "round 1": lambda x: round(x, 1), "round -1": lambda x: round(x, -1),
    "by three": lambda x: (x // 3, x % 3, x % -3.0), "seven by": lambda x: (7 // x, 7 % x), "abs": abs,
    "is_integer": lambda x: x.is_integer(), "parts": lambda x: (x.real, x.imag, x.conjugate()),
    "complex": lambda x: x + 1j, "complex inverse": lambda x: 1j / x, "a truth value": lambda x: x + True,
    "long": lambda x: x * 10**30, "too long": lambda x: x + 10**400, "compared long": lambda x: x < 10**400,
    "exactly": lambda x: (x == 2**53 + 1, x < 2**53 + 1, x >= 2**53 + 1), "a text": lambda x: x == "a",
    "nothing": lambda x: x != None, "less than complex": lambda x: x < 1j, "equal complex": lambda x: x == 2 + 0j,  # noqa: E711
    "less than text": lambda x: x < "a", "and": lambda x: x & 1, "shift": lambda x: x << 1, "invert": lambda x: ~x,
    "matmul": lambda x: x @ x, "counted": lambda x: (x > 0) + (x > 1), "sum": lambda x: sum([x, 1, 2]),
    "max": lambda x: max(x, 1.0), "min": lambda x: min(1, x), "chain": lambda x: 0 < x < 3, "not": lambda x: not x,
    "and then": lambda x: x and 5.0, "or else": lambda x: x or 5.0, "over long": lambda x: x / 10**400,
    "times a list": lambda x: [0] * x, "plus None": lambda x: x + None, "plus a text": lambda x: x + "a",
    "plus a list": lambda x: x + [1],  # noqa: RUF005
    "0 / 0": lambda x: (x - x) / (x - x), "large": lambda x: x * 1e200 * 1e200,
    "to 400": lambda x: x**400, "to -400": lambda x: x**-400, "to True": lambda x: x**True, "to 2.0": lambda x: x**2.0,
    "int": int, "floor to int": math.floor, "trunc": math.trunc, "ceil": math.ceil, "bool": bool,
    "int twice": lambda x: int(x) * 2, "in a tuple": lambda x: x in (0, 2), "in a set": lambda x: x in {0, 2.5},
    "a key": lambda x: {0: "a", 2: "b"}.get(x, "c"), "sorted": lambda x: sorted([x, 1.0, -INF]),
    "index": lambda x: [0.0, 2.0].index(x), "if": lambda x: 1.0 if x else 2.0, "hash": hash,
}  # fmt: skip


def caught(f):
    """The function, with its errors as results."""

    def call(x):
        try:
            return f(x)
        except Exception as error:
            return type(error).__name__

    return call


def shown(x):
    """The types and digits of a result; a program's last digits are its own."""
    if isinstance(x, (tuple, list)):
        return [shown(part) for part in x]
    x = ad.value(x)
    return type(x).__name__, f"{x:.13g}" if isinstance(x, (float, complex)) else repr(x)


TRANSFORMS = {
    "grad": lambda f: lambda x: ad.grad(lambda y: (y * 1.0, f(y)), has_aux=True)(x)[1],
    "jvp": lambda f: lambda x: ad.jvp(lambda y: (y * 1.0, f(y)), (x,), (1.0,), has_aux=True)[2],
    "grad of grad": lambda f: lambda x: ad.grad(
        lambda z: ad.grad(lambda y: (y * z, f(y)), has_aux=True)(z), has_aux=True
    )(x)[1],
}  # fmt: skip


def check(name, transform):
    f = caught(PROGRAMS[name])
    transformed = transform(f)
    for x in (*POINTS, *POINTS[::-1]):
        want = f(x)
        if name == "hash" and x != x:
            continue  # of nan by identity
        assert shown(transformed(x)) == shown(want), x


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@pytest.mark.parametrize("name", PROGRAMS)
def test_transforms(name, transform):
    """The same number of the same type, or the same error, caught by the function itself."""
    check(name, transform)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_recordings(name):
    """Whatever was recorded before."""
    check(name, ad.jit)
