"""Classes: attributes that objects share, inherit or have from a metaclass, and classes that are assigned."""

import pytest

from .table import follows, setting, table

CASES, case = table()


@case
def class_attribute():
    class Local:
        k = 2.0

    held = Local()
    return lambda x: x * held.k, setting(Local, "k", 5.0)


@case
def class_attribute_hidden_by_an_instance():
    class Local:
        k = 2.0

    held = Local()
    return lambda x: x * held.k, setting(held, "k", 5.0)


@case
def inherited_attribute():
    class Base:
        k = 2.0

    class Local(Base):
        pass

    held = Local()
    return lambda x: x * held.k, setting(Base, "k", 5.0)


@case
def metaclass_attribute():
    class Meta(type):
        k = 2.0

    class Local(metaclass=Meta):
        pass

    return lambda x: x * Local.k, setting(Meta, "k", 5.0)


@case
def metaclass_property():
    class Meta(type):
        hidden = [2.0]  # noqa: RUF012

        @property
        def k(cls):
            return cls.hidden[0]

    class Local(metaclass=Meta):
        pass

    return lambda x: x * Local.k, lambda: Meta.hidden.__setitem__(0, 5.0)


@case
def bases_assigned():
    class A:
        k = 2.0

    class B:
        k = 5.0

    class Local(A):
        pass

    held = Local()
    return lambda x: x * held.k, setting(Local, "__bases__", (B,))


@case
def class_assigned():
    class A:
        k = 2.0

    class B:
        k = 5.0

    held = A()
    return lambda x: x * held.k, setting(held, "__class__", B)


@pytest.mark.parametrize("name", CASES)
def test_classes(name):
    """The next call sees the change."""
    f, *changes = CASES[name]()
    follows(f, *changes)
