"""The report: its numbers are those of scikit-learn and of the library, for any model."""

import json
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine, make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier, SGDClassifier
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    f1_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)  # fmt: skip
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import RadiusNeighborsRegressor
from sklearn.pipeline import make_pipeline

from adjoint import learn
from adjoint.learn.reporting import rows

COSTS = [[0, 1], [10, 0]]


def of(found):
    """The page, which is whole and holds no link; and numbers that are plain."""
    text = found.html
    json.dumps(found.numbers, allow_nan=False)
    assert not re.search(r"(?:https?:)?//\w|<script|url\(|@import", text)
    for tag in ("section", "svg", "table", "details", "div", "p", "ul", "text", "h2"):
        assert len(re.findall(rf"<{tag}[ >]", text)) == text.count(f"</{tag}>"), tag
    assert "nan" not in re.sub(r"<[^>]*>", "", text).split()
    return text


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_scores_are_those_of_scikit_learn(load):
    """Of two classes and of three; each within its interval."""
    X, y = load(return_X_y=True)
    model = GaussianNB().fit(X[::2], y[::2])
    X, y = X[1::2], y[1::2]
    found = learn.report(model, X, y, cv=None)
    said, p = model.predict(X), model.predict_proba(X)
    expected = {
        "accuracy": accuracy_score(y, said),
        "balanced accuracy": balanced_accuracy_score(y, said),
        "F1, mean over classes": f1_score(y, said, average="macro"),
        "log loss": log_loss(y, p),
        "Brier score": brier_score_loss(y, p, scale_by_half=False),
        "area under the ROC curve": roc_auc_score(y, p[:, 1] if p.shape[1] == 2 else p, multi_class="ovr"),
        "calibration error": learn.calibration_error(y, p, bins=10),
    }
    scores = found.numbers["scores"]
    assert {name: each["value"] for name, each in scores.items()} == pytest.approx(expected)
    for each in scores.values():
        assert each["low"] <= each["value"] <= each["high"]
    np.testing.assert_array_equal(found.numbers["confusion"]["counts"], confusion_matrix(y, said).T)
    of(found)


def test_bootstrap_has_the_right_width():
    """Of an accuracy, close to the binomial deviation."""
    y = np.arange(400) % 2
    model = DummyClassifier(strategy="constant", constant=1).fit(np.zeros((2, 1)), [0, 1])
    each = learn.report(model, np.zeros((400, 1)), y, cv=None).numbers["scores"]["accuracy"]
    assert each["high"] - each["low"] == pytest.approx(2 * 1.96 * np.sqrt(0.25 / 400), rel=0.15)


def test_not_fitted_is_cross_validated():
    """Each row by a clone that has not seen it; the model itself stays as it was."""
    X, y = load_iris(return_X_y=True)
    model = GaussianNB()
    found = learn.report(model, X, y, cv=StratifiedKFold(4))
    said = cross_val_predict(GaussianNB(), X, y, cv=StratifiedKFold(4))
    np.testing.assert_array_equal(found.numbers["confusion"]["counts"], confusion_matrix(y, said).T)
    assert found.numbers["how"] == "150 rows left out in turn (4 folds)"
    assert not hasattr(model, "classes_")
    curve = found.numbers["learning"]
    assert curve["rows"][-1] == 112
    assert curve["new"][-1] < curve["new"][0]
    assert found.numbers["gap"]["new"] == curve["new"][-1]
    assert "left out in turn" in of(found)


def test_costs():
    """What the model decides, the likeliest class, and least expected cost; those of the model by default."""
    X, y = load_breast_cancer(return_X_y=True)
    model = learn.HonestClassifier(GaussianNB(), costs=COSTS, random_state=0).fit(X[::2], y[::2])
    X, y = X[1::2], y[1::2]
    found = learn.report(model, X, y, cv=None).numbers
    costs, p = np.array(COSTS), model.predict_proba(X)
    assert found["costs"]["mean"] == pytest.approx(
        {
            "what the model decides": np.mean(costs[model.predict(X), y]),
            "the likeliest class": np.mean(costs[np.argmax(p, axis=1), y]),
            "least expected cost": np.mean(costs[learn.decide(p, costs), y]),
        }
    )
    assert found["costs"]["thresholds"]["rule"] == pytest.approx(model.threshold_)
    assert found["sets"]["method"] == "the model's own"
    assert found["sets"]["coverage"]["value"] == model.coverage_report(X, y)["coverage"]
    assert found["sets"]["guarantee"] == model.guarantee_


def test_more_decisions_than_classes():
    """They have rows of their own in both matrices."""
    X, y = load_breast_cancer(return_X_y=True)
    costs = [[0, 1], [10, 0], [0.2, 0.2]]
    model = learn.HonestClassifier(GaussianNB(), costs=costs, decisions=[0, 1, "ask"], random_state=0).fit(X, y)
    found = learn.report(model, X, y, cv=None)
    assert found.numbers["costs"]["decisions"] == ["0", "1", "ask"]
    assert np.shape(found.numbers["costs"]["by pair"]) == (3, 2)
    assert np.sum(found.numbers["confusion"]["counts"]) == len(y)
    of(found)


def test_conformal_coverage_from_halves():
    """Any model has sets that cover; levels rise."""
    X, y = make_classification(2000, n_classes=4, n_informative=6, random_state=0)
    found = learn.report(GaussianNB().fit(X[:1000], y[:1000]), X[1000:], y[1000:], cv=None, coverage=0.85).numbers[
        "sets"
    ]
    for level in found["levels"]:
        assert abs(level["held"] - level["asked"]) < 0.04
    assert [v["size"] for v in found["levels"]] == sorted(v["size"] for v in found["levels"])
    assert found["coverage"]["low"] < 0.85 < found["coverage"]["high"]


def test_regression():
    """Scores are scikit-learn's, intervals cover, own intervals are taken where there are any."""
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(X[::2], y[::2])
    found = learn.report(model, X[1::2], y[1::2], train=(X[::2], y[::2]), cv=3)
    said = model.predict(X[1::2])
    values = {name: each["value"] for name, each in found.numbers["scores"].items()}
    assert values["R²"] == pytest.approx(r2_score(y[1::2], said))
    assert values["root mean square error"] == pytest.approx(root_mean_squared_error(y[1::2], said))
    assert values["mean absolute error"] == pytest.approx(mean_absolute_error(y[1::2], said))
    gap = found.numbers["gap"]
    assert gap["train"] == pytest.approx(root_mean_squared_error(y[::2], model.predict(X[::2])))
    assert gap["gap"] == pytest.approx(gap["new"] - gap["train"])
    assert abs(found.numbers["intervals"]["coverage"]["value"] - 0.9) < 0.06
    of(found)
    own = learn.report(learn.HonestRegressor(Ridge(), random_state=0), X, y, cv=3)
    assert own.numbers["intervals"]["method"] == "the model's own"
    assert "Guaranteed: at least 0.8" in of(own)


class Odd(ClassifierMixin, BaseEstimator):
    """A classifier without attributes that say that it is fitted."""

    def fit(self, X, y):
        """Note the classes."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """The first class."""
        return np.full(len(X), self.classes_[0])


NAMES = np.array(["<b>bold</b>", "a & b", '"quoted"'])


def odd_cases():
    """Models and rows that are unlike the others."""
    X, y = load_iris(return_X_y=True)
    many = np.random.default_rng(0).integers(0, 40, 400)
    yield "no probabilities", RidgeClassifier().fit(X, y), X, y
    yield "names to escape", GaussianNB().fit(X, NAMES[y]), X, NAMES[y]
    yield "a class is missing", GaussianNB().fit(X, y), X[:90], y[:90]
    yield "few rows", GaussianNB().fit(X, y), X[48:54], y[48:54]
    yield "one class", GaussianNB().fit(X, y), X[:10], y[:10]
    yield "frozen", FrozenEstimator(GaussianNB().fit(X, y)), X, y
    yield "sparse", SGDClassifier(loss="log_loss", random_state=0).fit(X, y), sparse.csr_array(X), y
    yield (
        "text",
        make_pipeline(CountVectorizer(), MultinomialNB()),
        ["one two", "two three", "three four"] * 20,
        [0, 1, 1] * 20,
    )
    yield "forty classes", GaussianNB().fit(np.eye(40)[many] + 0.1, many), np.eye(40)[many], many
    yield "truth values", GaussianNB().fit(X, y > 0), X, y > 0
    yield "odd", Odd().fit(X, y), X, y
    yield "constant", DummyRegressor().fit(X, y), X, y.astype(float)
    yield "one value", DummyRegressor().fit(X, y), X, np.ones(150)


@pytest.mark.parametrize(("model", "X", "y"), [c[1:] for c in odd_cases()], ids=[c[0] for c in odd_cases()])
def test_odd_models(model, X, y):
    """Whatever cannot be said is left out."""
    found = learn.report(model, X, y, cv=3, progress=False)
    text = of(found)
    assert "<b>" not in text
    assert str(found).startswith(found.numbers["name"])


def test_frames_and_rows():
    """Rows have the frame's names; the worst ones come first."""
    pd = pytest.importorskip("pandas")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.index = [f"patient {k}" for k in range(len(X))]
    model = GaussianNB().fit(X, y)
    found = learn.report(model, X, pd.Series(y.to_numpy(), index=X.index), cv=None).numbers["rows to look at"]
    losses = -np.log(np.clip(model.predict_proba(X)[np.arange(len(y)), y], np.finfo(float).eps, 1))
    assert found["worst"][0]["row"] == f"patient {np.argmax(losses)}"
    assert found["worst"][0]["loss"] == pytest.approx(losses.max())
    assert found["influential"] is None


def test_influence_is_asked_for(monkeypatch):
    """Where it is known it is shown, and where it is refused the page says why."""
    X, y = load_iris(return_X_y=True)

    def influence(model, X, y, *, on):
        if isinstance(model, GaussianNB):
            raise TypeError("GaussianNB is not differentiated through.")
        return np.arange(len(y)) - 70.0

    monkeypatch.setattr(rows, "influence", influence)
    train = (X[::2], y[::2])
    found = learn.report(RidgeClassifier().fit(*train), X[1::2], y[1::2], train=train, cv=None)
    assert [row["row"] for row in found.numbers["rows to look at"]["influential"][:2]] == ["0", "1"]
    assert found.numbers["rows to look at"]["influential"][0]["influence"] == -70.0
    assert "Most influential" in of(found)
    refused = learn.report(GaussianNB().fit(*train), X[1::2], y[1::2], train=train, cv=None)
    assert "GaussianNB is not differentiated through." in of(refused)
    inside = learn.HonestClassifier(RidgeClassifier(), cv=0.3, random_state=0).fit(*train)
    found = learn.report(inside, X[1::2], y[1::2], train=train, cv=None).numbers["rows to look at"]
    assert found["influence of"] == "HonestClassifier"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((LinearRegression(), np.eye(3), np.eye(3)), "one target"),
        ((GaussianNB(), np.eye(3), [0, 1]), "X has 3 rows, but y has 2"),
        ((CountVectorizer(), np.eye(3), [0, 1, 1]), "a classifier or a regressor, got CountVectorizer"),
    ],
)
def test_refused(arguments, message):
    """What is no such model, or no such table."""
    with pytest.raises((TypeError, ValueError), match=message):
        learn.report(*arguments)


def test_predictions_that_are_no_numbers():
    """A row without neighbours is said, with its number."""
    X, y = load_diabetes(return_X_y=True)
    lonely = np.vstack([X[1:], np.ones(10)])
    model = RadiusNeighborsRegressor(10.0).fit(X, y)
    model.radius = 1.0
    with (
        pytest.warns(UserWarning, match="no neighbors"),
        pytest.raises(ValueError, match="nan or infinity for 1 of 442 rows, the first one being row 441"),
    ):
        learn.report(model, lonely, y)


def test_saved_in_one_move(tmp_path):
    """The file is the page; a notebook gets the same in a frame."""
    X, y = load_iris(return_X_y=True)
    found = learn.report(GaussianNB().fit(X, y), X, y, cv=None)
    path = found.save(tmp_path / "r.html")
    assert path.read_text(encoding="utf-8") == found.html
    assert [file.name for file in tmp_path.iterdir()] == ["r.html"]
    assert found._repr_html_().startswith("<iframe srcdoc=")
    assert len(found.html) < 60_000
    assert len(found.numbers["rows to look at"]["worst"]) <= rows.MOST
