"""The checkpoints of a directory: the `checkpoint` file, and the files of a prefix."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from google.protobuf import text_format
from tensorboard.compat.proto.saver_pb2 import SaverDef

from weft.core import errors
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.default_session import get_session
from weft.ops.kit.eager import executing_eagerly
from weft.ops.state import global_step as training_util
from weft.ops.state.variable_scope import variable_creator_scope
from weft.protos.checkpoint import CheckpointState
from weft.protos.text import merge_text
from weft.storage import file_io
from weft.storage.bundle import index_path

# ---- the `checkpoint` file ----------------------------------------------------------------------


def _state_path(save_dir: str, latest_filename: str | None) -> str:
    return os.path.join(save_dir, latest_filename or "checkpoint")


def _relative(path: str, directory: str) -> str:
    return path if os.path.isabs(path) else os.path.relpath(path, directory)


def generate_checkpoint_state_proto(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """A CheckpointState with these paths, relative to `save_dir` where that is relative.

    The latest checkpoint is added at the end of all paths if it is not there.
    """
    # A list that was given grows, too: callers look at it afterwards.
    given = all_model_checkpoint_paths
    paths = given if isinstance(given, list) else list(given or ())
    if not paths or paths[-1] != model_checkpoint_path:
        logging.info(
            "%s is not in all_model_checkpoint_paths. Manually adding it.", model_checkpoint_path
        )
        paths.append(model_checkpoint_path)
    times = all_model_checkpoint_timestamps
    if times and len(times) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {times})"
        )
    if not os.path.isabs(save_dir):
        model_checkpoint_path = _relative(model_checkpoint_path, save_dir)
        paths[:] = [_relative(path, save_dir) for path in paths]
    return CheckpointState(
        model_checkpoint_path=model_checkpoint_path,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the `checkpoint` file of a directory."""
    update_checkpoint_state_internal(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        latest_filename,
        False,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )


def update_checkpoint_state_internal(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    save_relative_paths: bool = False,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """As `update_checkpoint_state`; with relative paths the directory can be moved."""

    def shown(path: str) -> str:
        inside = save_relative_paths and os.path.isabs(path)
        return os.path.relpath(path, save_dir) if inside else path

    state = generate_checkpoint_state_proto(
        save_dir,
        shown(model_checkpoint_path),
        [shown(path) for path in all_model_checkpoint_paths or ()],
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )
    path = _state_path(save_dir, latest_filename)
    if path == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  "
            "Please use a different save path."
        )
    # Readers see the old content or the new one, never a part.
    file_io.atomic_write_string_to_file(path, text_format.MessageToString(state))


def get_checkpoint_state(checkpoint_dir: str, latest_filename: str | None = None) -> Any:
    """The CheckpointState of a directory, with full paths; None if there is none to be read.

    Args:
        checkpoint_dir: the folder that a saver wrote to.
        latest_filename: the file with the list of checkpoints; None: "checkpoint".

    Returns:
        A message with `model_checkpoint_path`, the newest, and `all_model_checkpoint_paths`; or
        None.

    Example:
        >>> tf.train.get_checkpoint_state("/no/such/folder") is None
        True
    """
    path = _state_path(checkpoint_dir, latest_filename)
    try:
        if not file_io.exists(path):
            return None
        state = merge_text(file_io.read_file_to_string(path), CheckpointState())
    except (errors.OpError, text_format.ParseError, UnicodeDecodeError) as error:
        logging.warning("%s: %s", type(error).__name__, error)
        logging.warning("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    # os.path.join leaves absolute paths alone.
    state.model_checkpoint_path = os.path.join(checkpoint_dir, state.model_checkpoint_path)
    paths = state.all_model_checkpoint_paths
    paths[:] = [os.path.join(checkpoint_dir, path) for path in paths]
    return state


# ---- checkpoints by prefix ----------------------------------------------------------------------


def _main_files(checkpoint_prefix: str) -> list[str]:
    """The file that stands for a checkpoint: a V2 index, or else the V1 files of that name."""
    prefix = os.fspath(checkpoint_prefix)
    return file_io.glob(index_path(prefix)) or file_io.glob(prefix)


def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """The prefix of the newest checkpoint in a directory, or None.

    Args:
        checkpoint_dir: the folder that a saver wrote to.
        latest_filename: the file with the list of checkpoints; None: "checkpoint".

    Returns:
        A path to give to `Saver.restore`, or None.

    Example:
        >>> v = tf.Variable(1)
        >>> session.run(v.initializer)
        >>> _ = tf.train.Saver().save(session, "./model", global_step=3)
        >>> tf.train.latest_checkpoint(".")
        './model-3'
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is not None and state.model_checkpoint_path:
        if _main_files(state.model_checkpoint_path):
            return str(state.model_checkpoint_path)
        logging.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Whether there is a checkpoint, of either format, at a prefix."""
    return bool(_main_files(checkpoint_prefix))


checkpoint_exists_internal = checkpoint_exists


def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[str]) -> list[float]:
    """When those of the checkpoints that exist were last changed, in seconds."""
    found = [_main_files(prefix) for prefix in checkpoint_prefixes]
    return [file_io.stat(files[0]).mtime_nsec / 1e9 for files in found if files]


def remove_checkpoint(
    checkpoint_prefix: str,
    checkpoint_format_version: Any = SaverDef.V2,
    meta_graph_suffix: str = "meta",
) -> None:
    """Deletes the files of a checkpoint, and the MetaGraph beside them."""
    _delete(meta_graph_filename(checkpoint_prefix, meta_graph_suffix))
    if checkpoint_format_version == SaverDef.V2:
        _delete_bundle(checkpoint_prefix)
    else:
        _delete(checkpoint_prefix)


def _delete_bundle(prefix: str) -> None:
    # The index goes first: without it the remaining files are not taken for a checkpoint.
    _delete(index_path(prefix))
    _delete(f"{prefix}.data-?????-of-?????")


def _delete(pattern: str) -> None:
    for path in file_io.glob(pattern):
        file_io.remove(path)


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """The MetaGraph's file beside a checkpoint, of which all shards have the same one."""
    base = re.sub(r"-[\d\?]+-of-\d+$", "", checkpoint_filename)
    return f"{base}.{meta_graph_suffix}"


# ---- CheckpointManager --------------------------------------------------------------------------


class CheckpointManager:
    """Numbers the checkpoints of a `tf.train.Checkpoint` and deletes old ones.

    It goes on where an earlier manager of the same directory stopped.
    """

    def __init__(
        self,
        checkpoint: Any,
        directory: str,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                "Expected a positive integer or `None` for `max_to_max_to_keep`, got "
                f"{max_to_keep}."
            )
        self._checkpoint, self._directory = checkpoint, directory
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._checkpoint_prefix = os.path.join(directory, checkpoint_name)
        self._save_counter_assign: Any = None
        self._maybe_delete: dict[str, float] = {}
        self._latest_checkpoint: str | None = None
        # A second early, so that what is saved at once counts as later than this.
        self._last_preserved_timestamp = time.time() - 1.0
        self._recover()

    def _recover(self) -> None:
        state, now = get_checkpoint_state(self._directory), time.time()
        if state is None:
            return
        self._latest_checkpoint = state.model_checkpoint_path
        preserved = self._last_preserved_timestamp = state.last_preserved_timestamp
        if now < preserved:
            logging.warning(
                "time.time() returned a value %f seconds behind the last preserved checkpoint "
                "timestamp.",
                preserved - now,
            )
            preserved = self._last_preserved_timestamp = now
        paths = state.all_model_checkpoint_paths
        times = state.all_model_checkpoint_timestamps or [preserved] * len(paths)
        for path, saved in zip(paths, times, strict=False):
            if min(saved, now) > preserved:
                self._maybe_delete[path] = min(saved, now)

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the newest checkpoint, or None."""
        return self._latest_checkpoint

    @property
    def checkpoints(self) -> list[str]:
        """The managed checkpoints, oldest first, without those that are kept for good."""
        return list(self._maybe_delete)

    @property
    def _prefix(self) -> str:
        return self._checkpoint_prefix

    def _sweep(self) -> None:
        if not self._max_to_keep:
            return
        hours = self._keep_checkpoint_every_n_hours
        while len(self._maybe_delete) > self._max_to_keep:
            path = next(iter(self._maybe_delete))
            saved = self._maybe_delete.pop(path)
            if hours and saved - hours * 3600.0 >= self._last_preserved_timestamp:
                self._last_preserved_timestamp = saved
            else:
                _delete_bundle(path)

    def _record_state(self) -> None:
        assert self._latest_checkpoint is not None
        update_checkpoint_state_internal(
            self._directory,
            model_checkpoint_path=self._latest_checkpoint,
            all_model_checkpoint_paths=list(self._maybe_delete),
            all_model_checkpoint_timestamps=list(self._maybe_delete.values()),
            last_preserved_timestamp=self._last_preserved_timestamp,
            save_relative_paths=True,
        )

    def _count_save(self, session: Any) -> Any:
        """Adds one to the number of saves; returns its variable."""
        if session is None:
            self._checkpoint.save_counter.assign_add(1)
            return self._checkpoint.save_counter
        with variable_creator_scope(partial(_initialized, session)):
            counter = self._checkpoint.save_counter
        if self._save_counter_assign is None:
            self._save_counter_assign = counter.assign_add(1, read_value=False)
        session.run(self._save_counter_assign)
        return counter

    def save(self, checkpoint_number: Any = None) -> str:
        """Saves in the default session; returns the new checkpoint's prefix."""
        session = None if executing_eagerly() else get_session()
        counter = self._count_save(session)
        number = counter if checkpoint_number is None else checkpoint_number
        if not isinstance(number, int):
            number = int(number) if session is None else training_util.global_step(session, number)
        path: str = self._checkpoint.write(f"{self._prefix}-{number}")
        self._maybe_delete.pop(path, None)
        self._maybe_delete[path] = time.time()
        self._latest_checkpoint = path
        # Recorded before anything is deleted: a reader in between finds the new one.
        self._record_state()
        self._sweep()
        self._record_state()
        return path


def _initialized(session: Any, next_creator: Any, **arguments: Any) -> Any:
    """A variable that is initialized as soon as it is made."""
    variable = next_creator(**arguments)
    session.run(variable.initializer)
    return variable
