"""Types for annotations, of this library and of yours: `Array`, `ArrayLike`, `DTypeLike`, `Key`, `Shape`, `Tree`.

To a type checker they are `Any`, but for `Shape`: while a function is differentiated or recorded, traced values stand
for its arrays. They say to readers, and to the functions of the library that ask, what is meant.

>>> import numpy as np
>>> from adjoint.typing import Array, Tree
>>> def outputs(weights: Tree, x: Array) -> Array:
...     return np.tanh(x @ weights["w"] + weights["b"])
"""

from .core.arguments import Array as Array
from .core.arguments import DTypeLike as DTypeLike
from .core.arguments import Key as Key
from .core.arguments import Numbers as ArrayLike
from .core.arguments import Shape as Shape
from .core.arguments import Tree as Tree
from .core.hints import missing

__all__ = ["Array", "ArrayLike", "DTypeLike", "Key", "Shape", "Tree"]

ELSEWHERE = {
    "NDArray": "adjoint.typing.Array",
    "PyTree": "adjoint.typing.Tree",
    "PRNGKey": "adjoint.typing.Key",
    "PRNGKeyArray": "adjoint.typing.Key",
}
"""Names of other libraries, to what means the same here."""

__getattr__ = missing("adjoint.typing", __all__, ELSEWHERE)


def __dir__() -> list[str]:
    return __all__
