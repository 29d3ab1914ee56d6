"""contrib.training and contrib.slim: hyperparameters, training, evaluation, buckets, nets."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

slim = tf.contrib.slim


def test_hparams() -> None:
    hparams = tf.contrib.training.HParams(rate=0.1, layers=3, sizes=[4, 5], name="a", on=False)
    hparams.parse("rate=1e-3,sizes=[6, 7],on=true,name=b")
    assert hparams.values() == {
        "rate": 1e-3, "layers": 3, "sizes": [6, 7], "name": "b", "on": True,
    }  # fmt: skip
    hparams.parse_json('{"layers": 9}')
    assert hparams.layers == 9 and "rate" in hparams and hparams.get("none", 4) == 4
    with pytest.raises(ValueError, match="Could not parse hparam 'layers' of type 'int'"):
        hparams.parse("layers=much")
    with pytest.raises(ValueError, match="Unknown hyperparameter type for other"):
        hparams.parse("other=1")
    with pytest.raises(ValueError, match="Must pass a list for multi-valued parameter"):
        hparams.set_hparam("sizes", 1)


def linear_model():
    x = np.random.RandomState(0).randn(20, 3).astype(np.float32)
    y = x @ np.array([[1.0], [2.0], [3.0]], np.float32)
    predictions = slim.fully_connected(x, 1, activation_fn=None, scope="fc")
    slim.losses.mean_squared_error(predictions, y)
    return slim.losses.get_total_loss()


def test_train_and_evaluate(tmp_path) -> None:
    loss = linear_model()
    train_op = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(0.3))
    final = slim.learning.train(
        train_op, str(tmp_path), number_of_steps=60, log_every_n_steps=0, save_summaries_secs=None
    )
    assert final < 0.1
    with tf.Graph().as_default():
        loss = linear_model()
        tf.train.get_or_create_global_step()
        mean, update = slim.metrics.streaming_mean(loss)
        value = slim.evaluation.evaluate_once(
            "", tf.train.latest_checkpoint(str(tmp_path)), str(tmp_path / "eval"),
            num_evals=2, eval_op=update, final_op=mean,
        )  # fmt: skip
        assert value < 0.1


def test_gradients_are_multiplied_and_clipped() -> None:
    v = tf.get_variable("v", initializer=[3.0, 4.0])
    w = tf.get_variable("w", initializer=1.0)
    train = slim.learning.create_train_op(
        tf.reduce_sum(v * v) + w,
        tf.train.GradientDescentOptimizer(1.0),
        clip_gradient_norm=5.0,
        gradient_multipliers={"w": 2.0},
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(v), [0, 0], atol=1e-6)
        assert session.run(w) == -1.0
    with pytest.raises(ValueError, match="Requested multiple of `None` gradient"):
        slim.learning.multiply_gradients([(None, w)], {w: 2.0})


def test_buckets_hold_sequences_of_like_length() -> None:
    length = tf.train.input_producer([2, 9, 3, 8] * 8, num_epochs=1, shuffle=False).dequeue()
    lengths, (padded,) = tf.contrib.training.bucket_by_sequence_length(
        length, [tf.ones([length])], 4, [5], dynamic_pad=True
    )
    seen = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for _ in range(4):
            got, values = session.run([lengths, padded])
            assert values.shape == (4, got.max())
            seen.append(got.max() <= 3 or got.min() >= 8)
        coordinator.request_stop()
        coordinator.join(threads)
    assert all(seen)


def test_losses_broadcast_weights_from_the_left() -> None:
    losses = tf.contrib.losses
    loss = losses.absolute_difference(
        tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.zeros([2, 2]), weights=[1.0, 0.0]
    )
    assert loss.op.name == "absolute_difference/value"
    with tf.Session() as session:
        assert session.run(loss) == 1.5
    assert losses.get_losses() == [loss]


def test_metrics_over_time() -> None:
    x, y = tf.placeholder(tf.float32, [4]), tf.placeholder(tf.float32, [4])
    _, update = tf.contrib.metrics.streaming_pearson_correlation(x, y)
    generator = np.random.RandomState(0)
    a, b = generator.randn(2, 12)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for i in range(0, 12, 4):
            found = session.run(update, {x: a[i : i + 4], y: b[i : i + 4]})
    assert found == pytest.approx(np.corrcoef(a, b)[0, 1], rel=1e-4)


def test_nets_have_the_names_of_published_checkpoints() -> None:
    images = tf.zeros([1, 64, 64, 3])
    with slim.arg_scope(slim.nets.resnet_utils.resnet_arg_scope()):
        net, ends = slim.nets.resnet_v1.resnet_v1_50(images, 10, is_training=False)
    assert net.shape.as_list() == [1, 1, 1, 10]
    assert len(slim.get_model_variables("resnet_v1_50")) == 267
    assert "resnet_v1_50/block4/unit_3/bottleneck_v1/conv2" in ends
    wanted = "resnet_v1_50/block1/unit_1/bottleneck_v1/shortcut/BatchNorm/gamma"
    assert slim.get_unique_variable(wanted).shape.as_list() == [256]
    total, size = slim.model_analyzer.analyze_vars(slim.get_trainable_variables())
    assert (total, size) == (23528522, 94114088)
