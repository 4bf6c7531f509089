"""Influence: which rows harm a model, found by differentiating its fit.

python examples/influence.py

One label in ten is wrong. Rows are ranked by d loss / d weight on clean validation rows, and the tenth that harms
most is left out. All of it is one fit; fitting again without each row would be 300.
"""

import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adjoint import learn


def main() -> None:
    """Five splits of the breast cancer data: 300 rows to fit, 100 to judge rows by, 169 to test with."""
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), learn.LogisticRegression(0.1))
    print("seed   wrong labels among the 30 worst   test log loss: as given   without the 30   without wrong ones")
    sums = np.zeros(3)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        train, judge, test = np.split(rng.permutation(len(y)), [300, 400])
        wrong = np.arange(30)  # of rows that are in random order
        labels = y[train].copy()
        labels[wrong] = 1 - labels[wrong]
        worst = learn.influence(model, X[train], labels, on=(X[judge], y[judge])).most(30)
        every = np.arange(300)
        found = []
        for rows in (every, np.setdiff1d(every, worst), np.setdiff1d(every, wrong)):
            p = model.fit(X[train][rows], labels[rows]).predict_proba(X[test])
            found.append(log_loss(y[test], p))
        sums += found
        print(f"{seed:4}   {np.sum(worst < 30):31}   {found[0]:23.3f}   {found[1]:14.3f}   {found[2]:18.3f}")
    print(f"mean   {'':31}   {sums[0] / 5:23.3f}   {sums[1] / 5:14.3f}   {sums[2] / 5:18.3f}")
    scaled = StandardScaler().fit_transform(X[:300])
    for name, method in (("by one Newton step", "auto"), ("by 300 fits", "refit")):
        start = time.perf_counter()
        left_out = learn.leave_one_out(learn.LogisticRegression(0.1), scaled, y[:300], method=method)
        took = time.perf_counter() - start
        print(f"leave one out {name:18}   log loss {np.mean(left_out.losses):.5f}   {1000 * took:7.1f} ms")


if __name__ == "__main__":
    main()
