"""A graph that grows: operations take names of values, arrays and numbers, and give names."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..labels import Array

ML_OPSET = 3
IR = 9
"""What onnxruntime has read since 1.16."""


class OnnxGraph:
    """Nodes, constants and inputs of a model to be; numbers in it are of one type."""

    def __init__(self, dtype: np.dtype, opset: int) -> None:
        self.dtype = dtype
        self.opset = opset
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.count = 0

    def input(self, name: str, columns: int | None, dtype: Any = None) -> str:
        """A new input of so many columns, or a vector, with any number of rows."""
        kind = (
            onnx.TensorProto.STRING if dtype is str else helper.np_dtype_to_tensor_dtype(np.dtype(dtype or self.dtype))
        )
        shape: list[str | int | None] = ["rows"] if columns is None else ["rows", columns]
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, value: Any) -> str:
        """An array; real numbers get the type of the graph, texts are texts."""
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(self.dtype)
        name = self._new("c")
        if array.dtype.kind in "UO":
            texts: Any = [str(text).encode() for text in array.ravel()]
            self.constants.append(helper.make_tensor(name, onnx.TensorProto.STRING, array.shape, texts))
        else:
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        return name

    def __call__(self, operation: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """The result of an operation."""
        (name,) = self.several(operation, 1, *inputs, domain=domain, **attributes)
        return name

    def several(self, operation: str, results: int, *inputs: Any, domain: str = "", **attributes: Any) -> list[str]:
        """The results of an operation that has several."""
        names = [x if isinstance(x, str) else self.constant(x) for x in inputs]
        found = [self._new("v") for _ in range(results)]
        self.nodes.append(helper.make_node(operation, names, found, domain=domain, **attributes))
        return found

    def number(self, x: str) -> str:
        """Truth values or integers as numbers."""
        return self("Cast", x, to=helper.np_dtype_to_tensor_dtype(self.dtype))

    def cast(self, x: str, dtype: Any) -> str:
        """Values of another type."""
        return self("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def columns(self, x: str, places: Any) -> str:
        """Some columns of a matrix."""
        return self("Gather", x, np.asarray(places, dtype=np.int64), axis=1)

    def column(self, x: str, place: int) -> str:
        """One column of a matrix, as a vector."""
        return self("Gather", x, np.int64(place), axis=1)

    def joined(self, *parts: str) -> str:
        """Matrices side by side."""
        return parts[0] if len(parts) == 1 else self("Concat", *parts, axis=1)

    def standing(self, x: str) -> str:
        """A vector as a matrix of one column."""
        return self("Unsqueeze", x, np.array([1]))

    def total(self, x: str, axis: int = 1, *, keep: bool = False) -> str:
        """Sums along an axis."""
        return self("ReduceSum", x, np.array([axis]), keepdims=int(keep))

    def affine(self, x: str, matrix: Array, offset: Any = None) -> str:
        """X W + b."""
        product = self("MatMul", x, np.asarray(matrix, dtype=np.float64))
        return product if offset is None else self("Add", product, np.asarray(offset, dtype=np.float64))

    def finished(self, outputs: dict[str, str], doc: str) -> Any:
        """The model with these outputs."""
        for name, value in outputs.items():
            self.nodes.append(helper.make_node("Identity", [value], [name]))
        infos = [helper.make_tensor_value_info(name, 0, None) for name in outputs]
        for info in infos:
            info.ClearField("type")
        graph = helper.make_graph(self.nodes, "adjoint", self.inputs, infos, self.constants, doc_string=doc)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR, producer_name="adjoint")
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        onnx.checker.check_model(model)
        return model

    def _new(self, start: str) -> str:
        self.count += 1
        return f"{start}{self.count}"
