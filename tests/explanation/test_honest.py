"""What is shown is true: names, formulas, sums and seeds, also where it would be easy to be wrong."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import adjoint as ad

W = np.array([1.0, 2.0])
V = np.array([1.0, 2.0])


def lines_of(explanation):
    """The lines of the table, with single spaces."""
    return [" ".join(line.split()) for line in str(explanation).splitlines()]


def test_a_broadcast_operand_gets_a_sum():
    """The share of what was broadcast is a sum, not a product with a partial of the wrong shape."""
    lines = lines_of(ad.explain(lambda w, b: np.sum(w * b + 1.0))(np.array([1.0, 2.0, 3.0]), 2.0))
    assert "v1 = w·b [2, 4, 6] ∇b = sum(∇v1·w) 6" in lines
    assert "∇w = ∇v1 · b [2, 2, 2]" in lines


def test_a_result_that_is_used_further():
    """The seed of a result comes before the shares of what uses it."""

    def f(x):
        y = x**2
        return y, y**3

    lines = lines_of(ad.explain(f)(1.5))
    assert "v2 = y³ 11.3906 ∇y = ∇y + ∇v2 · 3·y² 16.1875" in lines
    assert "f[0] = y 2.25 ∇y = ∂Σf/∂f[0] 1" in lines
    assert lines[-1] == "Σf is the sum of all results, each times its seed; cotangent= sets the seeds."


def test_a_result_that_is_returned_twice():
    """Both seeds are shown, and their sum."""
    lines = lines_of(ad.explain(lambda x: (x**2,) * 2)(1.5))
    assert "f[1] = v1 2.25 ∇v1 = ∇v1 + ∂Σf/∂f[1] 2" in lines
    assert ad.explain(lambda x: (x**2,) * 2)(1.5).gradient == 6.0


def test_results_in_containers_are_named():
    """A dict's results are called by their keys."""
    assert "f['b'] = v2 0.8415 ∇v2 = ∂Σf/∂f['b'] 1" in lines_of(ad.explain(lambda x: {"a": x**2, "b": np.sin(x)})(1.0))


@pytest.mark.parametrize(
    "use",
    [
        lambda x: ad.grad(lambda x: ad.explain(np.sin)(x).gradient)(x),
        lambda x: ad.jvp(lambda x: ad.explain(np.sin)(x).gradient, (x,), (1.0,)),
        lambda x: ad.vmap(lambda x: ad.explain(np.sin)(x).gradient)(np.array([x, x])),
        lambda x: ad.jit(lambda x: ad.explain(np.sin)(x).gradient)(x),
        lambda x: ad.explain(lambda x: x * ad.explain(np.sin)(x).gradient)(x),
        lambda x: ad.grad(lambda x: ad.explain(lambda y: x * y)(2.0).gradient)(x),
    ],
    ids=["grad", "jvp", "vmap", "jit", "explain", "a captured value"],
)
def test_not_inside_a_derivative(use):
    """An explanation has no derivative: inside one it is refused, by its name."""
    with pytest.raises(ad.errors.UnsupportedError, match="explain shows numbers, and takes no part in derivatives"):
        use(1.0)


def test_casts_are_steps():
    """A cast to integers is not the identity: neither in formulas nor number by number."""
    x = np.array([2.6, 3.7])

    def f(x):
        return np.sum(x * x.astype(int))

    np.testing.assert_array_equal(ad.explain(f, level="scalar")(x).gradient, [2.0, 3.0])
    assert "v1 = x·int64(x) [5.2, 11.1] ∇x = ∇v1 · int64(x) [2, 3]" in lines_of(ad.explain(f)(x))
    with pytest.raises(ad.errors.UnsupportedError, match="astype has no form in SymPy"):
        ad.explain(f)(x).sympy()


def test_single_precision_number_by_number():
    """Numbers of single precision overflow where the array's do."""
    with np.errstate(all="ignore"):
        explanation = ad.explain(lambda x: x * x, level="scalar")(np.float32(1e30))
    assert "v1 = x·x inf ∇x = ∇v1 · 2·x 2e+30" in lines_of(explanation)
    assert type(explanation.gradient) is np.float32


def test_what_does_not_arrive_is_zero():
    """An infinite input that nothing uses has the adjoint and the tangent 0."""
    lines = lines_of(ad.explain(lambda x, y: x * 2, mode="both")(1.5, np.inf))
    assert "v(-1) = y inf v̇(-1) = ẏ 0 ∇y = ∂f/∂y = ∇v(-1) 0" in lines


def test_complex_numbers():
    """The sweep has plain transposes; what is called the gradient is what `ad.grad` returns."""

    def f(z):
        return np.abs(z) ** 2

    explanation = ad.explain(f)(1 + 2j)
    assert "v0 = z 1+2j ∇z = ∂f/∂z = conj(∇v0) 2+4j" in lines_of(explanation)
    assert explanation.gradient == ad.grad(f)(1 + 2j) == 2 + 4j
    lines = lines_of(ad.explain(lambda z: np.real(z * np.conj(z)))(3 + 4j))
    assert any("∇z = ∇z + conj(∇v1) 6-8j" in line for line in lines)


def test_tangents_in_their_containers():
    """Constant results have the tangent 0, and everything is where the function put it."""
    assert ad.explain(lambda x: (x * x, 5.0, {"x": x}), mode="forward")(2.0).tangent == (4.0, 0.0, {"x": 1.0})


def test_variables_called_like_steps():
    """Where the user has a v1, steps are called otherwise."""

    def f(v1):
        v2 = np.sin(v1)
        return v2 * np.exp(v2)

    lines = lines_of(ad.explain(f)(1.0))
    assert "u1 = v2 = sin(v1) 0.8415 ∇v1 = ∇v2 · cos(v1) 2.3081" in lines


def test_a_second_name_is_not_that_of_another_variable():
    """y, y again, and a variable called y_2: three different names, in ASCII too."""

    def f(x):
        y = np.sin(x)
        y_2 = np.cos(x)
        y = np.exp(y)
        return y * y_2

    text = ad.explain(f)(1.0).text(ascii=True)
    assert "v3 = y_3 = exp(y)" in text
    assert "v4 = y_3*y_2" in text


def test_the_twelfth_value_of_a_name_in_ascii():
    """y₁₂ is spelled y_12, as in the source."""

    def f(y):
        for _ in range(12):
            y = np.sin(y)
        return y

    explanation = ad.explain(f, collapse=False)(1.0)
    assert "y₁₂ = sin(y₁₁)" in str(explanation)
    assert "y_12 = sin(y_11)" in explanation.text(ascii=True)
    assert "y_12 = np.sin(y_11)" in explanation.code()


def test_arrays_of_equal_content():
    """A constant has the name under which it is used, not that of another array with the same numbers."""
    assert "v1 = V·x [1, 2] ∇x = ∇v1 · V [1, 2]" in lines_of(ad.explain(lambda x: V * x)(np.ones(2)))


def test_an_array_with_the_name_of_an_argument():
    """A global x that a method uses is not taken for the argument x."""
    x = np.array([1.0, 2.0])
    hidden = {"w": x}
    lines = lines_of(ad.explain(lambda x: np.sum(hidden["w"] * x))(np.array([5.0, 7.0])))
    assert "v1 = [1, 2]·x [5, 14] ∇x = ∇v1 · [1, 2] [1, 2]" in lines


def test_arrays_stay_as_they_were():
    """Writing to an argument or a captured array afterwards changes nothing that is shown."""
    w, x = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    explanation = ad.explain(lambda x: w * x)(x)
    before, symbols = str(explanation), str(explanation.sympy())
    w[:] = 100.0
    x[:] = 100.0
    assert str(explanation) == before
    assert str(explanation.sympy()) == symbols


def test_code_of_arrays_that_were_changed():
    """The source is that of the arguments as they were when they were explained."""
    w, X = np.ones(2), np.array([[1.0, 2.0], [3.0, 4.0]])
    explanation = ad.explain(lambda w, X, n: n * np.sum(X @ w), 0)(w, X, 2)
    before = X.copy()
    X[:] = 100.0
    names = {}
    exec(str(explanation.code()), names)
    value, gradient = names["f_and_gradient"](w, before, 2)
    assert value == 20.0
    np.testing.assert_array_equal(gradient, [8.0, 12.0])
    with pytest.raises(ValueError, match="recorded for n = 2"):
        names["f_and_gradient"](w, before, 3)


def test_long_sums_are_cut_not_renamed():
    """A formula that is too long ends in dots; it does not become a call that means something else."""

    def f(first_number, second_number, third_number):
        return first_number * 0.25 - second_number * 0.125 + third_number / 3.5 - 7.25 * first_number

    line = lines_of(ad.explain(f)(1.0, 2.0, 3.0))[4]
    assert line.startswith("v1 = 0.25·first_number - 0.125·second_number + third_number / 3.5 - … -6.3929")


def test_powers_have_readable_partials():
    """Questions about singular points are not shown where the point is regular."""
    lines = lines_of(ad.explain(lambda x, n: x**n)(3.0, 4.0))
    assert "v1 = x^n 81 ∇n = ∇v1 · x^n·log(x) 88.9876" in lines
    assert "∇x = ∇v1 · n·x^(n - 1) 108" in lines


def test_constants_have_enough_digits():
    """A factor of 0.9999999 is not 1."""
    assert "v1 = 0.9999999·x 2 ∇x = ∇v1 · 0.9999999 1" in lines_of(ad.explain(lambda x: x * 0.9999999)(2.0))


def test_derivatives_have_names_of_their_own():
    """The gradient of q is not q."""

    def q(x):
        return x**3 * np.sin(x)

    assert lines_of(ad.explain(ad.grad(q))(1.3))[-1].startswith("grad(q) = ")
    assert "grad(q) = " in str(ad.explain(ad.jit(ad.grad(q)))(1.3))


def test_chosen_arguments():
    """With argnums only the chosen arguments are inputs, and the gradient is that of `ad.grad`."""

    def loss(w, X, y):
        return np.sum((X @ w - y) ** 2)

    given = np.ones(2), np.array([[1.0, 2.0], [3.0, 4.0]]), np.zeros(2)
    one, two = ad.explain(loss, 0)(*given), ad.explain(loss, argnums=(0, -1))(*given)
    np.testing.assert_array_equal(one.gradient, ad.grad(loss)(*given))
    assert [r.kind for r in one.rows].count("input") == 1
    for found, wanted in zip(two.gradient, ad.grad(loss, argnums=(0, 2))(*given), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_arguments_that_are_not_understood():
    """Beginners' mistakes get an answer."""
    with pytest.raises(ad.errors.InputError, match=r"Pass the point to what it returns:  ad.explain\(f\)\(x\)"):
        ad.explain(np.sin, 1.0)
    with pytest.raises(ad.errors.InputError, match=r"Write  ad.explain\(f\)\(x\)  instead of  ad.explain\(f\)\(x=x\)"):
        ad.explain(np.sin)(x=1.0)
    with pytest.raises(ad.errors.OutputError, match="returned nothing to explain"):
        ad.explain(lambda x: None)(1.0)
    with pytest.raises(ad.errors.InputError, match="explain needs digits, a whole number of at least 0 and at most 17"):
        ad.explain(np.sin, digits=-1)
    with pytest.raises(ad.errors.InputError, match="There is no positional argument number 3"):
        ad.explain(np.sin, 3)(1.0)


def test_number_types():
    """The gradient has the type that `ad.grad` gives."""
    for x in (1.5, np.float64(1.5), np.float32(1.5), np.array(1.5), np.array([1.5])):
        for level in ("vector", "scalar"):
            found = ad.explain(lambda x: np.sum(x * x), level=level)(x).gradient
            wanted = ad.grad(lambda x: np.sum(x * x))(x)
            assert type(found) is type(wanted)
            assert getattr(found, "dtype", float) == getattr(wanted, "dtype", float)


def test_one_block_in_many_threads():
    """A decorated function may be running in several threads at once."""

    @ad.block("step")
    def step(x):
        barrier.wait(timeout=10)
        return x * x

    barrier, found = threading.Barrier(4), []
    threads = [threading.Thread(target=lambda: found.append(ad.grad(step)(3.0))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [6.0] * 4


@pytest.mark.parametrize("level", ["vector", "scalar"])
def test_no_frame_is_kept(level):
    """The variables of the caller and of the function are free as soon as they are left."""

    class Held:
        pass

    def caller():
        mine = Held()
        kept.append(weakref.ref(mine))

        def f(x):
            inner = Held()
            kept.append(weakref.ref(inner))
            return x * x

        return ad.explain(f, level=level)(2.0)

    kept = []
    gc.disable()
    try:
        explanation = caller()
        assert [ref() for ref in kept] == [None, None]
    finally:
        gc.enable()
    assert explanation.gradient == 4.0


def test_ascii_names():
    """Letters that a terminal may not have are spelled."""
    text = ad.explain(lambda θ: np.sin(θ) * 2)(1.0).text(ascii=True)
    assert text.isascii()
    assert "grad theta = grad v1 * cos(theta)" in text
