"""scikit-learn's own checks of Laplace and of averages."""

import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from adjoint import learn

QUICK = [learn.Laplace(learn.LeastSquares()), learn.Laplace(learn.LogisticRegression())]
SLOW = [
    learn.Laplace(
        learn.MLPClassifier((8,), learning_rate_init=0.05, max_iter=40, random_state=0), weights="all", curvature="kron"
    ),
    learn.Laplace(learn.MLPRegressor((8,), learning_rate_init=0.05, max_iter=60, random_state=0), curvature="diag"),
    learn.BayesianAverage([learn.Ridge(), learn.LeastSquares()]),
    learn.BayesianAverage([learn.LogisticRegression(), learn.LogisticRegression(C=0.1)], weights="stacking", cv=2),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(QUICK)
def test_estimator(estimator, check):
    """Conventions of scikit-learn, all of them."""
    check(estimator)


@pytest.mark.parametrize("estimator", [QUICK[0], SLOW[-1]], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "check",
    ["check_param_validation", "check_dataframe_column_names_consistency", "check_inplace_ensure_writeable"],
)
def test_estimator_unasked(estimator, check):
    """What scikit-learn asks of its own estimators."""
    getattr(estimator_checks, check)(type(estimator).__name__, estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(SLOW)
def test_slow_estimator(estimator, check):
    """Conventions of scikit-learn, for what takes longer to fit."""
    check(estimator)
