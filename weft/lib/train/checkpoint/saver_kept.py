"""The checkpoints that a Saver has written and still keeps, and the one to go next."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from tensorboard.compat.proto.saver_pb2 import SaverDef

from weft.core import errors
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.management import get_checkpoint_mtimes, remove_checkpoint


class KeptCheckpoints:
    """The latest few, and one of every so many hours, as a SaverDef says."""

    saver_def: SaverDef | None

    def __init__(self) -> None:
        self._last_checkpoints: list[tuple[str, float]] = []
        self._checkpoints_to_be_deleted: list[tuple[str, float]] = []
        self._next_checkpoint_time = 0.0

    def _start_keeping(self) -> None:
        """The first checkpoint to stay for good is some hours away from now."""
        assert self.saver_def is not None
        hours = self.saver_def.keep_checkpoint_every_n_hours
        self._next_checkpoint_time = time.time() + hours * 3600

    @property
    def last_checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints that were not deleted, oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """Deprecated: as `set_last_checkpoints_with_time`, with times that keep them for good."""
        assert isinstance(last_checkpoints, list)
        self._last_checkpoints = [(path, np.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(
        self, last_checkpoints_with_time: list[tuple[str, float]]
    ) -> None:
        """Sets the list of checkpoints that this saver manages: (prefix, time)."""
        assert isinstance(last_checkpoints_with_time, list)
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths: list[str]) -> None:
        """Manages those of `checkpoint_paths` that exist, as after a restart."""
        times = {path: get_checkpoint_mtimes([path]) for path in checkpoint_paths}
        self.set_last_checkpoints_with_time([(path, t[0]) for path, t in times.items() if t])

    def _record(self, path: str) -> None:
        """Notes a new checkpoint; the oldest may become one to delete."""
        assert self.saver_def is not None
        most = self.saver_def.max_to_keep
        if most:
            kept = [each for each in self._last_checkpoints if each[0] != path]
            kept.append((path, time.time()))
            if len(kept) > most:
                self._checkpoints_to_be_deleted.append(kept.pop(0))
            self._last_checkpoints = kept

    def _delete_old(self, meta_graph_suffix: str) -> None:
        assert self.saver_def is not None
        if not self._checkpoints_to_be_deleted:
            return
        path, saved = self._checkpoints_to_be_deleted.pop(0)
        if saved <= self._next_checkpoint_time:
            _remove(path, self.saver_def.version, meta_graph_suffix)
        else:
            self._next_checkpoint_time += self.saver_def.keep_checkpoint_every_n_hours * 3600


def _remove(path: str, version: Any, meta_graph_suffix: str) -> None:
    try:
        remove_checkpoint(path, version, meta_graph_suffix)
    except errors.OpError as error:
        logging.warning("Ignoring: %s", error)
