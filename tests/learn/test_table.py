"""Tables: what columns are read as, what is learned from them, and that slopes written out are those of `ad.grad`."""

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_checks as checks

import adjoint as ad
from adjoint import learn, nn
from adjoint.learn.table.descent import Descent, loss_of, slope_of_loss
from adjoint.learn.table.encoding import TableEncoder
from adjoint.learn.table.packed import packed

QUICK = {"members": 4, "hidden_layer_sizes": (16,), "max_iter": 30, "random_state": 0}


def table(n=120, seed=0):
    """A bit of everything, and whether it is dear."""
    random = np.random.default_rng(seed)
    size, kind = random.normal(size=n), random.choice(["a", "b", "c"], n)
    when = np.datetime64("2020-01-01", "s") + random.integers(0, 10**8, n).astype("timedelta64[s]")
    frame = pd.DataFrame({"size": size, "kind": kind, "when": when, "new": random.random(n) < 0.5})
    frame.loc[::7, "size"] = np.nan
    frame.loc[::5, "kind"] = None
    return frame, np.where(kind == "a", size > 0, size < 0)


@pytest.mark.parametrize("classifies", [True, False])
def test_slopes(classifies):
    """The slopes that are written out are those of `ad.grad`, also where dropout sets numbers to 0."""
    random = np.random.default_rng(0)
    outputs = 3 if classifies else 1
    network = packed([5, 7, 6, outputs], groups=2, members=3, classifies=classifies, power=5.0, random=random)
    descent = Descent(network)
    x = random.normal(size=(11, 5)).astype(np.float32)
    y = np.eye(3, dtype=np.float32)[random.integers(3, size=11)] if classifies else x[:, :1]
    weights = random.random((11, 2)).astype(np.float32)
    z = descent.outputs(x, 0.3, random)
    kept = [k.astype(np.float64) for k in descent.kept]
    descent.slopes_at(x, slope_of_loss(z, y, weights, classifies=classifies))

    def loss(network):
        h = x @ (network.scale * network.layers[0].weight) + network.layers[0].bias
        for layer, k in zip(network.layers[1:], kept, strict=True):
            h = layer(nn.relu(h) * k)
        if classifies:
            losses = np.log(np.sum(np.exp(h), axis=-1)) - np.sum(h * y, axis=-1)
        else:
            losses = np.sum((h - y) ** 2, axis=-1)
        return np.sum(np.mean(losses, axis=1) * weights.T) / np.sum(weights)

    expected, found = nn.parameters(ad.grad(loss)(network)), nn.parameters(descent.slope)
    assert expected.keys() == found.keys()
    for name, slope in expected.items():
        np.testing.assert_allclose(found[name], slope, rtol=1e-3, atol=1e-6, err_msg=name)


def test_adam():
    """Steps are those of `optim.adamw`."""
    random = np.random.default_rng(0)
    network = packed([3, 4, 2], groups=1, members=2, classifies=True, power=3.0, random=random)
    descent = Descent(network)
    optimizer = ad.optim.adamw(0.1, beta2=0.95, weight_decay=0.2, only="*weight")
    parameters = dict(nn.parameters(network))
    state = optimizer.init(parameters)
    for _ in range(4):
        descent.slopes[:] = random.normal(size=len(descent.slopes))
        move, state = optimizer.update(dict(nn.parameters(descent.slope)), state, parameters)
        parameters = ad.optim.apply(parameters, move)
        descent.step(0.1, 0.2)
    for name, expected in parameters.items():
        np.testing.assert_allclose(nn.parameters(descent.network)[name], expected, rtol=1e-4, atol=1e-5)


def test_model_is_a_tree():
    """The fitted network is a model of `nn`: it can be jitted and differentiated, and gives logits."""
    X, y = table()
    model = learn.TableClassifier(**QUICK).fit(X, y)
    rows = model.encoder_.transform(X)
    logits = ad.jit(model.model_)(rows)
    np.testing.assert_allclose(np.exp(logits / model.temperature_)[:, 1] / np.sum(
        np.exp(logits / model.temperature_), axis=1), model.predict_proba(X)[:, 1], rtol=1e-12)  # fmt: skip
    assert ad.grad(lambda x: np.sum(model.model_(x)))(rows).shape == rows.shape
    assert model.transform(X).shape == (len(X), 4 * 16) == (len(X), len(model.get_feature_names_out()))


def test_frames_alike():
    """A frame of pandas, one of polars and an array of objects are the same table."""
    X, y = table()
    model = learn.TableClassifier(**QUICK)
    expected = model.fit(X, y).predict_proba(X)
    polar = pl.from_pandas(X)
    np.testing.assert_array_equal(clone(model).fit(polar, y).predict_proba(polar), expected)
    objects = X.to_numpy(dtype=object)
    np.testing.assert_array_equal(clone(model).fit(objects, y).predict_proba(objects), expected)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([1, 2, None], "number"),
        ([True, False, True], "number"),
        (["1", " 2.5", ""], "number"),
        ([pd.Timedelta("1h"), pd.NaT, pd.Timedelta("2h")], "number"),
        (pd.array([1, None, 3], dtype="Int64"), "number"),
        ([None, None, None], "number"),
        (["a", "b", None], "word"),
        (["1", "b", 3], "word"),
        (pd.Categorical([1, 2, 1]), "word"),
        (pd.array(["x", pd.NA, "y"], dtype="string"), "word"),
        (pd.to_datetime(["2020-01-01", None, "2021-05-05"]), "date"),
        (pd.to_datetime(["2020-01-01 05:00", "2020-07-01 05:00"] * 2).tz_localize("Europe/Berlin")[:3], "date"),
        ([datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1)], "date"),
        (["2020-01-01", "2021-02-03", None], "date"),
    ],
    ids=str,
)
def test_kinds(column, kind):
    """What a column is read as, whoever holds it."""
    frame = pd.DataFrame({"x": column, "other": [1.0, 2.0, 3.0]})
    encoder = TableEncoder().fit(frame)
    assert encoder.kinds_ == [kind, "number"]
    matrix = encoder.transform(frame)
    assert np.all(np.isfinite(matrix))
    assert matrix.shape[1] == len(encoder.get_feature_names_out())


def test_dates():
    """Parts of dates are those of pandas, in local time."""
    when = pd.Series(pd.to_datetime(["1969-03-04 05:06:07", "2024-02-29 23:59:59", "2021-12-31 00:00:00"]))
    for column in (when, when.dt.tz_localize("America/New_York")):
        encoder = TableEncoder().fit(pd.DataFrame({"when": column}))
        numbers, _ = encoder._read(pd.DataFrame({"when": column}))
        parts = [when.dt.year, when.dt.month, when.dt.day_of_year, when.dt.day_of_week, when.dt.hour]
        np.testing.assert_array_equal(numbers[:, 1:], np.stack(parts, axis=1))
        np.testing.assert_allclose(numbers[:, 0] * 86400, (when - pd.Timestamp(0)).dt.total_seconds())


def test_odd_columns():
    """Nothing but missing values, constants and outliers do no harm; new words and new gaps are taken."""
    X, y = table()
    X = X.assign(nothing=np.nan, none=None, same=3.0, word="w", large=np.where(np.arange(len(X)) == 3, 1e30, X["size"]))
    model = learn.TableClassifier(**QUICK).fit(X, y)
    new = X.assign(kind="never met", same=np.nan, when=pd.NaT, new=True, word=None, nothing=1.0)
    p = model.predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert "same" not in model.encoder_.get_feature_names_out()


def test_refused():
    """What cannot be meant is refused, with its name."""
    X, y = table()
    model = learn.TableClassifier(**QUICK).fit(X, y)
    with pytest.raises(ValueError, match="The column 'size' was numbers in fit, but row 2 has 'large'"):
        model.predict(X.assign(size=["1", None, "large"] * 40))
    with pytest.raises(ValueError, match="infinity"):
        model.predict(X.assign(size=np.inf))
    with pytest.raises(ValueError, match="unique column names"):
        model.fit(pd.concat([X, X], axis=1), y)
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X.iloc[:0])


def test_weights():
    """Rows of weight 0 do not count at all; the weights of classes move probabilities, their scale does not."""
    X, y = table()
    model = learn.TableClassifier(**QUICK)
    half = np.arange(len(y)) % 2
    np.testing.assert_array_equal(
        clone(model).fit(X, y, sample_weight=half).predict_proba(X),
        clone(model).fit(X[half > 0], y[half > 0], sample_weight=np.full(60, 5.0)).predict_proba(X),
    )
    often = clone(model).set_params(class_weight={True: 20.0, False: 1.0}).fit(X, y)
    assert often.predict_proba(X)[:, 1].mean() > 0.1 + clone(model).fit(X, y).predict_proba(X)[:, 1].mean()


def test_learns():
    """An interaction of a category and a number; a date and a category for a number."""
    X, y = table(600)
    new, truth = table(600, seed=1)
    known = new["kind"].notna() & new["size"].notna()
    model = learn.TableClassifier(random_state=0).fit(X, y)
    assert np.mean(model.predict(new) == truth)[()] > 0.8
    assert np.mean((model.predict(new) == truth)[known]) > 0.93
    y = X["when"].dt.year + 3.0 * (X["kind"] == "b")
    assert (
        learn.TableRegressor(random_state=0).fit(X, y).score(new, new["when"].dt.year + 3.0 * (new["kind"] == "b"))
        > 0.97
    )


def test_in_company():
    """The same again for the same seed, from a pickle, in a grid; temperature changes no decision."""
    X, y = table()
    model = learn.TableClassifier(**QUICK).fit(X, y)
    again = pickle.loads(pickle.dumps(clone(model).fit(X, y)))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    plain = clone(model).set_params(calibrate=False).fit(X, y)
    assert plain.temperature_ == 1.0 != model.temperature_
    np.testing.assert_array_equal(plain.predict(X), model.predict(X))
    grid = GridSearchCV(learn.TableRegressor(**QUICK), {"pieces": [0, 2]}, cv=2).fit(X, y.astype(float))
    assert grid.best_estimator_.predict(X).shape == y.shape


def test_best_epoch():
    """The network is that of the best epoch, judged by the rows that each group left out."""
    X, y = table()
    model = learn.TableRegressor(**QUICK).fit(X, y.astype(float))
    losses = model.history_["validation_loss"]
    assert losses[model.best_iter_ - 1] == losses.min()
    assert len(losses) == model.n_iter_
    assert loss_of(np.zeros((2, 1)), np.array([[1.0], [3.0]]), np.array([1.0, 1.0]), classifies=False) == 5.0


@pytest.mark.filterwarnings("ignore:X does not have valid feature names", "ignore:X has feature names")
@pytest.mark.parametrize("estimator", [learn.TableClassifier(**QUICK), learn.TableRegressor(**QUICK)])
@pytest.mark.parametrize(
    "check",
    [
        checks.check_param_validation,
        checks.check_dataframe_column_names_consistency,
        checks.check_n_features_in_after_fitting,
        checks.check_set_output_transform,
        checks.check_set_output_transform_pandas,
        checks.check_set_output_transform_polars,
        checks.check_transformer_get_feature_names_out,
        checks.check_transformer_get_feature_names_out_pandas,
    ],
    ids=lambda check: check.__name__,
)
def test_more_conventions(check, estimator):
    """Checks that scikit-learn defines and does not run by itself."""
    check(type(estimator).__name__, clone(estimator))
