"""Programs of activations, initializers, regularizers and constraints, all got by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.keras.played import Program

_rng = np.random.RandomState(3)
X = _rng.uniform(-3, 3, (4, 5)).astype("float32")
CUBE = _rng.uniform(-3, 3, (2, 3, 4)).astype("float32")
KERNELS = _rng.uniform(-1, 1, (5, 5, 2, 3)).astype("float32")
EVEN_KERNELS = _rng.uniform(-1, 1, (4, 4, 1, 2)).astype("float32")

ACTIVATIONS = (
    "elu exponential hard_sigmoid linear relu selu sigmoid softmax softplus softsign tanh"
).split()
# Class -> arguments and the shape to make.
INITIALIZERS: dict[str, list[tuple[dict[str, Any], tuple[int, ...]]]] = {
    "Zeros": [({}, (2, 3))],
    "Ones": [({}, (2, 3))],
    "Constant": [({"value": 3.5}, (2, 3))],
    "Identity": [({"gain": 2.0}, (3, 3))],
    "RandomUniform": [({"seed": 1}, (4,)), ({"minval": -3, "maxval": 2, "seed": 1}, (4,))],
    "RandomNormal": [({"seed": 1}, (4,)), ({"mean": 1.0, "stddev": 2.0, "seed": 1}, (4,))],
    "TruncatedNormal": [({"seed": 1}, (4,))],
    "VarianceScaling": [
        ({"seed": 1}, (3, 4)),
        ({"scale": 2.0, "mode": "fan_avg", "distribution": "uniform", "seed": 2}, (2, 3, 4, 5)),
    ],
    "glorot_uniform": [({"seed": 1}, (3, 4))],
    "glorot_normal": [({"seed": 1}, (3, 4))],
    "he_normal": [({"seed": 1}, (3, 4))],
    "he_uniform": [({"seed": 1}, (3, 4))],
    "lecun_normal": [({"seed": 1}, (3, 4))],
    "lecun_uniform": [({"seed": 1}, (3, 4))],
}
CONSTRAINTS: dict[str, list[dict[str, Any]]] = {
    "MaxNorm": [{}, {"max_value": 1.5, "axis": [0, 1]}],
    "NonNeg": [{}],
    "UnitNorm": [{}, {"axis": 1}],
    "MinMaxNorm": [{}, {"min_value": 0.5, "max_value": 2.0, "rate": 0.4, "axis": 1}],
}
CASES: dict[str, Program] = {}


def _activation(name: str) -> Program:
    def program(tf: Any, keras: Any) -> list[Any]:
        function = keras.activations.get(name)
        assert keras.activations.serialize(function) == name
        assert keras.activations.deserialize(name) is function
        return [function(tf.constant(X)), function(tf.constant(CUBE))]

    return program


def _initializer(name: str, options: dict[str, Any], shape: tuple[int, ...]) -> Program:
    def program(tf: Any, keras: Any) -> list[Any]:
        made = getattr(keras.initializers, name)(**options)
        again = keras.initializers.get(keras.initializers.serialize(made))
        assert again.get_config() == made.get_config()
        return [made(shape), again(shape)]

    return program


def _constraint(name: str, options: dict[str, Any]) -> Program:
    def program(tf: Any, keras: Any) -> list[Any]:
        made = getattr(keras.constraints, name)(**options)
        again = keras.constraints.get(keras.constraints.serialize(made))
        assert again.get_config() == made.get_config()
        return [
            made(tf.constant(X)),
            again(tf.constant(KERNELS)),
            keras.constraints.get(name)(tf.constant(X)),
        ]

    return program


for _name in ACTIVATIONS:
    CASES[_name] = _activation(_name)
for _name, _tries in INITIALIZERS.items():
    for _number, _given in enumerate(_tries):
        CASES[f"{_name}_{_number}"] = _initializer(_name, *_given)
for _name, _options in CONSTRAINTS.items():
    for _number, _option in enumerate(_options):
        CASES[f"{_name}_{_number}"] = _constraint(_name, _option)


def _relu(tf: Any, keras: Any) -> list[Any]:
    relu, elu, softmax = (keras.activations.get(n) for n in ("relu", "elu", "softmax"))
    x = tf.constant(X)
    return [
        relu(x, alpha=0.1, max_value=2.0, threshold=0.5),
        elu(x, 0.3),
        softmax(tf.constant(CUBE), axis=1),
    ]


def _regularizers(tf: Any, keras: Any) -> list[Any]:
    r = keras.regularizers
    made = [r.l1(0.2), r.l2(0.3), r.l1_l2(0.1, 0.2), r.get("l1_l2"), r.L1L2(l1=0.5)]
    again = [r.deserialize({"class_name": "L1L2", "config": m.get_config()}) for m in made[2:]]
    return [m(tf.constant(X)) for m in made + again]


def _radial(tf: Any, keras: Any) -> list[Any]:
    constraint = keras.constraints.get("radial_constraint")
    return [constraint(tf.constant(KERNELS)), constraint(tf.constant(EVEN_KERNELS))]


CASES |= {"relu_options": _relu, "regularizers": _regularizers, "radial": _radial}
