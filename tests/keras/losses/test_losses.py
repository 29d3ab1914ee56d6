"""What is particular to 1.15's losses, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.lib.keras import backend as K
from weft.lib.keras import losses

TRUE = np.array([[0.0, 1.0], [1.0, 1.0]], np.float32)
FOUND = np.array([[0.5, 0.5], [3.0, 4.0]], np.float32)


def test_cosine_similarity_is_not_negated() -> None:
    cosines = np.array([np.sqrt(0.5), 7 / (np.sqrt(2) * 5)])
    np.testing.assert_allclose(K.eval(losses.cosine_similarity(TRUE, FOUND)), cosines, rtol=1e-6)
    loss = losses.CosineSimilarity()(TRUE, FOUND)
    np.testing.assert_allclose(K.eval(loss), cosines.mean(), rtol=1e-6)
    assert losses.get("cosine") is losses.get("cosine_proximity") is losses.cosine_similarity


def test_huber_without_reduction_is_for_each_element() -> None:
    found = K.eval(losses.Huber(reduction="none")(TRUE, FOUND))
    np.testing.assert_allclose(found, [[0.125, 0.125], [1.5, 2.5]])


def test_a_loss_of_ones_own() -> None:
    class Largest(losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_max(tf.abs(y_true - y_pred), axis=-1)

    loss = Largest(name="largest")(TRUE, FOUND, sample_weight=[2.0, 1.0])
    assert loss.name.startswith("largest/")
    assert K.eval(loss) == 2.0
    assert Largest.from_config(Largest(name="x").get_config()).name == "x"


def test_functions_are_wrapped_with_their_arguments() -> None:
    wrapped = losses.LossFunctionWrapper(
        lambda a, b, factor: factor * tf.reduce_mean(b, -1), name="<lambda>", factor=3.0
    )
    assert K.eval(wrapped(TRUE, tf.constant(FOUND))) == 6.0
    assert wrapped.get_config() == {"reduction": "auto", "name": "<lambda>", "factor": 3.0}


def test_losses_keep_their_type() -> None:
    for dtype in ("float16", "float64"):
        loss = losses.MeanSquaredError()(TRUE.astype(dtype), tf.constant(FOUND, dtype))
        assert loss.dtype.name == dtype
        np.testing.assert_allclose(K.eval(loss), 3.375)
        with pytest.raises(TypeError, match=f"has type {dtype} that does not match type float32"):
            losses.CategoricalHinge()(TRUE.astype(dtype), tf.constant(FOUND, dtype))


def test_shapes_known_only_when_it_runs() -> None:
    y_true, y_pred, weights = (tf.placeholder(tf.float32) for _ in range(3))
    loss = losses.MeanAbsoluteError()(y_true, y_pred, sample_weight=weights)
    session = K.get_session()
    for given in ([1.0, 3.0], [[1.0], [3.0]]):
        found = session.run(loss, {y_true: TRUE, y_pred: FOUND, weights: given})
        assert found == pytest.approx((0.5 + 3 * 2.5) / 2)


def test_a_mean_over_the_batch_is_not_one_over_all_replicas() -> None:
    with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
        for reduction in ("auto", "sum_over_batch_size"):
            with pytest.raises(ValueError, match=r"Please use .*Reduction\.SUM` or"):
                losses.MeanSquaredError(reduction=reduction)(TRUE, FOUND)
        total = losses.MeanSquaredError(reduction="sum")(TRUE, FOUND)
        assert losses.MeanSquaredError(reduction="none")(TRUE, FOUND).shape.as_list() == [2]
    assert K.eval(total) == 6.75


def test_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="Invalid Reduction Key nothing"):
        losses.MeanSquaredError(reduction="nothing")
    with pytest.raises(ValueError, match="Unknown loss function:nothing"):
        losses.get("nothing")
    with pytest.raises(ValueError, match="Could not interpret loss function identifier"):
        losses.get(3)
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        losses.MeanSquaredError()(TRUE, FOUND, sample_weight=[1.0, 2.0, 3.0])
    assert losses.get(None) is None


def test_categorical_crossentropy_is_recognized_however_it_is_given() -> None:
    given = ["categorical_crossentropy", losses.categorical_crossentropy]
    assert all(map(losses.is_categorical_crossentropy, given))
    assert losses.is_categorical_crossentropy(losses.CategoricalCrossentropy())
    assert not losses.is_categorical_crossentropy(losses.MeanSquaredError())
    assert not losses.is_categorical_crossentropy("mse")
