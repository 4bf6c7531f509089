"""`adjoint.learn` beside scikit-learn, MAPIE, crepes, netcal and relplot: times, memory, coverage, log loss."""
