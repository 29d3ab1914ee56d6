"""The arguments that a model was compiled with, as plain values and back."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.lib.keras.backend.config import backend
from weft.lib.keras.engine.network_saving import KERAS_VERSION
from weft.lib.keras.utils.generic import serialize_keras_object
from weft.lib.platform import tf_logging as logging


def model_metadata(model: Any, include_optimizer: bool = True) -> dict[str, Any]:
    """The attributes of a saved model: its configuration, and how it is trained."""
    config = {"class_name": type(model).__name__, "config": model.get_config()}
    metadata: dict[str, Any] = {
        "keras_version": KERAS_VERSION,
        "backend": backend(),
        "model_config": config,
    }
    if include_optimizer and getattr(model, "optimizer", None):
        training = training_config(model)
        if training is not None:
            metadata["training_config"] = training
    return metadata


def is_tf_optimizer(optimizer: Any) -> bool:
    """Whether it is an optimizer of tf.train, whose settings cannot be read."""
    return type(optimizer).__name__ == "TFOptimizer"


def training_config(model: Any) -> dict[str, Any] | None:
    """Losses, metrics and the optimizer; None (and a warning) if that cannot be said."""
    if is_tf_optimizer(model.optimizer):
        logging.warning(
            "TensorFlow optimizers do not make it possible to access optimizer attributes or "
            "optimizer state after instantiation. As a result, we cannot save the optimizer as "
            "part of the model save file. You will have to compile your model again after loading "
            "it. Prefer using a Keras optimizer instead (see keras.io/optimizers)."
        )
        return None
    return {
        "loss": model.loss,
        "metrics": model._compile_metrics,
        "weighted_metrics": getattr(model, "_compile_weighted_metrics", None),
        "sample_weight_mode": model.sample_weight_mode,
        "loss_weights": model.loss_weights,
        "optimizer_config": serialize_keras_object(model.optimizer),
    }


def compile_arguments(
    config: dict[str, Any], custom_objects: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Arguments for `Model.compile`, of what `training_config` gave."""
    from weft.lib.keras import losses, metrics, optimizers

    custom = custom_objects or {}

    def known(value: Any) -> Any:
        return custom.get(value, value) if isinstance(value, str) else value

    def objects(given: Any, get: Any) -> Any:
        """Records {class_name, config} as objects; names stay names, unless they are custom."""
        if isinstance(given, dict) and "class_name" in given:
            return get(given, custom)
        if isinstance(given, (list, tuple)):
            return [objects(each, get) for each in given]
        if isinstance(given, dict):
            return {key: objects(each, get) for key, each in given.items()}
        return known(given)

    return {
        "optimizer": optimizers.deserialize(config["optimizer_config"], custom_objects=custom),
        "loss": objects(config["loss"], losses.deserialize),
        "metrics": objects(config.get("metrics"), metrics.deserialize),
        "weighted_metrics": objects(config.get("weighted_metrics"), metrics.deserialize),
        "loss_weights": nest.map_structure(known, config["loss_weights"]),
        "sample_weight_mode": config["sample_weight_mode"],
    }
