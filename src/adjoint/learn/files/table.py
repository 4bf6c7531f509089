"""What a file may hold by name: classes of this library and of scikit-learn, and functions. Nothing else is made.

A file says "sklearn.StandardScaler"; the name is looked up here, and never imported. A new estimator of `adjoint.learn`
is known by itself, one of scikit-learn's takes its name in `SKLEARN`.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint import losses, nn, optim

ROOM = __name__.rpartition(".files.")[0]

SKLEARN = {
    "calibration": ("CalibratedClassifierCV", "_CalibratedClassifier", "_SigmoidCalibration", "_TemperatureScaling"),
    "compose": ("ColumnTransformer", "TransformedTargetRegressor", "make_column_selector"),
    "compose._column_transformer": ("_RemainderColsList",),
    "decomposition": ("PCA", "TruncatedSVD"),
    "dummy": ("DummyClassifier", "DummyRegressor"),
    "ensemble": ("BaggingClassifier", "BaggingRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor",
                 "RandomForestClassifier", "RandomForestRegressor", "VotingClassifier", "VotingRegressor"),
    "feature_selection": ("SelectKBest", "SelectPercentile", "VarianceThreshold"),
    "frozen": ("FrozenEstimator",),
    "impute": ("MissingIndicator", "SimpleImputer"),
    "isotonic": ("IsotonicRegression",),
    "linear_model": ("BayesianRidge", "ElasticNet", "HuberRegressor", "Lasso", "LinearRegression", "LogisticRegression",
                     "LogisticRegressionCV", "QuantileRegressor", "Ridge", "RidgeClassifier", "RidgeCV"),
    "model_selection": ("GroupKFold", "KFold", "LeaveOneOut", "RepeatedKFold", "RepeatedStratifiedKFold",
                        "ShuffleSplit", "StratifiedKFold", "StratifiedShuffleSplit"),
    "naive_bayes": ("BernoulliNB", "GaussianNB", "MultinomialNB"),
    "neighbors": ("NearestCentroid",),
    "neural_network": ("MLPClassifier", "MLPRegressor"),
    "neural_network._stochastic_optimizers": ("AdamOptimizer", "SGDOptimizer"),
    "pipeline": ("FeatureUnion", "Pipeline"),
    "preprocessing": ("FunctionTransformer", "KBinsDiscretizer", "LabelBinarizer", "LabelEncoder", "MaxAbsScaler",
                      "MinMaxScaler", "Normalizer", "OneHotEncoder", "OrdinalEncoder", "PolynomialFeatures",
                      "PowerTransformer", "QuantileTransformer", "RobustScaler", "StandardScaler",
                      "TargetEncoder"),
    "svm": ("LinearSVC", "LinearSVR"),
    "tree": ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor"),
    "utils": ("Bunch",),
}  # fmt: skip
"""Classes of scikit-learn, by module: arrays, numbers and texts are all that objects of these hold.

Missing are those whose compiled code trusts its own attributes, so that a file could make it read outside of its
arrays (neighbours, k-means, boosted histograms); trees and encoders are here because `checks.py` looks at theirs.
"""

FUNCTIONS = {
    "numpy": ("arcsinh", "arctanh", "cbrt", "exp", "expm1", "log", "log10", "log1p", "log2", "sign", "sqrt", "square",
              "tanh", "abs", "nanmean", "nanmedian", "mean", "median"),
    "sklearn.feature_selection": ("chi2", "f_classif", "f_regression", "mutual_info_classif", "mutual_info_regression"),
}  # fmt: skip
"""Functions that parameters may be, besides those of `nn` and `losses`."""

TYPES = (
    bool, int, float, str, object, np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
    np.uint64, np.float16, np.float32, np.float64, np.str_, np.number, np.integer, np.floating,
)  # fmt: skip
"""Types that parameters may be, as `OneHotEncoder(dtype=np.float64)` has one."""

DROPPED = {"fit_", "callbacks"}
"""Attributes of this library's estimators that are about training and not about predictions: they are not saved."""


@functools.cache
def classes() -> dict[str, type]:
    """All classes by name."""
    named: dict[str, type] = {
        f"nn.{kind.__name__}": kind
        for kind in vars(nn).values()
        if dataclasses.is_dataclass(kind) and inspect.isclass(kind)
    }
    for module, names in SKLEARN.items():
        home = importlib.import_module(f"sklearn.{module}")
        named |= {f"sklearn.{name}": getattr(home, name) for name in names if hasattr(home, name)}
    own = [x for x in _of_this_room() if inspect.isclass(x) and not issubclass(x, BaseException)]
    return named | {f"learn.{kind.__name__}": kind for kind in own}


def _of_this_room() -> Iterator[Any]:
    """Whatever modules of this room define: estimators, and the small classes that they are made of."""
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{ROOM}.") and not name.startswith((f"{ROOM}.files", f"{ROOM}.export")) and module:
            yield from [x for x in vars(module).values() if getattr(x, "__module__", None) == name]


@functools.cache
def functions() -> dict[str, Any]:
    """All functions by name."""
    named = {f"{module.__name__}.{name}": getattr(module, name) for module in (nn, losses) for name in module.__all__}
    named = {name.partition(".")[2]: f for name, f in named.items() if inspect.isfunction(f)}
    for module, names in FUNCTIONS.items():
        home = importlib.import_module(module)
        named |= {f"{module}.{name}": getattr(home, name) for name in names}
    return named


@functools.cache
def optimizers() -> dict[str, Any]:
    """Calls that make optimisers, by name."""
    return {name: getattr(optim, name) for name in optim.__all__ if callable(getattr(optim, name))}
