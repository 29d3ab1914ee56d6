"""Lookup tables that change while a program runs, and that checkpoints hold."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import GraphKeys, add_to_collection, colocate_with, name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.train.checkpoint.saver_saveable import SaveableObject, SaveSpec
from weft.ops.lookup.tables import LookupInterface


class TableSaveable(SaveableObject):
    """A table, saved as a tensor of its keys and one of its values."""

    def __init__(self, table: Any, name: str) -> None:
        keys, values = table.export()
        specs = [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")]
        super().__init__(table, specs, name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        handle = self.op.resource_handle
        with name_scope(f"{self.name}_table_restore"), colocate_with(handle):
            return raw.LookupTableImportV2(handle, *restored_tensors)


class _MutableTable(LookupInterface):
    """The base of the tables that change. `_create_resource` makes the table's node."""

    _default_label: str | None = None

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str, checkpoint: bool
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(
            default_value, dtype=self._value_dtype, name=self._default_label
        )
        self._name, self._checkpoint = name, checkpoint
        self._resource_handle = self._create_resource()
        self._table_name = self._resource_handle.op.name.split("/")[-1]
        if checkpoint:
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, TableSaveable(self, name))

    def _create_resource(self) -> Tensor:
        raise NotImplementedError

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"table": lambda name=self._name: TableSaveable(self, name)}

    @property
    def name(self) -> Any:
        return self._table_name

    def _run(
        self, op: str, scope: str, name: str | None, *inputs: tuple[str, Any, Any], **attrs: Any
    ) -> Any:
        """An operation on the table, beside it, with inputs of (name, value, type)."""
        handle = self.resource_handle
        with name_scope(name, f"{self.name}_{scope}", [handle, *(value for _, value, _ in inputs)]):
            tensors = [convert_to_tensor(value, kind, label) for label, value, kind in inputs]
            with colocate_with(handle):
                return getattr(raw, op)(handle, *tensors, **attrs)

    def size(self, name: str | None = None) -> Tensor:
        return self._run("LookupTableSizeV2", "Size", name)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        default = ("default_value", self._default_value, self._value_dtype)
        inputs = ("keys", keys, self._key_dtype), default
        return self._run("LookupTableFindV2", "lookup_table_find", name, *inputs)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """The operation that gives each key a value."""
        inputs = ("keys", keys, self._key_dtype), ("values", values, self._value_dtype)
        return self._run("LookupTableInsertV2", "lookup_table_insert", name, *inputs)

    def remove(self, keys: Any, name: str | None = None) -> Any:
        """The operation that takes the keys out."""
        if keys.dtype != self._key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}."
            )
        given = (self.resource_handle, keys, self._default_value)
        with name_scope(name, f"{self.name}_lookup_table_remove", given):
            return raw.LookupTableRemoveV2(self.resource_handle, keys)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys, and their values."""
        scope, types = "lookup_table_export_values", (self._key_dtype, self._value_dtype)
        return self._run("LookupTableExportV2", scope, name, Tkeys=types[0], Tvalues=types[1])


class MutableHashTable(_MutableTable):
    """Keys, which are scalars, to scalars or vectors."""

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any,
        name: str = "MutableHashTable", checkpoint: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)

    def _create_resource(self) -> Tensor:
        given = dict(
            use_node_name_sharing=self._checkpoint, key_dtype=self._key_dtype,
            value_dtype=self._value_dtype, name=self._name,
        )  # fmt: skip
        shape = self._default_value.shape
        if shape.ndims == 0:
            return raw.MutableHashTableV2(**given)
        return raw.MutableHashTableOfTensorsV2(value_shape=shape, **given)


class DenseHashTable(_MutableTable):
    """Keys to scalars or vectors, with two keys set apart: `empty_key` and `deleted_key`."""

    _default_label = "default_value"

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
    ) -> None:
        self._empty_key, self._deleted_key = empty_key, deleted_key
        self._buckets = (
            {} if initial_num_buckets is None else {"initial_num_buckets": initial_num_buckets}
        )
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)

    def _create_resource(self) -> Tensor:
        kind = self._key_dtype
        self._empty_key = convert_to_tensor(self._empty_key, dtype=kind, name="empty_key")
        self._deleted_key = convert_to_tensor(self._deleted_key, dtype=kind, name="deleted_key")
        return raw.MutableDenseHashTableV2(
            self._empty_key, self._deleted_key, use_node_name_sharing=self._checkpoint,
            value_dtype=self._value_dtype, value_shape=self._default_value.shape,
            name=self._name, **self._buckets,
        )  # fmt: skip

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """The operation that gives each key a value."""
        return self.insert(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> Any:
        """The operation that takes the keys out."""
        return self.remove(keys, name)


MutableDenseHashTable = DenseHashTable
