"""What `ad.train` refuses and what it doubts, word by word; and what is called otherwise elsewhere."""

from __future__ import annotations

import functools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import adjoint as ad
from adjoint import data, losses, nn, optim

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(20, 3))
FRAME = pd.DataFrame(X[:3], columns=list("abc"))
Y = (X[:, 0] > 0).astype(int)
LINE = X @ np.array([1.0, -2.0, 0.5])
MODEL = nn.Dense(3, 2, key=0)
ONE = nn.Dense(3, 1, key=0)
ADAM = optim.adam(1e-2)
train = functools.partial(ad.train, progress=False, epochs=2)
classify = functools.partial(train, MODEL, losses.cross_entropy)


class Forward:
    """A model of another library."""

    def forward(self, x):
        return x


def once():
    """One epoch of batches."""
    yield X[:10], Y[:10]
    yield X[10:], Y[10:]


class Again:
    """As many epochs as one likes."""

    def __init__(self, *batches):
        self.batches = batches

    def __iter__(self):
        return iter(self.batches)


PAIR = "data is a pair of inputs and targets, or an iterable of such pairs."
CLIP = "clip_per_sample is the largest norm of the gradient of one example, a number above 0."
REFUSED = {
    "a model that goes forward": (
        lambda: train(Forward(), losses.squared, (X, Y), ADAM),
        "A model has to be callable: model(inputs) gives its outputs.",
        "Write  def __call__(self, x)  in place of  forward  in Forward.",
    ),
    "a negative norm": (
        lambda: classify((X, Y), ADAM, clip_per_sample=-1.0),
        CLIP,
        "got clip_per_sample=-1.0",
        "Write  clip_per_sample=1.0.",
    ),
    "no patience": (
        lambda: classify((X, Y), ADAM, patience=-1),
        "patience has to be a whole number, 1 or more.",
        "got patience=-1",
        "Write  patience=1.",
    ),
    "a callback that is none": (
        lambda: classify((X, Y), ADAM, callbacks=[3]),
        "callbacks are functions of the fit so far.",
        "got callbacks=[3]",
        "Write  callbacks=lambda fit: print(fit.history.last).",
    ),
    "a checkpoint that is no name": (
        lambda: classify((X, Y), ADAM, checkpoint=True),
        "checkpoint is the name of a file.",
        "got checkpoint=True",
        'Write  checkpoint="run.npz".',
    ),
    "a metric with the name of the loss": (
        lambda: classify((X, Y), ADAM, metrics={"loss": losses.zero_one}),
        "The history has a number of this name already.",
        "got metrics={'loss': ...}",
        "Choose another name.",
    ),
    "weights of classes by another name": (
        lambda: classify((X, Y), ADAM, class_weight="balance"),
        'class_weight is "balanced", or has a weight for each class.',
        "got class_weight='balance'",
        'Write  class_weight="balanced".',
    ),
    "weights of classes as a dict": (
        lambda: classify((X, Y), ADAM, class_weight={0: 1.0, 1: 2.0}),
        "class_weight has a weight for each class, as an array.",
        "got class_weight={0: 1.0, 1: 2.0}",
        "Write  class_weight=[1.0, 2.0],  in the order of the classes.",
    ),
    "too few weights of classes": (
        lambda: classify((X, Y), ADAM, class_weight=[1.0]),
        "class_weight needs one weight for each class.",
        "got weights of shape (1,), and the label 1",
        "Classes are counted from 0.",
    ),
    "weights of classes without classes": (
        lambda: train(ONE, losses.squared, (X, LINE[:, None]), ADAM, class_weight=[1.0, 2.0]),
        "class_weight needs labels of classes, whole numbers from 0.",
        "got targets: float64[20,1]",
        "Use  sample_weight  for other targets.",
    ),
    "text": (
        lambda: classify((X, Y.astype(str)), ADAM),
        "There have to be real numbers in the targets of data.",
        "got <U21[20]",
        "Turn categories into numbers:  np.unique(y, return_inverse=True)[1],  or write  x.astype(float).",
    ),
    "complex numbers": (
        lambda: classify((X + 0j, Y), ADAM),
        "There have to be real numbers in the inputs of data.",
        "got data[0] = complex128[20,3]",
        "Take the real part, or pass real and imaginary parts as two columns.",
    ),
    "no batch": (
        lambda: classify((X, Y), ADAM, drop_last=True),
        "With drop_last=True there would be no batch in an epoch.",
        "got 20 examples, of which a step takes 32",
        "Write  batch_size=20  or less, or leave out  drop_last.",
    ),
    "batches to accumulate": (
        lambda: classify(Again((X, Y)), ADAM, accumulate=2),
        "accumulate needs data in memory.",
        "got accumulate=2",
        "Pass  (X, y),  or larger batches.",
    ),
    "an epoch without batches": (
        lambda: classify(Again(), ADAM),
        "The data gave no batch in epoch 1.",
        "got Again, which gave nothing",
        "Its iteration has to start anew in every epoch, as that of  data.batches(...)  does.",
    ),
    "a batch of three": (
        lambda: classify(Again((X, Y, Y)), ADAM),
        "A batch is a pair of inputs and targets, or inputs alone.",
        "got 3 parts",
        "Give  (inputs, targets);  several inputs are a tuple or a dict themselves.",
    ),
    "a list of batches": (
        lambda: classify(list(once()), ADAM),
        PAIR,
        "For a list of batches write  data.batches(lambda: iter(batches), batch_size=32).",
    ),
    "a function that gives batches": (
        lambda: classify(once, ADAM),
        PAIR,
        "For a function that returns an iterator of batches write  data.batches(f, batch_size=32).",
    ),
    "an iterator": (
        lambda: classify(once(), ADAM),
        "An iterator can be gone through once, so it gives one epoch.",
        "Pass what can be iterated over again, as  data.batches(lambda: read(path), batch_size=32).",
    ),
    "batches to validate with": (
        lambda: classify((X, Y), ADAM, validation=once()),
        "validation needs data in memory.",
        "Write  validation=(X, y).",
    ),
    "no weight at all": (
        lambda: classify((X, Y), ADAM, sample_weight=np.zeros(20), batch_size=5),
        "No example counts.",
        "got weights that are all 0",
        "Give some examples a weight above 0.",
    ),
    "frames in another order": (
        lambda: train(ONE, losses.squared, (FRAME, FRAME[["a"]][::-1]), ADAM),
        "Rows of frames belong together by their index, but it differs.",
        "got row 0 is 0 in the inputs of data, 2 in the targets of data",
        "Align them:  y.loc[X.index],  or leave the index out:  y.to_numpy().",
    ),
    "sparse rows with weights": (
        lambda: classify((sparse.csr_array(X), Y), ADAM, sample_weight=np.ones(20)),
        "Weights and accumulate= need arrays.",
        "got a sparse matrix",
        "Leave them out, or pass  X.toarray()  if it fits into memory.",
    ),
    "a metric that returns nothing": (
        lambda: classify((X, Y), ADAM, metrics={"accuracy": lambda outputs, y: None}),
        "The metric 'accuracy' has to give a number.",
        "got NoneType None",
        "Return it.",
    ),
    "a loss that returns nothing": (
        lambda: train(ONE, lambda outputs, y: None, (X, LINE), ADAM),
        "The loss of a batch has to be one number.",
        "got NoneType None",
        "Return it.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """What could not be done, what was met, what to do; of what has an address, not what was met."""
    call, what, *rest = REFUSED[name]
    with pytest.raises((ad.errors.InputError, ad.errors.OutputError)) as error:
        call()
    lines = str(error.value).splitlines()
    assert lines[0] == what
    assert lines[-len(rest) :] == [f"  {line}" for line in rest]


@pytest.mark.parametrize("where", ["data", "validation", "a batch", "a file"])
def test_labels_out_of_range(where, tmp_path):
    """Are named, wherever they come from: machine code alone would say that an index is out of bounds."""
    wrong = np.where(np.arange(20) == 17, 5, Y)
    np.save(tmp_path / "y.npy", wrong)
    given = {
        "data": ((X, wrong), None),
        "validation": ((X, Y), (X, wrong)),
        "a batch": (Again((X, Y), (X, wrong)), None),
        "a file": ((X, np.load(tmp_path / "y.npy", mmap_mode="r")), None),
    }
    batches, validation = given[where]
    with pytest.raises(ValueError, match="Labels have to be whole numbers from 0 to 1") as error:
        classify(batches, ADAM, validation=validation, batch_size=8)
    assert " = 5" in str(error.value)


def test_a_folder_that_cannot_be_written(tmp_path):
    """Is met before the first epoch."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ad.errors.InputError, match=r"^The checkpoint '.*run.npz' cannot be written."):
        classify((X, Y), ADAM, checkpoint=tmp_path / "file" / "run.npz", callbacks=lambda fit: 1 / 0)


@pytest.mark.parametrize("option", ["loss", "optimizer", "data.inputs", "model.weight"])
def test_checkpoints_of_another_run(option, tmp_path):
    """A finished run is not taken for another one."""
    path = tmp_path / "run.npz"
    classify((X, Y), ADAM, checkpoint=path)
    other = {
        "loss": lambda: train(MODEL, losses.hinge, (X, Y), ADAM, checkpoint=path),
        "optimizer": lambda: classify((X, Y), optim.sgd(0.1), checkpoint=path),
        "data.inputs": lambda: classify((X + 1.0, Y), ADAM, checkpoint=path),
        "model.weight": lambda: train(nn.Dense(3, 2, key=1), losses.cross_entropy, (X, Y), ADAM, checkpoint=path),
    }
    with pytest.raises(ad.errors.InputError) as error:
        other[option]()
    assert str(error.value).splitlines()[0] == f"The checkpoint {str(path)!r} is of another run: {option} differs."
    assert classify((X, Y), ADAM, checkpoint=path, epochs=3).history.epochs == 3


EVERY = "The loss seems to compare every output with every target: outputs have the shape (20, 1), targets (20,), "
DOUBTS = {
    "every output with every target": (
        lambda: train(ONE, lambda outputs, y: np.mean((outputs - y) ** 2), (X, LINE), ADAM),
        f"{EVERY}and NumPy broadcasts them. Write  y[:, None],  so that the shapes are equal.",
    ),
    "a softmax twice": (
        lambda: train(nn.Sequential(MODEL, "softmax"), losses.cross_entropy, (X, Y), ADAM),
        "The outputs seem to be probabilities already, and the loss takes a softmax of them once more. "
        "Leave the softmax out of the model, and write  nn.softmax(model(x))  where probabilities are wanted.",
    ),
    "no slope": (
        lambda: train(ONE, lambda outputs, y: np.mean(np.sign(outputs)), (X, LINE), ADAM),
        "The gradient was 0 in all steps, so nothing was trained: the loss does not depend on the parameters, or by "
        "comparisons, rounding or signs only, which have no slope.",
    ),
}


@pytest.mark.parametrize("name", DOUBTS)
def test_doubts(name):
    """Warnings, at the line of the user."""
    call, words = DOUBTS[name]
    with pytest.warns(RuntimeWarning) as caught:
        call()
    assert [str(warning.message) for warning in caught] == [words]
    assert caught[0].filename == __file__


def test_no_doubts():
    """A loss that sees to the shapes itself, and one that is 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(ONE, lambda outputs, y: np.mean((outputs[:, 0] - y) ** 2), (X, LINE), ADAM)
        train(ONE, lambda outputs, y: np.mean((np.squeeze(outputs) - y) ** 2), (X, LINE), ADAM)
        train(ONE, lambda outputs, y: np.mean(np.maximum(0.0, -(outputs**2))), (X, LINE), ADAM)


def test_branches_on_values():
    """A model may decide by values, as any function under jit may."""

    def predict(params, x):
        return x @ params["w"] if np.sum(x) > 0 else 2.0 * x @ params["w"]

    model = nn.Function(predict, {"w": np.ones(3)})
    fit = train(model, losses.squared, (X, LINE), optim.sgd(0.01), epochs=1, batch_size=5)
    w = np.ones(3)
    for x, y in data.batches(X, LINE, batch_size=5, seed=0):
        w = w - 0.01 * ad.grad(lambda w, x=x, y=y: losses.squared(predict({"w": w}, x), y))(w)
    np.testing.assert_allclose(fit.model.params["w"], w, rtol=1e-12)


def test_metrics_see_all_outputs():
    """At once, though outputs are computed in parts, and as plain arrays: a root of a mean is no mean of roots."""
    seen = []

    def deviation(outputs, targets):
        seen.append(type(outputs))
        return np.sqrt(np.mean((outputs - targets) ** 2))

    fit = train(
        ONE, losses.squared, (X, LINE[:, None]), ADAM, batch_size=7,
        validation=(X, LINE[:, None]), metrics={"rmse": deviation},
    )  # fmt: skip
    np.testing.assert_allclose(fit.history["rmse"], np.sqrt(fit.history["validation_loss"]), rtol=1e-12)
    assert seen == [np.ndarray] * 2


def test_batches_of_lists():
    """Are turned into arrays."""
    fit, other = classify(Again((X.tolist(), Y.tolist())), ADAM), classify(Again((X, Y)), ADAM)
    np.testing.assert_array_equal(fit.history["loss"], other.history["loss"])


def test_names_of_other_libraries():
    """Of options, of what is in a fit, and of what is in a history."""
    fit = classify((X, Y), ADAM)
    expected = {
        "train() got an unexpected keyword argument 'num_epochs': use  epochs=": lambda: classify(
            (X, Y), ADAM, num_epochs=3
        ),
        "train() got an unexpected keyword argument 'regulariser': use  regularizer=": lambda: classify(
            (X, Y), ADAM, regulariser=losses.l2(0.1)
        ),
        "'Fit' object has no attribute 'predict_proba': use  nn.softmax(fit.model(X))": lambda: fit.predict_proba(X),
        "'Fit' object has no attribute 'nothing'": lambda: fit.nothing,
        "'History' object has no attribute 'loss': use  history['loss']": lambda: fit.history.loss,
        "\"'val_loss' was not measured; there are 'loss', 'gradient_norm', 'seconds'. Write  'validation_loss',  "
        'with  validation=  given to  ad.train"': lambda: fit.history["val_loss"],
    }
    for words, call in expected.items():
        with pytest.raises((TypeError, AttributeError, KeyError)) as error:
            call()
        assert str(error.value) == words


def test_fits_in_files():
    """A fit can be pickled, with the model, the history and what its page shows."""
    points = X[:, :2]
    fit = train(nn.MLP([2, 3, 2], key=0), losses.cross_entropy, (points, Y), ADAM, freeze="layers.0.bias")
    read = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(read.model(points), fit.model(points))
    np.testing.assert_array_equal(read.history["loss"], fit.history["loss"])
    np.testing.assert_array_equal(read.record().boundary.values, fit.record().boundary.values)
    assert fit.history == fit.history
    assert fit.history != read.history
