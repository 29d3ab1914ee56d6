"""What kernels and shape rules make of bad input reaches callers as TensorFlow's errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.client import eager

raw = tf.raw_ops
INT64 = tf.int64


def _scalar_indices() -> Any:
    return raw.SparseAddGrad(
        backprop_val_grad=[1.0], a_indices=tf.constant(2, INT64),
        b_indices=tf.constant([[2]], INT64), sum_indices=tf.constant([[7]], INT64),
    )  # fmt: skip


def _sampler() -> Any:
    return raw.FixedUnigramCandidateSampler(
        true_classes=tf.constant([[0]], INT64), num_true=1, num_sampled=2, unique=False,
        range_max=2, vocab_file="nope",
    )  # fmt: skip


# Python's exceptions behind these: IndexError, ZeroDivisionError; MemoryError, AttributeError,
# OSError.
BUILT: dict[str, Callable[[], Any]] = {
    "short ksize": lambda: raw.QuantizedMaxPool(
        input=tf.placeholder(tf.quint8, [1, 2, 2, 1]), min_input=0.0, max_input=1.0, ksize=[1],
        strides=[1, 1, 1, 1], padding="VALID",
    ),
    "scalar indices": _scalar_indices,
    "stride of zero": lambda: raw.AudioSpectrogram(input=[[1.0], [2.0]], window_size=1, stride=0),
    "short paddings": lambda: raw.FusedResizeAndPadConv2D(
        input=tf.ones([3, 3, 1, 1]), size=[2, 2], paddings=[3, 4], filter=tf.ones([1, 3, 4, 1]),
        mode="REFLECT", strides=[1, 1, 1, 1], padding="SAME",
    ),
}  # fmt: skip
EAGER: dict[str, tuple[Callable[[], Any], Any]] = {
    "too many elements": (lambda: tf.range(2**62), tf.errors.ResourceExhaustedError),
    "a number for a variable": (
        lambda: raw.ResourceCountUpTo(resource=np.int32(30), limit=872, T=tf.int32),
        tf.errors.InvalidArgumentError,
    ),
    "a number for a queue": (
        lambda: raw.QueueIsClosedV2(handle=[1]), tf.errors.InvalidArgumentError,
    ),
    "no such file": (_sampler, tf.errors.NotFoundError),
    "scalar indices": (_scalar_indices, tf.errors.InvalidArgumentError),
}  # fmt: skip


def _of_any_shape(*dims: int, dtype: Any = np.float32) -> tf.Tensor:
    return tf.placeholder_with_default(np.zeros(dims, dtype), None)


def _unpooling(name: str, grad: tuple[int, ...], argmax: tuple[int, ...]) -> Any:
    return getattr(raw, name)(
        input=_of_any_shape(1, 4, 4, 1), grad=_of_any_shape(*grad),
        argmax=_of_any_shape(*argmax, dtype=np.int64), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1],
        padding="VALID",
    )  # fmt: skip


def _sparse(*indices: int) -> dict[str, Any]:
    return {
        "sp_indices": _of_any_shape(*indices, dtype=np.int64), "sp_values": _of_any_shape(0),
        "sp_shape": _of_any_shape(2, dtype=np.int64),
    }  # fmt: skip


def _two_sparse(*ranks: int) -> dict[str, Any]:
    parts = {}
    for side, rank in zip("ab", ranks, strict=True):
        for name, part in _sparse(0, rank).items():
            parts[name.replace("sp_", f"{side}_")] = part
    return parts


def _sampler_of_few() -> Any:
    """No table is made of as many classes as are reserved."""
    return raw.FixedUnigramCandidateSampler(
        true_classes=tf.constant([[0]], INT64), num_true=1, num_sampled=2, unique=False,
        range_max=2, unigrams=[1.0], num_reserved_ids=2**31 - 1,
    )  # fmt: skip


def _slice_grad(grad: Any, kept: Any, start: Any) -> Any:
    parts = _unknown(np.float32(grad)), _unknown(np.int64(start)), _unknown(np.int64(kept))
    return raw.SparseSliceGrad(
        backprop_val_grad=parts[0], input_indices=_unknown(np.int64([[0, 0]])),
        input_start=parts[1], output_indices=parts[2],
    )  # fmt: skip


def _times_dense(indices: Any, values: Any, shape: Any) -> Any:
    return raw.SparseDenseCwiseMul(
        sp_indices=_unknown(np.int64(indices)), sp_values=_unknown(np.float32(values)),
        sp_shape=_unknown(np.int64(shape)), dense=[1.0, 2.0],
    )  # fmt: skip


def _csv(columns: list[int], count: int) -> Any:
    return raw.DecodeCSV(records=["1,2"], record_defaults=[[1.0]] * count, select_cols=columns)


def _a_list() -> Any:
    return raw.EmptyTensorList(element_shape=[2], max_num_elements=3, element_dtype=tf.float32)


def _unknown(value: Any) -> Any:
    return tf.placeholder_with_default(value, None)


IN_A_STEP: dict[str, tuple[Callable[[], Any], str]] = {
    "grad of another shape": (
        lambda: _unpooling("MaxPoolGradWithArgmax", (1, 2, 3, 1), (1, 2, 2, 1)),
        r"Expected grad shape to be \[1,2,2,1\], but got \[1,2,3,1\]",
    ),
    "a gradient of sparse values that is a matrix": (
        lambda: _slice_grad([[1, 2]], [[0, 0]], [0, 0]),
        r"Input backprop_val_grad should be a vector but received shape: \[1,2\]",
    ),
    "indices that are a vector": (
        lambda: _slice_grad([1], [0], [0, 0]),
        r"Input and output indices should be matrices but received shapes: \[1,2\] and \[1\]",
    ),
    "indices of another rank": (
        lambda: _slice_grad([1], [[0, 0, 0]], [0, 0]),
        "The input and output should have the same ndims: got: 2 and 3",
    ),
    "a gradient with too many values": (
        lambda: _slice_grad([1, 2], [[0, 0]], [0, 0]), r"should match \(#nnz of sum\): got 2 and 1"
    ),
    "a start that is a number": (
        lambda: _slice_grad([1], [[0, 0]], 0),
        r"The input_start should be a vector but received shape \[\]",
    ),
    "a start of another rank": (
        lambda: _slice_grad([1], [[0, 0]], [0, 0, 0]),
        "Expected input_start to be a vector of length 2 but got length 3",
    ),
    "sparse indices that are a vector": (
        lambda: _times_dense([0, 0], [1], [2, 2]),
        r"Input sp_indices should be a matrix but received shape: \[2\]",
    ),
    "sparse values that are a number": (
        lambda: _times_dense([[0, 0]], 1, [2, 2]),
        r"Inputs sp_values and sp_shape should be vectors but received shapes: \[\] and \[2\]",
    ),
    "sparse values without indices": (
        lambda: _times_dense([[0, 0]], [1, 2], [2, 2]), "Number of elements in .* do not match"
    ),
    "shapes that are matrices": (
        lambda: raw.BroadcastGradientArgs(s0=_unknown([[1]]), s1=_unknown([1])),
        r"In\[0\] must be a vector.\[1,1\]",
    ),
    "more columns than defaults": (
        lambda: _csv([1, 0], 1), "select_cols should match output size"
    ),
    "columns that are not in order": (
        lambda: _csv([1, 0], 2), "select_cols should be strictly increasing indices"
    ),
    "a column below 0": (lambda: _csv([-1], 1), "select_cols should be non-negative indices"),
    "a real part of another precision": (
        lambda: raw.ComplexAbs(x=tf.constant(1j, tf.complex64), Tout=tf.float64),
        "Signature mismatch, have: complex64->double expected: complex64->float",
    ),
    "a list that is wrapped as a dataset": (
        lambda: raw.DatasetToGraph(input_dataset=raw.WrapDatasetVariant(input_handle=_a_list())),
        "Tensor must be a Dataset object.",
    ),
    "a list that is unwrapped": (
        lambda: raw.TensorListLength(input_handle=raw.UnwrapDatasetVariant(input_handle=_a_list())),
        "Tensor must be a WrappedDataset variant object.",
    ),
    "the graph of a list": (
        lambda: raw.DatasetToGraph(input_dataset=_a_list()), "Tensor must be a Dataset object."
    ),
    "frames that do not move on": (
        lambda: tf.signal.frame(tf.range(5), frame_length=2, frame_step=0),
        "Integer division by zero",
    ),
    "strides that are a matrix": (
        lambda: raw.StridedSliceGrad(
            shape=[3], begin=_unknown([[0]]), end=_unknown([[1]]), strides=_unknown([[1]]), dy=[1.0]
        ),
        "Expected begin, end, and strides to be 1D equal size tensors, but got shapes",
    ),
    "places of another shape": (
        lambda: _unpooling("MaxPoolGradWithArgmax", (1, 2, 2, 1), (4,)),
        r"Expected argmax shape to be \[1,2,2,1\], but got \[4\]",
    ),
    "grad of the pooled shape": (
        lambda: _unpooling("MaxPoolGradGradWithArgmax", (1, 2, 2, 1), (1, 2, 2, 1)),
        r"Expected grad shape to be \[1,4,4,1\], but got \[1,2,2,1\]",
    ),
    "grad of rank 3": (
        lambda: raw.ResizeBicubicGrad(
            grads=_of_any_shape(2, 3, 4), original_image=_of_any_shape(1, 2, 2, 1)
        ),
        r"input_grad must be 4-dimensional\[2,3,4\]",
    ),
    "as many gradients as are not there": (
        lambda: raw.FractionalMaxPoolGrad(
            orig_input=_of_any_shape(1, 4, 4, 1), orig_output=_of_any_shape(1, 2, 2, 1),
            out_backprop=_of_any_shape(1, 0, 2, 1), row_pooling_sequence=np.int64([0, 2, 4]),
            col_pooling_sequence=np.int64([0, 2, 4]),
        ),
        r"The gradient \[1,0,2,1\] is not of the shape of the output \[1,2,2,1\]",
    ),
    "sides without a pixel": (
        lambda: raw.EncodeJpeg(image=_of_any_shape(0, 3, 3, dtype=np.uint8)),
        r"JPEG encoding failed: no image has the sides \[0,3\]",
    ),
    "a dimension beyond 32 bits": (
        lambda: raw.Shape(input=_of_any_shape(0, 2**31)),
        "Shape output type is 32-bit  but dim 1 is 2147483648",
    ),
    "a sparse side of another rank": (
        lambda: raw.SparseTensorDenseAdd(
            a_indices=_of_any_shape(0, 2**31, dtype=np.int64), a_values=_of_any_shape(0),
            a_shape=_of_any_shape(2, dtype=np.int64), b=_of_any_shape(0, 0),
        ),
        "Dimensions 2147483648 and 2 are not compatible",
    ),
    "coordinates of another rank": (
        lambda: raw.SparseDenseCwiseMul(dense=_of_any_shape(0, 0), **_sparse(0, 2**31)),
        r"Got 2 dimensions, indices shape: \[0,2147483648\]",
    ),
    "coordinates of another rank, softmax": (
        lambda: raw.SparseSoftmax(**_sparse(0, 2**31)), "Order length must be SparseTensor rank.",
    ),
    "sides of different ranks": (
        lambda: raw.SparseAdd(**_two_sparse(2, 2**31), thresh=0.0),
        "Input indices must have the same dimension, got 2 and 2147483648",
    ),
    "sides of another rank than their shapes": (
        lambda: raw.SparseAdd(**_two_sparse(2**31, 2**31), thresh=0.0),
        "Second dimension of a_indices and length of a_shape must match, got 2147483648 and 2",
    ),
    "one side of another rank": (
        lambda: raw.SparseSparseMinimum(**_two_sparse(2, 2**31)),
        r"Index rank \(2147483648\) and shape rank \(2\) do not match",
    ),
    "classes that are not there": (
        _sampler_of_few, "range_max is 2, but there are 2147483648 weights",
    ),
}  # fmt: skip


@pytest.mark.parametrize("build, message", IN_A_STEP.values(), ids=IN_A_STEP)
def test_steps_refuse_alike_whether_compiled_or_not(
    sess: tf.Session, build: Callable[[], Any], message: str
) -> None:
    made = build()
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(made)


# Operations of tensors without elements, and the shapes that they give. They take no time, however
# many of nothing there are.
OF_NOTHING: dict[str, tuple[Callable[[], Any], list[tuple[int, ...]]]] = {
    "rows": (lambda: raw.UniqueV2(x=_of_any_shape(0, 3), axis=[0]), [(0, 3), (0,)]),
    "alike": (lambda: raw.UniqueV2(x=_of_any_shape(3, 0), axis=[0]), [(1, 0), (3,)]),
    "the largest": (
        lambda: raw.TopKV2(input=_of_any_shape(2**31, 0), k=0), [(2**31, 0), (2**31, 0)],
    ),
    "softmax": (lambda: raw.Softmax(logits=_of_any_shape(2**31, 0)), [(2**31, 0)]),
    "log_softmax": (lambda: raw.LogSoftmax(logits=_of_any_shape(2**31, 0)), [(2**31, 0)]),
    "pixels": (
        lambda: raw.ScaleAndTranslate(
            images=_of_any_shape(0, 2**31, 4, 2), size=[2, 2], scale=[1.0, 1.0],
            translation=[0.0, 0.0],
        ),
        [(0, 2, 2, 2)],
    ),
    "areas": (
        lambda: raw.ResizeArea(images=_of_any_shape(0, 2**31, 4, 2), size=[2, 2]), [(0, 2, 2, 2)],
    ),
    "what pixels give": (
        lambda: raw.ResizeNearestNeighborGrad(grads=_of_any_shape(0, 2**31, 3, 2), size=[2, 2]),
        [(0, 2, 2, 2)],
    ),
    "an image": (
        lambda: raw.ImageProjectiveTransformV2(
            images=_of_any_shape(2, 0, 3, 2), transforms=_of_any_shape(1, 8), output_shape=[2, 2],
            interpolation="NEAREST",
        ),
        [(2, 2, 2, 2)],
    ),
    "channels": (
        lambda: raw.AudioSpectrogram(input=_of_any_shape(2**31, 0), window_size=3, stride=2),
        [(0, 2**30 - 1, 3)],
    ),
    "classes": (
        lambda: raw.CombinedNonMaxSuppression(
            boxes=_of_any_shape(1, 0, 1, 4), scores=_of_any_shape(1, 0, 2**31),
            max_output_size_per_class=1, max_total_size=2, iou_threshold=0.5, score_threshold=0.1,
        ),
        [(1, 2, 4), (1, 2), (1, 2), (1,)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("build, shapes", OF_NOTHING.values(), ids=OF_NOTHING)
def test_operations_of_nothing(
    sess: tf.Session, build: Callable[[], Any], shapes: list[tuple[int, ...]]
) -> None:
    made = build()
    for _ in range(3):
        found = sess.run(made)
        assert [np.shape(each) for each in (found if len(shapes) > 1 else [found])] == shapes


@pytest.mark.parametrize("build", BUILT.values(), ids=BUILT)
def test_shape_rules_refuse_with_value_errors(build: Callable[[], Any]) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"\(op: '") as found:
        build()
    assert type(found.value) is ValueError


def test_a_stride_of_zero_in_a_step() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1, 4, 4, 1])
        strides = [1, 1, 1, 0]
        y = raw.Conv2D(input=x, filter=tf.ones([1, 1, 1, 1]), strides=strides, padding="SAME")
        with pytest.raises(tf.errors.InvalidArgumentError, match="strides in the batch and depth"):
            session.run(y, {x: np.ones([1, 4, 4, 1])})


@pytest.mark.parametrize("call, kind", EAGER.values(), ids=EAGER)
def test_eager_execution(call: Callable[[], Any], kind: Any) -> None:
    with eager.EagerExecution().as_default():
        tf.set_random_seed(1)
        with pytest.raises(kind, match=r"\[Op:"):
            call()


def test_within_a_python_function() -> None:
    """A kernel's error is TensorFlow's there, too, for the function to catch."""
    caught: list[type] = []

    def function() -> Any:
        try:
            return _sampler()
        except tf.errors.OpError as error:
            caught.append(type(error))
            return tf.constant(0.0)

    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.py_function(function, [], tf.float32))
    assert caught == [tf.errors.NotFoundError]
