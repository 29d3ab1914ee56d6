"""Names of `tensorflow.python.keras.testing_utils`: what every layer must do, and data for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf
from weft.legacy.internals.keras_modes import is_eagerly_set, should_run_eagerly
from weft.lib.keras.engine import layer_dtype

_assert_close = functools.partial(np.testing.assert_allclose, rtol=1e-3, atol=1e-6)


def get_test_data(
    train_samples: int,
    test_samples: int,
    input_shape: tuple[int, ...],
    num_classes: int,
    random_seed: int | None = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Noisy copies of one pattern per class, and their classes: for training, and for a test."""
    if random_seed is not None:
        np.random.seed(random_seed)
    count = train_samples + test_samples
    patterns = 2 * num_classes * np.random.random((num_classes, *input_shape))
    classes = np.random.randint(0, num_classes, size=(count,))
    noise = np.random.normal(loc=0, scale=1.0, size=(count, *input_shape))
    examples = (patterns[classes] + noise).astype(np.float32)
    split = slice(train_samples), slice(train_samples, None)
    train, test = ((examples[part], classes[part]) for part in split)
    return train, test


def layer_test(
    layer_cls: Any,
    kwargs: dict[str, Any] | None = None,
    input_shape: Any = None,
    input_dtype: Any = None,
    input_data: Any = None,
    expected_output: Any = None,
    expected_output_dtype: Any = None,
    expected_output_shape: Any = None,
    validate_training: bool = True,
    adapt_data: Any = None,
) -> Any:
    """Checks what holds of every layer of one input and one output; its output, from `predict`."""
    if input_data is None:
        if input_shape is None:
            raise ValueError("input_shape is None")
        input_dtype = input_dtype or "float32"
        input_data = _drawn(input_shape, input_dtype)
    shape = input_data.shape if input_shape is None else input_shape
    dtype = input_data.dtype if input_dtype is None else input_dtype
    check = _LayerCheck(layer_cls, kwargs or {}, input_data, shape, dtype)
    layer = check.made(adapt_data)
    check.in_a_graph(layer, expected_output_dtype or dtype, expected_output_shape)
    actual = check.by_rules(layer, expected_output)
    if validate_training:
        check.trains(layer, actual)
    return check.first_of_sequential(layer, adapt_data, expected_output)


def _drawn(shape: Any, dtype: str) -> Any:
    """Random data; sizes that are left open are from 1 to 3."""
    sizes = [np.random.randint(1, 4) if size is None else size for size in shape]
    data = 10 * np.random.random(sizes)
    return (data - 0.5 if dtype[:5] == "float" else data).astype(dtype)


def _fits(expected: Any, actual: Any) -> bool:
    """Whether a shape is as expected, where that is known."""
    wanted, found = (
        [getattr(size, "value", size) for size in shape] for shape in (expected, actual)
    )
    if len(wanted) != len(found):
        return False
    return all(w in (None, f) for w, f in zip(wanted, found, strict=True))


class _LayerCheck:
    """A layer's class with its arguments, and the data that its layers are tried on."""

    def __init__(self, cls: Any, kwargs: dict[str, Any], data: Any, shape: Any, dtype: Any) -> None:
        self.cls, self.kwargs = cls, kwargs
        self.data, self.shape, self.dtype = data, shape, dtype
        self.inputs: Any = None
        self.outputs: Any = None
        self.rule: tuple[int | None, ...] = ()

    def made(self, adapt_data: Any) -> Any:
        layer = self.cls(**self.kwargs)
        if adapt_data is not None:
            layer.adapt(adapt_data)
        layer.set_weights(layer.get_weights())
        return layer

    def in_a_graph(self, layer: Any, dtype: Any, shape: Any) -> None:
        """A symbolic call gives the dtype and the shape that are expected."""
        self.inputs = tf.keras.layers.Input(shape=self.shape[1:], dtype=self.dtype)
        self.outputs = layer(self.inputs)
        found = tf.keras.backend.dtype(self.outputs)
        if found != dtype:
            raise self._error("output dtype", found, dtype)
        if shape is not None:
            self._same_shape(tf.TensorShape(shape), self.outputs.shape)

    def by_rules(self, layer: Any, expected_output: Any) -> Any:
        """What a model of the layer predicts, and the layer's rules foretell."""
        model = tf.keras.Model(self.inputs, self.outputs)
        self.rule = tuple(layer.compute_output_shape(tf.TensorShape(self.shape)).as_list())
        signature = layer.compute_output_signature(tf.TensorSpec(self.shape, self.dtype))
        actual = model.predict(self.data)
        self._same_shape(self.rule, actual.shape)
        self._same_shape(signature.shape, actual.shape)
        if signature.dtype != actual.dtype:
            raise self._error("output_dtype", actual.dtype, signature.dtype)
        self._same_output(model, actual, expected_output)
        return actual

    def trains(self, layer: Any, targets: Any) -> None:
        """A model of the layer, made anew, takes a step."""
        model = tf.keras.Model(self.inputs, layer(self.inputs))
        told = {"run_eagerly": should_run_eagerly()} if is_eagerly_set() else {}
        model.compile("rmsprop", "mse", weighted_metrics=["acc"], **told)
        model.train_on_batch(self.data, targets)

    def first_of_sequential(self, layer: Any, adapt_data: Any, expected_output: Any) -> Any:
        """The layer made from its configuration, as the first layer of a sequential model."""
        config = {**layer.get_config(), "batch_input_shape": self.shape}
        again = type(layer).from_config(config)
        if adapt_data is not None:
            again.adapt(adapt_data)
        model = tf.keras.Sequential()
        model.add(again)
        actual = model.predict(self.data)
        if not _fits(self.rule, actual.shape):
            raise AssertionError(
                f"When testing layer {self.cls.__name__} **after deserialization**, for input "
                f"{self.inputs}, found output_shape={actual.shape} but expected to find inferred "
                f"shape {self.rule}.\nFull kwargs: {self.kwargs}"
            )
        self._same_output(model, actual, expected_output)
        return actual

    def _same_output(self, model: Any, actual: Any, expected: Any) -> None:
        """The output is what was expected, and that of a model from its configuration."""
        if expected is not None:
            _assert_close(actual, expected)
        again = type(model).from_config(model.get_config())
        if model.weights:
            again.set_weights(model.get_weights())
            _assert_close(again.predict(self.data), actual)

    def _same_shape(self, expected: Any, actual: Any) -> None:
        if not _fits(expected, actual):
            raise self._error("output_shape", actual, expected)

    def _error(self, of: str, found: Any, wanted: Any) -> AssertionError:
        return AssertionError(
            f"When testing layer {self.cls.__name__}, for input {self.inputs}, found "
            f"{of}={found} but expected to find {wanted}.\nFull kwargs: {self.kwargs}"
        )


def _with_v2_dtypes(enabled: bool, test: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> Any:
        before, layer_dtype.V2_DTYPE_BEHAVIOR = layer_dtype.V2_DTYPE_BEHAVIOR, enabled
        try:
            return test(*args, **kwargs)
        finally:
            layer_dtype.V2_DTYPE_BEHAVIOR = before

    return run


# Decorators: whether layers cast what they are given to their own dtype.
enable_v2_dtype_behavior = functools.partial(_with_v2_dtypes, True)
disable_v2_dtype_behavior = functools.partial(_with_v2_dtypes, False)
