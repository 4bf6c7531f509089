"""SciPy's distances and clusters."""

import numpy as np
import scipy.cluster.vq as vq
import scipy.spatial.distance as distance

from adjoint.testing.laws import Case

rng = np.random.default_rng(7)

U, V, W = rng.normal(size=5), rng.normal(size=5), rng.uniform(0.5, 1.5, size=5)
ROWS, OTHERS = rng.normal(size=(4, 3)), rng.normal(size=(6, 3))
WEIGHTS = rng.uniform(0.5, 1.5, size=3)
SOME = np.array([[1, 0, 1], [1, 1, 0], [1, 1, 1]], bool)
PLAIN = (
    "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean", "minkowski",
    "sqeuclidean",
)  # fmt: skip
DOUBLE = ("value", "tangent", "adjoint", "linearize", "orders", "stacking", "taylor")
COUNTING = ("dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")

CASES = [
    *[Case(name, lambda u, v, n=name: getattr(distance, n)(u, v), (U, V)) for name in PLAIN],
    *[Case(f"{name} w", lambda u, v, w, n=name: getattr(distance, n)(u, v, w=w), (U, V, W)) for name in PLAIN],
    *[Case(name, lambda u, v, n=name: getattr(distance, n)(u, v), (np.abs(U), np.abs(V)), DOUBLE) for name in COUNTING],
    *[
        Case(f"{name} w", lambda w, n=name: getattr(distance, n)(U > 0, V > 0.2, w=w), (W,))
        for name in (*COUNTING, "hamming", "jaccard")
    ],
    Case("minkowski 3", lambda u, v, w: distance.minkowski(u, v, 3, w), (U, V, W)),
    Case("minkowski inf", lambda u, v, w: distance.minkowski(u, v, np.inf, w), (U, V, W)),
    Case("seuclidean", lambda u, v, w: distance.seuclidean(u, v, w), (U, V, W)),
    Case("mahalanobis", lambda u, v, a: distance.mahalanobis(u, v, a @ a.T + np.eye(3)), (*ROWS[:2], ROWS[:3])),
    Case("jensenshannon", lambda u, v: distance.jensenshannon(u, v, 2.0), (np.exp(U), np.exp(V))),
    Case("directed_hausdorff", lambda u, v: distance.directed_hausdorff(u, v)[0], (ROWS, OTHERS)),
    Case("squareform", lambda x: distance.squareform(x), (rng.normal(size=6),)),
    Case("squareform back", lambda x: distance.squareform(x + x.T, checks=False), (rng.normal(size=(4, 4)),)),
    *[Case(f"cdist {name}", lambda x, y, n=name: distance.cdist(x, y, n), (ROWS, OTHERS)) for name in PLAIN],
    *[
        Case(f"cdist {name} w", lambda x, y, w, n=name: distance.cdist(x, y, n, w=w), (ROWS, OTHERS, WEIGHTS))
        for name in PLAIN
    ],
    *[
        Case(f"cdist {name} w", lambda w, n=name: distance.cdist(SOME, OTHERS > -0.3, n, w=w), (WEIGHTS,))
        for name in (*COUNTING, "hamming", "jaccard")
    ],
    *[Case(f"pdist {name}", lambda x, n=name: distance.pdist(x, n), (OTHERS,)) for name in PLAIN],
    Case("cdist p", lambda x, y, w: distance.cdist(x, y, "minkowski", p=2.5, w=w), (ROWS, OTHERS, WEIGHTS)),
    Case("cdist seuclidean", lambda x, y: distance.cdist(x, y, "seuclidean"), (ROWS, OTHERS)),
    Case("cdist seuclidean V", lambda x, v: distance.cdist(x, OTHERS, "seuclidean", V=v), (ROWS, WEIGHTS)),
    Case("cdist mahalanobis", lambda x, y: distance.cdist(x, y, "mahalanobis"), (ROWS, OTHERS)),
    Case("pdist mahalanobis", lambda x, a: distance.pdist(x, "mahalanobis", VI=a @ a.T), (ROWS, ROWS[:3])),
    Case("cdist jensenshannon", lambda x, y: distance.cdist(x, y, "js"), (np.exp(ROWS), np.exp(OTHERS))),
    Case(
        "cdist of a function", lambda x, y: distance.cdist(x, y, lambda u, v: np.sum((u - v) ** 4)), (ROWS[:2], OTHERS)
    ),
    Case("pdist of a function", lambda x: distance.pdist(x, distance.cosine), (ROWS,)),
    Case("whiten", lambda x: vq.whiten(x), (OTHERS,)),
    Case("vq", lambda x, y: vq.vq(x, y)[1], (OTHERS, ROWS)),
]
