"""One right call of every public function, by the names of its parameters, to be made wrong one argument at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import adjoint as ad
from adjoint import losses, nn, optim


class Call(NamedTuple):
    """A function, its arguments by name (those that are positional only, or `*args`, in `rest`), and what follows."""

    function: Callable[..., Any]
    arguments: dict[str, Any]
    rest: tuple[Any, ...] = ()
    then: Callable[[Any], Any] = lambda made: made
    after: str = ""  # the parameter behind which `rest` goes

    def __call__(self, **changed: Any) -> Any:
        """Call it, with some arguments changed."""
        arguments = {**self.arguments, **changed}
        if not self.rest:
            return self.then(self.function(**arguments))
        names = list(self.arguments)
        before = names[: names.index(self.after) + 1] if self.after else []
        return self.then(
            self.function(
                *[arguments[name] for name in before],
                *self.rest,
                **{k: v for k, v in arguments.items() if k not in before},
            )
        )


KEY = ad.random.key(0)
X = np.array([[0.1, 0.4], [0.9, -0.2], [0.3, 0.5], [-0.4, 0.8]])
Y = np.array([0, 1, 0, 1])
V = np.array([0.3, -0.2, 0.5])


def square(x: Any) -> Any:
    """A number of an array."""
    return np.sum(x * x)


def step(carry: Any, x: Any) -> Any:
    """A step of a scan."""
    return carry * x, carry + x


def dense() -> Any:
    """A small model."""
    return nn.Dense(2, 2, key=KEY)


def at(x: Any) -> Callable[[Any], Any]:
    """What is made of a function is called with a right argument."""
    return lambda made: made(x)


def stepped(optimizer: Any) -> Any:
    """One step of an optimiser."""
    if optim.needs_function(optimizer):
        return optim.minimize(square, V, optimizer, max_steps=2, jit=False)
    return optimizer.update(V, optimizer.init(V), V, value=1.0)


COMMON = {"argnums": 0, "has_aux": False, "argnames": None, "holomorphic": False}
JACOBIAN = {**COMMON, "chunk_size": None}
TARGETS = {"outputs": V, "targets": V, "reduction": "mean", "sample_weight": None}
CLASSES = {"outputs": X, "targets": Y, "reduction": "mean", "sample_weight": None, "class_weight": None}
LAYER = {"key": KEY, "dtype": np.float64}
DRAW = {"key": KEY, "shape": (2,), "loc": 0.0, "scale": 1.0, "dtype": float}


def residual(x: Any, a: Any) -> Any:
    """A root is looked for."""
    return x * x - a


def calls() -> dict[str, Call]:
    """The right calls, by the names users know them by."""
    return {**_transforms(), **_loops(), **_data(), **_losses(), **_layers(), **_optimisers(), **_draws(), **_tools()}


def _transforms() -> dict[str, Call]:
    jac = {"fun": np.sin, **JACOBIAN}
    return {
        "grad": Call(ad.grad, {"fun": square, **COMMON}, then=at(V)),
        "grad.x": Call(lambda x: ad.grad(square)(x), {"x": V}),
        "value_and_grad": Call(ad.value_and_grad, {"fun": square, **COMMON}, then=at(V)),
        "jacobian": Call(ad.jacobian, {**jac, "mode": "auto"}, then=at(V)),
        "jacfwd": Call(ad.jacfwd, jac, then=at(V)),
        "jacrev": Call(ad.jacrev, jac, then=at(V)),
        "hessian": Call(ad.hessian, {"fun": square, **JACOBIAN}, then=at(V)),
        "hvp": Call(ad.hvp, {"fun": square, "primals": (V,), "tangents": (V,)}),
        "jvp": Call(ad.jvp, {"fun": square, "primals": (V,), "tangents": (V,), "has_aux": False}),
        "vjp": Call(ad.vjp, {"fun": np.sin, "has_aux": False}, rest=(V,), then=lambda made: made[1](V), after="fun"),
        "vjp.primals": Call(lambda primals: ad.vjp(np.sin, primals)[0], {"primals": V}),
        "vjp.cotangent": Call(lambda cotangent: ad.vjp(np.sin, V)[1](cotangent), {"cotangent": V}),
        "linearize": Call(ad.linearize, {"fun": np.sin}, rest=(V,), then=lambda made: made[1](V), after="fun"),
        "linear_transpose": Call(ad.linear_transpose, {"fun": np.sum}, rest=(V,), then=at(1.0), after="fun"),
        "derivative": Call(ad.derivative, {"fun": np.sin, "n": 1}, then=at(0.3)),
        "vmap": Call(ad.vmap, {"fun": np.sin, "in_axes": 0, "out_axes": 0, "chunk_size": None}, then=at(V)),
        "vmap.x": Call(lambda x: ad.vmap(np.sin)(x), {"x": V}),
        "jit": Call(
            ad.jit,
            {"fun": np.sin, "static_argnums": (), "static_argnames": (), "donate_argnums": ()},
            then=at(V),
        ),
        "jit.x": Call(lambda x: ad.jit(np.sin)(x), {"x": V}),
        "checkpoint": Call(ad.checkpoint, {"fun": np.sin}, then=at(V)),
        "stop_gradient": Call(ad.stop_gradient, {"x": V}),
        "value": Call(ad.value, {"x": V}),
        "custom_rule": Call(
            ad.custom_rule, {"fun": np.sin, "jvp": lambda p, t: (np.sin(p[0]), t[0]), "vjp": None}, then=at(V)
        ),
        "curvature.classify": Call(ad.curvature.classify, {"fun": square, "x": V * 0.0, "tolerance": None}),
        "curvature.is_convex_between": Call(
            ad.curvature.is_convex_between, {"fun": square, "a": V, "b": -V, "points": 5, "tolerance": None}
        ),
        "curvature.hessian_diagonal": Call(
            ad.curvature.hessian_diagonal, {"fun": square, "argnums": 0, "chunk_size": None}, then=at(V)
        ),
        "curvature.laplacian": Call(
            ad.curvature.laplacian,
            {"fun": square, "argnums": 0, "probes": 2, "key": KEY, "chunk_size": None},
            then=at(V),
        ),
        "curvature.fisher": Call(
            ad.curvature.fisher,
            {
                "model": lambda w: X @ w, "likelihood": "gaussian", "empirical": False, "per_sample": False,
                "variance": 1.0, "product": False,
            },
            then=at(V[:2]),
        ),
        "curvature.gauss_newton": Call(
            ad.curvature.gauss_newton, {"model": lambda w: X @ w, "loss": square, "product": False}, then=at(V[:2])
        ),
        "curvature.pullback_metric": Call(
            ad.curvature.pullback_metric, {"fun": np.sin, "argnums": 0, "product": False}, then=at(V)
        ),
        "curvature.partial_derivative": Call(
            ad.curvature.partial_derivative, {"fun": square, "argnums": 0}, rest=(0,), then=at(V), after="fun"
        ),
        "per_sample_grad": Call(
            ad.per_sample_grad,
            {
                "fun": lambda w, x: np.sum(w * x), "in_axes": (None, 0), "argnums": 0, "has_aux": False,
                "chunk_size": None,
            },
            then=lambda made: made(V[:2], X),
        ),
        "sparse.sparsity": Call(ad.sparse.sparsity, {"fun": np.sin, "argnums": 0}, then=at(V)),
        "sparse.hessian_sparsity": Call(ad.sparse.hessian_sparsity, {"fun": square, "argnums": 0}, then=at(V)),
        "sparse.jacobian": Call(ad.sparse.jacobian, {"fun": np.sin, "argnums": 0, "pattern": None}, then=at(V)),
        "sparse.hessian": Call(ad.sparse.hessian, {"fun": square, "argnums": 0, "pattern": None}, then=at(V)),
        "taylor": Call(ad.taylor, {"fun": np.sin, "x0": 0.3, "order": 3, "direction": None}),
        "curvature.taylor_polynomial": Call(ad.curvature.taylor_polynomial, {"fun": square, "x0": V, "order": 2}),
        "explain": Call(
            ad.explain,
            {
                "fun": square, "argnums": None, "mode": "reverse", "level": "vector", "digits": 4, "names": True,
                "lines": False, "collapse": True, "max_rows": 60, "tangent": None, "cotangent": None,
            },
            then=lambda made: str(made(V)),
        ),
        "debug.find_nan": Call(ad.debug.find_nan, {"fun": square}, then=at(V)),
        "debug.health": Call(
            ad.debug.health, {"fun": square, "argnums": 0, "vanishing": 1e-3, "exploding": 1e3}, then=at(V)
        ),
        "numerical.grad": Call(
            ad.numerical.grad,
            {"fun": square, "argnums": 0, "method": "central", "step": None, "error": False},
            then=at(V),
        ),
        "numerical.jacobian": Call(
            ad.numerical.jacobian,
            {"fun": np.sin, "argnums": 0, "method": "central", "step": None, "error": False},
            then=at(V),
        ),
        "eval_shape": Call(ad.eval_shape, {"fun": np.sin}, rest=(V,), after="fun"),
    }  # fmt: skip


def _loops() -> dict[str, Call]:
    return {
        "scan": Call(
            ad.scan,
            {
                "f": step, "init": 1.0, "xs": V, "length": None, "reverse": False, "checkpoint_every": None,
                "memory": None,
            },
        ),
        "map": Call(ad.map, {"f": np.sin, "xs": V}),
        "while_loop": Call(ad.while_loop, {"cond": lambda s: s < 3.0, "body": lambda s: s + 1.0, "init": 0.5}),
        "fori_loop": Call(ad.fori_loop, {"lower": 0, "upper": 3, "body": lambda k, s: s * 0.5, "init": 0.5}),
        "cond": Call(
            ad.cond, {"pred": True, "true_fun": np.sin, "false_fun": np.cos}, rest=(0.3,), after="false_fun"
        ),
        "switch": Call(ad.switch, {"index": 0, "functions": [np.sin, np.cos]}, rest=(0.3,), after="functions"),
        "associative_scan": Call(ad.associative_scan, {"f": np.add, "elems": V, "reverse": False, "axis": 0}),
        "odeint": Call(
            ad.odeint,
            {
                "f": lambda y, t: -y, "y0": 1.0, "t": np.array([0.0, 0.1]), "method": "RK45", "rtol": 1e-3,
                "atol": 1e-3, "steps": None, "first_step": None, "max_steps": 1000, "checkpoint_every": None,
                "full_output": False,
            },
        ),
        "implicit.root": Call(
            ad.implicit.root,
            {"f": residual, "x0": 1.0, "solver": None, "linear_solver": None},
            rest=(2.0,),
            after="x0",
        ),
        "implicit.fixed_point": Call(
            ad.implicit.fixed_point,
            {"f": lambda x, a: 0.5 * (x + a / x), "x0": 1.0, "solver": None, "linear_solver": None},
            rest=(2.0,),
            after="x0",
        ),
        "implicit.argmin": Call(
            ad.implicit.argmin,
            {"f": lambda x, a: (x - a) ** 2, "x0": 1.0, "solver": None, "linear_solver": None},
            rest=(2.0,),
            after="x0",
        ),
        "implicit.linear_solve": Call(
            ad.implicit.linear_solve, {"matvec": lambda x: 2.0 * x, "b": V, "solver": None, "symmetric": False}
        ),
    }  # fmt: skip


def _data() -> dict[str, Call]:
    data = ad.data
    return {
        "data.as_arrays": Call(data.as_arrays, {"data": X, "name": "X"}),
        "data.batches": Call(
            data.batches,
            {
                "X": X, "y": Y, "batch_size": 2, "shuffle": True, "seed": 0, "drop_last": False, "buffer": None,
                "checked": True,
            },
            then=lambda made: [batch for batch, _ in zip(made, range(9), strict=False)],
        ),
        "data.check": Call(data.check, {"X": X, "y": Y}),
        "data.class_weights": Call(data.class_weights, {"labels": Y, "classes": 2}),
        "data.one_hot": Call(data.one_hot, {"labels": Y, "classes": 2, "dtype": float}),
        "data.order": Call(data.order, {"n": 5, "seed": 0, "epoch": 0}),
        "data.split": Call(data.split, {"X": X, "y": Y, "test_size": 0.5, "seed": 0, "stratify": None}),
        "data.standardize": Call(data.standardize, {"X": X, "axis": 0}),
    }  # fmt: skip


def _losses() -> dict[str, Call]:
    pair = (X, X @ V[:2])
    return {
        "losses.absolute": Call(losses.absolute, TARGETS),
        "losses.squared": Call(losses.squared, TARGETS),
        "losses.huber": Call(losses.huber, {**TARGETS, "delta": 1.0}),
        "losses.gaussian": Call(losses.gaussian, {**TARGETS, "sigma": 1.0}),
        "losses.poisson": Call(losses.poisson, {**TARGETS, "targets": np.array([1, 0, 2])}),
        "losses.margin": Call(losses.margin, {**TARGETS, "targets": np.array([1, -1, 1])}),
        "losses.hinge": Call(losses.hinge, {**TARGETS, "targets": np.array([1, -1, 1])}),
        "losses.zero_one": Call(losses.zero_one, {**TARGETS, "targets": np.array([1, -1, 1])}),
        "losses.kl_divergence": Call(
            losses.kl_divergence, {**TARGETS, "outputs": X, "targets": np.full((4, 2), 0.5), "base": None}
        ),
        "losses.estimate_sigma": Call(
            losses.estimate_sigma, {"outputs": V, "targets": V + 0.1, "axis": None, "sample_weight": None}
        ),
        "losses.cross_entropy": Call(
            losses.cross_entropy, {**CLASSES, "label_smoothing": 0.0, "base": None, "ignore_index": None}
        ),
        "losses.ctc": Call(
            losses.ctc,
            {
                "outputs": np.zeros((2, 4, 3)), "targets": np.array([[1, 2], [1, -1]]), "output_lengths": None,
                "target_lengths": None, "blank": 0, "reduction": "mean", "sample_weight": None,
            },
        ),
        "losses.dice": Call(losses.dice, {**TARGETS, "outputs": X, "targets": (X > 0.0) * 1, "smooth": 1.0}),
        "losses.info_nce": Call(
            losses.info_nce,
            {"outputs": X, "targets": X[::-1], "temperature": 0.1, "symmetric": False, "reduction": "mean"},
        ),
        "losses.quantile": Call(losses.quantile, {**TARGETS, "q": 0.5}),
        "losses.triplet": Call(
            losses.triplet,
            {"anchor": X, "positive": X + 1.0, "negative": -X, "margin": 1.0, "reduction": "mean",
             "sample_weight": None},
        ),
        "losses.binary_cross_entropy": Call(
            losses.binary_cross_entropy,
            {**CLASSES, "outputs": V, "targets": np.array([0, 1, 1]), "label_smoothing": 0.0, "base": None},
        ),
        "losses.focal": Call(losses.focal, {**CLASSES, "gamma": 2.0, "binary": False}),
        "losses.l1": Call(losses.l1, {"strength": 0.1, "only": "*"}, then=at({"w": V})),
        "losses.l2": Call(losses.l2, {"strength": 0.1, "only": "*"}, then=at({"w": V})),
        "losses.elastic": Call(losses.elastic, {"l1": 0.1, "l2": 0.1, "only": "*"}, then=at({"w": V})),
        "losses.gaussian_prior": Call(losses.gaussian_prior, {"sigma": 0.1, "n": 1, "only": "*"}, then=at({"w": V})),
        "losses.laplace_prior": Call(losses.laplace_prior, {"b": 0.1, "n": 1, "only": "*"}, then=at({"w": V})),
        "losses.empirical_risk": Call(
            losses.empirical_risk, {"model": lambda x: x @ V[:2], "loss": losses.squared, "X": X, "y": pair[1]}
        ),
        "losses.generalization_gap": Call(
            losses.generalization_gap,
            {"model": lambda x: x @ V[:2], "loss": losses.squared, "train": pair, "test": pair},
        ),
        "losses.check_labels": Call(losses.check_labels, {"labels": Y, "classes": 2}),
        "losses.check_targets": Call(losses.check_targets, {"loss": losses.squared, "outputs": V, "targets": V}),
    }  # fmt: skip


def _layers() -> dict[str, Call]:
    image = np.ones((1, 5, 5, 1))
    row = np.ones((1, 5, 2))
    cell = nn.RNNCell(2, 2, key=KEY)
    return {
        "nn.MLP": Call(
            nn.MLP,
            {"sizes": [2, 3, 1], "activation": "relu", "dropout": 0.0, "norm": None, "init": None, **LAYER},
            then=at(X),
        ),
        "nn.Activation": Call(nn.Activation, {"function": np.tanh}, then=at(X)),
        "nn.AvgPool1d": Call(nn.AvgPool1d, {"window": 2, "stride": None}, then=at(row)),
        "nn.AvgPool2d": Call(nn.AvgPool2d, {"window": 2, "stride": None}, then=at(image)),
        "nn.MaxPool1d": Call(nn.MaxPool1d, {"window": 2, "stride": None}, then=at(row)),
        "nn.MaxPool2d": Call(nn.MaxPool2d, {"window": 2, "stride": None}, then=at(image)),
        "nn.BatchNorm": Call(
            nn.BatchNorm, {"width": 2, "momentum": 0.1, "epsilon": 1e-5, "dtype": np.float64}, then=at(X)
        ),
        "nn.LayerNorm": Call(nn.LayerNorm, {"width": 2, "epsilon": 1e-5, "dtype": np.float64}, then=at(X)),
        "nn.RMSNorm": Call(nn.RMSNorm, {"width": 2, "epsilon": 1e-5, "dtype": np.float64}, then=at(X)),
        "nn.GroupNorm": Call(
            nn.GroupNorm, {"groups": 2, "width": 2, "epsilon": 1e-5, "dtype": np.float64}, then=at(X)
        ),
        "nn.ConvTranspose1d": Call(
            nn.ConvTranspose1d,
            {
                "inputs": 2, "outputs": 2, "kernel": 3, "stride": 1, "padding": "same", "bias": True,
                "init": "he_normal", **LAYER,
            },
            then=at(row),
        ),
        "nn.ConvTranspose2d": Call(
            nn.ConvTranspose2d,
            {
                "inputs": 1, "outputs": 2, "kernel": 3, "stride": 1, "padding": "same", "bias": True,
                "init": "he_normal", **LAYER,
            },
            then=at(image),
        ),
        "nn.TransformerBlock": Call(
            nn.TransformerBlock,
            {
                "width": 2, "heads": 1, "hidden": 3, "causal": True, "rotary": True, "activation": "gelu",
                "norm": "layer", "dropout": 0.0, "bias": True, **LAYER,
            },
            then=at(row),
        ),
        "nn.Repeat": Call(nn.Repeat, {"block": dense(), "depth": 2, "key": KEY}, then=at(X)),
        "nn.rotary": Call(nn.rotary, {"x": X, "positions": None, "base": 100.0}),
        "nn.Conv1d": Call(
            nn.Conv1d,
            {
                "inputs": 2, "outputs": 1, "kernel": 3, "stride": 1, "padding": "same", "bias": True,
                "init": "he_normal", **LAYER,
            },
            then=at(row),
        ),
        "nn.Conv2d": Call(
            nn.Conv2d,
            {
                "inputs": 1, "outputs": 1, "kernel": 3, "stride": 1, "padding": "same", "bias": True,
                "init": "he_normal", **LAYER,
            },
            then=at(image),
        ),
        "nn.Dense": Call(
            nn.Dense, {"inputs": 2, "outputs": 2, "bias": True, "init": "glorot_uniform", **LAYER}, then=at(X)
        ),
        "nn.Dense.x": Call(lambda x: dense()(x), {"x": X}),
        "nn.Dropout": Call(nn.Dropout, {"rate": 0.1}, then=at(X)),
        "nn.Embedding": Call(nn.Embedding, {"count": 2, "width": 2, **LAYER}, then=at(Y)),
        "nn.Flatten": Call(nn.Flatten, {"start": 1}, then=at(image)),
        "nn.Function": Call(nn.Function, {"predict": lambda p, x: x @ p, "params": V[:2]}, then=at(X)),
        "nn.RNNCell": Call(nn.RNNCell, {"inputs": 2, "width": 2, **LAYER}),
        "nn.GRUCell": Call(nn.GRUCell, {"inputs": 2, "width": 2, **LAYER}),
        "nn.LSTMCell": Call(nn.LSTMCell, {"inputs": 2, "width": 2, **LAYER}),
        "nn.Recurrent": Call(nn.Recurrent, {"cell": cell, "last": False, "reverse": False}, then=at(row)),
        "nn.MultiHeadAttention": Call(
            nn.MultiHeadAttention,
            {"width": 2, "heads": 1, "causal": False, "bias": True, **LAYER},
            then=at(row),
        ),
        "nn.PReLU": Call(nn.PReLU, {"width": 2, "slope": 0.25, "dtype": np.float64}, then=at(X)),
        "nn.activation": Call(nn.activation, {"function": "relu"}),
        "nn.attention": Call(
            nn.attention, {"query": X, "key": X, "value": X, "mask": None, "causal": False}
        ),
        "nn.count_parameters": Call(nn.count_parameters, {"model": dense()}),
        "nn.parameters": Call(nn.parameters, {"model": dense()}),
        "nn.statistics": Call(nn.statistics, {"model": dense()}),
        "nn.partition": Call(nn.partition, {"model": dense(), "freeze": ()}),
        "nn.replace": Call(nn.replace, {"model": dense(), "arrays": {"bias": V[:2]}}),
        "nn.share": Call(
            nn.share,
            {"model": nn.Sequential(dense(), dense()), "name": "layers.0.bias", "other": "layers.1.bias"},
        ),
        "nn.summary": Call(nn.summary, {"model": dense(), "x": X}),
        "nn.training": Call(nn.training, {"model": dense(), "x": X, "key": KEY}),
        "nn.is_stochastic": Call(nn.is_stochastic, {"model": dense()}),
        "nn.relu": Call(nn.relu, {"x": V, "at_zero": 0.0}),
        "nn.elu": Call(nn.elu, {"x": V, "alpha": 1.0}),
        "nn.gelu": Call(nn.gelu, {"x": V, "approximate": False}),
        "nn.leaky_relu": Call(nn.leaky_relu, {"x": V, "slope": 0.01}),
        "nn.softmax": Call(nn.softmax, {"x": V, "temperature": 1.0, "axis": -1}),
        "nn.log_softmax": Call(nn.log_softmax, {"x": V, "temperature": 1.0, "axis": -1}),
        "nn.sigmoid": Call(nn.sigmoid, {"x": V, "slope": 1.0}),
        "nn.silu": Call(nn.silu, {"x": V}),
        "nn.softplus": Call(nn.softplus, {"x": V}),
        "nn.tanh": Call(nn.tanh, {"x": V}),
        "nn.identity": Call(nn.identity, {"x": V}),
        "nn.layer": Call(
            nn.layer, {"kind": type("Own", (), {"__annotations__": {"w": Any}, "__call__": lambda s, x: x})}
        ),
        "train": Call(
            ad.train,
            {
                "model": dense(), "loss": losses.cross_entropy, "data": (X, Y), "optimizer": optim.sgd(0.1),
                "epochs": 1, "batch_size": 2, "seed": 0, "validation": (X, Y), "metrics": {}, "regularizer": None,
                "freeze": (), "sample_weight": None, "class_weight": None, "shuffle": True, "drop_last": False,
                "accumulate": 1, "clip_per_sample": None, "patience": None, "callbacks": (), "checkpoint": None,
                "step_callbacks": (), "step_every": None, "ema": None, "swa": None, "progress": False,
            },
        ),
    }  # fmt: skip


def _optimisers() -> dict[str, Call]:
    both = {"rate": 0.1, "beta1": 0.9, "beta2": 0.99}
    counted, watching = optim.sgd(0.1).init(V), optim.sgd(optim.schedule.plateau(0.1))
    return {
        "optim.adagrad": Call(optim.adagrad, {"rate": 0.1, "eps": 1e-8}, then=stepped),
        "optim.adam": Call(optim.adam, {**both, "eps": 1e-8}, then=stepped),
        "optim.adamw": Call(optim.adamw, {**both, "eps": 1e-8, "weight_decay": 0.1, "only": "*"}, then=stepped),
        "optim.lion": Call(optim.lion, {**both, "weight_decay": 0.1, "only": "*"}, then=stepped),
        "optim.apply": Call(optim.apply, {"params": V, "step": V}),
        "optim.armijo": Call(optim.armijo, {"along": None, "start": 1.0, "shrink": 0.5, "c1": 1e-4}, then=stepped),
        "optim.wolfe": Call(optim.wolfe, {"along": None, "start": 1.0, "c1": 1e-4, "c2": 0.9}, then=stepped),
        "optim.exact": Call(optim.exact, {"along": None}, then=stepped),
        "optim.chain": Call(
            lambda optimizers: optim.chain(optim.clip(1.0), optimizers), {"optimizers": optim.sgd(0.1)}, then=stepped
        ),
        "optim.groups": Call(optim.groups, {"optimizers": {"*": optim.sgd(0.1)}}, then=stepped),
        "optim.clip": Call(optim.clip, {"max": 1.0}, then=stepped),
        "optim.clip_by_norm": Call(optim.clip_by_norm, {"max": 1.0}, then=stepped),
        "optim.gauss_newton": Call(optim.gauss_newton, {"shrink": 0.5, "c1": 1e-4}),
        "optim.levenberg_marquardt": Call(optim.levenberg_marquardt, {"damping": 1e-3}),
        "optim.is_descent": Call(optim.is_descent, {"gradient": V, "step": -V}),
        "optim.lbfgs": Call(optim.lbfgs, {"memory": 10, "c1": 1e-4, "c2": 0.9}, then=stepped),
        "optim.needs_function": Call(optim.needs_function, {"optimizer": optim.sgd(0.1)}),
        "optim.minimize": Call(
            optim.minimize,
            {
                "f": square, "x0": V, "optimizer": optim.sgd(0.1), "stop": None, "max_steps": 3, "jit": False,
                "args": (), "path": None,
            },
        ),
        "optim.natural_gradient": Call(
            optim.natural_gradient,
            {"rate": 0.1, "model": np.sin, "likelihood": "gaussian", "metric": None, "damping": 1e-4},
        ),
        "optim.newton": Call(optim.newton, {"dense": 200, "c1": 1e-4, "c2": 0.9, "floor": 1e-8}, then=stepped),
        "optim.rmsprop": Call(
            optim.rmsprop, {"rate": 0.1, "decay": 0.9, "eps": 1e-8, "momentum": 0.0, "centered": False}, then=stepped
        ),
        "optim.scale": Call(optim.scale, {"factor": 0.5}, then=stepped),
        "optim.sgd": Call(optim.sgd, {"rate": 0.1, "momentum": 0.0, "nesterov": False}, then=stepped),
        "optim.subgradient": Call(optim.subgradient, {"rate": 0.1, "normalize": False}, then=stepped),
        "optim.weight_decay": Call(optim.weight_decay, {"strength": 0.1, "only": "*"}, then=stepped),
        "optim.schedule.constant": Call(optim.schedule.constant, {"rate": 0.1}, then=at(1)),
        "optim.schedule.cosine": Call(optim.schedule.cosine, {"rate": 0.1, "steps": 3, "final": 0.0}, then=at(1)),
        "optim.schedule.diminishing": Call(optim.schedule.diminishing, {"rate": 0.1, "power": 0.5}, then=at(1)),
        "optim.schedule.one_cycle": Call(
            optim.schedule.one_cycle,
            {"peak": 0.1, "steps": 3, "rise": 0.3, "start": None, "final": None},
            then=at(1),
        ),
        "optim.schedule.plateau": Call(
            optim.schedule.plateau,
            {"rate": 0.1, "factor": 0.5, "patience": 1, "cooldown": 0, "minimum": 0.0, "threshold": 1e-4},
        ),
        "optim.schedule.warm_restarts": Call(
            optim.schedule.warm_restarts, {"rate": 0.1, "first": 3, "factor": 2, "final": 0.0}, then=at(1)
        ),
        "optim.for_steps": Call(optim.for_steps, {"optimizer": optim.sgd(0.1), "steps": 3, "state": counted}),
        "optim.observe": Call(optim.observe, {"optimizer": watching, "state": watching.init(V), "value": 0.5}),
        "optim.rates": Call(optim.rates, {"optimizer": optim.sgd(0.1), "state": counted}),
        "optim.schedule.step": Call(optim.schedule.step, {"rate": 0.1, "every": 3, "factor": 0.1}, then=at(1)),
        "optim.schedule.warmup": Call(optim.schedule.warmup, {"rate": 0.1, "steps": 3}, then=at(1)),
        "optim.stop.gradient": Call(optim.stop.gradient, {"eps": 0.1}),
        "optim.stop.step": Call(optim.stop.step, {"eps": 0.1}),
        "optim.stop.steps": Call(optim.stop.steps, {"most": 3}),
        "optim.stop.value": Call(optim.stop.value, {"eps": 0.1, "relative": 0.0}),
        "optim.stop.validation": Call(
            optim.stop.validation, {"loss": square, "patience": 10, "every": 1, "eps": 0.0}
        ),
    }  # fmt: skip


def _draws() -> dict[str, Call]:
    random = ad.random
    shaped = {name: DRAW[name] for name in ("key", "shape", "dtype")}
    return {
        "random.bernoulli": Call(random.bernoulli, {"key": KEY, "p": 0.5, "shape": (2,)}),
        "random.beta": Call(random.beta, {**shaped, "a": 1.0, "b": 2.0}),
        "random.bits": Call(random.bits, {"key": KEY, "shape": (2,)}),
        "random.categorical": Call(random.categorical, {"key": KEY, "logits": V, "axis": -1, "shape": None}),
        "random.cauchy": Call(random.cauchy, DRAW),
        "random.choice": Call(random.choice, {"key": KEY, "a": V, "shape": (), "replace": True, "p": None, "axis": 0}),
        "random.dirichlet": Call(random.dirichlet, {**shaped, "alpha": np.ones(3), "shape": None}),
        "random.exponential": Call(random.exponential, {**shaped, "scale": 1.0}),
        "random.fold_in": Call(random.fold_in, {"key": KEY, "data": 3}),
        "random.gamma": Call(random.gamma, {**shaped, "a": 1.5, "scale": 1.0}),
        "random.gumbel": Call(random.gumbel, DRAW),
        "random.integers": Call(random.integers, {"key": KEY, "low": 0, "high": 9, "shape": (2,), "dtype": int}),
        "random.key": Call(random.key, {"seed": 0}),
        "random.laplace": Call(random.laplace, DRAW),
        "random.logistic": Call(random.logistic, DRAW),
        "random.normal": Call(random.normal, DRAW),
        "random.permutation": Call(random.permutation, {"key": KEY, "x": V, "axis": 0}),
        "random.split": Call(random.split, {"key": KEY, "n": 2}),
        "random.truncated_normal": Call(random.truncated_normal, {**shaped, "low": -1.0, "high": 1.0}),
        "random.uniform": Call(random.uniform, {**shaped, "low": 0.0, "high": 1.0}),
    }


def _tools() -> dict[str, Call]:
    tree = ad.tree
    return {
        "config.set_threads": Call(ad.config.set_threads, {"n": None}),
        "config.set_cache": Call(ad.config.set_cache, {"folder": None}),
        "block": Call(ad.block, {"name": "part"}),
        "debug.patches": Call(ad.debug.patches, {"module": "scipy"}),
        "debug.print": Call(ad.debug.print, {"text": "x"}),
        "debug.callback": Call(ad.debug.callback, {"function": lambda: None}),
        "testing.check_grads": Call(
            ad.testing.check_grads,
            {
                "fun": square, "args": (V,), "order": 1, "modes": ("forward", "reverse"), "rtol": None, "atol": None,
                "step": None, "seed": 0,
            },
        ),
        "testing.check_case": Call(
            ad.testing.check_case, {"case": ad.testing.Case("sin", np.sin, (V,)), "laws": ()}
        ),
        "tree.flatten": Call(tree.flatten, {"tree": [V]}),
        "tree.leaves": Call(tree.leaves, {"tree": [V]}),
        "tree.map": Call(tree.map, {"fun": np.sin, "tree": [V]}),
        "tree.map_with_path": Call(tree.map_with_path, {"fun": lambda path, x: x, "tree": [V]}),
        "tree.paths": Call(tree.paths, {"tree": [V]}),
        "tree.ravel": Call(tree.ravel, {"tree": [V]}),
        "tree.structure": Call(tree.structure, {"tree": [V]}),
        "tree.unflatten": Call(tree.unflatten, {"structure": tree.structure([V]), "leaves": [V]}),
        "tree.static": Call(tree.static, {"default": 1}),
    }  # fmt: skip
