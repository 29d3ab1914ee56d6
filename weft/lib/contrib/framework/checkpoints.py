"""Setting variables from checkpoints, and looking into checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.lib.contrib.framework.variables import get_variable_full_name, placeholder_for
from weft.lib.platform import tf_logging
from weft.lib.train.checkpoint import inspection
from weft.lib.train.checkpoint.reader import CheckpointReader, NewCheckpointReader
from weft.lib.train.checkpoint.saver import Saver
from weft.ops.control import control


def assign_from_checkpoint(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """An op that sets variables from a checkpoint, and what to feed it.

    `var_list` is a list, or names in the checkpoint -> a variable or the parts of one.
    """
    reader = NewCheckpointReader(model_path)
    assigned, feeds = [], {}
    for name, variables in _by_name(var_list).items():
        if not reader.has_tensor(name):
            if not ignore_missing_vars:
                raise ValueError(f"Checkpoint is missing variable [{name}]")
            tf_logging.warning(f"Checkpoint is missing variable [{name}]")
            continue
        value = reader.get_tensor(name)
        for var in variables:
            fed = placeholder_for(var)
            assigned.append(var.assign(fed))
            feeds[fed] = _part(name, value, var)
    return control.group(*assigned), feeds


def _by_name(var_list: Any) -> dict[str, list[Any]]:
    grouped: dict[str, list[Any]] = {}
    if isinstance(var_list, (tuple, list)):
        for var in var_list:
            grouped.setdefault(get_variable_full_name(var), []).append(var)
        return grouped
    for name, value in var_list.items():
        grouped[name] = list(value) if isinstance(value, (tuple, list)) else [value]
    return grouped


def _part(name: str, value: Any, var: Any) -> Any:
    """The part of a whole `value` that belongs to `var`."""
    info = getattr(var, "_save_slice_info", None)
    if info:
        pairs = zip(info.var_offset, info.var_shape, strict=True)
        return value[tuple(slice(start, start + size) for start, size in pairs)]
    if var.shape != value.shape:
        raise ValueError(
            f"Total size of new array must be unchanged for {name} lh_shape: [{value.shape}], "
            f"rh_shape: [{var.shape}]"
        )
    return value


def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Any,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """A function of a session that restores `var_list` from a checkpoint."""
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        var_list = _present(model_path, var_list)
    if not var_list:
        tf_logging.warning("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


def _present(model_path: str, var_list: Any) -> dict[str, Any]:
    reader = NewCheckpointReader(model_path)
    named = var_list if isinstance(var_list, dict) else {var.op.name: var for var in var_list}
    for name in named:
        if not reader.has_tensor(name):
            tf_logging.warning(f"Variable {name} missing in checkpoint {model_path}")
    return {name: var for name, var in named.items() if reader.has_tensor(name)}


# ---- `tf.train` has these, too, with other names of arguments ----


def load_checkpoint(filepattern: str) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest one in a directory."""
    return inspection.load_checkpoint(filepattern)


def load_variable(checkpoint_dir: str, name: str) -> Any:
    """The value of one variable in a checkpoint."""
    return inspection.load_variable(checkpoint_dir, name)


def list_variables(checkpoint_dir: str) -> list[tuple[str, list[int]]]:
    """(name, shape) of every variable in a checkpoint."""
    return inspection.list_variables(checkpoint_dir)


def init_from_checkpoint(checkpoint_dir: str, assignment_map: dict[str, Any]) -> None:
    """Lets variables start from what a checkpoint has for them."""
    inspection.init_from_checkpoint(checkpoint_dir, assignment_map)
