"""Weights alone: as HDF5, or as a TensorFlow checkpoint of the model's objects."""

from __future__ import annotations

import os
from typing import Any

from weft.core import errors
from weft.graph.graph import control_dependencies, device
from weft.graph.op_def import raw
from weft.lib.keras import backend as K
from weft.lib.keras.backend.graph_state import state_of
from weft.lib.keras.backend.symbolic import eager_program, runs_eagerly
from weft.lib.keras.saving.hdf5 import (
    load_weights_from_hdf5_group,
    load_weights_from_hdf5_group_by_name,
    new_file,
    save_weights_to_hdf5_group,
)
from weft.lib.keras.saving.hdf5_checks import member, open_to_read
from weft.lib.keras.utils.io_utils import import_h5py, may_write
from weft.lib.train.checkpoint.checkpoint import CheckpointLoadStatus, ObjectSaver
from weft.lib.train.checkpoint.management import update_checkpoint_state_internal
from weft.lib.train.checkpoint.reader import NewCheckpointReader
from weft.ops.state.variables import Variable

HDF5_ENDINGS = (".h5", ".keras", ".hdf5")
FORMATS = {"tensorflow": "tf", "tf": "tf", "hdf5": "h5", "h5": "h5", "keras": "h5"}


def is_hdf5_path(filepath: Any) -> bool:
    """Whether a path is called as HDF5 files are."""
    return str(filepath).endswith(HDF5_ENDINGS)


def save_weights(
    model: Any, filepath: Any, overwrite: bool = True, save_format: str | None = None
) -> None:
    """Writes the weights of a model; a checkpoint has the variables of its optimizer too."""
    model._assert_weights_created()
    filepath = os.fspath(filepath)
    chosen = _format(filepath, save_format)
    if not may_write(f"{filepath}.index" if chosen == "tf" else filepath, overwrite):
        return
    if chosen == "h5":
        with new_file(filepath, "`save_weights` in the format hdf5") as file:
            save_weights_to_hdf5_group(file, model.layers)
        return
    if runs_eagerly():
        _saver(model).save_eagerly(filepath)
    else:
        _saver(model).save(filepath, K.get_session())
    update_checkpoint_state_internal(
        save_dir=os.path.dirname(filepath),
        model_checkpoint_path=filepath,
        all_model_checkpoint_paths=[filepath],
        save_relative_paths=True,
    )


def _format(filepath: str, save_format: str | None) -> str:
    if save_format is None:
        return "h5" if is_hdf5_path(filepath) else "tf"
    chosen = FORMATS.get(save_format.lower().strip())
    if chosen is None:
        raise ValueError(f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.')
    if chosen == "tf" and is_hdf5_path(filepath):
        raise ValueError(
            f'save_weights got save_format="tf"/"tensorflow", but the filepath ("{filepath}") '
            'looks like an HDF5 file. Omit the ".h5"/".keras" when saving in TensorFlow format.'
        )
    return chosen


def load_weights(model: Any, filepath: Any, by_name: bool = False) -> Any:
    """Reads what `save_weights` wrote; of a checkpoint, returns what became of it.

    With `by_name`, layers take the weights that were saved under their names.
    """
    filepath = os.fspath(filepath)
    if _is_checkpoint(filepath):
        return _load_checkpoint(model, filepath, by_name)
    import_h5py("`load_weights` from HDF5")
    model._assert_weights_created()
    with open_to_read(filepath, "`load_weights` from HDF5") as file:
        group = file
        if "layer_names" not in file.attrs and "model_weights" in file:
            group = member(file, "model_weights")  # of a whole model
        load = load_weights_from_hdf5_group_by_name if by_name else load_weights_from_hdf5_group
        load(group, model.layers)
    return None


def _is_checkpoint(filepath: str) -> bool:
    if is_hdf5_path(filepath):
        return False
    try:
        NewCheckpointReader(filepath)
    except errors.DataLossError:
        return False
    return True


def _load_checkpoint(model: Any, filepath: str, by_name: bool) -> Any:
    if by_name:
        raise NotImplementedError(
            "Weights may only be loaded based on topology into Models when loading "
            "TensorFlow-formatted weights (got by_name=True to load_weights)."
        )
    status = _saver(model).restore(filepath)
    status.assert_nontrivial_match()
    program = eager_program()
    if program is not None:
        status.run_restore_ops()
        if isinstance(status, CheckpointLoadStatus):
            later = vars(model)["_restores_later"] = _RestoreLater(model, status)
            program.restoring.add(later)
        return status
    session = K.get_session()
    if isinstance(status, CheckpointLoadStatus):
        _RestoreLater(model, status)(session)
    else:
        status.run_restore_ops(session)
    return status


class _RestoreLater:
    """Sets what a model has of a checkpoint's variables, now and when Keras makes more of them.

    Those come with the first call of a class of one's own, and with the first step of an optimizer.
    """

    def __init__(self, model: Any, status: CheckpointLoadStatus) -> None:
        self._model, self._status = model, status
        self._done: dict[int, Any] = {}

    def into_initializers(self) -> None:
        """Variables that the model has by now start, in any session, as the checkpoint has them."""
        for number, variable in self._status._matched().items():
            if isinstance(variable, Variable) and id(variable) not in self._done:
                self._done[id(variable)] = variable
                attributes = self._status._message.nodes[number].attributes
                keys = [a.checkpoint_key for a in attributes if a.name == "VARIABLE_VALUE"]
                if keys:
                    _start_from(variable, self._status._path, keys[0])

    def _restore_new_variables(self) -> None:
        """In eager execution, before variables made since are used."""
        self._status.run_restore_ops()

    def __call__(self, session: Any) -> None:
        waiting = state_of(session.graph).restores
        waiting.pop(id(self._model), None)
        with session.graph.as_default():
            complete = self._status.restore_what_is_new(session, self._done)
        if not complete:
            waiting[id(self._model)] = self


def _start_from(variable: Any, path: str, key: str) -> None:
    """Makes the initializer of a variable read it from a checkpoint."""
    with variable.graph.as_default(), control_dependencies(None):
        with device("/cpu:0"):
            value = raw.RestoreV2(path, [key], [""], [variable.dtype.base_dtype])[0]
        value.set_shape(variable.shape)
        started = variable.assign(value, read_value=False)
    variable._initializer_op = getattr(started, "op", started)


def _saver(model: Any) -> ObjectSaver:
    """The saver of a model's objects, kept with the model: it keeps the nodes it made."""
    saver = vars(model).get("_object_saver")
    if saver is None:
        saver = vars(model)["_object_saver"] = ObjectSaver(model)
    return saver
