/* tanh(sin(x) exp(-x^2)) + log(1 + x^2), summed, with its gradient; one call of the C library for each function and element. */
#ifndef VECTORISED
#include <math.h>
#define NAME chain_kernel
#endif

double NAME(long n, const double *restrict x, double *restrict slope) {
    double total = 0.0;
#ifdef VECTORISED
#pragma omp parallel for simd reduction(+ : total) num_threads(2) if (parallel : n >= 10000)
#else
#pragma omp parallel for reduction(+ : total) num_threads(2) if (n >= 10000)
#endif
    for (long i = 0; i < n; i++) {
        double square = x[i] * x[i];
        double wave = sin(x[i]), bell = exp(-square), rest = 1.0 + square;
        double t = tanh(wave * bell);
        slope[i] = (1.0 - t * t) * bell * (cos(x[i]) - 2.0 * x[i] * wave) + 2.0 * x[i] / rest;
        total += t + log(rest);
    }
    return total;
}
