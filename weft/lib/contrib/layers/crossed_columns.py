"""Crosses of columns of ids and of buckets."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from weft.lib.contrib.layers.column_base import check_checkpoint, feature_config
from weft.lib.contrib.layers.dense_columns import _BucketizedColumn
from weft.lib.contrib.layers.sparse_columns import IdColumn, _SparseColumn
from weft.ops.sparse.feature_cross import sparse_feature_cross


class _CrossedColumn(
    IdColumn,
    namedtuple(
        "_CrossedColumn",
        [
            "columns",
            "hash_bucket_size",
            "hash_key",
            "combiner",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
        ],
    ),
):
    """See `crossed_column`."""

    no_negatives = True

    def __new__(
        cls,
        columns: Any,
        hash_bucket_size: int,
        hash_key: int | None,
        combiner: str = "sum",
        ckpt_to_load_from: str | None = None,
        tensor_name_in_ckpt: str | None = None,
    ) -> Any:
        for column in columns:
            if not isinstance(column, _SparseColumn | _CrossedColumn | _BucketizedColumn):
                raise TypeError(
                    "columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn "
                    f"instances. (column {column} is a {type(column).__name__})"
                )
        if len(columns) < 2:
            raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
        if hash_bucket_size < 2:
            raise ValueError(
                f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}"
            )
        check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        in_order = tuple(sorted(columns, key=lambda column: column.name))
        checkpoint = ckpt_to_load_from, tensor_name_in_ckpt
        return super().__new__(cls, in_order, hash_bucket_size, hash_key, combiner, *checkpoint)

    @property
    def name(self) -> str:
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def length(self) -> int:
        return self.hash_bucket_size

    @property
    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = {}
        for column in self.columns:
            config.update(feature_config(column))
        return config

    def _leaves(self) -> list[Any]:
        nested = (c._leaves() if isinstance(c, _CrossedColumn) else [c] for c in self.columns)
        return [leaf for leaves in nested for leaf in leaves]

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        def values(column: Any) -> Any:
            if isinstance(column, _SparseColumn):
                return transformation_cache.get(column.name, state_manager)
            return column.to_sparse_tensor(transformation_cache.get(column, state_manager))

        crossed = [values(column) for column in self._leaves()]
        size, key = self.hash_bucket_size, self.hash_key
        return sparse_feature_cross(crossed, True, size, hash_key=key, name="cross")

    def _to_dnn_input_layer(self, *_: Any, **__: Any) -> Any:
        raise ValueError(
            f"CrossedColumn is not supported in DNN. Please use embedding_column. column: {self}"
        )

    def _checkpoint_path(self) -> tuple[str, str] | None:
        if self.ckpt_to_load_from is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt


def crossed_column(
    columns: Any,
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> _CrossedColumn:
    """All combinations of the values of `columns` of an example, hashed."""
    return _CrossedColumn(
        columns, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt
    )
