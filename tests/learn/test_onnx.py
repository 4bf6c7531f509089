"""Models as ONNX graphs: onnxruntime computes what the models predict."""

import re

import numpy as np
import pytest
from sklearn import dummy, ensemble, linear_model, naive_bayes, neural_network, preprocessing, tree
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline, make_union

from adjoint import learn, nn
from tests.learn.file_fuzzing import frame

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

LOGISTIC = linear_model.LogisticRegression(max_iter=1000)
TOLERANCE = 1e-6
METHODS = {
    "label": "predict", "decision": "predict", "probabilities": "predict_proba", "value": "predict",
    "set": "predict_set", "interval": "predict_interval", "deviation": "predict", "expected_cost": "expected_cost",
    "output": "transform",
}  # fmt: skip


def as_input(column, kind, dtype):
    """A column of a frame as an input: texts, of which the empty one is missing; seconds since 1970; or numbers."""
    if kind == "tensor(string)":
        return np.array([["" if v is None or v != v else v] for v in column], dtype=object)
    if kind == "tensor(int64)":
        return column.to_numpy().astype("datetime64[s]").astype(np.int64)[:, None]
    return column.to_numpy().astype(dtype)[:, None]


def run(model, X, folder, **options):
    """What onnxruntime gives, by name of the output."""
    path = folder / "m.onnx"
    learn.to_onnx(model, path, **options)
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    dtype = options.get("dtype", np.float64)
    given = {}
    for entry in session.get_inputs():
        if entry.name == "X":
            given["X"] = np.asarray(X, dtype=dtype)
        elif entry.name == "chance":
            given["chance"] = model._luck(len(X)).T.astype(dtype)
        else:
            given[entry.name] = as_input(X[entry.name], entry.type, dtype)
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, given), strict=True))


def check(model, X, folder, tolerance=TOLERANCE, **options):
    """Every output is what the model's own method gives; there is an output for each that predicts."""
    found = run(model, X, folder, **options)
    for name, given in found.items():
        if name == "label" and "decision" in found:
            continue
        last, rows = (model, X) if hasattr(model, METHODS[name]) else (model[-1], model[:-1].transform(X))
        expected = getattr(last, METHODS[name])(rows) if name != "deviation" else last.predict(rows, return_std=True)[1]
        expected = expected.toarray() if hasattr(expected, "toarray") else np.asarray(expected)
        assert given.shape == expected.shape, name
        if expected.dtype.kind in "OUb" or name in ("label", "decision"):
            assert given.tolist() == expected.tolist(), name
        else:
            np.testing.assert_allclose(given, expected, rtol=tolerance, atol=tolerance, err_msg=name)
    has = {METHODS[name] for name in found}
    assert {m for m in METHODS.values() if hasattr(model, m) and m != "transform"} <= has | {"expected_cost"}
    return found


CLASSIFIERS = [
    LOGISTIC,
    linear_model.RidgeClassifier(),
    naive_bayes.GaussianNB(),
    neural_network.MLPClassifier((5,), max_iter=20, random_state=0),
    tree.DecisionTreeClassifier(max_depth=4, random_state=0),
    ensemble.RandomForestClassifier(5, random_state=0),
    ensemble.ExtraTreesClassifier(3, random_state=0),
    ensemble.VotingClassifier([("a", LOGISTIC), ("b", naive_bayes.GaussianNB())], voting="soft", weights=[2, 1]),
    dummy.DummyClassifier(),
    learn.LogisticRegression(),
    learn.LogisticRegression(temperature=3.0),
    learn.LinearClassifier("hinge"),
    learn.LinearClassifier("logistic"),
    learn.CalibratedClassifier(LOGISTIC, "temperature", cv=2),
    learn.CalibratedClassifier(learn.LogisticRegression(), "vector", cv=2),
    learn.CalibratedClassifier(naive_bayes.GaussianNB(), "matrix", cv=2),
    learn.CalibratedClassifier(LOGISTIC, "isotonic", cv=2),
    learn.CalibratedClassifier(LOGISTIC, "venn-abers", cv=2),
    learn.CostSensitiveClassifier(LOGISTIC),
    learn.CostSensitiveClassifier(learn.CalibratedClassifier(LOGISTIC, "temperature", cv=2), costs="COSTS"),
    *[learn.ConformalClassifier(LOGISTIC, method=m, random_state=0) for m in ("lac", "aps", "raps", "saps")],
    learn.ConformalClassifier(LOGISTIC, cv=3, random_state=0, coverage=0.8),
    learn.ConformalClassifier(LOGISTIC, method="aps", cv=3, random_state=0, allow_empty=False),
    learn.ConformalClassifier(LOGISTIC, cv=2, by="class", random_state=0, coverage=0.8),
    learn.ConformalClassifier(LOGISTIC, cv=0.5, by="class", random_state=0, coverage=0.8),
    learn.HonestClassifier(LOGISTIC, random_state=0, cv=3),
    learn.HonestClassifier(linear_model.RidgeClassifier(), costs="COSTS", random_state=0, cv=0.4, coverage=0.8),
    make_pipeline(preprocessing.StandardScaler(), learn.ConformalClassifier(LOGISTIC, random_state=0)),
]
REGRESSORS = [
    *[getattr(linear_model, n)() for n in ("LinearRegression", "Ridge", "Lasso", "ElasticNet", "BayesianRidge")],
    neural_network.MLPRegressor(hidden_layer_sizes=(5, 3), activation="tanh", max_iter=20, random_state=0),
    tree.DecisionTreeRegressor(max_depth=5, random_state=0),
    ensemble.RandomForestRegressor(5, max_depth=5, random_state=0),
    learn.LeastSquares(),
    learn.Ridge("loo"),
    learn.LinearRegressor("poisson"),
    learn.LinearRegressor("quantile", quantile=0.8),
    *[
        learn.ConformalRegressor(linear_model.Ridge(), method=m, random_state=0)
        for m in ("absolute", "normalised", "distribution")
    ],
    learn.ConformalRegressor(learn.LeastSquares(), method="distribution", random_state=0),
    learn.ConformalRegressor(learn.LinearRegressor("quantile"), method="quantile", random_state=0),
    learn.ConformalRegressor(linear_model.Ridge(), cv=3, random_state=0),
    learn.HonestRegressor(random_state=0, cv=3),
    learn.ConformalRegressor(linear_model.Ridge(), cv=3, method="distribution", random_state=0),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("labels", ["three", "two", "texts"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_classifiers(model, labels, tmp_path):
    """Labels, probabilities, sets, decisions and costs, for two and for three classes, numbers or texts."""
    X, y = load_iris(return_X_y=True)
    noisy = X + np.random.default_rng(0).normal(size=X.shape)
    if labels == "two":
        noisy, y = noisy[y > 0], y[y > 0]
    elif labels == "texts":
        y = np.array(["a", "bb", "c"])[y]
    if getattr(model, "costs", None) is not None:
        count = len(np.unique(y))
        model.set_params(
            costs=np.arange(count * (count + 1.0)).reshape(count + 1, count) % 5, decisions=list("abcd")[: count + 1]
        )
    new = noisy + 0.01
    check(model.fit(noisy, y), new, tmp_path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", REGRESSORS, ids=lambda m: type(m).__name__)
def test_regressors(model, tmp_path):
    """Values and intervals."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150] * 10, y[:150]
    if getattr(model, "loss", "") == "poisson":
        y = np.round(y / 50)
    check(model.fit(X, y), X + 0.003, tmp_path)


TRANSFORMERS = [
    preprocessing.StandardScaler(),
    preprocessing.StandardScaler(with_mean=False),
    preprocessing.MinMaxScaler(clip=True),
    preprocessing.MaxAbsScaler(),
    preprocessing.RobustScaler(),
    preprocessing.Normalizer(),
    preprocessing.PolynomialFeatures(3),
    preprocessing.PolynomialFeatures(2, include_bias=False, interaction_only=True),
    preprocessing.QuantileTransformer(n_quantiles=20),
    preprocessing.FunctionTransformer(),
    preprocessing.FunctionTransformer(np.log1p),
    preprocessing.OneHotEncoder(handle_unknown="ignore"),
    preprocessing.OneHotEncoder(drop="first"),
    preprocessing.OneHotEncoder(min_frequency=20, handle_unknown="infrequent_if_exist"),
    preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    PCA(2, whiten=True),
    SelectKBest(k=2),
    VarianceThreshold(0.3),
    make_union(PCA(2), preprocessing.StandardScaler()),
    *[
        preprocessing.KBinsDiscretizer(4, encode=e, quantile_method="averaged_inverted_cdf")
        for e in ("ordinal", "onehot", "onehot-dense")
    ],
]


@pytest.mark.parametrize("model", TRANSFORMERS, ids=lambda m: type(m).__name__)
def test_transformers(model, tmp_path):
    """What is fitted to numbers."""
    X, y = load_iris(return_X_y=True)
    check(model.fit(X, y), X, tmp_path)
    if isinstance(model, (preprocessing.QuantileTransformer, preprocessing.KBinsDiscretizer)):
        check(model, X + 0.037, tmp_path)


@pytest.mark.parametrize("indicator", [False, True])
def test_missing_numbers(indicator, tmp_path):
    """Imputed, and said beside, if asked for."""
    X, _ = load_iris(return_X_y=True)
    X[::7, 1] = np.nan
    check(SimpleImputer(strategy="median", add_indicator=indicator).fit(X), X, tmp_path)


@pytest.mark.parametrize(
    "encoder",
    [
        preprocessing.OneHotEncoder(handle_unknown="ignore"),
        preprocessing.OneHotEncoder(min_frequency=25, handle_unknown="infrequent_if_exist"),
        preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2),
        make_pipeline(SimpleImputer(strategy="most_frequent"), preprocessing.OneHotEncoder(handle_unknown="ignore")),
    ],
    ids=lambda m: type(m).__name__,
)
def test_frames(encoder, tmp_path):
    """An input for each column; texts, some of them missing, and one that was not met before."""
    X, y = frame()
    X.loc[5, "b"] = None
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), preprocessing.StandardScaler()), ["a", "c"]), (encoder, ["b"])
    )
    model = learn.CostSensitiveClassifier(
        learn.CalibratedClassifier(make_pipeline(columns, LOGISTIC), "temperature", cv=2), costs=[[0, 3], [1, 0]]
    ).fit(X, y)
    X.loc[7, "b"] = "new"
    found = check(model, X, tmp_path)
    assert list(found) == ["label", "probabilities", "decision", "expected_cost"]


@pytest.mark.parametrize("norm", [None, "batch", "layer"])
@pytest.mark.parametrize(
    "activation",
    [
        "relu",
        "tanh",
        "sigmoid",
        "gelu",
        "silu",
        "elu",
        "softplus",
        "leaky_relu",
        "prelu",
        "softmax",
        "log_softmax",
        "identity",
    ],
)
def test_networks(activation, norm, tmp_path):
    """Models of `nn`."""
    model = nn.Sequential(
        nn.MLP([3, 6, 4], activation=activation, norm=norm, dropout=0.2, key=0), nn.Dense(4, 2, key=1)
    )
    X = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(run(model, X, tmp_path)["output"], model(X), rtol=TOLERANCE, atol=TOLERANCE)


def test_single_precision(tmp_path):
    """To its own accuracy."""
    X, y = load_iris(return_X_y=True)
    model = learn.CalibratedClassifier(make_pipeline(preprocessing.StandardScaler(), LOGISTIC), "temperature", cv=2)
    check(model.fit(X, y), X, tmp_path, tolerance=1e-5, dtype=np.float32)


def test_another_level(tmp_path):
    """Sets and intervals of the level that is asked for; one for which there are too few rows is refused."""
    X, y = load_iris(return_X_y=True)
    model = learn.ConformalClassifier(LOGISTIC, random_state=0).fit(X, y)
    assert run(model, X, tmp_path, coverage=0.6)["set"].tolist() == model.predict_set(X, 0.6).tolist()
    with pytest.raises(ValueError, match=r"coverage=0.99 takes 99 calibration examples"):
        learn.to_onnx(model, coverage=0.99)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KNeighborsClassifier(), "KNeighborsClassifier cannot be exported to ONNX"),
        (make_pipeline(preprocessing.PowerTransformer(), LOGISTIC), "PowerTransformer cannot be exported"),
        (learn.CostSensitiveClassifier(LOGISTIC, costs=lambda X: np.ones((len(X), 3, 3))), "costs that are a function"),
        (learn.ConformalClassifier(LOGISTIC, by=0, coverage=0.3), "groups by= of columns"),
        (preprocessing.FunctionTransformer(np.square), "FunctionTransformer with the function 'square'"),
        (
            preprocessing.QuantileTransformer(n_quantiles=9, output_distribution="normal"),
            "output_distribution='normal'",
        ),
    ],
)
def test_what_cannot_be_exported(model, words, tmp_path):
    """Is refused by its name, and nothing is written."""
    X, y = load_iris(return_X_y=True)
    X[:, 0] = np.arange(len(X)) % 2
    model.fit(X, y)
    with pytest.raises(ValueError, match=re.escape(words)):
        learn.to_onnx(model, tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []
