"""Layers and models: frozen dataclasses of arrays, whose call is plain NumPy.

>>> import numpy as np
>>> from adjoint import nn
>>> model = nn.MLP([64, 32, 10], activation="relu", key=0)
>>> model(np.zeros((5, 64))).shape
(5, 10)
"""

import adjoint as ad

from . import init
from .activations import (
    elu,
    gelu,
    identity,
    leaky_relu,
    log_softmax,
    relu,
    sigmoid,
    silu,
    softmax,
    softplus,
    tanh,
)
from .hints import NAMES
from .layer import layer, set_fields, statistic
from .layers.adapters import Frozen, LowRank
from .layers.attention import MultiHeadAttention, attention
from .layers.convolution import Conv1d, Conv2d
from .layers.dense import Dense, Embedding
from .layers.dropout import Dropout
from .layers.function import Function
from .layers.mlp import MLP
from .layers.normalization import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from .layers.pooling import AvgPool1d, AvgPool2d, Flatten, MaxPool1d, MaxPool2d
from .layers.prelu import PReLU
from .layers.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell
from .layers.sequential import Activation, Sequential
from .layers.transposed import ConvTranspose1d, ConvTranspose2d
from .named import activation
from .parameters import count_parameters, parameters, partition, replace, share, statistics
from .summary import summary
from .training import is_stochastic, training

__all__ = [
    "MLP",
    "Activation",
    "AvgPool1d",
    "AvgPool2d",
    "BatchNorm",
    "Conv1d",
    "Conv2d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "Dense",
    "Dropout",
    "Embedding",
    "Flatten",
    "Frozen",
    "Function",
    "GRUCell",
    "GroupNorm",
    "LSTMCell",
    "LayerNorm",
    "LowRank",
    "MaxPool1d",
    "MaxPool2d",
    "MultiHeadAttention",
    "PReLU",
    "RMSNorm",
    "RNNCell",
    "Recurrent",
    "Sequential",
    "activation",
    "attention",
    "count_parameters",
    "elu",
    "gelu",
    "identity",
    "init",
    "is_stochastic",
    "layer",
    "leaky_relu",
    "log_softmax",
    "parameters",
    "partition",
    "relu",
    "replace",
    "set_fields",
    "share",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "statistic",
    "statistics",
    "summary",
    "tanh",
    "training",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


LOADED = ad.tree
"""Models are trees: what takes them apart is loaded with this room, not when the first one is made."""

__getattr__ = ad.errors.missing("adjoint.nn", __all__, NAMES)
