"""Programs of tf.keras.optimizers whose values are recorded: steps, slots, configurations."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.keras.played import Program

START = np.array([[1.0, -2.0], [0.5, 3.0], [-1.5, 0.25]], "float32")
TARGET = np.array([[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]], "float32")

# Name of the case -> class and arguments; a schedule is given by its class and arguments.
TRIED: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {"learning_rate": 0.1}),
    "sgd_decay": ("SGD", {"learning_rate": 0.1, "decay": 0.2}),
    "sgd_lr": ("SGD", {"lr": 0.05}),
    "sgd_momentum": ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    "sgd_nesterov": ("SGD", {"learning_rate": 0.1, "momentum": 0.8, "nesterov": True}),
    "sgd_clipnorm": ("SGD", {"learning_rate": 0.1, "clipnorm": 0.5}),
    "sgd_clipvalue": ("SGD", {"learning_rate": 0.1, "momentum": 0.5, "clipvalue": 0.3}),
    "adam": ("Adam", {"learning_rate": 0.1}),
    "adam_options": (
        "Adam",
        {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 0.01, "decay": 0.1},
    ),
    "adam_amsgrad": ("Adam", {"learning_rate": 0.1, "beta_2": 0.5, "amsgrad": True}),
    "adamax": ("Adamax", {"learning_rate": 0.1, "decay": 0.1}),
    "nadam": ("Nadam", {"learning_rate": 0.1}),
    "rmsprop": ("RMSprop", {"learning_rate": 0.1}),
    "rmsprop_decay": ("RMSprop", {"learning_rate": 0.1, "rho": 0.7, "decay": 0.3}),
    "rmsprop_momentum": ("RMSprop", {"learning_rate": 0.1, "momentum": 0.9}),
    "rmsprop_centered": ("RMSprop", {"learning_rate": 0.1, "centered": True}),
    "rmsprop_both": ("RMSprop", {"learning_rate": 0.05, "momentum": 0.5, "centered": True}),
    "adagrad": ("Adagrad", {"learning_rate": 0.3}),
    "adagrad_options": (
        "Adagrad",
        {"learning_rate": 0.3, "initial_accumulator_value": 0.5, "epsilon": 0.1, "decay": 0.1},
    ),
    "adadelta": ("Adadelta", {"learning_rate": 1.0}),
    "adadelta_options": ("Adadelta", {"learning_rate": 2.0, "rho": 0.8, "epsilon": 0.01}),
    "ftrl": ("Ftrl", {"learning_rate": 0.3}),
    "ftrl_options": (
        "Ftrl",
        {
            "learning_rate": 0.3,
            "l1_regularization_strength": 0.1,
            "l2_regularization_strength": 0.2,
            "learning_rate_power": -0.7,
            "initial_accumulator_value": 0.3,
        },
    ),
    "ftrl_shrinkage": (
        "Ftrl", {"learning_rate": 0.3, "l2_shrinkage_regularization_strength": 0.1}
    ),
    "exponential": (
        "SGD",
        {"learning_rate": ("ExponentialDecay", (0.2, 3, 0.5))},
    ),
    "staircase": ("Adam", {"learning_rate": ("ExponentialDecay", (0.2, 3, 0.5, True))}),
    "piecewise": ("SGD", {"learning_rate": ("PiecewiseConstantDecay", ([2, 5], [0.3, 0.2, 0.1]))}),
    "polynomial": ("SGD", {"learning_rate": ("PolynomialDecay", (0.3, 4, 0.05, 2.0))}),
    "cycle": ("RMSprop", {"learning_rate": ("PolynomialDecay", (0.3, 4, 0.05, 1.0, True))}),
    "inverse": ("SGD", {"learning_rate": ("InverseTimeDecay", (0.3, 2, 0.5)), "decay": 0.1}),
}  # fmt: skip
CASES: dict[str, Program] = {}


def _made(keras: Any, name: str, options: dict[str, Any]) -> Any:
    rate = options.get("learning_rate")
    if isinstance(rate, tuple):
        schedule = getattr(keras.optimizers.schedules, rate[0])(*rate[1])
        options = {**options, "learning_rate": schedule}
    return getattr(keras.optimizers, name)(**options)


def _trained(name: str, options: dict[str, Any]) -> Program:
    def program(tf: Any, keras: Any) -> list[Any]:
        k = keras.backend
        optimizer = _made(keras, name, options)
        kind = keras.optimizers.serialize(optimizer)["class_name"]
        assert kind == name
        dense = k.variable(START, name="dense")
        sparse = k.variable(START, name="sparse")
        again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
        # One row is met twice; the others in every other step only.
        rows = k.placeholder((None,), dtype="int32")
        loss = k.sum(k.square(dense - TARGET)) + k.sum(
            k.square(tf.gather(sparse, rows) - 0.1) * [[1.0, 2.0]]
        )
        updates = optimizer.get_updates(loss, [dense, sparse])
        start = k.variable(START, name="again")
        other = again.get_updates(k.sum(k.square(start - TARGET)), [start])
        session, found = k.get_session(), []
        for step in range(10):
            session.run([*updates, *other], {rows: [0, 2, 0] if step % 2 else [1, 2, 2]})
            found += session.run([dense, sparse])
        np.testing.assert_allclose(session.run(start), found[-2], rtol=1e-6)
        prefix = optimizer.get_config()["name"] + "/"
        names = [weight.name for weight in optimizer.weights]
        assert names[0] == prefix + "iter:0"
        assert all(each.startswith(prefix) for each in names)
        return found + optimizer.get_weights()

    return program


for _name, _given in TRIED.items():
    CASES[_name] = _trained(*_given)


def _hypers(tf: Any, keras: Any) -> list[Any]:
    """Hyperparameters are variables that can be set between steps."""
    k = keras.backend
    optimizer = keras.optimizers.Adam(learning_rate=0.1)
    optimizer.lr = 0.2
    v = k.variable(START)
    (update,) = optimizer.get_updates(k.sum(k.square(v)), [v])
    session = k.get_session()
    session.run(update)
    found = [session.run(v)]
    k.set_value(optimizer.lr, 0.5)
    optimizer.beta_1 = 0.3
    session.run(update)
    found += [session.run(v), k.get_value(optimizer.learning_rate), k.get_value(optimizer.beta_1)]
    optimizer.set_weights([w * 0 for w in optimizer.get_weights()])
    session.run(update)
    return [*found, session.run(v), k.get_value(optimizer.iterations)]


def _minimized(tf: Any, keras: Any) -> list[Any]:
    k = keras.backend
    optimizer = keras.optimizers.SGD(0.1, momentum=0.5)
    v, w = k.variable(START, name="v"), k.variable(START[0], name="w")
    update = optimizer.apply_gradients([(k.constant(START), v), (None, w)])
    k.get_session().run(update)
    k.get_session().run(update)
    names = [weight.name for weight in optimizer.weights]
    assert names == ["SGD/iter:0", "SGD/v/momentum:0"]
    return [*k.batch_get_value([v, w]), optimizer.get_weights()[1]]


def _constrained(tf: Any, keras: Any) -> list[Any]:
    k = keras.backend
    v = k.variable(START, constraint=keras.constraints.NonNeg())
    optimizer = keras.optimizers.get("sgd")
    (update,) = optimizer.get_updates(k.sum(v * 30.0), [v])
    k.get_session().run(update)
    return [k.get_value(v), k.get_value(optimizer.lr)]


def _of_tf_train(tf: Any, keras: Any) -> list[Any]:
    k = keras.backend
    optimizer = keras.optimizers.get(tf.train.AdamOptimizer(0.1))
    v = k.variable(START)
    (update,) = optimizer.get_updates(k.sum(k.square(v - TARGET)), [v])
    session = k.get_session()
    for _ in range(3):
        session.run(update)
    return [session.run(v), session.run(optimizer.iterations)]


CASES |= {"hypers": _hypers, "minimized": _minimized, "constrained": _constrained}
CASES |= {"of_tf_train": _of_tf_train}
