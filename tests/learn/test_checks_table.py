"""scikit-learn's own checks of the estimators of tables."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from adjoint import learn

SMALL = {"members": 4, "hidden_layer_sizes": (16,), "pieces": 0, "random_state": 0}
EXPECTED = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "rows that are repeated fall into other batches than one row with their weight",
)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [learn.TableClassifier(**SMALL), learn.TableRegressor(**SMALL)], expected_failed_checks=lambda e: EXPECTED
)
def test_estimator(estimator, check):
    """Conventions of scikit-learn, all of them."""
    check(estimator)
