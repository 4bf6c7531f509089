"""Decisions of least expected cost."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from adjoint import learn

COSTS = [[0, 10], [1, 0]]


def test_the_example_switches_at_one_eleventh():
    """C = [[0, 10], [1, 0]]: rows are decisions, so that 1 is decided as soon as 10 p > 1 - p."""
    p = np.array([1 / 11 - 1e-9, 1 / 11 + 1e-9])
    np.testing.assert_array_equal(learn.decide(p, COSTS), [0, 1])
    np.testing.assert_allclose(learn.expected_cost([[0.9, 0.1]], COSTS), [[1.0, 0.9]])


def test_the_transposed_table_is_another_question():
    """Which index is the decision matters: read the other way, 1 would be decided from 10/11 on."""
    p = np.array([0.5, 0.95])
    np.testing.assert_array_equal(learn.decide(p, np.transpose(COSTS)), [0, 1])


def test_more_decisions_than_classes():
    """Asking somebody costs 1 whoever is right."""
    model = learn.CostSensitiveClassifier(
        LogisticRegression(), costs=[[0, 10], [10, 0], [1, 1]], decisions=["no", "yes", "ask"]
    )
    X = np.linspace(-4, 4, 50)[:, None]
    found = model.fit(X, (X[:, 0] > 0).astype(int)).predict(X)
    assert found[0] == "no"
    assert found[-1] == "yes"
    assert "ask" in found
    with pytest.raises(ValueError, match="say decisions="):
        learn.CostSensitiveClassifier(LogisticRegression(), costs=[[0, 10], [10, 0], [1, 1]]).fit(X, X[:, 0] > 0)


def test_costs_of_each_example():
    """A function of X, as the amount of a loan."""
    X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, 100.0], [1.0, 100.0]] * 10)
    y = (X[:, 0] > 0).astype(int)
    model = learn.CostSensitiveClassifier(
        LogisticRegression(C=0.01), costs=lambda X: np.stack([[[0.0, x], [1.0, 0.0]] for x in X[:, 1]])
    )
    assert model.fit(X, y).predict(X)[2] == 1


def test_many_classes_and_no_costs():
    """Without costs, the likeliest class; with 0/1 costs the same."""
    X, y = load_iris(return_X_y=True)
    plain = LogisticRegression(max_iter=1000).fit(X, y).predict(X)
    for costs in (None, 1 - np.eye(3)):
        model = learn.CostSensitiveClassifier(LogisticRegression(max_iter=1000), costs).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), plain)


@pytest.mark.parametrize(
    ("costs", "words"),
    [([[0, 1, 2]], r"shape \(decisions, 2\)"), ([[0, np.inf], [1, 0]], "finite"), ([1, 2], "shape")],
)
def test_wrong_costs(costs, words):
    """What does not fit the classes is said."""
    with pytest.raises(ValueError, match=words):
        learn.decide([0.5], costs)
