"""Derivatives of fits: leaving rows out, weights of rows, penalties. Held against fitting again."""

import numpy as np
import pytest
import sklearn.linear_model as others
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adjoint import learn, losses

ROWS, VALUE = load_diabetes(return_X_y=True)
ROWS = ROWS * np.arange(1.0, 11.0) ** 3  # columns of very different sizes
ROWS, VALUE, ROWS_NEW, VALUE_NEW = ROWS[:60], VALUE[:60], ROWS[200:], VALUE[200:]
IRIS, KIND = load_iris(return_X_y=True)
IRIS, KIND, IRIS_NEW, KIND_NEW = IRIS[::2], KIND[::2], IRIS[1::2], KIND[1::2]
TWO, TWO_NEW = (KIND == 2) * 1, (KIND_NEW == 2) * 1
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, 60)

QUADRATIC = [
    learn.LeastSquares(),
    learn.LeastSquares(fit_intercept=False),
    learn.Ridge(0.1),
    learn.Ridge(np.arange(1.0, 11.0)),
    learn.LinearRegressor("squared", alpha=0.01),
    learn.LinearRegressor("squared", penalty=None),
    others.LinearRegression(),
    others.Ridge(3.0),
]
SMOOTH = [
    learn.LinearRegressor("huber", delta=30.0, alpha=0.1),
    learn.LinearRegressor("poisson", alpha=0.1, tol=1e-9),
]
CLASSIFIERS = [
    learn.LogisticRegression(),
    learn.LogisticRegression(0.1, temperature=2.0, fit_intercept=False),
    learn.LogisticRegression(class_weight="balanced"),
    learn.LogisticRegression(class_weight={0: 1.0, 1: 2.0, 2: 5.0}),
    learn.LinearClassifier("logistic", alpha=0.01),
    others.LogisticRegression(tol=1e-9, solver="newton-cholesky"),
    others.LogisticRegression(tol=1e-9, solver="newton-cholesky", class_weight="balanced"),
]


def own_loss(model, X, y):
    """The mean loss that an estimator minimises, on other rows."""
    if hasattr(model, "predict_proba"):
        return log_loss(y, model.predict_proba(X))
    f = model.predict(X)
    if getattr(model, "loss", "squared") == "huber":
        return float(losses.huber(f, y, delta=model.delta))
    return float(np.mean(f - y * np.log(f) if getattr(model, "loss", None) == "poisson" else (f - y) ** 2))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
@pytest.mark.parametrize("estimator", QUADRATIC, ids=repr)
def test_left_out_as_by_refitting(estimator, weights):
    """Closed forms give the numbers of n refits."""
    found = learn.leave_one_out(estimator, ROWS, VALUE, sample_weight=weights)
    refitted = learn.leave_one_out(estimator, ROWS, VALUE, sample_weight=weights, method="refit")
    assert found.exact
    np.testing.assert_allclose(found.predictions, refitted.predictions, rtol=1e-10)
    np.testing.assert_allclose(found.losses, (found.predictions - VALUE) ** 2, rtol=1e-12)


def test_a_row_that_decides_alone():
    """A row with a column of its own: the closed form would divide 0 by 0, so the row is refitted."""
    X = np.hstack([ROWS[:, :3], np.eye(60)[:, :1]])
    found = learn.leave_one_out(learn.LeastSquares(), X, VALUE)
    with pytest.warns(match="dependent"):
        without = learn.LeastSquares().fit(X[1:], VALUE[1:])
    np.testing.assert_allclose(found.predictions[0], without.predict(X[:1])[0], rtol=1e-10)


def test_dependent_columns():
    """The shortest of all solutions has leave-one-out predictions and influences, too."""
    X = np.hstack([ROWS, ROWS[:, :2]])
    plain = learn.leave_one_out(learn.LeastSquares(), ROWS, VALUE)
    np.testing.assert_allclose(
        learn.leave_one_out(learn.LeastSquares(), X, VALUE).predictions, plain.predictions, rtol=1e-8
    )
    X_NEW = np.hstack([ROWS_NEW, ROWS_NEW[:, :2]])
    found = learn.influence(learn.LeastSquares(), X, VALUE, on=(X_NEW, VALUE_NEW)).values
    expected = learn.influence(learn.LeastSquares(), ROWS, VALUE, on=(ROWS_NEW, VALUE_NEW)).values
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.max(np.abs(expected)))


def test_left_out_by_one_newton_step():
    """Close to refitting, and not called exact."""
    for y in (KIND, TWO):
        found = learn.leave_one_out(learn.LogisticRegression(), IRIS, y)
        refitted = learn.leave_one_out(learn.LogisticRegression(), IRIS, y, method="refit")
        assert refitted.exact
        assert not found.exact
        assert np.max(np.abs(found.predictions - refitted.predictions)) < 0.01
        assert abs(np.mean(found.losses) - np.mean(refitted.losses)) < 1e-3


def test_refitting_any_estimator():
    """Estimators without derivatives, and classes that one row has alone."""
    found = learn.leave_one_out(
        KNeighborsClassifier(1), [[0.0], [0.1], [1.0], [1.1], [9.0]], [*"aabbc"], method="refit"
    )
    np.testing.assert_array_equal(np.argmax(found.predictions, axis=1), [0, 0, 1, 1, 1])
    assert found.losses[4] > 100.0
    hinge = learn.leave_one_out(learn.LinearClassifier("hinge"), IRIS, TWO, method="refit")
    assert hinge.losses.mean() < 0.1
    with pytest.raises(ValueError, match=r"method has to be 'auto' or 'refit', got 'fast'"):
        learn.leave_one_out(KNeighborsClassifier(), IRIS, KIND, method="fast")


@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
@pytest.mark.parametrize("estimator", [*QUADRATIC, *SMOOTH, *CLASSIFIERS], ids=repr)
def test_influence_as_by_retraining(estimator, weighted):
    """d loss / d weight is the difference of two fits with the weight a little larger and smaller."""
    if estimator in CLASSIFIERS:
        X, y, new, eps = IRIS, KIND, (IRIS_NEW, KIND_NEW), 1e-4
    else:
        X, y, new, eps = ROWS, VALUE, (ROWS_NEW, VALUE_NEW), 1e-4
    weights = np.resize(WEIGHTS, len(y)) if weighted else np.ones(len(y))
    found = learn.influence(estimator, X, y, on=new, sample_weight=weights if weighted else None)
    size = np.max(np.abs(found.values))
    for i in range(3, len(y), 17):
        change = eps * np.eye(len(y))[i]
        more, less = (clone(estimator).fit(X, y, sample_weight=weights + s * change) for s in (1.0, -1.0))
        expected = (own_loss(more, *new) - own_loss(less, *new)) / (2.0 * eps)
        assert abs(found.values[i] - expected) < 1e-6 * size
    assert found.loss == pytest.approx(own_loss(clone(estimator).fit(X, y, sample_weight=weights), *new), rel=1e-9)


def test_influence_of_any_loss():
    """A loss by name is the same written out, in the estimator and on the new rows."""

    def entropy(outputs, codes):
        return -np.log(np.exp(outputs)[np.arange(len(codes)), codes] / np.sum(np.exp(outputs), axis=1))

    def brier(p, codes):
        return np.sum((p - np.eye(2)[codes]) ** 2, axis=1)

    for y, new in ((KIND, KIND_NEW), (TWO, TWO_NEW)):
        named = learn.influence(learn.LinearClassifier("logistic", alpha=0.01), IRIS, y, on=(IRIS_NEW, new))
        written = learn.influence(learn.LinearClassifier(entropy, alpha=0.01, tol=1e-8), IRIS, y, on=(IRIS_NEW, new))
        np.testing.assert_allclose(written.values, named.values, rtol=1e-6, atol=1e-9)
    model = learn.LogisticRegression()
    found = learn.influence(model, IRIS, TWO, on=(IRIS_NEW, TWO_NEW), loss=brier)
    weights = 1.0 + 1e-4 * np.eye(len(TWO))[40]
    fits = [clone(model).fit(IRIS, TWO, sample_weight=w) for w in (weights, 2.0 - weights)]
    values = [np.mean(brier(m.predict_proba(IRIS_NEW), TWO_NEW)) for m in fits]
    assert found.values[40] == pytest.approx((values[0] - values[1]) / 2e-4, rel=1e-5)
    np.testing.assert_array_equal(found.most(3), np.argsort(-found.values)[:3])
    assert found.most(1, helpful=True)[0] == np.argmin(found.values)


def test_only_columns_in_use_count():
    """A penalty of absolute values leaves columns out, also of the derivative."""
    model = learn.LinearRegressor("squared", penalty="l1", alpha=300.0)
    used = np.flatnonzero(clone(model).fit(ROWS, VALUE).coef_)
    assert 0 < len(used) < 10
    found = learn.influence(model, ROWS, VALUE, on=(ROWS_NEW, VALUE_NEW)).values
    only = learn.influence(model, ROWS[:, used], VALUE, on=(ROWS_NEW[:, used], VALUE_NEW)).values
    np.testing.assert_allclose(found, only, rtol=1e-5, atol=1e-6 * np.max(np.abs(only)))


def test_pipelines():
    """Steps before the last are held as fitted; frozen ones are exact."""
    scaler = StandardScaler().fit(ROWS)
    inside = learn.leave_one_out(learn.Ridge(2.0), scaler.transform(ROWS), VALUE)
    for first, exact in ((StandardScaler(), False), (FrozenEstimator(scaler), True)):
        found = learn.leave_one_out(make_pipeline(first, learn.Ridge(2.0)), ROWS, VALUE)
        assert found.exact == exact
        np.testing.assert_allclose(found.predictions, inside.predictions, rtol=1e-12)
    assert not learn.leave_one_out(learn.Ridge("loo"), ROWS, VALUE).exact
    whole = learn.influence(
        make_pipeline(StandardScaler(), learn.Ridge()), ROWS, VALUE, on=(ROWS_NEW, VALUE_NEW)
    ).values
    parts = learn.influence(
        learn.Ridge(), scaler.transform(ROWS), VALUE, on=(scaler.transform(ROWS_NEW), VALUE_NEW)
    ).values
    np.testing.assert_allclose(whole, parts, rtol=1e-12)


def test_what_has_no_derivative_is_refused():
    """With what to do about it."""
    on = (IRIS_NEW, TWO_NEW)
    with pytest.raises(TypeError, match=r"(?s)KNeighborsClassifier cannot.*make_pipeline\(FrozenEstimator\(network\)"):
        learn.influence(KNeighborsClassifier(), IRIS, TWO, on=on)
    with pytest.raises(ValueError, match=r"LinearClassifier with the loss 'hinge' has kinks.*take 'logistic'"):
        learn.influence(learn.LinearClassifier("hinge"), IRIS, TWO, on=on)
    with pytest.raises(ValueError, match=r"LinearRegressor with the loss 'quantile' has kinks.*'huber'"):
        learn.leave_one_out(learn.LinearRegressor("quantile"), ROWS, VALUE)
    with pytest.raises(ValueError, match=r"no single minimum"):
        learn.influence(learn.LinearClassifier("logistic", penalty=None), IRIS, KIND == 0, on=(IRIS_NEW, KIND_NEW == 0))
    with pytest.raises(ValueError, match=r"liblinear"):
        learn.influence(others.LogisticRegression(solver="liblinear"), IRIS, TWO, on=on)
    with pytest.raises(ValueError, match=r"mean over rows of a loss of each row by itself"):
        learn.influence(learn.LinearRegressor(lambda f, y: np.std(f - y) ** 2), ROWS, VALUE, on=(ROWS_NEW, VALUE_NEW))


def test_flipped_labels_are_found():
    """Of labels that were turned, most are among those that harm most; by chance it would be a tenth."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    train, new = order[:400], order[400:]
    wrong = rng.permutation(400)[:40]
    turned = y[train].copy()
    turned[wrong] = 1 - turned[wrong]
    model = make_pipeline(StandardScaler(), learn.LogisticRegression(0.1))
    found = learn.influence(model, X[train], turned, on=(X[new], y[new]))
    assert np.mean(np.isin(found.most(40), wrong)) > 0.6


@pytest.mark.parametrize("by", ["loo", "rows"])
@pytest.mark.parametrize(
    "estimator",
    [
        learn.Ridge(0.1), others.Ridge(0.1), learn.LinearRegressor("squared", alpha=0.01), SMOOTH[0], SMOOTH[1],
        learn.LogisticRegression(2.0, temperature=1.5),
        others.LogisticRegression(C=2.0, tol=1e-9, solver="newton-cholesky"),
        learn.LinearClassifier("logistic", alpha=0.01),
    ],
    ids=repr,
)  # fmt: skip
def test_hypergradient_as_by_retraining(estimator, by):
    """The gradient by the logarithm of a parameter is the difference of two losses, and the loss is the one it says."""
    classifies = hasattr(estimator, "predict_proba")
    X, y, new = (IRIS, KIND, (IRIS_NEW, KIND_NEW)) if classifies else (ROWS, VALUE, (ROWS_NEW, VALUE_NEW))
    where = "loo" if by == "loo" else new
    for name in {"alpha", "C", "temperature"} & set(estimator.get_params()):
        value, slopes = learn.hypergradient(estimator, X, y, name, by=where)
        around = [
            learn.hypergradient(
                clone(estimator).set_params(**{name: float(getattr(estimator, name) * np.exp(s))}), X, y, name, by=where
            )[0]
            for s in (1e-4, -1e-4)
        ]
        np.testing.assert_allclose(slopes[name], (around[0] - around[1]) / 2e-4, rtol=1e-4, atol=1e-7 * abs(value))
    expected = (
        np.mean(learn.leave_one_out(estimator, X, y).losses)
        if by == "loo"
        else own_loss(clone(estimator).fit(X, y), *new)
    )
    assert value == pytest.approx(expected, rel=1e-5)


def test_hypergradient_by_columns():
    """One slope for each column, or each group of columns, whose slopes add up."""
    C = np.array([1.0, 2.0, 3.0, 4.0])
    _, each = learn.hypergradient(learn.LogisticRegression(C), IRIS, TWO, {"C": "columns"})
    for j in range(4):
        around = [
            np.mean(learn.leave_one_out(learn.LogisticRegression(C * np.exp(s * np.eye(4)[j])), IRIS, TWO).losses)
            for s in (1e-4, -1e-4)
        ]
        assert each["C"][j] == pytest.approx((around[0] - around[1]) / 2e-4, rel=1e-5)
    _, grouped = learn.hypergradient(learn.LogisticRegression(2.0), IRIS, TWO, {"C": ["b", "a", "b", "a"]})
    _, single = learn.hypergradient(learn.LogisticRegression(2.0), IRIS, TWO, {"C": "columns"})
    np.testing.assert_allclose(grouped["C"], [single["C"][[1, 3]].sum(), single["C"][[0, 2]].sum()], rtol=1e-10)


def test_tuned():
    """One penalty is that of `Ridge("loo")`; many are no worse, and keep columns that matter."""
    one = learn.tune(learn.Ridge(), ROWS, VALUE, "alpha")
    assert one.alpha == pytest.approx(learn.Ridge("loo").fit(ROWS, VALUE).alpha_, rel=1e-3)
    assert one.tuning_.loss < one.tuning_.loss_before
    many = learn.tune(learn.Ridge(), ROWS, VALUE, {"alpha": "columns"})
    assert many.tuning_.loss < one.tuning_.loss
    np.testing.assert_allclose(many.predict(ROWS), clone(many).fit(ROWS, VALUE).predict(ROWS))
    both = learn.tune(learn.LogisticRegression(), IRIS, KIND, ["C", "temperature"])
    for slopes in both.tuning_.gradient.values():
        np.testing.assert_allclose(slopes, 0.0, atol=1e-4)
    piped = learn.tune(make_pipeline(StandardScaler(), learn.Ridge()), ROWS, VALUE, "alpha", by=(ROWS_NEW, VALUE_NEW))
    assert piped.named_steps["ridge"].alpha != 1.0


def test_what_cannot_be_tuned_is_refused():
    """Other parameters, estimators and starts."""
    with pytest.raises(ValueError, match=r"tune takes the parameters alpha, C, temperature"):
        learn.tune(learn.Ridge(), ROWS, VALUE, "tol")
    with pytest.raises(ValueError, match=r"Ridge has to have a number above 0 as alpha to start from, got 'loo'"):
        learn.tune(learn.Ridge("loo"), ROWS, VALUE, "alpha")
    with pytest.raises(ValueError, match=r"a group for each of 10 columns, got \[0, 1\]"):
        learn.tune(learn.Ridge(), ROWS, VALUE, {"alpha": [0, 1]})
    with pytest.raises(ValueError, match=r"squares as penalty"):
        learn.tune(learn.LinearRegressor("squared", penalty="l1", alpha=300.0), ROWS, VALUE, "alpha")


@pytest.mark.parametrize(
    "estimator", [learn.Ridge(), learn.LinearRegressor("squared"), learn.LinearRegressor()], ids=repr
)
def test_a_penalty_for_each_column(estimator):
    """The same number for each is one number; a heavy one takes its column out; it has to fit the columns."""
    one = clone(estimator).set_params(alpha=0.5).fit(ROWS, VALUE)
    each = clone(estimator).set_params(alpha=np.full(10, 0.5)).fit(ROWS, VALUE)
    np.testing.assert_allclose(each.coef_, one.coef_, rtol=1e-6)
    heavy = clone(estimator).set_params(alpha=np.where(np.arange(10) < 9, 0.5, 1e15)).fit(ROWS, VALUE)
    assert abs(heavy.coef_[9]) < 1e-6 * np.max(np.abs(heavy.coef_))
    with pytest.raises(ValueError, match=r"alpha has to be one number, or one above 0 for each of 10 columns"):
        clone(estimator).set_params(alpha=[1.0, 2.0]).fit(ROWS, VALUE)
