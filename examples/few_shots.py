"""Few shots: classes that a network has never seen, from a few examples each, by the distance of its features.

python examples/few_shots.py

The network knows the digits 0 to 4, anywhere in a picture. Its hidden layer makes features of any picture; new
classes are the means of the features of their examples (`NearestCentroid`). Among new pictures of the digits that
it knows, the same features find those alike (`NearestNeighbors`), and groups of them without any label (`KMeans`).
"""

import runpy
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestCentroid, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from adjoint import learn

placed = runpy.run_path(str(Path(__file__).with_name("fine_tuning.py")))["placed"]


def main() -> None:
    """Features of the network beside pixels."""
    warnings.filterwarnings("ignore", message=".*zero standard deviation")  # pixels at the border are always 0
    digits, labels = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    old, new = np.flatnonzero(labels < 5), np.flatnonzero(labels >= 5)
    seen = np.tile(old[::2], 12)
    network = learn.MLPClassifier((128, 64), max_iter=40, random_state=0).fit(placed(digits[seen], rng), labels[seen])
    X, y = placed(digits[new], rng), labels[new]
    for shots in (2, 5, 10):
        found: dict[str, list[float]] = {"pixels": [], "features": []}
        for seed in range(10):
            order = np.random.default_rng(seed).permutation(len(y))
            few = np.concatenate([order[y[order] == kind][:shots] for kind in range(5, 10)])
            rest = np.setdiff1d(order, few)
            for name, step in (("pixels", FunctionTransformer()), ("features", FrozenEstimator(network))):
                model = make_pipeline(step, NearestCentroid()).fit(X[few], y[few])
                found[name].append(model.score(X[rest], y[rest]))
        means = "   ".join([f"{name} {np.mean(scores):.3f}" for name, scores in found.items()])
        print(f"{shots:2} examples of each new digit: accuracy   {means}")
    X, y = placed(digits[old[1::2]], rng), labels[old[1::2]]
    for name, values in (("pixels", X), ("features", network.transform(X))):
        _, neighbours = NearestNeighbors(n_neighbors=11).fit(values).kneighbors(values)
        groups = KMeans(5, n_init=10, random_state=0).fit_predict(values)
        alike, rand = np.mean(y[neighbours[:, 1:]] == y[:, None]), adjusted_rand_score(y, groups)
        print(f"{name:8}   of ten neighbours, show the same digit: {alike:.3f}   groups agree with digits: {rand:.3f}")


if __name__ == "__main__":
    main()
