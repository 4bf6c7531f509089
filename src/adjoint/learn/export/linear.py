"""Linear models, naive Bayes, and the networks of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t as student

from .registry import InputColumns, Results, converts, labelled, refuse, softmax

if TYPE_CHECKING:
    from .graph import OnnxGraph

REGRESSORS = [
    f"sklearn.{name}" for name in (
        "BayesianRidge", "ElasticNet", "HuberRegressor", "Lasso", "LinearRegression", "LinearSVR", "QuantileRegressor",
        "Ridge", "RidgeCV",
    )
]  # fmt: skip


@converts("learn.Ridge", "learn.LinearRegressor", *REGRESSORS)
def regressor(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """X w + b."""
    value = _linear(g, model, x)
    return {"value": g("Exp", value) if getattr(model, "loss", None) == "poisson" else value}


def _linear(g: OnnxGraph, model: Any, x: InputColumns) -> str:
    coef = np.asarray(model.coef_)
    value = g.affine(x.numbers(), np.atleast_2d(coef).T, model.intercept_)
    return value if coef.ndim == 2 else g("Squeeze", value, np.array([1]))


@converts("learn.LeastSquares")
def least_squares(g: OnnxGraph, model: Any, x: InputColumns, coverage: float | None) -> Results:
    """With intervals by Student's t, where there are rows enough."""
    value = _linear(g, model, x)
    if not model.degrees_of_freedom_ > 0.0:
        return {"value": value}
    moved = g("Sub", x.numbers(), model._centre)
    of_mean = model.sigma2_ * (1.0 + (1.0 / model._total if model.fit_intercept else 0.0))
    square = g("Add", g.total(g("Mul", g.affine(moved, model.covariance_), moved)), np.array(of_mean))
    share = 0.95 if coverage is None else coverage
    deviation = g("Sqrt", square)
    half = g("Mul", deviation, np.array(student.ppf(0.5 + 0.5 * share, model.degrees_of_freedom_)))
    ends = [g.standing(g("Sub", value, half)), g.standing(g("Add", value, half))]
    return {"value": value, "interval": g.joined(*ends), "deviation": deviation}


def scored(g: OnnxGraph, model: Any, scores: str, *, columns: int) -> Results:
    """The label of the greatest score; of a single column, whether it is above 0."""
    if columns > 1:
        return {"logits": scores, "label": labelled(g, model.classes_, scores)}
    both = g.joined(g("Mul", scores, np.array(0.0)), scores)
    return {"logits": both, "label": labelled(g, model.classes_, both)}


@converts("learn.LogisticRegression", "learn.LinearClassifier", "sklearn.LogisticRegression",
          "sklearn.LogisticRegressionCV", "sklearn.RidgeClassifier", "sklearn.LinearSVC")  # fmt: skip
def classifier(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Scores X W + b, and their softmax where they are logits."""
    coef = np.atleast_2d(model.coef_)
    found = scored(g, model, g.affine(x.numbers(), coef.T, model.intercept_), columns=len(coef))
    if not hasattr(model, "predict_proba"):
        return found
    if getattr(model, "solver", None) == "liblinear" and len(model.classes_) > 2:
        raise refuse(model, "solver='liblinear' and several classes")
    temperature = getattr(model, "temperature", 1.0)
    if temperature in (0.0, np.inf):
        raise refuse(model, f"temperature={temperature}")
    found["probabilities"] = softmax(g, g("Div", found["logits"], np.array(float(temperature))))
    return found


@converts("sklearn.GaussianNB")
def naive_bayes(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """log prior - sum (x - mean)^2 / (2 variance) - sum log(2 pi variance) / 2, for each class."""
    apart = g("Sub", g("Unsqueeze", x.numbers(), np.array([1])), model.theta_[None])
    distance = g.total(g("Div", g("Mul", apart, apart), 2.0 * model.var_[None]), axis=2)
    offset = np.log(model.class_prior_) - 0.5 * np.sum(np.log(2.0 * np.pi * model.var_), axis=1)
    logits = g("Sub", offset[None], distance)
    return {"probabilities": softmax(g, logits), "label": labelled(g, model.classes_, logits)}


@converts("sklearn.MLPClassifier", "sklearn.MLPRegressor")
def perceptron(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Layers of scikit-learn's networks."""
    names = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid", "identity": "Identity"}
    value = x.numbers()
    for k, (weight, offset) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        value = g.affine(value, weight, offset)
        if k < len(model.coefs_) - 1:
            value = g(names[model.activation], value)
    if not hasattr(model, "classes_"):
        if model.out_activation_ != "identity":
            raise refuse(model, f"the output {model.out_activation_!r}")
        return {"value": value if model.n_outputs_ > 1 else g("Squeeze", value, np.array([1]))}
    if np.ndim(model.classes_[0]) or (model.n_outputs_ > 1 and model.out_activation_ != "softmax"):
        raise refuse(model, "several labels for each row")
    found = scored(g, model, value, columns=model.n_outputs_)
    return {**found, "probabilities": softmax(g, found["logits"])}


@converts("sklearn.DummyClassifier", "sklearn.DummyRegressor")
def dummy(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """The same for every row."""
    rows = g.total(g("Mul", x.only([0]).numbers(), np.array(0.0)), keep=True)
    if not hasattr(model, "classes_"):
        return {"value": g("Squeeze", g("Add", rows, np.ravel(model.constant_)[:1]), np.array([1]))}
    if model.strategy not in ("prior", "most_frequent"):
        raise refuse(model, f"strategy={model.strategy!r}")
    p = model.class_prior_ if model.strategy == "prior" else np.eye(len(model.classes_))[np.argmax(model.class_prior_)]
    probabilities = g("Add", rows, p[None])
    return {"probabilities": probabilities, "label": labelled(g, model.classes_, probabilities)}
