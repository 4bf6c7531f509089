"""What is refused: every message word by word."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn

MODEL = nn.MLP([2, 3, 1], key=0)
NAMES = "The names are 'layers.0.weight', 'layers.0.bias', 'layers.1.weight', 'layers.1.bias'."
ACTIVATIONS = (
    "The names are elu, gelu, identity, leaky_relu, log_softmax, relu, sigmoid, silu, softmax, softplus, tanh, "
    "prelu; a function of an array works too."
)


class Opaque:
    def __call__(self, x):
        return x


def with_dropout():
    from dataclasses import make_dataclass

    kind = make_dataclass("Block", ["inner"], namespace={"__call__": lambda self, x: self.inner(x)}, frozen=True)
    return kind(nn.Dropout(0.5))


@nn.layer
class Assigning:
    """Sets its field as objects that change do."""

    weight: np.ndarray

    def __init__(self, width):
        self.weight = np.ones(width)


@nn.layer
class Hidden:
    """Has a part that is no field."""

    weight: np.ndarray

    def __init__(self, width):
        nn.set_fields(self, weight=np.ones(width), inner=nn.Dense(width, 1, key=0))


class Plain:
    """Can be called, but is no dataclass."""

    def __call__(self, x):
        return x


ERRORS = {
    "inputs that do not fit": (
        lambda: nn.Dense(3, 2, key=0)(np.zeros((5, 4))),
        "Dense takes arrays of shape (..., 3).",
        "got x = float64[5,4]",
        "Make it for these:  Dense(4, ...).",
    ),
    "images for rows": (
        lambda: nn.Dense(12, 2, key=0)(np.zeros((5, 3, 4))),
        "Dense takes arrays of shape (..., 12).",
        "got x = float64[5,3,4]",
        "Make a row of each example:  x.reshape(len(x), -1),  or  nn.Flatten()  before it.",
    ),
    "a number for a vector": (
        lambda: nn.LayerNorm(3)(2.0),
        "LayerNorm takes arrays of shape (..., 3).",
        "got x = 2.0",
    ),
    "images with channels first": (
        lambda: nn.Conv2d(3, 2, 3, key=0)(np.zeros((5, 3, 8, 8))),
        "Conv2d takes arrays of shape (..., height, width, 3), at least 1 x 1 large.",
        "got float64[5,3,8,8]",
        "Channels come last:  np.moveaxis(x, 1, -1)  if they are on axis 1; a grey image has one:  x[..., None].",
    ),
    "a sequence that is too short": (
        lambda: nn.Conv1d(1, 2, 3, padding="valid", key=0)(np.zeros((5, 2, 1))),
        "Conv1d takes arrays of shape (..., length, 1), at least 3 large.",
        "got float64[5,2,1]",
        "Channels come last:  np.moveaxis(x, 1, -1)  if they are on axis 1; a grey image has one:  x[..., None].",
    ),
    "an image that is too small": (
        lambda: nn.MaxPool2d(2)(np.zeros((4, 1, 1))),
        "MaxPool2d takes arrays of shape (..., height, width, channels), at least 2 x 2 large.",
        "got float64[4,1,1]",
    ),
    "no sequence": (
        lambda: nn.Recurrent(nn.GRUCell(2, 3, key=0))(np.zeros(2)),
        "Recurrent takes arrays of shape (..., length, inputs), with a length.",
        "got float64[2]",
    ),
    "an embedding of real numbers": (
        lambda: nn.Embedding(3, 2, key=0)(np.zeros(2)),
        "Embedding takes whole numbers.",
        "got float64[2]",
        "Write  x.astype(int)  if that is what they are.",
    ),
    "a field that is set": (
        lambda: Assigning(3),
        "A layer does not change, so Assigning cannot set its fields one by one.",
        "got cannot assign to field 'weight'",
        "Write  nn.set_fields(self, weight=..., bias=...)  in  __init__.",
    ),
    "a field that is not there": (
        lambda: Hidden(3),
        "Hidden has no field 'inner', so what is in it would not be part of the model.",
        "got the fields weight",
        "Write  inner: np.ndarray  (or any type) in the class.",
    ),
    "an object that is no dataclass": (
        lambda: nn.parameters(Plain()),
        "The arrays of Plain cannot be found, as it is not a dataclass.",
        "got an object of class Plain",
        "Write  @dataclass(frozen=True)  or  @nn.layer  above  class Plain,  and its fields in it.",
    ),
    "a class as a model": (
        lambda: nn.parameters(nn.MLP),
        "A model is an object, not a class.",
        "got the class MLP",
        "Write  MLP(...).",
    ),
    "a cell by name": (
        lambda: nn.Recurrent("lstm"),
        "Recurrent needs a cell: an object with  cell(state, x)  and  cell.start(shape, dtype).",
        "got 'lstm'",
        "Write  nn.Recurrent(nn.LSTMCell(inputs, width, key=0)).",
    ),
    "a number without a vector": (
        lambda: nn.Embedding(10, 4, key=0)(np.array([3, 12])),
        "Embedding takes numbers from 0 to 9, as it has 10 vectors.",
        "got 12",
        "Write  nn.Embedding(13, ...),  or number things from 0.",
    ),
    "complex weights": (
        lambda: nn.replace(nn.Dense(2, 1, key=0), {"bias": [1j]}),
        "The array 'bias' has the dtype float64.",
        "got complex128[1]",
        "Give that dtype.",
    ),
    "a layer to freeze": (
        lambda: nn.partition(nn.MLP([2, 1], key=0), freeze="layers.0"),
        "freeze: the model has no such array.",
        "got 'layers.0'",
        "Did you mean  'layers.0.*'?",
        "The names are 'layers.0.weight', 'layers.0.bias'.",
    ),
    "a number to freeze": (
        lambda: nn.partition(nn.Dense(2, 1, key=0), freeze=3),
        "freeze has patterns of names, as text.",
        "got freeze = 3",
        "Write  freeze='weight'.",
    ),
    "one example": (
        lambda: nn.training(nn.BatchNorm(3), np.zeros((1, 3))),
        "BatchNorm needs two or more examples in a batch, as one has no variance.",
        "got x = float64[1,3]",
        "Leave out a last batch of one example, as  drop_last=True  does in  ad.train,  or use  nn.LayerNorm.",
    ),
    "queries and keys": (
        lambda: nn.attention(np.zeros((4, 3)), np.zeros((4, 2)), np.zeros((4, 2))),
        "attention takes queries (..., t, d), keys (..., s, d) and values (..., s, e).",
        "got float64[4,3] and float64[4,2] and float64[4,2]",
    ),
    "a mask of numbers": (
        lambda: nn.attention(np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((4, 3)), mask=np.ones((4, 4))),
        "The mask has to be boolean, True where a query may look at a key.",
        "got float64[4,4]",
        "Write  mask > 0.",
    ),
    "heads": (
        lambda: nn.MultiHeadAttention(10, 3, key=0),
        "MultiHeadAttention: heads has to divide width.",
        "got width=10, heads=3",
    ),
    "an unknown activation": (
        lambda: nn.MLP([2, 3, 1], "rleu", key=0),
        "There is no activation of this name.",
        "got activation='rleu'",
        "Did you mean  'relu', 'elu', 'silu'?",
        ACTIVATIONS,
    ),
    "a name of another library": (
        lambda: nn.activation("swish"),
        "There is no activation of this name.",
        "got activation='swish'",
        "Did you mean  'silu'?",
        ACTIVATIONS,
    ),
    "prelu as a function": (
        lambda: nn.activation("prelu"),
        "prelu is not a plain function.",
        "got activation='prelu'",
        'Its slopes are trained, so it is a layer:  nn.PReLU(width).  nn.MLP(..., activation="prelu")  makes them.',
    ),
    "a subgradient": (
        lambda: nn.relu(1.0, at_zero=2.0),
        "at_zero has to be a subgradient of relu at 0, a number from 0 to 1.",
        "got at_zero=2.0",
    ),
    "an unknown initialisation": (
        lambda: nn.Dense(2, 3, key=0, init="xavier"),
        "There is no initialisation of this name.",
        "got init='xavier'",
        "Did you mean  'glorot_normal', 'glorot_uniform'?",
        "The names are glorot_normal, glorot_uniform, he_normal, he_uniform, lecun_normal, lecun_uniform, orthogonal, "
        "zeros; a function  (key, shape, dtype)  works too.",
    ),
    "one size": (
        lambda: nn.MLP([64], key=0),
        "MLP: sizes has to be a sequence of two or more numbers: inputs, hidden layers, outputs.",
        "got sizes=[64]",
        "Write  nn.MLP([64, 32, 10], key=0).",
    ),
    "a size that is not whole": (
        lambda: nn.MLP([64, 2.5, 1], key=0),
        "MLP: sizes[1] has to be a whole number, 1 or more.",
        "got sizes[1]=2.5",
    ),
    "no outputs": (
        lambda: nn.Dense(3, 0, key=0),
        "Dense: outputs has to be a whole number, 1 or more.",
        "got outputs=0",
    ),
    "an unknown norm": (
        lambda: nn.MLP([2, 3, 1], norm="group", key=0),
        "MLP: norm has to be None, 'batch' or 'layer'.",
        "got norm='group'",
    ),
    "a rate of one": (
        lambda: nn.Dropout(1.0),
        "Dropout: rate has to be a number from 0 to 1, 1 not included.",
        "got rate=1.0",
    ),
    "no epsilon": (
        lambda: nn.LayerNorm(3, epsilon=0.0),
        "LayerNorm: epsilon has to be a positive number.",
        "got epsilon=0.0",
    ),
    "half precision": (
        lambda: nn.Dense(2, 3, key=0, dtype=np.float16),
        "Dense: dtype has to be float64 or float32.",
        "got dtype=<class 'numpy.float16'>",
    ),
    "an unknown padding": (
        lambda: nn.Conv2d(1, 2, 3, padding="full", key=0),
        "Conv2d: padding has to be 'same', 'valid' or a number.",
        "got padding='full'",
    ),
    "three strides": (
        lambda: nn.Conv2d(1, 2, 3, stride=(1, 2, 3), key=0),
        "Conv2d: stride has to be one number, or one for each of 2 axes.",
        "got stride=(1, 2, 3)",
    ),
    "a key of another kind": (
        lambda: nn.Dense(2, 3, key=np.zeros(3)),
        "A key is two uint64 in an array, or a seed.",
        "got key = float64[3]",
        "Write  key=0,  or make one with  ad.random.key(0).",
    ),
    "a class for a layer": (
        lambda: nn.Sequential(nn.Flatten),
        "A layer is an object, not a class.",
        "got the class Flatten",
        "Write  Flatten(...).",
    ),
    "a number for a layer": (
        lambda: nn.Sequential(3),
        "A layer has to be callable: layer(x).",
        "got 3",
    ),
    "a dict for a model": (
        lambda: nn.training({"w": 1.0}, np.zeros(2)),
        "A model has to be callable: model(x).",
        "got {'w': 1.0}",
        "Write  nn.Function(predict, params)  for a function  predict(params, x)  and its arrays.",
    ),
    "parameters first": (
        lambda: nn.Function({"w": np.zeros(2)}, lambda p, x: x),
        "Function needs a function  predict(params, x)  first, then the parameters.",
        "got predict = {'w': float64[2]}",
    ),
    "whole numbers": (
        lambda: nn.Function(lambda p, x: x @ p["a"]["w"], {"a": {"w": np.arange(2)}}),
        "Function: the parameter a.w has whole numbers, which cannot be trained.",
        "got params['a']['w'] = int64[2]",
        "Write  x.astype(float)  for what is trained; let  predict  read other arrays from a variable.",
    ),
    "no key": (
        lambda: nn.training(nn.Dropout(0.5), np.zeros(2)),
        "The model draws random numbers in training, so it needs a key.",
        "got key=None",
        "Write  nn.training(model, x, key),  with another key for every step:  ad.random.fold_in(key, step).",
    ),
    "dropout that would be lost": (
        lambda: nn.training(with_dropout(), np.zeros(2), key=0),
        "Block has no method `training`, but inner inside it has one, which would not be called.",
        "got Dropout(rate=0.5)",
        "Give Block the method  training(self, x, key).  It calls  nn.training(layer, x, key)  for layers inside,",
        "and returns  y, dataclasses.replace(self, ...)  with the new layers.",
    ),
    "a pattern that fits nothing": (
        lambda: nn.partition(MODEL, freeze="layer.0.*"),
        "freeze: the model has no such array.",
        "got 'layer.0.*'",
        "Did you mean  'layers.0.bias', 'layers.0.weight', 'layers.1.bias'?",
        NAMES,
    ),
    "an unknown name": (
        lambda: nn.replace(MODEL, {"weights": np.zeros(2)}),
        "arrays: the model has no such array.",
        "got 'weights'",
        "Did you mean  'layers.1.weight', 'layers.0.weight'?",
        NAMES,
    ),
    "another shape": (
        lambda: nn.replace(MODEL, {"layers.0.bias": np.zeros(2)}),
        "The array 'layers.0.bias' has the shape (3,).",
        "got arrays['layers.0.bias'] = float64[2]",
        "Give that shape.",
    ),
    "shapes that cannot be shared": (
        lambda: nn.share(MODEL, "layers.0.weight", "layers.1.weight"),
        "The array 'layers.0.weight' has the shape (2, 3).",
        "got float64[3,1]",
        "Give that shape.",
    ),
    "parameters that are missing": (
        lambda: nn.partition(MODEL)[1]({"layers.0.weight": 0.0, "x": 1.0}),
        "rebuild takes a dict with the names of the parameters, all of them and no others.",
        "got 'layers.0.bias', 'layers.1.weight', 'layers.1.bias' missing; 'x' besides",
        "Frozen arrays are not among them; statistics are the second argument.",
    ),
    "statistics that are none": (
        lambda: nn.partition(MODEL)[1](nn.parameters(MODEL), {"mean": 0.0}),
        "statistics: the model has no such array.",
        "got 'mean'",
        "The names are none.",
    ),
    "a number that may be a parameter": (
        lambda: nn.parameters({"w": np.zeros(2), "b": 0.5}),
        "Is the number b to be trained?",
        "got the Python float 0.5, which is not an array",
        "Write  np.array(0.5)  for a number that is trained; keep other numbers in a field of a dataclass.",
    ),
    "a function for a model": (
        lambda: nn.parameters(lambda x: x),
        "A model that is a plain function has no parameters of its own.",
        "got the function <lambda>",
        "Write  nn.Function(predict, params)  for a function  predict(params, x).",
    ),
    "an object that is no container": (
        lambda: nn.parameters({"a": Opaque()}),
        "The model's part a is neither an array nor a container of arrays.",
        "got an object of class Opaque",
        "Make its class a frozen dataclass, or a container with  ad.tree.register.",
        "What has no arrays can be a field marked as static.",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_message(name):
    """What could not be done, where, what was met, what to do."""
    call, what, *rest = ERRORS[name]
    with pytest.raises(ad.errors.InputError) as error:
        call()
    first, at, *lines = str(error.value).splitlines()
    assert first == what
    assert at.startswith("  at test_messages_of_nn.py:")
    assert lines == [f"  {line}" for line in rest]


def test_the_layer_is_named():
    """A note says where in the model it is, from the inside out."""
    model = nn.Sequential("relu", nn.Sequential(nn.Dense(2, 3, key=0)))
    with pytest.raises(ad.errors.InputError) as error:
        model(np.zeros(5))
    assert error.value.__notes__ == ["  in layers.1.layers.0 of the model"]
    with pytest.raises(ad.errors.InputError) as error:
        nn.MLP([2, 3, 1], key=0)(np.zeros(3))
    assert error.value.__notes__ == ["  in layers.0 of the model"]


ATTRIBUTES = {
    "Linear": ": use  nn.Dense",
    "Densee": ": did you mean  nn.Dense?",
    "CrossEntropyLoss": ": use  losses.cross_entropy, a function: no brackets",
    "num_parameters": ": use  nn.count_parameters(model)",
    "fill": ": use  nn.set_fields",
    "init.kaiming_normal_": ": use  nn.init.he_normal",
    "nothing_like_it": "",
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_names_that_are_not_there(name):
    """A slip of the keyboard, and names of another library."""
    *inner, last = name.split(".")
    with pytest.raises(AttributeError) as error:
        operator.attrgetter(name)(nn)
    assert (
        str(error.value) == f"module {'.'.join(['adjoint.nn', *inner])!r} has no attribute {last!r}{ATTRIBUTES[name]}"
    )


def test_methods_that_are_not_there():
    """Models have none: functions of `nn` do the same."""
    model = nn.Dense(2, 3, key=0)
    expected = {
        "parameters": "'Dense' object has no attribute 'parameters': use  nn.parameters(model)",
        "eval": "'Dense' object has no attribute 'eval': use  model(x), which is inference always",
        "nothing": "'Dense' object has no attribute 'nothing'",
    }
    for name, words in expected.items():
        with pytest.raises(AttributeError) as error:
            getattr(model, name)
        assert str(error.value) == words
    assert not hasattr(model, "training")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).weight, model.weight)


OPTIONS = {
    "no key": (
        lambda: nn.Dense(2, 3),
        "Dense() needs a key for its first weights: write  key=0,  or a key of  ad.random",
    ),
    "a seed": (lambda: nn.Dense(2, 3, seed=0), "Dense() got an unexpected keyword argument 'seed': use  key="),
    "inputs": (
        lambda: nn.Dense(in_features=2, outputs=3, key=0),
        "Dense() got an unexpected keyword argument 'in_features': use  inputs=",
    ),
    "a kernel": (
        lambda: nn.Conv2d(1, 2, kernel_size=3, key=0),
        "Conv2d() got an unexpected keyword argument 'kernel_size': use  kernel=",
    ),
    "a window": (
        lambda: nn.MaxPool2d(kernel_size=3),
        "MaxPool2d() got an unexpected keyword argument 'kernel_size': use  window=",
    ),
    "a rate": (lambda: nn.Dropout(p=0.5), "Dropout() got an unexpected keyword argument 'p': use  rate="),
    "an activation": (
        lambda: nn.Dense(2, 3, activation="relu", key=0),
        "Dense() got an unexpected keyword argument 'activation': use  nn.Sequential(layer, \"relu\")",
    ),
    "a slip": (
        lambda: nn.MLP([2, 3], key=0, dropuot=0.1),
        "MLP() got an unexpected keyword argument 'dropuot': did you mean  dropout=?",
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_of_other_libraries(name):
    """Are answered with what they are called here."""
    call, words = OPTIONS[name]
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == words
