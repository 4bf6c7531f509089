/* Extension functions that take and give what the Python versions do: nothing between the caller and the loop. */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <math.h>
#include <numpy/arrayobject.h>
#include <stdlib.h>

double chain_kernel(long n, const double *x, double *slope);
double chain_kernel_vectorised(long n, const double *x, double *slope);
void bundle_kernel(long n, const double *p, const double *seen, double *out);
void hand_kernel(long n, const double *pose, const double *offsets, const double *rest, const double *weights,
                 double *out);

static PyObject *scalar(PyObject *self, PyObject *argument) {
    if (!PyFloat_CheckExact(argument)) {
        PyErr_SetString(PyExc_TypeError, "a float");
        return NULL;
    }
    double x = PyFloat_AS_DOUBLE(argument);
    double square = x * x, e = exp(square), c = square + e, root = sqrt(c);
    double value = root + cos(c);
    double slope = (0.5 / root - sin(c)) * (1.0 + e) * 2.0 * x;
    PyObject *pair = PyTuple_New(2);
    PyTuple_SET_ITEM(pair, 0, PyFloat_FromDouble(value));
    PyTuple_SET_ITEM(pair, 1, PyFloat_FromDouble(slope));
    return pair;
}

static const double *vector(PyObject *object, npy_intp *n) {
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_CheckExact(object) || PyArray_NDIM(array) != 1 || PyArray_TYPE(array) != NPY_DOUBLE ||
        !PyArray_IS_C_CONTIGUOUS(array)) {
        PyErr_SetString(PyExc_TypeError, "a contiguous vector of doubles");
        return NULL;
    }
    *n = PyArray_DIM(array, 0);
    return PyArray_DATA(array);
}

static PyObject *chain_with(double (*kernel)(long, const double *, double *), PyObject *argument) {
    npy_intp n;
    const double *x = vector(argument, &n);
    if (!x)
        return NULL;
    PyObject *slope = PyArray_SimpleNew(1, &n, NPY_DOUBLE);
    if (!slope)
        return NULL;
    double *out = PyArray_DATA((PyArrayObject *)slope), total;
    if (n >= 10000) {
        Py_BEGIN_ALLOW_THREADS;
        total = kernel(n, x, out);
        Py_END_ALLOW_THREADS;
    } else
        total = kernel(n, x, out);
    PyObject *pair = PyTuple_New(2);
    PyTuple_SET_ITEM(pair, 0, PyFloat_FromDouble(total));
    PyTuple_SET_ITEM(pair, 1, slope);
    return pair;
}

static PyObject *chain(PyObject *self, PyObject *argument) { return chain_with(chain_kernel, argument); }

static PyObject *chain_vectorised(PyObject *self, PyObject *argument) {
    return chain_with(chain_kernel_vectorised, argument);
}

/* One step of the pendulum backwards: the slopes of a step are computed again from the state before it. */
static void pendulum_back(const double *s, double stiffness, double damping, double h, double *g, double *to) {
    double at[4][2], k[4][2];
    const double ahead[4] = {0.0, 0.5 * h, 0.5 * h, h}, weight[4] = {h / 6, h / 3, h / 3, h / 6};
    for (int j = 0; j < 4; j++) {
        at[j][0] = s[0] + (j ? ahead[j] * k[j - 1][0] : 0.0);
        at[j][1] = s[1] + (j ? ahead[j] * k[j - 1][1] : 0.0);
        k[j][0] = at[j][1];
        k[j][1] = -stiffness * sin(at[j][0]) - damping * at[j][1];
    }
    double back[2] = {g[0], g[1]}, next[2] = {0.0, 0.0};
    for (int j = 3; j >= 0; j--) {
        double slope0 = weight[j] * g[0] + next[0], slope1 = weight[j] * g[1] + next[1];
        to[0] -= sin(at[j][0]) * slope1;
        to[1] -= at[j][1] * slope1;
        double b0 = -stiffness * cos(at[j][0]) * slope1, b1 = slope0 - damping * slope1;
        back[0] += b0;
        back[1] += b1;
        next[0] = ahead[j] * b0;
        next[1] = ahead[j] * b1;
    }
    g[0] = back[0];
    g[1] = back[1];
}

static PyObject *pendulum_of(int steps, double h, PyObject *point) {
    npy_intp two = 2, n;
    if (!PyTuple_CheckExact(point) || PyTuple_GET_SIZE(point) != 2) {
        PyErr_SetString(PyExc_TypeError, "a pair of vectors");
        return NULL;
    }
    const double *start = vector(PyTuple_GET_ITEM(point, 0), &n);
    const double *constants = vector(PyTuple_GET_ITEM(point, 1), &n);
    double *states = malloc((steps + 1) * 2 * sizeof(double));
    if (!start || !constants || !states) {
        free(states);
        return NULL;
    }
    double stiffness = constants[0], damping = constants[1];
    states[0] = start[0];
    states[1] = start[1];
    for (int i = 0; i < steps; i++) {
        double *s = states + 2 * i;
        double a0 = s[1], a1 = -stiffness * sin(s[0]) - damping * s[1];
        double v = s[1] + 0.5 * h * a1, b0 = v, b1 = -stiffness * sin(s[0] + 0.5 * h * a0) - damping * v;
        v = s[1] + 0.5 * h * b1;
        double c0 = v, c1 = -stiffness * sin(s[0] + 0.5 * h * b0) - damping * v;
        v = s[1] + h * c1;
        double d0 = v, d1 = -stiffness * sin(s[0] + h * c0) - damping * v;
        s[2] = s[0] + h / 6 * (a0 + 2 * b0 + 2 * c0 + d0);
        s[3] = s[1] + h / 6 * (a1 + 2 * b1 + 2 * c1 + d1);
    }
    double *last = states + 2 * steps, value = last[0] * last[0] + last[1] * last[1];
    PyObject *first = PyArray_SimpleNew(1, &two, NPY_DOUBLE), *second = PyArray_SimpleNew(1, &two, NPY_DOUBLE);
    double *g = PyArray_DATA((PyArrayObject *)first), *to = PyArray_DATA((PyArrayObject *)second);
    g[0] = 2 * last[0];
    g[1] = 2 * last[1];
    to[0] = to[1] = 0.0;
    for (int i = steps - 1; i >= 0; i--)
        pendulum_back(states + 2 * i, stiffness, damping, h, g, to);
    free(states);
    return Py_BuildValue("d(NN)", value, first, second);
}

static PyObject *pendulum(PyObject *self, PyObject *point) { return pendulum_of(100, 0.02, point); }

static PyObject *long_pendulum(PyObject *self, PyObject *point) { return pendulum_of(10000, 0.002, point); }

static const double *numbers(PyObject *object) {
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_CheckExact(object) || PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_IS_C_CONTIGUOUS(array)) {
        PyErr_SetString(PyExc_TypeError, "a contiguous array of doubles");
        return NULL;
    }
    return PyArray_DATA(array);
}

static PyObject *bundle(PyObject *self, PyObject *point) {
    if (!PyTuple_CheckExact(point) || PyTuple_GET_SIZE(point) != 2) {
        PyErr_SetString(PyExc_TypeError, "a pair of arrays");
        return NULL;
    }
    const double *p = numbers(PyTuple_GET_ITEM(point, 0)), *seen = numbers(PyTuple_GET_ITEM(point, 1));
    if (!p || !seen)
        return NULL;
    npy_intp shape[3] = {PyArray_DIM((PyArrayObject *)PyTuple_GET_ITEM(point, 0), 0), 2, 15};
    PyObject *out = PyArray_SimpleNew(3, shape, NPY_DOUBLE);
    if (out)
        bundle_kernel(shape[0], p, seen, PyArray_DATA((PyArrayObject *)out));
    return out;
}

/* offsets, rest, weights, pose */
static PyObject *hand(PyObject *self, PyObject *const *given, Py_ssize_t count) {
    const double *read[4];
    for (int i = 0; i < 4; i++)
        if (count != 4 || !(read[i] = numbers(given[i])))
            return NULL;
    npy_intp shape[3] = {3, PyArray_DIM((PyArrayObject *)given[2], 1), PyArray_DIM((PyArrayObject *)given[3], 0)};
    PyObject *out = PyArray_SimpleNew(3, shape, NPY_DOUBLE);
    if (out)
        hand_kernel(shape[1], read[3], read[0], read[1], read[2], PyArray_DATA((PyArrayObject *)out));
    return out;
}

static PyMethodDef methods[] = {
    {"scalar", scalar, METH_O, NULL},
    {"chain", chain, METH_O, NULL},
    {"chain_vectorised", chain_vectorised, METH_O, NULL},
    {"pendulum", pendulum, METH_O, NULL},
    {"long_pendulum", long_pendulum, METH_O, NULL},
    {"bundle", bundle, METH_O, NULL},
    {"hand", (PyCFunction)(void (*)(void))hand, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "by_hand", NULL, -1, methods};

PyMODINIT_FUNC PyInit_by_hand(void) {
    import_array();
    return PyModule_Create(&definition);
}
