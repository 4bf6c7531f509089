"""scikit-learn's own checks of estimators."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from adjoint import learn

ESTIMATORS = [
    learn.CalibratedClassifier(LogisticRegression(), "temperature", cv=2),
    learn.CostSensitiveClassifier(LogisticRegression()),
    learn.ConformalClassifier(LogisticRegression(), coverage=0.5, cv=0.3),
    learn.ConformalRegressor(LinearRegression(), coverage=0.5, cv=0.3),
    learn.HonestClassifier(LogisticRegression(), coverage=0.5, method="temperature", cv=2),
    learn.HonestRegressor(LinearRegression(), coverage=0.5, cv=2),
    learn.RiskControl(LogisticRegression(), target=0.5, cv=0.3),
]
PLAIN = [
    learn.LeastSquares(),
    learn.Ridge(),
    learn.LinearRegressor(),
    learn.LinearClassifier(),
    learn.LogisticRegression(),
]
UNASKED = [
    "check_param_validation",
    "check_dataframe_column_names_consistency",
    "check_inplace_ensure_writeable",
]
"""Checks that scikit-learn defines and runs on its own estimators, but does not give to others."""
OF_TRANSFORMERS = [
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_get_feature_names_out_error",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
]
"""The same for estimators with `transform`."""


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([*ESTIMATORS, *PLAIN])
def test_estimator(estimator, check):
    """Conventions of scikit-learn, all of them."""
    check(estimator)


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(e, check, id=f"{type(e).__name__}-{check}")
        for e in [*ESTIMATORS, *PLAIN]
        for check in (UNASKED + OF_TRANSFORMERS if hasattr(e, "transform") else UNASKED)
    ],
)
def test_estimator_unasked(estimator, check):
    """What scikit-learn asks of its own estimators."""
    getattr(estimator_checks, check)(type(estimator).__name__, estimator)


SCALINGS = [learn.TemperatureScaling(), learn.VectorScaling(), learn.MatrixScaling()]


@pytest.mark.parametrize("scaling", SCALINGS, ids=lambda s: type(s).__name__)
def test_scalings_name_their_columns(scaling):
    """Frames out, with a column for each label; parameters are checked."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    logits, kind = X.iloc[:, :3], np.array(["a", "b", "c"])[y]
    plain = clone(scaling).fit(logits, kind).transform(logits)
    for library in ("pandas", "polars"):
        found = clone(scaling).set_output(transform=library).fit(logits, kind).transform(logits)
        assert list(found.columns) == ["a", "b", "c"]
        np.testing.assert_array_equal(np.asarray(found), plain)
    with pytest.raises(ValueError, match="The feature names should match"):
        clone(scaling).fit(logits, kind).transform(logits[logits.columns[::-1]])
    if scaling.get_params():
        with pytest.raises(ValueError, match=r"The 'strength' parameter of .* must be"):
            clone(scaling).set_params(strength=-1.0).fit(logits, kind)


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")  # on columns that are not scaled
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_in_company(estimator):
    """In a pipeline, a grid, cross-validation, a pickle."""
    X, y = load_iris(return_X_y=True)
    inner = make_pipeline(StandardScaler(), clone(estimator.estimator))
    grid = GridSearchCV(
        clone(estimator).set_params(estimator=inner),
        {f"estimator__{inner.steps[1][0]}__fit_intercept": [True, False]},
        cv=3,
    )
    found = pickle.loads(pickle.dumps(grid.fit(X, y)))
    np.testing.assert_array_equal(found.predict(X), grid.predict(X))
    assert len(cross_val_predict(clone(estimator), X, y, cv=3)) == len(y)


CLASSIFIERS = [e for e in [*ESTIMATORS, *PLAIN] if is_classifier(e)]


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: type(e).__name__)
def test_in_others(estimator):
    """In what scikit-learn has around classifiers, with names of labels that are no numbers."""
    X, y = load_iris(return_X_y=True)
    kind = np.array(["x", "y", "z"])[y]
    around = [
        VotingClassifier([("a", clone(estimator)), ("b", LogisticRegression())]),
        CalibratedClassifierCV(clone(estimator), cv=3),
    ]
    if hasattr(estimator, "predict_proba"):
        some = np.where(np.arange(150) % 3 == 0, y, -1)
        assert SelfTrainingClassifier(clone(estimator)).fit(X, some).score(X, y) > 0.8
    for model in around:
        assert model.fit(X, kind).score(X, kind) > 0.8


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
@pytest.mark.parametrize("estimator", [*ESTIMATORS, *PLAIN], ids=lambda e: type(e).__name__)
def test_frames(estimator):
    """From pandas and polars the same as from arrays."""
    X, y = load_iris(return_X_y=True)
    names = ["a", "b", "c", "d"]
    target = y if is_classifier(estimator) else X[:, 0] + y
    want = clone(estimator).set_params(**_seed(estimator)).fit(X, target).predict(X)
    for frame, series in (
        (pd.DataFrame(X, columns=names, index=range(300, 450)), pd.Series(target, index=range(300, 450))),
        (pl.DataFrame(X, schema=names), pl.Series(target)),
    ):
        model = clone(estimator).set_params(**_seed(estimator)).fit(frame, series)
        np.testing.assert_allclose(np.asarray(model.predict(frame), dtype=float), want, rtol=1e-9)
        assert list(model.feature_names_in_) == names
        for name in ("predict_set", "predict_interval"):
            if hasattr(model, name):
                assert len(getattr(model, name)(frame)) == 150


def _seed(estimator):
    return {"random_state": 0} if "random_state" in estimator.get_params() else {}
