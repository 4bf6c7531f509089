"""Calibration errors, scores and scalings."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.naive_bayes import GaussianNB

from adjoint import learn
from adjoint.learn.calibration.one_by_one import VennAbersScaling

SCALINGS = [learn.TemperatureScaling, learn.VectorScaling, learn.MatrixScaling]


def drawn(n, k, *, seed=0, factor=1.0):
    """Logits, labels that were drawn with their probabilities, and logits that are too sure by a factor."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=(n, k))
    return z, np.argmax(z + rng.gumbel(size=z.shape), axis=1), factor * z


def by_hand(confidence, hit, bins):
    """The expected calibration error, bin by bin, as the notes write it."""
    total = 0.0
    for k in range(bins):
        inside = (confidence >= k / bins) & ((confidence < (k + 1) / bins) | (k == bins - 1))
        if inside.any():
            total += inside.mean() * abs(hit[inside].mean() - confidence[inside].mean())
    return total


@pytest.mark.parametrize("bins", [1, 10, 15])
def test_error_by_its_definition(bins):
    """Top label, each class, and two classes."""
    z, y, _ = drawn(2000, 4)
    p = softmax(2 * z, axis=1)
    want = by_hand(p.max(axis=1), p.argmax(axis=1) == y, bins)
    assert learn.calibration_error(y, p, bins=bins) == pytest.approx(want, abs=1e-14)
    want = np.mean([by_hand(p[:, k], y == k, bins) for k in range(4)])
    assert learn.calibration_error(y, p, bins=bins, kind="class-wise") == pytest.approx(want, abs=1e-14)
    q = p[:, 1] / (p[:, 0] + p[:, 1])
    want = by_hand(q, y % 2 == 1, bins)
    assert learn.calibration_error(y % 2, q, bins=bins, kind="binary") == pytest.approx(want, abs=1e-14)


@pytest.mark.parametrize("labels", [[0, 1, 2], [1, 2, 3], [-1, 0, 1], [10, 20, 30], ["a", "b", "c"]])
def test_labels_of_any_kind(labels):
    """Classes are what their order says, not the numbers they happen to be."""
    z, y, _ = drawn(300, 3)
    p = softmax(z, axis=1)
    named = np.array(labels)[y]
    assert learn.calibration_error(named, p) == learn.calibration_error(y, p)
    assert learn.brier_score(named, p) == learn.brier_score(y, p)
    a, b = (learn.TemperatureScaling().fit(3 * z, t).temperature_ for t in (named, y))
    assert a == b


def test_weights_are_repeats():
    """A weight of 2 is the same row twice, in every measure."""
    z, y, _ = drawn(200, 3)
    p, twice = softmax(z, axis=1), np.arange(200) % 3
    again = np.repeat(np.arange(200), twice)
    for f in (
        learn.calibration_error,
        learn.brier_score,
        learn.smooth_calibration_error,
        lambda *a, **k: learn.calibration_error(*a, strategy="quantile", **k),
    ):
        assert f(y, p, sample_weight=twice) == pytest.approx(f(y[again], p[again]), rel=1e-9)


def test_norms_and_bias():
    """From the mean to the largest difference; what is taken off is noise alone."""
    z, y, _ = drawn(3000, 3)
    p = softmax(1.5 * z, axis=1)
    one, two, largest = (learn.calibration_error(y, p, norm=n) for n in (1, 2, np.inf))
    assert one < two < largest
    calibrated = softmax(z, axis=1)
    raw = learn.calibration_error(y, calibrated, norm=2)
    assert learn.calibration_error(y, calibrated, norm=2, debias=True) < 0.7 * raw
    with pytest.raises(ValueError, match="debias=True is for norm=2"):
        learn.calibration_error(y, p, debias=True)


def test_interval():
    """The truth, here 0.05, is inside the interval."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.1, 0.9, 4000)
    y = rng.random(4000) < p + 0.05
    found = learn.calibration_error(y, p, kind="binary", bins=10, confidence=0.95, random_state=0)
    assert found.low < 0.05 < found.high
    assert found.low <= found.value <= found.high


def test_bins_are_there_to_be_looked_at():
    """Counts, confidences and accuracies of each bin; nan where there is nothing."""
    found = learn.calibration_bins([0, 1, 1, 1], [0.05, 0.95, 0.85, 0.97], kind="binary", bins=10)
    np.testing.assert_array_equal(found.count, [1, 0, 0, 0, 0, 0, 0, 0, 1, 2])
    np.testing.assert_allclose(found.confidence[[0, 8, 9]], [0.05, 0.85, 0.96])
    np.testing.assert_array_equal(found.accuracy[[0, 8, 9]], [0, 1, 1])
    assert np.isnan(found.accuracy[3])
    assert len(learn.calibration_bins([0, 1, 2], np.eye(3), kind="class-wise")) == 3


def test_smooth_error_by_its_integral():
    """The definition with a sum over all pairs in place of a grid, at the width that the error itself has."""
    rng = np.random.default_rng(1)
    p = rng.random(400)
    y = rng.random(400) < p**2
    t = np.linspace(0.0, 1.0, 4001)

    def at(width):
        images = [p, -p, 2 - p]
        kernel = sum(np.exp(-((t[:, None] - x) ** 2) / (2 * width**2)) for x in images)
        return np.sum(np.abs(kernel @ (p - y))) / np.sum(kernel)

    widths = np.linspace(0.05, 0.4, 200)
    want = next(w for w in widths if at(w) <= w)
    assert learn.smooth_calibration_error(y, p, kind="binary") == pytest.approx(want, abs=3e-3)


def test_brier_score():
    """As scikit-learn's; its parts add up, and calibration moves the first of them alone."""
    z, y, _ = drawn(3000, 3)
    p = softmax(z, axis=1)
    assert learn.brier_score(y, p) == pytest.approx(brier_score_loss(y, p), rel=1e-12)
    good, bad = (learn.brier_score(y, softmax(f * z, axis=1), decompose=True) for f in (1.0, 3.0))
    for parts in (good, bad):
        total = parts.reliability - parts.resolution + parts.uncertainty + parts.within
        assert parts.value == pytest.approx(total, abs=1e-12)
    assert good.reliability < 0.1 * bad.reliability
    assert good.uncertainty == bad.uncertainty


@pytest.mark.parametrize(
    ("y", "p", "words"),
    [
        ([0, 1], [[0.5, 0.6], [0.5, 0.5]], "do not sum to 1"),
        ([0, 1], [[2.0, -1.0], [0.5, 0.5]], "between 0 and 1"),
        ([0, 5], np.eye(3)[:2], "say which by labels="),
        ([0, 1], [0.5, np.nan], "NaN"),
        ([0, 1, 1], [0.5, 0.5], "inconsistent numbers of samples"),
        ([0, 1, 2], np.eye(3), "kind='binary' is for two classes"),
    ],
)
def test_wrong_probabilities(y, p, words):
    """Logits, missing classes and lengths that do not fit are said."""
    with pytest.raises(ValueError, match=words):
        learn.calibration_error(y, p, kind="binary" if "binary" in words else "top-label")


@pytest.mark.parametrize("scaling", SCALINGS)
def test_scalings_find_the_factor(scaling):
    """Logits that are too large by a factor of 3; the loss becomes that of the true probabilities."""
    z, y, sure = drawn(4000, 5, factor=3.0)
    found = scaling().fit(sure, y)
    assert found.temperature_ == pytest.approx(3.0, abs=0.15)
    assert log_loss(y, found.transform(sure)) < log_loss(y, softmax(z, axis=1)) + 1e-3
    assert log_loss(y, softmax(sure, axis=1)) > log_loss(y, softmax(z, axis=1)) + 0.1


def test_temperature_is_a_minimum():
    """To the precision of the loss."""
    _, y, sure = drawn(500, 4, factor=2.0)
    t = learn.TemperatureScaling().fit(sure, y).temperature_
    losses = [log_loss(y, softmax(sure / s, axis=1)) for s in (t * 0.999, t, t * 1.001)]
    assert losses[1] < min(losses[0], losses[2])


def test_temperature_without_a_minimum():
    """Labels that are all right, or all wrong, give something finite."""
    z = np.array([[3.0, 0.0], [0.0, 3.0]] * 5)
    y = np.array([0, 1] * 5)
    assert 0.0 < learn.TemperatureScaling().fit(z, y).temperature_ < 1.0
    p = learn.TemperatureScaling().fit(z, 1 - y).transform(z)
    np.testing.assert_allclose(p, 0.5, atol=1e-3)


def test_matrix_gains_where_classes_are_mixed_up():
    """What a temperature cannot mend; and with few rows it does no harm."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(6000, 4))
    true = z @ rng.normal(size=(4, 4)) + rng.normal(size=4)
    y = np.argmax(true + rng.gumbel(size=z.shape), axis=1)
    train, rest = slice(0, 3000), slice(3000, None)
    losses = [log_loss(y[rest], s().fit(z[train], y[train]).transform(z[rest])) for s in SCALINGS]
    assert losses[2] < losses[1] - 0.05 < losses[0] - 0.05
    z, y, sure = drawn(800, 10, factor=3.0)
    few = slice(0, 200)
    losses = [log_loss(y[200:], s().fit(sure[few], y[few]).transform(sure[200:])) for s in SCALINGS]
    assert max(losses) - losses[0] < 0.03


@pytest.mark.parametrize("method", ["auto", "temperature", "vector", "matrix", "isotonic", "venn-abers"])
def test_classifier_with_every_method(method):
    """Probabilities that sum to one, and a lower log loss than a classifier that is too sure has."""
    X, y = load_iris(return_X_y=True)
    y = np.array(["x", "y", "z"])[y]
    model = learn.CalibratedClassifier(GaussianNB(), method, random_state=0).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert set(model.predict(X)) == {"x", "y", "z"}
    assert method == "auto" or model.method_ == method
    X, y = load_breast_cancer(return_X_y=True)
    model.fit(X, y)
    assert model.gain_[model.method_] < 0.5 * model.gain_["before"]


def test_frozen_classifiers_stay():
    """All rows are for the scaling, and the classifier is the one that was given."""
    X, y = load_iris(return_X_y=True)
    inner = LogisticRegression(C=100.0, max_iter=5000).fit(X[::2], y[::2])
    model = learn.CalibratedClassifier(FrozenEstimator(inner), "temperature").fit(X[1::2], y[1::2])
    logits = np.log(inner.predict_proba(X[1::2]))
    want = learn.TemperatureScaling().fit(logits, y[1::2])
    np.testing.assert_allclose(model.predict_proba(X), want.transform(np.log(inner.predict_proba(X))), rtol=1e-12)


def test_venn_abers_by_its_definition():
    """Two isotonic regressions for each new example, with it as no and as yes; also at scores of calibration."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=int(rng.integers(1, 40))).round(1)
        y = (rng.random(len(z)) < 1 / (1 + np.exp(-z))).astype(int)
        y[: min(2, len(y))] = [0, 1][: min(2, len(y))]
        new = np.concatenate([rng.normal(size=5), z, [-9.0, 9.0]])
        scaling = VennAbersScaling().fit(np.stack([0 * z, z], axis=1), y)
        for x, found in zip(new, scaling.transform(np.stack([0 * new, new], axis=1))[:, 1], strict=True):
            low, high = (IsotonicRegression().fit(np.append(z, x), np.append(y, k)).predict([x])[0] for k in (0, 1))
            assert found == pytest.approx(high / (1 - low + high), abs=1e-9)


def test_venn_abers_of_many_rows():
    """Linear time: 50,000 rows are nothing."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=50_000)
    y = (rng.random(50_000) < 1 / (1 + np.exp(-z))).astype(int)
    p = VennAbersScaling().fit(3 * z, y).transform(3 * z)[:, 1]
    assert np.max(np.abs(p - 1 / (1 + np.exp(-z)))[np.abs(z) < 2]) < 0.08
