"""Programs with models that TensorFlow and weft run alike: functions of (tf, keras).

Each returns a dictionary of names, numbers and lists of them. Weights and data are made from a
formula, and nothing is shuffled, so that losses can be compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def wave(*shape: int, step: float = 0.37) -> np.ndarray:
    """Numbers between -1 and 1 that follow no pattern a model could use."""
    count = int(np.prod(shape))
    return np.sin(step * np.arange(1, count + 1) ** 1.3).reshape(shape).astype(np.float32)


def set_weights(model: Any) -> None:
    values = [0.5 * wave(*w.shape.as_list(), step=0.2 + i) for i, w in enumerate(model.weights)]
    model.set_weights(values)


def labels(count: int, classes: int) -> np.ndarray:
    return np.arange(count) ** 2 % classes


def weight_names(model: Any) -> list[str]:
    return [w.name for w in model.weights]


def tidy(values: Any) -> Any:
    return np.asarray(values, np.float64).tolist()


def history(found: Any) -> dict[str, Any]:
    return {"epochs": found.epoch, **{k: tidy(v) for k, v in found.history.items()}}


def classifier(keras: Any) -> Any:
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Dense(8, activation="relu", input_shape=(5,)),
            layers.Dense(3, activation="softmax", name="out"),
        ]
    )
    set_weights(model)
    return model


def sequential(tf: Any, keras: Any) -> dict[str, Any]:
    model = classifier(keras)
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy", "mse"])
    x, y = wave(20, 5), labels(20, 3)
    found = model.fit(x, y, batch_size=6, epochs=3, validation_split=0.25, shuffle=False, verbose=0)
    return {
        "history": history(found),
        "evaluate": tidy(model.evaluate(x, y, batch_size=7, verbose=0)),
        "predict": tidy(model.predict(x, batch_size=8)),
        "classes": tidy(model.predict(x).argmax(-1)),
        "metrics_names": model.metrics_names,
        "weights": weight_names(model),
        "layers": [layer.name for layer in model.layers],
        "shapes": [list(layer.output_shape) for layer in model.layers],
        "ends": [model.input.name, model.output.name, model.name],
        "count": model.count_params(),
    }


def branches(tf: Any, keras: Any) -> dict[str, Any]:
    layers = keras.layers
    a = keras.Input((4,), name="a")
    b = keras.Input((4,), name="b")
    shared = layers.Dense(6, activation="tanh", name="shared")
    left, right = shared(a), shared(b)
    joined = layers.concatenate([left, right], name="joined")
    first = layers.Dense(1, name="first")(joined)
    second = layers.Dense(3, activation="softmax", name="second")(layers.add([left, right]))
    model = keras.Model([a, b], [first, second])
    set_weights(model)
    model.compile(
        keras.optimizers.SGD(0.05, momentum=0.9),
        {"first": "mse", "second": "categorical_crossentropy"},
        metrics={"first": "mae", "second": ["acc"]},
        loss_weights={"first": 0.5, "second": 2.0},
    )
    x = {"a": wave(12, 4), "b": wave(12, 4, step=0.9)}
    y = [wave(12, step=1.7), np.eye(3)[labels(12, 3)]]
    found = model.fit(x, y, batch_size=5, epochs=2, shuffle=False, verbose=0)
    return {
        "history": history(found),
        "metrics_names": model.metrics_names,
        "batch": tidy(model.train_on_batch([x["a"], x["b"]], {"first": y[0], "second": y[1]})),
        "test": tidy(model.test_on_batch([x["a"], x["b"]], y)),
        "outputs": [list(out.shape) for out in model.predict(x)],
        "names": [model.input_names, model.output_names, [layer.name for layer in model.layers]],
        "weights": weight_names(model),
        "tensors": [t.name for t in model.outputs],
        "at": [shared.get_output_at(1).name, str(shared.get_input_shape_at(0))],
    }


def weights_of_samples(tf: Any, keras: Any) -> dict[str, Any]:
    model = classifier(keras)
    model.compile(
        "sgd", "sparse_categorical_crossentropy", metrics=["acc"], weighted_metrics=["acc"]
    )
    x, y = wave(12, 5), labels(12, 3)
    by_class = {0: 1.0, 1: 3.0, 2: 0.5}
    first = model.fit(x, y, batch_size=4, class_weight=by_class, shuffle=False, verbose=0)
    weights = np.abs(wave(12, step=2.0))
    second = model.fit(x, y, batch_size=4, sample_weight=weights, shuffle=False, verbose=0)
    both = model.train_on_batch(x, y, sample_weight=weights, class_weight=by_class)
    return {
        "class": history(first),
        "sample": history(second),
        "both": tidy(both),
        "without": tidy(model.evaluate(x, y, verbose=0)),
        "with": tidy(model.evaluate(x, y, sample_weight=weights, verbose=0)),
        "metrics_names": model.metrics_names,
    }


def temporal(tf: Any, keras: Any) -> dict[str, Any]:
    model = keras.Sequential(
        [keras.layers.TimeDistributed(keras.layers.Dense(2), input_shape=(3, 4))]
    )
    set_weights(model)
    model.compile("sgd", "mse", sample_weight_mode="temporal")
    weights = np.abs(wave(6, 3, step=2.0))
    x, y = wave(6, 3, 4), wave(6, 3, 2, step=0.5)
    found = model.fit(x, y, sample_weight=weights, epochs=2, shuffle=False, verbose=0)
    return {"history": history(found)}


def nested(tf: Any, keras: Any) -> dict[str, Any]:
    layers = keras.layers
    inner_in = keras.Input((3,))
    inner_out = layers.Dense(4, activation="relu")(inner_in)
    inner = keras.Model(inner_in, inner_out, name="inner")
    x = keras.Input((3,))
    y = keras.Input((3,))
    out = layers.Dense(1)(layers.subtract([inner(x), inner(y)]))
    model = keras.Model([x, y], out)
    set_weights(model)
    inner.trainable = False
    model.compile("sgd", "mse")
    data = [wave(8, 3), wave(8, 3, step=0.8)]
    before = inner.get_weights()[0]
    found = model.fit(data, wave(8, step=3.0), epochs=2, shuffle=False, verbose=0)
    return {
        "history": history(found),
        "frozen": bool((before == inner.get_weights()[0]).all()),
        "trainable": [w.name for w in model.trainable_weights],
        "fixed": [w.name for w in model.non_trainable_weights],
        "layers": [layer.name for layer in model.layers],
        "get_layer": model.get_layer("inner").name,
    }


def normalized(tf: Any, keras: Any) -> dict[str, Any]:
    model = keras.Sequential(
        [
            keras.layers.Dense(4, input_shape=(3,)),
            keras.layers.BatchNormalization(momentum=0.8),
            keras.layers.Dense(1),
        ]
    )
    set_weights(model)
    variance = model.layers[1].weights[3]
    keras.backend.set_value(variance, np.ones(4))
    model.compile("sgd", "mse")
    x, y = wave(10, 3), wave(10, step=3.0)
    found = model.fit(x, y, batch_size=5, epochs=2, shuffle=False, verbose=0)
    moved = [tidy(w) for w in model.layers[1].get_weights()]
    model.layers[1].trainable = False
    model.compile("sgd", "mse")
    again = model.fit(x, y, batch_size=5, epochs=1, shuffle=False, verbose=0)
    return {
        "history": history(found),
        "moved": moved,
        "frozen": history(again),
        "updates": len(model.updates),
    }


def added(tf: Any, keras: Any) -> dict[str, Any]:
    class Penalty(keras.layers.Layer):
        def call(self, inputs: Any) -> Any:
            self.add_loss(0.1 * tf.reduce_mean(tf.square(inputs)), inputs=True)
            self.add_metric(tf.reduce_max(inputs), name="top", aggregation="mean")
            return inputs

    x = keras.Input((3,))
    hidden = keras.layers.Dense(
        4,
        kernel_regularizer=keras.regularizers.l2(0.01),
        activity_regularizer=keras.regularizers.l1(0.02),
    )(x)
    out = keras.layers.Dense(1)(Penalty()(hidden))
    model = keras.Model(x, out)
    model.add_loss(tf.reduce_mean(tf.abs(hidden)) * 0.05)
    model.add_metric(tf.reduce_sum(hidden), name="sum", aggregation="mean")
    set_weights(model)
    model.compile("sgd", "mse", metrics=["mae"])
    found = model.fit(
        wave(9, 3), wave(9, step=3.0), batch_size=4, epochs=2, shuffle=False, verbose=0
    )
    return {
        "history": history(found),
        "losses": len(model.losses),
        "evaluate": tidy(model.evaluate(wave(9, 3), wave(9, step=3.0), batch_size=4, verbose=0)),
    }


def only_added_loss(tf: Any, keras: Any) -> dict[str, Any]:
    x = keras.Input((3,))
    out = keras.layers.Dense(2)(x)
    model = keras.Model(x, out)
    model.add_loss(tf.reduce_mean(tf.square(out)))
    set_weights(model)
    model.compile("sgd")
    found = model.fit(wave(6, 3), epochs=3, shuffle=False, verbose=0)
    return {"history": history(found)}


def operations(tf: Any, keras: Any) -> dict[str, Any]:
    x = keras.Input((3,))
    y = tf.nn.relu(keras.layers.Dense(4)(x)) * 2.0 + tf.constant([1.0, 2.0, 3.0, 4.0])
    out = keras.layers.Dense(1)(tf.concat([y, x], axis=1))
    model = keras.Model(x, out)
    set_weights(model)
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    data = wave(5, 3)
    return {
        "predict": tidy(model.predict(data)),
        "clone": tidy(clone.predict(data)),
        "called": tidy(keras.backend.get_value(model(tf.constant(data)))),
    }


def masks(tf: Any, keras: Any) -> dict[str, Any]:
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Embedding(10, 4, mask_zero=True, input_length=6),
            layers.SimpleRNN(5, return_sequences=True),
            layers.TimeDistributed(layers.Dense(1)),
        ]
    )
    set_weights(model)
    model.compile("sgd", "mse", metrics=["mae"])
    x = np.array([[1, 2, 3, 0, 0, 0], [4, 5, 0, 0, 0, 0], [6, 7, 8, 9, 1, 2], [3, 0, 0, 0, 0, 0]])
    error = model.evaluate(x, wave(4, 6, 1), batch_size=4, verbose=0)[1]
    return {"error": tidy(error), "predict": tidy(model.predict(x))}


def stateful(tf: Any, keras: Any) -> dict[str, Any]:
    model = keras.Sequential(
        [
            keras.layers.SimpleRNN(3, stateful=True, batch_input_shape=(2, 4, 3)),
            keras.layers.Dense(1),
        ]
    )
    set_weights(model)
    model.compile("sgd", "mse")
    x, y = wave(6, 4, 3), wave(6, step=3.0)
    found = model.fit(x, y, batch_size=2, epochs=2, shuffle=False, verbose=0)
    first = model.predict(x, batch_size=2)
    second = model.predict(x, batch_size=2)
    model.reset_states()
    third = model.predict(x, batch_size=2)
    return {
        "history": history(found),
        "predict": [tidy(first), tidy(second), tidy(third)],
        "stateful": model.stateful,
    }


def subclassed(tf: Any, keras: Any) -> dict[str, Any]:
    class Mine(keras.Model):
        def __init__(self) -> None:
            super().__init__(name="mine")
            self.first = keras.layers.Dense(4, activation="relu")
            self.rest = [keras.layers.Dense(3), keras.layers.Dense(2)]
            self.drop = keras.layers.Dropout(0.0)

        def call(self, inputs: Any, training: Any = None) -> Any:
            x = self.drop(self.first(inputs), training=training)
            for layer in self.rest:
                x = layer(x)
            return x

    model = Mine()
    model.compile("sgd", "mse", metrics=["mae"])
    x, y = wave(8, 3), wave(8, 2, step=3.0)
    model.train_on_batch(x, y)
    set_weights(model)
    found = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    return {
        "history": history(found),
        "layers": [layer.name for layer in model.layers],
        "weights": sorted(weight_names(model)),
        "names": [model.input_names, model.output_names],
        "predict": tidy(model.predict(x)),
    }


def deferred(tf: Any, keras: Any) -> dict[str, Any]:
    model = keras.Sequential()
    model.add(keras.layers.Dense(4))
    model.add(keras.layers.Dense(1))
    model.compile("sgd", "mse")
    x, y = wave(8, 3), wave(8, step=3.0)
    model.fit(x, y, epochs=1, verbose=0)
    set_weights(model)
    found = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    popped = keras.Sequential([keras.layers.Dense(4, input_shape=(3,)), keras.layers.Dense(2)])
    popped.pop()
    popped.add(keras.layers.Dense(5, name="last"))
    return {
        "history": history(found),
        "weights": weight_names(model),
        "popped": [list(popped.output_shape), [layer.name for layer in popped.layers]],
    }


def datasets(tf: Any, keras: Any) -> dict[str, Any]:
    model = classifier(keras)
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["acc"])
    x, y = wave(12, 5), labels(12, 3).astype(np.int32)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
    first = model.fit(dataset, epochs=2, verbose=0, validation_data=dataset)
    second = model.fit(dataset.repeat(), epochs=2, steps_per_epoch=2, verbose=0)
    return {
        "whole": history(first),
        "steps": history(second),
        "evaluate": tidy(model.evaluate(dataset, verbose=0)),
        "predict": tidy(model.predict(dataset)),
    }


def generators(tf: Any, keras: Any) -> dict[str, Any]:
    class Batches(keras.utils.Sequence):
        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> Any:
            rows = slice(4 * index, 4 * index + 4)
            return x[rows], y[rows]

    def forever() -> Any:
        while True:
            for index in range(3):
                yield batches[index]

    model = classifier(keras)
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["acc"])
    x, y = wave(12, 5), labels(12, 3)
    batches = Batches()
    first = model.fit(batches, epochs=2, shuffle=False, verbose=0)
    second = model.fit_generator(
        forever(), steps_per_epoch=3, epochs=1, verbose=0, validation_data=(x, y)
    )
    return {
        "sequence": history(first),
        "generator": history(second),
        "evaluate": tidy(model.evaluate_generator(batches)),
        "predict": tidy(model.predict_generator(batches)),
    }


def events(tf: Any, keras: Any) -> dict[str, Any]:
    seen: list[str] = []

    class Watch(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            seen.append(f"epoch_end {epoch} {sorted(logs)}")

    def note(name: str) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> None:
            logs = kwargs.get("logs") or {}
            given = [a for a in args if not isinstance(a, dict)]
            seen.append(f"{name} {given} {sorted({*logs, *(args[-1] or {})} if args else logs)}")

        return method

    for name in (
        "epoch_begin", "train_begin", "train_end", "test_begin", "test_end", "predict_begin",
        "predict_end", "train_batch_begin", "train_batch_end", "test_batch_begin",
        "test_batch_end", "predict_batch_begin", "predict_batch_end",
    ):  # fmt: skip
        setattr(Watch, f"on_{name}", note(name))
    model = classifier(keras)
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["acc"])
    x, y = wave(8, 5), labels(8, 3)
    watch = Watch()
    model.fit(x, y, batch_size=4, epochs=2, validation_data=(x, y), verbose=0, callbacks=[watch])
    model.evaluate(x, y, batch_size=4, verbose=0, callbacks=[watch])
    model.predict(x, batch_size=4, callbacks=[watch])
    stopped = model.fit(
        x, y, epochs=9, verbose=0,
        callbacks=[keras.callbacks.LambdaCallback(
            on_epoch_end=lambda epoch, logs: setattr(model, "stop_training", epoch == 1))],
    )  # fmt: skip
    return {"seen": seen, "stopped": stopped.epoch, "params": sorted(watch.params)}


def configurations(tf: Any, keras: Any) -> dict[str, Any]:
    layers = keras.layers
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    shared = layers.Dense(4, name="shared")
    both = layers.Concatenate(name="both")([shared(a), shared(b)])
    model = keras.Model([a, b], [layers.Dense(1, name="x")(both), both], name="two")
    config = model.get_config()
    made = keras.Model.from_config(config)
    made.set_weights(model.get_weights())
    data = [wave(4, 3), wave(4, 3, step=0.9)]
    stack = classifier(keras)
    again = keras.Sequential.from_config(stack.get_config())
    again.set_weights(stack.get_weights())
    return {
        "layers": [[each["name"], each["class_name"]] for each in config["layers"]],
        "nodes": [each["inbound_nodes"] for each in config["layers"]],
        "ends": [config["input_layers"], config["output_layers"], config["name"]],
        "same": [
            bool(np.allclose(p, q))
            for p, q in zip(model.predict(data), made.predict(data), strict=True)
        ],
        "stack": [each["class_name"] for each in stack.get_config()["layers"]][-2:],
        "stack_same": bool(np.allclose(stack.predict(wave(3, 5)), again.predict(wave(3, 5)))),
    }


def optimized(tf: Any, keras: Any) -> dict[str, Any]:
    """One model with each of the usual optimizers; with a tf.train one too."""
    found = {}
    for name in ("adam", "rmsprop", "adadelta", "adamax", "nadam"):
        keras.backend.clear_session()
        model = classifier(keras)
        model.compile(name, "sparse_categorical_crossentropy")
        ran = model.fit(wave(12, 5), labels(12, 3), 4, 2, shuffle=False, verbose=0)
        found[name] = history(ran)
    # By its name, 1.15 has Adagrad start from sums of 0, later versions from 0.1.
    made = {
        "train": lambda: tf.train.AdamOptimizer(0.01),
        "adagrad": lambda: keras.optimizers.Adagrad(),
        "adagrad_0": lambda: keras.optimizers.Adagrad(initial_accumulator_value=0.0),
    }
    for name, make in made.items():
        keras.backend.clear_session()
        model = classifier(keras)
        model.compile(make(), "sparse_categorical_crossentropy")
        ran = model.fit(wave(12, 5), labels(12, 3), 4, 2, shuffle=False, verbose=0)
        found[name] = history(ran)
    return found


PROGRAMS = (
    sequential, branches, weights_of_samples, temporal, nested, normalized, added,
    only_added_loss, operations, masks, stateful, subclassed, deferred, datasets, generators,
    events, configurations, optimized,
)  # fmt: skip
