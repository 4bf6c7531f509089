"""Containers: Python's, those of the standard library, and classes built on them."""

import array
import collections
import ctypes
import types

import numpy as np
import pytest

from .table import follows, setting, table

CASES, case = table()

# containers


@case
def list_item():
    held = [2.0, 3.0]
    return lambda x: x * held[0], lambda: held.__setitem__(0, 5.0)


@case
def nested_containers():
    held = {"a": [({"b": [2.0]},)]}
    return lambda x: x * held["a"][0][0]["b"][0], lambda: held["a"][0][0]["b"].__setitem__(0, 5.0)


@case
def tuple_with_a_list():
    held = (1.0, [2.0])
    return lambda x: x * held[1][0], lambda: held[1].__setitem__(0, 5.0)


@case
def set_of_numbers():
    held = {2.0}
    return lambda x: x * sum(held), lambda: held.add(5.0)


@case
def deque():
    held = collections.deque([2.0])
    return lambda x: x * held[0], lambda: held.appendleft(5.0)


@case
def list_subclass():
    class Listed(list):
        pass

    held = Listed([2.0])
    held.k = 3.0
    return lambda x: x * held[0] * held.k, setting(held, "k", 5.0)


@case
def list_subclass_that_lies():
    class Listed(list):
        def __iter__(self):
            return iter([1.0])

        def __len__(self):
            return 1

    held = Listed([2.0])
    return lambda x: x * held[0], lambda: held.__setitem__(0, 5.0)


@case
def dict_subclass():
    class Named(dict):
        k = 3.0

    held = Named(a=2.0)
    return lambda x: x * held["a"] * held.k, setting(held, "k", 5.0)


@case
def tuple_subclass():
    class Pair(tuple):
        pass

    held = Pair([2.0])
    held.k = 3.0
    return lambda x: x * held[0] * held.k, setting(held, "k", 5.0)


@case
def int_subclass():
    class Number(int):
        pass

    held = Number(2)
    held.k = 3.0
    return lambda x: x * held * held.k, setting(held, "k", 5.0)


@case
def ordered_dict():
    held = collections.OrderedDict(a=2.0, b=3.0)
    return lambda x: x * next(iter(held.values())), lambda: held.move_to_end("a")


@case
def default_dict():
    held = collections.defaultdict(lambda: 1.0, a=2.0)
    return lambda x: x * held["a"], lambda: held.update(a=5.0)


@case
def factory_of_a_default_dict():
    held = collections.defaultdict(lambda: 1.0, a=2.0)
    return lambda x: x * dict(held).get("b", held.default_factory()), setting(held, "default_factory", lambda: 4.0)


@case
def chain_map():
    held = collections.ChainMap({}, {"a": 2.0})
    return lambda x: x * held["a"], lambda: held.update(a=5.0)


@case
def user_dict():
    held = collections.UserDict(a=2.0)
    return lambda x: x * held["a"], lambda: held.update(a=5.0)


@case
def user_list():
    held = collections.UserList([2.0])
    return lambda x: x * held[0], lambda: held.__setitem__(0, 5.0)


@case
def counter():
    held = collections.Counter("aab")
    return lambda x: x * held["a"], lambda: held.update("aa")


@case
def mapping_proxy():
    under = {"a": 2.0}
    held = types.MappingProxyType(under)
    return lambda x: x * held["a"], lambda: under.update(a=5.0)


@case
def view_of_values():
    under = {"a": 2.0}
    held = under.values()
    return lambda x: x * sum(held), lambda: under.update(a=5.0)


@case
def bound_method_of_a_list():
    under = [2.0]
    held = under.__getitem__
    return lambda x: x * held(0), lambda: under.__setitem__(0, 5.0)


@case
def bound_get_of_a_dict():
    under = {"a": 2.0}
    held = under.get
    return lambda x: x * held("a"), lambda: under.update(a=5.0)


# memory and iterators


@case
def byte_array():
    held = bytearray(b"\x02")
    return lambda x: x * held[0], lambda: held.__setitem__(0, 5)


@case
def array_of_the_standard_library():
    held = array.array("d", [2.0])
    return lambda x: x * held[0], lambda: held.__setitem__(0, 5.0)


@case
def memory_view():
    under = bytearray(b"\x02")
    held = memoryview(under)
    return lambda x: x * held[0], lambda: under.__setitem__(0, 5)


@case
def foreign_array():
    held = (ctypes.c_double * 2)(2.0, 3.0)
    return lambda x: x * held[0], lambda: held.__setitem__(0, 5.0)


@case
def foreign_structure():
    class Pair(ctypes.Structure):
        _fields_ = (("a", ctypes.c_double), ("b", ctypes.c_double))

    held = Pair(2.0, 3.0)
    return lambda x: x * held.a, setting(held, "a", 5.0)


@case
def foreign_number():
    held = ctypes.c_double(2.0)
    return lambda x: x * held.value, setting(held, "value", 5.0)


@case
def structured_array():
    held = np.zeros(2, [("a", float), ("b", int)])
    return lambda x: x * held["a"] + 1, lambda: held["a"].fill(5.0)


@case
def record_array():
    held = np.rec.fromarrays([[1.0, 2.0], [3, 4]], names="a,b")
    return lambda x: x * np.asarray(held.a), lambda: held.a.__setitem__(0, 5.0)


@case
def record():
    under = np.zeros(2, [("a", float)])
    held = under[0]
    return lambda x: x + held["a"], lambda: under["a"].fill(5.0)


@case
def masked_array():
    held = np.ma.array([1.0, 2.0], mask=[False, True])
    return lambda x: x * held.filled(7.0), lambda: held.__setitem__(0, 5.0)


@case
def mask_of_a_masked_array():
    held = np.ma.array([1.0, 2.0], mask=[False, True])
    return lambda x: x * held.filled(7.0), lambda: held.mask.__setitem__(0, True)


@case
def matrix():
    held = np.eye(2).view(np.matrix)
    return lambda x: np.asarray(held) @ x, lambda: held.__setitem__((0, 1), 5.0)


@case
def array_subclass_with_attributes():
    class Unit(np.ndarray):
        pass

    held = np.ones(2).view(Unit)
    held.scale = 2.0
    return lambda x: x * held.scale * np.asarray(held), setting(held, "scale", 5.0)


@case
def array_of_objects():
    held = np.array([[2.0], [3.0, 4.0]], dtype=object)
    return lambda x: x * held[0][0], lambda: held[0].__setitem__(0, 5.0)


@case
def array_of_objects_replaced():
    held = np.array([2.0, None], dtype=object)
    return lambda x: x * held[0], lambda: held.__setitem__(0, 5.0)


@case
def broadcast_view():
    under = np.array([2.0])
    held = np.broadcast_to(under, (2,))
    return lambda x: x * held, lambda: under.fill(5.0)


@case
def flat_iterator():
    under = np.array([2.0, 3.0])
    held = under.flat
    return lambda x: x * held[0], lambda: under.fill(5.0)


@case
def list_iterator():
    under = [2.0, 3.0]
    held = iter(under)
    return lambda x: x * held.__reduce__()[1][0][held.__reduce__()[2]], lambda: next(held)


@case
def read_only_array():
    under = np.array([2.0, 3.0])
    held = under.view()
    held.flags.writeable = False
    return lambda x: x * held, lambda: under.fill(5.0)


@case
def shape_of_an_array():
    held = np.arange(4.0)
    return lambda x: x * held.shape[0], lambda: held.resize((2, 2), refcheck=False)


@pytest.mark.parametrize("name", CASES)
def test_containers(name):
    """The next call sees the change."""
    f, *changes = CASES[name]()
    follows(f, *changes)
