"""Networks behind scikit-learn's interface: classifiers, regressors with distributions, ensembles."""
