"""Records that are Examples: features are parsed, then handlers make items of them."""

from __future__ import annotations

import abc
from collections.abc import Callable
from functools import partial
from typing import Any

from weft.core import dtypes
from weft.graph import slices
from weft.lib.contrib.slim.data_decoder import DataDecoder
from weft.ops.array import array, slicing
from weft.ops.control.case import case
from weft.ops.control.cond import cond
from weft.ops.functions.functional import map_fn
from weft.ops.image import decode as image_codec
from weft.ops.math import math
from weft.ops.parsing.features import FixedLenFeature, parse_single_example
from weft.ops.sparse.convert import sparse_tensor_to_dense
from weft.ops.sparse.select import sparse_reshape
from weft.ops.strings.decode import decode_raw


class ItemHandler(abc.ABC):
    """Makes one item of the parsed features named `keys`."""

    def __init__(self, keys: Any) -> None:
        self._keys = keys if isinstance(keys, (tuple, list)) else [keys]

    @property
    def keys(self) -> Any:
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        """The item, of parsed features by key."""


class ItemHandlerCallback(ItemHandler):
    """Makes an item with a function of the features."""

    def __init__(self, keys: Any, func: Callable[[dict[str, Any]], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        return self._func(keys_to_tensors)


def _dense(value: Any, default: Any = 0) -> Any:
    return sparse_tensor_to_dense(value, default) if _is_sparse(value) else value


def _is_sparse(value: Any) -> bool:
    return isinstance(value, slices.SparseTensor)


class BoundingBox(ItemHandler):
    """Boxes, one a row, of four features with their sides."""

    def __init__(self, keys: Any = None, prefix: str = "") -> None:
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        sides = [keys_to_tensors[key] for key in self._keys]
        sides = [side.values if _is_sparse(side) else side for side in sides]
        rows = array.concat([array.expand_dims(side, 0) for side in sides], 0)
        return array.transpose(rows)


class Tensor(ItemHandler):
    """A feature as it is, or in a shape: a fixed one, or one that other features tell.

    Args:
        tensor_key: the name of the feature.
        shape_keys: names of features that tell the shape.
        shape: the shape; one of the two, or neither.
        default_value: for the empty places of a sparse feature.

    Raises:
        ValueError: both ways to say the shape are used.

    Example:
        >>> tf.contrib.slim.tfexample_decoder.Tensor("label").keys
        ['label']
    """

    def __init__(
        self, tensor_key: str, shape_keys: Any = None, shape: Any = None, default_value: Any = 0
    ) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        super().__init__([tensor_key, *(shape_keys or [])])
        self._tensor_key, self._shape_keys, self._shape = tensor_key, shape_keys, shape
        self._default_value = default_value

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            extents = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = array.reshape(array.stack(extents), [-1])
        if shape is not None:
            tensor = (sparse_reshape if _is_sparse(tensor) else array.reshape)(tensor, shape)
        return _dense(tensor, self._default_value)


class LookupTensor(Tensor):
    """The entries of a table for the values of a feature."""

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: Any = None,
        shape: Any = None,
        default_value: Any = "",
    ) -> None:
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """The result of `handler`, or of `backup` where it has no elements."""

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for name, each in (("Primary", handler), ("Backup", backup)):
            if not isinstance(each, ItemHandler):
                raise ValueError(f"{name} handler is of type {type(each)} instead of ItemHandler")
        super().__init__([*handler.keys, *backup.keys])
        self._handler, self._backup = handler, backup

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        item = self._handler.tensors_to_item(keys_to_tensors)
        count = math.reduce_prod(array.shape(item))
        instead = partial(self._backup.tensors_to_item, keys_to_tensors)
        return cond(math.equal(count, 0), instead, lambda: item)


class SparseTensor(ItemHandler):
    """A sparse tensor of a feature with the last of its indices and one with its values."""

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key, self._values_key = indices_key or "indices", values_key or "values"
        self._shape_key, self._shape = shape_key, shape
        self._densify, self._default_value = densify, default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        indices, values = (keys_to_tensors[k] for k in (self._indices_key, self._values_key))
        shape = self._shape or indices.dense_shape
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        rank = array.shape(indices.indices)[1]
        kept = slicing.slice(indices.indices, [0, 0], array.stack([-1, rank - 1]))
        last = array.reshape(math.cast(indices.values, dtypes.int64), [-1, 1])
        tensor = slices.SparseTensor(array.concat([kept, last], 1), values.values, shape)
        return _dense(tensor, self._default_value) if self._densify else tensor


class Image(ItemHandler):
    """An image that is stored as JPEG, PNG, GIF or BMP, or raw, as a second feature tells.

    Args:
        image_key: the name of the feature with the bytes; None: "image/encoded".
        format_key: the name of the feature with the format; None: "image/format".
        shape: to give the image.
        channels: how many it has.
        dtype: the type of its pixels.
        repeated: whether the feature is a list of images.
        dct_method: for JPEG files.

    Example:
        >>> tf.contrib.slim.tfexample_decoder.Image().keys
        ['image/encoded', 'image/format']
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Any = None,
        channels: int = 3,
        dtype: Any = dtypes.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        super().__init__([image_key or "image/encoded", format_key or "image/format"])
        self._shape, self._channels, self._dtype = shape, channels, dtype
        self._repeated, self._dct_method = repeated, dct_method

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        encoded, kind = (keys_to_tensors[key] for key in self._keys)
        decode = partial(self._decode, kind=kind)
        return map_fn(decode, encoded, dtype=self._dtype) if self._repeated else decode(encoded)

    def _decode(self, encoded: Any, kind: Any) -> Any:
        is_raw = math.logical_or(math.equal(kind, "raw"), math.equal(kind, "RAW"))
        image = case(
            [(is_raw, lambda: decode_raw(encoded, out_type=self._dtype))],
            default=lambda: self._decode_file(encoded),
            exclusive=True,
        )
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else array.reshape(image, self._shape)

    def _decode_file(self, encoded: Any) -> Any:
        def jpeg() -> Any:
            decoded = image_codec.decode_jpeg(
                encoded, channels=self._channels, dct_method=self._dct_method
            )
            return math.cast(decoded, self._dtype)

        def other() -> Any:
            decoded = image_codec.decode_image(encoded, channels=self._channels)
            return math.cast(decoded, self._dtype)

        return cond(image_codec.is_jpeg(encoded), jpeg, other, name="cond_jpeg")


class TFExampleDecoder(DataDecoder):
    """Parses an Example by `keys_to_features`, and makes the items of it by their handlers.

    Args:
        keys_to_features: as for `tf.parse_single_example`.
        items_to_handlers: a dict from names of items to handlers, such as `Tensor`.

    Example:
        >>> decoders = tf.contrib.slim.tfexample_decoder
        >>> features = {"label": tf.FixedLenFeature([], tf.int64)}
        >>> decoder = decoders.TFExampleDecoder(features, {"class": decoders.Tensor("label")})
        >>> list(decoder.list_items())
        ['class']
    """

    def __init__(
        self, keys_to_features: dict[str, Any], items_to_handlers: dict[str, ItemHandler]
    ) -> None:
        self._keys_to_features, self._items_to_handlers = keys_to_features, items_to_handlers

    def list_items(self) -> list[str]:
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: Any = None) -> list[Any]:  # type: ignore[override]
        example = parse_single_example(serialized_example, self._keys_to_features)
        for key, feature in sorted(self._keys_to_features.items()):
            if isinstance(feature, FixedLenFeature):
                example[key] = array.reshape(example[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in items or self._items_to_handlers]
        return [h.tensors_to_item({key: example[key] for key in h.keys}) for h in handlers]
