"""What optimizers refuse, optimizers of users, and what checkpoints keep of them."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution
from weft.lib.keras import backend as K
from weft.lib.keras import optimizers
from weft.lib.keras.optimizers import schedules

START = np.array([1.0, 2.0], np.float32)


def stepped(optimizer, steps: int = 2):
    v = K.variable(START, name="v")
    (update,) = optimizer.get_updates(K.sum(K.square(v)), [v])
    for _ in range(steps):
        K.get_session().run(update)
    return v


def test_an_optimizer_of_ones_own() -> None:
    class Signs(optimizers.Optimizer):
        def __init__(self, rate=0.5, name="Signs", **kwargs):
            super().__init__(name, **kwargs)
            self._set_hyper("learning_rate", rate)

        def _create_slots(self, var_list):
            for var in var_list:
                self.add_slot(var, "count", "ones")

        def _resource_apply_dense(self, grad, var):
            count = self.get_slot(var, "count")
            rate = self._decayed_lr(var.dtype.base_dtype)
            return tf.group(var.assign_sub(rate * tf.sign(grad)), count.assign_add(count))

        def get_config(self):
            rate = self._serialize_hyperparameter("learning_rate")
            return {**super().get_config(), "rate": rate}

    made = Signs()
    np.testing.assert_allclose(K.get_value(stepped(made, steps=2)), [0.0, 1.0])
    assert made.get_weights()[1].tolist() == [4.0, 4.0]
    record = optimizers.serialize(made)
    again = optimizers.deserialize(record, custom_objects={"Signs": Signs})
    assert float(again.get_config()["rate"]) == 0.5


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="Unexpected keyword argument passed to optimizer: speed"):
        optimizers.SGD(speed=1)
    with pytest.raises(ValueError, match="Expected clipnorm >= 0, received: -1"):
        optimizers.SGD(clipnorm=-1)
    with pytest.raises(ValueError, match=r"`momentum` must be between \[0, 1\]"):
        optimizers.RMSprop(momentum=2)
    with pytest.raises(ValueError, match="initial_accumulator_value must be non-negative"):
        optimizers.Adagrad(initial_accumulator_value=-1.0)
    with pytest.raises(ValueError, match="needs to be negative or zero"):
        optimizers.Ftrl(learning_rate_power=0.5)
    with pytest.raises(ValueError, match="does not support"):
        optimizers.Nadam(schedules.ExponentialDecay(0.1, 1, 0.5))
    with pytest.raises(ValueError, match="Could not interpret optimizer identifier"):
        optimizers.get(3)
    with pytest.raises(ValueError, match="Unknown optimizer: nothing"):
        optimizers.get("nothing")
    with pytest.raises(AttributeError, match="'SGD' object has no attribute 'rho'"):
        _ = optimizers.SGD().rho


def test_gradients_that_do_not_exist() -> None:
    v, w = K.variable(START), K.variable(START, name="w")
    with pytest.raises(ValueError, match="has `None` for gradient"):
        optimizers.SGD().get_updates(K.sum(v), [w])
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizers.SGD().apply_gradients([(None, w)])


def test_minimize_takes_functions() -> None:
    v = K.variable(START)
    update = optimizers.SGD(0.25).minimize(lambda: K.sum(K.square(v)), var_list=lambda: [v])
    K.get_session().run(update)
    assert K.get_value(v).tolist() == [0.5, 1.0]


def test_learning_rates_can_be_functions() -> None:
    rate = K.variable(0.25)
    optimizer = optimizers.SGD(lambda: rate)
    v = stepped(optimizer, steps=1)
    assert K.get_value(v).tolist() == [0.5, 1.0]


def test_a_schedule_can_take_the_place_of_a_number() -> None:
    optimizer = optimizers.SGD(0.5)
    optimizer.learning_rate = schedules.PiecewiseConstantDecay([0], [0.25, 0.0])
    v = stepped(optimizer, steps=3)
    assert K.get_value(v).tolist() == [0.5, 1.0]
    config = optimizer.get_config()
    assert optimizers.SGD.from_config(config).learning_rate.boundaries == [0]


def test_schedules_go_there_and_back() -> None:
    made = [
        schedules.ExponentialDecay(0.1, 10, 0.5),
        schedules.PolynomialDecay(0.1, 10),
        schedules.CosineDecay(0.1, 10, alpha=0.1),
        schedules.CosineDecayRestarts(0.1, 10),
        schedules.LinearCosineDecay(0.1, 10),
        schedules.NoisyLinearCosineDecay(0.1, 10),
    ]
    for schedule in made:
        again = schedules.deserialize(schedules.serialize(schedule))
        assert again.get_config() == schedule.get_config()
    values = [K.eval(schedule(5.0)) for schedule in made[:5]]
    np.testing.assert_allclose(values, [0.0707107, 0.05005, 0.055, 0.05, 0.0251], rtol=1e-3)
    with pytest.raises(ValueError, match="should be 1 less than the length of values"):
        schedules.PiecewiseConstantDecay([1], [0.1])


def test_weights_of_older_versions() -> None:
    rms = optimizers.RMSprop()
    stepped(rms)
    rms.set_weights([np.array([5.0, 6.0])])
    assert rms.get_weights()[0] == 0 and rms.get_weights()[1].tolist() == [5.0, 6.0]
    adam = optimizers.Adam()
    stepped(adam)
    adam.set_weights([np.array(7), *[np.full(2, i, np.float32) for i in (1, 2, 3)]])
    assert [w.tolist() for w in adam.get_weights()] == [7, [1.0, 1.0], [2.0, 2.0]]
    with pytest.raises(ValueError, match="the optimizer was expecting 3 weights"):
        adam.set_weights([np.array(7)])
    with pytest.raises(ValueError, match=r"shape \(2,\) not compatible with provided weight shape"):
        adam.set_weights([np.array(7), np.zeros(3), np.zeros(2)])


def test_older_configurations() -> None:
    assert optimizers.Adagrad.from_config({"lr": 0.5}).get_config() == {
        "name": "Adagrad",
        "learning_rate": 0.5,
        "decay": 0.0,
        "initial_accumulator_value": 0.0,
        "epsilon": 1e-7,
    }
    assert optimizers.get({"class_name": "ADAM", "config": {"lr": 0.5}}).get_config()[
        "learning_rate"
    ] == 0.5  # fmt: skip


def test_a_checkpoint_has_hyperparameters_and_slots(tmp_path) -> None:
    def build():
        K.clear_session()
        optimizer = optimizers.Adam(0.1)
        v = stepped(optimizer, steps=0)
        return optimizer, v, tf.train.Checkpoint(optimizer=optimizer, v=v)

    optimizer, v, checkpoint = build()
    (update,) = optimizer.get_updates(K.sum(K.square(v)), [v])
    K.get_session().run(update)
    K.set_value(optimizer.lr, 0.7)
    kept = [*optimizer.get_weights(), K.get_value(v)]
    path = checkpoint.save(str(tmp_path / "ckpt"), session=K.get_session())
    names = dict(tf.train.list_variables(path))
    assert "optimizer/beta_1/.ATTRIBUTES/VARIABLE_VALUE" in names
    assert "v/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE" in names
    optimizer, v, checkpoint = build()
    checkpoint.restore(path).run_restore_ops(K.get_session())
    for found, wanted in zip([*optimizer.get_weights(), K.get_value(v)], kept, strict=True):
        np.testing.assert_allclose(found, wanted)
    assert K.get_value(optimizer.lr) == np.float32(0.7)


def test_names_of_updates_and_hyperparameters() -> None:
    stepped(optimizers.Adam())
    names = {op.name for op in tf.get_default_graph().get_operations()}
    assert {"Adam/beta_1", "Adam/v/m", "Adam/Adam/update_v/ResourceApplyAdam"} <= names
    assert "Adam/Adam/AssignAddVariableOp" in names


def test_a_schedule_can_be_derived_from() -> None:
    class Twice(schedules.ExponentialDecay):
        def __call__(self, step):
            return 2.0 * super().__call__(step)

    class Fixed(schedules.PolynomialDecay):
        def __init__(self):
            super().__init__(0.5, decay_steps=10)

    assert K.eval(Twice(0.5, 1, 0.5)(1.0)) == 0.5
    assert K.eval(Fixed()(0.0)) == 0.5
    with pytest.raises(TypeError, match="missing a required argument: 'decay_rate'"):
        schedules.ExponentialDecay(0.1, 10)


def test_eager_updates_tell_the_number_of_the_step() -> None:
    with EagerExecution().as_default():
        v, optimizer = tf.Variable(START, dtype=tf.float32), optimizers.SGD(0.5)
        assert int(optimizer.apply_gradients([(tf.ones([2]), v)])) == 1
        assert int(optimizer.minimize(lambda: v * v, [v])) == 2

        @tf.function
        def update():
            optimizer.apply_gradients([(tf.ones([2]), v)])

        update()
        assert int(optimizer.iterations) == 3
        np.testing.assert_allclose(v, [-0.5, -0.5])  # 1 and 2, less 0.5, less themselves, less 0.5


def test_names_of_what_is_kept_in_eager_execution() -> None:
    with EagerExecution().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), name="d")])
        model.compile(optimizers.SGD(0.5, momentum=0.5), "mse")
        model.train_on_batch(np.ones((2, 2)), np.ones((2, 1)))
        names = ["SGD/iter:0", "SGD/d/kernel/momentum:0", "SGD/d/bias/momentum:0"]
        assert [each.name for each in model.optimizer.weights] == names
