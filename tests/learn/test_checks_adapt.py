"""scikit-learn's own checks of estimators that learn from little."""

import pytest
import sklearn.utils.estimator_checks as checks

from adjoint import learn

OPTIONS = {"max_iter": 60, "learning_rate_init": 0.03, "random_state": 0}
CLASSIFIER = learn.FineTuned(learn.MLPClassifier((8,), **OPTIONS), train="head", max_iter=30, random_state=0)
REGRESSOR = learn.FineTuned(learn.MLPRegressor((8,), **OPTIONS), train="biases", max_iter=30, random_state=0)
PRETRAINER = learn.MaskedPretrainer((8,), max_iter=3, random_state=0)
NOT_YIELDED = [
    checks.check_param_validation,
    checks.check_set_output_transform,
    checks.check_set_output_transform_pandas,
    checks.check_transformer_get_feature_names_out,
    checks.check_dataframe_column_names_consistency,
]


@pytest.mark.filterwarnings("ignore")  # that FineTuned fits what is not fitted yet, among others
@checks.parametrize_with_checks([CLASSIFIER, PRETRAINER])
def test_estimator(estimator, check):
    """Conventions of scikit-learn, all of them."""
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@checks.parametrize_with_checks([REGRESSOR])
def test_regressor(estimator, check):
    """The same of a regressor."""
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("check", NOT_YIELDED, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", [CLASSIFIER, REGRESSOR, PRETRAINER], ids=["classifier", "regressor", "masked"])
def test_conventions_that_are_not_yielded(estimator, check):
    """Checks that scikit-learn has for itself: parameters, output containers, names of columns."""
    check(type(estimator).__name__, estimator)
