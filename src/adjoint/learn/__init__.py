"""Estimators with honest probabilities, behind scikit-learn's interface (`pip install 'adjoint[learn]'`).

>>> from sklearn.datasets import load_breast_cancer
>>> from sklearn.naive_bayes import GaussianNB
>>> from adjoint import learn
>>> X, y = load_breast_cancer(return_X_y=True)
>>> model = learn.CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
>>> careful = learn.CostSensitiveClassifier(model, costs=[[0, 10], [1, 0]]).fit(X, y)
"""

from importlib.util import find_spec

if find_spec("sklearn") is None:
    raise ImportError("adjoint.learn needs scikit-learn:  pip install 'adjoint[learn]'")

from .adapt.fine_tuned import FineTuned
from .adapt.pretraining import MaskedPretrainer
from .bayes.average import BayesianAverage
from .bayes.grid import PosteriorGrid, posterior_grid
from .bayes.laplace import Laplace
from .calibration.binning import Bins
from .calibration.classifier import CalibratedClassifier
from .calibration.decomposition import ScoreDecomposition, ScoreParts, score_decomposition
from .calibration.errors import Estimate, calibration_bins, calibration_error
from .calibration.scaling import MatrixScaling, TemperatureScaling, VectorScaling
from .calibration.scores import BrierScore, brier_score
from .calibration.smooth import smooth_calibration_error
from .conformal.classifier import ConformalClassifier
from .conformal.quantiles import conformal_p_values, conformal_quantile
from .conformal.regressor import ConformalRegressor
from .conformal.risk import RiskControl
from .conformal.shift import density_ratio
from .decision.classifier import CostSensitiveClassifier
from .decision.deciding import decide, expected_cost
from .display.costs import CostDisplay
from .display.reliability import ReliabilityDisplay
from .export.models import to_onnx
from .files import describe, load, save
from .honest.classifier import HonestClassifier
from .honest.regressor import HonestRegressor
from .linear.classifier import LinearClassifier
from .linear.least_squares import LeastSquares
from .linear.logistic import LogisticRegression
from .linear.regressor import LinearRegressor
from .linear.ridge import Ridge
from .network.classifier import MLPClassifier
from .network.ensemble import DeepEnsemble
from .network.regressor import MLPRegressor
from .reporting.report import Report, report
from .sensitivity.effects import Influence, influence
from .sensitivity.leaving import LeaveOneOut, leave_one_out
from .sensitivity.tuning import Tuning, hypergradient, tune
from .table.classifier import TableClassifier
from .table.regressor import TableRegressor

__all__ = [
    "BayesianAverage",
    "Bins",
    "BrierScore",
    "CalibratedClassifier",
    "ConformalClassifier",
    "ConformalRegressor",
    "CostDisplay",
    "CostSensitiveClassifier",
    "DeepEnsemble",
    "Estimate",
    "FineTuned",
    "HonestClassifier",
    "HonestRegressor",
    "Influence",
    "Laplace",
    "LeastSquares",
    "LeaveOneOut",
    "LinearClassifier",
    "LinearRegressor",
    "LogisticRegression",
    "MLPClassifier",
    "MLPRegressor",
    "MaskedPretrainer",
    "MatrixScaling",
    "PosteriorGrid",
    "ReliabilityDisplay",
    "Report",
    "Ridge",
    "RiskControl",
    "ScoreDecomposition",
    "ScoreParts",
    "TableClassifier",
    "TableRegressor",
    "TemperatureScaling",
    "Tuning",
    "VectorScaling",
    "brier_score",
    "calibration_bins",
    "calibration_error",
    "conformal_p_values",
    "conformal_quantile",
    "decide",
    "density_ratio",
    "describe",
    "expected_cost",
    "hypergradient",
    "influence",
    "leave_one_out",
    "load",
    "posterior_grid",
    "report",
    "save",
    "score_decomposition",
    "smooth_calibration_error",
    "to_onnx",
    "tune",
]
