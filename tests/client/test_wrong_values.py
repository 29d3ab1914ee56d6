"""What is said of arguments that cannot become inputs of an operation, as TensorFlow says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

WORDS = np.array(["a", "b"], object)
PAIR = np.ones([2], np.float32)
IMAGE = np.ones([1, 4, 4, 1], np.float32)
CASES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: tf.pow(PAIR, WORDS), TypeError,
        "Input 'y' of 'Pow' Op has type string that does not match type float32 of argument 'x'.",
    ),
    (
        lambda: tf.image.adjust_contrast(np.ones([2, 2, 3], np.float32), WORDS), TypeError,
        "Input 'contrast_factor' of 'AdjustContrastv2' Op has type string that does not match"
        " expected type of float32.",
    ),
    (
        lambda: tf.maximum(PAIR, None), ValueError,
        "Tried to convert 'y' to a tensor and failed. Error: None values not supported.",
    ),
    (
        lambda: tf.concat([None, 2], 0), TypeError,
        "Tensors in list passed to 'values' of 'ConcatV2' Op have types [<NOT CONVERTIBLE TO"
        " TENSOR>, int32] that don't all match.",
    ),
    (
        lambda: tf.concat([[1.0], [2]], 0), TypeError,
        "Tensors in list passed to 'values' of 'ConcatV2' Op have types [float32, int32] that"
        " don't all match.",
    ),
    (
        lambda: tf.decode_csv(["1,2"], [None, 2]), TypeError,
        "Tensors in list passed to 'record_defaults' of 'DecodeCSV' Op have types [<NOT CONVERTIBLE"
        " TO TENSOR>, int32] that are invalid.",
    ),
    (
        lambda: tf.dynamic_stitch([[0]], [[1.0], [2.0]]), ValueError,
        "List argument 'data' to 'dynamic_stitch' Op with length 2 must match length 1 of argument"
        " 'indices'.",
    ),
    (
        lambda: tf.shape_n(None), TypeError,
        "Expected list for 'input' argument to 'shape_n' Op, not None.",
    ),
    (
        lambda: tf.raw_ops.Dilation2D(
            input=IMAGE, filter=PAIR[:1, None, None], strides="x", rates=[1] * 4, padding="SAME"
        ), TypeError, "Expected list for 'strides' argument to 'dilation2d' Op, not 'x'.",
    ),
    (
        lambda: tf.nn.conv2d(IMAGE, IMAGE, strides=1, padding=None), TypeError,
        "Expected string for argument 'padding' not None.",
    ),
    (
        lambda: tf.reverse_sequence(PAIR[None], [2], seq_axis=PAIR), TypeError,
        "Expected int for argument 'seq_dim' not array([1., 1.], dtype=float32).",
    ),
    (lambda: tf.random_normal([-5]), ValueError, "Invalid value in tensor used for shape: -5"),
    (lambda: tf.slice(PAIR, 0, [1]), ValueError, "Shape must be rank 1 but is rank 0"),
    (lambda: tf.zeros(np.ones([2, 3], int)), ValueError, "Shape must be rank 1 but is rank 2"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), CASES, ids=[text[:40] for *_, text in CASES])
def test_while_the_graph_is_built(
    call: Callable[[], Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.argmin(3.0, 0), "Expected dimension in the range [0, 0), but got 0"),
        (lambda: tf.unique_with_counts([[1, 2]]).y, "unique expects a 1D vector."),
    ],
)
def test_when_it_runs(sess: tf.Session, call: Callable[[], Any], text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(call())
    assert caught.value.message.startswith(text)


def test_nothing_is_of_any_type(sess: tf.Session) -> None:
    nothing = np.zeros([2, 0], np.float32)
    assert sess.run(tf.strings.length(nothing)).shape == (2, 0)
    assert sess.run(tf.decode_raw([], tf.int32)).shape == (0, 0)
    assert sess.run(tf.random_gamma([0, 2], 1.5)).shape == (0, 2)
    assert sess.run(tf.random_poisson([1.0, 2.0], [3, 0])).shape == (3, 0, 2)
