"""Fine-tuning, pre-training without labels, and what is done with features."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestCentroid, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import SelfTrainingClassifier

from adjoint import learn, nn

DIGITS, KIND = load_digits(return_X_y=True)
DIGITS = DIGITS / 16.0
NEW = KIND >= 5
OLD = ~NEW
FEW = np.concatenate([np.flatnonzero(k == KIND)[:5] for k in range(5, 10)])
ROWS, VALUE = load_diabetes(return_X_y=True)
ROWS = 20.0 * ROWS
TRAIN = ["all", "head", "biases", "low-rank"]


@pytest.fixture(scope="module")
def source():
    """A network that knows the digits 0 to 4."""
    return learn.MLPClassifier((24, 16), max_iter=10, random_state=0).fit(DIGITS[OLD], KIND[OLD])


@pytest.fixture(scope="module")
def regressor():
    """A network for the first half of the diabetes data."""
    return learn.MLPRegressor((16,), max_iter=50, random_state=0).fit(ROWS[:200], VALUE[:200])


def arrays(estimator):
    return nn.parameters(estimator.model_)


def moved(estimator, other):
    """Names of the arrays that are not the same, bit by bit."""
    return [name for name, a in arrays(estimator).items() if not np.array_equal(a, arrays(other)[name])]


EXPECTED = {
    "all": ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "layers.2.weight", "layers.2.bias"],
    "head": ["layers.2.weight", "layers.2.bias"],
    "biases": ["layers.0.bias", "layers.1.bias", "layers.2.bias"],
    "low-rank": ["layers.0.weight", "layers.1.weight", "layers.2.weight"],
}
COUNTS = {"all": 2045, "head": 85, "biases": 45, "low-rank": 1 * (64 + 24) + 1 * (24 + 16) + 1 * (16 + 5)}


@pytest.mark.parametrize("train", TRAIN)
def test_what_is_frozen_stays_and_what_is_trained_moves(source, train):
    """Bit by bit, through `fit` and `partial_fit`; the source is as it was."""
    before = {name: a.copy() for name, a in arrays(source).items()}
    X, y = DIGITS[OLD][:60], KIND[OLD][:60]
    tuned = learn.FineTuned(source, train=train, rank=1, max_iter=3, random_state=0).fit(X, y)
    assert moved(tuned.estimator_, source) == EXPECTED[train]
    assert tuned.n_trained_parameters_ == COUNTS[train]
    first = pickle.loads(pickle.dumps(tuned))
    for model in (tuned, first):
        for _ in range(2):
            model.partial_fit(X, y)
        assert moved(model.estimator_, source) == EXPECTED[train]
        assert model.n_iter_ == 5
    np.testing.assert_array_equal(first.predict_proba(X), tuned.predict_proba(X))
    for name, a in arrays(source).items():
        np.testing.assert_array_equal(a, before[name])


@pytest.mark.parametrize("train", TRAIN)
def test_new_classes_get_a_new_head(source, train):
    """It is trained whatever else is; the merged network is a plain one and gives the same."""
    tuned = learn.FineTuned(source, train=train, rank=2, max_iter=5, random_state=0).fit(DIGITS[FEW], KIND[FEW])
    np.testing.assert_array_equal(tuned.classes_, np.arange(5, 10))
    assert {"layers.2.weight", "layers.2.bias"} <= set(moved(tuned.estimator_, source))
    plain = tuned.merged()
    assert type(plain) is learn.MLPClassifier
    assert type(plain.model_) is nn.MLP
    assert set(map(type, plain.model_.layers)) == {nn.Dense}
    np.testing.assert_allclose(plain.predict_proba(DIGITS), tuned._tuner.predict_proba(DIGITS), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(plain.predict(DIGITS), tuned.predict(DIGITS))
    assert tuned.transform(DIGITS).shape == (len(DIGITS), 16)
    assert is_classifier(tuned)


@pytest.mark.parametrize("train", TRAIN)
def test_regressors(regressor, train):
    """Frozen arrays stay bit by bit, though values are scaled inside; the start is the source."""
    expected = {
        "all": ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"],
        "head": ["layers.1.weight", "layers.1.bias"],
        "biases": ["layers.0.bias", "layers.1.bias"],
        "low-rank": ["layers.0.weight", "layers.1.weight", "layers.1.bias"],
    }[train]
    X, y = ROWS[200:], 3.0 * VALUE[200:] - 100.0
    tuned = learn.FineTuned(regressor, train=train, rank=2, max_iter=150, learning_rate_init=0.02, random_state=0)
    tuned.fit(X[:150], y[:150]).partial_fit(X[:150], y[:150])
    assert moved(tuned.estimator_, regressor) == expected
    assert is_regressor(tuned)
    assert tuned.score(X[:150], y[:150]) > 0.3 > regressor.score(X[:150], y[:150])
    start = learn.FineTuned(regressor, train=train, max_iter=1, learning_rate_init=1e-12, random_state=0).fit(X, y)
    np.testing.assert_allclose(start.predict(X), regressor.predict(X), rtol=1e-6)
    two = learn.FineTuned(regressor, train=train, max_iter=2, random_state=0).fit(X, np.stack([y, -y], axis=1))
    assert two.predict(X).shape == (len(X), 2)


def test_normalisation_is_frozen_too():
    """Statistics of batches do not drift in a part that is frozen."""
    source = learn.MLPClassifier((8,), norm="batch", dropout=0.1, max_iter=3, random_state=0).fit(
        DIGITS[OLD], KIND[OLD]
    )
    tuned = learn.FineTuned(source, train="head", max_iter=3, random_state=0).fit(DIGITS[FEW], KIND[FEW])
    for name, a in nn.statistics(source.model_).items():
        np.testing.assert_array_equal(nn.statistics(tuned.estimator_.model_)[name], a)
    assert moved(tuned.estimator_, source) == ["layers.1.weight", "layers.1.bias"]


def test_clones_keep_the_source(source):
    """A clone of weights would have nothing to tune: searches over parameters see the same source."""
    for given in (source, FrozenEstimator(source)):
        model = learn.FineTuned(given, train="head", max_iter=2, random_state=0)
        assert clone(model).estimator is given
    search = GridSearchCV(model, {"train": ["head", "biases"]}, cv=2).fit(DIGITS[FEW], KIND[FEW])
    assert search.best_estimator_.estimator_.model_.layers[0].weight is source.model_.layers[0].weight


def test_what_fine_tuning_refuses(source):
    """Estimators that are no networks, other columns, new labels without notice; unfitted ones are warned of."""
    with pytest.raises(TypeError, match=r"FineTuned takes an MLPClassifier or MLPRegressor, got KMeans"):
        learn.FineTuned(KMeans()).fit(DIGITS, KIND)
    with pytest.raises(ValueError, match=r"X has 3 features, but MLPClassifier is expecting 64"):
        learn.FineTuned(source).fit(DIGITS[:, :3], KIND)
    with pytest.raises(ValueError, match=r"classes must be passed on the first call to partial_fit"):
        learn.FineTuned(source).partial_fit(DIGITS, KIND)
    with pytest.warns(UserWarning, match=r"MLPClassifier is not fitted, so FineTuned fits it to the same rows first"):
        learn.FineTuned(learn.MLPClassifier((4,), max_iter=2), max_iter=2).fit(DIGITS, KIND)
    with pytest.raises(ValueError, match=r"The 'rank' parameter of FineTuned must be"):
        learn.FineTuned(source, rank=0).fit(DIGITS, KIND)


def test_partial_fit_from_the_start(source):
    """Epoch by epoch, with all classes named at first."""
    model = learn.FineTuned(source, train="head", random_state=0)
    for _ in range(3):
        model.partial_fit(DIGITS[FEW], KIND[FEW], classes=np.arange(10))
    assert model.predict_proba(DIGITS).shape == (len(DIGITS), 10)
    assert moved(model.estimator_, source) == ["layers.2.weight", "layers.2.bias"]


def test_rows_without_weight_do_not_count(source):
    """Not for labels either."""
    tuned = learn.FineTuned(source, train="head", max_iter=2, random_state=0)
    tuned.fit(DIGITS, KIND, sample_weight=(KIND >= 7) * 1.0)
    np.testing.assert_array_equal(tuned.classes_, [7, 8, 9])
    before = arrays(tuned.estimator_)
    tuned.partial_fit(DIGITS, KIND * 0 + 7, sample_weight=np.zeros(len(KIND)))
    for name, a in arrays(tuned.estimator_).items():
        np.testing.assert_array_equal(a, before[name])


def test_hidden_numbers_are_predicted():
    """Better than by the mean, whose error is 1; the same seed, the same weights; labels do not matter."""
    made = [learn.MaskedPretrainer((32,), max_iter=20, batch_size=50, random_state=0) for _ in range(2)]
    first, second = made[0].fit(DIGITS[:500]), made[1].fit(DIGITS[:500], KIND[:500])
    assert first.loss_curve_[-1] < 0.8 < first.loss_curve_[0]
    np.testing.assert_array_equal(first.transform(DIGITS), second.transform(DIGITS))
    assert first.set_output(transform="pandas").transform(DIGITS[:3]).columns[0] == "maskedpretrainer0"


def test_estimators_start_from_what_was_learned():
    """All hidden layers are those of the pre-trained network; clones and pickles start there too."""
    first = learn.MaskedPretrainer((16, 8), max_iter=3, random_state=0).fit(ROWS)
    for made, y in ((first.classifier, VALUE > 100.0), (first.regressor, VALUE)):
        model = made(max_iter=1, learning_rate_init=1e-300, random_state=0)
        for started in (model, clone(model), pickle.loads(pickle.dumps(model))):
            started.fit(ROWS, y)
            for k in range(2):
                np.testing.assert_array_equal(started.model_.layers[k].weight, first.model_.layers[k].weight)
        np.testing.assert_allclose(started.transform(ROWS), first.transform(ROWS))
        with pytest.raises(ValueError, match=r"X has 3 features, but the network was trained before with 10"):
            made(max_iter=1).fit(ROWS[:, :3], y)


def test_masks_change_with_epochs_and_rows_come_all():
    """A share of numbers is hidden, by those of other rows of the same column; batches are whole."""
    from adjoint.learn.adapt.pretraining import MaskedRows

    X = np.arange(1000.0)[:, None] + 10000.0 * np.arange(4)
    rows = MaskedRows(X, X, 0.3, 64, seed=0)
    one, two = list(rows), list(rows)
    for epoch in (one, two):
        targets, hidden = (np.concatenate([batch[1][k] for batch in epoch]) for k in range(2))
        inputs = np.concatenate([batch[0] for batch in epoch])
        assert {len(batch[0]) for batch in epoch} == {64}
        assert set(targets[:, 0]) == set(X[:, 0])
        assert abs(np.mean(hidden) - 0.3) < 0.03
        np.testing.assert_array_equal(inputs[hidden == 0.0], targets[hidden == 0.0])
        np.testing.assert_array_equal(inputs // 10000, targets // 10000)
        assert np.mean(inputs[hidden == 1.0] != targets[hidden == 1.0]) > 0.99
    assert not np.array_equal(one[0][1][1], two[0][1][1])


def test_features_in_company(source):
    """KMeans, neighbours, centroids and self-training take a network as any other step."""
    first = make_pipeline(FrozenEstimator(source), KMeans(5, n_init=1, random_state=0)).fit(DIGITS[OLD])
    assert len(np.unique(first.predict(DIGITS[OLD]))) == 5
    near = NearestNeighbors(n_neighbors=1).fit(source.transform(DIGITS[OLD]))
    assert near.kneighbors(source.transform(DIGITS[OLD][:3]))[1].ravel().tolist() == [0, 1, 2]
    labels = np.full(len(KIND), -1)
    labels[:300] = KIND[:300]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # features that are always 0, among others
        shots = make_pipeline(FrozenEstimator(source), NearestCentroid()).fit(DIGITS[FEW], KIND[FEW])
        assert shots.score(DIGITS[NEW], KIND[NEW]) > 0.5
        taught = SelfTrainingClassifier(learn.MLPClassifier((16,), max_iter=100, random_state=0), max_iter=2)
        assert taught.fit(DIGITS, labels).score(DIGITS[300:], KIND[300:]) > 0.8
    tuned = learn.FineTuned(source, train="head", max_iter=2, random_state=0)
    assert SelfTrainingClassifier(tuned, max_iter=1).fit(DIGITS, labels).classes_.tolist() == list(range(10))
