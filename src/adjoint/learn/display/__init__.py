"""Pictures of probabilities and of costs, in scikit-learn's manner."""
