"""A page about a model: how good, how sure, what it costs, where it errs."""
