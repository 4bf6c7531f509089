"""What is refused: every message word by word; and what is only checked where it costs nothing."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import adjoint as ad
from adjoint import losses

Z, F = np.zeros((4, 3)), np.zeros(4)
NO_SUCH = ("There is no such reduction.", "got reduction='average'", 'Write  reduction="mean",  "sum"  or  "none".')
UNIQUE = "np.unique(y, return_inverse=True)[1]"
WHOLE = "Labels have to be whole numbers from 0 to 2, as there are 3 classes."
NOT_WHOLE = f"Write  y.astype(int)  if these are numbers of classes;  {UNIQUE} numbers any others."
ROWS = "cross_entropy needs a label, or a probability for each class, for each row of outputs."
PROBABILITIES = "Targets with one number for each class have to be probabilities: none negative, 1 in all."
HOT = "Pass one-hot rows, as  data.one_hot(labels)  gives them, or divide by the sum of each row."
WEIGHTS = "sample_weight needs finite weights that are not negative, and not all of them 0."
TWICE = "A weight of 2 counts as an example given twice, 0 leaves it out."

ERRORS = {
    "an unknown reduction": (lambda: losses.squared(F, F, reduction="average"), ValueError, *NO_SUCH),
    "no examples": (
        lambda: losses.squared(F[:0], F[:0]),
        ValueError,
        "There is no mean of no examples.",
        "got losses of shape (0,)",
        'Leave empty batches out, or write  reduction="sum".',
    ),
    "a column for a row": (
        lambda: losses.squared(F[:, None], F),
        ValueError,
        "squared needs one target for each output.",
        "got outputs of shape (4, 1) and targets of shape (4,)",
        "Write  targets[..., None],  or  outputs[..., 0];  wanted targets of shape (4, 1).",
    ),
    "a row for a column": (
        lambda: losses.absolute(F, F[:, None]),
        ValueError,
        "absolute needs one target for each output.",
        "got outputs of shape (4,) and targets of shape (4, 1)",
        "Write  targets[..., 0];  wanted targets of shape (4,).",
    ),
    "another length": (
        lambda: losses.huber(F, F[:3]),
        ValueError,
        "huber needs one target for each output.",
        "got outputs of shape (4,) and targets of shape (3,)",
        "Wanted targets of shape (4,).",
    ),
    "nan in targets": (
        lambda: losses.squared(Z, np.where(np.arange(3) == 1, np.nan, Z)),
        ValueError,
        "targets must not have nan.",
        "got nan at targets[0, 1]",
        "Leave these examples out, or give them a target and  sample_weight  0.",
    ),
    "complex outputs": (
        lambda: losses.squared(F + 1j, F),
        TypeError,
        "outputs have to be real numbers.",
        "got outputs: complex128[4]",
        "Pass an array of floats; of complex outputs, their real part or their absolute value.",
    ),
    "text as targets": (
        lambda: losses.squared(F, ["a", "b", "c", "d"]),
        TypeError,
        "targets have to be real numbers.",
        "got targets: <U1[4]",
        "Pass an array of floats; of complex outputs, their real part or their absolute value.",
    ),
    "a label too large": (
        lambda: losses.cross_entropy(Z, [0, 1, 3, 2]),
        ValueError,
        WHOLE,
        "got targets[2] = 3",
        f"Count classes from 0:  {UNIQUE}  numbers them.",
    ),
    "a negative label": (
        lambda: losses.hinge(Z, [0, 1, 2, -1]),
        ValueError,
        WHOLE,
        "got targets[3] = -1",
        f"Count classes from 0:  {UNIQUE}  numbers them.",
    ),
    "labels that are floats": (
        lambda: losses.cross_entropy(Z, F),
        TypeError,
        WHOLE,
        "got targets: float64[4]",
        NOT_WHOLE,
    ),
    "labels in a column": (
        lambda: losses.cross_entropy(Z, np.zeros((4, 1), int)),
        ValueError,
        ROWS,
        "got outputs of shape (4, 3) and targets of shape (4, 1)",
        "Write  targets[..., 0]  for labels of shape (4,).",
    ),
    "labels of another length": (
        lambda: losses.cross_entropy(Z, [0, 1]),
        ValueError,
        ROWS,
        "got outputs of shape (4, 3) and targets of shape (2,)",
        "Wanted targets of shape (4,) (labels) or (4, 3) (one-hot, probabilities).",
    ),
    "one output for two classes": (
        lambda: losses.cross_entropy(np.zeros((4, 1)), np.zeros((4, 2))),
        ValueError,
        ROWS,
        "got outputs of shape (4, 1) and targets of shape (4, 2)",
        "Wanted targets of shape (4,) (labels) or (4, 1) (one-hot, probabilities).",
        "For one output and two classes there is  losses.binary_cross_entropy.",
    ),
    "rows that are no probabilities": (
        lambda: losses.cross_entropy(Z, [[0, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0]]),
        ValueError,
        PROBABILITIES,
        "got targets[2] = [0 1 1]",
        HOT,
    ),
    "a negative probability": (
        lambda: losses.kl_divergence(Z[0], [0.5, 1.0, -0.5]),
        ValueError,
        PROBABILITIES,
        "got targets = [ 0.5  1.  -0.5]",
        HOT,
    ),
    "weights of another shape": (
        lambda: losses.squared(Z, Z, sample_weight=np.ones(3)),
        ValueError,
        "sample_weight needs one weight for each example.",
        "got sample_weight of shape (3,) for losses of shape (4, 3)",
        "Pass an array of shape (4,).",
    ),
    "one weight for all": (
        lambda: losses.squared(F, F, sample_weight=2.0),
        ValueError,
        "sample_weight needs one weight for each example.",
        "got sample_weight of shape () for losses of shape (4,)",
        "Pass an array of shape (4,).",
    ),
    "a negative weight": (
        lambda: losses.squared(F, F, sample_weight=[1, 1, -2, 1]),
        ValueError,
        WEIGHTS,
        "got sample_weight: -2",
        TWICE,
    ),
    "weights of 0": (
        lambda: losses.squared(F, F, sample_weight=np.zeros(4)),
        ValueError,
        WEIGHTS,
        "got sample_weight: 0 for all of them",
        TWICE,
    ),
    "class weights of another length": (
        lambda: losses.cross_entropy(Z, [0, 1, 2, 0], class_weight=[1.0, 2.0]),
        ValueError,
        "class_weight needs one weight for each class.",
        "got class_weight of shape (2,) for outputs of shape (4, 3)",
        "Pass an array of shape (3,).",
    ),
    "class weights of two": (
        lambda: losses.binary_cross_entropy(F, F, class_weight=3.0),
        ValueError,
        "class_weight needs two weights, of 0 and of 1.",
        "got class_weight of shape ()",
        "Write  class_weight=(1.0, 3.0)  if a 1 counts as three examples.",
    ),
    "smoothing of all": (
        lambda: losses.cross_entropy(Z, [0, 1, 2, 0], label_smoothing=1.0),
        ValueError,
        "label_smoothing has to be at least 0 and below 1.",
        "got label_smoothing=1.0",
        "0.1 is usual.",
    ),
    "base 1": (
        lambda: losses.cross_entropy(Z, [0, 1, 2, 0], base=1),
        ValueError,
        "The base of a logarithm has to be positive, and not 1.",
        "got base=1",
        "2 gives bits.",
    ),
    "binary targets of -1": (
        lambda: losses.binary_cross_entropy(F, [1, 0, -1, 1]),
        ValueError,
        "binary_cross_entropy needs targets from 0 to 1.",
        "got targets[2] = -1",
        "Of labels -1 and 1 take  (y + 1) / 2;  for more than two classes there is  losses.cross_entropy.",
    ),
    "hinge of 0 and 1": (
        lambda: losses.hinge(F, [1, 0, 1, 1]),
        ValueError,
        "hinge needs targets -1 and 1, one for each score.",
        "got targets[1] = 0",
        "Of labels 0 and 1 take  2 * y - 1;  of one-hot rows  np.argmax(targets, axis=-1).",
    ),
    "one class": (
        lambda: losses.hinge(np.zeros((4, 1)), [0, 0, 0, 0]),
        ValueError,
        "hinge needs an output for each class.",
        "got outputs of shape (4, 1): one class",
        "For two classes give the model two outputs,  or use  targets -1 and 1 of the shape of the outputs:  "
        "2 * y[..., None] - 1.",
    ),
    "an output for each step": (
        lambda: losses.cross_entropy(np.zeros((4, 7, 3)), [0, 1, 0, 1]),
        ValueError,
        ROWS,
        "got outputs of shape (4, 7, 3) and targets of shape (4,)",
        "Wanted targets of shape (4, 7) (labels) or (4, 7, 3) (one-hot, probabilities).",
        "For one label for each sequence take the last output:  nn.Recurrent(cell, last=True).",
    ),
    "one class and cross-entropy": (
        lambda: losses.cross_entropy(np.zeros((4, 1)), [0, 1, 0, 1]),
        ValueError,
        "cross_entropy needs an output for each class.",
        "got outputs of shape (4, 1): one class",
        "For two classes give the model two outputs,  or use  losses.binary_cross_entropy  with targets of the shape "
        "of the outputs:  y[..., None].",
    ),
    "one class and a column": (
        lambda: losses.kl_divergence(np.zeros((2, 1)), [[1.0], [1.0]]),
        ValueError,
        "kl_divergence needs an output for each class.",
        "got outputs of shape (2, 1): one class",
        "For two classes give the model two outputs.",
    ),
    "class weights by name": (
        lambda: losses.cross_entropy(Z, [0, 1, 2, 0], class_weight="balanced"),
        TypeError,
        "class_weight needs one weight for each class, as an array.",
        "got class_weight='balanced'",
        'Write  class_weight=data.class_weights(y)  to balance classes;  in  ad.train,  class_weight="balanced".',
    ),
    "class weights as a dict": (
        lambda: losses.cross_entropy(Z, [0, 1, 2, 0], class_weight={0: 1.0, 1: 2.0, 2: 5.0}),
        TypeError,
        "class_weight needs one weight for each class, as an array.",
        "got class_weight={0: 1.0, 1: 2.0, 2: 5.0}",
        "Write  class_weight=[1.0, 2.0, 5.0],  in the order of the classes.",
    ),
    "focal of probabilities": (
        lambda: losses.focal(Z[0], [0.5, 0.5, 0.0]),
        ValueError,
        "focal needs one true class for each example.",
        "got targets with probabilities other than 0 and 1",
        "Pass labels, as  np.argmax(targets, axis=-1),  or train on  losses.cross_entropy.",
    ),
    "a negative gamma": (
        lambda: losses.focal(Z, [0, 1, 2, 0], gamma=-1),
        ValueError,
        "gamma has to be at least 0.",
        "got gamma=-1",
        "2.0 is usual.",
    ),
    "delta 0": (
        lambda: losses.huber(F, F, delta=0),
        ValueError,
        "delta has to be above 0.",
        "got delta=0",
        "1.0 is usual.",
    ),
    "KL of labels": (
        lambda: losses.kl_divergence(Z, [0, 1, 2, 0]),
        ValueError,
        "kl_divergence needs a probability for each class.",
        "got outputs of shape (4, 3) and targets of shape (4,)",
        "For labels it is  losses.cross_entropy.",
    ),
    "sigma 0": (
        lambda: losses.gaussian(F, F, sigma=0.0),
        ValueError,
        "sigma has to be above 0.",
        "got sigma=0.0",
        "Write  sigma=None  if it is among the outputs.",
    ),
    "no sigma among the outputs": (
        lambda: losses.gaussian(F, F, sigma=None),
        ValueError,
        "gaussian with sigma=None needs a mean and a logarithm of sigma for each target.",
        "got outputs of shape (4,) and targets of shape (4,)",
        "Wanted outputs of shape (4, 2), or a pair of arrays of shape (4,).",
    ),
    "a negative strength": (
        lambda: losses.l2(-0.1),
        ValueError,
        "strength has to be at least 0.",
        "got strength=-0.1",
        "0 switches it off.",
    ),
    "a prior without width": (
        lambda: losses.gaussian_prior(0.0),
        ValueError,
        "sigma has to be above 0.",
        "got sigma=0.0",
        "A wide prior hardly counts.",
    ),
    "a pattern that fits nothing": (
        lambda: losses.l2(0.1, only="*weigth")({"layers.0.weight": F, "layers.0.bias": F}),
        ValueError,
        "A pattern in only= fits no parameter.",
        "got only='*weigth'",
        "Names are as in  layers.0.weight, layers.0.bias.",
    ),
    "training on 0/1": (
        lambda: ad.grad(losses.zero_one)(Z, np.array([0, 1, 2, 0])),
        ad.errors.NotDifferentiableError,
        "zero_one cannot be trained on: it is 0 or 1, so its derivative is 0 wherever it has one.",
        "got outputs of shape (4, 3)",
        "Train on  losses.cross_entropy  or  losses.hinge,  and report zero_one:",
        "losses.zero_one(ad.stop_gradient(outputs), targets).",
    ),
}


@pytest.mark.parametrize(
    ("call", "kind", "what", "got", "advice"), [(*e[:4], e[4:]) for e in ERRORS.values()], ids=ERRORS
)
def test_message(call, kind, what, got, advice):
    """What, where, what was met, what to do."""
    with pytest.raises(kind) as caught:
        call()
    lines = str(caught.value).splitlines()
    assert lines[0] == what
    assert lines[1].startswith("  at test_messages.py:")
    assert lines[2:] == [f"  {line}" for line in (got, *advice)]


@pytest.mark.parametrize("loss", [losses.cross_entropy, partial(losses.cross_entropy, class_weight=np.ones(3))])
def test_the_same_under_jit_where_it_can_be_seen(loss):
    """Shapes and dtypes in a recording; labels that are too large by the index, also in a loop."""
    step = ad.jit(ad.grad(loss))
    with pytest.raises(ValueError, match="needs a label"):
        step(Z, np.zeros((4, 1), int))
    with pytest.raises(TypeError, match="whole numbers"):
        step(Z, F)
    step(Z, np.array([0, 1, 2, 0]))
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        step(Z, np.array([0, 1, 2, 3]))


def test_values_are_not_checked_at_each_jitted_call():
    """No step and no guard looks at labels: the recordings with and without the check are one."""
    step = ad.jit(losses.binary_cross_entropy)
    step(F, F)
    assert step(F, F + 2).shape == ()
    stats = step.stats()
    assert (stats["recordings"], stats["guards"]) == (1, [[]])


def test_check_targets_looks_at_all_and_computes_nothing():
    """For any loss, by the shapes of the outputs; what `ad.train` calls once for all data."""
    outputs = ad.eval_shape(lambda x: x, Z)
    losses.check_targets(losses.cross_entropy, outputs, np.array([0, 1, 2, 0]))
    losses.check_targets(lambda z, y: losses.cross_entropy(z, y, base=2), Z, np.array([0, 1, 2, 0]))
    losses.check_targets(lambda z, y: np.mean((z - y) ** 2), outputs, Z)
    for wrong in (np.array([0, 1, 2, 3]), np.zeros((4, 1), int), F):
        with pytest.raises((ValueError, TypeError)):
            losses.check_targets(losses.cross_entropy, outputs, wrong)
    huge = np.zeros(100_000, int)
    losses.check_targets(losses.cross_entropy, ad.eval_shape(lambda x: x @ np.ones((1, 10_000)), huge[:, None]), huge)


def test_zero_one_is_reported():
    """Without derivative: plain, under jit, in a batch, beside a loss that is trained on, and as a constant."""
    y = np.array([0, 1, 2, 0])
    for f in (losses.zero_one, ad.jit(losses.zero_one)):
        assert f(Z, y) == f(Z, y) == 0.5
    assert ad.vmap(losses.zero_one)(Z, y).tolist() == [0, 1, 1, 0]
    for loss in (
        lambda z: (losses.cross_entropy(z, y), losses.zero_one(z, y)),
        lambda z: (losses.cross_entropy(z, y) + losses.zero_one(ad.stop_gradient(z), y), None),
    ):
        for step in (ad.grad(loss, has_aux=True), ad.jit(ad.grad(loss, has_aux=True))):
            np.testing.assert_allclose(step(Z)[0], ad.grad(losses.cross_entropy)(Z, y))
    with pytest.raises(ad.errors.NotDifferentiableError):
        ad.jvp(lambda z: losses.zero_one(z, y), (Z,), (Z,))
    with pytest.raises(ad.errors.NotDifferentiableError):
        ad.jit(ad.grad(losses.zero_one))(F, F)
    assert losses.zero_one(np.float32(Z), y).dtype == np.float32


def test_names_of_other_libraries():
    """Are answered with what does the same here."""
    expected = {
        "mse": "module 'adjoint.losses' has no attribute 'mse': use  losses.squared",
        "CrossEntropyLoss": "module 'adjoint.losses' has no attribute 'CrossEntropyLoss': "
        "use  losses.cross_entropy, a function: no brackets",
        "generalisation_gap": "module 'adjoint.losses' has no attribute 'generalisation_gap': "
        "use  losses.generalization_gap",
        "hinje": "module 'adjoint.losses' has no attribute 'hinje': did you mean  losses.hinge?",
        "nothing_like_it": "module 'adjoint.losses' has no attribute 'nothing_like_it'",
    }
    for name, words in expected.items():
        with pytest.raises(AttributeError) as error:
            getattr(losses, name)
        assert str(error.value) == words
