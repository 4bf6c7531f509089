"""Options of the derivatives: `has_aux`, `argnames`, `holomorphic`."""

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
