"""Models as SavedModels: graphs to train, to evaluate and to serve, and the model as JSON.

The checkpoint of the folder is one of objects, so that weights can be read back into a model that
is made from the JSON; the graphs restore from it too.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

from weft.client.session import Session
from weft.core import compat, nest
from weft.graph.graph import Graph, GraphKeys, add_to_collection, get_collection_ref
from weft.lib.keras import backend as K
from weft.lib.keras.engine.cloning import clone_and_build_model
from weft.lib.keras.engine.network_saving import json_value
from weft.lib.keras.saving.model_config import model_from_json
from weft.lib.keras.saving.model_text import parse_json
from weft.lib.keras.saving.training_config import compile_arguments, training_config
from weft.lib.keras.utils.io_utils import ask_to_proceed_with_overwrite
from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model import constants
from weft.lib.saved_model.builder import SavedModelBuilder
from weft.lib.saved_model.export_outputs import EvalOutput, PredictOutput, TrainOutput
from weft.lib.saved_model.export_signatures import TAGS, build_all_signature_defs
from weft.lib.saved_model.files import path_in, variables_path
from weft.lib.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from weft.lib.train.checkpoint.objects import ObjectGraph
from weft.lib.train.checkpoint.saver import Saver
from weft.ops.state.variable_lists import local_variables_initializer
from weft.storage import file_io

MODEL_JSON = "saved_model.json"
TRAINING_JSON = "training_config.json"
MODES = ("train", "eval", "infer")
# What a SavedModel is made of; the graphs come last, since they make a folder one.
PARTS = (
    constants.VARIABLES_DIRECTORY,
    constants.ASSETS_DIRECTORY,
    constants.SAVED_MODEL_FILENAME_PBTXT,
    constants.SAVED_MODEL_FILENAME_PB,
)


def export_saved_model(
    model: Any,
    saved_model_path: Any,
    custom_objects: dict[str, Any] | None = None,
    as_text: bool = False,
    input_signature: Any = None,
    serving_only: bool = False,
) -> None:
    """Writes a model to a folder.

    A compiled one is written with graphs to train and to evaluate it, unless `serving_only`.
    """
    path = compat.as_str(saved_model_path)
    _check(model, serving_only)
    builder = SavedModelBuilder(path)
    file_io.makedirs(path_in(path, constants.VARIABLES_DIRECTORY))
    compiled = bool(getattr(model, "optimizer", None)) and not serving_only
    graphs = _Graphs(builder, model, variables_path(path), custom_objects, input_signature)
    if serving_only:
        graphs.add_own()
    else:
        model.save_weights(variables_path(path), save_format="tf", overwrite=True)
        for mode in MODES if compiled else MODES[2:]:
            graphs.add(mode)
    builder.save(as_text)
    try:
        _write_asset(path, MODEL_JSON, model.to_json())
    except NotImplementedError:
        logging.warning(
            "Skipped saving model JSON, subclassed model does not have get_config() defined."
        )


def _check(model: Any, serving_only: bool) -> None:
    if model._is_graph_network or serving_only:
        return
    if type(model).__name__ != "Sequential":
        raise NotImplementedError(
            "Subclassed models can only be exported for serving. Please set argument "
            "serving_only=True."
        )
    if not model.built:
        raise ValueError(
            "Weights for sequential model have not yet been created. Weights are created when the "
            "Model is first called on inputs or `build()` is called with an `input_shape`, or the "
            "first layer in the model has `input_shape` during construction."
        )


class _Graphs:
    """Adds graphs of one model to a SavedModel."""

    def __init__(
        self, builder: Any, model: Any, prefix: str, custom_objects: Any, input_signature: Any
    ) -> None:
        self.builder, self.model, self.prefix = builder, model, prefix
        self.custom_objects, self.input_signature = custom_objects, input_signature

    def add(self, mode: str) -> None:
        """A graph of its own, in which the model is built for `mode`."""
        compiled = mode != "infer"
        with Graph().as_default() as graph, K.learning_phase_scope(int(mode == "train")):
            inputs = nest.map_structure(_placeholder, self.input_signature)
            clone = clone_and_build_model(
                self.model,
                None if self.input_signature is None else inputs,
                custom_objects=self.custom_objects,
                compile_clone=compiled,
            )
            if compiled:
                add_to_collection(GraphKeys.GLOBAL_STEP, clone.optimizer.iterations)
            train_op = _made_function(clone, mode)
            get_collection_ref(GraphKeys.UPDATE_OPS).extend(clone.state_updates)
            with Session(graph=graph):
                self._add(clone, mode, train_op)

    def _add(self, clone: Any, mode: str, train_op: Any) -> None:
        clone.load_weights(self.prefix)
        if not self.builder._has_saved_variables:
            # With what training adds to the model: the state of the optimizer.
            clone.save_weights(self.prefix, save_format="tf", overwrite=True)
            self.builder._has_saved_variables = True
        _, saveables = ObjectGraph(clone).serialize()
        if train_op is not None:
            add_to_collection(constants.TRAIN_OP_KEY, train_op)
        self.builder.add_meta_graph(
            TAGS[mode],
            signature_def_map=_signatures(clone, mode),
            saver=Saver(saveables, allow_empty=True),
            main_op=local_variables_initializer(),
        )

    def add_own(self) -> None:
        """The graph that the model is in, for serving."""
        inputs = dict(zip(self.model.input_names, self.model.inputs, strict=True))
        outputs = dict(zip(self.model.output_names, self.model.outputs, strict=True))
        exported = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(outputs)}
        self.model.save_weights(self.prefix, save_format="tf", overwrite=True)
        self.builder._has_saved_variables = True
        _, saveables = ObjectGraph(self.model).serialize()
        self.builder.add_meta_graph(
            TAGS["infer"],
            signature_def_map=build_all_signature_defs(inputs, exported),
            saver=Saver(saveables, allow_empty=True),
        )


def _placeholder(spec: Any) -> Any:
    return None if spec is None else K.placeholder(spec.shape, dtype=spec.dtype, name=spec.name)


def _made_function(clone: Any, mode: str) -> Any:
    """Builds what the model does in a mode; of training, the operation that does a step."""
    if mode == "train":
        clone._make_train_function()
        return clone.train_function.updates_op
    if mode == "eval":
        clone._make_test_function()
    else:
        clone._make_predict_function()
    return None


def _signatures(model: Any, mode: str) -> dict[str, Any]:
    inputs = dict(zip(model.input_names, model.inputs, strict=True))
    outputs = dict(zip(model.output_names, model.outputs, strict=True))
    if mode == "infer":
        exported: Any = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(outputs)}
        return build_all_signature_defs(inputs, exported)
    inputs |= {t.name.split(":")[0]: t for t in model._targets if t is not None}
    metrics = {m.name: (m.result(), m.updates[0]) for m in model._compile_metric_functions}
    local = get_collection_ref(GraphKeys.LOCAL_VARIABLES)
    for variable in [v for m in model._compile_metric_functions for v in m.variables]:
        if not any(variable is each for each in local):
            local.append(variable)
    kind = TrainOutput if mode == "train" else EvalOutput
    exported = {mode: kind(model.total_loss, outputs, metrics or None)}
    return build_all_signature_defs(inputs, exported, serving_only=False)


def _write_asset(path: str, name: str, text: str) -> None:
    file_io.makedirs(path_in(path, constants.ASSETS_DIRECTORY))
    file_io.write_string_to_file(path_in(path, constants.ASSETS_DIRECTORY, name), text)


def _read_asset(path: str, name: str) -> str | None:
    file = path_in(path, constants.ASSETS_DIRECTORY, name)
    return file_io.read_file_to_string(file) if file_io.exists(file) else None


def load_from_saved_model(
    saved_model_path: Any,
    custom_objects: dict[str, Any] | None = None,
    *,
    safe_mode: bool | None = None,
) -> Any:
    """The model that `export_saved_model` wrote, not compiled."""
    path = compat.as_str(saved_model_path)
    described = _read_asset(path, MODEL_JSON)
    if described is None:
        raise OSError(f"No Keras model in the SavedModel {path}: there is no assets/{MODEL_JSON}.")
    model = model_from_json(described, custom_objects=custom_objects, safe_mode=safe_mode)
    model.load_weights(variables_path(path))
    return model


# ---- save_format="tf" ----


def save_as_saved_model(
    model: Any, filepath: Any, overwrite: bool, include_optimizer: bool, signatures: Any
) -> None:
    """Writes a model, with what it was compiled with, to a folder for `load_saved_model`."""
    path = os.fspath(filepath)
    if signatures is not None:
        raise NotImplementedError("`signatures` of a Keras model are those of its inputs.")
    if os.path.exists(path) and not overwrite and not ask_to_proceed_with_overwrite(path):
        return
    subclassed = not model._is_graph_network and type(model).__name__ != "Sequential"
    with _replaced(path) as made:
        export_saved_model(model, made, serving_only=subclassed or not include_optimizer)
        if include_optimizer and getattr(model, "optimizer", None):
            config = training_config(model)
            if config is not None:
                _write_asset(made, TRAINING_JSON, json.dumps(config, default=json_value))


@contextlib.contextmanager
def _replaced(path: str) -> Iterator[str]:
    """A folder to write a SavedModel for `path` in; it gets there when it is complete.

    What else is in the folder stays, and so does the model that was there, should something fail.
    """
    # Beside it or, since a folder that is there may be a disk of its own, in it.
    near = path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))
    os.makedirs(near, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".saved_model_", dir=near) as folder:
        made = os.path.join(folder, "model")
        yield made
        os.makedirs(path, exist_ok=True)
        for name in PARTS:
            _remove(os.path.join(path, name))
            if os.path.exists(os.path.join(made, name)):
                os.replace(os.path.join(made, name), os.path.join(path, name))


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def load_saved_model(filepath: Any, custom_objects: Any = None, compile: bool = True) -> Any:
    """The model of a folder, compiled as it was."""
    path = os.fspath(filepath)
    model = load_from_saved_model(path, custom_objects)
    config = _read_asset(path, TRAINING_JSON)
    if compile and config is not None:
        model.compile(**compile_arguments(parse_json(config), custom_objects))
        model.load_weights(variables_path(path))
    return model
