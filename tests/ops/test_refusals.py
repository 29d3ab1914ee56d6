"""What operations say of inputs that they cannot use: in TensorFlow's words, and without harm.

Shapes are not known before a step runs, so that it is the kernels that are asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.graph.op_def import raw


def fed(value: Any) -> tuple[tf.Tensor, Any]:
    return tf.placeholder(tf.as_dtype(value.dtype)), value


def run(op: str, *inputs: Any, **attrs: Any) -> Any:
    """The op of inputs that only the step knows."""
    feeds: dict[tf.Tensor, Any] = {}

    def tensor(value: Any) -> Any:
        if isinstance(value, list):
            return [tensor(each) for each in value]
        made, feeds[made] = fed(value)
        return made

    result = getattr(raw, op)(*map(tensor, inputs), **attrs)
    with tf.Session() as session:
        return session.run(result, feeds)


def i64(*values: Any) -> np.ndarray:
    return np.array(values, np.int64)


def i32(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def refusal(op: str, *inputs: Any, **attrs: Any) -> str:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(op, *inputs, **attrs)
    return str(caught.value)


# ---- ragged tensors ------------------------------------------------------------------------------

VALUES = f32(1, 2, 3, 4)


def padded(shape: np.ndarray, splits: np.ndarray, default: Any = 9) -> Any:
    given = (shape, VALUES, np.asarray(default, np.float32), [splits])
    return run("RaggedTensorToTensor", *given, row_partition_types=["ROW_SPLITS"])


@pytest.mark.parametrize("shape", [np.int64(-1), i64(-1, -1)])
@pytest.mark.parametrize(
    ("splits", "words"),
    [
        (i64(0, 3, 1, 4), "Invalid row split size."),
        (i64(0, -1, 4), "Invalid row split size."),
        (i64(1, 2, 4), "Invalid row split size."),
        (i64(0, 1, 9), "Invalid row split size."),
        (i64(), "Invalid first partition input. Tensor requires at least one element."),
    ],
)
def test_ragged_rows_lie_within_the_values(shape: Any, splits: np.ndarray, words: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        padded(shape, splits)


@pytest.mark.parametrize("shape", [np.int64(-1), i64(-1, -1)])
def test_values_behind_the_last_ragged_row_are_left_out(shape: Any) -> None:
    assert padded(shape, i64(0, 1, 3)).tolist() == [[1, 9], [2, 3]]
    assert padded(shape, i64(0)).shape == (0, 0)


def test_a_default_is_of_fewer_dimensions_than_ragged_values() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"default_value.rank = 1  must be le"):
        padded(np.int64(-1), i64(0, 1, 4), [1, 2])


@pytest.mark.parametrize(
    ("count", "rows", "words"),
    [
        (3, i64(0, 0, 2, 7), "Got next_value_rowid=7 which is not less than 3"),
        (3, i64(-1, 0, 2, 2), "Got current_value_rowid=-1 which is not less than 3"),
        (-3, i64(0, 0, 2, 2), "Dimension -3 must be >= 0"),
        (3, i64(2, 0, 1, 2), "Invalid value rowids"),
    ],
)
def test_row_numbers_of_ragged_values(count: int, rows: np.ndarray, words: str) -> None:
    given = (i64(-1, -1), VALUES, np.float32(9), [np.int64(count), rows])
    kinds = ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]
    assert words in refusal("RaggedTensorToTensor", *given, row_partition_types=kinds)


@pytest.mark.parametrize(
    ("splits", "words"),
    [
        (i64(0, 3, 1, 4), "Ragged splits must be sorted"),
        (i64(0, 1, 9), "Ragged splits must not point past values"),
        (i64(-1, 1, 4), "Ragged splits must be non-negative"),
    ],
)
def test_splits_of_rows_to_gather(splits: np.ndarray, words: str) -> None:
    assert words in refusal("RaggedGather", [splits], VALUES, i32(1), OUTPUT_RAGGED_RANK=1)


def test_rows_that_begin_behind_the_first_value_are_gathered() -> None:
    splits, values = run("RaggedGather", [i64(1, 2, 4)], VALUES, i32(1, 0), OUTPUT_RAGGED_RANK=1)
    assert splits[0].tolist() == [0, 2, 3] and values.tolist() == [3, 4, 2]


def test_splits_of_32_bits_do_not_wrap_around() -> None:
    row = np.zeros(1 << 20, np.float32)
    rows = np.zeros((1 << 12) + 1, np.int32)  # 2 ** 32 values and some more
    words = refusal("RaggedGather", [i32(0, 1 << 20)], row, rows, OUTPUT_RAGGED_RANK=1)
    assert "more than 2147483647 values" in words


# ---- sequences, bins, sparse rows ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (f32(0, np.inf, 1), "Requires ((limit - start) / delta) <= 9223372036854775807"),
        (f32(0, 1e30, 1), "Requires ((limit - start) / delta) <= 9223372036854775807"),
        (i64(-(2**63), 2**63 - 1, 1), "Requires ((limit - start) / delta) <= 92233720368547758"),
        (f32(0, np.nan, 1), "Requires start <= limit when delta > 0: 0/nan"),
        (f32(0, 1, np.nan), "Requires start >= limit when delta < 0: 0/1"),
        (f32(3, 0.5, 1), "Requires start <= limit when delta > 0: 3/0.5"),
        (f32(3, 0.5, 0), "Requires delta != 0: 0"),
        (i32(30000000, 0, 1), "Requires start <= limit when delta > 0: 30000000/0"),
    ],
)
def test_ranges(numbers: np.ndarray, words: str) -> None:
    assert words in refusal("Range", *numbers)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_integers_are_compared_with_boundaries_as_floats_of_32_bits(kind: Any) -> None:
    given = np.array([16777218, 16777219, 16777220, -5, 0], kind)
    bounds = [0.0, 16777220.0, 16777222.0]
    assert run("Bucketize", given, boundaries=bounds).tolist() == [1, 2, 2, 0, 1]
    with tf.Session() as session:  # known, and so computed in advance
        found = session.run(raw.Bucketize(given, boundaries=bounds))
    assert found.tolist() == [1, 2, 2, 0, 1]


@pytest.mark.parametrize(
    ("indices", "values", "shape", "default", "words"),
    [
        (i64([0, 0]), f32(1), i64(0, 3), 0, "dense_shape[0] = 0 but indices.shape[0] = 1"),
        (i64([0, 0]), f32(1), i64(-2, 3), 0, "Expected shape dimensions to be non-negative, got -"),
        (np.zeros((0, 0), np.int64), f32(), i64(), 0, "Dense shape cannot be empty."),
        (i64([0, 0], [1, 0]), f32(1), i64(2, 1), 0, "The length of `values` (1) must match the "),
        (i64(0, 1), f32(1), i64(2, 1), 0, "indices must be a matrix, saw: [2]"),
        (i64([0, 0]), f32(1), i64(1, 1), [0], "default_value must be a scalar, saw: [1]"),
    ],
)
def test_empty_rows_to_fill(
    indices: np.ndarray, values: np.ndarray, shape: np.ndarray, default: Any, words: str
) -> None:
    given = (indices, values, shape, np.asarray(default, np.float32))
    assert words in refusal("SparseFillEmptyRows", *given)


@pytest.mark.parametrize(
    ("places", "words"),
    [
        (i64(0, 5), "Elements in reverse index must be in [0, 3) but got 5"),
        (i64(0, -1), "Elements in reverse index must be in [0, 3) but got -1"),
        (i64([0]), "reverse_index_map must be a vector, saw: [1,1]"),
    ],
)
def test_places_of_filled_rows(places: np.ndarray, words: str) -> None:
    assert words in refusal("SparseFillEmptyRowsGrad", places, f32(1, 2, 3))


def test_ranges_side_by_side() -> None:
    for limit in (np.nan, np.inf):
        words = refusal("RaggedRange", f32(0), f32(limit), f32(1))
        assert "Requires ((limit - start) / delta) <= 9223372036854775807" in words
    splits, values = run(
        "RaggedRange", i32(0, -(2**31)), i32(2**31 - 1, 2**31 - 1), i32(2**30, 2**31 - 1)
    )
    assert splits.tolist() == [0, 2, 5]
    assert values.tolist() == [0, 2**30, -(2**31), -1, 2**31 - 2]
    with pytest.raises(tf.errors.ResourceExhaustedError):
        run("RaggedRange", i64(-(2**62), 0), i64(0, 2**62), i64(1, 1))


def test_a_label_is_of_one_size() -> None:
    words = refusal("Einsum", [f32([1, 2]), f32([1, 2])], equation="ab,bc->ac")
    assert "Expected dimension 2 at axis 0 of the input shaped [1,2] but got dimension 1" in words
    words = refusal("Einsum", [f32(1, 2), f32([1, 2])], equation="ab,bc->ac")
    assert "Expected input 0 to have rank 2 but got: 1" in words
    found = run("Einsum", [np.ones((2, 3, 4)), np.ones((1, 4, 5))], equation="...ab,...bc->...ac")
    assert found.shape == (2, 3, 5)  # what an ellipsis stands for may be broadcast


# ---- images --------------------------------------------------------------------------------------

LARGEST = 2**31 - 1


@pytest.mark.parametrize("kind", ["Bilinear", "Bicubic", "Area", "NearestNeighbor"])
def test_an_image_too_large_to_be_counted(kind: str) -> None:
    images = np.ones((4, 3, 3, 9), np.float32)
    words = refusal(f"Resize{kind}", images, i32(LARGEST, LARGEST))
    assert "when multiplying 8589934588 with 2147483647, result: -17179869180" in words
    words = refusal(f"Resize{kind}", images, i32(LARGEST, 2**29))
    assert "when multiplying 4611686016279904256 with 9, result: -1" in words


@pytest.mark.parametrize("kind", ["Bilinear", "Bicubic", "Area", "NearestNeighbor"])
def test_an_image_too_large_to_be_kept(kind: str) -> None:
    images = np.ones((1, 3, 3, 1), np.float32)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        run(f"Resize{kind}", images, i32(LARGEST, LARGEST))


def resized(shape: tuple[int, ...], *size: int) -> Any:
    images = tf.bitcast(np.ones(shape, np.uint8), tf.quint8)
    sizes, value = fed(i32(*size))
    found = raw.QuantizedResizeBilinear(images, sizes, 0.0, 1.0)
    with tf.Session() as session:
        return session.run(found, {sizes: value})


def test_quantized_images_are_checked_as_others_are() -> None:
    for shape, size, words in (
        ((1, 3, 3, 2), (0, 3), "output dimensions must be positive"),
        ((1, 3, 3, 2), (-1, 3), "output dimensions must be positive"),
        ((1, 0, 3, 2), (3, 3), "input image must be of non-zero size"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            resized(shape, *size)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        resized((1, 3, 3, 2), LARGEST, LARGEST)


def test_quantized_norms_of_what_is_no_image() -> None:
    image, low = tf.placeholder(tf.uint8), tf.placeholder(tf.float32)
    normalized = raw.QuantizedInstanceNorm(tf.bitcast(image, tf.quint8), low, 1.0)
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="input must be 4-dimensional"):
            session.run(normalized, {image: [1, 2], low: 0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="`x_min` must be rank 0 but is r"):
            session.run(normalized, {image: np.ones((1, 2, 2, 1)), low: [0]})
        found = session.run(normalized, {image: np.ones((1, 0, 2, 1)), low: 0})
    assert found[0].shape == (1, 0, 2, 1) and np.isinf(found[1:]).all()


def test_means_of_a_quantized_batch_are_as_many_as_channels() -> None:
    def four(*values: Any) -> list[Any]:
        return [tf.bitcast(np.array(values, np.uint8), tf.quint8), 0.0, 1.0]

    mean = tf.placeholder(tf.uint8)
    found = raw.QuantizedBatchNormWithGlobalNormalization(
        *four([[[1, 2]]]), tf.bitcast(mean, tf.quint8), 0.0, 1.0, *four(1, 2), *four(1, 2),
        *four(1, 2), out_type=tf.qint32, variance_epsilon=0.1, scale_after_normalization=True,
    )  # fmt: skip
    words = r"as many means as the last dimension of the input tensor: \[3\] vs. \[1,1,1,2\]"
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(found, {mean: [1, 2, 3]})


@pytest.mark.parametrize("op", ["MaxPool", "AvgPool"])
def test_batches_are_not_pooled(op: str) -> None:
    image = np.ones((2, 4, 4, 1), np.float32)
    with pytest.raises(tf.errors.UnimplementedError, match="not yet supported on the batch dim"):
        run(op, image, ksize=[2, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")


def test_boxes_are_as_many_as_their_scores() -> None:
    scores, info = np.ones((1, 2, 2, 3), np.float32), np.ones((1, 5), np.float32)
    for deltas, anchors in (((1, 2, 2, 11), (2, 2, 12)), ((1, 2, 2, 12), (1, 1, 12))):
        given = (scores, np.ones(deltas, np.float32), info, np.ones(anchors, np.float32))
        more = (np.float32(0.7), np.int32(9), np.float32(0))
        assert "different numbers" in refusal("GenerateBoundingBoxProposals", *given, *more)


# ---- others --------------------------------------------------------------------------------------


def test_recurrent_layers_have_sizes() -> None:
    def sizes(layers: int, units: int, depth: int) -> Any:
        return run("CudnnRNNParamsSize", *i32(layers, units, depth), T=tf.float32, S=tf.int64)

    assert sizes(2, 3, 5).tolist() == [4 * (3 * 5 + 3 * 3 + 6) + 4 * (3 * 3 + 3 * 3 + 6)]
    assert sizes(2**30, 1, 1)[0] == 2**30 * 16  # not counted one by one
    for wrong in ((0, 3, 5), (1, -3, 5), (1, 3, -5)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Recurrent layers of sizes"):
            sizes(*wrong)


def test_a_tree_that_nobody_made() -> None:
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError, match="does not exist"):
        session.run(raw.TreeSize(raw.DecisionTreeResourceHandleOp()))


def test_an_index_of_batches_is_a_matrix() -> None:
    for batch, index in ((np.float32(1), i64([0, 0, 1])), (f32(1), i64(0))):
        words = refusal("Unbatch", batch, index, np.int64(0), timeout_micros=1000)
        assert "a matrix as its index" in words


# ---- what graphs know ----------------------------------------------------------------------------


def test_unknown_dimensions_beside_none_stay_unknown() -> None:
    none, some = tf.placeholder(tf.float32, [0, 2]), tf.placeholder(tf.float32, [None, None])
    for found in (none + some, some * none, raw.SelectV2(none > 1, some, some)):
        assert found.shape.as_list() == [None, 2]


def test_negative_sizes_are_no_dimensions() -> None:
    spectrum = tf.placeholder(tf.complex64, [4, 4])
    assert raw.IRFFT2D(spectrum, [2, -1]).shape.as_list() == [2, None]
    assert raw.RFFT(tf.placeholder(tf.float32, [4]), [-1]).shape.as_list() == [None]
    indices, values = i64([0, 0]), f32(1)
    found = raw.SparseReduceSum(indices, values, i64(3, -1), np.int32(0))
    assert found.shape.as_list() == [None]
    assert raw.SparseReduceMax(indices, values, np.int64(4), i32(0)).shape.as_list() == []
    assert raw.RecordInput(file_pattern="a", batch_size=-2).shape.dims is None


def test_handles_have_their_shape() -> None:
    text, barrier = tf.placeholder(tf.string, [1, 2]), raw.Barrier(component_types=[tf.int32])
    for op in (raw.GetSessionTensor, raw.DeleteSessionTensor):
        more = {"dtype": tf.float32} if op is raw.GetSessionTensor else {}
        with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 2"):
            op(text, **more)
    for size in (raw.BarrierReadySize, raw.BarrierIncompleteSize):
        assert size(barrier).shape.as_list() == []
    matrix = tf.Variable([["a"]], use_resource=False)._ref()
    for op in (raw.BarrierClose, raw.BarrierReadySize, raw.BarrierIncompleteSize):
        with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 2"):
            op(matrix)


def test_the_larger_of_sparse_tensors_have_parts_of_their_ranks() -> None:
    parts = [i64([1]), f32(1), i64(3)] * 2
    for i in range(6):
        wrong = [*parts[:i], parts[i][None], *parts[i + 1 :]]
        with pytest.raises(ValueError, match=f"Shape must be rank {1 if i % 3 else 2} but"):
            raw.SparseSparseMaximum(*wrong)


def test_classes_of_refusals() -> None:
    with pytest.raises(tf.errors.FailedPreconditionError, match="for 3-element vectors\\.\n"):
        run("Cross", f32(1, 2), f32(1, 2))
    image, window = np.ones((1, 4, 4, 2), np.float32), np.ones((2, 2, 2), np.float32)
    for strides, rates in (([2, 1, 1, 1], [1] * 4), ([1] * 4, [1, 1, 1, 2])):
        with pytest.raises(tf.errors.UnimplementedError, match="across spatial dimensions"):
            run("Dilation2D", image, window, strides=strides, rates=rates, padding="SAME")
    start = tf.placeholder(tf.int32)
    count = tf.Variable(start, validate_shape=False, use_resource=False)
    with tf.Session() as session:
        session.run(count.initializer, {start: [0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"not a scalar: \[1\]"):
            session.run(raw.CountUpTo(count._ref(), limit=3))
