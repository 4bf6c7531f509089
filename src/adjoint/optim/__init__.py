"""Optimisers: pairs of `init` and `update` that chain, schedules, stopping rules, and `minimize` for plain functions.

>>> import numpy as np
>>> from adjoint import optim
>>> optimizer = optim.chain(optim.clip_by_norm(1.0), optim.adam(optim.schedule.cosine(0.1, steps=500)))
"""

import adjoint as ad

from . import schedule, stop
from .adam import adam, adamw, lion
from .adaptive import adagrad, rmsprop
from .base import Optimizer, apply, chain, groups, needs_function
from .descent import armijo, exact, is_descent, wolfe
from .gradients import clip, clip_by_norm, scale, weight_decay
from .lbfgs import lbfgs
from .least_squares import gauss_newton, levenberg_marquardt
from .minimize import minimize
from .natural import natural_gradient
from .newton import newton
from .objective import Objective
from .result import Result
from .reuse import cached
from .sgd import sgd, subgradient

__all__ = [
    "Objective", "Optimizer", "Result", "adagrad", "adam", "adamw", "apply", "armijo", "cached", "chain", "clip",
    "clip_by_norm", "exact", "gauss_newton", "groups", "is_descent", "lbfgs", "levenberg_marquardt", "lion", "minimize",
    "natural_gradient", "needs_function", "newton", "rmsprop", "scale", "schedule", "sgd", "stop", "subgradient",
    "weight_decay", "wolfe",
]  # fmt: skip


LOADED = ad.jit
"""Optimisers run in jitted functions: the compiler is loaded with this room, not in the middle of the first step."""

ELSEWHERE = {
    "reused": "optim.cached",
    "looks_ahead": "optim.needs_function",
    "lr_scheduler": "optim.schedule; a schedule is the rate:  optim.adam(optim.schedule.cosine(1e-3, steps=1000))",
    "StepLR": "optim.schedule.step(rate, every=, factor=)",
    "ExponentialLR": "optim.schedule.step(rate, every=1, factor=)",
    "CosineAnnealingLR": "optim.schedule.cosine(rate, steps=)",
    "OneCycleLR": "optim.schedule.one_cycle(peak, steps=)",
    "LinearLR": "optim.schedule.warmup(rate, steps=)",
    "LambdaLR": "any function of the number of steps as the rate:  optim.adam(lambda count: ...)",
    "ReduceLROnPlateau": "a schedule of optim.schedule; patience= of ad.train ends a run",
    "multi_transform": "optim.groups({pattern: optimizer, ...})",
    "param_groups": "optim.groups({pattern: optimizer, ...})",
    "apply_updates": "optim.apply(params, step)",
    "clip_grad_norm_": "optim.chain(optim.clip_by_norm(max), optim.adam(rate))",
    "clip_grad_value_": "optim.chain(optim.clip(max), optim.adam(rate))",
    "clip_by_global_norm": "optim.clip_by_norm(max)",
    "add_decayed_weights": "optim.weight_decay(strength)",
    "gradient_descent": "optim.sgd(rate)",
    "momentum": "optim.sgd(rate, momentum=0.9)",
    "nesterov": "optim.sgd(rate, momentum=0.9, nesterov=True)",
    "bfgs": "optim.lbfgs()",
    "BFGS": "optim.lbfgs()",
    "least_squares": "optim.minimize(residuals, x0, optim.levenberg_marquardt())",
    "curve_fit": "optim.minimize(residuals, x0, optim.levenberg_marquardt())",
}
"""Names that people know from elsewhere, to what does the same here."""

__getattr__ = ad.errors.missing("adjoint.optim", __all__, ELSEWHERE)


def __dir__() -> list[str]:
    return __all__
