"""The models that `adjoint fit` knows by name."""

from __future__ import annotations

from typing import Any

import numpy as np

MODELS = {
    "table": ("TableClassifier", "TableRegressor"),
    "linear": ("LogisticRegression", "Ridge"),
    "mlp": ("MLPClassifier", "MLPRegressor"),
    "forest": ("RandomForestClassifier", "RandomForestRegressor"),
}
"""By name: a classifier and a regressor, of `adjoint.learn` or of scikit-learn."""
TAKE_FRAMES = ("table",)
"""Those that take texts, dates and missing values as they are."""
DEFAULT = "table"


def model_of(name: str, task: str, *, seed: int) -> Any:
    """The estimator of a name, with what it takes to read a frame."""
    import sklearn.ensemble

    from adjoint import learn

    wanted = MODELS[name][task == "regress"]
    estimator = getattr(learn if hasattr(learn, wanted) else sklearn.ensemble, wanted)()
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=seed)
    if wanted == "Ridge":
        estimator.set_params(alpha="loo")
    return estimator if name in TAKE_FRAMES else _with_columns(estimator)


def _with_columns(estimator: Any) -> Any:
    """An estimator of numbers behind imputation, scaling and a column for each category."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True), StandardScaler()
    )
    texts = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5, max_categories=50, sparse_output=False)
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include=np.number)),
        (texts, make_column_selector(dtype_exclude=np.number)),
        sparse_threshold=0.0,
    )
    return make_pipeline(columns, estimator)


def honest(estimator: Any, task: str, *, costs: Any, coverage: float, seed: int) -> Any:
    """The estimator with calibrated probabilities, sets or intervals, and decisions by cost."""
    from adjoint import learn

    if task == "regress":
        return learn.HonestRegressor(estimator, coverage=coverage, random_state=seed)
    return learn.HonestClassifier(estimator, costs=costs, coverage=coverage, random_state=seed)
