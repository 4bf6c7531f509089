"""Metadata routing through all wrappers: scikit-learn's own tests of it, run on ours."""

import numpy as np
import pytest
import sklearn
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adjoint import learn

theirs = pytest.importorskip("sklearn.tests.test_metaestimators_metadata_routing")


def case(wrapper, kind="classifier", *, cv=True, **init):
    """What scikit-learn's tests want to know of a wrapper."""
    known = {
        "metaestimator": wrapper,
        "estimator_name": "estimator",
        "estimator": kind,
        "init_args": init,
        "X": theirs.X,
        "y": theirs.y,
        "estimator_routing_methods": ["fit"],
        "preserves_metadata": "subset",
    }
    return {**known, "cv_name": "cv", "cv_routing_methods": ["fit"]} if cv else known


WRAPPERS = [
    case(learn.CalibratedClassifier, method="temperature"),
    case(learn.CostSensitiveClassifier, cv=False),
    case(learn.ConformalClassifier, coverage=0.5),
    case(learn.ConformalRegressor, "regressor", coverage=0.5),
    case(learn.HonestClassifier, coverage=0.5, method="temperature"),
    case(learn.HonestRegressor, "regressor", coverage=0.5),
    case(learn.ConformalRegressor, "regressor", coverage=0.5, method="normalised"),
    case(learn.RiskControl, target=0.5),
]
TESTS = [
    theirs.test_default_request,
    theirs.test_error_on_missing_requests_for_sub_estimator,
    theirs.test_setting_request_on_sub_estimator_removes_error,
    theirs.test_non_consuming_estimator_works,
    theirs.test_metadata_is_routed_correctly_to_splitter,
    theirs.test_metadata_routed_to_group_splitter,
]


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda c: f"{c['metaestimator'].__name__}-{c['init_args']}")
@pytest.mark.parametrize("check", TESTS, ids=lambda t: t.__name__)
def test_as_scikit_learn_has_it(check, wrapper):
    """Requests are empty by default, missing ones are errors, metadata reaches the estimator and the splitter."""
    check(wrapper)


def rows(n=120):
    """A problem with weights and groups."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int), rng.uniform(0.1, 3.0, n), np.arange(n) // 10


@pytest.mark.parametrize("wrapper", [learn.CalibratedClassifier, learn.ConformalClassifier])
def test_groups_are_kept_together(wrapper):
    """With routing and without: no group is on both sides of a split."""
    X, y, _, groups = rows()
    seen = []

    class Watching(GroupKFold):
        def split(self, X, y=None, groups=None):
            for train, rest in super().split(X, y, groups):
                seen.append(set(groups[train]) & set(groups[rest]))
                yield train, rest

    method = "temperature" if wrapper is learn.CalibratedClassifier else "lac"
    model = wrapper(LogisticRegression(), cv=Watching(3), method=method).fit(X, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        sklearn.clone(model).fit(X, y, groups=groups)
        grid = GridSearchCV(model, {"estimator__C": [1.0]}, cv=GroupKFold(2))
        grid.fit(X, y, groups=groups)
    assert len(seen) == 3 + 3 + 3 * 3
    assert not any(seen)


@pytest.mark.parametrize(
    "wrapper",
    [
        learn.CalibratedClassifier(cv=GroupShuffleSplit(1, random_state=0), method="temperature"),
        learn.CostSensitiveClassifier(),
        learn.ConformalClassifier(cv=GroupShuffleSplit(1, random_state=0)),
        learn.RiskControl(target=0.5, cv=GroupShuffleSplit(1, random_state=0)),
        learn.ConformalRegressor(cv=GroupShuffleSplit(1, random_state=0)),
        learn.ConformalRegressor(cv=GroupShuffleSplit(1, random_state=0), method="normalised"),
        learn.ConformalRegressor(cv=GroupShuffleSplit(1, random_state=0), method="quantile"),
    ],
    ids=lambda w: f"{type(w).__name__}-{getattr(w, 'method', '')}",
)
def test_weights_reach_a_pipeline(wrapper):
    """Those of a pipeline's last step are those of the step by itself; without routing it is said that they do not."""
    X, y, weights, groups = rows()
    inner = LogisticRegression()
    if not sklearn.base.is_classifier(wrapper):
        inner, y = LinearRegression(), X[:, 0] + weights * np.sin(9 * X[:, 1])
    if wrapper.get_params().get("method") == "quantile":
        inner = QuantileRegressor(alpha=0.0)
    given = {"groups": groups} if hasattr(wrapper, "cv") else {}
    scaled = StandardScaler().fit_transform(X)
    plain = sklearn.clone(wrapper).set_params(estimator=inner).fit(scaled, y, sample_weight=weights, **given)
    other = sklearn.clone(wrapper).set_params(estimator=inner).fit(scaled, y, **given)
    assert np.max(np.abs(_numbers(plain, scaled) - _numbers(other, scaled))) > 1e-6
    with sklearn.config_context(enable_metadata_routing=True):
        asking = sklearn.clone(inner).set_fit_request(sample_weight=True)
        piped = sklearn.clone(wrapper).set_params(estimator=make_pipeline("passthrough", asking))
        piped.fit(scaled, y, sample_weight=weights, **given)
    np.testing.assert_array_equal(_numbers(piped, scaled), _numbers(plain, scaled))
    with pytest.warns(UserWarning, match="Pipeline.fit takes no sample_weight, so weights do not reach it"):
        sklearn.clone(wrapper).set_params(estimator=make_pipeline("passthrough", sklearn.clone(inner))).fit(
            scaled, y, sample_weight=weights, **given
        )


def _numbers(model, X):
    return model.predict_proba(X) if sklearn.base.is_classifier(model) else model.predict(X)


def test_fitted_models_are_not_asked():
    """Weights are for the scaling alone where the estimator is kept."""
    X, y, weights, _ = rows()
    frozen = FrozenEstimator(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y))
    for routing in (False, True):
        with sklearn.config_context(enable_metadata_routing=routing):
            model = learn.CalibratedClassifier(frozen, "temperature").fit(X, y, sample_weight=weights)
            plain = learn.CalibratedClassifier(frozen, "temperature").fit(X, y)
        assert model.calibrator_.temperature_ != plain.calibrator_.temperature_


def test_other_parameters_reach_the_estimator():
    """Without routing all that is no group is the estimator's."""
    X, y, _, _ = rows()
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        learn.CalibratedClassifier(LogisticRegression()).fit(X, y, colour="red")
