"""Objects and classes: attributes however they are stored and found."""

import abc
import collections
import dataclasses
import enum
import functools
import types

import pytest

from .table import Thing, follows, setting, table

CASES, case = table()

# objects


@case
def namespace():
    held = types.SimpleNamespace(k=2.0)
    return lambda x: x * held.k, setting(held, "k", 5.0)


@case
def data_class():
    @dataclasses.dataclass
    class Settings:
        k: float

    held = Settings(2.0)
    return lambda x: x * held.k, setting(held, "k", 5.0)


@case
def frozen_data_class():
    @dataclasses.dataclass(frozen=True)
    class Settings:
        k: list

    held = Settings([2.0])
    return lambda x: x * held.k[0], lambda: object.__setattr__(held, "k", [5.0])


@case
def data_class_with_slots():
    @dataclasses.dataclass(slots=True)
    class Settings:
        k: float

    held = Settings(2.0)
    return lambda x: x * held.k, setting(held, "k", 5.0)


@case
def private_slot():
    class Local:
        __slots__ = ("__k",)

        def __init__(self):
            self.__k = 2.0

        def get(self):
            return self.__k

    held = Local()
    return lambda x: x * held.get(), setting(held, "_Local__k", 5.0)


@case
def data_class_as_a_dict():
    @dataclasses.dataclass
    class Settings:
        k: float

    held = Settings(2.0)
    return lambda x: x * sum(dataclasses.asdict(held).values()), setting(held, "k", 5.0)


@case
def named_tuple():
    pair = collections.namedtuple("pair", "a b")
    held = pair(1.0, [2.0])
    return lambda x: x * held.b[0], lambda: held.b.__setitem__(0, 5.0)


@case
def enum_member():
    class Mode(enum.Enum):
        A = [2.0]  # noqa: RUF012

    return lambda x: x * Mode.A.value[0], lambda: Mode.A.value.__setitem__(0, 5.0)


@case
def property_of_hidden_setting():
    class Local:
        _k = 2.0

        @property
        def k(self):
            return self._k

    held = Local()
    return lambda x: x * held.k, setting(held, "_k", 5.0)


@case
def property_replaced():
    class Local:
        k = property(lambda self: 2.0)

    held = Local()
    return lambda x: x * held.k, setting(Local, "k", property(lambda self: 5.0))


@case
def descriptor():
    class Descriptor:
        k = 2.0

        def __get__(self, owner, kind):
            return self.k

    class Local:
        k = Descriptor()

    held = Local()
    return lambda x: x * held.k, setting(vars(Local)["k"], "k", 5.0)


@case
def dynamic_setting():
    class Local:
        def __init__(self):
            self._table = {"k": 2.0}

        def __getattr__(self, name):
            return self._table[name]

    held = Local()
    return lambda x: x * held.k, lambda: held._table.update(k=5.0)


@case
def every_attribute_goes_through_a_method():
    class Local:
        def __getattribute__(self, name):
            return TABLE[name]

    held = Local()
    return lambda x: x * held.k, lambda: TABLE.update(k=TABLE["k"] + 1)


TABLE = {"k": 2.0}


@case
def dict_assigned():
    held = Thing(k=2.0)
    return lambda x: x * held.k, setting(held, "__dict__", {"k": 5.0})


@case
def attribute_added():
    held = Thing()
    return lambda x: x * getattr(held, "k", 2.0), setting(held, "k", 5.0)


@case
def attribute_removed():
    held = Thing(k=5.0)
    return lambda x: x * getattr(held, "k", 2.0), lambda: delattr(held, "k")


@case
def attribute_as_computed_text():
    held = Thing(layer_1=2.0)
    return lambda x: x * getattr(held, f"layer_{len(x) - 1}"), setting(held, "layer_1", 5.0)


@case
def method_as_computed_text():
    class Local:
        k = [2.0]  # noqa: RUF012

        def act_one(self, x):
            return x * self.k[0]

    held = Local()
    return lambda x: getattr(held, "act_" + "one")(x), lambda: Local.k.__setitem__(0, 5.0)


@case
def all_attributes():
    held = Thing(a=2.0, b=3.0)
    return lambda x: x * sum(vars(held).values()), setting(held, "b", 5.0)


@case
def formatted_attribute():
    held = Thing(k=2.0)
    return lambda x: x * float(f"{held.k}"), setting(held, "k", 5.0)


@case
def callable_object():
    class Local:
        def __init__(self):
            self.k = [2.0]

        def __call__(self, x):
            return x * self.k[0]

    held = Local()
    return held, lambda: held.k.__setitem__(0, 5.0)


@case
def bound_method():
    class Local:
        k = 2.0

        def scaled(self, x):
            return x * self.k

    held = Local()
    return held.scaled, setting(held, "k", 5.0)


@case
def class_method():
    class Local:
        k = 2.0

        @classmethod
        def scaled(cls, x):
            return x * cls.k

    return Local.scaled, setting(Local, "k", 5.0)


@case
def static_method_replaced():
    class Local:
        @staticmethod
        def scaled(x):
            return x * 2.0

    return lambda x: Local.scaled(x), setting(Local, "scaled", staticmethod(lambda x: x * 5.0))


@case
def operator_of_an_object():
    class Local:
        k = 2.0

        def __rmul__(self, x):
            return x * self.k

        __array_ufunc__ = None

    held = Local()
    return lambda x: np_sum_of(x) * held, setting(held, "k", 5.0)


def np_sum_of(x):
    """A number, so that the object's own operator is asked."""
    return x[0] + x[1]


@case
def context_manager():
    class Local:
        k = 2.0

        def __enter__(self):
            return self.k

        def __exit__(self, *error):
            pass

    held = Local()

    def f(x):
        with held as k:
            return x * k

    return f, setting(held, "k", 5.0)


@case
def object_in_a_closure_in_an_object_in_a_closure():
    inner = Thing(k=2.0)
    held = Thing(f=lambda x: x * inner.k)
    return lambda x: held.f(x), setting(inner, "k", 5.0)


@case
def circle_of_objects():
    a, b = Thing(k=2.0), Thing()
    a.other, b.other = b, a
    return lambda x: x * b.other.k, setting(a, "k", 5.0)


@case
def abstract_base():
    class Base(abc.ABC):
        k = 2.0

        @abc.abstractmethod
        def scaled(self, x): ...

    class Local(Base):
        def scaled(self, x):
            return x * self.k

    held = Local()
    return lambda x: held.scaled(x), setting(Base, "k", 5.0)


@case
def equal_to_everything():
    class Local:
        def __init__(self, k):
            self.k = k

        def __eq__(self, other):
            return True

        __hash__ = object.__hash__

    held = {"a": Local(2.0)}
    return lambda x: x * held["a"].k, lambda: held.update(a=Local(5.0))


@case
def instance_and_class_with_one_name():
    class Local:
        k = 2.0

    held = Local()
    held.k = 3.0
    return lambda x: x * held.k * Local.k, setting(Local, "k", 5.0), lambda: delattr(held, "k")


@case
def wrapped_function():
    held = [2.0]

    @functools.wraps(len)
    def f(x):
        return x * held[0]

    return f, lambda: held.__setitem__(0, 5.0)


@pytest.mark.parametrize("name", CASES)
def test_objects(name):
    """The next call sees the change."""
    f, *changes = CASES[name]()
    follows(f, *changes)
