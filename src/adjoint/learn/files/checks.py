"""What has to hold of an object that was made from a file, before anybody uses it.

Compiled code of scikit-learn trusts the attributes of fitted estimators. Where that could read or write outside of an
array, they are looked at here; all else is Python, which raises.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from sklearn.utils._param_validation import validate_parameter_constraints

from .layout import RefusalError


def check_object(name: str, made: Any, attributes: dict[str, Any]) -> None:
    """Refuse an object that its class could not have made."""
    _check_complete(name, made, attributes)
    if name.startswith("nn."):
        _check_fields(name, made)
    if name == "sklearn.OneHotEncoder" and "categories_" in attributes:
        _check_encoder(made)
    if hasattr(attributes.get("tree_"), "n_features"):
        _require(made.tree_.n_features == made.n_features_in_, f"{name} with a tree for other columns")
    if name.startswith(("sklearn.RandomForest", "sklearn.ExtraTrees")) and "estimators_" in attributes:
        inner = all(tree.n_features_in_ == made.n_features_in_ and hasattr(tree, "tree_") for tree in made.estimators_)
        _require(inner, f"{name} with trees for other columns")


def _require(holds: Any, what: str) -> None:
    if not holds:
        raise RefusalError(f"has {what}.")


def _check_fields(name: str, made: Any) -> None:
    """Arrays and numbers of a layer are arrays and numbers."""
    kinds: dict[str, Any] = {"np.ndarray": np.ndarray, "float": (float, int), "int": int, "bool": bool}
    for field in dataclasses.fields(made):
        value, kind = getattr(made, field.name), kinds.get(str(field.type).partition(" | ")[0])
        optional = str(field.type).endswith("| None") and value is None
        _require(optional or kind is None or isinstance(value, kind), f"{name} with a {field.name!r} that is none")
        if isinstance(value, np.ndarray):
            _require(value.dtype.kind in "fiub", f"{name} with a {field.name!r} that is not of numbers")


def _check_encoder(made: Any) -> None:
    """Columns of the one-hot matrix are as many as there are categories, and each category has one of them."""
    widths = [len(categories) for categories in made.categories_]
    outs, drops = made._n_features_outs, made._drop_idx_after_grouping
    if made._infrequent_enabled:
        for k, mapping in enumerate(made._default_to_infrequent_mappings):
            if mapping is not None:
                _require(np.shape(mapping) == (widths[k],), "an encoder whose rare categories are not its own")
                widths[k] = int(np.max(mapping)) + 1
                _require(np.min(mapping) >= 0 and widths[k] <= len(mapping), "an encoder with categories that are none")
    if drops is not None:
        _require(len(drops) == len(widths), "an encoder that leaves out what it has not")
        _require(all(d is None or 0 <= d < w for d, w in zip(drops, widths, strict=True)), "an encoder without columns")
        widths = [w if d is None else w - 1 for d, w in zip(drops, widths, strict=True)]
    _require(outs == widths and len(outs) == made.n_features_in_, "an encoder whose columns are not its categories")


def check_attribute(name: str, kind: type, attribute: str) -> None:
    """Attributes are data: none takes the place of a method, or of what belongs to the class."""
    fields = getattr(kind, "__dataclass_fields__", {})
    taken = hasattr(kind, attribute) and attribute not in fields
    if not attribute.isidentifier() or attribute.startswith("__") or (taken and not issubclass(kind, dict)):
        raise RefusalError(f"has an attribute {attribute[:40]!r} of {name}, which is none.")


def _check_complete(name: str, made: Any, attributes: dict[str, Any]) -> None:
    """An object has all its parameters, with values that its class takes."""
    kind = type(made)
    names = kind._get_param_names() if hasattr(kind, "_get_param_names") else getattr(kind, "__dataclass_fields__", ())
    missing = [parameter for parameter in names if parameter not in attributes]
    if missing:
        raise RefusalError(f"has no {missing[0]!r} of {name}.")
    constraints = getattr(kind, "_parameter_constraints", None)
    if constraints and hasattr(kind, "_get_param_names"):
        known = {parameter: attributes[parameter] for parameter in names if parameter in constraints}
        validate_parameter_constraints(constraints, known, name)


def tree_of(features: Any, counts: Any, outputs: Any, depth: Any, values: Any, columns: Any) -> Any:
    """A decision tree whose nodes lead nowhere but to nodes further down: walking it ends, and stays inside."""
    from sklearn.tree._tree import Tree

    made = Tree(features, counts, outputs)
    dtype = made.__reduce__()[2]["nodes"].dtype
    if set(columns) != set(dtype.names) or not 0 < features < 2**31:
        raise RefusalError("has a decision tree with other columns than this scikit-learn's.")
    count = len(columns["left_child"])
    nodes = np.zeros(count, dtype=dtype)
    for name in dtype.names:
        if columns[name].shape != (count,) or columns[name].dtype != dtype[name]:
            raise RefusalError("has a decision tree with columns of other types than this scikit-learn's.")
        nodes[name] = columns[name]
    left, right, here = nodes["left_child"], nodes["right_child"], np.arange(count)
    inner = left != -1
    down = (left > here) & (right > here) & (left < count) & (right < count)
    known = (nodes["feature"] >= 0) & (nodes["feature"] < features)
    if count == 0 or not np.all(np.where(inner, down & known, right == -1)):
        raise RefusalError("has a decision tree whose nodes do not make a tree.")
    made.__setstate__({"max_depth": depth, "node_count": count, "nodes": nodes, "values": values})
    return made
