"""Feature columns as records of class name and configuration, as Keras writes them."""

from __future__ import annotations

from typing import Any

from weft.lib.feature_column.base import FeatureColumn
from weft.lib.feature_column.categorical import HashedCategoricalColumn, IdentityCategoricalColumn
from weft.lib.feature_column.combined import CrossedColumn, WeightedCategoricalColumn
from weft.lib.feature_column.embedding import EmbeddingColumn
from weft.lib.feature_column.indicator import IndicatorColumn
from weft.lib.feature_column.numeric import BucketizedColumn, NumericColumn
from weft.lib.feature_column.sequence import SequenceCategoricalColumn, SequenceNumericColumn
from weft.lib.feature_column.vocabulary import (
    VocabularyFileCategoricalColumn,
    VocabularyListCategoricalColumn,
)

CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        BucketizedColumn,
        CrossedColumn,
        EmbeddingColumn,
        HashedCategoricalColumn,
        IdentityCategoricalColumn,
        IndicatorColumn,
        NumericColumn,
        SequenceCategoricalColumn,
        SequenceNumericColumn,
        VocabularyFileCategoricalColumn,
        VocabularyListCategoricalColumn,
        WeightedCategoricalColumn,
    )
}


def serialize_feature_column(fc: Any) -> Any:
    """The record of a column; a key stays as it is."""
    if isinstance(fc, str):
        return fc
    if isinstance(fc, FeatureColumn):
        return {"class_name": type(fc).__name__, "config": fc._get_config()}
    raise ValueError(f"Instance: {fc} is not a FeatureColumn")


def deserialize_feature_column(
    config: Any, custom_objects: Any = None, columns_by_name: dict[str, Any] | None = None
) -> Any:
    """The column of a record; one object for equal ones, if `columns_by_name` is handed on."""
    if isinstance(config, str):
        return config
    cls = _class_of(config, custom_objects or {})
    if not issubclass(cls, FeatureColumn):
        raise ValueError(f"Expected FeatureColumn class, instead found: {cls}")
    columns = {} if columns_by_name is None else columns_by_name
    made = cls._from_config(
        config["config"], custom_objects=custom_objects, columns_by_name=columns
    )
    return columns.setdefault(_column_name_with_class_name(made), made)


def _class_of(config: Any, custom_objects: dict[str, Any]) -> type:
    if not (isinstance(config, dict) and {"class_name", "config"} <= config.keys()):
        raise ValueError("Improper config format: " + str(config))
    wanted = config["class_name"]
    found = custom_objects.get(wanted, CLASSES.get(wanted))
    if found is None:
        raise ValueError(f"Unknown feature_column_v2: {wanted}")
    return found


def serialize_feature_columns(feature_columns: Any) -> list[Any]:
    return [serialize_feature_column(column) for column in feature_columns]


def deserialize_feature_columns(configs: Any, custom_objects: Any = None) -> list[Any]:
    """The columns of a list of records; what several refer to is one object."""
    columns_by_name: dict[str, Any] = {}
    return [deserialize_feature_column(c, custom_objects, columns_by_name) for c in configs]


def _column_name_with_class_name(fc: Any) -> str:
    return f"{type(fc).__name__}:{fc.name}"
