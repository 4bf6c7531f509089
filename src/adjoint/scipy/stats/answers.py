"""What becomes of each public name of `scipy.stats`."""

from __future__ import annotations

import scipy.stats
from scipy.stats._distn_infrastructure import rv_generic

from ...numpy.patching.replacements import constant, refuses, runs_through
from .samples import runs_in_batches

STATS = "scipy.stats"

THROUGH = """
    alexandergovern anderson bartlett chisquare circmean circstd circvar combine_pvalues cramervonmises describe
    differential_entropy directional_stats energy_distance entropy epps_singleton_2samp f_oneway false_discovery_control
    gmean gstd gzscore hmean iqr jarque_bera ks_1samp kstat kstatvar kstest kurtosis kurtosistest levene linregress
    lmoment median_abs_deviation mode moment normaltest obrientransform pearsonr pmean pointbiserialr power_divergence
    probplot quantile scoreatpercentile sem sigmaclip skew skewtest theilslopes tmax tmean tmin trim1 trim_mean trimboth
    tsem tstd ttest_1samp ttest_ind ttest_ind_from_stats ttest_rel tukey_hsd tvar variation wasserstein_distance zmap
    zscore
"""
"""Statistics of samples, tests with their p-values, whose own code takes traced values."""

RANKS = """
    ansari anderson_ksamp brunnermunzel bws_test chatterjeexi cramervonmises_2samp fligner friedmanchisquare kendalltau
    kruskal ks_2samp mannwhitneyu median_test mood page_trend_test percentileofscore quantile_test rankdata ranksums
    somersd spearmanr spearmanrho tiecorrect weightedtau wilcoxon
"""
"""Statistics of ranks and counts."""

COUNTS = (
    "estimated_cdf barnard_exact binomtest boschloo_exact fisher_exact poisson_means_test random_table cumfreq relfreq"
)

SEARCHES = """
    bootstrap fit goodness_of_fit monte_carlo_test permutation_test sobol_indices multiscale_graphcorr dunnett
"""

NEW = "Binomial Normal Logistic Uniform"
VECTORS = """
    dirichlet dirichlet_multinomial invwishart matrix_normal matrix_t multinomial multivariate_normal multivariate_t
    normal_inverse_gamma wishart
"""
DIRECTIONS = "ortho_group special_ortho_group unitary_group uniform_direction random_correlation multivariate_hypergeom"
OPTIONS = "BootstrapMethod MonteCarloMethod PermutationMethod CensoredData"

PARTLY = {
    "landau": "pdf and logpdf are refused",
    "kstwo": "pdf and logpdf are refused, n is a whole number",
    "ksone": "pdf and logpdf are refused, n is a whole number",
    "studentized_range": "the distribution function and quantiles, in x and q alone",
    "levy_stable": "the distribution function and quantiles, in x and q alone, and location and scale",
    "ncf": "but in dfn and dfd",
    "nct": "but in df",
    "ncx2": "but in df",
    "zipfian": "refused in a",
    "nchypergeom_fisher": "refused in odds",
    "nchypergeom_wallenius": "refused in odds",
    "poisson_binom": "refused in p",
    "hypergeom": "all parameters are whole numbers",
    "nhypergeom": "all parameters are whole numbers",
}
"""Of which distributions not all methods differentiate, or not in all parameters."""


def _are(names: str) -> list[str]:
    return [name for name in names.split() if hasattr(scipy.stats, name)]


def register() -> None:
    """Enter the answers."""
    for name, x in vars(scipy.stats).items():
        if isinstance(x, rv_generic):
            runs_through(STATS, name, note=PARTLY.get(name, ""))
    runs_in_batches(STATS, *_are(THROUGH))
    runs_through(STATS, "boxcox", "yeojohnson", note="for a given lmbda; a search for it is refused")
    runs_in_batches(STATS, "boxcox_llf", "yeojohnson_llf", note="in the data")
    runs_through(STATS, *_are(NEW), note="pdf, cdf, moments in parameters and argument")
    runs_through(STATS, *_are(VECTORS), note="densities and moments; cdf and rvs are refused")
    runs_through(STATS, "vonmises_fisher", note="logpdf in places and mean direction")
    runs_through(STATS, "Covariance", note="of full rank")
    runs_through(STATS, "gaussian_kde", note="in the data, the weights and the places")
    runs_through(STATS, "rv_continuous", "rv_discrete", note="own distributions, written with NumPy's functions")
    runs_through(STATS, *_are("abs exp log make_distribution order_statistic"), note="of distributions")
    runs_through(STATS, *_are("Mixture truncate"), note="of distributions with constant parameters; else refused")
    constant(STATS, *_are(RANKS), note="of ranks or counts: constant in pieces")
    constant(STATS, *_are(COUNTS), note="of counts")
    runs_through(STATS, *_are(OPTIONS), note="holds options or data")
    constant(STATS, *_are(DIRECTIONS), note="draws without parameters that move, or of counts")
    _refuse()


def _refuse() -> None:
    searched = "Minimise the objective with  ad.optim.minimize,  and give the solution a rule with  ad.custom_rule."
    refuses(STATS, *_are(SEARCHES), reason="it samples or searches many times", fix=searched)
    refuses(
        STATS,
        *_are("boxcox_normmax boxcox_normplot yeojohnson_normmax yeojohnson_normplot ppcc_max ppcc_plot"),
        reason="it searches for a parameter",
        fix="Pass the parameter, as in  scipy.stats.boxcox(x, lmbda),  and maximise  boxcox_llf(lmbda, x).",
    )
    refuses(
        STATS,
        *_are("binned_statistic binned_statistic_2d binned_statistic_dd"),
        reason="it sorts values into bins in compiled code",
        fix="Find the bins with  np.digitize(ad.value(x), edges),  and add up with  np.bincount(bins, weights=values).",
    )
    refuses(
        STATS,
        *_are("bayes_mvs mvsdist"),
        reason="it converts to Python's numbers",
        fix="Write  np.mean(x)  and  scipy.stats.t  or  scipy.stats.gamma  with these parameters.",
    )
    refuses(
        STATS,
        *_are("ecdf logrank"),
        reason="it is constant in pieces, and holds its places as plain numbers",
        fix="Use  np.sort(x)  for the places, and  ad.value(x)  for the steps.",
    )
    refuses(
        STATS,
        *_are("estimated_cdf"),
        reason="it ranks values among others",
        fix="Use  np.interp(y, np.sort(x), levels)  with the levels of the method.",
    )
    refuses(STATS, *_are("shapiro"), reason="it is compiled", fix="Use  scipy.stats.jarque_bera  or  normaltest.")
    refuses(STATS, *_are("siegelslopes"), reason="it is compiled", fix="Use  scipy.stats.theilslopes.")
    refuses(
        STATS,
        *_are("wasserstein_distance_nd"),
        reason="it solves a linear programme",
        fix="Use  scipy.stats.wasserstein_distance  along directions.",
    )
    refuses(STATS, *_are("chi2_contingency"), reason="it tests counts", fix="Use  scipy.stats.chisquare.")
    refuses(STATS, *_are("rv_histogram"), reason="its bins are plain numbers", fix="Use  np.interp  for its levels.")
    refuses(STATS, *_are("power"), reason="it simulates a test many times", fix="Use a formula for the power.")
