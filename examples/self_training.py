"""Self-training: a network labels what it is sure of, and learns from that too.

python examples/self_training.py

1,200 digits, of which 100 have labels: scikit-learn's `SelfTrainingClassifier` around our network. It helps if the
network is right where it is sure; with 50 labels it is not yet, learns its own errors, and gets worse.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.semi_supervised import SelfTrainingClassifier

from adjoint import learn


def main() -> None:
    """Four choices of digits; accuracy on 597 others."""
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    for labels in (100, 50):
        alone, taught = [], []
        for seed in range(4):
            order = np.random.default_rng(seed).permutation(len(y))
            known, new = order[:1200], order[1200:]
            partly = np.where(np.arange(1200) < labels, y[known], -1)  # -1 means that there is no label
            network = learn.MLPClassifier((64,), max_iter=100, learning_rate_init=0.01, random_state=seed)
            network.fit(X[known[:labels]], y[known[:labels]])
            alone.append(network.score(X[new], y[new]))
            model = SelfTrainingClassifier(network, threshold=0.75, max_iter=5).fit(X[known], partly)
            taught.append(model.score(X[new], y[new]))
        print(f"{labels} labels alone               {np.mean(alone):.3f}   {' '.join([f'{s:.3f}' for s in alone])}")
        print(f"with {1200 - labels} digits without   {np.mean(taught):.3f}   {' '.join([f'{s:.3f}' for s in taught])}")


if __name__ == "__main__":
    main()
