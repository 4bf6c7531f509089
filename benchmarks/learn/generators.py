"""Synthetic tables with known difficulties: those that defaults were chosen on, and others that were looked at once.

Each function takes a number of rows and a generator of random numbers, and gives a frame and a target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

Random = np.random.Generator
Table = tuple[pd.DataFrame, np.ndarray]


def frame(X: np.ndarray) -> pd.DataFrame:
    """Columns with names."""
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])


def drawn(logits: np.ndarray, random: Random) -> np.ndarray:
    """Labels with probabilities softmax(logits)."""
    return np.argmax(logits + random.gumbel(size=logits.shape), axis=1)


def interactions(n: int, random: Random) -> Table:
    """Four classes from products of pairs of 20 columns."""
    X = random.normal(size=(n, 20))
    pairs = np.stack([X[:, 0] * X[:, 1], X[:, 2] * X[:, 3], X[:, 4] * np.abs(X[:, 5]), X[:, 6] + X[:, 7] * X[:, 8]], 1)
    return frame(X), drawn(2.2 * pairs, random)


def clusters(n: int, random: Random) -> Table:
    """Scikit-learn's clusters at the corners of a cube, four classes, 20 columns."""
    X, y = datasets.make_classification(
        n, 20, n_informative=8, n_redundant=4, n_classes=4, n_clusters_per_class=2, flip_y=0.1,
        random_state=int(random.integers(2**31)),
    )  # fmt: skip
    return frame(X), y


def houses(n: int, random: Random) -> Table:
    """Prices of houses: quarters, kinds, dates, missing and skewed numbers, noise that grows with the price."""
    quarters, kinds = random.normal(0.0, 0.35, 25), np.array([0.0, 0.25, -0.15, 0.4])
    quarter, kind = random.integers(25, size=n), random.choice(4, size=n, p=[0.5, 0.3, 0.15, 0.05])
    area = random.lognormal(4.6, 0.35, n)
    rooms = np.clip(np.round(area / 28.0 + random.normal(0.0, 0.8, n)), 1, 12)
    lot = random.lognormal(5.8, 0.9, n)
    year = random.integers(1900, 2022, n)
    sold = pd.Timestamp("2012-01-01") + pd.to_timedelta(random.integers(0, 3650, n), unit="D")
    condition = random.choice(5, size=n, p=[0.05, 0.15, 0.4, 0.3, 0.1])
    distance = random.gamma(2.0, 4.0, n)
    log = (
        4.0 + 0.75 * np.log(area) + 0.05 * rooms + 0.08 * np.log(lot) * (kind == 0) + quarters[quarter] + kinds[kind]
        + 0.08 * (condition - 2) - 0.35 * np.exp(-(((year - 1965) / 18.0) ** 2)) - 0.03 * distance
        + 0.05 * np.asarray((sold - pd.Timestamp("2012-01-01")).days) / 365.0
        + 0.06 * np.cos(2 * np.pi * (np.asarray(sold.month) - 6) / 12) + 0.2 * (distance < 3) * (kind == 1)
    )  # fmt: skip
    price = np.exp(log + random.normal(0.0, 0.12 + 0.01 * distance))
    table = pd.DataFrame(
        {
            "area": area, "rooms": rooms, "lot": np.where(random.random(n) < 0.15, np.nan, lot), "year": year,
            "sold": sold, "distance": distance, "quarter": [f"Q{q}" for q in quarter],
            "kind": np.array(["house", "flat", "cabin", "villa"])[kind],
            "condition": pd.array(np.array(["poor", "fair", "fine", "good", "new"])[condition], dtype="string"),
            "garage": random.random(n) < 0.5,
        }
    )  # fmt: skip
    table.loc[random.random(n) < 0.1, "condition"] = pd.NA
    table.loc[random.random(n) < 0.05, "distance"] = np.nan
    return table, price


def friedman1(n: int, random: Random) -> Table:
    """Friedman's first function, with columns that do not matter."""
    X = random.random((n, 10))
    return frame(X), by_friedman(X) + random.normal(size=n)


def by_friedman(X: np.ndarray) -> np.ndarray:
    """Friedman's first function of five columns."""
    return np.asarray(10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4])


def shops(n: int, random: Random) -> Table:
    """Two classes from categories of high cardinality, with a long tail, and a few numbers."""
    goods, towns = random.normal(0.0, 1.5, 400), random.normal(0.0, 1.0, 80)
    good = np.minimum(random.zipf(1.3, n) - 1, 399)
    town, day = random.integers(80, size=n), random.integers(7, size=n)
    price = random.lognormal(2.0, 1.0, n)
    logit = goods[good] + towns[town] - 0.6 * (np.log(price) - 2.0) * np.sign(towns[town]) + 0.8 * (day >= 5)
    names = np.array(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])
    table = {"good": [f"g{g}" for g in good], "town": [f"t{t}" for t in town], "day": names[day], "price": price}
    return pd.DataFrame(table), drawn(np.stack([0 * logit, logit], 1), random)


def missing(n: int, random: Random) -> Table:
    """Three classes; numbers are missing the more often the larger they are, and that they are says something."""
    X = random.normal(size=(n, 12)) @ (np.eye(12) + 0.3 * random.normal(size=(12, 12)))
    gone = random.random(X.shape) < 1.0 / (1.0 + np.exp(2.0 - 1.5 * X))
    logits = np.stack([X[:, 0] + gone[:, 1], X[:, 2] * X[:, 3], np.sin(2.0 * X[:, 4]) + 1.5 * gone[:, 5]], 1)
    y = drawn(1.5 * logits, random)
    X[gone] = np.nan
    return frame(X), y


def wide(n: int, random: Random) -> Table:
    """200 columns, of which ten matter."""
    X = random.normal(size=(n, 200))
    logit = X[:, :5].sum(1) + 1.5 * X[:, 5] * X[:, 6] + np.abs(X[:, 7]) * X[:, 8] - X[:, 9] ** 2 + 1.0
    return frame(X), drawn(np.stack([0 * logit, logit], 1), random)


def steps(n: int, random: Random) -> Table:
    """A number with jumps along the axes, as trees like it, heavy tails, and skewed columns."""
    X = random.normal(size=(n, 8))
    y = (
        2.0 * (X[:, 0] > 0.3) * (X[:, 1] < 0.5) + 1.5 * (np.abs(X[:, 2]) < 0.4) + (X[:, 3] > 1.0) - (X[:, 4] < -0.5)
        + 0.5 * X[:, 5] + 0.3 * random.standard_t(3, n)
    )  # fmt: skip
    return frame(np.concatenate([X[:, :4], np.exp(2.0 * X[:, 4:])], axis=1)), y


# Looked at once, after all choices were made.


def hastie(n: int, random: Random) -> Table:
    """Whether the sum of ten squares is large."""
    X, y = datasets.make_hastie_10_2(n, random_state=int(random.integers(2**31)))
    return frame(X), y.astype(int)


def impedance(n: int, random: Random) -> Table:
    """Friedman's second function: columns of very different sizes, and five that do not matter."""
    X, y = datasets.make_friedman2(n, noise=75.0, random_state=int(random.integers(2**31)))
    return frame(np.concatenate([X, random.lognormal(0.0, 2.0, (n, 5))], axis=1)), y


def phase(n: int, random: Random) -> Table:
    """Friedman's third function, with five columns that do not matter."""
    X, y = datasets.make_friedman3(n, noise=0.1, random_state=int(random.integers(2**31)))
    return frame(np.concatenate([X, random.random((n, 5))], axis=1)), y


def rings(n: int, random: Random) -> Table:
    """Five classes in shells around the middle, of six columns, with other ones."""
    X, y = datasets.make_gaussian_quantiles(
        n_samples=n, n_features=6, n_classes=5, random_state=int(random.integers(2**31))
    )
    return frame(np.concatenate([X, random.normal(size=(n, 6))], axis=1)), y


def grove(n: int, random: Random) -> Table:
    """Three classes by the sum of random trees of depth three, over numbers and categories."""
    numbers, words = random.normal(size=(n, 8)), random.integers(12, size=(n, 4))
    every = np.concatenate([numbers, words - 5.5], axis=1)
    logits = np.zeros((n, 3))
    for _ in range(30):
        leaf = np.zeros(n, int)
        for _ in range(3):
            column = random.integers(12)
            leaf = 2 * leaf + (every[:, column] > random.choice(every[:, column]))
        logits += random.normal(0.0, 0.6, (8, 3))[leaf]
    table = frame(numbers)
    for k in range(4):
        table[f"c{k}"] = pd.Categorical([f"w{(7 * w) % 12}" for w in words[:, k]])
    return table, drawn(logits, random)


def rides(n: int, random: Random) -> Table:
    """Counts of rides by hour, weekday, weather and station."""
    start = pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 24 * 365, n), unit="h")
    hour, day = np.asarray(start.hour), np.asarray(start.day_of_week)
    station, stations = random.integers(60, size=n), random.normal(0.0, 0.6, 60)
    warm = 12 - 10 * np.cos(2 * np.pi * np.asarray(start.day_of_year) / 365) + random.normal(0.0, 4.0, n)
    rain = random.random(n) < 0.2
    rush = np.exp(-0.5 * (hour - 8.0) ** 2) + np.exp(-0.3 * (hour - 17.5) ** 2)
    rate = np.exp(
        2.0 + stations[station] + np.where(day < 5, 1.5 * rush, 0.8 * np.sin(np.pi * hour / 24)) + 0.03 * warm
    )
    rides = random.poisson(rate * np.where(rain, 0.5, 1.0))
    table = pd.DataFrame({"start": start, "station": [f"s{s}" for s in station], "warm": warm, "rain": rain})
    return table, np.log1p(rides)


Maker = Callable[[int, Random], Any]
CHOSEN_ON: dict[str, tuple[Maker, tuple[int, ...]]] = {
    "interactions": (interactions, (500, 2800, 10000)),
    "clusters": (clusters, (500, 2800, 20000)),
    "houses": (houses, (500, 2000, 10000)),
    "friedman1": (friedman1, (100, 750, 5000)),
    "shops": (shops, (1000, 8000)),
    "missing": (missing, (500, 4000)),
    "wide": (wide, (500, 3000)),
    "steps": (steps, (500, 4000)),
}
"""Tables that defaults were chosen on, with numbers of rows to train with."""
LOOKED_AT_ONCE: dict[str, tuple[Maker, tuple[int, ...]]] = {
    "hastie": (hastie, (500, 4000)),
    "impedance": (impedance, (300, 2000)),
    "phase": (phase, (300, 2000)),
    "rings": (rings, (500, 5000)),
    "grove": (grove, (1000, 8000)),
    "rides": (rides, (1000, 10000)),
}
"""Tables that no choice was made on."""
