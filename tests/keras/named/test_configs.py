"""Configurations have the keys, and by default the values, of 1.15: files of models hold them."""

from __future__ import annotations

from typing import Any

import pytest

from weft.lib.keras import constraints, initializers, losses, metrics, optimizers, regularizers
from weft.lib.keras.optimizers import schedules

RATE = {"learning_rate": 0.001, "decay": 0.0}
MOMENTS = {**RATE, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7}
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"learning_rate": 0.01, "decay": 0.0, "momentum": 0.0, "nesterov": False},
    "Adam": {**MOMENTS, "amsgrad": False},
    "Adamax": MOMENTS,
    "Nadam": {**MOMENTS, "decay": 0.004},
    "RMSprop": {**RATE, "rho": 0.9, "momentum": 0.0, "epsilon": 1e-7, "centered": False},
    "Adagrad": {**RATE, "initial_accumulator_value": 0.1, "epsilon": 1e-7},
    "Adadelta": {**RATE, "rho": 0.95, "epsilon": 1e-7},
    "Ftrl": {
        **RATE,
        "initial_accumulator_value": 0.1,
        "learning_rate_power": -0.5,
        "l1_regularization_strength": 0.0,
        "l2_regularization_strength": 0.0,
        "l2_shrinkage_regularization_strength": 0.0,
    },
}
LOGITS = {"from_logits": False, "label_smoothing": 0}
LOSSES: dict[str, tuple[str, dict[str, Any]]] = {
    "BinaryCrossentropy": ("binary_crossentropy", LOGITS),
    "CategoricalCrossentropy": ("categorical_crossentropy", LOGITS),
    "CategoricalHinge": ("categorical_hinge", {}),
    "CosineSimilarity": ("cosine_similarity", {"axis": -1}),
    "Hinge": ("hinge", {}),
    "Huber": ("huber_loss", {"delta": 1.0}),
    "KLDivergence": ("kullback_leibler_divergence", {}),
    "LogCosh": ("logcosh", {}),
    "MeanAbsoluteError": ("mean_absolute_error", {}),
    "MeanAbsolutePercentageError": ("mean_absolute_percentage_error", {}),
    "MeanSquaredError": ("mean_squared_error", {}),
    "MeanSquaredLogarithmicError": ("mean_squared_logarithmic_error", {}),
    "Poisson": ("poisson", {}),
    "SparseCategoricalCrossentropy": ("sparse_categorical_crossentropy", {"from_logits": False}),
    "SquaredHinge": ("squared_hinge", {}),
}
RATIO = {"thresholds": None, "top_k": None, "class_id": None}
METRICS: dict[str, tuple[str, dict[str, Any]]] = {
    "Accuracy": ("accuracy", {}),
    "BinaryAccuracy": ("binary_accuracy", {"threshold": 0.5}),
    "BinaryCrossentropy": ("binary_crossentropy", LOGITS),
    "CategoricalAccuracy": ("categorical_accuracy", {}),
    "CosineSimilarity": ("cosine_similarity", {"axis": -1}),
    "FalseNegatives": ("false_negatives", {"thresholds": None}),
    "FalsePositives": ("false_positives", {"thresholds": None}),
    "KLDivergence": ("kullback_leibler_divergence", {}),
    "LogCoshError": ("logcosh", {}),
    "Mean": ("mean", {}),
    "MeanTensor": ("mean_tensor", {}),
    "Precision": ("precision", RATIO),
    "Recall": ("recall", RATIO),
    "RootMeanSquaredError": ("root_mean_squared_error", {}),
    "SparseCategoricalCrossentropy": (
        "sparse_categorical_crossentropy", {"from_logits": False, "axis": -1}
    ),
    "SparseTopKCategoricalAccuracy": ("sparse_top_k_categorical_accuracy", {"k": 5}),
    "Sum": ("sum", {}),
    "TopKCategoricalAccuracy": ("top_k_categorical_accuracy", {"k": 5}),
    "TrueNegatives": ("true_negatives", {"thresholds": None}),
    "TruePositives": ("true_positives", {"thresholds": None}),
}  # fmt: skip
SCALING = {"scale": 1.0, "mode": "fan_in", "distribution": "truncated_normal", "seed": None}
OTHERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "glorot_uniform": (initializers, {"seed": None, "dtype": "float32"}),
    "Zeros": (initializers, {"dtype": "float32"}),
    "Constant": (initializers, {"value": 0, "dtype": "float32"}),
    "lecun_normal": (initializers, {**SCALING, "dtype": "float32"}),
    "Orthogonal": (initializers, {"gain": 1.0, "seed": None, "dtype": "float32"}),
    "Identity": (initializers, {"gain": 1.0, "dtype": "float32"}),
    "RandomUniform": (
        initializers, {"minval": -0.05, "maxval": 0.05, "seed": None, "dtype": "float32"}
    ),
    "MaxNorm": (constraints, {"max_value": 2, "axis": 0}),
    "NonNeg": (constraints, {}),
    "UnitNorm": (constraints, {"axis": 0}),
    "MinMaxNorm": (constraints, {"min_value": 0.0, "max_value": 1.0, "rate": 1.0, "axis": 0}),
    "L1L2": (regularizers, {"l1": 0.0, "l2": 0.0}),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name: str) -> None:
    made = getattr(optimizers, name)()
    wanted = {"class_name": name, "config": {"name": name, **OPTIMIZERS[name]}}
    assert optimizers.serialize(made) == wanted
    assert optimizers.serialize(optimizers.deserialize(wanted)) == wanted


def test_adagrad_by_name_starts_at_zero() -> None:
    assert optimizers.get("adagrad").get_config()["initial_accumulator_value"] == 0.0


def test_limits_and_schedules_are_part_of_it() -> None:
    made = optimizers.SGD(schedules.ExponentialDecay(0.5, 10, 0.9), clipnorm=2.0, clipvalue=3.0)
    config = made.get_config()
    assert (config["clipnorm"], config["clipvalue"]) == (2.0, 3.0)
    assert config["learning_rate"] == {
        "class_name": "ExponentialDecay",
        "config": {
            "initial_learning_rate": 0.5,
            "decay_steps": 10,
            "decay_rate": 0.9,
            "staircase": False,
            "name": None,
        },
    }
    again = optimizers.SGD.from_config(config)
    assert again.get_config() == config


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str) -> None:
    plain, more = LOSSES[name]
    wanted = {"class_name": name, "config": {"reduction": "auto", "name": plain, **more}}
    assert losses.serialize(losses.get(name)) == wanted
    assert losses.serialize(losses.deserialize(wanted)) == wanted


@pytest.mark.parametrize("name", METRICS)
def test_metrics(name: str) -> None:
    plain, more = METRICS[name]
    wanted = {"class_name": name, "config": {"name": plain, "dtype": "float32", **more}}
    assert metrics.serialize(metrics.get(name)) == wanted
    assert metrics.serialize(metrics.deserialize(wanted)) == wanted


@pytest.mark.parametrize("name", OTHERS)
def test_others(name: str) -> None:
    module, wanted = OTHERS[name]
    assert module.get(name).get_config() == wanted
    assert module.get(module.serialize(module.get(name))).get_config() == wanted


def test_an_orthogonal_start() -> None:
    import numpy as np

    from weft.lib.keras import backend as K

    for shape in ((4, 3), (2, 3, 8)):
        found = K.eval(initializers.get("orthogonal")(shape)).reshape(-1, shape[-1])
        small = found.T @ found if found.shape[0] > found.shape[1] else found @ found.T
        np.testing.assert_allclose(small, np.eye(len(small)), atol=1e-5)


def test_what_does_not_fit() -> None:
    from weft.lib.keras import activations

    for module, kind in ((initializers, "initializer"), (constraints, "constraint")):
        with pytest.raises(ValueError, match=f"Unknown {kind}: ?nothing"):
            module.get("nothing")
        with pytest.raises(ValueError, match=f"Could not interpret {kind} identifier: 3"):
            module.get(3)
        assert module.get(None) is None
    with pytest.raises(ValueError, match="Unknown activation function:nothing"):
        activations.get("nothing")
    with pytest.raises(TypeError, match="Could not interpret activation function identifier: 3"):
        activations.get(3)
    assert activations.get(None) is activations.linear
    with pytest.raises(ValueError, match="Cannot apply softmax to a tensor that is 1D"):
        activations.softmax(initializers.Ones()((3,)))


def test_what_stands_for_nothing_is_told_as_ever() -> None:
    from weft.lib.keras import metrics, regularizers

    with pytest.raises(ValueError, match="regularizer") as raised:
        regularizers.get(5)
    assert raised.value.args == ("Could not interpret regularizer identifier:", 5)
    for name in ("kld", "KLD", "cosine"):
        with pytest.raises(ValueError, match=f"Unknown metric function:{name}"):
            metrics.get(name)
