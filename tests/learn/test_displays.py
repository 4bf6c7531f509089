"""Reliability diagrams, pictures of costs, and what scores are made of."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import brier_score_loss, confusion_matrix, log_loss
from sklearn.naive_bayes import GaussianNB

from adjoint import learn

RNG = np.random.default_rng(0)
Q = RNG.dirichlet(np.ones(3), size=2000)
LABELS = np.array(["low", "middle", "top"])
Y = LABELS[(RNG.random(2000)[:, None] > np.cumsum(Q, axis=1)).sum(axis=1)]
COSTS = np.array([[0, 10], [1, 0]])


@pytest.fixture
def axes():
    """Axes of matplotlib, closed afterwards."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    yield plt.subplots()[1]
    plt.close("all")


@pytest.mark.parametrize("kind", ["top-label", "class-wise"])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_bins_are_those_of_the_error(kind, strategy):
    """The display shows what `calibration_bins` and `calibration_error` give."""
    options = {"kind": kind, "bins": 7, "strategy": strategy}
    display = learn.ReliabilityDisplay.from_predictions(Y, Q, **options, plot=False)
    expected = learn.calibration_bins(Y, Q, **options)
    for found, each in zip(display.bins, expected if kind == "class-wise" else [expected], strict=True):
        np.testing.assert_array_equal(found.accuracy, each.accuracy)
    assert display.error == learn.calibration_error(Y, Q, **options)
    assert display.names == (list(LABELS) if kind == "class-wise" else ["accuracy"])


def test_bands_are_exact():
    """SciPy's exact interval of each bin's count; a weight of 2 for all says nothing new."""
    p, hit = Q[:, 0], Y == "low"
    display = learn.ReliabilityDisplay.from_predictions(hit, p, kind="binary", bins=20, confidence=0.8, plot=False)
    (bins,) = display.bins
    for count, accuracy, low, high in zip(bins.count, bins.accuracy, display.low[0], display.high[0], strict=True):
        if count == 0:
            assert np.isnan([low, high]).all()
            continue
        exact = binomtest(round(count * accuracy), int(count)).proportion_ci(0.8, method="exact")
        np.testing.assert_allclose([low, high], [exact.low, exact.high], atol=1e-12)
    doubled = learn.ReliabilityDisplay.from_predictions(
        hit, p, kind="binary", bins=20, confidence=0.8, sample_weight=np.full(2000, 2.0), plot=False
    )
    np.testing.assert_allclose(doubled.low[0], display.low[0])


@pytest.mark.parametrize("kind", ["top-label", "class-wise"])
def test_reliability_is_drawn(axes, kind):
    """Curves at confidence and accuracy, on the axes that are given, with a histogram that sums to one."""
    display = learn.ReliabilityDisplay.from_predictions(Y, Q, kind=kind, bins=5, ax=axes)
    assert display.ax_ is axes
    assert len(display.lines_) == len(display.bins)
    filled = display.bins[0].count > 0
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), display.bins[0].accuracy[filled])
    steps = display.histogram_.patches[0].get_data()
    assert steps.values.sum() == pytest.approx(1.0)
    axes.figure.canvas.draw()


def test_matplotlib_waits():
    """Nothing imports it before a picture is drawn."""
    code = (
        "import sys; from adjoint import learn;"
        "learn.ReliabilityDisplay.from_predictions([0, 1], [0.2, 0.7], plot=False);"
        "learn.CostDisplay.from_predictions([0, 1], [0.2, 0.7], plot=False);"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"bands": "wald"}, "bands has to be"), ({"confidence": 1.5}, "confidence has to be"), ({"kind": "x"}, "kind")],
)
def test_refused(options, message):
    """What is not known."""
    with pytest.raises(ValueError, match=message):
        learn.ReliabilityDisplay.from_predictions(Y, Q, **options, plot=False)


def test_cost_over_thresholds(axes):
    """At each threshold the cost of deciding so, row by row; the rule is 1 / (1 + ratio)."""
    X, y = load_breast_cancer(return_X_y=True)
    model = GaussianNB().fit(X[::2], y[::2])
    display = learn.CostDisplay.from_estimator(model, X[1::2], y[1::2], costs=COSTS, ax=axes)
    found, p, truth = display.thresholds, model.predict_proba(X[1::2])[:, 1], y[1::2]
    assert found.rule == pytest.approx(1 / 11)
    for threshold in [0.0, 1e-9, found.rule, 0.5, found.best, 0.999999, 1.0, 1.1]:
        assert found.cost(threshold) == pytest.approx(np.mean(COSTS[(p >= threshold).astype(int), truth]))
    grid = [np.mean(COSTS[(p >= t).astype(int), truth]) for t in [*p, 2.0]]
    assert found.cost(found.best) == pytest.approx(min(grid))
    assert display.cost == pytest.approx(np.mean(COSTS[learn.decide(p, COSTS), truth]))
    axes.figure.canvas.draw()


def test_cost_of_many_classes(axes):
    """The matrix is that of decisions and truths times costs; its sum is the mean cost; more decisions have names."""
    X, y = load_iris(return_X_y=True)
    costs = np.array([[0, 1, 10], [1, 0, 5], [2, 1, 0], [0.3, 0.3, 0.3]])
    model = learn.CostSensitiveClassifier(GaussianNB(), costs, decisions=["a", "b", "c", "ask"]).fit(X, y)
    display = learn.CostDisplay.from_estimator(model, X, y, ax=axes)
    taken = learn.decide(model.predict_proba(X), costs)
    counts = confusion_matrix(y, taken, labels=range(4))[:3].T
    np.testing.assert_allclose(display.matrix, counts * costs / len(y))
    np.testing.assert_allclose(display.expected, model.expected_cost(X).mean(axis=0))
    assert display.decisions == ["a", "b", "c", "ask"]
    assert display.thresholds is None
    each = learn.CostDisplay.from_predictions(
        y, model.predict_proba(X), costs=np.broadcast_to(costs, (150, 4, 3)), decisions="abcd", plot=False
    )
    np.testing.assert_allclose(each.matrix, display.matrix)
    with pytest.raises(ValueError, match="4 decisions, but there are 3 names"):
        learn.CostDisplay.from_predictions(y, model.predict_proba(X), costs=costs, plot=False)


def test_parts_of_scores():
    """Sums are exact, scores are scikit-learn's, base rates have no resolution, calibration is never below 0."""
    loud = Q**3 / np.sum(Q**3, axis=1, keepdims=True)
    right, wrong = learn.score_decomposition(Y, Q), learn.score_decomposition(Y, loud)
    assert right.log.value == pytest.approx(log_loss(Y, Q))
    assert right.brier.value == pytest.approx(brier_score_loss(Y, Q, scale_by_half=False))
    for parts in (right.log, right.brier, wrong.log, wrong.brier):
        assert parts.calibration >= 0.0
        assert parts.calibration + parts.refinement == pytest.approx(parts.value)
        assert parts.uncertainty - parts.resolution == pytest.approx(parts.refinement)
    assert right.log.calibration < 0.005 < 0.1 < wrong.log.calibration
    assert wrong.log.refinement == pytest.approx(right.log.refinement, abs=0.005)
    rates = np.broadcast_to(np.unique(Y, return_counts=True)[1] / len(Y), Q.shape)
    assert learn.score_decomposition(Y, rates).log.resolution == pytest.approx(0.0, abs=1e-3)
    weighted = learn.score_decomposition(Y, loud, sample_weight=np.arange(2000) % 2)
    assert weighted.log.value == pytest.approx(log_loss(Y[1::2], loud[1::2]))


def test_few_rows_have_parts():
    """With a single row of a class nothing can be recalibrated: all is refinement."""
    parts = learn.score_decomposition([0, 0, 1], [0.1, 0.2, 0.9]).log
    assert (parts.calibration, parts.method) == (0.0, "none")
