"""tf.lookup and tf.contrib.lookup: tables that are filled once."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import GraphKeys, get_collection, init_scope, name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.array.one_hot_search import where_v2
from weft.ops.control.control import group, no_op
from weft.ops.kit.operands import values_of, with_values
from weft.ops.lookup.initializers import Typed
from weft.ops.math import casts, math
from weft.ops.strings.hash import (
    string_to_hash_bucket,
    string_to_hash_bucket_fast,
    string_to_hash_bucket_strong,
)
from weft.ops.strings.numbers import as_string


def tables_initializer(name: str = "init_all_tables") -> Any:
    """The operation that fills all tables of the graph.

    Args:
        name: of the operation.

    Returns:
        An operation to run before tables are used.

    Example:
        >>> keys = tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        >>> table = tf.contrib.lookup.HashTable(keys, default_value=-1)
        >>> session.run(tf.tables_initializer())
        >>> session.run(table.lookup(tf.constant(["b", "z"])))
        array([ 2, -1], dtype=int32)
    """
    initializers = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*initializers, name=name) if initializers else no_op(name=name)


def initialize_all_tables(name: str = "init_all_tables") -> Any:
    """The older name of `tables_initializer`."""
    return tables_initializer(name)


class LookupInterface(Typed):
    """The base of all tables: the types of their keys and values."""

    _resource_handle: Any = None

    @property
    def resource_handle(self) -> Any:
        return self._resource_handle

    @property
    def name(self) -> Any:
        """The name of the table's node, without its scope."""
        raise NotImplementedError

    def size(self, name: str | None = None) -> Tensor:
        """How many keys there are."""
        raise NotImplementedError

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The value of each key."""
        raise NotImplementedError

    def _check_keys(self, keys: Any) -> None:
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}."
            )


# ---- tables that are filled once -----------------------------------------------------------------


class InitializableLookupTableBase(LookupInterface):
    """A table that an initializer fills once."""

    def __init__(self, default_value: Any, initializer: Any) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._initializer = initializer
        with init_scope():
            fallback = convert_to_tensor(default_value, self._value_dtype)
            fallback.shape.merge_with([])
            self._default_value = fallback
            self._resource_handle = self._create_resource()
            self._init_op = self._initialize()

    def _create_resource(self) -> Any:
        raise NotImplementedError

    def _initialize(self) -> Any:
        return self._initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        """The value of keys that the table does not have."""
        return self._default_value

    @property
    def initializer(self) -> Any:
        """The operation that fills the table."""
        return self._init_op

    def size(self, name: str | None = None) -> Tensor:
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return raw.LookupTableSizeV2(self.resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        self._check_keys(keys)
        key_tensor = values_of(keys)
        given = (self.resource_handle, key_tensor, self._default_value)
        with name_scope(name, f"{self.name}_Lookup", given):
            values = raw.LookupTableFindV2(*given)
        values.set_shape(key_tensor.shape)
        return with_values(keys, values)


class StaticHashTable(InitializableLookupTableBase):
    """A table of scalars that is filled once."""

    def __init__(self, initializer: Any, default_value: Any, name: str | None = None) -> None:
        self._shared_name = initializer._shared_name or f"hash_table_{uuid.uuid4()}"
        self._name = name or "hash_table"
        self._table_name: str | None = None
        super().__init__(default_value, initializer)

    def _create_resource(self) -> Any:
        kinds = {"key_dtype": self._key_dtype, "value_dtype": self._value_dtype}
        made = raw.HashTableV2(shared_name=self._shared_name, name=self._name, **kinds)
        self._table_name = made.op.name.rpartition("/")[2]
        return made

    @property
    def name(self) -> Any:
        return self._table_name

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys, and their values."""
        handle, kinds = self.resource_handle, (self._key_dtype, self._value_dtype)
        with name_scope(name, f"{self.name}_Export", [handle]):
            keys, values = raw.LookupTableExportV2(handle, *kinds)
        values.set_shape(keys.shape.concatenate(self._default_value.shape))
        return keys, values


class HashTable(StaticHashTable):
    """tf.contrib.lookup.HashTable: the same, with a name to share it under."""

    def __init__(
        self, initializer: Any, default_value: Any, shared_name: str | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        self._given_shared_name = shared_name
        super().__init__(initializer, default_value, name)

    def _create_resource(self) -> Any:
        if self._given_shared_name is not None:
            self._shared_name = self._given_shared_name
        return super()._create_resource()

    @property
    def init(self) -> Any:
        return self.initializer


# ---- tables with buckets for what they do not have -----------------------------------------------


class HasherSpec(NamedTuple):
    """How keys that a table does not have are hashed."""

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash that depends on a key of two numbers."""

    __slots__ = ()

    def __new__(cls, key: Any) -> StrongHashSpec:
        if (size := len(key)) != 2:
            raise ValueError(f"key must have size 2, got {size}.")
        if all(isinstance(part, int) for part in key):
            return super().__new__(cls, "stronghash", key)
        raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")


_HASHERS: dict[str, Callable[..., Tensor]] = {
    "fasthash": string_to_hash_bucket_fast,
    "legacy": string_to_hash_bucket,
    "stronghash": string_to_hash_bucket_strong,
}


def _hash_function(spec: HasherSpec) -> Callable[..., Tensor]:
    if spec.hasher not in _HASHERS:
        raise ValueError(f"Unknown hasher {spec.hasher}")
    keyed = {"key": spec.key} if spec.hasher == "stronghash" else {}
    return functools.partial(_HASHERS[spec.hasher], **keyed)


def _check_id_table(table: Any, key_dtype: DType) -> None:
    known, own, value = (dtypes.int64, dtypes.string), table.key_dtype, table.value_dtype
    wrong = None
    if own not in known:
        wrong = f"key dtype, expected one of {known}, but got {own!r}."
    elif own.is_integer != key_dtype.is_integer:
        kind = "integer" if key_dtype.is_integer else "non-integer"
        wrong = f"key dtype, expected {kind} but got {own!r}."
    elif value != dtypes.int64:
        wrong = f"value dtype, expected {dtypes.int64!r} but got {value!r}."
    if wrong:
        raise TypeError(f"Invalid {wrong}")


class IdTableWithHashBuckets(LookupInterface):
    """A table of ids, and ids after its own for keys that it does not have."""

    def __init__(
        self, table: Any, num_oov_buckets: int, hasher_spec: Any = FastHashSpec,
        name: str | None = None, key_dtype: Any = None,
    ) -> None:  # fmt: skip
        if table:
            key_dtype = table.key_dtype if key_dtype is None else dtypes.as_dtype(key_dtype)
            _check_id_table(table, key_dtype)
        elif num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0 if no table is supplied.")
        key_dtype = dtypes.string if key_dtype is None else dtypes.as_dtype(key_dtype)
        if not key_dtype.is_integer and key_dtype != dtypes.string:
            raise TypeError(f"Invalid key_dtype, expected integer or string, got {key_dtype}.")
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        self._table, self._num_oov_buckets, self._hasher_spec = table, num_oov_buckets, hasher_spec
        given = name.rstrip("/") if name else ""
        self._table_name = (given or (table.name if table else "hash_bucket")).split("/")[-1]
        super().__init__(key_dtype, dtypes.int64)

    @property
    def initializer(self) -> Any:
        """The operation that fills the table."""
        if self._table is not None:
            return self._table.initializer
        with name_scope(None, "init"):
            return no_op()

    @property
    def init(self) -> Any:
        return self.initializer

    @property
    def resource_handle(self) -> Any:
        return self._table.resource_handle if self._table is not None else None

    @property
    def name(self) -> Any:
        return self._table_name

    def size(self, name: str | None = None) -> Tensor:
        with name_scope(name, f"{self.name}_Size"):
            own = self._table.size() if self._table else convert_to_tensor(0, dtypes.int64)
            return own + self._num_oov_buckets

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        self._check_keys(keys)
        values = values_of(keys)
        if self._table and self._table.key_dtype.base_dtype == dtypes.int64:
            values = casts.cast(values, dtypes.int64)
        if self._num_oov_buckets == 0:
            return with_values(keys, self._table.lookup(values, name=name))
        with name_scope(name, f"{self.name}_Lookup"):
            return with_values(keys, self._ids(values))

    def _ids(self, values: Tensor) -> Tensor:
        texts = values if values.dtype.base_dtype == dtypes.string else as_string(values)
        hashed = _hash_function(self._hasher_spec)
        bucket = hashed(texts, num_buckets=self._num_oov_buckets, name="hash_bucket")
        if not (table := self._table):
            return bucket
        # The buckets come after the last id of the table.
        known, bucket = table.lookup(values), math.add(bucket, table.size())
        return where_v2(math.not_equal(known, table.default_value), known, bucket)


class StaticVocabularyTable(IdTableWithHashBuckets):
    """Ids from an initializer, and ids after those for keys that it does not give."""

    def __init__(
        self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        if initializer:
            lookup_key_dtype = lookup_key_dtype or initializer.key_dtype
            _check_id_table(initializer, dtypes.as_dtype(lookup_key_dtype))
            table = StaticHashTable(initializer, default_value=-1)
            super().__init__(table, num_oov_buckets, name=name, key_dtype=lookup_key_dtype)
        else:
            super().__init__(None, num_oov_buckets, name=name, key_dtype=dtypes.string)
