"""Fine-tuning: a network that knows the digits 0 to 4 learns 5 to 9 from ten examples each.

python examples/fine_tuning.py

Digits lie anywhere in a larger picture, so pixels say little by themselves. What the network has learned about
digits that lie anywhere is of use for those that it has never seen. (Where pixels are enough, as in pictures of
which the digit fills the whole, there is nothing to gain.)
"""

import numpy as np
from sklearn.datasets import load_digits

from adjoint import learn, nn

WIDE = 11


def placed(digits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Digits of 8 x 8 pixels, each somewhere in a picture of 11 x 11."""
    pictures = np.zeros((len(digits), WIDE, WIDE))
    for picture, digit, (i, j) in zip(pictures, digits, rng.integers(0, WIDE - 7, (len(digits), 2)), strict=True):
        picture[i : i + 8, j : j + 8] = digit.reshape(8, 8) / 16.0
    return pictures.reshape(len(digits), -1)


def main() -> None:
    """Five choices of examples; accuracy on all other new digits."""
    digits, labels = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    old = np.tile(np.flatnonzero(labels < 5), 6)
    network = learn.MLPClassifier((128, 64), max_iter=40, random_state=0).fit(placed(digits[old], rng), labels[old])
    new = labels >= 5
    X, y = placed(digits[new], rng), labels[new]
    ways = {
        "from scratch": learn.MLPClassifier((128, 64), max_iter=200),
        "all parameters": learn.FineTuned(network, train="all", max_iter=200),
        "low-rank": learn.FineTuned(network, train="low-rank", rank=4, max_iter=200),
        "biases and head": learn.FineTuned(network, train="biases", max_iter=200),
        "head": learn.FineTuned(network, train="head", max_iter=200),
    }
    print("trained           numbers   accuracy on new digits, five times")
    for name, model in ways.items():
        scores = []
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(len(y))
            few = np.concatenate([order[y[order] == kind][:10] for kind in range(5, 10)])
            rest = np.setdiff1d(order, few)
            model.set_params(random_state=seed).fit(X[few], y[few])
            scores.append(model.score(X[rest], y[rest]))
        count = getattr(model, "n_trained_parameters_", None) or nn.count_parameters(model.model_)
        print(f"{name:15}   {count:7,}   {np.mean(scores):.3f}   {' '.join([f'{s:.3f}' for s in scores])}")


if __name__ == "__main__":
    main()
