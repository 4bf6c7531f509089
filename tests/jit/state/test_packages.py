"""Objects of other packages: what they hold is watched as the user's own is, whoever wrote their classes."""

import tempfile

import numpy as np
import pandas as pd
import pytest
import scipy.interpolate
import scipy.signal
import scipy.sparse
import scipy.spatial
import scipy.stats
import sklearn.decomposition
import sklearn.ensemble
import sklearn.linear_model
import sklearn.pipeline
import sklearn.preprocessing
import sympy

import adjoint as ad
from adjoint.core.errors import ImpureError

from .table import Thing, X, follows, setting, table

CASES, case = table()
SPARSE = ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
POINTS = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 1.0]])


def sparse_case(format, kind):
    """A sparse matrix or array of one format, of which one element is changed in place."""

    def make():
        S = getattr(scipy.sparse, f"{format}_{kind}")(np.array([[2.0, 0.0], [1.0, 3.0]]))

        def change():
            if format == "dok":
                S[0, 0] = 9.0
            elif format == "lil":
                S.data[0][0] = 9.0
            elif format in ("dia", "bsr"):
                S.data.flat[np.flatnonzero(S.data)[0]] = 9.0
            else:
                S.data[0] = 9.0

        return lambda x: S.toarray() @ x, change

    return make


for a in SPARSE:
    for b in ("matrix", "array"):
        CASES[f"{a}_{b}"] = sparse_case(a, b)


@case
def sparse_matrix_attribute_replaced():
    S = scipy.sparse.csr_array(np.eye(2))
    return lambda x: x * S.data, setting(S, "data", np.array([5.0, 6.0]))


@case
def sparse_structure():
    S = scipy.sparse.csr_array(np.array([[2.0, 0.0], [0.0, 3.0]]))
    return lambda x: S.toarray() @ x, lambda: S.indices.__setitem__(0, 1)


@case
def sparse_element_set():
    S = scipy.sparse.csr_array(np.array([[2.0, 0.0], [1.0, 3.0]]))
    return lambda x: S.toarray() @ x, lambda: S.__setitem__((0, 0), 9.0)


@case
def sparse_in_an_object():
    thing = Thing(S=scipy.sparse.csc_array(np.eye(2)))
    return lambda x: thing.S.todense() @ x, lambda: thing.S.data.__setitem__(1, 9.0)


def frame():
    """A table with two columns."""
    return pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "n": ["u", "v"]})


@case
def column_replaced():
    df = frame()
    return lambda x: x * df["a"].to_numpy(), lambda: df.__setitem__("a", df["a"] * 2)


@case
def column_located():
    df = frame()
    return lambda x: x * df["a"].to_numpy(), lambda: df.loc.__setitem__((0, "a"), 9.0)


@case
def column_by_position():
    df = frame()
    return lambda x: x * df["b"].values, lambda: df.iloc.__setitem__((slice(None), 1), 9.0)


@case
def column_dropped_in_place():
    df = frame()
    return lambda x: x * len(df.columns), lambda: df.pop("b")


@case
def column_renamed():
    df = frame()
    return lambda x: x * ("a" in df) + 1.0, setting(df, "columns", ["c", "b", "n"])


@case
def sum_of_a_column():
    df = frame()
    return lambda x: x * df.a.sum(), lambda: df.__setitem__("a", df["a"] * 2)


@case
def text_of_a_table():
    df = frame()
    return lambda x: x * (df["n"] == "u").sum(), lambda: df.loc.__setitem__((1, "n"), "u")


@case
def series():
    s = pd.Series([1.0, 2.0], index=["u", "v"])
    return lambda x: x * s.to_numpy(), lambda: s.__setitem__("u", 9.0)


@case
def index_of_a_series():
    s = pd.Series([1.0, 2.0], index=["u", "v"])
    return lambda x: x * s["u"], setting(s, "index", ["v", "u"])


@case
def categories():
    s = pd.Series(["u", "v"], dtype="category")
    return lambda x: x * s.cat.codes.to_numpy(), lambda: s.__setitem__(0, "v")


@case
def dates():
    s = pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"]))
    return lambda x: x * s.dt.year.to_numpy(), lambda: s.__setitem__(0, pd.Timestamp("2022-01-01"))


@case
def nullable_numbers():
    s = pd.Series([1, 2], dtype="Int64")
    return lambda x: x * s.to_numpy(dtype=float), lambda: s.__setitem__(0, 9)


@case
def option_of_a_package():
    return lambda x: x * pd.get_option("display.precision"), lambda: pd.set_option(
        "display.precision", 1 + pd.get_option("display.precision")
    )


@case
def scaler():
    fitted = sklearn.preprocessing.StandardScaler().fit(POINTS)
    return lambda x: (x - fitted.mean_) / fitted.scale_, lambda: fitted.fit(POINTS * 3 + 1)


@case
def scaler_in_place():
    fitted = sklearn.preprocessing.StandardScaler().fit(POINTS)
    return lambda x: (x - fitted.mean_) / fitted.scale_, lambda: fitted.mean_.__setitem__(0, 9.0)


@case
def coefficients():
    fitted = sklearn.linear_model.LinearRegression().fit(POINTS, [1.0, 2.0, 3.0])
    return lambda x: x @ fitted.coef_ + fitted.intercept_, setting(fitted, "coef_", np.array([5.0, 6.0]))


@case
def intercept():
    fitted = sklearn.linear_model.Ridge().fit(POINTS, [1.0, 2.0, 3.0])
    return lambda x: x @ fitted.coef_ + fitted.intercept_, lambda: fitted.set_params(alpha=9.0).fit(
        POINTS, [3.0, 1.0, 2.0]
    )


@case
def pipeline():
    fitted = sklearn.pipeline.make_pipeline(
        sklearn.preprocessing.StandardScaler(), sklearn.linear_model.LinearRegression()
    ).fit(POINTS, [1.0, 2.0, 3.0])

    def f(x):
        y = (x - fitted[0].mean_) / fitted[0].scale_
        return y @ fitted.named_steps["linearregression"].coef_

    return f, lambda: fitted.fit(POINTS * 2 - 1, [3.0, 1.0, 2.0]), lambda: fitted[1].coef_.fill(9.0)


@case
def prediction_of_captured_data():
    fitted = sklearn.linear_model.LinearRegression().fit(POINTS, [1.0, 2.0, 3.0])
    return lambda x: x * fitted.predict(POINTS)[0], lambda: fitted.fit(POINTS, [5.0, 2.0, 3.0])


@case
def forest():
    grown = sklearn.ensemble.RandomForestRegressor(3, random_state=0).fit(POINTS, [1.0, 2.0, 3.0])
    return lambda x: x * grown.predict(POINTS)[0], lambda: grown.fit(POINTS, [7.0, 2.0, 3.0])


@case
def values_of_a_tree():
    grown = sklearn.ensemble.RandomForestRegressor(1, random_state=0, bootstrap=False).fit(POINTS, [1.0, 2.0, 3.0])
    return lambda x: x * grown.predict(POINTS)[0], lambda: grown.estimators_[0].tree_.value.__imul__(2.0)


@case
def components():
    fitted = sklearn.decomposition.PCA(1).fit(POINTS)
    return lambda x: x @ fitted.components_[0], lambda: fitted.components_.__imul__(3.0)


@case
def frozen_distribution():
    normal = scipy.stats.norm(1.0, 2.0)
    return lambda x: x * normal.pdf(1.5), lambda: normal.kwds.update(scale=5.0) or setattr(normal, "args", (3.0,))


@case
def histogram_distribution():
    found = scipy.stats.rv_histogram(np.histogram([1.0, 2.0, 2.5], 3))
    return lambda x: x * found._hpdf[1], lambda: found._hpdf.__setitem__(1, 9.0)


@case
def kernel_density():
    found = scipy.stats.gaussian_kde([1.0, 2.0, 4.0])
    return lambda x: x * found(1.5)[0], lambda: found.set_bandwidth(3.0)


@case
def cubic_spline():
    spline = scipy.interpolate.CubicSpline([0.0, 1.0, 2.0], [1.0, 3.0, 2.0])
    return lambda x: x * spline(0.5), lambda: spline.c.__imul__(2.0)


@case
def cubic_spline_replaced():
    spline = scipy.interpolate.CubicSpline([0.0, 1.0, 2.0], [1.0, 3.0, 2.0])
    return lambda x: x * spline(0.5), setting(spline, "c", spline.c * 2.0)


@case
def b_spline():
    spline = scipy.interpolate.make_interp_spline([0.0, 1.0, 2.0, 3.0], [1.0, 3.0, 2.0, 4.0])
    return lambda x: x * spline(0.5), lambda: spline.c.__imul__(2.0)


@case
def old_interpolator():
    found = scipy.interpolate.interp1d([0.0, 1.0], [1.0, 3.0])
    return lambda x: x * found(0.5), setting(found, "y", np.array([5.0, 9.0]))


@case
def grid_interpolator():
    found = scipy.interpolate.RegularGridInterpolator(([0.0, 1.0],), np.array([1.0, 3.0]))
    return lambda x: x * found([0.5])[0], lambda: found.values.__imul__(2.0)


@case
def tree_of_points():
    points = POINTS.copy()
    tree = scipy.spatial.KDTree(points)
    return lambda x: x * np.asarray(tree.data)[0], lambda: points.__setitem__(0, 9.0)


@case
def rotation():
    thing = Thing(r=scipy.spatial.transform.Rotation.from_euler("z", 0.5))
    return lambda x: thing.r.as_matrix()[:2, :2] @ x, setting(
        thing, "r", scipy.spatial.transform.Rotation.from_euler("z", 0.9)
    )


@case
def filter_design():
    system = scipy.signal.dlti([1.0], [1.0, 0.5])
    return lambda x: x * system.den[1], setting(system, "den", np.array([1.0, 0.25]))


@case
def polynomial():
    p = np.polynomial.Polynomial([1.0, 2.0])
    return lambda x: p(x), setting(p, "coef", np.array([3.0, 1.0]))


@case
def polynomial_in_place():
    p = np.polynomial.Chebyshev([1.0, 2.0])
    return lambda x: x * p.coef[1], lambda: p.coef.__setitem__(1, 9.0)


@case
def domain_of_a_polynomial():
    p = np.polynomial.Polynomial([1.0, 2.0], domain=[0, 1])
    return lambda x: x * p(0.3), setting(p, "domain", np.array([0.0, 5.0]))


@case
def old_polynomial():
    p = np.poly1d([1.0, 2.0])
    return lambda x: x * p(3.0), lambda: p.__setitem__(0, 9.0)


@case
def vectorized():
    held = [2.0]
    g = np.vectorize(lambda y: y * held[0])
    return lambda x: x * g(3.0), lambda: held.__setitem__(0, 5.0)


@case
def vectorized_function_replaced():
    g = np.vectorize(lambda y: y * 2.0)
    return lambda x: x * g(3.0), setting(g, "pyfunc", lambda y: y * 5.0)


@case
def function_made_universal():
    held = [2.0]
    g = np.frompyfunc(lambda y: y * held[0], 1, 1)
    return lambda x: x * g(3.0), lambda: held.__setitem__(0, 5.0)


@case
def symbolic_matrix():
    m = sympy.Matrix([[2.0, 0.0], [0.0, 3.0]])
    return lambda x: x * float(m[0, 0]), lambda: m.__setitem__((0, 0), 5.0)


@case
def symbolic_function():
    t = sympy.Symbol("t")
    thing = Thing(f=sympy.lambdify(t, t**2 + 1))
    return lambda x: thing.f(x), setting(thing, "f", sympy.lambdify(t, t**2 + 2))


@case
def memory_map():
    with tempfile.TemporaryFile() as file:
        held = np.memmap(file, float, "w+", shape=(2,))
    held[:] = [2.0, 3.0]
    return lambda x: x * held, lambda: held.__setitem__(0, 9.0)


@pytest.mark.parametrize("name", CASES)
def test_packages(name):
    """The next call sees the change."""
    f, *changes = CASES[name]()
    follows(f, *changes)


def test_caches_of_packages_are_no_impurity():
    """An object of a package that fills a cache when it is used is as it was."""
    df, S = frame(), scipy.sparse.csr_array(np.eye(2))

    def f(x):
        return x * df["a"].to_numpy() * df.index.is_unique * S.has_sorted_indices * df.a.mean()

    follows(f, lambda: df.__setitem__("a", df["a"] * 2))


def test_writing_to_an_object_of_a_package_is_refused():
    """As writing to the user's own is."""
    df, S = frame(), scipy.sparse.csr_array(np.eye(2))
    thing = Thing(p=np.polynomial.Polynomial([1.0, 2.0]))

    def scales(x):
        S.data *= 2.0
        return x * S.data

    def adds_a_column(x):
        df["c"] = df["a"] * 2.0
        return x * df["c"].to_numpy()

    def replaces(x):
        thing.p.coef = thing.p.coef * 2.0
        return thing.p(x)

    for f in (scales, adds_a_column, replaces):
        with pytest.raises(ImpureError, match="The function changes"):
            ad.jit(f)(X)
