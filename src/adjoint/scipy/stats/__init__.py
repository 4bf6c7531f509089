"""What becomes of SciPy's distributions and statistics on traced values."""

from . import answers, generic, leaves, methods, multivariate, results, seams, summaries

seams.let_run_through()
generic.install()
leaves.install()
methods.install()
summaries.install()
multivariate.install()
results.install()
answers.register()
