"""tf.keras.estimator.model_to_estimator: a compiled Keras model as an Estimator.

Each mode builds the model anew, with the features of its input function for inputs and the labels
for targets; the Estimator starts from the weights that the model has.
"""

from __future__ import annotations

import os
from typing import Any

from weft.client.session import Session
from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import Graph, device
from weft.graph.random_seed import set_random_seed
from weft.graph.slices import convert_to_tensor_or_sparse_tensor
from weft.lib.estimator.arguments import with_model_dir
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.keras import backend as K
from weft.lib.keras.backend.symbolic import eager_program
from weft.lib.keras.engine.cloning import (
    clone_and_build_model,
    in_place_subclassed_model_state_restoration,
)
from weft.lib.keras.saving.save import load_model
from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model.export_outputs import PredictOutput
from weft.lib.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from weft.lib.train.checkpoint.checkpoint import GraphText
from weft.lib.train.checkpoint.management import latest_checkpoint
from weft.lib.train.checkpoint.objects import ObjectGraph
from weft.lib.train.checkpoint.saver import Saver
from weft.lib.train.sessions.scaffold import Scaffold
from weft.ops.state.global_step import create_global_step, get_or_create_global_step
from weft.storage import file_io

FORMATS = ("saver", "checkpoint")


def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: Any = None,
    custom_objects: Any = None,
    model_dir: Any = None,
    config: Any = None,
    checkpoint_format: str = "saver",
) -> Estimator:
    """An Estimator that trains, evaluates and predicts with a model, given or in a file."""
    if not (keras_model or keras_model_path):
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model and keras_model_path:
        raise ValueError("Please specity either `keras_model` or `keras_model_path`, but not both.")
    if checkpoint_format not in FORMATS:
        raise ValueError(
            f'Checkpoint format must be one of "checkpoint" or "saver". Got {checkpoint_format}'
        )
    config = with_model_dir(config, model_dir)
    model = keras_model or load_model(keras_model_path, custom_objects)
    if not getattr(model, "optimizer", None):
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the model with "
            "`model.compile()` before calling `model_to_estimator()`."
        )
    by_objects = checkpoint_format == "checkpoint"
    start = None
    if model._is_graph_network:
        start = _first_checkpoint(model, custom_objects, config, by_objects)
    elif model.built:
        logging.warning(
            "You are creating an Estimator from a Keras model manually subclassed from `Model`, "
            "that was already called on some inputs (and thus already had weights). We are "
            "currently unable to preserve the model's state (its weights) as part of the estimator "
            "in this case. Be warned that the estimator has been created using a freshly "
            "initialized version of your model.\nNote that this doesn't affect the state of the "
            "model instance you passed as `keras_model` argument."
        )
    model_fn = _model_fn(model, custom_objects, by_objects)
    return Estimator(model_fn, config=config, warm_start_from=start)


def _optimizer_config(model: Any) -> Any:
    """The settings of the optimizer as they are now, while its graph and session are at hand."""
    optimizer = model.optimizer
    try:
        if isinstance(optimizer, (list, tuple)):
            return [each.get_config() for each in optimizer]
        return optimizer.get_config()
    except NotImplementedError:
        return None


def _model_fn(keras_model: Any, custom_objects: Any, by_objects: bool) -> Any:
    settings = _optimizer_config(keras_model)

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        model = _build(mode, keras_model, custom_objects, features, labels, settings)
        predictions = dict(zip(model.output_names, model.outputs, strict=True))
        loss = train_op = metrics = None
        if mode == ModeKeys.TRAIN:
            model._make_train_function()
            train_op = model.train_function.updates_op
        elif mode == ModeKeys.EVAL:
            model._make_test_function()
        if mode != ModeKeys.PREDICT:
            loss = model.total_loss
            metrics = {metric.name: metric for metric in model._compile_metric_functions}
        if model is keras_model:  # a class that could not be copied
            in_place_subclassed_model_state_restoration(keras_model)
        return EstimatorSpec(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics or None,
            export_outputs={DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)},
            scaffold=_object_scaffold(model) if by_objects else None,
        )

    return model_fn


def _object_scaffold(model: Any) -> Scaffold:
    """Saves as a checkpoint of the model's objects, which the model can read too."""
    _count_steps_with_model(model)
    message, saveables = ObjectGraph(model).serialize()
    with device("/cpu:0"):
        text = constant(message.SerializeToString(), dtype=dtypes.string)
    return Scaffold(saver=Saver([*saveables, GraphText(text)], sharded=True))


def _count_steps_with_model(model: Any) -> None:
    # Without a leading underscore it is among what a checkpoint holds of the model.
    vars(model)["estimator_global_step"] = get_or_create_global_step()


def _build(
    mode: str,
    keras_model: Any,
    custom_objects: Any,
    features: Any = None,
    labels: Any = None,
    optimizer_config: Any = None,
) -> Any:
    """The model in the default graph, on the tensors of an input function."""
    K.set_learning_phase(int(mode == ModeKeys.TRAIN))
    features, weights = _without_weights(features)
    inputs = _in_order(features, _names(keras_model, "input", features), "features", "inputs")
    targets = _in_order(labels, _names(keras_model, "output", labels), "labels", "outputs")
    step = None
    if mode != ModeKeys.PREDICT:
        step = get_or_create_global_step()
        K.track_variable(step)
    model = clone_and_build_model(
        keras_model,
        inputs,
        targets,
        custom_objects,
        compile_clone=mode != ModeKeys.PREDICT,
        in_place_reset=not keras_model._is_graph_network,
        optimizer_iterations=step,
        optimizer_config=optimizer_config,
    )
    if weights is not None:
        _use_weights(model, weights)
    return model


def _names(model: Any, which: str, given: Any) -> list[str]:
    """The names of a model's inputs or outputs; a class that was not called numbers them."""
    if model._is_graph_network:
        return model.input_names if which == "input" else model.output_names
    count = len(given) if isinstance(given, dict) else 0
    return [f"{which}_{i}" for i in range(1, count + 1)]


def _use_weights(model: Any, weights: Any) -> None:
    given = _in_order(weights, model.output_names, "sample_weights", "outputs") or []
    for endpoint, weight in zip(model._training_endpoints, given, strict=False):
        endpoint.sample_weight_mode = "samplewise"
        endpoint.sample_weight = weight
    model._compile_weights_loss_and_weighted_metrics()


def _without_weights(features: Any) -> tuple[Any, Any]:
    """(features, weights of the examples, if there are any)"""
    if isinstance(features, dict) and set(features) == {"features", "sample_weights"}:
        return features["features"], features["sample_weights"]
    return features, None


def _in_order(given: Any, names: list[str], what: str, of_model: str) -> list[Any] | None:
    """Tensors in the order in which the model has its inputs or outputs."""
    if given is None:
        return None
    if isinstance(given, dict):
        different = set(given) ^ set(names)
        if different:
            raise KeyError(
                f"The dictionary passed into {what} does not have the expected {of_model} keys "
                f"defined in the keras model.\n\tExpected keys: {set(names)}\n\t{what} keys: "
                f"{set(given)}\n\tDifference: {different}"
            )
        given = [given[name] for name in names]
    parts = given if isinstance(given, (list, tuple)) else [given]
    return [convert_to_tensor_or_sparse_tensor(part) for part in parts]


def _first_checkpoint(model: Any, custom_objects: Any, config: Any, by_objects: bool) -> str:
    """A checkpoint with the weights that the model has now; what the Estimator starts from."""
    folder = os.path.join(config.model_dir, "keras")
    known = latest_checkpoint(folder)
    if known:
        return known
    # Weights that have not been used yet are drawn anew, as the configuration's seed has it.
    seen = eager_program() is not None or any(
        hasattr(each, "_keras_initialized") for each in model.weights
    )
    values = model.get_weights() if seen else None
    file_io.makedirs(folder)
    path = os.path.join(folder, "keras_model.ckpt")
    with Graph().as_default() as graph:
        set_random_seed(config.tf_random_seed)
        create_global_step()
        clone = _build(ModeKeys.TRAIN, model, custom_objects)
        clone._make_train_function()
        with Session(graph=graph, config=config.session_config) as session:
            if values is not None:
                clone.set_weights(values)
            K.initialize_variables(session)
            if by_objects:
                _count_steps_with_model(clone)
                clone.save_weights(path)
            else:
                Saver().save(session, path)
    return path
