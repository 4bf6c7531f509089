"""Pre-training without labels: 1,000 digits, of which 50 have one.

python examples/pretraining.py

A network learns to predict pixels that are hidden from it. Its features help most with a linear model on top; as
the start of a network that is then trained with the labels, they help a little. With 100 labels and more, pixels
are as good.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

from adjoint import learn


def main() -> None:
    """Five choices of digits; accuracy on 797 others."""
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    for labels in (50, 20):
        found: dict[str, list[float]] = {}
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(len(y))
            known, few, new = order[:1000], order[:labels], order[1000:]
            first = learn.MaskedPretrainer((256,), max_iter=100, batch_size=50, random_state=seed).fit(X[known])
            models = {
                "linear model of pixels": learn.LogisticRegression(),
                "linear model of pre-trained features": make_pipeline(
                    FrozenEstimator(first), learn.LogisticRegression()
                ),
                "network": learn.MLPClassifier((256,), max_iter=300, random_state=seed),
                "network, pre-trained": first.classifier(max_iter=300, random_state=seed),
            }
            for name, model in models.items():
                found.setdefault(name, []).append(model.fit(X[few], y[few]).score(X[new], y[new]))
        print(f"{labels} labels: accuracy on new digits, five times")
        for name, scores in found.items():
            print(f"    {name:36}   {np.mean(scores):.3f}   {' '.join([f'{s:.3f}' for s in scores])}")


if __name__ == "__main__":
    main()
