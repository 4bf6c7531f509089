"""scikit-learn's checks of networks, those that it defines but does not yield, and networks in company."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from adjoint import learn

FEW = {"max_iter": 20, "learning_rate_init": 0.05, "random_state": 0}
NETWORKS = [learn.MLPClassifier((5,), **FEW), learn.MLPRegressor((5,), **FEW)]
ENSEMBLES = [
    learn.DeepEnsemble(inner, n_members=2, random_state=0) for inner in (LogisticRegression(), LinearRegression())
]
COMPILED = [
    learn.MLPClassifier((5,), "gelu", **FEW),
    learn.MLPRegressor((5,), distribution="gaussian", **{**FEW, "max_iter": 60}),
    *[learn.DeepEnsemble(inner, n_members=2, random_state=0) for inner in NETWORKS],
]
NOT_YIELDED = [
    "check_dataframe_column_names_consistency",
    "check_get_feature_names_out_error",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_inplace_ensure_writeable",
    "check_param_validation",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([*NETWORKS, *ENSEMBLES])
def test_estimator(estimator, check):
    """Conventions of scikit-learn, all of them."""
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(COMPILED)
def test_compiled_estimator(estimator, check):
    """Likewise where steps are compiled."""
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NOT_YIELDED)
@pytest.mark.parametrize("estimator", NETWORKS, ids=lambda e: type(e).__name__)
def test_what_is_not_yielded(estimator, name):
    """Parameters, names of columns and containers of outputs."""
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip("this scikit-learn does not have it")
    check(type(estimator).__name__, clone(estimator))


def test_in_company():
    """In pipelines, grids, cross-validation, calibration, votes and self-training."""
    X, codes = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[codes]
    network = learn.MLPClassifier((8,), learning_rate_init=0.02, random_state=0)
    scaled = make_pipeline(StandardScaler(), network)
    assert np.mean(cross_val_score(scaled, X, y, cv=3)) > 0.9
    grid = GridSearchCV(
        scaled, {"mlpclassifier__alpha": [0.1, 1.0], "mlpclassifier__hidden_layer_sizes": [(4,), 8]}, cv=3
    )
    assert grid.fit(X, y).best_score_ > 0.9
    assert CalibratedClassifierCV(scaled, cv=3).fit(X, y).score(X, y) > 0.9
    assert (
        VotingClassifier([("a", scaled), ("b", LogisticRegression(max_iter=1000))], voting="soft").fit(X, y).score(X, y)
        > 0.9
    )
    partly = np.where(np.arange(150) % 3 == 0, codes, -1)
    assert SelfTrainingClassifier(scaled).fit(X, partly).score(X, codes) > 0.9
    ahead = make_pipeline(StandardScaler(), network, LogisticRegression())
    assert ahead.fit(X, y).score(X, y) > 0.9
    assert is_classifier(learn.DeepEnsemble(scaled))
    assert is_regressor(learn.DeepEnsemble(learn.MLPRegressor()))


def test_frames():
    """pandas and polars in, and out of `transform`; columns are known by their names."""
    X, y = load_iris(return_X_y=True)
    names = ["a", "b", "c", "d"]
    model = learn.MLPClassifier((3,), max_iter=5, random_state=0)
    plain = clone(model).fit(X, y).predict_proba(X)
    for frame, labels in (
        (pd.DataFrame(X, columns=names), pd.Series(y)),
        (pl.DataFrame(X, schema=names), pl.Series(y)),
    ):
        fitted = clone(model).fit(frame, labels)
        np.testing.assert_array_equal(fitted.predict_proba(frame), plain)
        assert list(fitted.feature_names_in_) == names
        with pytest.raises(ValueError, match="feature names should match"):
            fitted.predict(frame[["b", "a", "c", "d"]])
    frame = pd.DataFrame(X, columns=names)
    out = clone(model).set_output(transform="pandas").fit(frame, y).transform(frame)
    assert list(out.columns) == ["mlpclassifier0", "mlpclassifier1", "mlpclassifier2"]
