"""Small programs on ragged tensors; `tf` is TensorFlow or weft. Their values are recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data" / "ragged.json"


def digits(tf: Any) -> Any:
    return tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])


def deep(tf: Any) -> Any:
    return tf.ragged.constant([[[1.0, 2.0], [3.0]], [], [[4.0], [], [5.0, 6.0, 7.0]]])


def pairs(tf: Any) -> Any:
    """One ragged dimension above a dense one."""
    return tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)


def words(tf: Any) -> Any:
    return tf.ragged.constant([["the", "quick brown"], [], ["fox"]])


def _sum_gradient(tf: Any, of: Callable[[Any], Any], x: Any) -> Any:
    y = of(x)
    y = y.flat_values if hasattr(y, "flat_values") else y
    return tf.gradients(tf.reduce_sum(y * y), x.flat_values)[0]


def _splits(value: Any, *splits: list[int]) -> Any:
    return lambda tf: tf.RaggedTensor.from_nested_row_splits(value, splits)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    # made and taken apart
    "row_lengths": lambda tf: tf.RaggedTensor.from_row_lengths([1, 2, 3, 4], [0, 3, 1]),
    "row_starts": lambda tf: tf.RaggedTensor.from_row_starts([1, 2, 3, 4], [0, 3, 3]),
    "row_limits": lambda tf: tf.RaggedTensor.from_row_limits([1, 2, 3, 4], [2, 2, 4]),
    "value_rowids": lambda tf: tf.RaggedTensor.from_value_rowids([1, 2, 3, 4], [0, 0, 2, 3], 6),
    "nested_rowids": lambda tf: tf.RaggedTensor.from_nested_value_rowids(
        [1, 2, 3], [[0, 2], [0, 1, 1]], [4, 2]
    ),
    "nested_lengths": lambda tf: tf.RaggedTensor.from_nested_row_lengths(
        [1, 2, 3], [[1, 0, 1], [2, 1]]
    ),
    "nested_splits": _splits([1, 2, 3], [0, 1, 2], [0, 2, 3]),
    "from_tensor": lambda tf: tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]),
    "from_tensor_lengths": lambda tf: tf.RaggedTensor.from_tensor(
        [[1, 2, 3], [4, 5, 6]], lengths=[1, 5]
    ),
    "from_tensor_padding": lambda tf: tf.RaggedTensor.from_tensor(
        [[1, 0, 3, 0], [0, 0, 0, 0]], padding=0
    ),
    "from_tensor_deep": lambda tf: tf.RaggedTensor.from_tensor(
        np.arange(12).reshape(2, 3, 2), ragged_rank=2
    ),
    "from_tensor_cut_deep": lambda tf: tf.RaggedTensor.from_tensor(
        np.arange(12).reshape(2, 3, 2), lengths=(np.array([2, 3]), np.array([2, 1, 1, 0, 2]))
    ),
    "to_tensor": lambda tf: digits(tf).to_tensor(),
    "to_tensor_default": lambda tf: deep(tf).to_tensor(-1.0),
    "to_tensor_default_row": lambda tf: pairs(tf).to_tensor([8, 9]),
    "to_tensor_strings": lambda tf: words(tf).to_tensor(),
    "to_sparse": lambda tf: tf.sparse.to_dense(deep(tf).to_sparse(), -1.0),
    "from_sparse": lambda tf: tf.RaggedTensor.from_sparse(digits(tf).to_sparse()),
    "parts": lambda tf: [
        digits(tf).value_rowids(), digits(tf).row_starts(), digits(tf).row_limits(),
        digits(tf).nrows(), digits(tf).row_lengths(), *deep(tf).nested_row_lengths(),
        *deep(tf).nested_value_rowids(), deep(tf).bounding_shape(), pairs(tf).bounding_shape(),
    ],
    "inner_lengths": lambda tf: [deep(tf).row_lengths(axis=2), pairs(tf).row_lengths(axis=2)],
    "int32_splits": lambda tf: deep(tf).with_row_splits_dtype(tf.int32).row_lengths(),
    # [ ]
    "rows": lambda tf: [digits(tf)[0], digits(tf)[-2], deep(tf)[2, 2], pairs(tf)[0, 1, 1]],
    "slices": lambda tf: [
        digits(tf)[1:3], digits(tf)[:, :2], digits(tf)[:, -2:], digits(tf)[::2],
        digits(tf)[3:1], deep(tf)[:, :, :1], pairs(tf)[:, :, 1], digits(tf)[:, ::2],
        digits(tf)[::-1],
    ],
    "new_dimensions": lambda tf: [digits(tf)[None], digits(tf)[:, None], deep(tf)[..., :1]],
    "slice_by_tensor": lambda tf: digits(tf)[:, tf.constant(1) : tf.constant(-1)],
    # elementwise
    "arithmetic": lambda tf: [
        digits(tf) + 1, 10 - digits(tf), digits(tf) * digits(tf), digits(tf) // 2,
        digits(tf) % 2, -digits(tf), abs(-digits(tf)), deep(tf) / 2.0, 2.0 ** deep(tf),
    ],
    "comparison": lambda tf: [digits(tf) > 2, digits(tf) <= 4, ~(digits(tf) >= 3)],
    "logic": lambda tf: [
        (digits(tf) > 2) & (digits(tf) < 6), (digits(tf) > 5) | (digits(tf) < 2),
        (digits(tf) > 5) ^ (digits(tf) < 9),
    ],
    "broadcast_column": lambda tf: digits(tf) + np.int32([[10], [20], [30], [40], [50]]),
    "broadcast_row": lambda tf: pairs(tf) * [10, 100],
    "broadcast_deep": lambda tf: deep(tf) + np.float32([[[10]], [[20]], [[30]]]),
    "broadcast_levels": lambda tf: deep(tf) * tf.ragged.constant(
        [[[2.0], [3.0]], [], [[4.0], [5.0], [6.0]]], ragged_rank=1
    ),
    "broadcast_outer": lambda tf: digits(tf)[:1] + np.int32([[10], [20]]),
    "maps": lambda tf: [
        tf.exp(deep(tf)), tf.square(deep(tf)), tf.cast(deep(tf), tf.int32),
        tf.clip_by_value(deep(tf), 2.0, 5.0), tf.zeros_like(deep(tf)), tf.identity(deep(tf)),
    ],
    "add_n": lambda tf: tf.add_n([digits(tf), digits(tf)]),
    "minimum": lambda tf: tf.minimum(digits(tf), 3),
    # reductions
    "sums": lambda tf: [
        tf.reduce_sum(digits(tf)), tf.reduce_sum(digits(tf), 0), tf.reduce_sum(digits(tf), 1),
        tf.reduce_sum(deep(tf), 0), tf.reduce_sum(deep(tf), 1), tf.reduce_sum(deep(tf), -1),
        tf.reduce_sum(deep(tf), [0, 2]), tf.reduce_sum(pairs(tf), 2),
    ],
    "extremes": lambda tf: [
        tf.reduce_max(deep(tf), [1, 2]), tf.reduce_min(pairs(tf), 1), tf.reduce_prod(deep(tf), 2),
    ],
    "means": lambda tf: [tf.reduce_mean(deep(tf)), tf.reduce_mean(pairs(tf), 1)],
    "any_all": lambda tf: [
        tf.reduce_any(digits(tf) > 4, 1), tf.reduce_all(digits(tf) > 0, axis=1),
    ],
    "segments": lambda tf: [
        tf.math.unsorted_segment_sum(digits(tf), [0, 2, 0, 1, 2], 3),
        tf.math.unsorted_segment_max(digits(tf), [0, 2, 0, 1, 2], 4),
    ],
    # rows
    "concat": lambda tf: [
        tf.concat([digits(tf), digits(tf)[:2]], 0), tf.concat([digits(tf), digits(tf) + 1], 1),
        tf.concat([deep(tf), deep(tf)], 2), tf.concat([digits(tf), [[7]] * 5], axis=1),
    ],
    "stack": lambda tf: [
        tf.stack([digits(tf), digits(tf)[:2]]), tf.stack([digits(tf), digits(tf)], 1),
        tf.ragged.stack([deep(tf), deep(tf)], 2),
    ],
    "gather": lambda tf: [
        tf.gather(digits(tf), [2, 0, 2]), tf.gather(deep(tf), [[2], [0]]),
        tf.gather([10, 20, 30], tf.ragged.constant([[1], [], [0, 2]])),
        tf.gather(deep(tf), tf.ragged.constant([[1, 0], []])),
    ],
    "gather_nd": lambda tf: [
        tf.gather_nd(deep(tf), [[0, 1], [2, 2]]), tf.gather_nd(deep(tf), [[2, 2, 1]]),
        tf.gather_nd(pairs(tf), [[0, 1, 0], [1, 0, 1]]),
    ],
    "batch_gather": lambda tf: tf.batch_gather(
        digits(tf), tf.ragged.constant([[3, 0], [], [1], [0], []])
    ),
    "tile": lambda tf: [
        tf.tile(digits(tf), [1, 2]), tf.tile(digits(tf), [2, 1]), tf.tile(deep(tf), [2, 2, 2]),
        tf.tile(pairs(tf), [1, 2, 2]),
    ],
    "expand_dims": lambda tf: [tf.expand_dims(deep(tf), axis) for axis in (0, 1, 2, 3)],
    "squeeze": lambda tf: tf.squeeze(tf.ragged.constant([[[1, 2]], [[3]]]), [1]),
    "size_and_rank": lambda tf: [tf.size(deep(tf)), tf.rank(pairs(tf))],
    "one_hot": lambda tf: tf.one_hot(tf.ragged.constant([[0, 2], [], [1]]), 3),
    "where": lambda tf: [
        tf.where(digits(tf) > 3), tf.where(digits(tf) > 3, digits(tf), -digits(tf)),
        tf.where([True, False, True, False, True], digits(tf), -digits(tf)),
    ],
    "boolean_mask": lambda tf: [
        tf.ragged.boolean_mask(digits(tf), digits(tf) > 2),
        tf.ragged.boolean_mask(digits(tf), [True, False, True, True, False]),
        tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]]),
        tf.ragged.boolean_mask(pairs(tf), tf.ragged.constant([[False, True], [True]])),
    ],
    "partitions": lambda tf: [
        tf.ragged.stack_dynamic_partitions(["a", "b", "c", "d"], [3, 0, 3, 1], 5),
        *tf.dynamic_partition(digits(tf), [1, 0, 1, 0, 0], 2),
    ],
    "range": lambda tf: [
        tf.ragged.range([3, 0, 2]), tf.ragged.range([1, 5], [4, 2], [2, -1]),
        tf.ragged.range(0.0, [1.0, 2.0], 0.5),
    ],
    "segment_ids": lambda tf: [
        tf.ragged.row_splits_to_segment_ids([0, 2, 2, 5]),
        tf.ragged.segment_ids_to_row_splits([0, 0, 2, 2], 5),
    ],
    "map_flat_values": lambda tf: tf.ragged.map_flat_values(lambda a, b: a * 2 + b, digits(tf), 1),
    # strings
    "split": lambda tf: [
        tf.strings.split(["a b c", "", "d"], result_type="RaggedTensor"),
        tf.strings.split([["a,b", "c"], ["d,e,f", ""]], ",", result_type="RaggedTensor"),
        tf.strings.split(words(tf), result_type="RaggedTensor"),
        tf.string_split(["a b", "c"], result_type="RaggedTensor"),
    ],
    "bytes": lambda tf: [tf.strings.bytes_split("ab"), tf.strings.bytes_split(words(tf))],
    "unicode": lambda tf: [
        tf.strings.unicode_decode(["é", "ab", ""], "UTF-8"),
        tf.strings.unicode_decode([["é"], ["ab"]], "UTF-8"),
        *tf.strings.unicode_decode_with_offsets(["éa", "b"], "UTF-8"),
        tf.strings.unicode_split(["éa", "b"], "UTF-8"),
        *tf.strings.unicode_split_with_offsets("aéb", "UTF-8"),
        tf.strings.unicode_encode([[104, 105], [233, 33]], "UTF-8"),
        tf.strings.unicode_encode(tf.ragged.constant([[104], [], [233, 97]]), "UTF-16-BE"),
    ],
    "ngrams": lambda tf: [
        tf.strings.ngrams(words(tf), 2, pad_values=("<", ">")),
        tf.strings.ngrams(["a", "b", "c"], [1, 3], separator="-"),
        tf.strings.ngrams(words(tf), 2, preserve_short_sequences=True),
    ],
    "string_maps": lambda tf: [
        tf.strings.length(words(tf)), tf.strings.substr(words(tf), 0, 2),
        tf.strings.join([words(tf), words(tf)], "+"), tf.strings.regex_replace(words(tf), "o", "0"),
        tf.strings.reduce_join(words(tf), axis=1, separator="_"), tf.as_string(digits(tf)),
    ],
    # gradients
    "gradient_of_gather": lambda tf: tf.convert_to_tensor(
        _sum_gradient(tf, lambda x: tf.gather(x, [2, 0, 2]), deep(tf))
    ),
    "gradient_of_to_tensor": lambda tf: tf.convert_to_tensor(
        _sum_gradient(tf, lambda x: x.to_tensor(), deep(tf))
    ),
    "gradient_of_to_sparse": lambda tf: tf.convert_to_tensor(
        _sum_gradient(tf, lambda x: x.to_sparse().values, deep(tf))
    ),
    "gradient_of_mean": lambda tf: tf.convert_to_tensor(
        _sum_gradient(tf, lambda x: tf.reduce_sum(x, 1), deep(tf))
    ),
    "gradient_of_broadcast": lambda tf: tf.convert_to_tensor(
        _sum_gradient(tf, lambda x: x * np.float32([[[1]], [[2]], [[3]]]), deep(tf))
    ),
}  # fmt: skip


def plain(value: Any) -> Any:
    """Fetched values as lists, numbers and text."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "to_list"):
        return plain(value.to_list())
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return plain(value.tolist()) if isinstance(value, (np.ndarray, np.generic)) else value


def values(tf: Any, program: Callable[[Any], Any]) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return plain(session.run(program(tf)))
