"""tf.keras.models.save_model and load_model: whole models, in either format."""

from __future__ import annotations

import os
from typing import Any

from weft.lib.keras.saving.hdf5_model import load_model_from_hdf5, save_model_to_hdf5
from weft.lib.keras.saving.saved_model import load_saved_model, save_as_saved_model
from weft.lib.keras.saving.weights import is_hdf5_path
from weft.lib.keras.utils.safe_mode import safe_mode_scope
from weft.lib.saved_model.files import contains_saved_model


def save_model(
    model: Any,
    filepath: Any,
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: Any = None,
) -> None:
    """Writes a model with its weights, and with its optimizer unless that is not wanted.

    `save_format` is "h5" (one file) or "tf" (the folder of a SavedModel).
    """
    is_open_file = hasattr(filepath, "create_group")
    if (save_format or "h5") != "h5" and not is_open_file and not is_hdf5_path(filepath):
        save_as_saved_model(model, filepath, overwrite, include_optimizer, signatures)
        return
    if not model._is_graph_network and type(model).__name__ != "Sequential":
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a "
            "Sequential model. It does not work for subclassed models, because such models are "
            "defined via the body of a Python method, which isn't safely serializable. Consider "
            'saving to the Tensorflow SavedModel format (by setting save_format="tf") or using '
            "`save_weights`."
        )
    save_model_to_hdf5(model, filepath, overwrite, include_optimizer)


def load_model(
    filepath: Any,
    custom_objects: Any = None,
    compile: bool = True,
    *,
    safe_mode: bool | None = None,
) -> Any:
    """The model that `save_model` wrote, compiled as it was.

    With `safe_mode`, as by default, code of Lambda layers that others wrote is refused.
    """
    with safe_mode_scope(safe_mode):
        return _load(filepath, custom_objects, compile)


def _load(filepath: Any, custom_objects: Any, compile: bool) -> Any:
    if hasattr(filepath, "create_group") or os.path.isfile(filepath):
        if _is_hdf5(filepath):
            return load_model_from_hdf5(filepath, custom_objects, compile)
    elif contains_saved_model(filepath):
        return load_saved_model(filepath, custom_objects, compile)
    if isinstance(filepath, str):
        raise OSError(
            f"SavedModel file does not exist at: {filepath}/{{saved_model.pbtxt|saved_model.pb}}"
        )
    raise OSError(
        "Unable to load model. Filepath is not an hdf5 file (or h5py is not available) or "
        "SavedModel."
    )


def _is_hdf5(filepath: Any) -> bool:
    if hasattr(filepath, "create_group"):
        return True
    with open(filepath, "rb") as file:
        return file.read(8) == b"\x89HDF\r\n\x1a\n"
