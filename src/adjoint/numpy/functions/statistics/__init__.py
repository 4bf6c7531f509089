"""Statistics: averages, order statistics, correlations, histograms."""
