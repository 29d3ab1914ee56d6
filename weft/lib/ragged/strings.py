"""tf.strings functions that split strings into ragged rows, and join them again."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.lib.ragged.math import reduce
from weft.lib.ragged.rows import known_rank
from weft.lib.ragged.shape import expand_dims
from weft.lib.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor
from weft.ops.array import array
from weft.ops.kit.shared import deprecated_alias
from weft.ops.strings.reduce import reduce_join as dense_reduce_join
from weft.ops.strings.reduce import unsorted_segment_join
from weft.ops.strings.split import string_split as sparse_string_split
from weft.ops.strings.split import string_split_v2 as sparse_split

_RESULT_TYPE = "result_type must be 'RaggedTensor' or 'SparseTensor'."

# ---- splitting ----------------------------------------------------------------------------------


def _rows_of(sparse: SparseTensor) -> RaggedTensor:
    """A sparse matrix without gaps."""
    return RaggedTensor.from_value_rowids(
        sparse.values, sparse.indices[:, 0], sparse.dense_shape[0], validate=False
    )


def _split_each(input: Any, split: Any) -> Any:
    """`split` makes rows of a vector of strings; here `input` may have any shape."""
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(_split_each(input.flat_values, split))
    rank = input.shape.ndims
    if rank == 0:
        return split(array.stack([input]))[0]
    if rank == 1 or rank is None:
        return split(input)
    return _split_each(RaggedTensor.from_tensor(input, ragged_rank=rank - 1), split)


def string_bytes_split(input: Any, name: str | None = None) -> Any:
    """Each string as a row of its bytes."""
    with name_scope(name, "StringsByteSplit", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if input.shape.ndims is None:
            raise ValueError("input must have a statically-known rank.")

        def split(vector: Tensor) -> RaggedTensor:
            return _rows_of(SparseTensor(*raw.StringSplit(vector, "", skip_empty=False)))

        return _split_each(input, split)


def string_split(
    source: Any,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """Splits each string of a vector at any of the bytes of `sep`, by default at spaces.

    Args:
        source: a vector of strings.
        sep: the bytes at which to split; "" splits between all bytes.
        skip_empty: whether empty pieces are left out.
        delimiter: an older name of `sep`.
        result_type: "SparseTensor" or "RaggedTensor".
        name: of the operation.

    Returns:
        The pieces of each string as a row.

    Raises:
        ValueError: the result type is unknown, or `source` has another rank.

    Example:
        >>> session.run(tf.string_split(["hello world", "weft"])).values
        array([b'hello', b'world', b'weft'], dtype=object)
    """
    with name_scope(name, "StringSplit", [source]):
        sparse = sparse_string_split(source, sep, skip_empty, delimiter)
        return _result(sparse, result_type)


def _result(sparse: SparseTensor, result_type: str) -> Any:
    if result_type == "SparseTensor":
        return sparse
    if result_type == "RaggedTensor":
        return _rows_of(sparse)
    raise ValueError(_RESULT_TYPE)


def strings_split(
    input: Any = None,
    sep: Any = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: Any = None,
    name: str | None = None,
) -> Any:
    """Splits each string at the string `sep`, by default at white space."""
    given = deprecated_alias("input", input, "source", source)
    with name_scope(name, "StringSplit", [given]):
        strings = convert_to_tensor_or_ragged_tensor(given, dtypes.string, name="input")
        if result_type == "SparseTensor" and strings.shape.ndims in (0, 1):
            return sparse_split(strings, sep, maxsplit)
        rows = _split_each(strings, lambda v: _rows_of(sparse_split(v, sep, maxsplit)))
        if result_type == "SparseTensor":
            return rows.to_sparse()
        if result_type == "RaggedTensor":
            return rows
        raise ValueError(_RESULT_TYPE)


# ---- Unicode ------------------------------------------------------------------------------------


def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """Strings of code points in the last dimension."""
    with name_scope(name, "UnicodeEncode", [input]):
        input = convert_to_tensor_or_ragged_tensor(input)
        rank = input.shape.ndims
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        how = {"errors": errors, "replacement_char": replacement_char}
        return _encoded(input, output_encoding, **how)


def _encoded(input: Any, encoding: str, **how: Any) -> Any:
    if isinstance(input, RaggedTensor):
        if known_rank(input.flat_values) > 1:
            return input.with_flat_values(_encoded(input.flat_values, encoding, **how))
        if input.ragged_rank > 1:
            return input.with_values(_encoded(input.values, encoding, **how))
        return raw.UnicodeEncode(input.values, input.row_splits, output_encoding=encoding, **how)
    shape = array.shape(input)
    rows = array.reshape(input, array.stack([-1, shape[-1]]))
    if input.shape.ndims == 1:
        rows = array.expand_dims(input, 0)
    flat = _encoded(RaggedTensor.from_tensor(rows), encoding, **how)
    return flat if input.shape.ndims == 2 else array.reshape(flat, shape[:-1])


def _decoded(op: Any, input: Any, **how: Any) -> list[Any]:
    """The outputs of a decoding op as rows of each string; [code points] or [.., offsets]"""
    input = convert_to_tensor_or_ragged_tensor(input, name="input")
    rank = input.shape.ndims
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank > 1:
        input = _all_ragged(input, rank)
    flat = input.flat_values if isinstance(input, RaggedTensor) else input
    splits, *found = op(array.reshape(flat, [-1]), **how)
    if rank == 0:
        return found
    rows = [RaggedTensor.from_row_splits(each, splits, validate=False) for each in found]
    return [input.with_flat_values(each) for each in rows] if rank > 1 else rows


def _all_ragged(input: Any, rank: int) -> RaggedTensor:
    """The same with as many ragged dimensions as possible."""
    if not isinstance(input, RaggedTensor):
        return RaggedTensor.from_tensor(input, ragged_rank=rank - 1)
    missing = rank - 1 - input.ragged_rank
    if missing == 0:
        return input
    inner = RaggedTensor.from_tensor(
        input.flat_values, ragged_rank=missing, row_splits_dtype=input.row_splits.dtype
    )
    return input.with_flat_values(inner)


def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Each string as a row of code points."""
    with name_scope(name, "UnicodeDecode", [input]):
        return _decoded(
            raw.UnicodeDecode,
            input,
            input_encoding=input_encoding,
            errors=errors,
            replacement_char=replacement_char,
            replace_control_characters=replace_control_characters,
        )[0]


@with_parameters_of(unicode_decode)
def unicode_decode_with_offsets(input: Any, name: str | None, **how: Any) -> tuple[Any, Any]:
    """Each string as a row of code points, and where in the string each begins."""
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        codes, offsets = _decoded(raw.UnicodeDecodeWithOffsets, input, **how)
        return codes, offsets


@with_parameters_of(unicode_decode, without=("replace_control_characters",))
def unicode_split(input: Any, input_encoding: str, name: str | None, **how: Any) -> Any:
    """Each string as a row of its characters."""
    with name_scope(name, "UnicodeSplit", [input]):
        (codes,) = _decoded(raw.UnicodeDecode, input, input_encoding=input_encoding, **how)
        return _encoded(expand_dims(codes, -1), input_encoding, **how)


@with_parameters_of(unicode_split)
def unicode_split_with_offsets(
    input: Any, input_encoding: str, name: str | None, **how: Any
) -> tuple[Any, Any]:
    """Each string as a row of its characters, and where in the string each begins."""
    with name_scope(name, "UnicodeSplitWithOffsets", [input]):
        op = raw.UnicodeDecodeWithOffsets
        codes, offsets = _decoded(op, input, input_encoding=input_encoding, **how)
        return _encoded(expand_dims(codes, -1), input_encoding, **how), offsets


# ---- joining ------------------------------------------------------------------------------------


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: Any = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: Any = None,
) -> Any:
    """Strings joined in dimension `axis`."""
    axis = deprecated_alias("axis", axis, "reduction_indices", reduction_indices)
    if deprecated_alias("keepdims", keepdims, "keep_dims", keep_dims):
        raise ValueError("keepdims=True is not supported for RaggedTensors.")

    def whole(tensor: Any, axis: Any) -> Tensor:
        return dense_reduce_join(tensor, axis, separator=separator)

    def over(data: Any, ids: Any, number: Any) -> Tensor:
        return unsorted_segment_join(data, ids, number, separator)

    with name_scope(name, "RaggedSegmentJoin", [inputs, axis]):
        return reduce(whole, over, inputs, axis)


def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Each row as the row of its sequences of `ngram_width` neighbours, joined."""
    with name_scope(name, "StringNGrams", [data]):
        left, right = _pads(pad_values)
        if padding_width is not None and padding_width < 1:
            raise ValueError("padding_width must be greater than 0.")
        if padding_width is not None and pad_values is None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
        if any(width < 1 for width in widths):
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
        data = convert_to_tensor_or_ragged_tensor(data, name="data", dtype=dtypes.string)
        options = {
            "separator": separator,
            "ngram_widths": widths,
            "left_pad": left,
            "right_pad": right,
            "pad_width": 0 if pad_values is None else padding_width or -1,
            "preserve_short_sequences": preserve_short_sequences,
        }
        return _ngrams(data, options)


def _pads(values: Any) -> tuple[Any, Any]:
    pads = values if isinstance(values, (list, tuple)) else (values, values)
    if values is None:
        return "", ""
    if not all(isinstance(pad, (str, bytes)) for pad in pads[:2]):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    return pads[0], pads[1]


def _ngrams(data: Any, options: dict[str, Any]) -> Any:
    if isinstance(data, RaggedTensor):
        if data.ragged_rank > 1:
            return data.with_values(_ngrams(data.values, options))
        values, splits = raw.StringNGrams(data.flat_values, data.row_splits, **options)
        return RaggedTensor.from_row_splits(values, splits, validate=False)
    rank = data.shape.ndims
    if rank is None:
        raise ValueError("Rank of data must be known.")
    if rank == 0:
        raise ValueError("Data must have rank>0")
    if rank == 1:
        return _ngrams(array.expand_dims(data, 0), options)[0]
    rows = _ngrams(RaggedTensor.from_tensor(data, ragged_rank=rank - 1), options)
    shape = array.concat([array.shape(data)[:-1], [-1]], axis=0)
    return array.reshape(rows.flat_values, shape)
