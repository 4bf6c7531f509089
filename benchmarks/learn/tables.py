"""`TableClassifier` and `TableRegressor` beside scikit-learn's boosted trees, network and linear models."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.compose import TransformedTargetRegressor, make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from adjoint import learn

from .generators import CHOSEN_ON, LOOKED_AT_ONCE
from .measuring import table

TITLE = "Tables"
HEAD = (
    "Log loss for classes, the root mean squared error as a share of the deviation for numbers, on rows that nobody "
    "has seen; processor seconds of one fit."
)
WORDS = {
    "chosen": "Tables that the defaults of ours were chosen on:",
    "once": "Tables that nothing was chosen on:",
    "small": "Bundled sets (looked at while the defaults were chosen):",
}

UNSEEN = 4000
SMALL: dict[str, Callable[..., Any]] = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "diabetes": datasets.load_diabetes,
}


class Split(NamedTuple):
    """Rows to fit on, and rows to judge by."""

    name: str
    X: Any
    y: Any
    X_new: Any
    y_new: Any

    @property
    def classifies(self) -> bool:
        """Whether the target is classes."""
        return self.y.dtype.kind in "iu"


def splits(which: str, seeds: int) -> Iterator[Split]:
    """All tables of a kind, for each seed."""
    if which == "small":
        for name, load in SMALL.items():
            X, y = load(return_X_y=True)
            y = y.astype(float) if name == "diabetes" else y
            for seed in range(seeds):
                stratify = None if name == "diabetes" else y
                a, b, c, d = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=stratify)
                yield Split(name, a, c, b, d)
        return
    for name, (make, sizes) in (CHOSEN_ON if which == "chosen" else LOOKED_AT_ONCE).items():
        for n in sizes:
            for seed in range(seeds):
                X, y = make(n + UNSEEN, np.random.default_rng(seed))
                yield Split(f"{name} {n}", X.iloc[:n], y[:n], X.iloc[n:].reset_index(drop=True), y[n:])


def numbered(X: pd.DataFrame) -> pd.DataFrame:
    """Dates as days and parts, for peers that take none."""
    X = X.reset_index(drop=True)
    for name in X.select_dtypes("datetime"):
        when = X.pop(name).dt
        X = X.assign(**{f"{name} {part}": getattr(when, part) for part in ("year", "month", "day_of_week", "hour")})
    return X


def encoded(estimator: Any) -> Any:
    """What is usually put in front of a network: one-hot columns, missing values filled in, columns scaled."""
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    words = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2, sparse_output=False)
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include=["number", "bool"])),
        (words, make_column_selector(dtype_exclude=["number", "bool"])),
    )
    return make_pipeline(columns, estimator)


def peers(split: Split, seed: int) -> dict[str, Callable[[], Any]]:
    """Who is compared."""
    words = list(split.X.select_dtypes(exclude=["number", "bool"])) if isinstance(split.X, pd.DataFrame) else None
    trees: dict[str, Any] = {"random_state": seed, "categorical_features": words}
    if split.classifies:
        return {
            "trees": lambda: HistGradientBoostingClassifier(**trees),
            "network": lambda: encoded(MLPClassifier(random_state=seed)),
            "linear": lambda: encoded(LogisticRegression(max_iter=1000)),
        }
    return {
        "trees": lambda: HistGradientBoostingRegressor(**trees),
        "network": lambda: TransformedTargetRegressor(
            encoded(MLPRegressor(random_state=seed)), transformer=StandardScaler()
        ),
        "linear": lambda: encoded(RidgeCV(np.logspace(-3, 3, 13))),
    }


def for_peers(split: Split) -> Split:
    """Frames without dates, words as categories of few enough kinds for trees."""
    X, new = [numbered(x if isinstance(x, pd.DataFrame) else pd.DataFrame(x)) for x in (split.X, split.X_new)]
    for name in X.select_dtypes(exclude=["number", "bool"]):
        often = list(X[name].astype(object).value_counts().index[:250])
        X[name], new[name] = [pd.Categorical(x[name].astype(object), categories=often) for x in (X, new)]
    return split._replace(X=X, X_new=new)


def judged(make: Callable[[], Any], split: Split) -> tuple[float, float, float]:
    """Loss and accuracy on unseen rows, and the CPU time of the fit."""
    model = make()
    began = time.process_time()
    model.fit(split.X, split.y)
    took = time.process_time() - began
    if not split.classifies:
        error = np.sqrt(np.mean((model.predict(split.X_new) - split.y_new) ** 2)) / np.std(split.y_new)
        return float(error), float(1.0 - error**2), took
    p = model.predict_proba(split.X_new)
    hits = accuracy_score(split.y_new, model.predict(split.X_new))
    return log_loss(split.y_new, np.clip(p, 1e-12, 1.0), labels=model.classes_), hits, took


def ours(split: Split, seed: int) -> Callable[[], Any]:
    """The estimator of tables."""
    kind: Any = learn.TableClassifier if split.classifies else learn.TableRegressor
    return lambda: kind(random_state=seed)


def compared(which: str, seeds: int) -> str:
    """A table with loss and seconds of each contestant, means over seeds, and in how many tables ours is ahead."""
    found: dict[str, dict[str, list[tuple[float, float, float]]]] = defaultdict(lambda: defaultdict(list))
    for k, split in enumerate(splits(which, seeds)):
        seed = k % seeds
        found[split.name]["ours"].append(judged(ours(split, seed), split))
        plain = for_peers(split)
        for name, make in peers(plain, seed).items():
            found[split.name][name].append(judged(make, plain))
    losses = {name: {who: np.mean(each, axis=0)[0] for who, each in row.items()} for name, row in found.items()}
    rows = []
    for name, row in found.items():
        seconds = [min(took for _, _, took in each) for each in row.values()]
        rows.append(
            [name, *[f"{loss:.3f} ({took:.2f} s)" for loss, took in zip(losses[name].values(), seconds, strict=True)]]
        )
    for who in ("trees", "network", "linear"):
        ratios = [row["ours"] / row[who] for row in losses.values()]
        mean, ahead = np.exp(np.mean(np.log(ratios))), sum(np.array(ratios) < 1.0)
        rows.append([f"loss over that of {who}", f"{mean:.3f}; smaller on {ahead} of {len(ratios)}", "", "", ""])
    return table(["", "ours", "boosted trees", "network", "linear"], rows)


def measured(rounds: int) -> str:
    """Three tables."""
    parts = [f"{words}\n\n{compared(which, rounds)}" for which, words in WORDS.items()]
    return f"{HEAD}\n\n" + "\n".join(parts)
