/* Jacobians of bundle adjustment, one observation after the other: the chain rule worked out, nothing that is zero computed. */
#include <math.h>

/* One observation: p has 15 numbers, seen 2; out has 2 x 15. */
static inline void jacobian(const double *restrict p, const double *restrict seen, double *restrict out) {
    double angle = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), inverse = 1.0 / angle;
    double k[3], v[3];
    for (int i = 0; i < 3; i++) {
        k[i] = p[i] * inverse;
        v[i] = p[11 + i] - p[3 + i];
    }
    double c = cos(angle), s = sin(angle), rest = 1.0 - c;
    double crossed[3] = {k[1] * v[2] - k[2] * v[1], k[2] * v[0] - k[0] * v[2], k[0] * v[1] - k[1] * v[0]};
    double along = k[0] * v[0] + k[1] * v[1] + k[2] * v[2];
    double turned[3], by_angle[3], matrix[3][3], by_axis[3][3];
    for (int i = 0; i < 3; i++) {
        turned[i] = v[i] * c + crossed[i] * s + k[i] * along * rest;
        by_angle[i] = crossed[i] * c - v[i] * s + k[i] * along * s;
        for (int j = 0; j < 3; j++) {
            matrix[i][j] = rest * k[i] * k[j];
            by_axis[i][j] = rest * k[i] * v[j];
        }
        matrix[i][i] += c;
        by_axis[i][i] += rest * along;
    }
    /* the matrices of the cross products with k, and with v */
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, l = (i + 2) % 3;
        matrix[j][l] -= s * k[i];
        matrix[l][j] += s * k[i];
        by_axis[j][l] += s * v[i];
        by_axis[l][j] -= s * v[i];
    }
    double depth = 1.0 / turned[2], flat[2] = {turned[0] * depth, turned[1] * depth};
    double square = flat[0] * flat[0] + flat[1] * flat[1];
    double factor = 1.0 + square * (p[9] + p[10] * square), growth = 2.0 * (p[9] + 2.0 * p[10] * square);
    double focal = p[6], weight = p[14], scale = weight * focal;
    for (int i = 0; i < 2; i++) {
        double by_turned[3], by_k[3], *row = out + 15 * i;
        for (int j = 0; j < 2; j++)
            by_turned[j] = scale * depth * (flat[i] * flat[j] * growth + (i == j ? factor : 0.0));
        by_turned[2] = -(by_turned[0] * flat[0] + by_turned[1] * flat[1]);
        double turning = 0.0, onto = 0.0;
        for (int j = 0; j < 3; j++) {
            by_k[j] = inverse * (by_turned[0] * by_axis[0][j] + by_turned[1] * by_axis[1][j] + by_turned[2] * by_axis[2][j]);
            turning += by_turned[j] * by_angle[j];
            onto += by_k[j] * k[j];
        }
        for (int j = 0; j < 3; j++) {
            double by_v = by_turned[0] * matrix[0][j] + by_turned[1] * matrix[1][j] + by_turned[2] * matrix[2][j];
            row[j] = by_k[j] + (turning - onto) * k[j]; /* the angle changes by k, the axis by what is across */
            row[3 + j] = -by_v;
            row[11 + j] = by_v;
        }
        double distorted = flat[i] * factor;
        row[6] = weight * distorted;
        row[7] = i == 0 ? weight : 0.0;
        row[8] = i == 1 ? weight : 0.0;
        row[9] = scale * flat[i] * square;
        row[10] = scale * flat[i] * square * square;
        row[14] = distorted * focal + p[7 + i] - seen[i];
    }
}

void bundle_kernel(long n, const double *restrict p, const double *restrict seen, double *restrict out) {
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        jacobian(p + 15 * i, seen + 2 * i, out + 30 * i);
}
