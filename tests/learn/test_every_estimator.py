"""Every estimator that `adjoint.learn` offers can be saved, loaded and exported: a new one takes a line here."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression

from adjoint import learn

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from tests.learn.test_onnx import METHODS, run

NET = {"max_iter": 3, "random_state": 0}
SMALL = {"hidden_layer_sizes": (5,), **NET}


def classifier(**more):
    return learn.MLPClassifier(**SMALL, **more)


def regressor(**more):
    return learn.MLPRegressor(**SMALL, **more)


CLASSES, NUMBERS, TABLE = "classes", "numbers", "table"
ESTIMATORS = {
    "BayesianAverage": [
        (CLASSES, lambda: learn.BayesianAverage([learn.LogisticRegression(), LogisticRegression()], weights="equal")),
        (NUMBERS, lambda: learn.BayesianAverage([learn.Ridge(), learn.LeastSquares()])),
    ],
    "CalibratedClassifier": [(CLASSES, lambda: learn.CalibratedClassifier(LogisticRegression(), "temperature", cv=2))],
    "ConformalClassifier": [(CLASSES, lambda: learn.ConformalClassifier(LogisticRegression(), random_state=0))],
    "ConformalRegressor": [(NUMBERS, lambda: learn.ConformalRegressor(learn.Ridge(), random_state=0))],
    "CostSensitiveClassifier": [(CLASSES, lambda: learn.CostSensitiveClassifier(LogisticRegression(), 1 - np.eye(3)))],
    "DeepEnsemble": [
        (CLASSES, lambda: learn.DeepEnsemble(classifier(), n_members=2, random_state=0)),
        (NUMBERS, lambda: learn.DeepEnsemble(regressor(), n_members=2, random_state=0)),
    ],
    "FineTuned": [
        (CLASSES, lambda: learn.FineTuned(classifier().fit(*data(CLASSES)), train="head", random_state=0)),
        (CLASSES, lambda: learn.FineTuned(classifier().fit(*data(CLASSES)), train="low-rank", random_state=0)),
    ],
    "HonestClassifier": [(CLASSES, lambda: learn.HonestClassifier(LogisticRegression(), cv=2, random_state=0))],
    "HonestRegressor": [(NUMBERS, lambda: learn.HonestRegressor(cv=2, random_state=0))],
    "Laplace": [
        (CLASSES, lambda: learn.Laplace(classifier(), weights="last")),
        (CLASSES, lambda: learn.Laplace(learn.LogisticRegression())),
        (NUMBERS, lambda: learn.Laplace(regressor(), weights="last", curvature="kron")),
        (NUMBERS, lambda: learn.Laplace(learn.Ridge())),
    ],
    "LeastSquares": [(NUMBERS, lambda: learn.LeastSquares())],
    "LinearClassifier": [(CLASSES, lambda: learn.LinearClassifier())],
    "LinearRegressor": [(NUMBERS, lambda: learn.LinearRegressor())],
    "LogisticRegression": [(CLASSES, lambda: learn.LogisticRegression())],
    "MLPClassifier": [(CLASSES, classifier), (CLASSES, lambda: classifier(norm="batch", activation="gelu"))],
    "MLPRegressor": [(NUMBERS, lambda d=d: regressor(distribution=d)) for d in (None, "gaussian", "quantiles")],
    "MaskedPretrainer": [(CLASSES, lambda: learn.MaskedPretrainer((4, 3), **NET))],
    "MatrixScaling": [("logits", lambda: learn.MatrixScaling())],
    "Ridge": [(NUMBERS, lambda: learn.Ridge())],
    "RiskControl": [(CLASSES, lambda: learn.RiskControl(LogisticRegression(), random_state=0))],
    "TableClassifier": [(TABLE, lambda: learn.TableClassifier(**NET)), (CLASSES, lambda: learn.TableClassifier(**NET))],
    "TableRegressor": [(NUMBERS, lambda: learn.TableRegressor(**NET))],
    "TemperatureScaling": [("logits", lambda: learn.TemperatureScaling())],
    "VectorScaling": [("logits", lambda: learn.VectorScaling())],
}  # fmt: skip
CASES = [(name, *case) for name, cases in ESTIMATORS.items() if hasattr(learn, name) for case in cases]


def data(kind):
    """Rows and targets."""
    rng = np.random.default_rng(0)
    if kind == "logits":
        return rng.normal(size=(60, 3)), np.arange(60) % 3
    if kind == NUMBERS:
        X, y = load_diabetes(return_X_y=True)
        return 10 * X[:80], y[:80]
    if kind == CLASSES:
        X, y = load_iris(return_X_y=True)
        return (X + rng.normal(size=X.shape))[::2], y[::2]
    words = rng.choice(["red", "green", None], 80)
    table = pd.DataFrame(
        {"size": rng.normal(size=80), "word": words, "day": pd.date_range("1899-12-25", periods=80, freq="987D")}
    )
    table.loc[3, "size"] = np.nan
    table.loc[5, "day"] = pd.NaT
    return table, np.where(table["size"].fillna(0) + (words == "red") > 0.2, "yes", "no")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "kind", "make"), CASES, ids=[f"{n}-{k}-{i}" for i, (n, k, _) in enumerate(CASES)])
def test_saved_and_exported(name, kind, make, tmp_path):
    """What is loaded predicts the same to the last bit, what is exported to 1e-6."""
    X, y = data(kind)
    model = make().fit(X, y)
    learn.save(model, tmp_path / "m.adjoint")
    loaded = learn.load(tmp_path / "m.adjoint")
    for method in ("predict", "predict_proba", "predict_set", "predict_interval", "transform"):
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))
    found = run(model, X, tmp_path)
    assert found
    for output, given in found.items():
        if output == "deviation":
            expected = np.asarray(model.predict(X, return_std=True)[1])
        else:
            own = {"probabilities": "transform"} if kind == "logits" else {}
            expected = np.asarray(getattr(model, {**METHODS, **own}[output])(X))
        if expected.dtype.kind in "OUb":
            assert given.tolist() == expected.tolist()
        else:
            np.testing.assert_allclose(given, expected, rtol=1e-6, atol=1e-6, err_msg=output)


def test_all_are_here():
    """No estimator is left out."""
    offered = {n for n in learn.__all__ if isinstance(getattr(learn, n), type) and hasattr(getattr(learn, n), "fit")}
    assert offered <= set(ESTIMATORS)
