"""`nn.from_torch`: a module of PyTorch as a model."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import activations
from ..layer import described
from ..layers.attention import MultiHeadAttention
from ..layers.convolution import Conv1d, Conv2d, sides, spans
from ..layers.dense import Dense, Embedding
from ..layers.dropout import Dropout
from ..layers.normalization import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from ..layers.pooling import AvgPool1d, AvgPool2d, Flatten, MaxPool1d, MaxPool2d
from ..layers.prelu import PReLU
from ..layers.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell
from ..layers.sequential import Activation, Sequential
from ..layers.transposed import ConvTranspose1d, ConvTranspose2d
from .layout import ChannelLayout, layout_for, refuse, rows_only

OWN = "Make the model of layers here, and take over its parts:  nn.from_torch(module.part)."


def from_torch(module: Any) -> Any:
    """A module of PyTorch as a model: the same values, to rounding, with arrays of its dtype.

    Linear, Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d, BatchNorm1d, BatchNorm2d, LayerNorm, GroupNorm, RMSNorm,
    Embedding, Dropout, the activations, PReLU, pooling, Flatten, MultiheadAttention, RNN, LSTM, GRU, and Sequential of
    these. Channels come last: images are (n, height, width, c), sequences (n, length, c). Weights are turned to fit,
    those behind a Flatten too.

    Parameters
    ----------
    module : torch.nn.Module
        The module; it is not changed.

    Returns
    -------
    layer
        The model.

    Raises
    ------
    InputError
        If there is no such layer here: the message names it and says what to do.

    Notes
    -----
    `nn.to_torch` is the way back. A Flatten in front of every convolution takes numbers in the order that they have, so
    give such a model images with channels first. GRU of PyTorch has a bias inside its gate, which GRUCell has not: it
    is taken over if that is 0.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> from adjoint import nn
    >>> theirs = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())  # doctest: +SKIP
    >>> nn.from_torch(theirs)  # doctest: +SKIP
    Sequential(layers=(Dense(weight=float32[4,8], bias=float32[8]), Activation(relu)))
    """
    parts = module.modules() if hasattr(module, "modules") else ()
    return _read(module, layout_for([type(part).__name__ for part in parts]))


def _read(module: Any, at: ChannelLayout) -> Any:
    name = type(module).__name__
    if not type(module).__module__.startswith("torch.nn"):
        if hasattr(module, "named_parameters"):
            raise refuse(name, "its forward is code of its own", OWN)
        raise refuse(name, f"it is no module of PyTorch but {described(module)}", "Pass a torch.nn.Module.")
    reader = READERS.get(name)
    if reader is None:
        raise refuse(name, "there is no such layer here", OWN)
    return reader(module, at)


def _array(tensor: Any) -> Any:
    """The numbers of a tensor, as an array of their own."""
    if tensor is None:
        return None
    kind = str(tensor.dtype).rpartition(".")[2]
    if kind not in ("float32", "float64"):
        raise refuse(f"A tensor of {kind}", "models are in float32 or float64", "Write  module.float()  first.")
    return np.array(tensor.detach().cpu().numpy())


def _of(kind: Any, **fields: Any) -> Any:
    """A layer of these fields, as `dataclasses.replace` makes them."""
    return kind(**fields)


def _want(name: str, module: Any, **options: Any) -> None:
    """Refuse options of a module that are not these."""
    for option, value in options.items():
        if getattr(module, option, value) != value:
            got = getattr(module, option)
            raise refuse(f"{name} with {option}={got!r}", "there is no such option here", f"It has to be {value!r}.")


def _sequential(module: Any, at: ChannelLayout) -> Sequential:
    return Sequential(*[_read(part, at) for part in module])


def _linear(module: Any, at: ChannelLayout) -> Any:
    rows_only("Linear", at)
    weight = _array(module.weight).T
    weight = weight[at.order(len(weight))]
    at.has_rows()
    return _of(Dense, weight=np.ascontiguousarray(weight), bias=_array(module.bias))


def _convolution(kind: Callable[..., Any], axes: int, module: Any, at: ChannelLayout) -> Any:
    name = type(module).__name__
    _want(name, module, padding_mode="zeros")
    reach = spans(module.kernel_size, module.dilation)
    padding = module.padding if isinstance(module.padding, str) else tuple(module.padding)
    at.has_places(axes, module.out_channels)
    return kind(
        weight=_kernel(_array(module.weight)),
        bias=_array(module.bias),
        stride=tuple(module.stride),
        padding=sides(name, padding, reach),
        dilation=tuple(module.dilation),
        groups=module.groups,
    )


def _kernel(weight: Any) -> Any:
    """(c', c, k, ...) as (k, ..., c, c')."""
    return np.ascontiguousarray(np.moveaxis(weight, (0, 1), (-1, -2)))


def _transposed(kind: Callable[..., Any], axes: int, module: Any, at: ChannelLayout) -> Any:
    name = type(module).__name__
    _want(name, module, padding_mode="zeros", groups=1, dilation=(1,) * axes)
    at.has_places(axes, module.out_channels)
    cut = [(p, p - more) for p, more in zip(module.padding, module.output_padding, strict=True)]
    return kind(
        weight=np.ascontiguousarray(np.moveaxis(_array(module.weight), (0, 1), (-2, -1))),
        bias=_array(module.bias),
        stride=tuple(module.stride),
        padding=tuple(cut),
    )


def _batch_norm(module: Any, at: ChannelLayout) -> Any:
    name = type(module).__name__
    _want(name, module, affine=True, track_running_stats=True)
    if module.momentum is None:
        raise refuse(f"{name} with momentum=None", "running statistics move by a share here", "Give a momentum.")
    if at.axes:
        at.has_places(at.axes, module.num_features)
    order = at.order(module.num_features)
    scale, shift, mean, variance = [
        _array(a)[order] for a in (module.weight, module.bias, module.running_mean, module.running_var)
    ]
    return _of(
        BatchNorm, scale=scale, shift=shift, mean=mean, variance=variance, momentum=module.momentum, epsilon=module.eps
    )


def _layer_norm(module: Any, at: ChannelLayout) -> Any:
    width = _last_axis(module, at)
    if module.bias is None:
        raise refuse("LayerNorm with bias=False", "it has a scale and a shift here", "nn.RMSNorm has a scale alone.")
    order = at.order(width)
    return _of(LayerNorm, scale=_array(module.weight)[order], shift=_array(module.bias)[order], epsilon=module.eps)


def _rms_norm(module: Any, at: ChannelLayout) -> Any:
    width = _last_axis(module, at)
    scale = _array(module.weight)[at.order(width)]
    return _of(RMSNorm, scale=scale, epsilon=float(np.finfo(scale.dtype).eps if module.eps is None else module.eps))


def _last_axis(module: Any, at: ChannelLayout) -> int:
    """The width of a norm along the last axis, which has a scale."""
    name = type(module).__name__
    rows_only(name, at)
    _want(name, module, elementwise_affine=True)
    if len(module.normalized_shape) != 1:
        raise refuse(f"{name} of several axes", "it is along the last axis here", "Put a Flatten in front of it.")
    return int(module.normalized_shape[0])


def _group_norm(module: Any, at: ChannelLayout) -> Any:
    _want("GroupNorm", module, affine=True)
    if not at.axes and at.channels not in (None, 1):
        raise refuse("GroupNorm behind Flatten", "a group has other numbers here", "Put it in front of the Flatten.")
    scale, shift = _array(module.weight), _array(module.bias)
    return _of(GroupNorm, scale=scale, shift=shift, groups=module.num_groups, epsilon=module.eps)


def _embedding(module: Any, at: ChannelLayout) -> Any:
    _want("Embedding", module, padding_idx=None, max_norm=None)
    at.has_rows()
    return _of(Embedding, weight=_array(module.weight))


def _pool(kind: Callable[..., Any], axes: int, module: Any, at: ChannelLayout) -> Any:
    name = type(module).__name__
    zero = ((0,) * axes, 0, (0,))
    if getattr(module, "padding", 0) not in zero:
        raise refuse(f"{name} with padding", "windows are inside the image here", "Write  np.pad  in front of it.")
    if getattr(module, "dilation", 1) not in (1, (1,) * axes) or module.ceil_mode:
        raise refuse(f"{name} with dilation or ceil_mode", "there is no such option here", "Leave it out.")
    at.axes = axes
    return kind(_numbers(module.kernel_size), None if module.stride is None else _numbers(module.stride))


def _numbers(value: Any) -> Any:
    return value if isinstance(value, int) else tuple(value)


def _flatten(module: Any, at: ChannelLayout) -> Any:
    _want("Flatten", module, start_dim=1, end_dim=-1)
    at.flattened()
    return _of(Flatten, start=1)


def _prelu(module: Any, at: ChannelLayout) -> Any:
    slope = _array(module.weight)
    if len(slope) == 1 and at.channels != 1:
        raise refuse("PReLU with one slope for all", "there is one for each channel here", "Give  num_parameters.")
    return _of(PReLU, slope=slope[at.order(len(slope))])


def _softmax(function: Callable[..., Any], module: Any, at: ChannelLayout) -> Activation:
    if module.dim not in (-1, 1) or (module.dim == -1 and at.axes):
        raise refuse(f"{type(module).__name__} with dim={module.dim}", "it is over the last axis here", "Write  dim=1.")
    return Activation(function)


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda module, at: Activation(function)


def _with(function: Callable[..., Any], option: str, theirs: str, default: Any) -> Callable[..., Any]:
    """An activation with a number, or without it if that is what it has by default."""

    def read(module: Any, at: ChannelLayout) -> Activation:
        value = getattr(module, theirs)
        return Activation(function if value == default else functools.partial(function, **{option: value}))

    return read


def _gelu(module: Any, at: ChannelLayout) -> Activation:
    exact = module.approximate == "none"
    return Activation(activations.gelu if exact else functools.partial(activations.gelu, approximate=True))


def _softplus(module: Any, at: ChannelLayout) -> Activation:
    _want("Softplus", module, beta=1.0)
    return Activation(activations.softplus)


def _attention(module: Any, at: ChannelLayout) -> Any:
    _want("MultiheadAttention", module, dropout=0.0, bias_k=None, add_zero_attn=False, _qkv_same_embed_dim=True)
    weights, biases = np.split(_array(module.in_proj_weight), 3), [None] * 3  # type: list[Any], list[Any]
    if module.in_proj_bias is not None:
        biases = np.split(_array(module.in_proj_bias), 3)
    q, k, v = [_of(Dense, weight=np.ascontiguousarray(w.T), bias=b) for w, b in zip(weights, biases, strict=True)]
    out = _of(Dense, weight=np.ascontiguousarray(_array(module.out_proj.weight).T), bias=_array(module.out_proj.bias))
    return _of(
        MultiHeadAttention, query=q, key=k, value=v, output=out, heads=module.num_heads, causal=False, rotary=False
    )


def _recurrent(kind: Callable[..., Any], module: Any, at: ChannelLayout) -> Any:
    name = type(module).__name__
    _want(name, module, bidirectional=False, proj_size=0, nonlinearity="tanh")
    if module.num_layers > 1 and module.dropout:
        raise refuse(f"{name} with dropout", "there is none between layers here", "Take over layers one by one.")
    layers = [_of(Recurrent, cell=_cell(kind, module, k), last=False, reverse=False) for k in range(module.num_layers)]
    return layers[0] if len(layers) == 1 else Sequential(*layers)


def _cell(kind: Callable[..., Any], module: Any, k: int) -> Any:
    """The arrays of a layer of a recurrent module, its two biases as one."""
    weight, recurrent = [_array(getattr(module, f"weight_{part}_l{k}")).T for part in ("ih", "hh")]
    bias = np.zeros(weight.shape[1], weight.dtype)
    if module.bias:
        bias, other = [_array(getattr(module, f"bias_{part}_l{k}")) for part in ("ih", "hh")]
        if kind is GRUCell and other[2 * recurrent.shape[0] :].any():
            raise refuse(
                "GRU",
                "its bias inside the reset gate, the last third of bias_hh, is not 0, and GRUCell has none",
                "Train it with that bias at 0, or with  bias=False;  LSTM and RNN are taken over as they are.",
            )
        bias = bias + other
    return kind(weight=np.ascontiguousarray(weight), recurrent=np.ascontiguousarray(recurrent), bias=bias)


READERS: dict[str, Callable[[Any, ChannelLayout], Any]] = {
    "Sequential": _sequential,
    "Linear": _linear,
    "Conv1d": functools.partial(_convolution, Conv1d, 1),
    "Conv2d": functools.partial(_convolution, Conv2d, 2),
    "ConvTranspose1d": functools.partial(_transposed, ConvTranspose1d, 1),
    "ConvTranspose2d": functools.partial(_transposed, ConvTranspose2d, 2),
    "BatchNorm1d": _batch_norm,
    "BatchNorm2d": _batch_norm,
    "LayerNorm": _layer_norm,
    "GroupNorm": _group_norm,
    "RMSNorm": _rms_norm,
    "Embedding": _embedding,
    "Dropout": lambda module, at: Dropout(module.p),
    "MaxPool1d": functools.partial(_pool, MaxPool1d, 1),
    "MaxPool2d": functools.partial(_pool, MaxPool2d, 2),
    "AvgPool1d": functools.partial(_pool, AvgPool1d, 1),
    "AvgPool2d": functools.partial(_pool, AvgPool2d, 2),
    "Flatten": _flatten,
    "PReLU": _prelu,
    "ReLU": _plain(activations.relu),
    "Tanh": _plain(activations.tanh),
    "Sigmoid": _plain(activations.sigmoid),
    "SiLU": _plain(activations.silu),
    "Identity": _plain(activations.identity),
    "GELU": _gelu,
    "Softplus": _softplus,
    "ELU": _with(activations.elu, "alpha", "alpha", 1.0),
    "LeakyReLU": _with(activations.leaky_relu, "slope", "negative_slope", 0.01),
    "Softmax": functools.partial(_softmax, activations.softmax),
    "LogSoftmax": functools.partial(_softmax, activations.log_softmax),
    "MultiheadAttention": _attention,
    "RNN": functools.partial(_recurrent, RNNCell),
    "GRU": functools.partial(_recurrent, GRUCell),
    "LSTM": functools.partial(_recurrent, LSTMCell),
}
"""How each module is read, by the name of its class."""
