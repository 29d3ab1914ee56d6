"""`tensorflow.python.keras.testing_utils` and `keras_parameterized`, which libraries' tests use."""

from __future__ import annotations

import unittest
from typing import Any

import numpy as np
import pytest
from weft.python.keras import keras_parameterized, testing_utils

import weft as tf

DENSE = tf.keras.layers.Dense


class Doubled(tf.keras.layers.Layer):  # type: ignore[misc]
    """A layer whose rule of shapes is wrong."""

    def call(self, inputs: Any) -> Any:
        return tf.concat([inputs, inputs], axis=-1)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return tf.TensorShape(input_shape)


@pytest.fixture(autouse=True)
def _a_session_of_its_own() -> Any:
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def test_layers_are_tried_on_data() -> None:
    data = np.ones((2, 4), np.float32)
    output = testing_utils.layer_test(
        DENSE, {"units": 3, "kernel_initializer": "ones"}, input_data=data
    )
    np.testing.assert_allclose(output, np.full((2, 3), 4.0))
    assert testing_utils.layer_test(DENSE, {"units": 3}, input_shape=(3, 2)).shape == (3, 3)


@pytest.mark.parametrize(
    ("cls", "arguments", "message"),
    [
        (DENSE, {}, "input_shape is None"),
        (Doubled, {"input_shape": (2, 3)}, r"found output_shape=\(2, 6\) but expected to find"),
        (
            tf.keras.layers.Flatten,
            {"input_shape": (2, 3), "expected_output_dtype": "int32"},
            "When testing layer Flatten, for input .* found output dtype=float32 but expected",
        ),
    ],
)
def test_what_layers_fail_at(cls: Any, arguments: dict[str, Any], message: str) -> None:
    kwargs = {"units": 3} if cls is DENSE else {}
    with pytest.raises((AssertionError, ValueError), match=message):
        testing_utils.layer_test(cls, kwargs, **arguments)


def test_data_is_that_of_the_seed() -> None:
    (x, y), (x_test, y_test) = testing_utils.get_test_data(3, 2, (2,), 2, random_seed=7)
    assert x.shape == (3, 2) and x_test.shape == (2, 2) and x.dtype == np.float32
    np.random.seed(7)
    patterns, classes = 4 * np.random.random((2, 2)), np.random.randint(0, 2, size=(5,))
    np.testing.assert_array_equal(np.concatenate([y, y_test]), classes)
    for example, number in zip(np.concatenate([x, x_test]), classes, strict=True):
        np.testing.assert_allclose(example, patterns[number] + np.random.normal(size=(2,)), 1e-6)


@pytest.mark.parametrize(
    "model_type", ["functional", "subclass", "subclass_custom_build", "sequential"]
)
def test_models_of_a_type(model_type: str) -> None:
    with testing_utils.model_type_scope(model_type):
        small = testing_utils.get_small_mlp(4, 2, input_dim=3)
        layers = testing_utils.get_model_from_layers([DENSE(5), DENSE(1)], input_shape=(3,))
    for model, size in ((small, 2), (layers, 1)):
        model.compile("sgd", "mse")
        model.train_on_batch(np.zeros((2, 3)), np.zeros((2, size)))
        assert len(model.trainable_weights) == 4


@pytest.mark.parametrize("model_type", ["functional", "subclass", "subclass_custom_build"])
@pytest.mark.parametrize("shared", ["before", "after", None])
def test_models_of_two_branches(model_type: str, shared: str | None) -> None:
    inputs = [tf.keras.Input((3,)), tf.keras.Input((3,))]
    before = [inputs[0], DENSE(3)] if shared == "before" else None
    after = [tf.keras.layers.Concatenate(), DENSE(1)] if shared == "after" else None
    branches = [[*([] if before else [given]), DENSE(2)] for given in inputs]
    with testing_utils.model_type_scope(model_type):
        model = testing_utils.get_multi_io_model(*branches, before, after)
    model.compile("sgd", "mse")
    data = np.zeros((2, 3))
    targets = np.zeros((2, 1)) if after else [np.zeros((2, 2))] * 2
    model.train_on_batch(data if before else [data, data], targets)
    assert len(model.trainable_weights) == (6 if shared else 4)


@pytest.mark.parametrize(
    ("ask", "scope", "decorator"),
    [
        ("get_model_type", "model_type_scope", "run_with_all_model_types"),
        ("should_run_eagerly", "run_eagerly_scope", "run_all_keras_modes"),
        ("should_run_tf_function", "experimental_run_tf_function_scope", "run_all_keras_modes"),
    ],
)
def test_what_is_asked_for_outside_of_a_scope(ask: str, scope: str, decorator: str) -> None:
    with pytest.raises(ValueError, match=rf"Cannot call `{ask}\(\)` outside of a `{scope}\(\)`"):
        getattr(testing_utils, ask)()


def test_every_mode_of_every_type() -> None:
    seen = []

    class Case(keras_parameterized.TestCase):  # type: ignore[misc]
        @keras_parameterized.run_all_keras_modes
        @keras_parameterized.run_with_all_model_types(exclude_models="sequential")
        def test_it(self) -> None:
            seen.append(
                (
                    testing_utils.get_model_type(),
                    tf.executing_eagerly(),
                    testing_utils.should_run_eagerly(),
                    testing_utils.should_run_tf_function(),
                )
            )

    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Case))
    assert result.wasSuccessful() and len(seen) == 8
    modes = [(True, False, True), (True, False, False), (True, True, True), (False, False, False)]
    assert sorted(seen) == sorted((t, *m) for t in ("functional", "subclass") for m in modes)


def test_a_class_of_tests() -> None:
    @keras_parameterized.run_all_keras_modes(always_skip_v1=True, always_skip_eager=True)
    class Case(keras_parameterized.TestCase):  # type: ignore[misc]
        def test_it(self) -> None:
            assert tf.executing_eagerly()

    names = unittest.defaultTestLoader.getTestCaseNames(Case)
    assert [name for name in names if name != "test_session"] == [
        "test_it_v2_funcgraph",
        "test_it_v2_function",
    ]


def test_optimizers_by_name() -> None:
    assert isinstance(testing_utils.get_v2_optimizer("sgd"), tf.keras.optimizers.SGD)
    with pytest.raises(ValueError, match="Could not find requested v2 optimizer: lbfgs"):
        testing_utils.get_v2_optimizer("lbfgs")
