"""Arguments as the inside of a function knows them: a placeholder for each tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec, TypeSpec
from weft.lib.functions.arguments import Arguments
from weft.ops.lists.tensor_array import TensorArray, build_ta_with_new_flow


def placeholders(given: Arguments, signature: tuple[Any, ...] | None) -> Arguments:
    """The same arguments with a placeholder of the default graph for each tensor."""
    specs = _specs_of_leaves(given, signature)
    made = [
        _placeholder(leaf, spec, name)
        for leaf, spec, name in zip(given.leaves, specs, given.leaf_names(), strict=True)
    ]
    found = given.with_leaves(made)
    return Arguments(
        nest.map_structure(_composite, found.args),
        nest.map_structure(_composite, found.kwargs),
        found.names,
    )


def _specs_of_leaves(given: Arguments, signature: tuple[Any, ...] | None) -> list[Any]:
    """The signature's spec of each leaf; None where it has none."""
    if signature is None:
        return [None] * len(given.leaves)
    flat = [each for spec in nest.flatten(signature) for each in component_specs(spec)]
    return [*flat, *[None] * (len(given.leaves) - len(flat))]


def _placeholder(leaf: Any, spec: TensorSpec | None, name: str) -> Any:
    if isinstance(leaf, TensorArray):
        return build_ta_with_new_flow(leaf, _placeholder(leaf.flow, None, name))
    known = spec if spec is not None else leaf
    if not isinstance(known, (Tensor, TensorSpec)):
        return leaf
    asked = known.name if isinstance(known, TensorSpec) and known.name else name
    shape: TensorShape = known.shape
    return raw.Placeholder(
        known.dtype.base_dtype, shape=None if shape.ndims is None else shape, name=asked
    )


def _composite(leaf: Any) -> Any:
    """A spec of a value of several tensors becomes such a value."""
    if not isinstance(leaf, TypeSpec) or isinstance(leaf, TensorSpec):
        return leaf
    return from_components(leaf, lambda spec: _placeholder(None, spec, "component"))


def component_specs(spec: Any) -> list[Any]:
    """The specs of the tensors that a value consists of, in the order in which calls take them."""
    if not isinstance(spec, TypeSpec) or isinstance(spec, TensorSpec):
        return [spec]
    return [each for part in nest.flatten(spec._component_specs) for each in component_specs(part)]


def from_components(spec: Any, tensor: Callable[[TensorSpec], Any]) -> Any:
    """A value of this type; `tensor` gives the tensors that it consists of, one by one."""
    if not isinstance(spec, TypeSpec):
        return spec
    if isinstance(spec, TensorSpec):
        return tensor(spec)
    parts = nest.map_structure(lambda part: from_components(part, tensor), spec._component_specs)
    return spec._from_components(parts)
