"""The classes of feature columns.

A column is a named tuple: a description that holds no tensors. `transform_feature` makes its
tensor from the raw features in a cache; variables and tables that it needs belong to the state
manager of the caller (`state.py`). So one column serves many models and many graphs.
"""

from __future__ import annotations

import abc
import collections
from collections.abc import Iterable
from typing import Any

from weft.core.shapes import TensorShape
from weft.lib.feature_column import configs


class FeatureColumn(abc.ABC):
    """A column of data, named after the features it comes from."""

    # A v2 column keeps no state outside of the state manager.
    _is_v2_column = True

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name, unique among the columns of a model."""

    @property
    @abc.abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """The features for `tf.io.parse_example`, by key."""

    @property
    @abc.abstractmethod
    def parents(self) -> list[Any]:
        """The columns, and the keys of raw features, that this one is made from."""

    @abc.abstractmethod
    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The tensor of this column, from what the cache has under other columns and keys."""

    def create_state(self, state_manager: Any) -> None:  # noqa: B027  (most have none)
        """Makes the variables of this column."""

    def __lt__(self, other: Any) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: Any) -> bool:
        return str(self) > str(other)

    # ---- records from which a column is made again ----

    def _get_config(self) -> dict[str, Any]:
        return configs.written(fields_of(self))

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Any = None, columns_by_name: Any = None
    ) -> Any:
        fields = cls._fields  # type: ignore[attr-defined]
        return cls(**configs.read(config, fields, custom_objects, columns_by_name))

    # ---- names that programs of the time knew ----

    @property
    def _var_scope_name(self) -> str:
        return self.name

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec


class OfOneFeature(FeatureColumn):
    """A column made from one raw feature, and named after it."""

    key: str

    @property
    def name(self) -> str:
        return self.key

    @property
    def parents(self) -> list[Any]:
        return [self.key]


class DenseColumn(FeatureColumn):
    """A column that is a dense tensor, one row per example."""

    @property
    @abc.abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape of a row."""

    @abc.abstractmethod
    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The tensor, of shape [batch, *variable_shape]."""

    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape


class CategoricalColumn(FeatureColumn):
    """A column of ids, any number of them per example."""

    # What lookups may rely on: no id is negative; every example has an id.
    no_negatives = True
    no_gaps = False

    IdWeightPair = collections.namedtuple("IdWeightPair", ["id_tensor", "weight_tensor"])

    @property
    @abc.abstractmethod
    def num_buckets(self) -> int:
        """One more than the largest id."""

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids, and their weights or None, as sparse tensors."""
        ids = transformation_cache.get(self, state_manager)
        return CategoricalColumn.IdWeightPair(ids, None)

    @property
    def _num_buckets(self) -> int:
        return self.num_buckets


class SequenceDenseColumn(FeatureColumn):
    """A column that is a dense tensor with a row per step of each example."""

    TensorSequenceLengthPair = collections.namedtuple(
        "TensorSequenceLengthPair", ["dense_tensor", "sequence_length"]
    )

    @abc.abstractmethod
    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The tensor, and the number of steps of each example."""


class Wrapping(FeatureColumn):
    """A column made from one categorical column, which it looks at in another way."""

    categorical_column: Any

    @property
    def _is_v2_column(self) -> bool:  # type: ignore[override]
        return is_feature_column_v2([self.categorical_column])

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]


class SameIds(Wrapping, CategoricalColumn):
    """A categorical column with the ids of another one, and more to say about them."""

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    @property
    def no_negatives(self) -> bool:  # type: ignore[override]
        return self.categorical_column.no_negatives


class Densified(Wrapping, DenseColumn, SequenceDenseColumn):
    """A dense tensor made of a categorical column: of examples, or of steps if that has steps."""

    _suffix: str
    _function: str

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}{self._suffix}"

    def _check_no_sequence(self, state_manager: Any) -> None:
        if is_sequence_column(self.categorical_column):
            kind = getattr(state_manager, "class_prefix", "") + "SequenceCategoricalColumn"
            raise ValueError(
                f"In {self._function}: {self.name}. "
                f"categorical_column must not be of type {kind}. "
                "Suggested fix A: If you wish to use DenseFeatures, use a "
                "non-sequence categorical_column_with_*. "
                "Suggested fix B: If you wish to create sequence input, use "
                "SequenceFeatures instead of DenseFeatures. " + self._given()
            )

    def _check_sequence(self) -> None:
        if not is_sequence_column(self.categorical_column):
            raise ValueError(
                f"In {self._function}: {self.name}. "
                "categorical_column must be of type SequenceCategoricalColumn "
                "to use SequenceFeatures. "
                "Suggested fix: Use one of sequence_categorical_column_with_*. " + self._given()
            )

    def _given(self) -> str:
        column = self.categorical_column
        return f"Given (type {type(column)}): {column}"


def fields_of(column: Any) -> list[tuple[str, Any]]:
    """The fields of a column, which is a named tuple, with their values."""
    return list(zip(column._fields, column, strict=True))


def is_sequence_column(column: Any) -> bool:
    """Whether the ids of a categorical column come in steps."""
    return getattr(column, "_has_steps", False)


def is_feature_column_v2(feature_columns: Iterable[Any]) -> bool:
    """Whether all columns keep their state in state managers only."""
    return all(
        isinstance(column, FeatureColumn) and column._is_v2_column for column in feature_columns
    )
