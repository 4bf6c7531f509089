"""Models as files: what is loaded predicts what was saved, and whatever is wrong with a file is said in one way."""

import json
import os
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from sklearn import dummy, ensemble, linear_model, naive_bayes, preprocessing
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from adjoint import learn, losses, nn, optim
from adjoint.learn import files
from adjoint.learn.files.table import classes
from tests.learn.file_fuzzing import frame, fuzzed, models

LOGISTIC = linear_model.LogisticRegression(max_iter=1000)
COLUMNS = make_column_transformer(
    (make_pipeline(SimpleImputer(), preprocessing.StandardScaler()), make_column_selector(dtype_include=np.number)),
    (preprocessing.OneHotEncoder(handle_unknown="ignore", min_frequency=3), ["b"]),
)
CLASSIFIERS = [
    make_pipeline(preprocessing.StandardScaler(), LOGISTIC),
    make_pipeline(preprocessing.MinMaxScaler(), PCA(2), naive_bayes.GaussianNB()),
    make_pipeline(SelectKBest(k=2), preprocessing.PolynomialFeatures(), learn.LogisticRegression()),
    DecisionTreeClassifier(max_depth=3),
    ensemble.RandomForestClassifier(3, random_state=0),
    CalibratedClassifierCV(LOGISTIC, cv=2),
    FrozenEstimator(learn.LogisticRegression().fit(*load_iris(return_X_y=True))),
    learn.LinearClassifier(losses.cross_entropy),
    *[
        learn.CalibratedClassifier(LOGISTIC, m, cv=2)
        for m in ("temperature", "vector", "matrix", "isotonic", "venn-abers")
    ],
    learn.CostSensitiveClassifier(LOGISTIC, costs=np.ones((4, 3)), decisions=["a", "b", "c", "ask"]),
    *[learn.ConformalClassifier(LOGISTIC, method=m, random_state=0) for m in ("lac", "aps", "raps", "saps")],
    learn.HonestClassifier(LOGISTIC, costs=[[0, 1, 1], [1, 0, 5], [1, 2, 0]], cv=2, random_state=0),
    learn.ConformalClassifier(LOGISTIC, cv=KFold(3, shuffle=True, random_state=0), by="class", coverage=0.7),
]
REGRESSORS = [
    learn.LeastSquares(),
    learn.Ridge("loo"),
    learn.LinearRegressor("quantile"),
    make_pipeline(preprocessing.RobustScaler(), learn.LinearRegressor("huber")),
    make_pipeline(preprocessing.QuantileTransformer(n_quantiles=9), linear_model.Lasso()),
    ensemble.RandomForestRegressor(3),
    dummy.DummyRegressor(),
    learn.HonestRegressor(cv=2, random_state=0),
    *[learn.ConformalRegressor(linear_model.Ridge(), method=m) for m in ("absolute", "normalised", "distribution")],
    learn.ConformalRegressor(learn.LinearRegressor("quantile"), method="quantile", cv=3),
]
METHODS = ("predict", "predict_proba", "predict_set", "predict_interval", "expected_cost")


def name(model):
    return type(model).__name__


def again(model, folder):
    """Saved and loaded."""
    learn.save(model, folder / "m.adjoint")
    return learn.load(folder / "m.adjoint")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=name)
def test_predictions_are_the_same(model, tmp_path):
    """To the last bit, by every method that predicts."""
    X, y = load_iris(return_X_y=True) if model in CLASSIFIERS else load_diabetes(return_X_y=True)
    X, y = X[::3], y[::3]
    loaded = again(model.fit(X, y), tmp_path)
    for method in METHODS:
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))
    assert repr(loaded) == repr(model)


def fitted_or_not(kind):
    """An estimator with its default parameters, and rows for it; None for one that takes other data."""
    rows, labels = load_iris(return_X_y=True)
    try:
        return kind().fit(rows[::3], labels[::3]), rows[::3]
    except (TypeError, ValueError):
        return None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_all_of_scikit_learn_in_the_table(tmp_path):
    """Whatever of the table can be fitted as it is, predicts the same when it is loaded."""
    seen = 0
    for key, kind in classes().items():
        made = fitted_or_not(kind) if key.startswith("sklearn.") and hasattr(kind, "fit") else None
        if made is None:
            continue
        model, rows = made
        loaded = again(model, tmp_path)
        for method in ("predict", "predict_proba", "transform"):
            if hasattr(model, method):
                before, after = [getattr(m, method)(rows) for m in (model, loaded)]
                if hasattr(before, "toarray"):
                    before, after = before.toarray(), after.toarray()
                np.testing.assert_array_equal(after, before, err_msg=key)
        seen += 1
    assert seen > 40


@pytest.mark.parametrize("inner", [LOGISTIC, ensemble.ExtraTreesClassifier(3)], ids=name)
def test_frames(inner, tmp_path):
    """Names of columns, categories, missing values; labels that are text."""
    X, y = frame()
    model = make_pipeline(COLUMNS, inner).fit(X, y)
    loaded = again(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="columns are missing"):
        loaded.predict(X.drop(columns="b"))


@pytest.mark.parametrize("norm", [None, "batch", "layer"])
@pytest.mark.parametrize("activation", ["relu", "gelu", "prelu", "tanh"])
def test_networks(norm, activation, tmp_path):
    """Trees of `nn`, with functions of the library inside."""
    model = nn.MLP([3, 5, 2], activation=activation, norm=norm, dropout=0.1, key=0)
    X = np.random.default_rng(0).normal(size=(4, 3))
    loaded = again(model, tmp_path)
    np.testing.assert_array_equal(loaded(X), model(X))
    assert repr(loaded) == repr(model)


@pytest.mark.parametrize(
    "value",
    [
        np.nan,
        np.inf,
        -0.0,
        1e308,
        2**63,
        "é\U0001f600\ud800",
        (1, (2, [3])),
        {1: "a", "b": None, (1, 2): 0.5},
        {3},
        slice(None, 2),
        np.float32(0.1),
        np.int8(-3),
        np.str_("a"),
        np.datetime64("2020-01-02"),
        np.dtype("<f4"),
        np.float64,
        np.array([], dtype="<U3"),
        np.array(["a", "bcd"]),
        np.array([b"x", b"yz"]),
        np.array(["a", None, np.nan, 3], dtype=object),
        np.array([[1, 2], [3, 4]], order="F"),
        np.zeros((0, 3)),
        np.array(1.5),
        np.array([True, False]),
        np.arange(6.0).reshape(2, 3)[:, ::2],
        np.array([1 + 2j]),
        np.array(["2020-01-02"], dtype="M8[s]"),
        optim.adam(0.1),
        losses.absolute,
        np.log1p,
    ],
    ids=lambda value: type(value).__name__,
)
def test_values(value, tmp_path):
    """Every kind of value that an attribute has comes back as it was."""
    model = dummy.DummyRegressor(constant=1.0)
    model.value_ = value
    found = again(model, tmp_path).value_
    if isinstance(value, optim.Optimizer):
        assert found.update.recipe == value.update.recipe
        return
    assert type(found) is type(value)
    assert repr(found) == repr(value)
    if isinstance(value, np.ndarray):
        assert found.flags.f_contiguous == value.flags.f_contiguous or not value.flags.c_contiguous


def test_tied_weights_stay_tied(tmp_path):
    """An array that is in two places is one array."""
    loaded = again(nn.share(nn.MLP([3, 3, 3], key=0), "layers.1.weight", "layers.0.weight"), tmp_path)
    assert loaded.layers[0].weight is loaded.layers[1].weight
    assert list(nn.parameters(loaded)) == ["layers.0.weight", "layers.0.bias", "layers.1.bias"]


def test_random_numbers_go_on(tmp_path):
    """Sources of random numbers give what they would have given; one that is shared is shared."""
    model = dummy.DummyRegressor()
    model.a_ = model.b_ = np.random.RandomState(3)
    model.c_ = np.random.default_rng(4)
    loaded = again(model, tmp_path)
    assert loaded.a_ is loaded.b_
    assert loaded.a_.random_sample() == model.a_.random_sample()
    assert loaded.c_.random() == model.c_.random()


def test_safetensors_reads_the_arrays(tmp_path):
    """The layout is that of safetensors, whose own library finds the same arrays."""
    model = learn.Ridge().fit(*load_diabetes(return_X_y=True))
    learn.save(model, tmp_path / "m.adjoint")
    arrays = load_file(tmp_path / "m.adjoint")
    assert any(np.array_equal(a, model.coef_) for a in arrays.values())


def test_describe(tmp_path):
    """What is in a file, without making it."""
    learn.save(CLASSIFIERS[0].fit(*load_iris(return_X_y=True)), tmp_path / "m.adjoint")
    found = learn.describe(tmp_path / "m.adjoint")
    assert found["model"] == "sklearn.Pipeline(sklearn.StandardScaler, sklearn.LogisticRegression)"
    assert found["bytes"] == (tmp_path / "m.adjoint").stat().st_size
    assert set(found["versions"]) == {"adjoint", "numpy", "scikit-learn"}


def square(outputs, targets):
    """A loss of the user's own."""
    return (outputs - targets) ** 2


class Own(dummy.DummyRegressor):
    """A class of the user's own."""


X, Y = load_diabetes(return_X_y=True)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (learn.LinearRegressor(square, max_iter=5), "LinearRegressor.loss is the function 'square': code is not saved"),
        (
            learn.ConformalRegressor(dummy.DummyRegressor(), by=lambda X: X[:, 1] > 0),
            "ConformalRegressor.by is the function",
        ),
        (Own(), "Own is of the class .*Own, which is not in the table"),
        (make_pipeline(PCA(2), Own()), r"Pipeline.steps\[1\]\[1\] is of the class"),
        (KNeighborsClassifier(), "is of the class sklearn.neighbors"),
        (GridSearchCV(dummy.DummyRegressor(), {"strategy": ["mean"]}), "save its best_estimator_"),
        (dummy.DummyRegressor(constant=2**70), "DummyRegressor.constant is a whole number of 71 bits"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_saved(model, words, tmp_path):
    """Is refused by its name when it is saved, and nothing is written."""
    model.fit(X, Y > 100)
    with pytest.raises(files.ModelFileError, match=words):
        learn.save(model, tmp_path / "m.adjoint")
    assert list(tmp_path.iterdir()) == []


def test_what_holds_itself(tmp_path):
    """A circle has no place in a file."""
    model = dummy.DummyRegressor()
    model.me_ = model
    with pytest.raises(files.ModelFileError, match="holds itself"):
        learn.save(model, tmp_path / "m.adjoint")


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path):
    """A model that cannot be saved leaves the file of the last one."""
    path = tmp_path / "m.adjoint"
    learn.save(learn.Ridge(), path)
    before = path.read_bytes()
    with pytest.raises(files.ModelFileError):
        learn.save(Own(), path)
    assert path.read_bytes() == before


def test_files_that_are_none(tmp_path):
    """No file, a folder, an empty file, a picture: said with the name."""
    with pytest.raises(FileNotFoundError):
        learn.load(tmp_path / "nothing")
    with pytest.raises(files.ModelFileError, match="is not a file"):
        learn.load(tmp_path)
    for content in (b"", b"\x89PNG" * 100, b"0" * 10**6):
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(files.ModelFileError, match="x' is not a model"):
            learn.load(tmp_path / "x")


def changed(content, change):
    """A file with another header, resealed."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    spec = json.loads(header["__metadata__"]["spec"])
    change(header, spec)
    header["__metadata__"]["spec"] = json.dumps(spec)
    raw = json.dumps(header, separators=(",", ":")).encode()
    return files.reseal(struct.pack("<Q", len(raw)) + raw + content[8 + length :])


def put(path, value):
    """A change at a place of the spec."""

    def change(header, spec):
        node = spec
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value

    return change


STATE = ["model", "object", 1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put(["model", "object", 0], "os.system"), "the class 'os.system', which is not in the table"),
        (put([*STATE, "alpha"], {"function": "os.system"}), "the function 'os.system', which is not in the table"),
        (put([*STATE, "predict"], 1), "an attribute 'predict' of learn.Ridge, which is none"),
        (put([*STATE, "__class__"], 1), "an attribute '__class__' of learn.Ridge, which is none"),
        (put([*STATE, "alpha"], "x"), "The 'alpha' parameter of learn.Ridge must be"),
        (put([*STATE, "coef_"], {"array": ["99"]}), "an array '99' that is not there"),
        (put([*STATE, "intercept_"], 5.0), "predicts something else than it did when it was saved"),
        (put([*STATE, "intercept_"], "x"), "whose parts do not go together"),
        (lambda header, spec: spec["model"]["object"][1].pop("alpha"), "has no 'alpha' of learn.Ridge"),
        (lambda header, spec: header["__metadata__"].update(version="2"), "written as version '2'"),
        (lambda header, spec: header["0"].update(shape=[-1]), "not made of whole numbers"),
        (lambda header, spec: header["0"].update(shape=[2**40]), "whose place and shape do not go together"),
        (lambda header, spec: header["0"].update(data_offsets=[8, 88]), "whose place and shape do not go together"),
        (lambda header, spec: header["0"].update(dtype="O"), "of a type that there is not"),
        (lambda header, spec: header["__metadata__"].update(more="1"), "other facts in its header"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_that_mean_harm(change, words, tmp_path):
    """Checksums can be made by anybody: what is behind one is not trusted either."""
    learn.save(learn.Ridge().fit(X, Y), tmp_path / "m.adjoint")
    (tmp_path / "m.adjoint").write_bytes(changed((tmp_path / "m.adjoint").read_bytes(), change))
    with pytest.raises(files.ModelFileError, match=words) as met:
        learn.load(tmp_path / "m.adjoint")
    assert "m.adjoint'" in str(met.value)


def test_a_tree_that_leads_outside(tmp_path):
    """Compiled code walks trees: one that goes in circles, or looks at columns that there are not, is refused."""
    learn.save(DecisionTreeClassifier(max_depth=2).fit(X, Y > 100), tmp_path / "m.adjoint")
    content = (tmp_path / "m.adjoint").read_bytes()
    for column, value in (("left_child", 0), ("left_child", 10**6), ("feature", 10**6), ("feature", -5)):

        def change(header, spec, column=column, value=value):
            columns = dict(spec["model"]["object"][1]["tree_"]["tree"][5]["dict"])
            place = header[columns[column]["array"][0]]["data_offsets"][0]
            nonlocal content
            start = 8 + int.from_bytes(content[:8], "little") + place
            content = content[:start] + struct.pack("<q", value) + content[start + 8 :]

        kept = content
        changed(content, change)
        (tmp_path / "m.adjoint").write_bytes(files.reseal(content))
        content = kept
        with pytest.raises(files.ModelFileError, match="nodes do not make a tree"):
            learn.load(tmp_path / "m.adjoint")


def test_every_flipped_bit_is_noticed(tmp_path):
    """One bit in each of 150 places, without a new checksum: none loads."""
    learn.save(learn.Ridge().fit(X, Y), tmp_path / "m.adjoint")
    content = (tmp_path / "m.adjoint").read_bytes()
    for k in np.linspace(0, len(content) - 1, 150).astype(int):
        (tmp_path / "x").write_bytes(content[:k] + bytes([content[k] ^ 1 << k % 8]) + content[k + 1 :])
        with pytest.raises(files.ModelFileError):
            learn.load(tmp_path / "x")


@pytest.mark.filterwarnings("ignore")
def test_damaged_files(tmp_path):
    """A few hundred, in every way: a clear error for each, but where a new checksum makes it another model."""
    found = fuzzed(0, 300, tmp_path)
    assert found["clear errors"] + found["loaded, resealed"] == found["tried"] > 250
    assert found["loaded, resealed"] < 0.1 * found["tried"]


@pytest.mark.slow
def test_many_damaged_files(tmp_path):
    """In a process of its own, which ends well and needs no more memory than for whole files."""
    script = Path(__file__).parent / "file_fuzzing.py"
    done = subprocess.run(
        [sys.executable, str(script), "1", "6000", str(tmp_path)], capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["clear errors"] + found["loaded, resealed"] == found["tried"] > 5500
    assert found["megabytes more"] < 100


@pytest.mark.slow  # as every piece of memory is counted
@pytest.mark.parametrize("part", ["1.5,", "1,", '"a",', "[],", '{"a":1},', '"\\\\",', '"b'])
def test_memory_is_some_times_that_of_the_file(part, tmp_path):
    """Whatever a header of 2 MB is made of: what it would become is not more than some ten times that, and 32 MB."""
    learn.save(learn.Ridge().fit(X, Y), tmp_path / "m.adjoint")
    content = (tmp_path / "m.adjoint").read_bytes()
    many = part * (2**21 // len(part))
    text = f"[{many[:-1]}]" if part[-1] == "," else f'["{many[1:]}"]'.replace('b"b', "bb")

    def change(header, spec):
        spec["model"]["object"][1]["fit_intercept"] = "HERE"

    length = int.from_bytes((content := changed(content, change))[:8], "little")
    header = content[8 : 8 + length].replace(rb"\"HERE\"", json.dumps(text)[1:-1].encode())
    (tmp_path / "m.adjoint").write_bytes(files.reseal(struct.pack("<Q", len(header)) + header + content[8 + length :]))
    tracemalloc.start()
    with pytest.raises(files.ModelFileError):
        learn.load(tmp_path / "m.adjoint")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * len(header) + 2**25


def test_lists_take_no_more_memory_than_is_allowed(tmp_path, monkeypatch):
    """A header of nothing but lists is refused before they are made."""
    monkeypatch.setattr(files.layout, "MOST_BRACKETS", 2**10)
    learn.save(learn.Ridge().fit(X, Y), tmp_path / "m.adjoint")
    content = (tmp_path / "m.adjoint").read_bytes()
    for junk, words in (([[]] * (2**10 + 1), "lists"), (json.loads("[" * 70 + "]" * 70), "nested more than 64")):
        (tmp_path / "m.adjoint").write_bytes(changed(content, put([*STATE, "alpha"], junk)))
        with pytest.raises(files.ModelFileError, match=words):
            learn.load(tmp_path / "m.adjoint")


def test_every_estimator_is_in_the_table():
    """Whatever `adjoint.learn` and `adjoint.nn` offer can be saved; nothing else has a name."""
    offered = {n for n in learn.__all__ if hasattr(getattr(learn, n), "fit")}
    assert {f"learn.{n}" for n in offered} <= set(classes())
    assert {f"nn.{n}" for n in nn.__all__ if isinstance(getattr(nn, n), type)} <= set(classes())
    assert all(kind.__module__.split(".")[0] in ("adjoint", "sklearn") for kind in classes().values())


@pytest.mark.filterwarnings("ignore")
def test_fuzzed_models_are_whole(tmp_path):
    """What the fuzzer damages can be loaded when it is not damaged."""
    for key, (model, rows) in models().items():
        loaded = again(model, tmp_path)
        for m in (model, loaded):
            assert hasattr(m, "predict") or callable(m), key
        np.testing.assert_array_equal(*[m.predict(rows) if hasattr(m, "predict") else m(rows) for m in (model, loaded)])
