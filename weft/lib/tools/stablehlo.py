"""A frozen signature as a StableHLO artifact, which jax and others run without weft."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph
from weft.graph.importer import import_graph_def
from weft.lib.tools.compare_outputs import random_inputs
from weft.lib.tools.signature_graph import SignatureGraph
from weft.runtime.xla import portable

Shapes = dict[str, list[int | None]]


@dataclass(frozen=True)
class Artifact:
    """`shapes` are those of the inputs, with None for symbolic sizes; `fixed_because` is why none
    is, where the signature leaves some open."""

    exported: Any
    shapes: Shapes
    fixed_because: str | None


def export_stablehlo(given: SignatureGraph, sizes: dict[str, Any], batch: int) -> Artifact:
    """The artifact of a signature.

    Sizes that the signature leaves open are symbolic; where that cannot be traced, they are those
    of `sizes` (shapes of inputs), else `batch`.
    """
    _check_types(given)
    shapes = input_shapes(given)
    is_open = any(None in dims for dims in shapes.values())
    try:
        return Artifact(_exported(given, shapes), shapes, None)
    except Exception as error:
        if not is_open or isinstance(error, _Lacking):
            raise _as_value_error(error) from error
        reason = str(error).strip().partition("\n")[0]
    fixed: Shapes = {
        key: list(sizes[key]) if key in sizes else [batch if n is None else n for n in dims]
        for key, dims in shapes.items()
    }
    try:
        return Artifact(_exported(given, fixed), fixed, reason)
    except Exception as error:
        raise _as_value_error(error) from error


class _Lacking(ValueError):
    """Some operations have no equivalent in StableHLO, whatever the shapes."""


def _as_value_error(error: Exception) -> ValueError:
    text = str(error).strip().partition("\n")[0]
    return error if isinstance(error, ValueError) else ValueError(f"cannot be exported: {text}")


def _check_types(given: SignatureGraph) -> None:
    for kind, infos in (("input", given.inputs), ("output", given.outputs)):
        for key, info in infos.items():
            if dtypes.as_dtype(info.dtype) is dtypes.string:
                raise ValueError(
                    f"the {kind} '{key}' is of type string, which StableHLO does not have; export"
                    " a signature that takes and gives numbers"
                )


def input_shapes(given: SignatureGraph) -> Shapes:
    """The shapes of the inputs, as far as the signature tells them."""
    found = {}
    for key, info in given.inputs.items():
        shape = TensorShape(info.tensor_shape)
        if shape.ndims is None:
            raise ValueError(f"the shape of the input '{key}' has no known number of dimensions")
        found[key] = shape.as_list()
    return found


def input_types(given: SignatureGraph) -> dict[str, np.dtype[Any]]:
    """The types of the inputs."""
    return {
        key: np.dtype(dtypes.as_dtype(info.dtype).as_numpy_dtype)
        for key, info in given.inputs.items()
    }


def _exported(given: SignatureGraph, shapes: Shapes) -> Any:
    types = input_types(given)
    with Graph().as_default() as graph:
        import_graph_def(given.graph_def, name="")
        feeds = [graph.get_tensor_by_name(info.name) for info in given.inputs.values()]
        for feed, dims in zip(feeds, shapes.values(), strict=True):
            feed.set_shape(dims)
        _settle_reshapes(graph)
        fetches = [graph.get_tensor_by_name(info.name) for info in given.outputs.values()]
        step = portable.graph_of(feeds, fetches)
    lacking = portable.without_equivalent(step)
    if lacking:
        raise _Lacking(f"operations without an equivalent in StableHLO: {', '.join(lacking)}")
    specs = {key: (shapes[key], types[key]) for key in shapes}
    return portable.exported(step, specs, list(given.outputs))


def _settle_reshapes(graph: Graph) -> None:
    """Gives reshapes that compute one size from another tensor's a constant with -1 in its place:
    a size that is symbolic has no value to compute with."""
    for op in graph.get_operations():
        if op.type != "Reshape" or op.inputs[1].op.type == "Const":
            continue
        dims = op.outputs[0].shape.dims and op.outputs[0].shape.as_list()
        if dims and sum(size is None for size in dims) == 1 and 0 not in dims:
            sizes = [-1 if size is None else size for size in dims]
            op._update_input(
                1, convert_to_tensor(np.array(sizes, op.inputs[1].dtype.as_numpy_dtype))
            )


def serialized(made: Artifact) -> bytes:
    """The bytes of an artifact."""
    try:
        return portable.serialized(made.exported)
    except ImportError as error:
        raise ValueError(f"{error}: pip install 'weft[export]'") from error


def called(content: bytes, values: dict[str, Any]) -> dict[str, np.ndarray]:
    """The outputs of the artifact in these bytes, loaded anew."""
    return portable.called(content, values)


def trials(given: SignatureGraph, made: Artifact) -> list[dict[str, np.ndarray]]:
    """Random inputs of the sizes that an artifact takes, of two where they are open."""
    infos = {key: _with_shape(info, made.shapes[key]) for key, info in given.inputs.items()}
    known = all(None not in dims for dims in made.shapes.values())
    return [
        random_inputs(replace(given, inputs=infos), size) for size in ((1,) if known else (2, 3))
    ]


def _with_shape(info: Any, dims: list[int | None]) -> Any:
    return type(info)(name=info.name, dtype=info.dtype, tensor_shape=TensorShape(dims).as_proto())
