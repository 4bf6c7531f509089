"""A classifier for tests whose probabilities are known."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are its features."""

    def fit(self, X, y):
        """Note the classes."""
        self.classes_ = np.arange(X.shape[1])
        return self

    def predict_proba(self, X):
        """As given."""
        return X

    def predict(self, X):
        """The likeliest."""
        return np.argmax(X, axis=1)
