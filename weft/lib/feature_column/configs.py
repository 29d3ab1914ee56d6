"""Columns as plain records, and back.

Most fields are written as they are. Those in `FIELDS` hold columns, types, functions or
initializers, which have a spelling of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.lib.keras import initializers


class Reading(NamedTuple):
    """The surroundings of reading a record: names of the caller's, and the columns read so far."""

    custom_objects: dict[str, Any]
    columns_by_name: dict[str, Any]


def _function_name(function: Any) -> Any:
    if function is None:
        return None
    if hasattr(function, "__name__"):
        return function.__name__
    raise ValueError("Cannot serialize", function)


def _function_named(name: Any, reading: Reading) -> Any:
    if name is None or callable(name):
        return name
    if name in reading.custom_objects:
        return reading.custom_objects[name]
    raise ValueError(f"Unknown object:{name}")


def _initializer_of(record: Any, reading: Reading) -> Any:
    wanted = record["class_name"] if isinstance(record, dict) else record
    if wanted in reading.custom_objects:
        found = reading.custom_objects[wanted]
        return found(**record["config"]) if isinstance(record, dict) else found
    return initializers.get(record)


def _written_column(column: Any) -> Any:
    from weft.lib.feature_column.serialization import serialize_feature_column

    return serialize_feature_column(column)


def _read_column(record: Any, reading: Reading) -> Any:
    from weft.lib.feature_column.serialization import deserialize_feature_column

    return deserialize_feature_column(record, *reading)


# Field -> how it is written, how it is read.
FIELDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Reading], Any]]] = {
    "dtype": (lambda dtype: dtype.name, lambda name, _: dtypes.as_dtype(name)),
    "normalizer_fn": (_function_name, _function_named),
    "initializer": (initializers.serialize, _initializer_of),
    "source_column": (_written_column, _read_column),
    "categorical_column": (_written_column, _read_column),
    "keys": (
        lambda keys: tuple(map(_written_column, keys)),
        lambda keys, reading: tuple(_read_column(key, reading) for key in keys),
    ),
}


def written(items: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The record of a column with these fields."""
    return {name: FIELDS[name][0](value) if name in FIELDS else value for name, value in items}


def read(
    config: dict[str, Any], fields: tuple[str, ...], custom_objects: Any, columns_by_name: Any
) -> dict[str, Any]:
    """The fields that a record describes."""
    if set(config) != set(fields):
        raise ValueError(f"Invalid config: {config}, expected keys: {fields}")
    reading = Reading(
        {} if custom_objects is None else custom_objects,
        {} if columns_by_name is None else columns_by_name,
    )
    # Columns are hashed, so what was listed on the way becomes a tuple again.
    plain = {k: tuple(v) if isinstance(v, list) else v for k, v in config.items()}
    return {k: FIELDS[k][1](v, reading) if k in FIELDS else v for k, v in plain.items()}
