"""What a type checker sees of a user's code, which is never called; comments say what it `reveals` or `refuses`."""

from typing import Any, reveal_type

import numpy as np

import adjoint as ad
from adjoint import losses, nn, optim


def loss(w: np.ndarray, rate: float, *, power: int = 2) -> float:
    return float(rate * np.sum(w**power))


def scalar(x: float) -> float:
    return x**2


w = np.ones(3)


@ad.jit
def step(x: np.ndarray, rate: float = 0.1) -> np.ndarray:
    """A decorated function."""
    return x - rate * x


@ad.jit(static_argnames="power")
def powered(x: float, power: int) -> float:
    """Decorated with options."""
    return x**power


@ad.custom_rule(jvp=lambda primals, out, tangents: tangents[0])
def smooth(x: float) -> float:
    """Decorated with its rule."""
    return x


@smooth.def_vjp
def pulled(primals: Any, out: Any, g: Any) -> tuple[Any]:
    """Another rule."""
    return (g,)


def types() -> None:
    """What is made of a function has its parameters."""
    reveal_type(ad.grad(scalar))  # reveals: def (x: float) -> Any
    reveal_type(ad.grad(scalar)(1.0))  # reveals: Any
    reveal_type(ad.value_and_grad(scalar)(1.0))  # reveals: tuple[float, Any]
    reveal_type(ad.jit(scalar))  # reveals: adjoint.transforms.jit.jit.Jitted[[x: float], float]
    reveal_type(ad.jit(ad.grad(scalar))(1.0))  # reveals: Any
    reveal_type(ad.checkpoint(scalar))  # reveals: def (x: float) -> float
    reveal_type(ad.jacobian(scalar))  # reveals: def (x: float) -> Any
    reveal_type(ad.jacfwd(scalar))  # reveals: def (x: float) -> Any
    reveal_type(ad.jacrev(scalar))  # reveals: def (x: float) -> Any
    reveal_type(ad.hessian(scalar))  # reveals: def (x: float) -> Any
    reveal_type(ad.derivative(scalar, 2))  # reveals: def (x: float) -> float
    reveal_type(ad.custom_rule(scalar))  # reveals: adjoint.transforms.custom.CustomRule[[x: float], float]
    reveal_type(ad.explain(scalar))  # reveals: def (x: float) -> adjoint.explanation.explanation.Explanation
    reveal_type(ad.jvp(scalar, (1.0,), (1.0,)))  # reveals: tuple[float, float]
    reveal_type(ad.vjp(scalar, 1.0)[0])  # reveals: float
    reveal_type(ad.linearize(scalar, 1.0)[0])  # reveals: float
    reveal_type(ad.stop_gradient(1.0))  # reveals: float
    reveal_type(ad.value({"a": 1.0}))  # reveals: dict[str, float]
    reveal_type(ad.tree.map(np.shape, {"a": 1.0}))  # reveals: dict[str, Any]
    reveal_type(ad.tree.map(np.negative, (1.0, w))[0])  # reveals: float
    reveal_type(ad.tree.ravel({"a": 1.0})[1](w))  # reveals: dict[str, float]

    reveal_type(powered(2.0, 3))  # reveals: float
    reveal_type(smooth(2.0))  # reveals: float
    reveal_type(pulled)  # reveals: def (primals: Any, out: Any, g: Any) -> tuple[Any]


def right() -> None:
    """Calls that fit."""
    ad.grad(loss)(w, 0.5)
    ad.grad(loss, argnums=(0, 1))(w, rate=0.5, power=3)
    ad.value_and_grad(loss, argnames="rate")(w, 0.5)
    ad.grad(lambda x: x**2 + 1.0)(3.0)
    ad.grad(ad.grad(lambda x: x**3))(3.0)
    ad.jit(loss)(w, 0.5, power=1)

    # a batch of numbers is an array, so a mapped function takes other types than the function of one example
    ad.vmap(scalar)(w)
    ad.vmap(ad.grad(loss), in_axes=(None, 0))(w, w)

    # NumPy's universal functions take numbers and arrays
    ad.grad(np.sin)(1.0)
    ad.jacobian(np.sin)(w)
    ad.vmap(np.maximum)(w, w)
    ad.jit(np.sin)(w)
    ad.checkpoint(np.exp)(w)
    ad.custom_rule(np.sin)(w)

    step.lower(w)
    step.stats()


def wrong() -> None:
    """Calls that do not."""
    ad.grad(loss)(w)  # refuses: Too few arguments
    ad.value_and_grad(loss)(w, 0.5, 2)  # refuses: Too many positional arguments
    ad.grad(loss)(w, 0.5, powr=2)  # refuses: Unexpected keyword argument "powr"
    ad.jit(loss)(w, "fast")  # refuses: incompatible type "str"; expected "float"
    ad.jacobian(loss)()  # refuses: Too few arguments
    ad.checkpoint(scalar)("1")  # refuses: incompatible type "str"; expected "float"
    ad.grad(scalar, argnum=0)  # refuses: No overload variant of "grad" matches
    ad.grad(3.0)  # refuses: No overload variant of "grad" matches

    step(w, 0.1, 0.2)  # refuses: Too many arguments
    powered(2.0)  # refuses: Missing positional argument "power"


def trained() -> None:
    """The model of a fit has the type of the one that was given."""
    network = nn.MLP([2, 3, 1], key=0)
    fit = ad.train(network, losses.squared, (w, w), optim.adam(1e-3), step_callbacks=lambda step: step.loss < 0.1)
    reveal_type(fit)  # reveals: adjoint.training.fit.Fit[adjoint.nn.layers.mlp.MLP]
    reveal_type(fit.model)  # reveals: adjoint.nn.layers.mlp.MLP
    reveal_type(fit.last_model)  # reveals: adjoint.nn.layers.mlp.MLP
    reveal_type(fit.page())  # reveals: adjoint.training.page.writing.TrainingPage
    reveal_type(fit.page("run.html"))  # reveals: pathlib.Path
    fit.model.nothing  # refuses: "MLP" has no attribute "nothing"
    data = (w, w)
    rate = optim.adam(1e-3)
    ad.train(network, losses.squared, data, rate, callbacks=lambda f: f.model.no)  # refuses: "MLP" has no attribute
