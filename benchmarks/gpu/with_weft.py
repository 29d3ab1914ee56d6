"""A model as a TensorFlow 1 program: a graph with an optimizer, run by a session."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

# In a checkout that is not installed, weft is the folder two above this one.
sys.path.append(str(Path(__file__).resolve().parents[2]))


def optimizer(tf: Any, kind: str, rate: float) -> Any:
    if kind == "adam":
        return tf.train.AdamOptimizer(rate)
    if kind == "momentum":
        return tf.train.MomentumOptimizer(rate, 0.9)
    return tf.train.GradientDescentOptimizer(rate)


class WeftTraining:
    def __init__(self, model: Any, size: Any, variant: str, plain: bool = False) -> None:
        import weft as tf

        self.tf, self.loads = tf, {}
        parameters = self._variables(model.parameters(size), trainable=True)
        state = self._variables(model.state(size), trainable=False)
        values = model.batch(size)
        if variant == "fed":
            batch = {n: tf.placeholder(v.dtype, v.shape, name=n) for n, v in values.items()}
            self.feeds = {batch[name]: value for name, value in values.items()}
        else:
            batch, self.feeds = self._variables(values, trainable=False), None
        self.loss, updates = model.in_weft(tf, parameters, state, batch, size)
        if model.OPTIMIZER:
            updates = [optimizer(tf, *model.OPTIMIZER).minimize(self.loss), *updates]
        self.train = tf.group(*updates)
        config = tf.ConfigProto()
        config.graph_options.rewrite_options.disable_meta_optimizer = plain
        self._start(config)

    def _variables(self, values: dict[str, Any], trainable: bool) -> dict[str, Any]:
        """Variables that hold `values` once the session has started."""
        tf, found = self.tf, {}
        for name, value in values.items():
            zeros = tf.zeros_initializer()
            variable = tf.get_variable(name, value.shape, value.dtype, zeros, trainable=trainable)
            found[name], self.loads[variable] = variable, value
        return found

    def _start(self, config: Any) -> None:
        tf = self.tf
        self.session = tf.Session(config=config)
        loaded = {variable.name for variable in self.loads}
        slots = [v for v in tf.global_variables() if v.name not in loaded]
        self.session.run(tf.variables_initializer(slots))
        for variable, value in self.loads.items():
            variable.load(value, self.session)
        self.loads.clear()
        self.session.graph.finalize()

    def step(self) -> None:
        self.session.run(self.train, self.feeds)

    def step_and_loss(self) -> float:
        return float(self.session.run([self.train, self.loss], self.feeds)[1])

    def peak_bytes(self) -> int:
        from with_jax import peak_bytes

        return peak_bytes()


def training(model: Any, size: Any, variant: str, plain: bool = False) -> WeftTraining:
    return WeftTraining(model, size, variant, plain)
