"""tf.contrib.lookup: the tables of tf.lookup under their older names, and mutable ones."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.tensor import Tensor
from weft.lib.train.checkpoint.mutable_tables import MutableDenseHashTable as MutableDenseHashTable
from weft.lib.train.checkpoint.mutable_tables import MutableHashTable as MutableHashTable
from weft.ops.lookup import vocabulary as lookup_vocabulary
from weft.ops.lookup.initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from weft.ops.lookup.initializers import TableInitializerBase as TableInitializerBase
from weft.ops.lookup.initializers import TextFileIdTableInitializer as TextFileIdTableInitializer
from weft.ops.lookup.initializers import TextFileIndex as TextFileIndex
from weft.ops.lookup.initializers import TextFileInitializer as TextFileInitializer
from weft.ops.lookup.initializers import (
    TextFileStringTableInitializer as TextFileStringTableInitializer,
)
from weft.ops.lookup.tables import FastHashSpec as FastHashSpec
from weft.ops.lookup.tables import HasherSpec as HasherSpec
from weft.ops.lookup.tables import HashTable as HashTable
from weft.ops.lookup.tables import IdTableWithHashBuckets as IdTableWithHashBuckets
from weft.ops.lookup.tables import InitializableLookupTableBase as InitializableLookupTableBase
from weft.ops.lookup.tables import LookupInterface as LookupInterface
from weft.ops.lookup.tables import StrongHashSpec as StrongHashSpec
from weft.ops.lookup.tables import tables_initializer as tables_initializer
from weft.ops.lookup.vocabulary import index_table_from_file as index_table_from_file
from weft.ops.lookup.vocabulary import (
    index_to_string_table_from_file as index_to_string_table_from_file,
)


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: Any = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = dtypes.string,
    name: str | None = None,
) -> Any:
    """The table from the elements of `mapping` to their positions."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return lookup_vocabulary.index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, dtype, name
    )


def index_to_string_table_from_tensor(
    mapping: Any, default_value: Any = "UNK", name: str | None = None
) -> Any:
    """The table from positions to the elements of `mapping`."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return lookup_vocabulary.index_to_string_table_from_tensor(mapping, default_value, name)


def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: Any = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> Any:
    """The older name of `index_table_from_file`."""
    return index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, name=name
    )


def string_to_index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: Any = -1,
    hasher_spec: Any = FastHashSpec,
    name: str | None = None,
) -> Any:
    """The older name of `index_table_from_tensor`."""
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, name=name)


def string_to_index(
    tensor: Any, mapping: Any, default_value: Any = -1, name: str | None = None
) -> Tensor:
    """The positions in `mapping` of the strings of `tensor`."""
    table = index_table_from_tensor(mapping, default_value=default_value, name=name)
    return table.lookup(tensor)


def index_to_string(
    tensor: Any, mapping: Any, default_value: Any = "UNK", name: str | None = None
) -> Tensor:
    """The elements of `mapping` at the positions `tensor`."""
    return index_to_string_table_from_tensor(mapping, default_value, name=name).lookup(tensor)
