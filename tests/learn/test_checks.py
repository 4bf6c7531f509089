"""scikit-learn's own checks of estimators."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from adjoint import learn

ESTIMATORS = [
    learn.CalibratedClassifier(LogisticRegression(), "temperature", cv=2),
    learn.CostSensitiveClassifier(LogisticRegression()),
    learn.ConformalClassifier(LogisticRegression(), coverage=0.5, cv=0.3),
    learn.ConformalRegressor(LinearRegression(), coverage=0.5, cv=0.3),
]
PLAIN = [
    learn.LeastSquares(),
    learn.Ridge(),
    learn.LinearRegressor(),
    learn.LinearClassifier(),
    learn.LogisticRegression(),
]
EXPECTED = {
    "CalibratedClassifier": dict.fromkeys(
        ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
        "rows that are repeated fall into other folds than one row with their weight",
    )
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([*ESTIMATORS, *PLAIN], expected_failed_checks=lambda e: EXPECTED.get(type(e).__name__, {}))
def test_estimator(estimator, check):
    """Conventions of scikit-learn, all of them."""
    check(estimator)


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
