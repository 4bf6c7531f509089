"""Errors of the optimisers, word by word."""

from __future__ import annotations

import operator
import re

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, optim


def words(call) -> str:
    """The message without the line of the user's code."""
    with pytest.raises(ad.errors.InputError) as caught:
        call()
    return re.sub(r"\n  at .*", "", str(caught.value))


NEEDS_RATE = "needs a rate: a number, or a schedule, which is a function of the number of steps taken."
CASES = {
    "a negative rate": (
        lambda: optim.adam(-0.1),
        "adam needs a rate of at least 0: the steps go against the gradient already.\n"
        "  got rate = -0.1\n  Write  optim.adam(0.01).",
    ),
    "a rate that is nan": (
        lambda: optim.sgd(np.nan),
        "sgd needs a rate of at least 0: the steps go against the gradient already.\n"
        "  got rate = nan\n  Write  optim.sgd(0.01).",
    ),
    "a rate that is text": (
        lambda: optim.rmsprop("fast"),
        f"rmsprop {NEEDS_RATE}\n  got 'fast'\n"
        "  Write  optim.rmsprop(0.01)  or  optim.rmsprop(optim.schedule.cosine(0.01, steps=1000)).",
    ),
    "a rate that is an array": (
        lambda: optim.lion(np.ones(3)),
        f"lion {NEEDS_RATE}\n  got float64[3]\n"
        "  Write  optim.lion(0.01)  or  optim.lion(optim.schedule.cosine(0.01, steps=1000)).",
    ),
    "a momentum above 1": (
        lambda: optim.sgd(0.1, momentum=9.0),
        "sgd needs momentum, a number of at least 0 and at most 1.\n  got momentum = float 9.0",
    ),
    "nesterov without momentum": (
        lambda: optim.sgd(0.1, nesterov=True),
        "sgd looks ahead along its momentum, so nesterov=True needs one.\n  got momentum = 0.0\n  Write  momentum=0.9.",
    ),
    "a bound of 0": (lambda: optim.clip(0.0), "clip needs max, a number above 0.\n  got max = float 0.0"),
    "a memory that is no integer": (
        lambda: optim.lbfgs(2.5),
        "lbfgs needs memory, an integer of at least 1.\n  got memory = float 2.5",
    ),
    "a chain in the wrong order": (
        lambda: optim.chain(optim.adam(0.1), optim.weight_decay(0.1)),
        "weight_decay needs the gradient, but adam before it has already made a step of it.\n"
        "  got adam -> weight_decay\n  Put weight_decay before adam, or choose one of them.",
    ),
    "an empty chain": (
        lambda: optim.chain(),
        "chain needs at least one optimiser.\n  got none\n  Write  optim.chain(optim.clip(1.0), optim.adam(1e-3)).",
    ),
    "an optimiser that was not called": (
        lambda: optim.minimize(np.sum, np.ones(2), optim.adam),
        "minimize needs an optimiser.\n  got optimizer = adam\n"
        "  Write  optim.adam(1e-3),  or  optim.Optimizer(init, update)  for one of your own.",
    ),
    "the name of an optimiser": (
        lambda: optim.minimize(np.sum, np.ones(2), "adam"),
        "minimize needs an optimiser.\n  got optimizer = 'adam'\n"
        "  Write  optim.adam(1e-3),  or  optim.Optimizer(init, update)  for one of your own.",
    ),
    "integers": (
        lambda: optim.adam(0.1).init({"w": np.array([1, 2])}),
        "adam needs parameters that are real numbers or arrays of them.\n  got int64[2] at w\n"
        "  Write  1.0  for  1,  x.astype(float)  for whole numbers, and two parameters for a complex one;\n"
        "  what is not trained stays outside the tree.",
    ),
    "a gradient in other containers": (
        lambda: optim.sgd(0.1).update({"v": 1.0}, {"count": 0}, {"w": 1.0}),
        "sgd needs the gradient in the containers of the parameters.\n"
        "  got parameters {'w': *} and the gradient {'v': *}\n"
        "  Take the gradient with respect to these parameters:  ad.grad(f)(params).",
    ),
    "a gradient of another shape": (
        lambda: optim.sgd(0.1).update({"w": np.ones(3)}, {"count": 0}, {"w": np.ones(2)}),
        "sgd needs the gradient in the shapes of the parameters.\n"
        "  got parameters of shape (2,) and the gradient of shape (3,) at w",
    ),
    "a step in other containers": (
        lambda: optim.apply({"w": 1.0}, [1.0]),
        "apply needs the step in the containers of the parameters.\n  got parameters {'w': *} and the step [*]\n"
        "  Take the gradient with respect to these parameters:  ad.grad(f)(params).",
    ),
    "no parameters": (
        lambda: optim.adamw(0.1).update(np.ones(2), optim.adamw(0.1).init(np.ones(2))),
        "adamw needs the parameters.\n  got None\n  Write  optimizer.update(gradient, state, params).",
    ),
    "a pattern that fits nothing": (
        lambda: optim.weight_decay(0.1, only="*kernel").update({"w": 1.0}, (), {"w": 1.0}),
        "No parameter has a path that fits the pattern of what decays.\n  got only = '*kernel', and the paths w\n"
        '  Stars stand for anything:  only="*weight".',
    ),
    "no value": (
        lambda: optim.subgradient(0.1).update(np.ones(2), optim.subgradient(0.1).init(np.ones(2)), np.ones(2)),
        "subgradient needs the value of the function, to keep the best point.\n  got none\n"
        "  Write  optimizer.update(gradient, state, params, value=f(params)).",
    ),
    "no function": (
        lambda: optim.lbfgs().update(np.ones(2), optim.lbfgs().init(np.ones(2)), np.ones(2)),
        "lbfgs looks at the function itself, not only at its gradient.\n  got function = NoneType\n"
        "  Write  optimizer.update(gradient, state, params, function=f),  or  optim.minimize(f, ...).",
    ),
    "nan at the start": (
        lambda: optim.minimize(lambda x: np.sum(np.log(x)), np.array([-1.0, 1.0])),
        "minimize needs a start where the function is finite.\n  got the value nan at [-1.  1.]\n"
        "  Start inside the function's domain;  with ad.debug.nans():  names the step that made a nan.",
    ),
    "integers at the start": (
        lambda: optim.minimize(np.sum, np.array([1, 2])),
        "minimize needs parameters that are real numbers or arrays of them.\n  got x0 = int64[2]\n"
        "  Write  1.0  for  1,  x.astype(float)  for whole numbers, and two parameters for a complex one;\n"
        "  what is not trained stays outside the tree.",
    ),
    "nothing to start from": (
        lambda: optim.minimize(lambda p: 1.0, {}),
        "minimize needs at least one parameter.\n  got {}",
    ),
    "arguments that are no tuple": (
        lambda: optim.minimize(np.sum, np.ones(2), args=np.ones(2)),
        "minimize takes further arguments as a tuple.\n  got args = float64[2]\n  Write  args=(data,).",
    ),
    "a number as a rule": (
        lambda: optim.minimize(np.sum, np.ones(2), stop=1e-3),
        "A stopping rule was expected.\n  got stop = float 0.001\n"
        "  Write  optim.stop.gradient(1e-6) | optim.stop.step(1e-12),  for example.",
    ),
    "no function to minimise": (
        lambda: optim.minimize(3.0, np.ones(2)),
        "minimize needs a function.\n  got f = float 3.0\n  Write  optim.minimize(f, x0).",
    ),
    "a loss for least squares": (
        lambda: optim.minimize(lambda x: np.sum(x**2), np.ones(2), optim.levenberg_marquardt()),
        "levenberg_marquardt needs residuals, whose squares it adds up itself.\n  got one number\n"
        "  Return  model(p) - y  instead of the loss,  or choose  optim.lbfgs()  for a loss.",
    ),
    "a metric and a model": (
        lambda: optim.natural_gradient(1.0),
        "natural_gradient needs either a model or a metric.\n  got none\n"
        "  Write  optim.natural_gradient(1.0, model=lambda params: predict(params, X)).",
    ),
    "an unknown likelihood": (
        lambda: optim.natural_gradient(1.0, model=np.sin, likelihood="poisson"),
        "natural_gradient knows the likelihoods gaussian, bernoulli and categorical.\n"
        "  got likelihood = 'poisson'\n  Give the matrix of another one as  metric=.",
    ),
    "a metric of the wrong shape": (
        lambda: optim.natural_gradient(1.0, metric=lambda p: np.eye(3)).update(np.ones(2), {"count": 0}, np.ones(2)),
        "The metric of 2 parameters is a matrix of shape (2, 2).\n  got shape (3, 3)",
    ),
    "a schedule without length": (
        lambda: optim.schedule.cosine(0.1, steps=0),
        "schedule.cosine needs steps, an integer of at least 1.\n  got steps = int 0",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_message(name):
    """What could not be done, what was met, and what to write."""
    call, expected = CASES[name]
    assert words(call) == expected


def test_functions_that_return_arrays():
    """Are refused by the gradient, in its words."""
    for optimizer in (optim.adam(0.1), optim.lbfgs()):
        with pytest.raises(ad.errors.OutputError, match="needs a function that returns"):
            optim.minimize(lambda x: x**2, np.ones(2), optimizer)


NAMES = {
    "Adam": "module 'adjoint.optim' has no attribute 'Adam': did you mean  optim.adam?",
    "StepLR": "module 'adjoint.optim' has no attribute 'StepLR': use  optim.schedule.step(rate, every=, factor=)",
    "apply_updates": "module 'adjoint.optim' has no attribute 'apply_updates': use  optim.apply(params, step)",
    "nothing_like_it": "module 'adjoint.optim' has no attribute 'nothing_like_it'",
    "schedule.cosine_decay": "module 'adjoint.optim.schedule' has no attribute 'cosine_decay': "
    "use  schedule.cosine(rate, steps=)",
    "stop.patience": "module 'adjoint.optim.stop' has no attribute 'patience': use  stop.validation(loss, patience=)",
}


@pytest.mark.parametrize("name", NAMES)
def test_unknown_names(name):
    """Are answered with what does the same, or with the nearest one."""
    with pytest.raises(AttributeError) as error:
        operator.attrgetter(name)(optim)
    assert str(error.value) == NAMES[name]


OPTIONS = {
    "a learning rate": (
        lambda: optim.adam(lr=1e-3),
        "adam() got an unexpected keyword argument 'lr': use  rate=",
    ),
    "both means": (
        lambda: optim.adam(1e-3, betas=(0.9, 0.999)),
        "adam() got an unexpected keyword argument 'betas': use  beta1= and beta2=",
    ),
    "a slip": (
        lambda: optim.sgd(0.1, momentumm=0.9),
        "sgd() got an unexpected keyword argument 'momentumm': did you mean  momentum=?",
    ),
    "nothing like it": (
        lambda: optim.sgd(0.1, foreach=True),
        "sgd() got an unexpected keyword argument 'foreach'",
    ),
    "a length": (
        lambda: optim.schedule.cosine(0.1, T_max=100),
        "cosine() got an unexpected keyword argument 'T_max': use  steps=",
    ),
    "a method": (
        lambda: optim.minimize(np.sum, np.ones(2), method="BFGS"),
        "minimize() got an unexpected keyword argument 'method': "
        "use  optimizer=, as  optim.minimize(f, x0, optim.lbfgs())",
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_of_other_libraries(name):
    """Are answered with what they are called here."""
    call, expected = OPTIONS[name]
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == expected


@pytest.mark.parametrize(("old", "new"), [("reused", "optim.cached"), ("looks_ahead", "optim.needs_function")])
def test_names_that_were_others(old, new):
    """Are answered with today's."""
    with pytest.raises(AttributeError) as error:
        getattr(optim, old)
    assert str(error.value) == f"module 'adjoint.optim' has no attribute {old!r}: use  {new}"


def test_steps_in_place():
    """An optimiser changes nothing: what is written instead."""
    assert repr(optim.adam(1e-3)) == "<optimiser adam>"
    with pytest.raises(AttributeError) as error:
        optim.adam(1e-3).step()
    assert str(error.value) == (
        "an optimiser has no 'step': its state is a value.  Write  step, state = optimizer.update(gradient, state, "
        "params);  params = optim.apply(params, step),  or use  ad.train  or  optim.minimize"
    )
    with pytest.raises(AttributeError, match=r"^'Optimizer' object has no attribute 'nothing'$"):
        optim.adam(1e-3).nothing
    with pytest.raises(AttributeError, match=r"^'Result' object has no attribute 'fun': use  .value$"):
        optim.minimize(lambda x: np.sum(x**2), np.ones(2)).fun


def test_a_model_is_no_rate():
    """Though it can be called."""
    assert words(lambda: optim.adam(nn.Dense(2, 1, key=0))) == (
        f"adam {NEEDS_RATE}\n  got Dense\n"
        "  Write  optim.adam(0.01)  or  optim.adam(optim.schedule.cosine(0.01, steps=1000))."
    )
