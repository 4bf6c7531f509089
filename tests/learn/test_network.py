"""Networks: the numbers of `ad.train`, whoever takes the steps; labels, units, weights, stopping, and going on."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neural_network import MLPClassifier as Theirs
from sklearn.preprocessing import StandardScaler

import adjoint as ad
from adjoint import learn, losses, nn, optim
from adjoint.learn.network import running
from adjoint.training import session

MLPC, MLPR = learn.MLPClassifier, learn.MLPRegressor


def iris():
    """Scaled columns and labels."""
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def diabetes():
    """Scaled columns and values."""
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X), y


WEIGHTS = np.random.default_rng(0).uniform(0.0, 2.0, 150)
WEIGHTS[::7] = 0.0


@pytest.mark.parametrize(
    ("estimator", "weights"),
    [
        (MLPC((7, 5), "tanh", max_iter=6, batch_size=32, random_state=0), None),
        (MLPC((7, 5), "logistic", max_iter=6, batch_size=32, random_state=0), WEIGHTS),
        (MLPC((7, 5), "relu", max_iter=6, class_weight="balanced", random_state=0), WEIGHTS),
        (MLPC((), max_iter=6, batch_size=50, shuffle=False, random_state=0), None),
        (MLPC((9,), max_iter=40, early_stopping=True, learning_rate_init=0.1, random_state=0), WEIGHTS),
        (MLPR((7,), "identity", max_iter=6, batch_size=40, random_state=0), WEIGHTS),
        (MLPR((7,), max_iter=40, early_stopping=True, learning_rate_init=0.1, random_state=0), None),
    ],
    ids=lambda x: "" if x is None or isinstance(x, np.ndarray) else str(x),
)
def test_numbers_are_those_of_train(estimator, weights, monkeypatch):
    """Steps that are written out are those that are compiled, in a fit and after it."""
    X, y = iris()
    y = y if isinstance(estimator, MLPC) else np.stack([1e3 + X[:, 0], 1e-3 * X[:, 1] * X[:, 2]], axis=1)
    plain = clone(estimator).fit(X, y, sample_weight=weights)
    own = running.suits
    monkeypatch.setattr(running, "suits", lambda job: False)
    compiled = clone(estimator).fit(X, y, sample_weight=weights)
    for _ in range(2):
        assert plain.n_iter_ == compiled.n_iter_
        assert plain.best_epoch_ == compiled.best_epoch_
        assert plain.fit_.stopped == compiled.fit_.stopped
        for name, values in compiled.history_.items():
            np.testing.assert_allclose(plain.history_[name], values, rtol=1e-9)
        norms = compiled.fit_.history.gradient_norms
        np.testing.assert_allclose(plain.fit_.history.gradient_norms, norms, rtol=1e-6, atol=1e-9 * norms.max())
        np.testing.assert_allclose(plain.model_(X), compiled.model_(X), rtol=1e-7, atol=1e-9)
        with monkeypatch.context() as patch:
            patch.setattr(running, "suits", own)
            plain.partial_fit(X, y)
        compiled.partial_fit(X, y)


@pytest.mark.parametrize("options", [{}, {"activation": "gelu"}], ids=["plain", "compiled"])
def test_epochs_one_by_one(options):
    """As many calls of `partial_fit` as a fit has epochs give the same network, if a batch is all rows."""
    X, y = iris()
    whole = MLPC((8,), alpha=0.0, max_iter=5, random_state=0, **options).fit(X, y)
    parts = MLPC((8,), alpha=0.0, random_state=0, **options)
    for _ in range(5):
        parts.partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_allclose(parts.model_(X), whole.model_(X), rtol=1e-9)
    assert parts.n_iter_ == len(parts.loss_curve_) == 5
    warm = MLPC((8,), alpha=0.0, max_iter=2, warm_start=True, random_state=0, **options).fit(X, y)
    np.testing.assert_allclose(warm.set_params(max_iter=3).fit(X, y).model_(X), whole.model_(X), rtol=1e-9)


@pytest.mark.parametrize(("load", "least"), [(load_iris, 0.958), (load_wine, 0.987)])
def test_early_stopping_on_few_rows(load, least):
    """No worse than without it: enough rows choose the epoch, and none is lost."""
    X, y = load(return_X_y=True)
    found = []
    for seed in range(5):
        A, B, a, b = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
        scaler = StandardScaler().fit(A)
        model = MLPC(early_stopping=True, random_state=seed).fit(scaler.transform(A), a)
        found.append(model.score(scaler.transform(B), b))
        assert model.best_epoch_ == np.argmin(model.validation_loss_curve_) + 1
        assert set(model.history_) == {"loss", "validation_loss", "score"}
    assert np.mean(found) >= least


def test_the_best_epoch_is_kept():
    """Of rows that were given to choose by, the model has the least loss that there was."""
    X, y = diabetes()
    model = MLPR((50,), learning_rate_init=0.02, random_state=0).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert model.best_epoch_ < model.n_iter_ < 200
    assert np.mean((model.predict(X[200:]) - y[200:]) ** 2) == pytest.approx(min(model.validation_loss_curve_))


def test_rows_of_weight_zero_do_not_count():
    """Not even where a batch is nothing but such rows."""
    X, y = iris()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    weights = (np.arange(150) % 50 < 25).astype(float)
    kept = weights > 0.0
    for options in ({}, {"activation": "gelu"}):
        model = MLPC((5,), batch_size=5, shuffle=False, max_iter=3, random_state=0, **options)
        with_zeros = clone(model).fit(X, y, sample_weight=weights).model_(X)
        np.testing.assert_array_equal(with_zeros, clone(model).fit(X[kept], y[kept], weights[kept]).model_(X))
    before = model.fit(X, y).model_(X)
    np.testing.assert_array_equal(model.partial_fit(X, y, sample_weight=np.zeros(150)).model_(X), before)
    with pytest.raises(ValueError, match=r"above 0|non-zero number"):
        clone(model).fit(X, y, sample_weight=np.zeros(150))


def test_weights_of_classes_are_weights_of_rows():
    """By label, whatever the labels are."""
    X, codes = iris()
    y = np.array(["a", "b", "c"])[codes]
    given = MLPC((5,), max_iter=5, random_state=0, class_weight={"a": 1.0, "b": 2.0, "c": 0.5}).fit(X, y)
    rows = MLPC((5,), max_iter=5, random_state=0).fit(X, codes, sample_weight=np.array([1.0, 2.0, 0.5])[codes])
    np.testing.assert_array_equal(given.model_(X), rows.model_(X))
    assert set(given.predict(X)) <= {"a", "b", "c"}


def test_units_do_not_matter():
    """Values in other units are predicted in these, by the same network."""
    X, y = diabetes()
    one = MLPR((9,), max_iter=20, random_state=0).fit(X, y)
    other = MLPR((9,), max_iter=20, random_state=0).fit(X, 1e-7 * y + 3.0)
    np.testing.assert_allclose(other.predict(X), 1e-7 * one.predict(X) + 3.0, rtol=1e-12)
    assert isinstance(one.model_, nn.MLP)
    np.testing.assert_array_equal(one.model_(X)[:, 0], one.predict(X))


def test_any_model_loss_and_optimiser():
    """An nn model, a function that makes one, a loss and an optimiser of one's own; neither is touched."""
    X, y = diabetes()
    model = nn.Sequential(nn.Dense(10, 8, key=0), "silu", nn.Dense(8, 1, key=1))
    before = {name: a.copy() for name, a in nn.parameters(model).items()}
    made = MLPR(model=model, loss=losses.absolute, optimizer=optim.lion(1e-2), max_iter=20).fit(X, y)
    assert made.score(X, y) > 0.3
    assert made.transform(X).shape == (442, 8)
    for name, a in nn.parameters(model).items():
        np.testing.assert_array_equal(a, before[name])
    other = MLPC(
        model=lambda inputs, outputs, rng: nn.MLP([inputs, 6, outputs], "tanh", key=rng.randint(9)), random_state=0
    )
    assert other.fit(X, y > 150, sample_weight=y).transform(X).shape == (442, 6)
    quasi = MLPR((5,), "tanh", optimizer="lbfgs", max_iter=20, random_state=0).fit(X, y)
    assert quasi.score(X, y) > 0.5
    with pytest.raises(ValueError, match="model has to be an nn model"):
        MLPR(model=3).fit(X, y)


def test_a_penalty_of_ones_own():
    """A normal prior on the weights is alpha: 1 / sigma^2."""
    X, y = iris()
    prior = losses.gaussian_prior(0.5, n=150, only="*weight")
    one = MLPC((5,), max_iter=20, alpha=0.0, regularizer=prior, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        one.model_(X), MLPC((5,), max_iter=20, alpha=4.0, random_state=0).fit(X, y).model_(X), rtol=1e-9
    )


def test_grid_points_and_folds_share_machine_code(monkeypatch):
    """Rates and penalties are numbers of the optimiser's state, and units those of a layer."""
    made = []
    monkeypatch.setattr(session, "step_of", lambda *given: made.append(given) or step_of(*given))
    step_of = ad.training.steps.step_of
    X, y = diabetes()
    grid = {"alpha": [0.1, 1.0], "learning_rate_init": [1e-3, 2e-3]}
    GridSearchCV(MLPR((4,), "softplus", batch_size=50, max_iter=2, random_state=0), grid, cv=3).fit(X, y)
    assert len(made) == 1


def test_weights_from_elsewhere():
    """Those of scikit-learn, pairs of arrays, and PyTorch's layout give the outputs that they are for."""
    X, y = load_wine(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), np.array(["x", "y", "z"])[y]
    for labels in (y, y == "x"):
        theirs = Theirs((6, 4), "tanh", max_iter=300, tol=1.0, random_state=0).fit(X, labels)
        pairs = list(zip(theirs.coefs_, theirs.intercepts_, strict=True))
        torch = {f"{k}.{n}": a for k, (W, b) in enumerate(pairs) for n, a in (("weight", W.T), ("bias", b))}
        for weights in ([theirs.coefs_, theirs.intercepts_], pairs, torch, [(W.T, b) for W, b in pairs]):
            ours = MLPC.from_parameters(weights, activation="tanh", X=X, y=labels)
            np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-12)
            np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        tuned = ours.set_params(warm_start=True, max_iter=20).fit(X, labels)
        assert tuned.loss_curve_[0] == pytest.approx(log_loss(labels, theirs.predict_proba(X)))
        assert tuned.loss_curve_[-1] < tuned.loss_curve_[0]
    with pytest.raises(ValueError, match="X has 12 features, but the weights are for 13"):
        MLPC.from_parameters(pairs, X=X[:, 1:])


def test_regressor_of_weights_goes_on():
    """A regressor of given weights predicts with them, and learns on in the units of y."""
    X, y = diabetes()
    first = MLPR((6,), max_iter=50, random_state=0).fit(X, y)
    pairs = [(layer.weight, layer.bias) for layer in first.model_.layers]
    again = MLPR.from_parameters(pairs, X=X, y=y)
    np.testing.assert_allclose(again.predict(X), first.predict(X))
    assert again.partial_fit(X, y).score(X, y) > first.score(X, y) - 0.01


@pytest.mark.parametrize("options", [{}, {"norm": "layer", "dropout": 0.2}], ids=["plain", "compiled"])
def test_callbacks(options):
    """They see the fit so far, and end it by True."""
    X, y = iris()
    seen = []
    model = MLPC((5,), random_state=0, callbacks=lambda fit: seen.append(fit) or len(seen) == 3, **options).fit(X, y)
    assert model.n_iter_ == 3
    assert [fit.history.epochs for fit in seen[-1:]] == [3]
    assert model.fit_.stopped == "by a callback after 3 epochs"
    np.testing.assert_array_equal(seen[-1].model(X), model.model_(X))


def test_numbers_that_are_not_finite():
    """End a run with a warning, and leave the weights before that step."""
    X, y = diabetes()
    with pytest.warns(RuntimeWarning, match="Training ended early: the loss or its gradient was not finite in step 2"):
        model = MLPR((5,), learning_rate_init=1e200, random_state=0).fit(X, y)
    assert all(np.all(np.isfinite(a)) for a in nn.parameters(model.model_).values())


def test_single_precision_and_pickles():
    """A network of float32 rows is one of float32; a copy from a pickle goes on."""
    X, y = iris()
    model = MLPC((5,), max_iter=3, random_state=0).fit(X.astype(np.float32), y)
    assert model.model_(X[:2].astype(np.float32)).dtype == np.float32
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.partial_fit(X, y).model_(X), model.partial_fit(X, y).model_(X))


def test_what_is_refused():
    """Labels and shapes that do not fit, by name."""
    X, y = iris()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        MLPC().partial_fit(X, y)
    model = MLPC((3,), max_iter=1).fit(X, y)
    with pytest.raises(ValueError, match=r"y has the label .*7.*, which is none of the classes"):
        model.partial_fit(X, np.full(150, 7))
    with pytest.raises(ValueError, match='return_std needs distribution="gaussian"'):
        MLPR((3,), max_iter=1).fit(X, y).predict(X, return_std=True)
    with pytest.raises(ValueError, match=r"model has to give 3 outputs for each row, got the shape \(1, 5\)"):
        MLPC(model=nn.MLP([4, 5], key=0)).fit(X, y)
    with pytest.raises(ValueError, match="y has to be counts for the loss 'poisson'"):
        MLPR(loss="poisson").fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="callbacks have to be functions"):
        MLPC(callbacks=[3]).fit(X, y)
    with pytest.raises(ValueError, match="has a last layer of its own"):
        MLPR.from_parameters([(np.ones((4, 1)), np.ones(1))], distribution="quantiles")
    with pytest.raises(ValueError, match="ascending numbers between 0 and 1"):
        MLPR(distribution="quantiles", quantiles=[0.5, 0.1]).fit(X, y)
