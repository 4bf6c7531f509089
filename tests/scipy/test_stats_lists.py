"""Parameters of scipy.stats in lists, with traced numbers among them."""

import numpy as np
import pytest
from scipy import stats

import adjoint as ad
from adjoint import errors

REFUSED = {
    "cdf of vectors": lambda a: stats.multivariate_normal.cdf([0.3, 0.2], mean=[a, 1.0]),
    "logcdf of vectors": lambda a: stats.multivariate_normal.logcdf([a, 0.2]),
    "cdf of t": lambda a: stats.multivariate_t.cdf([0.3, 0.2], loc=[a, 1.0], df=3),
    "fit": lambda a: stats.gamma.fit([a, 2.0, 3.0])[0],
}


@pytest.mark.parametrize("f", REFUSED.values(), ids=REFUSED)
def test_what_has_no_rule_is_refused_in_lists_too(f):
    """They are not taken for constants."""
    with pytest.raises(errors.UnsupportedError, match="is not differentiated"):
        ad.grad(f)(1.5)


def test_draws_move_with_shapes_in_a_list():
    """As they do with those in an array."""

    def f(a, of):
        return np.sum(stats.gamma.rvs(of([a, 2.0]), scale=of([1.0, a]), random_state=1))

    slope = ad.grad(lambda a: f(a, list))(1.5)
    assert slope == ad.grad(lambda a: f(a, np.array))(1.5) != 0.0
