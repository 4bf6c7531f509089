"""Options of the derivatives: `has_aux`, `argnames`, `holomorphic`, `mode`; and that they are said by name."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad

TRANSFORMS = (ad.grad, ad.jacobian, ad.jacfwd, ad.jacrev, ad.hessian)


def f(x, rate=0.5, *, shift=1.0, **more):
    return rate**3 * x**2 + shift * more.get("scale", 1.0) ** 2


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("name", "call"), [
    ("x", ((3.0,), {})),
    ("rate", ((3.0,), {})),
    ("rate", ((3.0, 2.0), {})),
    ("rate", ((3.0,), {"rate": 2.0})),
    ("shift", ((3.0,), {"shift": 4.0})),
    ("scale", ((3.0,), {"scale": 5.0})),
])  # fmt: skip
def test_argnames(transform, jit, name, call):
    """However an argument is passed, its name chooses it."""
    args, kwargs = call
    values = {
        "x": 3.0,
        "rate": 0.5,
        "shift": 1.0,
        "scale": 1.0,
        **dict(zip(("x", "rate"), args, strict=False)),
        **kwargs,
    }
    order = ("x", "rate", "shift", "scale")
    wanted = transform(lambda x, rate, shift, scale: f(x, rate, shift=shift, scale=scale), order.index(name))(
        *[values[n] for n in order]
    )
    found = transform(f, argnames=name)
    np.testing.assert_allclose((ad.jit(found) if jit else found)(*args, **kwargs), wanted)


def test_several_names():
    """A tuple of names gives a tuple; dicts of parameters are differentiated as always."""
    assert ad.grad(f, argnames=("rate", "x"))(3.0, rate=2.0) == (108.0, 48.0)
    value, g = ad.value_and_grad(lambda *, p, q: p["a"] * q, argnames=("p",))(p={"a": 2.0}, q=3.0)
    assert (value, g) == (6.0, ({"a": 3.0},))
    assert ad.grad(lambda x, w: (x * w, "aux"), argnames="w", has_aux=True)(2.0, w=3.0) == (2.0, "aux")


@pytest.mark.parametrize(("call", "text"), [
    (lambda: ad.grad(f, argnames="rat")(3.0), "no argument 'rat'"),
    (lambda: ad.grad(f, argnums=1, argnames="x"), "two ways to say the same"),
    (lambda: ad.grad(f, argnames=3), "name of an argument"),
    (lambda: ad.grad(f, argnames=()), "name of an argument"),
])  # fmt: skip
def test_wrong_names(call, text):
    """Named in the message, with what there is."""
    with pytest.raises(ad.errors.InputError, match=text):
        call()


HOLOMORPHIC = [
    (lambda z: z**3, lambda z: 3 * z**2),
    (np.exp, np.exp),
    (lambda z: np.sin(z) / z, lambda z: (z * np.cos(z) - np.sin(z)) / z**2),
    (lambda z: np.log(1.0 + z) * 2j, lambda z: 2j / (1 + z)),
]


@pytest.mark.parametrize(("g", "slope"), HOLOMORPHIC)
@pytest.mark.parametrize("z", [1.0 + 2.0j, np.complex128(0.3 - 0.4j), np.array([0.5 + 0.5j, 1.0 - 2.0j])], ids=type)
def test_holomorphic(g, slope, z):
    """df/dz, one complex number, in every mode."""

    def total(z):
        return np.sum(g(z)) + 0j

    for derivative in (
        ad.grad(total, holomorphic=True),
        ad.jit(ad.grad(total, holomorphic=True)),
        ad.jacobian(total, holomorphic=True),
    ):
        np.testing.assert_allclose(derivative(z), slope(z), rtol=1e-12)
    value, found = ad.value_and_grad(total, holomorphic=True)(z)
    np.testing.assert_allclose(value, total(z))
    np.testing.assert_allclose(found, slope(z))
    if not np.ndim(z):
        np.testing.assert_allclose(
            ad.hessian(g, holomorphic=True)(z), ad.grad(ad.grad(g, holomorphic=True), holomorphic=True)(z)
        )


@pytest.mark.parametrize(("g", "z", "error"), [
    (lambda z: z * np.conj(z) + 0j, 1.0 + 2.0j, ad.errors.NotDifferentiableError),
    (lambda z: np.abs(z) + 0j * z, 1.0 + 2.0j, ad.errors.NotDifferentiableError),
    (lambda z: np.real(z), 1.0 + 2.0j, ad.errors.OutputError),
    (lambda z: z**2, 1.0, ad.errors.InputError),
    (lambda z: z**2, np.array([1.0 + 1.0j]), ad.errors.OutputError),
])  # fmt: skip
def test_not_holomorphic(g, z, error):
    """A function without df/dz is refused, not given a number."""
    with pytest.raises(error):
        ad.grad(g, holomorphic=True)(z)


def test_has_aux_everywhere():
    """Everything that differentiates a function may bring something else along."""

    def g(x):
        return np.sum(x**2), {"seen": x * 2, "text": "t"}

    x = np.array([1.0, 2.0])
    for transform in TRANSFORMS:
        _, aux = transform(g, has_aux=True)(x)
        np.testing.assert_allclose(aux["seen"], 2 * x)
        assert aux["text"] == "t"
    _, _, aux = ad.vjp(g, x, has_aux=True)
    np.testing.assert_allclose(aux["seen"], 2 * x)
    _, _, aux = ad.jvp(g, (x,), (x,), has_aux=True)
    np.testing.assert_allclose(aux["seen"], 2 * x)


@pytest.mark.parametrize("shape", [(2, 5), (5, 2)])
@pytest.mark.parametrize("has_aux", [False, True])
def test_mode(shape, has_aux):
    """Forward is `jacfwd`, reverse is `jacrev`, and by default it is the one with fewer sweeps, bit by bit."""
    m = np.sin(np.arange(10.0)).reshape(shape)
    x = np.cos(np.arange(float(shape[1])))

    def g(x):
        y = np.exp(m @ np.sin(x)) / (1.0 + m @ x**2)
        return (y, 2) if has_aux else y

    columns, rows = ad.jacfwd(g, has_aux=has_aux)(x), ad.jacrev(g, has_aux=has_aux)(x)
    fewer = columns if shape[1] < shape[0] else rows
    for mode, wanted in {"forward": columns, "reverse": rows, "auto": fewer}.items():
        found = ad.jacobian(g, mode=mode, has_aux=has_aux)(x)
        np.testing.assert_array_equal(*[pair[0] if has_aux else pair for pair in (found, wanted)])
    named = ad.jacobian(g, argnames="x", mode="reverse", has_aux=has_aux)(x)
    np.testing.assert_array_equal(*[pair[0] if has_aux else pair for pair in (named, rows)])


BY_POSITION = {
    "grad() takes from 1 to 2 positional arguments but 3 were given: use  has_aux=": lambda: ad.grad(f, 0, True),
    "value_and_grad() takes from 1 to 2 positional arguments but 3 were given: use  has_aux=": (
        lambda: ad.value_and_grad(f, 0, True)
    ),
    "jacobian() takes from 1 to 2 positional arguments but 3 were given: use  has_aux=": (
        lambda: ad.jacobian(f, 0, False)
    ),
    "hessian() takes from 1 to 2 positional arguments but 4 were given: use  has_aux= and chunk_size=": (
        lambda: ad.hessian(f, 0, False, 3)
    ),
    "jacfwd() takes from 1 to 2 positional arguments but 3 positional arguments (and 1 keyword-only argument) were "
    "given: use  chunk_size=": lambda: ad.jacfwd(f, 0, 3, has_aux=True),
    "jacrev() takes from 1 to 2 positional arguments but 9 were given": lambda: ad.jacrev(f, *range(8)),
    "per_sample_grad() takes from 1 to 3 positional arguments but 4 were given: use  has_aux=": (
        lambda: ad.per_sample_grad(f, None, 0, False)
    ),
    "hessian_diagonal() takes from 1 to 2 positional arguments but 3 were given: use  chunk_size=": (
        lambda: ad.curvature.hessian_diagonal(f, 0, 3)
    ),
    "vmap() takes from 1 to 3 positional arguments but 4 were given: use  chunk_size=": lambda: ad.vmap(f, 0, 0, 3),
    "jvp() takes 3 positional arguments but 4 were given: use  has_aux=": lambda: ad.jvp(f, (1.0,), (1.0,), False),
}


@pytest.mark.parametrize("words", BY_POSITION)
def test_options_are_said_by_name(words):
    """After `argnums` all of them; the message says which keyword it is."""
    with pytest.raises(TypeError) as caught:
        BY_POSITION[words]()
    assert str(caught.value) == words
