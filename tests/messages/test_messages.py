"""Every error says what could not be done, at which of the user's lines, what was met, and what to do: word by word."""

import linecache
from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy import zeros as plain_zeros
from scipy import special

import adjoint as ad
from adjoint import errors


def float_of(x, kinds=(float,)):
    return kinds[0](x)


def complex_of(x, kinds=(complex,)):
    return kinds[0](x)


def plain_array(x):
    return array("d", [x, x])


def stored_into_plain(x, y=plain_zeros(3)):
    y[0] = x


def out_plain(x, y=plain_zeros(3)):
    np.sin(x * np.ones(3), out=y)


def complex_into_real(x):
    np.zeros_like(x * np.ones(3))[0:2][...] = x * 1j


def float_into_integer(x):
    np.zeros_like(x * np.ones(3), dtype=int)[0] = x


def shape_in_place(x):
    np.zeros_like(x * np.ones(3)).__iadd__(x * np.ones((2, 3)))


def dtype_in_place(x):
    np.ones_like(x * np.ones(3)).__imul__(x * 1j)


def order_of_bessel(x):
    return special.jv(x, 2.0)


def no_rule(x):
    return np.busday_count(x * np.ones(2), 3)


def users_ufunc(x):
    return np.frompyfunc(pow, 2, 1).outer(x, np.ones(2))


def branch_in_vmap(x):
    return x if x > 0 else -x


def integer_in_vmap(x):
    return int(x)


def float_in_vmap(x, kinds=(float,)):
    return kinds[0](x)


def index_in_vmap(x):
    return [1, 2, 3][np.astype(x, int)]


def closed_over_checkpoint(x):
    return ad.checkpoint(lambda y: x * y)(2.0 * x)


def no_rules(x):
    return ad.custom_rule(lambda y: y)(x)


def wrong_vjp_count(x):
    return ad.custom_rule(lambda y, z: y * z, vjp=lambda primals, out, g: (g,))(x, x)


def wrong_vjp_shape(x):
    return ad.custom_rule(lambda y: y * 2.0, vjp=lambda primals, out, g: (np.ones(3),))(x)


PLAIN = "Wrap a solver or compiled code with  ad.custom_rule;  write  ad.value(x)  if no derivative is wanted."
VALUE = "Write  ad.value(x)  if no derivative is wanted."
LIKE = "Use NumPy's functions instead of math's; make an array to fill inside the function, or with  like=x."
STOP = "If no derivative is wanted, pass  ad.stop_gradient(x)  to it; if it is, give the rule with  ad.custom_rule."

INSIDE = {
    float_of: (errors.DerivativeDroppedError, [
        "A traced value cannot become a Python float without losing its derivative.", "{at}",
        "got float64[]", LIKE, PLAIN]),
    complex_of: (errors.DerivativeDroppedError, [
        "A traced value cannot become a Python complex number without losing its derivative.", "{at}",
        "got float64[]", "Use NumPy's functions instead of cmath's.", PLAIN]),
    plain_array: (errors.DerivativeDroppedError, [
        "array cannot take a traced value: it would become a Python float and lose its derivative.", "{at}",
        "got float64[]", LIKE, PLAIN]),
    stored_into_plain: (errors.DerivativeDroppedError, [
        "y[0] = ...  cannot store a traced value: y is a plain array, and its derivative would be lost.", "{at}",
        "got float64[]", "Make  y  inside the function with  np.zeros  or  np.empty,  or anywhere with  like=x.",
        VALUE]),
    out_plain: (errors.DerivativeDroppedError, [
        "A traced value cannot be stored into a plain array without losing its derivative.", "{at}",
        "got float64[3] for a plain float64[3]", "Make the array with  like=, for example  np.empty(3, like=x)."]),
    complex_into_real: (errors.AssignmentError, [
        "A complex value cannot be stored into a real array without losing its imaginary part.", "{at}",
        "got complex128[] for float64[2]", "Make the array complex, or store  np.real(value)."]),
    float_into_integer: (errors.AssignmentError, [
        "Storing into an integer array would round the value and lose its derivative.", "{at}",
        "got float64[] for int64[3]", "Make the array with dtype=float."]),
    shape_in_place: (errors.AssignmentError, [
        "non-broadcastable output operand: an in-place update cannot change the shape.", "{at}",
        "got float64[2,3] for float64[3]", "Write  x = x + y  instead of  x += y."]),
    dtype_in_place: (errors.AssignmentError, [
        "An in-place update cannot change the dtype.", "{at}",
        "got complex128[3] for float64[3]", "Write  x = x + y  instead of  x += y."]),
    order_of_bessel: (errors.NotDifferentiableError, [
        "jv has no known derivative with respect to argument 1.", "{at}",
        "If it is meant as a constant, pass  ad.stop_gradient(...)  there; if you know the derivative, give it with  "
        "ad.custom_rule."]),
    no_rule: (errors.UnsupportedError, ["np.busday_count has no derivative rule.", "{at}", STOP]),
    users_ufunc: (errors.UnsupportedError, ["pow (vectorized) has no derivative rule.", "{at}", STOP]),
    closed_over_checkpoint: (errors.DerivativeDroppedError, [
        "The function given to checkpoint uses a traced value that is not among its arguments.", "{at}",
        "Pass the value as an argument, so that its derivative can be found."]),
    no_rules: (errors.UnsupportedError, [
        "The custom rule '<lambda>' has neither a JVP nor a VJP.", "{at}",
        "Give one with  @rule.def_jvp  or  @rule.def_vjp."]),
}  # fmt: skip


def location(function):
    code = function.__code__
    line = code.co_firstlineno + 1
    return f"at {Path(__file__).name}:{line} in {code.co_name}():  {linecache.getline(__file__, line).strip()}"


def check(error, lines, function, call):
    with pytest.raises(error) as caught:
        call(function)
    assert isinstance(caught.value, ad.AdjointError)
    at = location(function)
    want = [lines[0], *[f"  {line.replace('{at}', at)}" for line in lines[1:]]]
    assert str(caught.value).splitlines() == want


@pytest.mark.parametrize("function", INSIDE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_inside_a_function(function, mode):
    """Errors at a line of the function that is being differentiated."""
    error, lines = INSIDE[function]
    transform = {"reverse": lambda f: ad.grad(f)(1.5), "forward": lambda f: ad.jvp(f, (1.5,), (1.0,))}[mode]
    check(error, lines, function, transform)


BATCHED = {
    branch_in_vmap: ["Inside vmap a value has no single value, so it cannot be a truth value.", "{at}", "got bool[]",
                     "Use  np.where(condition, a, b)  instead of  if."],
    integer_in_vmap: ["Inside vmap a value has no single value, so it cannot be an integer.", "{at}", "got float64[]",
                      "Use array operations instead of Python's integers."],
    float_in_vmap: ["Inside vmap a value has no single value, so it cannot be a Python float.", "{at}", "got float64[]",
                    "Use NumPy's functions, or wrap other code with  ad.custom_rule."],
    index_in_vmap: ["Inside vmap a value has no single value, so it cannot be an integer.", "{at}", "got int64[]",
                    "Use  np.take(x, index)  instead of Python's index."],
}  # fmt: skip


@pytest.mark.parametrize("function", BATCHED, ids=lambda f: f.__name__)
def test_inside_vmap(function):
    """A batch has no single value."""
    check(errors.BatchError, BATCHED[function], function, lambda f: ad.vmap(f)(np.ones(2)))


def integer_argument():
    ad.grad(np.sin)(np.arange(3))


def string_argument():
    ad.jvp(np.sin, ("a",), (1.0,))


def boolean_array():
    ad.vjp(np.sin, np.array([True]))


def string_in_a_dict():
    ad.grad(lambda p: p["w"][0])({"w": [1.0, "a"]})


def integer_in_a_list():
    ad.vjp(lambda p, q: q[1], 1.0, [1.0, np.int64(2)])


@dataclass
class Power:
    scale: float
    exponent: int


def integer_in_a_dataclass():
    ad.grad(lambda ps: ps[0].scale)([Power(2.0, 3)])


def not_a_place():
    ad.grad(np.sin, 1.5)


def name_as_a_place():
    ad.grad(lambda p: p, argnums="p")


def names_as_places():
    ad.jacobian(np.add, argnums=("x", "y"))


def one_place_twice():
    ad.jacobian(np.add, argnums=(0, 0))


def arguments_without_a_tuple():
    ad.jvp(np.sin, np.ones(3), np.ones(3))


def number_without_a_tuple():
    ad.hvp(np.sin, 1.0, 1.0)


def checked_without_a_tuple():
    ad.testing.check_grads(np.sin, np.ones(3))


def checked_at_an_integer():
    ad.testing.check_grads(np.sin, (2**60 + 1,))


def no_pair_in_vjp():
    ad.vjp(lambda x: x, 1.0, has_aux=True)


def no_pair_in_jvp():
    ad.jvp(lambda x: x, (1.0,), (1.0,), has_aux=True)


def masked_array():
    ad.grad(np.sum)(np.ma.array([1.0]))


def array_result():
    ad.grad(np.sin)(np.ones(3))


def list_result():
    ad.grad(lambda x: [x, x])(1.0)


def complex_result():
    ad.grad(lambda x: x * 1j)(1.0)


def generator_result():
    ad.jvp(lambda x: (y for y in [x]), (1.0,), (1.0,))


def no_pair():
    ad.grad(lambda x: x, has_aux=True)(1.0)


def no_such_argument():
    ad.grad(lambda x: x, argnums=1)(1.0)


def tangent_structure():
    ad.jvp(lambda x, y: x, (1.0, 2.0), (1.0,))


def tangent_without_a_key():
    ad.jvp(lambda p: p["w"], ({"w": 1.0, "b": [2.0, 3.0]},), ({"w": 1.0, "c": 1.0},))


def tangent_in_other_containers():
    ad.jvp(lambda p: p[0], ([1.0, 2.0],), ((1.0, 2.0),))


def tangent_shape():
    ad.jvp(np.sin, (np.ones(3),), (np.ones(2),))


def tangent_complex():
    ad.jvp(np.sin, (np.ones(3),), (np.ones(3) * 1j,))


def cotangent_shape():
    ad.vjp(np.sin, np.ones(3))[1](np.ones(2))


def cotangent_structure():
    ad.vjp(lambda x: (x, x), 1.0)[1]([1.0])


def not_holomorphic():
    ad.jacobian(np.conj)(np.array([1 + 1j]))


def unbatched_result():
    ad.vmap(np.sin, out_axes=None)(np.ones(2))


def vjp_count():
    ad.grad(wrong_vjp_count)(1.0)


def vjp_shape():
    ad.grad(wrong_vjp_shape)(1.0)


NUMBERS = "Pass a float or  x.astype(float); choose the arguments to differentiate with  argnums."
ELSEWHERE = "Pass a float or  x.astype(float); keep what is not differentiated in an argument of its own."
POINT = "Pass the point to the gradient itself:  ad.grad(f)(x),  or  ad.grad(f, argnums=(0, 1))(x, y)."
ONE_NUMBER = "Sum the result to one number, or use  ad.jacobian;  for a complex result, take  np.real  or  np.abs."

OUTSIDE = {
    integer_argument: (errors.InputError, [
        "grad needs real or complex numbers to differentiate with respect to, and integers are none: pass  "
        "x.astype(float).", "{at}", "got x = int64[3]", NUMBERS]),
    string_argument: (errors.InputError, [
        "jvp needs real or complex numbers to differentiate with respect to.", "{at}",
        "got primals[0] = str 'a'", NUMBERS]),
    boolean_array: (errors.InputError, [
        "vjp needs real or complex numbers to differentiate with respect to.", "{at}",
        "got primals[0] = bool[1]", NUMBERS]),
    string_in_a_dict: (errors.InputError, [
        "grad needs real or complex numbers to differentiate with respect to.", "{at}", "got p = str 'a' at ['w'][1]",
        ELSEWHERE]),
    integer_in_a_list: (errors.InputError, [
        "vjp needs real or complex numbers to differentiate with respect to, and integers are none: pass  "
        "x.astype(float).", "{at}", "got primals[1] = int64[] at [1]", ELSEWHERE]),
    integer_in_a_dataclass: (errors.InputError, [
        "grad needs real or complex numbers to differentiate with respect to.", "{at}",
        "got ps = int 3 at [0]['exponent']",
        ELSEWHERE[:-1] + ", or make it a setting,  exponent: int = ad.tree.static()."]),
    not_a_place: (errors.InputError, [
        "argnums has to be an integer or a tuple of different integers.", "{at}", "got float 1.5", POINT]),
    name_as_a_place: (errors.InputError, [
        "argnums has to be an integer or a tuple of different integers.", "{at}", "got str 'p'",
        "Choose arguments by their names with  argnames='p'."]),
    names_as_places: (errors.InputError, [
        "argnums has to be an integer or a tuple of different integers.", "{at}", "got tuple",
        "Choose arguments by their names with  argnames=('x', 'y')."]),
    one_place_twice: (errors.InputError, [
        "argnums has to be an integer or a tuple of different integers.", "{at}", "got tuple", POINT]),
    arguments_without_a_tuple: (errors.TangentError, [
        "jvp takes the arguments as one tuple, and their tangents as another.", "{at}",
        "primals has to be a tuple of arguments; it is float64[3]",
        "got float64[3] and float64[3]",
        "Write  ad.jvp(f, (x,), (dx,))."]),
    number_without_a_tuple: (errors.TangentError, [
        "hvp takes the arguments as one tuple, and their tangents as another.", "{at}",
        "primals has to be a tuple of arguments; it is float 1.0",
        "got float 1.0 and float 1.0",
        "Write  ad.hvp(f, (x,), (dx,))."]),
    checked_without_a_tuple: (errors.InputError, [
        "check_grads takes the arguments as one tuple.", "{at}",
        "got args = float64[3]", "Write  check_grads(f, (x,))."]),
    checked_at_an_integer: (errors.InputError, [
        "check_grads needs real or complex numbers to differentiate with respect to.", "{at}",
        "got args[0] = int 1152921504606846977", NUMBERS]),
    no_pair_in_vjp: (errors.OutputError, [
        "With has_aux=True the function has to return a pair (value, aux).", "{at}", "got float64[]",
        "Write  return value, aux."]),
    no_pair_in_jvp: (errors.OutputError, [
        "With has_aux=True the function has to return a pair (value, aux).", "{at}", "got float64[]",
        "Write  return value, aux."]),
    masked_array: (errors.InputError, [
        "grad does not differentiate with respect to subclasses of ndarray: their arithmetic is their own.", "{at}",
        "got numpy.ma.MaskedArray", "Pass  x.filled(0.0),  and the mask as another argument."]),
    array_result: (errors.OutputError, [
        "grad needs a function that returns one real number.", "{at}", "got float64[3]", ONE_NUMBER]),
    list_result: (errors.OutputError, [
        "grad needs a function that returns one real number.", "{at}", "got list",
        "Return a number; use  has_aux=True  to return anything else as well."]),
    complex_result: (errors.OutputError, [
        "grad needs a function that returns one real number.", "{at}", "got complex 1j", ONE_NUMBER]),
    generator_result: (errors.OutputError, [
        "jvp needs a function that returns numbers, arrays or containers of them.", "{at}", "got generator",
        "A generator or coroutine has to be run inside the function; to return anything else as well, "
        "use  has_aux=True."]),
    no_pair: (errors.OutputError, [
        "With has_aux=True the function has to return a pair (value, aux).", "{at}", "got float64[]",
        "Write  return value, aux."]),
    no_such_argument: (errors.InputError, [
        "There is no positional argument number 1 to differentiate with respect to.", "{at}",
        "got 1 positional arguments", "Pass the argument by position, and choose it with  argnums."]),
    tangent_structure: (errors.TangentError, [
        "The tangents given to jvp do not have the structure of the primals.", "{at}",
        "got tuple of 1 leaves for 2, none for primals[1]",
        "Give tuples of the same containers, as in  ad.jvp(f, (x, y), (dx, dy))."]),
    tangent_without_a_key: (errors.TangentError, [
        "The tangents given to jvp do not have the structure of the primals.", "{at}",
        "got tuple of 2 leaves for 3, none for primals[0]['b'][0], primals[0]['b'][1], tangents[0]['c'] for no primal",
        "Give tuples of the same containers, as in  ad.jvp(f, (x, y), (dx, dy))."]),
    tangent_in_other_containers: (errors.TangentError, [
        "The tangents given to jvp do not have the structure of the primals.", "{at}", "got tuple of 2 leaves for 2",
        "Give tuples of the same containers, as in  ad.jvp(f, (x, y), (dx, dy))."]),
    tangent_shape: (errors.TangentError, [
        "A tangent given to jvp does not have the shape of its primal.", "{at}",
        "got tangents[0] = float64[2] for float64[3]",
        "Give an array of the same shape."]),
    tangent_complex: (errors.TangentError, [
        "A real argument cannot move in a complex direction.", "{at}", "got tangents[0] = complex128[3] for float64[3]",
        "Give a real tangent, or a complex primal."]),
    cotangent_shape: (errors.TangentError, [
        "The cotangent given to vjp does not have the shape of its value.", "{at}", "got float64[2] for float64[3]",
        "Give an array of the same shape as the result."]),
    cotangent_structure: (errors.TangentError, [
        "The cotangent does not have the structure of the function's result.", "{at}", "got list",
        "Give a cotangent in the same containers as the value that vjp returned."]),
    not_holomorphic: (errors.NotDifferentiableError, [
        "A complex result has a Jacobian with respect to a complex argument only if it is holomorphic.", "{at}",
        "Take the Jacobian of  np.real  and  np.imag  of the result one after the other."]),
    unbatched_result: (errors.BatchError, [
        "A result with out_axes=None has to be the same for all examples.", "{at}", "got float64[]",
        "Give an axis for this result."]),
    vjp_count: (errors.TangentError, [
        "The VJP of '<lambda>' has to return a tuple with one cotangent for each argument.", "{at}",
        "got tuple for 2 arguments",
        "Return  (g,)  for one argument, and None for an argument that has no derivative."]),
    vjp_shape: (errors.TangentError, [
        "The rule of '<lambda>' returned a cotangent that does not have the shape of its value.", "{at}",
        "got float64[3] for float 1.0", "Sum over what was broadcast, or broadcast to the shape of the value."]),
}  # fmt: skip


@pytest.mark.parametrize("function", OUTSIDE, ids=lambda f: f.__name__)
def test_at_the_call(function):
    """Errors at the line that asks for the derivative."""
    error, lines = OUTSIDE[function]
    check(error, lines, function, lambda f: f())


def of_a_dict(p):
    """A function of a dict, which a tuple around it does not fit."""
    return p["w"]


@pytest.mark.parametrize("transform", ["vjp", "linearize"])
def test_arguments_in_a_tuple(transform):
    """Python's own error stands, with a note on how arguments are passed; an error of a list has none."""
    with pytest.raises(TypeError, match="tuple indices must be integers") as caught:
        getattr(ad, transform)(of_a_dict, ({"w": 1.0},))
    assert caught.value.__notes__ == [
        "The function was called with one tuple. If that was meant as its arguments: "
        f"{transform} takes them one by one, as  ad.{transform}(f, x, y)."
    ]
    with pytest.raises(TypeError) as caught:
        getattr(ad, transform)(of_a_dict, [1.0])
    assert not getattr(caught.value, "__notes__", [])


def test_cotangents_of_other_numbers_are_converted():
    """An integer is a number that the result could be moved by."""
    (found,) = ad.vjp(np.sin, np.zeros(2))[1](np.array([1, 2]))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [1.0, 2.0])


def test_builtin_classes():
    """Each error is caught by the builtin a user would think of."""
    assert issubclass(errors.InputError, TypeError)
    assert issubclass(errors.TangentError, ValueError)
    assert issubclass(errors.GradientCheckError, AssertionError)


def test_a_failed_check_shows_both_numbers():
    """check_grads says which mode is wrong, and by how much."""
    wrong = ad.custom_rule(lambda x: x**2, jvp=lambda primals, out, tangents: primals[0] * tangents[0])
    with pytest.raises(errors.GradientCheckError) as caught:
        ad.testing.check_grads(wrong, (3.0,))
    text = str(caught.value)
    assert text.startswith("forward mode disagrees with the central difference: ")
    assert "instead of" in text
