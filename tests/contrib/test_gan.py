"""tf.contrib.gan: values of losses as TensorFlow 1.14 has them, models, training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.contrib import gan

import weft as tf

wargs = gan.losses.wargs
REAL, GENERATED = [-5.0, 1.4, 12.5, 2.7], [10.0, 4.4, -5.5, 3.6]
LOSSES = [
    # kind, generator's loss and node, discriminator's loss and node
    ("least_squares", 17.69625, "lsq_generator_loss/value", 41.73375, "lsq_discriminator_loss/add"),
    ("modified", 1.38582, "generator_modified_loss/value", 6.19637,
     "discriminator_modified_loss/add_1"),
    ("minimax", -4.82408, "generator_minimax_loss/Neg", 6.19637,
     "discriminator_minimax_loss/add_1"),
    ("wasserstein", -3.125, "generator_wasserstein_loss/value", 0.225,
     "discriminator_wasserstein_loss/sub"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _close_writers() -> Any:
    yield
    tf.summary.FileWriterCache.clear()


def value(tensor: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensor)


@pytest.mark.parametrize(("kind", "made", "made_at", "told", "told_at"), LOSSES)
def test_losses(kind: str, made: float, made_at: str, told: float, told_at: str) -> None:
    generator = getattr(wargs, f"{kind}_generator_loss")
    discriminator = getattr(wargs, f"{kind}_discriminator_loss")
    ours = generator(tf.constant(GENERATED), add_summaries=True)
    theirs = discriminator(tf.constant(REAL), tf.constant(GENERATED), add_summaries=True)
    assert (ours.op.name, theirs.op.name) == (made_at, told_at)
    np.testing.assert_allclose(value([ours, theirs]), [made, told], rtol=1e-5)
    assert len(tf.get_collection("losses")) == 2
    assert len(tf.get_collection("summaries")) == 4
    plain = tf.losses.Reduction.NONE
    assert generator(tf.constant(GENERATED), reduction=plain).shape == [4]
    weighted = discriminator(
        tf.constant(REAL), tf.constant(GENERATED), real_weights=2.3, generated_weights=2.3
    )
    np.testing.assert_allclose(value(weighted), told * 2.3, rtol=1e-5)


def test_losses_of_classes() -> None:
    generated = [[10.0, 4.4, -5.5, 3.6], [-4.0, 4.4, 5.2, 4.6], *[[1.1, 2.4, -3.5, 5.6]] * 2]
    real = [
        [-2, 0.4, 12.5, 2.7],
        [-1.2, 1.9, 12.3, 2.6],
        [-2.4, -1.7, 2.5, 2.7],
        [1.1, 2.4, -3.5, 5.6],
    ]
    labels = tf.one_hot([1, 2, 0, 0], 4)
    ours = wargs.acgan_generator_loss(tf.constant(generated), labels)
    theirs = wargs.acgan_discriminator_loss(tf.constant(real), tf.constant(generated), labels)
    assert ours.op.name == "acgan_generator_loss/value"
    assert theirs.op.name == "acgan_discriminator_loss/add"
    np.testing.assert_allclose(value([ours, theirs]), [3.84974, 9.43950], rtol=1e-5)


def generator(noise: Any) -> Any:
    return tf.layers.dense(noise, 2, name="d")


def discriminator(data: Any, _: Any) -> Any:
    return tf.layers.dense(data, 1, name="d")


def model() -> Any:
    return gan.gan_model(generator, discriminator, tf.ones([3, 2]), tf.ones([3, 4]))


def test_gradient_penalty() -> None:
    def judge(data: Any, _: Any) -> Any:
        return tf.reduce_sum(data * [3.0, 4.0], 1)

    real, made = tf.zeros([3, 2]), tf.ones([3, 2])
    slope = [
        wargs.wasserstein_gradient_penalty(real, made, None, judge, "d", target=t)
        for t in (1.0, 10.0)
    ]
    one_sided = wargs.wasserstein_gradient_penalty(
        real, made, None, judge, "d", target=10.0, one_sided=True
    )
    np.testing.assert_allclose(value([*slope, one_sided]), [16.0, 0.25, 0.0], rtol=1e-5)
    with pytest.raises(ValueError, match="`real_data` can't have unknown rank"):
        wargs.wasserstein_gradient_penalty(tf.placeholder(tf.float32), made, None, judge, "d")


def test_mutual_information_penalty() -> None:
    noise = [tf.constant([1, 0]), tf.constant([0.5, 0.25])]
    known = [
        tf.distributions.Categorical(logits=[[1.0, 2.0], [3.0, 0.0]]),
        tf.distributions.Normal([0.0, 0.0], [1.0, 2.0]),
    ]
    found = wargs.mutual_information_penalty(noise, known)
    told = [np.mean(value(k.log_prob(n))) for n, k in zip(noise, known, strict=True)]
    np.testing.assert_allclose(value(found), -np.mean(told), rtol=1e-5)
    with pytest.raises(ValueError, match="length 2 must be the same"):
        wargs.mutual_information_penalty(noise, known[:1])


def test_combined_losses() -> None:
    x = tf.get_variable("x", initializer=3.0)
    main, other = x * 4.0, x * 2.0
    fixed = wargs.combine_adversarial_loss(main, other, weight_factor=0.5)
    by_slopes = wargs.combine_adversarial_loss(main, other, gradient_ratio=2.0)
    np.testing.assert_allclose(value([fixed, by_slopes]), [15.0, 18.0], rtol=1e-5)
    assert wargs.combine_adversarial_loss(main, other, weight_factor=0) is main
    with pytest.raises(ValueError, match=r"cannot both be `None\.`"):
        wargs.combine_adversarial_loss(main, other)
    with pytest.raises(ValueError, match="cannot both be specified"):
        wargs.combine_adversarial_loss(main, other, 1.0, 1.0)


def test_losses_of_models() -> None:
    built = model()
    same = wargs.wasserstein_discriminator_loss(
        built.discriminator_real_outputs, built.discriminator_gen_outputs
    )
    found = gan.losses.wasserstein_discriminator_loss(built)
    assert np.equal(*value([same, found]))
    with pytest.raises(ValueError, match="`one_hot_labels` must be supplied"):
        gan.losses.acgan_generator_loss(built, discriminator_gen_classification_logits=0)
    with pytest.raises(ValueError, match="present in both the tuple and keyword args"):
        gan.losses.wasserstein_generator_loss(built, discriminator_gen_outputs=0)


def test_models() -> None:
    built = model()
    assert [v.op.name for v in built.generator_variables] == [
        "Generator/d/kernel",
        "Generator/d/bias",
    ]
    assert built.discriminator_variables[0].op.name == "Discriminator/d/kernel"
    with pytest.raises(ValueError, match=r"Generator output shape \(\(3, 2\)\) must be the same"):
        gan.gan_model(generator, lambda data, _: data, tf.ones([3, 5]), tf.ones([3, 4]), "G", "D")
    with pytest.raises(TypeError, match="must output a tuple"):
        gan.acgan_model(generator, discriminator, tf.ones([3, 2]), tf.ones([3, 4]), 0, "H", "E")
    with pytest.raises(ValueError, match="must be an `InfoGANModel`"):
        gan.gan_loss(built, mutual_information_penalty_weight=1.0)
    with pytest.raises(ValueError, match="`gradient_penalty_weight` must be greater than 0"):
        gan.gan_loss(built, gradient_penalty_weight=-1.0)


def test_models_of_classes_and_noise() -> None:
    def classes(data: Any, _: Any) -> Any:
        return tf.layers.dense(data, 1, name="d"), tf.layers.dense(data, 3, name="c")

    labels = tf.one_hot([0, 1, 2], 3)
    built = gan.acgan_model(generator, classes, tf.ones([3, 2]), tf.ones([3, 4]), labels)
    loss = gan.gan_loss(built, aux_cond_generator_weight=1.0, aux_cond_discriminator_weight=1.0)

    def told(data: Any, _: Any) -> Any:
        return tf.layers.dense(data, 1, name="d"), [tf.distributions.Normal(data, 1.0)]

    noise = [tf.ones([3, 2])], [tf.ones([3, 2])]
    informed = gan.infogan_model(
        lambda parts: generator(tf.concat(parts, 1)), told, tf.ones([3, 2]), *noise, "G", "D"
    )
    other = gan.gan_loss(informed, mutual_information_penalty_weight=1.0)
    assert np.all(np.isfinite(value([*loss, *other])))


def test_cycles() -> None:
    built = gan.cyclegan_model(
        lambda data: tf.layers.dense(data, 2, name="g"),
        discriminator,
        tf.ones([3, 2]),
        tf.zeros([3, 2]),
    )
    assert built.model_y2x.generator_scope.name == "ModelY2X/Generator"
    loss = gan.cyclegan_loss(built)
    ops = gan.gan_train_ops(built, loss, tf.train.AdamOptimizer(), tf.train.AdamOptimizer())
    assert [len(ops.generator_train_op), len(ops.discriminator_train_op)] == [2, 2]
    with pytest.raises(ValueError, match="must be a `CycleGANModel`"):
        gan.losses.cycle_consistency_loss(built.model_x2y)


def test_training(tmp_path: Path) -> None:
    built = model()
    loss = gan.gan_loss(built, gradient_penalty_weight=1.0)
    ops = gan.gan_train_ops(
        built, loss, tf.train.GradientDescentOptimizer(0.1), tf.train.GradientDescentOptimizer(0.1)
    )
    hooks = [tf.train.StopAtStepHook(num_steps=3)]
    joint = gan.get_joint_train_hooks(gan.GANTrainSteps(2, 1))
    assert gan.gan_train(ops, str(tmp_path), joint, hooks=hooks) == 3
    sequential = gan.get_sequential_train_steps()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        total, stop = sequential(session, ops, tf.train.get_global_step(), {})
    assert np.isfinite(total) and stop is False


def test_a_step_of_each_side_changes_only_it() -> None:
    built = model()
    ops = gan.gan_train_ops(
        built,
        gan.gan_loss(built),
        tf.train.GradientDescentOptimizer(0.1),
        tf.train.GradientDescentOptimizer(0.1),
    )
    sides = built.generator_variables, built.discriminator_variables
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(sides)
        session.run(ops.discriminator_train_op)
        after = session.run(sides)
        assert session.run(tf.train.get_global_step()) == 0
        assert session.run(ops.global_step_inc_op) == 1
    np.testing.assert_array_equal(before[0][0], after[0][0])
    assert not np.array_equal(before[1][0], after[1][0])


def test_features() -> None:
    weights = tf.get_variable("w", initializer=[5.0, -5.0, 0.1])
    loss = tf.reduce_sum(weights)
    clipped = gan.features.clip_variables(tf.train.GradientDescentOptimizer(1.0), [weights], 0.5)
    step = clipped.minimize(loss)
    conditioned = gan.features.condition_tensor_from_onehot(
        tf.zeros([2, 3, 2]), tf.one_hot([0, 1], 4)
    )
    assert conditioned.shape == [2, 3, 2]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(weights), [0.5, -0.5, -0.5])
        session.run(conditioned)
    with pytest.raises(ValueError, match="`weight_clip` must be positive"):
        gan.features.clip_variables(tf.train.GradientDescentOptimizer(1.0), [weights], -0.5)


def test_tensor_pool() -> None:
    given = tf.placeholder(tf.float32, [1])
    pooled = gan.features.tensor_pool((given, given + 1), pool_size=3, pooling_probability=1.0)
    with tf.Session() as session:
        found = [session.run(pooled, {given: [i]}) for i in range(12)]
    assert [pair[0][0] for pair in found[:3]] == [0, 1, 2]
    assert all(pair[1] == pair[0] + 1 for pair in found)
    assert len({pair[0][0] for pair in found[3:]}) == 9  # each comes out once
    assert gan.features.tensor_pool(given, 0) is given


def test_estimator(tmp_path: Path) -> None:
    made = gan.estimator.GANEstimator(
        str(tmp_path),
        generator,
        lambda data, _, mode: discriminator(data, _),
        gan.losses.wasserstein_generator_loss,
        gan.losses.wasserstein_discriminator_loss,
        tf.train.GradientDescentOptimizer(0.1),
        lambda: tf.train.GradientDescentOptimizer(0.1),
    )

    def data() -> Any:
        noise, real = np.ones([3, 4], np.float32), np.ones([3, 2], np.float32)
        return tf.data.Dataset.from_tensors((noise, real)).repeat()

    made.train(data, max_steps=2)
    scores = made.evaluate(data, steps=1)
    assert scores["global_step"] == 2 and scores["loss"] == scores["discriminator_loss"]
    found = next(made.predict(lambda: tf.data.Dataset.from_tensors(np.ones([3, 4], np.float32))))
    assert found.shape == (2,)
