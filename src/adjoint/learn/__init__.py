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

from .calibration.binning import Bins
from .calibration.classifier import CalibratedClassifier
from .calibration.errors import Estimate, calibration_bins, calibration_error
from .calibration.scaling import MatrixScaling, TemperatureScaling, VectorScaling
from .calibration.scores import BrierScore, brier_score
from .calibration.smooth import smooth_calibration_error
from .conformal.classifier import ConformalClassifier
from .conformal.quantiles import conformal_p_values, conformal_quantile
from .conformal.regressor import ConformalRegressor
from .decision.classifier import CostSensitiveClassifier
from .decision.deciding import decide, expected_cost
from .linear.classifier import LinearClassifier
from .linear.least_squares import LeastSquares
from .linear.logistic import LogisticRegression
from .linear.regressor import LinearRegressor
from .linear.ridge import Ridge

__all__ = [
    "Bins",
    "BrierScore",
    "CalibratedClassifier",
    "ConformalClassifier",
    "ConformalRegressor",
    "CostSensitiveClassifier",
    "Estimate",
    "LeastSquares",
    "LinearClassifier",
    "LinearRegressor",
    "LogisticRegression",
    "MatrixScaling",
    "Ridge",
    "TemperatureScaling",
    "VectorScaling",
    "brier_score",
    "calibration_bins",
    "calibration_error",
    "conformal_p_values",
    "conformal_quantile",
    "decide",
    "expected_cost",
    "smooth_calibration_error",
]
