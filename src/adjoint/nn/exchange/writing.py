"""`nn.to_torch`: a model as a module of PyTorch."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import activations
from ..layers.attention import MultiHeadAttention
from ..layers.convolution import Conv1d, Conv2d, sides, spans
from ..layers.dense import Dense, Embedding
from ..layers.dropout import Dropout
from ..layers.mlp import MLP
from ..layers.normalization import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from ..layers.pooling import AvgPool1d, AvgPool2d, Flatten, MaxPool1d, MaxPool2d
from ..layers.prelu import PReLU
from ..layers.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell
from ..layers.sequential import Activation, Sequential
from ..layers.transposed import ConvTranspose1d, ConvTranspose2d
from ..walking import layers
from .layout import ChannelLayout, layout_for, refuse, rows_only


def to_torch(model: Any) -> Any:
    """A model as a module of PyTorch, in evaluation mode: the same values, to rounding.

    Layers are those that `nn.from_torch` takes, and `nn.MLP`. Channels come behind the first axis there: images are
    (n, c, height, width), sequences of convolutions (n, c, length); sequences of recurrent layers and of attention are
    (n, length, c), as `batch_first=True` has it. A Flatten in front of every convolution takes numbers in the order
    that they have, and a batch normalisation by itself is one of rows.

    Parameters
    ----------
    model : layer
        The model.

    Returns
    -------
    torch.nn.Module
        The module, with copies of the arrays.

    Raises
    ------
    InputError
        If PyTorch has no such layer: the message names it and says what to do.
    ModuleNotFoundError
        If PyTorch is not installed, which nothing else here needs.

    Examples
    --------
    >>> from adjoint import nn
    >>> nn.to_torch(nn.Sequential(nn.Dense(4, 8, key=0), "relu"))  # doctest: +SKIP
    Sequential(
      (0): Linear(in_features=4, out_features=8, bias=True)
      (1): ReLU()
    )
    """
    return _write(model, layout_for([type(part).__name__ for _, part in layers(model)])).eval()


def _write(part: Any, at: ChannelLayout) -> Any:
    writer = WRITERS.get(type(part))
    if writer is None:
        raise refuse(
            type(part).__name__, "PyTorch has no such layer", "Write a module, and take over the layers in it."
        )
    return writer(importlib.import_module("torch"), part, at)


def _set(torch: Any, module: Any, **arrays: Any) -> Any:
    """The module with these arrays in place of its own, in their dtype."""
    kind = next(iter(arrays.values())).dtype
    module = module.to(getattr(torch, str(kind)))
    with torch.no_grad():
        for name, array in arrays.items():
            if array is not None:
                getattr(module, name).copy_(torch.from_numpy(np.array(array, order="C")))
    return module


def _sequential(torch: Any, part: Sequential, at: ChannelLayout) -> Any:
    for inner in part.layers:
        if isinstance(inner, (Recurrent, MultiHeadAttention)):
            raise refuse(
                f"{type(inner).__name__} in Sequential",
                "PyTorch's gives a pair, which the next layer cannot take",
                "Take it over by itself:  nn.to_torch(model.layers[k]).",
            )
    return torch.nn.Sequential(*[_write(inner, at) for inner in part.layers])


def _mlp(torch: Any, part: MLP, at: ChannelLayout) -> Any:
    parts: list[Any] = []
    for k, activation in enumerate(part.activations):
        parts += [part.layers[k], *part.norms[k : k + 1], activation, *([part.dropout] if part.dropout else [])]
    return torch.nn.Sequential(*[_write(inner, at) for inner in (*parts, part.layers[-1])])


def _dense(torch: Any, part: Dense, at: ChannelLayout) -> Any:
    rows_only("Dense", at)
    inputs, outputs = part.weight.shape
    weight = part.weight[at.order_back(inputs)].T
    at.has_rows()
    module = torch.nn.Linear(inputs, outputs, bias=part.bias is not None)
    return _set(torch, module, weight=weight, bias=part.bias)


def _convolution(kind: str, torch: Any, part: Any, at: ChannelLayout) -> Any:
    *size, inputs, outputs = part.weight.shape
    at.has_places(len(size), outputs)
    module = getattr(torch.nn, kind)(
        inputs * part.groups,
        outputs,
        tuple(size),
        stride=part.stride,
        padding=_padding(kind, part, tuple(size)),
        dilation=part.dilation,
        groups=part.groups,
        bias=part.bias is not None,
    )
    return _set(torch, module, weight=np.moveaxis(part.weight, (-1, -2), (0, 1)), bias=part.bias)


def _padding(kind: str, part: Any, size: tuple[int, ...]) -> Any:
    """As many zeros on each side, or "same", which PyTorch has for steps of 1."""
    if all([before == after for before, after in part.padding]):
        return tuple([before for before, _ in part.padding])
    if set(part.stride) == {1} and part.padding == sides(kind, "same", spans(size, part.dilation)):
        return "same"
    raise refuse(
        f"{kind} with other zeros in front than behind",
        "PyTorch has as many on both sides",
        "Make the layer with  padding=  a number, or with an odd kernel.",
    )


def _transposed(kind: str, torch: Any, part: Any, at: ChannelLayout) -> Any:
    *size, inputs, outputs = part.weight.shape
    more = [before - after for before, after in part.padding]
    if any([before < 0 or not 0 <= m < s for (before, _), m, s in zip(part.padding, more, part.stride, strict=True)]):
        raise refuse(
            f"{kind} with more cut off behind than in front",
            "PyTorch cuts off the same on both sides",
            "Make the layer with  padding=  a number, or with a kernel of an even number more than the stride.",
        )
    at.has_places(len(size), outputs)
    module = getattr(torch.nn, kind)(
        inputs,
        outputs,
        tuple(size),
        stride=part.stride,
        padding=tuple([before for before, _ in part.padding]),
        output_padding=tuple(more),
        bias=part.bias is not None,
    )
    return _set(torch, module, weight=np.moveaxis(part.weight, (-2, -1), (0, 1)), bias=part.bias)


def _batch_norm(torch: Any, part: BatchNorm, at: ChannelLayout) -> Any:
    kind = torch.nn.BatchNorm2d if at.axes == 2 else torch.nn.BatchNorm1d
    width = len(part.scale)
    if at.axes:
        at.has_places(at.axes, width)
    order = at.order_back(width)
    return _set(
        torch,
        kind(width, eps=part.epsilon, momentum=part.momentum),
        weight=part.scale[order],
        bias=part.shift[order],
        running_mean=part.mean[order],
        running_var=part.variance[order],
    )


def _layer_norm(torch: Any, part: LayerNorm, at: ChannelLayout) -> Any:
    rows_only("LayerNorm", at)
    width = len(part.scale)
    order = at.order_back(width)
    return _set(torch, torch.nn.LayerNorm(width, eps=part.epsilon), weight=part.scale[order], bias=part.shift[order])


def _rms_norm(torch: Any, part: RMSNorm, at: ChannelLayout) -> Any:
    rows_only("RMSNorm", at)
    width = len(part.scale)
    return _set(torch, torch.nn.RMSNorm(width, eps=part.epsilon), weight=part.scale[at.order_back(width)])


def _group_norm(torch: Any, part: GroupNorm, at: ChannelLayout) -> Any:
    if not at.axes and at.channels not in (None, 1):
        raise refuse("GroupNorm behind Flatten", "a group has other numbers there", "Put it in front of the Flatten.")
    module = torch.nn.GroupNorm(part.groups, len(part.scale), eps=part.epsilon)
    return _set(torch, module, weight=part.scale, bias=part.shift)


def _embedding(torch: Any, part: Embedding, at: ChannelLayout) -> Any:
    at.has_rows()
    return _set(torch, torch.nn.Embedding(*part.weight.shape), weight=part.weight)


def _pool(kind: str, torch: Any, part: Any, at: ChannelLayout) -> Any:
    at.axes = part.axes
    window, stride = (part.window[0], part.stride[0]) if part.axes == 1 else (part.window, part.stride)
    return getattr(torch.nn, kind)(window, stride)


def _flatten(torch: Any, part: Flatten, at: ChannelLayout) -> Any:
    if part.start != 1:
        raise refuse(f"Flatten(start={part.start})", "a module has the examples in front", "Write  nn.Flatten().")
    at.flattened()
    return torch.nn.Flatten()


def _prelu(torch: Any, part: PReLU, at: ChannelLayout) -> Any:
    width = len(part.slope)
    return _set(torch, torch.nn.PReLU(width), weight=part.slope[at.order_back(width)])


def _attention(torch: Any, part: MultiHeadAttention, at: ChannelLayout) -> Any:
    if part.rotary or part.causal:
        raise refuse(
            f"MultiHeadAttention with {'rotary' if part.rotary else 'causal'}=True",
            "PyTorch's module has no such option",
            "A causal one takes  attn_mask  in its call there: make it here with  causal=False.",
        )
    dense = (part.query, part.key, part.value)
    module = torch.nn.MultiheadAttention(
        part.output.weight.shape[0], part.heads, bias=part.query.bias is not None, batch_first=True
    )
    weight = np.concatenate([d.weight.T for d in dense])
    biases = None if part.query.bias is None else np.concatenate([d.bias for d in dense])  # type: ignore[misc]
    _set(torch, module, in_proj_weight=weight, in_proj_bias=biases)
    _set(torch, module.out_proj, weight=part.output.weight.T, bias=part.output.bias)
    return module


def _recurrent(torch: Any, part: Recurrent, at: ChannelLayout) -> Any:
    cell = part.cell
    kind = {RNNCell: "RNN", GRUCell: "GRU", LSTMCell: "LSTM"}.get(type(cell))
    if kind is None or part.last or part.reverse:
        raise refuse(
            f"Recurrent of {type(cell).__name__}, last={part.last}, reverse={part.reverse}",
            "PyTorch's gives the outputs of all steps, from the first to the last, of its own cells",
            "Make it with  last=False  and  reverse=False.",
        )
    module = getattr(torch.nn, kind)(cell.weight.shape[0], cell.recurrent.shape[0], batch_first=True)
    return _set(
        torch,
        module,
        weight_ih_l0=cell.weight.T,
        weight_hh_l0=cell.recurrent.T,
        bias_ih_l0=cell.bias,
        bias_hh_l0=np.zeros_like(cell.bias),
    )


def _activation(torch: Any, part: Activation, at: ChannelLayout) -> Any:
    function: Any = part.function
    options: dict[str, Any] = {}
    if isinstance(function, functools.partial) and not function.args:
        function, options = function.func, function.keywords
    if function in (activations.softmax, activations.log_softmax) and not options:
        return {activations.softmax: torch.nn.Softmax, activations.log_softmax: torch.nn.LogSoftmax}[function](
            1 if at.axes else -1
        )
    name, theirs = NAMED.get(function, (None, {}))
    if name is None or not options.keys() <= theirs.keys():
        raise refuse(
            f"Activation({getattr(function, '__name__', function)})",
            "PyTorch has no module of this function",
            "Write a module whose forward is the function, and put it in its place.",
        )
    if name == "GELU":
        return torch.nn.GELU("tanh" if options.get("approximate") else "none")
    return getattr(torch.nn, name)(**{theirs[option]: value for option, value in options.items()})


NAMED: dict[Any, tuple[str, dict[str, str]]] = {
    activations.relu: ("ReLU", {}),
    activations.tanh: ("Tanh", {}),
    np.tanh: ("Tanh", {}),
    activations.sigmoid: ("Sigmoid", {}),
    activations.silu: ("SiLU", {}),
    activations.softplus: ("Softplus", {}),
    activations.identity: ("Identity", {}),
    activations.gelu: ("GELU", {"approximate": "approximate"}),
    activations.elu: ("ELU", {"alpha": "alpha"}),
    activations.leaky_relu: ("LeakyReLU", {"slope": "negative_slope"}),
}
"""The modules of activations, and what their options are called."""

WRITERS: dict[type, Callable[[Any, Any, ChannelLayout], Any]] = {
    Sequential: _sequential,
    MLP: _mlp,
    Dense: _dense,
    Conv1d: functools.partial(_convolution, "Conv1d"),
    Conv2d: functools.partial(_convolution, "Conv2d"),
    ConvTranspose1d: functools.partial(_transposed, "ConvTranspose1d"),
    ConvTranspose2d: functools.partial(_transposed, "ConvTranspose2d"),
    BatchNorm: _batch_norm,
    LayerNorm: _layer_norm,
    GroupNorm: _group_norm,
    RMSNorm: _rms_norm,
    Embedding: _embedding,
    Dropout: lambda torch, part, at: torch.nn.Dropout(part.rate),
    MaxPool1d: functools.partial(_pool, "MaxPool1d"),
    MaxPool2d: functools.partial(_pool, "MaxPool2d"),
    AvgPool1d: functools.partial(_pool, "AvgPool1d"),
    AvgPool2d: functools.partial(_pool, "AvgPool2d"),
    Flatten: _flatten,
    PReLU: _prelu,
    Activation: _activation,
    MultiHeadAttention: _attention,
    Recurrent: _recurrent,
}
"""How each layer is written, by its class."""
