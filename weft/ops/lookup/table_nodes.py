"""The operations on lookup tables, each with a resource handle and in the older form."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.core.shapes import sizes_in
from weft.graph import shape_fn as s
from weft.graph.op_def import op, register_gradient
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, HOST_STATE, NO_GRADIENT
from weft.ops.kit.resource_names import find_or_make
from weft.ops.kit.shared import invalid
from weft.ops.kit.string_arrays import string
from weft.ops.lookup.table_objects import DenseTable, MutableTable, StaticTable, Table, text_pairs

_SHARED = (
    'container: string = "", shared_name: string = "", use_node_name_sharing: bool = false,'
    " key_dtype: type, value_dtype: type"
)
_SHAPED = f"{_SHARED}, value_shape: shape = []"
_DENSE = f"{_SHAPED}, initial_num_buckets: int = 131072, max_load_factor: float = 0.8"


def _table(ctx: Any, make: Callable[[str], Table]) -> Table:
    attrs = ctx.node.attrs
    shared = attrs["shared_name"] or (ctx.node.name if attrs["use_node_name_sharing"] else "")
    table, _ = find_or_make(ctx, "table", attrs["container"], shared, make)
    table.check_types(attrs["key_dtype"], attrs["value_dtype"])
    return table


def _types(ctx: Any) -> tuple[DType, DType]:
    return ctx.node.attrs["key_dtype"], ctx.node.attrs["value_dtype"]


def _pair(c: ShapeContext) -> Any:
    return (2,)


def _maker(name: str, attrs: str, make: Callable[[str, Any], Table]) -> None:
    """Declares `nameV2` and `name`, which make a table that needs no inputs."""

    def kernel(xp: Any, ctx: Any) -> Table:
        return _table(ctx, lambda own: make(own, ctx))

    for version, handle, shape in (("", "ref(string)", _pair), ("V2", "resource", s.scalar)):
        op(
            name + version, outputs=f"table_handle: {handle}", attrs=attrs,
            shape=shape, traits=HOST_STATE | NO_GRADIENT,
        )(kernel)  # fmt: skip


_maker("HashTable", _SHARED, lambda own, ctx: StaticTable(own, *_types(ctx)))
_maker("MutableHashTable", _SHARED, lambda own, ctx: MutableTable(own, *_types(ctx), ()))


def _of_tensors(own: str, ctx: Any) -> Table:
    shape = ctx.node.attrs["value_shape"]
    if shape is None or len(shape) != 1:
        raise invalid(f"Default value must be a vector, got shape {s.show(shape)}")
    return MutableTable(own, *_types(ctx), shape)


_maker("MutableHashTableOfTensors", _SHAPED, _of_tensors)


def _dense(ctx: Any, empty: Any, deleted: Any) -> Table:
    attrs = ctx.node.attrs
    sizes = attrs["initial_num_buckets"], attrs["max_load_factor"]
    return _table(
        ctx,
        lambda own: DenseTable(own, *_types(ctx), attrs["value_shape"], empty, deleted, *sizes),
    )


@op(
    "MutableDenseHashTableV2", inputs="empty_key: key_dtype, deleted_key: key_dtype",
    outputs="table_handle: resource", attrs=_DENSE, shape=s.scalar, traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def mutable_dense_hash_table_v2(xp: Any, ctx: Any, empty_key: Any, deleted_key: Any) -> Table:
    return _dense(ctx, empty_key, deleted_key)


@op(
    "MutableDenseHashTable", inputs="empty_key: key_dtype", outputs="table_handle: ref(string)",
    attrs=_DENSE, shape=_pair, traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def mutable_dense_hash_table(xp: Any, ctx: Any, empty_key: Any) -> Table:
    """Was declared, in all versions, without an input that such a table needs."""
    raise invalid("Unknown input name: deleted_key")


# ---- what is done with tables --------------------------------------------------------------------


def _access(
    name: str, inputs: str = "", outputs: str = "", attrs: str = "",
    shape: Callable[[ShapeContext], Any] = s.none, versions: tuple[str, ...] = ("", "V2"),
) -> Callable[[Callable[..., Any]], None]:  # fmt: skip
    """Declares `nameV2` and `name`, which take a table. Only the former counts as stateful."""

    def declare(kernel: Callable[..., Any]) -> None:
        for version in versions:
            handle = "resource" if version else "ref(string)"
            op(
                name + version, inputs=f"table_handle: {handle}{inputs}", outputs=outputs,
                attrs=attrs, shape=shape, traits=HOST_STATE if version else HOST,
            )(kernel)  # fmt: skip

    return declare


def _shapes_of_table(c: ShapeContext) -> tuple[Dims, Dims] | None:
    """The shapes of a key and of a value, where the node that makes the table tells them."""
    maker = c.op.inputs[0].op
    if not maker.type.startswith("Mutable"):
        return None
    keys: Dims = maker.inputs[0].dims if maker.inputs else ()
    if "value_shape" not in maker.node_def.attr:
        return keys, ()
    return keys, maker.get_attr("value_shape") and _dims(maker.get_attr("value_shape"))


def _dims(shape: Any) -> Dims:
    if shape.unknown_rank:
        return None
    return tuple([None if size < 0 else size for size in sizes_in(shape)])


def _found_dims(c: ShapeContext) -> Dims:
    s.with_rank_at_most(c.dims(2), 1)
    known = _shapes_of_table(c)
    if known is None or c.dims(1) is None or known[0] is None:
        return None
    outer = (c.dims(1) or ())[: len(c.dims(1) or ()) - len(known[0])]
    return s.concat(outer, known[1])


@_access(
    "LookupTableFind", ", keys: Tin, default_value: Tout", "values: Tout", "Tin: type, Tout: type",
    _found_dims,
)  # fmt: skip
def _(xp: Any, ctx: Any, table_handle: Table, keys: Any, default_value: Any) -> Any:
    _check(ctx, table_handle, "Tin", "Tout")
    return table_handle.find(keys, default_value)


def _check(ctx: Any, table: Table, keys: str, values: str) -> None:
    table.check_types(ctx.node.attrs[keys], ctx.node.attrs[values])


@_access("LookupTableInsert", ", keys: Tin, values: Tout", attrs="Tin: type, Tout: type")
def _(xp: Any, ctx: Any, table_handle: Table, keys: Any, values: Any) -> None:
    _check(ctx, table_handle, "Tin", "Tout")
    table_handle.insert(keys, values)


@_access("LookupTableRemove", ", keys: Tin", attrs="Tin: type", versions=("V2",))
def _(xp: Any, ctx: Any, table_handle: Table, keys: Any) -> None:
    table_handle.remove(keys)


@_access("LookupTableSize", outputs="size: int64", shape=s.scalar)
def _(xp: Any, ctx: Any, table_handle: Table) -> Any:
    return np.array(table_handle.size(), np.int64)


def _exported_dims(c: ShapeContext) -> list[Dims]:
    known = _shapes_of_table(c)
    if known is None:
        return [None, None]
    keys, values = known
    # A dense table's keys are said to be a vector, whatever a key is.
    is_dense = c.op.inputs[0].op.type == "MutableDenseHashTableV2"
    return [s.concat((None,), () if is_dense else keys), s.concat((None,), values)]


@_access(
    "LookupTableExport", outputs="keys: Tkeys, values: Tvalues",
    attrs="Tkeys: type, Tvalues: type", shape=_exported_dims,
)  # fmt: skip
def _(xp: Any, ctx: Any, table_handle: Table) -> Any:
    _check(ctx, table_handle, "Tkeys", "Tvalues")
    return table_handle.export()


def _imported_dims(c: ShapeContext) -> list[Dims]:
    keys, values = c.dims(1), c.dims(2)
    if keys and values:
        s.merge_dim(keys[0], values[0])
    return []


@_access(
    "LookupTableImport", ", keys: Tin, values: Tout", attrs="Tin: type, Tout: type",
    shape=_imported_dims,
)  # fmt: skip
def _(xp: Any, ctx: Any, table_handle: Table, keys: Any, values: Any) -> None:
    _check(ctx, table_handle, "Tin", "Tout")
    table_handle.replace(keys, values)


def _initialized_dims(c: ShapeContext) -> list[Dims]:
    s.merge(s.with_rank(c.dims(1), 1), c.dims(2))
    return []


@_access(
    "InitializeTable", ", keys: Tkey, values: Tval", attrs="Tkey: type, Tval: type",
    shape=_initialized_dims,
)  # fmt: skip
def _(xp: Any, ctx: Any, table_handle: Table, keys: Any, values: Any) -> None:
    _check(ctx, table_handle, "Tkey", "Tval")
    table_handle.replace(keys, values)


def _file_dims(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(1), 0)
    return []


@_access(
    "InitializeTableFromTextFile", ", filename: string",
    attrs="key_index: int >= -2, value_index: int >= -2, vocab_size: int >= -1 = -1,"
    ' delimiter: string = "\t"',
    shape=_file_dims,
)  # fmt: skip
def _(
    xp: Any, ctx: Any, table_handle: Table, filename: Any, *, key_index: int, value_index: int,
    vocab_size: int, delimiter: str,
) -> None:  # fmt: skip
    if np.ndim(filename):
        raise invalid(f"filename should be a single string, but got {s.show(np.shape(filename))}")
    if not isinstance(table_handle, StaticTable):
        raise invalid(f"Table {table_handle.name} is not initializable")
    name = os.fsdecode(string(filename))
    table_handle.fill(text_pairs(table_handle, name, key_index, value_index, vocab_size, delimiter))


# Those that export, import and remove have no gradient at all.
_CUT = (
    "LookupTableFind LookupTableInsert LookupTableSize InitializeTable InitializeTableFromTextFile"
)
for _name in _CUT.split():
    for _version in ("", "V2"):
        register_gradient(_name + _version, None)
