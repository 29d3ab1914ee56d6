"""Whole models in HDF5 files: configuration, weights, and the state of the optimizer."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any

from weft.lib.keras.engine.network_saving import json_value
from weft.lib.keras.saving.hdf5 import (
    as_text,
    load_values,
    load_weights_from_hdf5_group,
    new_file,
    save_variables,
    save_weights_to_hdf5_group,
)
from weft.lib.keras.saving.hdf5_checks import check_contained, member, open_to_read
from weft.lib.keras.saving.model_config import model_from_config
from weft.lib.keras.saving.model_text import parse_json
from weft.lib.keras.saving.training_config import compile_arguments, is_tf_optimizer, model_metadata
from weft.lib.keras.utils.io_utils import import_h5py, may_write
from weft.lib.platform import tf_logging as logging


def opened(filepath: Any, purpose: str, to_write: bool = False) -> Any:
    """A file, opened and closed; one that is open already is left open."""
    h5py = import_h5py(purpose)
    if isinstance(filepath, h5py.Group):  # a File is one, too
        if not to_write:
            check_contained(filepath)
        return contextlib.nullcontext(filepath)
    return new_file(filepath, purpose) if to_write else open_to_read(filepath, purpose)


def save_model_to_hdf5(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True
) -> None:
    """Writes a model to a file, or to one that is open."""
    if isinstance(filepath, (str, os.PathLike)) and not may_write(filepath, overwrite):
        return
    with opened(filepath, "`save_model`", to_write=True) as file:
        for key, value in model_metadata(model, include_optimizer).items():
            if isinstance(value, (dict, list, tuple)):
                value = json.dumps(value, default=json_value).encode("utf8")
            file.attrs[key] = value
        save_weights_to_hdf5_group(file.create_group("model_weights"), model.layers)
        optimizer = getattr(model, "optimizer", None)
        if include_optimizer and optimizer and not is_tf_optimizer(optimizer) and optimizer.weights:
            save_variables(file.create_group("optimizer_weights"), optimizer.weights)
        file.flush()


def load_model_from_hdf5(filepath: Any, custom_objects: Any = None, compile: bool = True) -> Any:
    """The model of a file, compiled as it was when it was saved."""
    with opened(filepath, "`load_model`") as file:
        config = file.attrs.get("model_config")
        if config is None:
            raise ValueError("No model found in config file.")
        model = model_from_config(parse_json(as_text(config)), custom_objects)
        load_weights_from_hdf5_group(member(file, "model_weights"), model.layers)
        if compile:
            _compile(model, file, custom_objects)
    return model


def _compile(model: Any, file: Any, custom_objects: Any) -> None:
    config = file.attrs.get("training_config")
    if config is None:
        logging.warning(
            "No training configuration found in save file: the model was *not* compiled. Compile "
            "it manually."
        )
        return
    model.compile(**compile_arguments(parse_json(as_text(config)), custom_objects))
    if "optimizer_weights" not in file:
        return
    if not model._is_graph_network:
        logging.warning(
            "Sequential models without an `input_shape` passed to the first layer cannot reload "
            "their optimizer state. As a result, your model is starting with a freshly initialized "
            "optimizer."
        )
        return
    model._make_train_function()  # which makes the variables of the optimizer
    try:
        model.optimizer.set_weights(load_values(member(file, "optimizer_weights")))
    except ValueError:
        logging.warning(
            "Error in loading the saved optimizer state. As a result, your model is starting with "
            "a freshly initialized optimizer."
        )
