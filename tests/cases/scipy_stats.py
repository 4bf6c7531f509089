"""SciPy's distributions and statistics of samples."""

import numpy as np
import scipy.stats as stats
from scipy.stats._distr_params import distcont, distdiscrete

from adjoint.testing.laws import Case

rng = np.random.default_rng(5)
SAMPLE = rng.normal(size=9)
OTHER = rng.normal(size=9)
POSITIVE = rng.uniform(0.5, 2.0, size=9)
LEVELS = rng.uniform(0.2, 0.8, size=9)
SQUARE = rng.normal(size=(3, 3))


def first_of(table):
    """The parameters that SciPy tests each distribution with."""
    found = {}
    for name, shapes in table:
        if isinstance(name, str) and name not in found and not any(isinstance(s, (list, tuple)) for s in shapes):
            found[name] = tuple([float(s) for s in shapes])
    return found


SLOW = {"levy_stable", "studentized_range", "kstwo", "genhyperbolic", "geninvgauss", "gausshyper", "norminvgauss"}
CONTINUOUS = {**first_of(distcont), "kappa4": (0.3, 0.2), "nct": (14.0, 0.24), "triang": (0.3,)}
DISCRETE = first_of(distdiscrete)
WHOLE = {"irwinhall", "ksone", "kstwo"}
"""Continuous distributions whose shapes are whole numbers."""
BY_PLACE = {"landau", "ksone", "kstwo", "levy_stable", "studentized_range"}
"""Those of which only the distribution function and quantiles are differentiated, in their argument."""
FIXED = {"ncf": (0, 1), "nct": (0,), "ncx2": (0,)}
"""Shapes in which no derivative is known."""


def places(p):
    """Parts of what is tested, one after the other."""
    return np.concatenate([np.ravel(x) for x in p])


def positive(x):
    return x @ x.T + np.eye(3)


def results(*parts):
    return np.stack([np.asarray(part) for part in parts])


SAMPLES = [
    Case("alexandergovern", lambda x: stats.alexandergovern(x, OTHER).pvalue, (SAMPLE,)),
    Case("anderson", lambda x: stats.anderson(x).statistic, (SAMPLE,)),
    Case("bartlett", lambda x: results(*stats.bartlett(x, OTHER)), (SAMPLE,)),
    Case("boxcox", lambda x: stats.boxcox(x, 0.4), (POSITIVE,)),
    Case("boxcox_llf", lambda x: stats.boxcox_llf(0.4, x), (POSITIVE,)),
    Case("chisquare", lambda x: results(*stats.chisquare(x, np.mean(x) * np.ones(9))), (POSITIVE,)),
    Case("circmean", lambda x: stats.circmean(x), (SAMPLE,)),
    Case("circstd", lambda x: stats.circstd(x), (SAMPLE,)),
    Case("circvar", lambda x: stats.circvar(x), (SAMPLE,)),
    Case("combine_pvalues", lambda x: results(*stats.combine_pvalues(x)), (LEVELS,)),
    Case("cramervonmises", lambda x: stats.cramervonmises(x, "norm").statistic, (SAMPLE,)),
    Case("describe", lambda x: results(*stats.describe(x)[2:]), (SAMPLE,)),
    Case("differential_entropy", lambda x: stats.differential_entropy(x), (SAMPLE,)),
    Case("directional_stats", lambda x: stats.directional_stats(np.reshape(x, (3, 3))).mean_direction, (SAMPLE,)),
    Case("energy_distance", lambda x, y: stats.energy_distance(x, y), (SAMPLE, OTHER)),
    Case("entropy", lambda x, y: stats.entropy(x, y) + stats.entropy(x), (POSITIVE, LEVELS)),
    Case("epps_singleton_2samp", lambda x: results(*stats.epps_singleton_2samp(x, OTHER)), (SAMPLE,)),
    Case("expectile", lambda x: stats.expectile(x, 0.3), (SAMPLE,)),
    Case("f_oneway", lambda x, y: results(*stats.f_oneway(x, y)), (SAMPLE, OTHER)),
    Case("false_discovery_control", lambda x: stats.false_discovery_control(x), (LEVELS,)),
    Case("gmean", lambda x, w: stats.gmean(x, weights=w), (POSITIVE, LEVELS)),
    Case("gstd", lambda x: stats.gstd(x), (POSITIVE,)),
    Case("gzscore", lambda x: stats.gzscore(x), (POSITIVE,)),
    Case("hmean", lambda x: stats.hmean(x), (POSITIVE,)),
    Case("iqr", lambda x: stats.iqr(x), (SAMPLE,)),
    Case("jarque_bera", lambda x: results(*stats.jarque_bera(x)), (SAMPLE,)),
    Case("ks_1samp", lambda x: stats.ks_1samp(x, stats.norm.cdf).statistic, (SAMPLE,)),
    Case("kstest", lambda x: stats.kstest(x, "norm").statistic, (SAMPLE,)),
    Case("kstat", lambda x: stats.kstat(x, 3), (SAMPLE,)),
    Case("kstatvar", lambda x: stats.kstatvar(x, 2), (SAMPLE,)),
    Case("kurtosis", lambda x: stats.kurtosis(x), (SAMPLE,)),
    Case("kurtosistest", lambda x: results(*stats.kurtosistest(x)), (np.concatenate([SAMPLE, OTHER, POSITIVE]),)),
    Case("levene", lambda x: results(*stats.levene(x, OTHER)), (SAMPLE,)),
    Case("linregress", lambda x, y: results(*stats.linregress(x, y)), (SAMPLE, OTHER)),
    Case("lmoment", lambda x: stats.lmoment(x), (SAMPLE,)),
    Case("median_abs_deviation", lambda x: stats.median_abs_deviation(x), (SAMPLE,)),
    Case("mode", lambda x: stats.mode(x)[0], (SAMPLE,)),
    Case("moment", lambda x: stats.moment(x, 3), (SAMPLE,)),
    Case("normaltest", lambda x: results(*stats.normaltest(x)), (np.concatenate([SAMPLE, OTHER, POSITIVE]),)),
    Case("obrientransform", lambda x: stats.obrientransform(x, OTHER)[0], (SAMPLE,)),
    Case("pearsonr", lambda x, y: results(*stats.pearsonr(x, y)), (SAMPLE, OTHER)),
    Case("pmean", lambda x: stats.pmean(x, 2.5), (POSITIVE,)),
    Case("pointbiserialr", lambda x: stats.pointbiserialr(OTHER > 0, x)[0], (SAMPLE,)),
    Case("power_divergence", lambda x: stats.power_divergence(x, lambda_=0.5)[0], (POSITIVE,)),
    Case("probplot", lambda x: results(*stats.probplot(x)[1]), (SAMPLE,)),
    Case("quantile", lambda x: stats.quantile(x, 0.3), (SAMPLE,)),
    Case("scoreatpercentile", lambda x: stats.scoreatpercentile(x, 30), (SAMPLE,)),
    Case("sem", lambda x: stats.sem(x), (SAMPLE,)),
    Case("sigmaclip", lambda x: np.sum(stats.sigmaclip(x, 2.0, 2.0)[0] ** 2), (SAMPLE,)),
    Case("skew", lambda x: stats.skew(x, bias=False), (SAMPLE,)),
    Case("skewtest", lambda x: results(*stats.skewtest(x)), (SAMPLE,)),
    Case("theilslopes", lambda x: stats.theilslopes(x, OTHER)[0], (SAMPLE,)),
    Case("tmax", lambda x: stats.tmax(x, 1.0), (SAMPLE,)),
    Case("tmean", lambda x: stats.tmean(x, (-1.0, 1.0)), (SAMPLE,)),
    Case("tmin", lambda x: stats.tmin(x, -1.0), (SAMPLE,)),
    Case("trim1", lambda x: np.sum(stats.trim1(x, 0.2) ** 2), (SAMPLE,)),
    Case("trim_mean", lambda x: stats.trim_mean(x, 0.2), (SAMPLE,)),
    Case("trimboth", lambda x: np.sum(stats.trimboth(x, 0.2) ** 2), (SAMPLE,)),
    Case("tsem", lambda x: stats.tsem(x, (-1.0, 1.0)), (SAMPLE,)),
    Case("tstd", lambda x: stats.tstd(x, (-1.0, 1.0)), (SAMPLE,)),
    Case("ttest_1samp", lambda x: results(*stats.ttest_1samp(x, 0.1)), (SAMPLE,)),
    Case("ttest_ind", lambda x, y: results(*stats.ttest_ind(x, y, equal_var=False)), (SAMPLE, OTHER)),
    Case("ttest_ind_from_stats", lambda m: results(*stats.ttest_ind_from_stats(m, 1.0, 5, 0.2, 1.1, 6)), (0.7,)),
    Case("ttest_rel", lambda x, y: results(*stats.ttest_rel(x, y)), (SAMPLE, OTHER)),
    Case("tukey_hsd", lambda x: stats.tukey_hsd(x, OTHER).statistic, (SAMPLE,)),
    Case("tvar", lambda x: stats.tvar(x, (-1.0, 1.0)), (SAMPLE,)),
    Case("variation", lambda x: stats.variation(x), (POSITIVE,)),
    Case("wasserstein_distance", lambda x, w: stats.wasserstein_distance(x, OTHER, w, LEVELS), (SAMPLE, POSITIVE)),
    Case("yeojohnson", lambda x: stats.yeojohnson(x, 0.4), (SAMPLE,)),
    Case("yeojohnson_llf", lambda x: stats.yeojohnson_llf(0.4, x), (SAMPLE,)),
    Case("zmap", lambda x, y: stats.zmap(x, y), (SAMPLE, OTHER)),
    Case("zscore", lambda x: stats.zscore(x), (SAMPLE,)),
    Case("gaussian_kde", lambda x, y: stats.gaussian_kde(x)(y), (SAMPLE, OTHER)),
    Case("gaussian_kde logpdf", lambda x, y: stats.gaussian_kde(x).logpdf(y), (SAMPLE, OTHER)),
    Case("gaussian_kde integral", lambda x: stats.gaussian_kde(x).integrate_box_1d(-1.0, 0.5), (SAMPLE,)),
    Case("Covariance", lambda d: stats.Covariance.from_diagonal(d).log_pdet, (POSITIVE,)),
]

MULTIVARIATE = [
    Case("multivariate_normal", lambda x, m, a: stats.multivariate_normal.logpdf(x, m, positive(a)),
         (SAMPLE[:3], OTHER[:3], SQUARE)),
    Case("multivariate_t", lambda x, m, a: stats.multivariate_t.logpdf(x, m, positive(a), 4.0),
         (SAMPLE[:3], OTHER[:3], SQUARE)),
    Case("dirichlet", lambda a: stats.dirichlet.logpdf(np.array([0.2, 0.3, 0.5]), a), (POSITIVE[:3],)),
    Case("dirichlet_multinomial", lambda a: stats.dirichlet_multinomial.logpmf([1, 2, 3], a, 6), (POSITIVE[:3],)),
    Case("wishart", lambda a, b, n: stats.wishart.logpdf(positive(a), n, positive(b)), (SQUARE, 0.5 * SQUARE.T, 5.5)),
    Case("invwishart", lambda a, b, n: stats.invwishart.logpdf(positive(a), n, positive(b)),
         (SQUARE, 0.5 * SQUARE.T, 5.5)),
    Case("multinomial", lambda p: stats.multinomial.logpmf([1, 2, 3], 6, p / np.sum(p)), (POSITIVE[:3],)),
    Case("matrix_normal", lambda x, a: stats.matrix_normal.logpdf(x, np.zeros((3, 3)), positive(a), np.eye(3)),
         (SQUARE, 0.5 * SQUARE)),
    Case("matrix_t", lambda x: stats.matrix_t.logpdf(x, np.zeros((3, 3)), np.eye(3), np.eye(3), 4.0), (SQUARE,)),
    Case("normal_inverse_gamma", lambda x, p: stats.normal_inverse_gamma.logpdf(x, 1.2, p[0], p[1], p[2], p[3]),
         (0.3, POSITIVE[:4])),
    Case("vonmises_fisher", lambda m: stats.vonmises_fisher.logpdf([0.0, 0.6, 0.8], m / np.linalg.norm(m), 2.0),
         (POSITIVE[:3],)),
]  # fmt: skip
