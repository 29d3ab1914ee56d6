"""Looking into checkpoints, waiting for them, and starting variables from them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from weft.core.hints import hinted
from weft.graph.graph import device
from weft.graph.op_def import raw
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.management import latest_checkpoint
from weft.lib.train.checkpoint.reader import CheckpointReader, NewCheckpointReader
from weft.lib.train.checkpoint.saver_saveable import op_list_to_dict, saveable_objects_for_op
from weft.ops.kit.replicas import across_replicas
from weft.ops.state.variable_scope import _get_default_variable_store
from weft.ops.state.variables import Variable
from weft.storage import file_io


def _get_checkpoint_filename(ckpt_dir_or_file: str) -> str | None:
    if file_io.isdir(ckpt_dir_or_file):
        return latest_checkpoint(ckpt_dir_or_file)
    return ckpt_dir_or_file


def load_checkpoint(ckpt_dir_or_file: str) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest one in a directory."""
    path = _get_checkpoint_filename(ckpt_dir_or_file)
    if path is None:
        raise ValueError(
            f"Couldn't find 'checkpoint' file or checkpoints in given directory {ckpt_dir_or_file}"
        )
    return NewCheckpointReader(path)


def load_variable(ckpt_dir_or_file: str, name: str) -> Any:
    """The value of one variable in a checkpoint."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """(name, shape) of every variable in a checkpoint, in the order of their names."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


# ---- waiting ------------------------------------------------------------------------------------


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """The latest checkpoint once it is not `last_checkpoint`; None after `timeout` seconds."""
    logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    stop = None if timeout is None else time.time() + timeout
    while True:
        path = latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
            logging.info("Found new checkpoint at %s", path)
            return path
        if stop is not None and time.time() + seconds_to_sleep > stop:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Yields checkpoints as they appear.

    Ends when none came for `timeout` seconds, unless `timeout_fn` then says to go on (False).
    """
    last = None
    while True:
        path = wait_for_new_checkpoint(checkpoint_dir, last, timeout=timeout)
        if path is not None:
            last, next_time = path, time.time() + min_interval_secs
            yield path
            time.sleep(max(0.0, next_time - time.time()))
        elif _gives_up(timeout_fn):
            return


def _gives_up(timeout_fn: Callable[[], bool] | None) -> bool:
    if timeout_fn:
        return timeout_fn()
    logging.info("Timed-out waiting for a checkpoint.")
    return True


# ---- starting variables from a checkpoint -------------------------------------------------------


def _is_variable(x: Any) -> bool:
    return isinstance(x, Variable)


def init_from_checkpoint(ckpt_dir_or_file: str, assignment_map: dict[str, Any]) -> None:
    """Makes the initializers of variables load a checkpoint.

    `assignment_map` goes from names in the checkpoint to variables, lists of the parts of one, or
    names of variables; or from a scope to a scope ("old/" to "new/", "/" is the root).

    Args:
        ckpt_dir_or_file: a folder (its latest checkpoint) or a prefix.
        assignment_map: see above.

    Raises:
        ValueError: a name is in neither place, or shapes differ.
        tf.errors.OpError: the checkpoint cannot be read.

    Example:
        >>> v = tf.Variable(7, name="v")
        >>> session.run(v.initializer)
        >>> path = tf.train.Saver().save(session, "./model")
        >>> with tf.Graph().as_default(), tf.Session() as fresh:
        ...     w = tf.get_variable("w", [], tf.int32)
        ...     tf.train.init_from_checkpoint(path, {"v": w})
        ...     fresh.run(w.initializer)
        ...     int(fresh.run(w))
        7
    """
    # In replicas, once for all of them.
    across_replicas(lambda: _init_from_checkpoint(ckpt_dir_or_file, assignment_map))


def _init_from_checkpoint(ckpt_dir_or_file: str, assignment_map: dict[str, Any]) -> None:
    path = _get_checkpoint_filename(ckpt_dir_or_file)
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    existing = _get_default_variable_store()._vars
    for name, target in sorted(assignment_map.items(), key=lambda item: item[0]):
        variable = _variable_of(target, existing)
        if variable is None:
            pairs = _in_scope(name, target, existing, shapes, ckpt_dir_or_file)
        else:
            _check_fits(variable, name, shapes, ckpt_dir_or_file)
            pairs = [(variable, name)]
        for each, tensor_name in pairs:
            _set_variable_or_list_initializer(each, path, tensor_name)
            logging.debug(
                "Initialize variable %s from checkpoint %s with %s",
                ",".join(v.name for v in each) if isinstance(each, list) else each.name,
                ckpt_dir_or_file,
                tensor_name,
            )


def _variable_of(target: Any, existing: dict[str, Any]) -> Any:
    """The variable, or the list of its parts, that an item of the map means; None for a scope."""
    if _is_variable(target) or (isinstance(target, list) and all(map(_is_variable, target))):
        return target
    found = existing.get(target)
    return found if found is not None else _collect_partitioned_variable(target, existing)


def _collect_partitioned_variable(name: str, all_vars: dict[str, Any]) -> list[Any] | None:
    """The parts of the variable `name`, if it is partitioned."""
    parts: list[Any] = []
    while f"{name}/part_{len(parts)}" in all_vars:
        parts.append(all_vars[f"{name}/part_{len(parts)}"])
    return parts or None


def _check_fits(variable: Any, name: str, shapes: dict[str, list[int]], where: str) -> None:
    if name not in shapes:
        raise ValueError(f"Tensor {name} is not found in {where} checkpoint {shapes}")
    if _is_variable(variable) and not variable.shape.is_compatible_with(shapes[name]):
        raise ValueError(
            f"Shape of variable {variable.name} ({variable.shape}) doesn't match with shape of "
            f"tensor {name} ({shapes[name]}) from checkpoint reader."
        )


def _in_scope(
    old: str, new: str, existing: dict[str, Any], shapes: dict[str, list[int]], where: str
) -> list[tuple[Any, str]]:
    """(variable, name in the checkpoint) for all variables below the scope `new`."""
    scope = new.rpartition("/")[0]
    if not old.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {scope} should map to scope only {old}. Should "
            "be 'scope/': 'other_scope/'."
        )
    names = {
        name.partition("/part_")[0]
        for name in existing
        if not scope or name.startswith(f"{scope}/")
    }
    pairs = []
    for name in sorted(names):
        inner = name[len(scope) :] if new == "/" else name[len(scope) + 1 :]
        full = (inner if old == "/" else old + inner).removesuffix("/")
        if full not in shapes:
            inside = name[len(scope) + 1 :]
            error = ValueError(
                f"Tensor {full} ({inside} in {old}) is not found in {where} checkpoint"
            )
            raise hinted(error, full, shapes)
        pairs.append((_variable_of(name, existing), full))
    return pairs


def _set_variable_or_list_initializer(
    variable_or_list: Any, ckpt_file: str | None, tensor_name: str
) -> None:
    if not isinstance(variable_or_list, (list, tuple)):
        _set_checkpoint_initializer(variable_or_list, ckpt_file, tensor_name, "")
        return
    first = variable_or_list[0]._save_slice_info.full_name
    for variable in variable_or_list:
        info = variable._save_slice_info
        if info.full_name != first:
            raise ValueError(
                f"Slices must all be from the same tensor: {first} != {info.full_name}"
            )
        _set_checkpoint_initializer(variable, ckpt_file, tensor_name, info.spec)


def _set_checkpoint_initializer(
    variable: Any,
    ckpt_file: str | None,
    tensor_name: str,
    slice_spec: str,
    name: str = "checkpoint_initializer",
) -> None:
    """The variable starts with what the checkpoint holds, when its initializer is run."""
    with device(variable.device), device("/cpu:0"):
        (restored,) = raw.RestoreV2(
            ckpt_file, [tensor_name], [slice_spec], dtypes=[variable.dtype.base_dtype], name=name
        )
        (saveable,) = [
            saveable
            for key, op in op_list_to_dict([variable]).items()
            for saveable in saveable_objects_for_op(op, key)
        ]
    update = saveable.restore([restored], restored_shapes=None)
    variable._initializer_op = getattr(update, "op", update)
    restored.set_shape(variable.shape)
    variable._initial_value = restored
