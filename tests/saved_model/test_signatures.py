"""SignatureDef and TensorInfo."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf

utils = tf.saved_model.signature_def_utils


def test_tensor_infos_go_both_ways() -> None:
    dense = tf.placeholder(tf.float32, [None, 3], "x")
    sparse = tf.sparse_placeholder(tf.int64, name="s")
    found = tf.saved_model.utils.build_tensor_info(dense)
    assert (found.name, found.dtype, [d.size for d in found.tensor_shape.dim]) == (
        "x:0",
        1,
        [-1, 3],
    )
    assert tf.saved_model.utils.get_tensor_from_tensor_info(found) is dense
    back = tf.saved_model.get_tensor_from_tensor_info(tf.saved_model.build_tensor_info(sparse))
    assert (back.indices, back.values, back.dense_shape) == (
        sparse.indices, sparse.values, sparse.dense_shape
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"Invalid TensorInfo\.encoding: None"):
        found.ClearField("name")
        tf.saved_model.get_tensor_from_tensor_info(found)
    found.name = "nobody:0"
    with pytest.raises(KeyError, match="nobody"):
        tf.saved_model.get_tensor_from_tensor_info(found)


def test_ragged_tensors_are_their_parts() -> None:
    ragged = tf.ragged.placeholder(tf.float32, 2, [3], name="r")
    found = tf.saved_model.build_tensor_info(ragged)
    parts = [part.name for part in found.composite_tensor.components]
    assert parts == ["r/flat_values:0", "r/row_splits_0:0", "r/row_splits_1:0"]
    back = tf.saved_model.get_tensor_from_tensor_info(found)
    assert back.flat_values is ragged.flat_values
    assert back.nested_row_splits == ragged.nested_row_splits
    assert (back.shape.as_list(), back.dtype) == ([None, None, None, 3], tf.float32)


def test_signatures_for_servers() -> None:
    examples, score = tf.placeholder(tf.string, [None]), tf.placeholder(tf.float32, [None])
    classes = tf.placeholder(tf.string, [None])
    regress = utils.regression_signature_def(examples, score)
    assert regress.method_name == "tensorflow/serving/regress"
    classify = utils.classification_signature_def(examples, classes, None)
    assert list(classify.outputs) == ["classes"]
    predict = utils.predict_signature_def({"a": score}, {"b": classes})
    for signature in (regress, classify, predict):
        assert utils.is_valid_signature(signature)
    regress.inputs["more"].CopyFrom(regress.inputs["inputs"])
    classify.outputs["scores"].CopyFrom(classify.outputs["classes"])
    predict.method_name = "own"
    for signature in (regress, classify, predict, None):
        assert not utils.is_valid_signature(signature)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda s, f: utils.regression_signature_def(None, f), "Regression examples cannot be"),
        (lambda s, f: utils.regression_signature_def("x", f), "examples must be a string Tensor"),
        (lambda s, f: utils.regression_signature_def(f, f), "examples must be a string Tensor"),
        (lambda s, f: utils.regression_signature_def(s, None), "predictions cannot be None"),
        (lambda s, f: utils.regression_signature_def(s, s), "output must be a float Tensor"),
        (lambda s, f: utils.classification_signature_def(s, None, None), "cannot both be None"),
        (lambda s, f: utils.classification_signature_def(s, f, None), "classes must be a string"),
        (lambda s, f: utils.classification_signature_def(s, None, s), "scores must be a float"),
        (lambda s, f: utils.predict_signature_def({}, {"y": f}), "inputs cannot be None or empty"),
        (lambda s, f: utils.predict_signature_def({"x": f}, None), "outputs cannot be None or"),
    ],
)
def test_wrong_types(build: Any, message: str) -> None:
    s, f = tf.placeholder(tf.string, [None]), tf.placeholder(tf.float32, [None])
    with pytest.raises(ValueError, match=message):
        build(s, f)
