/* The Jacobian of hand tracking: tangents go along the chain of bones where there are any, the skin follows in one loop. */
#include <math.h>
#include <string.h>

enum { FINGERS = 5, BONES = 16, POSE = 26, WIDE = 8, MOST = 10 };

typedef double matrix[3][3];

static void turned(double angle, int axis, matrix turn, matrix slope) {
    double c = cos(angle), s = sin(angle);
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    memset(turn, 0, sizeof(matrix));
    memset(slope, 0, sizeof(matrix));
    turn[axis][axis] = 1.0;
    turn[i][i] = turn[j][j] = c;
    turn[i][j] = -s;
    turn[j][i] = s;
    slope[i][i] = slope[j][j] = -s;
    slope[i][j] = -c;
    slope[j][i] = c;
}

static void product(const matrix a, const matrix b, matrix out) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

/* A bone: which poses move it, and how its rotation and its place change with each of them. */
struct bone {
    int count, of[MOST];
    matrix turn, turns[MOST];
    double places[MOST][3];
};

static void chain(const double *pose, const double *offsets, struct bone *bones) {
    matrix turn[3], slope[3], half, xyz;
    for (int i = 0; i < 3; i++)
        turned(pose[i], i, turn[i], slope[i]);
    struct bone *wrist = bones;
    memset(wrist, 0, sizeof(*wrist));
    wrist->count = 6;
    product(turn[0], turn[1], half);
    product(half, turn[2], wrist->turn);
    product(half, slope[2], wrist->turns[2]);
    product(slope[0], turn[1], half);
    product(half, turn[2], wrist->turns[0]);
    product(turn[0], slope[1], half);
    product(half, turn[2], wrist->turns[1]);
    for (int i = 0; i < 6; i++)
        wrist->of[i] = i;
    for (int i = 0; i < 3; i++)
        wrist->places[3 + i][i] = 1.0;
    for (int finger = 0; finger < FINGERS; finger++)
        for (int joint = 0; joint < 3; joint++) {
            const struct bone *parent = joint ? bones + 3 * finger + joint : wrist;
            struct bone *bone = bones + 1 + 3 * finger + joint;
            const double *offset = offsets + 3 * (1 + 3 * finger + joint);
            matrix bend, bending, side, siding, own;
            turned(pose[7 + 4 * finger + joint], 0, bend, bending);
            int n = parent->count;
            memset(bone->places, 0, sizeof(bone->places));
            memcpy(bone->of, parent->of, sizeof(bone->of));
            if (joint == 0) {
                turned(pose[6 + 4 * finger], 2, side, siding);
                product(siding, bend, own);
                product(parent->turn, own, bone->turns[n]);
                product(side, bending, own);
                product(parent->turn, own, bone->turns[n + 1]);
                product(side, bend, xyz);
                memcpy(bend, xyz, sizeof(matrix));
                bone->of[n] = 6 + 4 * finger;
                bone->of[n + 1] = 7 + 4 * finger;
                bone->count = n + 2;
            } else {
                product(parent->turn, bending, bone->turns[n]);
                bone->of[n] = 7 + 4 * finger + joint;
                bone->count = n + 1;
            }
            product(parent->turn, bend, bone->turn);
            for (int a = 0; a < n; a++) {
                product(parent->turns[a], bend, bone->turns[a]);
                for (int i = 0; i < 3; i++)
                    bone->places[a][i] = parent->places[a][i] + parent->turns[a][i][0] * offset[0] +
                                         parent->turns[a][i][1] * offset[1] + parent->turns[a][i][2] * offset[2];
            }
        }
}

/* rest: BONES x 3 x n, weights: BONES x n, out: 3 x n x POSE; a few vertices at a time, whose sums stay near. */
void hand_kernel(long n, const double *pose, const double *offsets, const double *rest, const double *weights,
                 double *out) {
    struct bone bones[BONES];
    chain(pose, offsets, bones);
#pragma omp parallel for
    for (long first = 0; first < n; first += WIDE) {
        double sums[3][POSE][WIDE] = {0};
        int wide = n - first < WIDE ? n - first : WIDE;
        for (int b = 0; b < BONES; b++) {
            const struct bone *bone = bones + b;
            double w[WIDE] = {0}, x[3][WIDE] = {0};
            for (int k = 0; k < wide; k++)
                w[k] = weights[b * n + first + k];
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < wide; k++)
                    x[j][k] = w[k] * rest[(3 * b + j) * n + first + k];
            for (int a = 0; a < bone->count; a++)
                for (int i = 0; i < 3; i++) {
                    const double *t = bone->turns[a][i], place = bone->places[a][i];
                    double *sum = sums[i][bone->of[a]];
                    for (int k = 0; k < WIDE; k++)
                        sum[k] += t[0] * x[0][k] + t[1] * x[1][k] + t[2] * x[2][k] + place * w[k];
                }
        }
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < wide; k++)
                for (int a = 0; a < POSE; a++)
                    out[(i * n + first + k) * POSE + a] = sums[i][a][k];
    }
}
