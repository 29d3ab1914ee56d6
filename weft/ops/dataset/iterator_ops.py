"""The operations on iterators."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft.core.errors import OutOfRangeError
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import BLOCKING, HOST_STATE
from weft.ops.control.optional import OptionalValue
from weft.ops.dataset.declare import STRUCTURE, output_shapes
from weft.ops.dataset.functions import Captured, captured
from weft.ops.dataset.iterator_object import IteratorResource, check_shapes, check_types
from weft.ops.dataset.objects import Dataset
from weft.ops.dataset.saved_state import decode, encode
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.values import cell, for_kernels
from weft.ops.kit.resource_names import find_or_make
from weft.ops.kit.shared import invalid

_ANY_STRUCTURE = "output_types: list(type) >= 0 = [], output_shapes: list(shape) >= 0 = []"
_serial = itertools.count()


# ---- making them ---------------------------------------------------------------------------------


def _made(ctx: Any, container: str, shared_name: str) -> IteratorResource:
    attrs = ctx.node.attrs
    found, existed = find_or_make(
        ctx, "iterator", container, shared_name,
        lambda name: IteratorResource(name, attrs["output_types"], attrs["output_shapes"]),
    )  # fmt: skip
    if existed:
        found.check_like(attrs["output_types"], attrs["output_shapes"])
    return found


def _handle_op(name: str) -> None:
    @op(
        name, outputs="handle: resource", shape=s.scalar,
        attrs=f"shared_name: string, container: string, {STRUCTURE}", traits=HOST_STATE,
    )  # fmt: skip
    def iterator(xp: Any, ctx: Any, *, shared_name: str, container: str) -> IteratorResource:
        return _made(ctx, container, shared_name)


_handle_op("Iterator")
_handle_op("IteratorV2")


@op(
    "OneShotIterator", outputs="handle: resource", shape=s.scalar,
    attrs=f'dataset_factory: func, {STRUCTURE}, container: string = "", shared_name: string = ""',
    traits=HOST_STATE,
)  # fmt: skip
def one_shot_iterator(
    xp: Any, ctx: Any, *, dataset_factory: Any, container: str, shared_name: str
) -> IteratorResource:
    found = _made(ctx, container, shared_name)
    if found.factory is None:
        function = captured(ctx, dataset_factory, [])
        found.factory = lambda: _from_factory(function)
    return found


def _from_factory(function: Captured) -> Dataset:
    scope = Scope()
    try:
        results = function.bind(scope)(())
    finally:
        scope.close()
    if len(results) != 1 or not isinstance(results[0], Dataset):
        raise invalid(
            "The `dataset_factory` function must return a single scalar of dtype DT_VARIANT."
        )
    return results[0]


def _anonymous(ctx: Any) -> IteratorResource:
    attrs = ctx.node.attrs
    name = f"AnonymousIterator{next(_serial)}"
    return IteratorResource(name, attrs["output_types"], attrs["output_shapes"])


@op(
    "AnonymousIterator",
    outputs="handle: resource",
    attrs=STRUCTURE,
    shape=s.scalar,
    traits=HOST_STATE,
)
def anonymous_iterator(xp: Any, ctx: Any) -> IteratorResource:
    return _anonymous(ctx)


@op(
    "AnonymousIteratorV2", outputs="handle: resource, deleter: variant", attrs=STRUCTURE,
    shape=lambda c: [(), ()], traits=HOST_STATE,
)  # fmt: skip
def anonymous_iterator_v2(xp: Any, ctx: Any) -> Any:
    made = _anonymous(ctx)
    return made, made


@op("DeleteIterator", inputs="handle: resource, deleter: variant", shape=s.none, traits=HOST_STATE)
def delete_iterator(xp: Any, ctx: Any, handle: IteratorResource, deleter: Any) -> None:
    ctx.resources.remove(handle)
    handle.released()


@op("MakeIterator", inputs="dataset: variant, iterator: resource", shape=s.none, traits=HOST_STATE)
def make_iterator(xp: Any, ctx: Any, dataset: Dataset, iterator: IteratorResource) -> None:
    source = ctx.node.inputs[0][0]
    types = source.attrs.get("output_types")
    if types is not None:
        check_types(iterator.types, types)
        check_shapes(iterator.shapes, source.attrs["output_shapes"])
    iterator.initialize(dataset)


# ---- taking from them ----------------------------------------------------------------------------


def _get_next_op(name: str) -> None:
    @op(
        name, inputs="iterator: resource", outputs="components: list(output_types)",
        attrs=STRUCTURE, shape=output_shapes, traits=HOST_STATE | BLOCKING,
    )  # fmt: skip
    def get_next(xp: Any, ctx: Any, iterator: IteratorResource) -> Any:
        return iterator.get_next()


_get_next_op("IteratorGetNext")
_get_next_op("IteratorGetNextSync")


@op(
    "IteratorGetNextAsOptional", inputs="iterator: resource", outputs="optional: variant",
    attrs=STRUCTURE, shape=s.scalar, traits=HOST_STATE | BLOCKING,
)  # fmt: skip
def iterator_get_next_as_optional(xp: Any, ctx: Any, iterator: IteratorResource) -> Any:
    try:
        found = iterator.get_next(_optional)
    except OutOfRangeError:
        return OptionalValue(None)
    return _or_none(found) if not isinstance(found, OptionalValue) else found


def _optional(element: Any) -> Any:
    return [OptionalValue(for_kernels(element))]


def _or_none(found: Any) -> Any:
    """At the end there is no value, which is no error."""
    from weft.core.deferred import Deferred

    if not isinstance(found, Deferred):
        return found[0]
    answer = Deferred(on_cancel=found.cancel, then=lambda outputs: [outputs])

    def sink(element: Any, error: BaseException | None) -> None:
        if isinstance(error, OutOfRangeError):
            answer.complete(OptionalValue(None))
        elif error is not None:
            answer.fail(error)
        else:
            answer.complete(OptionalValue(for_kernels(element)))

    found.deliver_to(sink)
    return answer


# ---- handles as strings --------------------------------------------------------------------------


def _handles(ctx: Any) -> dict[bytes, IteratorResource]:
    table: dict[bytes, IteratorResource] = ctx.resources.get_or_make(
        "weft_iterators", "handles", "by name", dict
    )
    return table


@op(
    "IteratorToStringHandle", inputs="resource_handle: resource", outputs="string_handle: string",
    shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def iterator_to_string_handle(xp: Any, ctx: Any, resource_handle: IteratorResource) -> Any:
    text = f"iterator {resource_handle.name} {id(resource_handle):x}".encode()
    _handles(ctx)[text] = resource_handle
    return cell(text)


def _from_string_op(name: str) -> None:
    @op(
        name, inputs="string_handle: string", outputs="resource_handle: resource",
        attrs=_ANY_STRUCTURE, shape=s.scalar, traits=HOST_STATE,
    )  # fmt: skip
    def from_string(xp: Any, ctx: Any, string_handle: Any) -> IteratorResource:
        if np.ndim(string_handle):
            raise invalid("string_handle must be a scalar")
        found = _handles(ctx).get(np.asarray(string_handle).item())
        if found is None:
            raise invalid("Could not parse string_handle as a valid ResourceHandle")
        types = ctx.node.attrs["output_types"]
        if types:
            found.check_like(types, ctx.node.attrs["output_shapes"] or [None] * len(types))
        return found


_from_string_op("IteratorFromStringHandle")
_from_string_op("IteratorFromStringHandleV2")


def _get_device_op(name: str) -> None:
    @op(
        name,
        inputs="resource: resource",
        outputs="device: string",
        shape=s.scalar,
        traits=HOST_STATE,
    )
    def iterator_get_device(xp: Any, ctx: Any, resource: Any) -> Any:
        return cell((ctx.node.device or "/device:CPU:0").encode())


_get_device_op("IteratorGetDevice")
_get_device_op("ExperimentalIteratorGetDevice")


# ---- saving --------------------------------------------------------------------------------------


@op(
    "SerializeIterator", inputs="resource_handle: resource", outputs="serialized: variant",
    shape=lambda c: (None,), traits=HOST_STATE,
)  # fmt: skip
def serialize_iterator(xp: Any, ctx: Any, resource_handle: IteratorResource) -> Any:
    out = np.empty(1, object)
    out[0] = encode(resource_handle.save())
    return out


@op(
    "DeserializeIterator", inputs="resource_handle: resource, serialized: variant", shape=s.none,
    traits=HOST_STATE,
)  # fmt: skip
def deserialize_iterator(
    xp: Any, ctx: Any, resource_handle: IteratorResource, serialized: Any
) -> None:
    resource_handle.restore(decode(np.ravel(serialized)[0]))
