"""Names, methods and options that people know from other libraries, to what does the same here."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import adjoint as ad

LOSS = "a function: no brackets"

NAMES = {
    "Linear": "nn.Dense",
    "fill": "nn.set_fields",
    "Module": "a frozen dataclass with a call",
    "ModuleList": "a tuple in a field of a layer",
    "ModuleDict": "a dict in a field of a layer",
    "Parameter": "an array in a field of a layer",
    "Identity": "nn.identity",
    "Lambda": "the function itself in nn.Sequential",
    "Reshape": "a function in nn.Sequential:  lambda x: x.reshape(len(x), ...)",
    "Input": "nothing: layers are made with the number of their inputs",
    "ReLU": '"relu" in nn.Sequential, or nn.relu(x)',
    "Tanh": '"tanh" in nn.Sequential, or nn.tanh(x)',
    "Sigmoid": '"sigmoid" in nn.Sequential, or nn.sigmoid(x)',
    "GELU": '"gelu" in nn.Sequential, or nn.gelu(x)',
    "SiLU": '"silu" in nn.Sequential, or nn.silu(x)',
    "ELU": '"elu" in nn.Sequential, or nn.elu(x)',
    "LeakyReLU": '"leaky_relu" in nn.Sequential, or nn.leaky_relu(x)',
    "Softplus": '"softplus" in nn.Sequential, or nn.softplus(x)',
    "Softmax": "nn.softmax(x)",
    "LogSoftmax": "nn.log_softmax(x)",
    "RNN": "nn.Recurrent(nn.RNNCell(inputs, width, key=0))",
    "GRU": "nn.Recurrent(nn.GRUCell(inputs, width, key=0))",
    "LSTM": "nn.Recurrent(nn.LSTMCell(inputs, width, key=0))",
    "BatchNorm1d": "nn.BatchNorm",
    "BatchNorm2d": "nn.BatchNorm",
    "MultiheadAttention": "nn.MultiHeadAttention",
    "scaled_dot_product_attention": "nn.attention",
    "functional": "the functions of nn itself, as nn.relu",
    "train": "nn.training(model, x, key)",
    "eval": "model(x), which is inference always",
    "state_dict": "nn.parameters and nn.statistics",
    "size": "nn.count_parameters(model)",
    "num_parameters": "nn.count_parameters(model)",
    "save": "np.savez(path, **nn.parameters(model), **nn.statistics(model)) and nn.replace(model, np.load(path))",
    "load": "nn.replace(model, np.load(path))",
    "utils": "optim.clip_by_norm in optim.chain, for clipping; nn.count_parameters",
    "CrossEntropyLoss": f"losses.cross_entropy, {LOSS}",
    "NLLLoss": f"losses.cross_entropy of logits, {LOSS}",
    "BCELoss": f"losses.binary_cross_entropy of logits, {LOSS}",
    "BCEWithLogitsLoss": f"losses.binary_cross_entropy, {LOSS}",
    "MSELoss": f"losses.squared, {LOSS}",
    "L1Loss": f"losses.absolute, {LOSS}",
    "SmoothL1Loss": f"losses.huber, {LOSS}",
    "HuberLoss": f"losses.huber, {LOSS}",
    "KLDivLoss": f"losses.kl_divergence, {LOSS}",
}
"""Names in `nn`."""

METHODS = {
    "parameters": "nn.parameters(model)",
    "named_parameters": "nn.parameters(model)",
    "state_dict": "nn.parameters(model) and nn.statistics(model)",
    "load_state_dict": "nn.replace(model, arrays), which returns the new model",
    "eval": "model(x), which is inference always",
    "train": "ad.train(model, loss, (X, y), optimizer); in a loop of your own, nn.training(model, x, key)",
    "fit": "ad.train(model, loss, (X, y), optimizer)",
    "compile": "ad.train, or ad.jit(model)",
    "predict": "model(x)",
    "forward": "model(x)",
    "apply": "model(x)",
    "summary": "nn.summary(model)",
    "requires_grad_": 'freeze="layers.0.*" in ad.train or nn.partition',
    "zero_grad": "nothing: gradients are results, and are not added up",
    "to": "dtype= when the layer is made; all is computed on this machine",
    "cuda": "nothing: all is computed on this machine",
    "cpu": "nothing: all is computed on this machine",
    "float": "dtype=np.float32 when the layer is made",
    "half": "dtype=np.float32 when the layer is made",
    "save": "np.savez(path, **nn.parameters(model), **nn.statistics(model)) and nn.replace(model, np.load(path))",
    "kernel": "weight",
    "in_features": "weight.shape[0]",
    "out_features": "weight.shape[1]",
}
"""Methods and attributes of layers."""

OPTIONS = {
    "in_features": "inputs",
    "in_channels": "inputs",
    "input_size": "inputs",
    "out_features": "outputs",
    "out_channels": "outputs",
    "units": "outputs",
    "features": "outputs",
    "filters": "outputs",
    "hidden_size": "width",
    "embedding_dim": "width",
    "embed_dim": "width",
    "num_features": "width",
    "normalized_shape": "width",
    "num_embeddings": "count",
    "num_heads": "heads",
    "kernel_size": "kernel",
    "pool_size": "window",
    "use_bias": "bias",
    "seed": "key",
    "rng": "key",
    "rngs": "key",
    "p": "rate",
    "eps": "epsilon",
    "strides": "stride",
    "layers": "sizes",
    "hidden": "sizes",
}
"""Options of layers, by the names here."""

ADVICE = {
    "return_sequences": "last=True for the output of the last step alone",
    "batch_first": "nothing: sequences are (n, length, inputs)",
    "activation": 'nn.Sequential(layer, "relu")',
    "device": "nothing: all is computed on this machine",
}
"""Options of layers that are something else here."""


def method(self: Any, name: str) -> Any:
    """The `__getattr__` of layers: what is written in place of a method that they do not have."""
    meant = f": use  {METHODS[name]}" if name in METHODS else ""
    raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{meant}")


def check_options(name: str, given: Mapping[str, Any], known: Mapping[str, inspect.Parameter]) -> None:
    """Answer options of other libraries, and a key that is missing, for the constructor of a layer."""
    if not given.keys() <= known.keys() and not any([p.kind is p.VAR_KEYWORD for p in known.values()]):
        same = {theirs: f"{ours}=" for theirs, ours in OPTIONS.items() if ours in known}
        same |= {"kernel_size": "window="} if "window" in known else {}
        raise TypeError(ad.errors.unknown_keyword(name, given, list(known), {**ADVICE, **same}))
    key = known.get("key")
    if key is not None and "key" not in given and key.kind is key.KEYWORD_ONLY and key.default is key.empty:
        raise TypeError(f"{name}() needs a key for its first weights: write  key=0,  or a key of  ad.random")
