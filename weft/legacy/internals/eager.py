"""Names of `tensorflow.python.eager`: whether and how operations run at once."""

from __future__ import annotations

import weft as tf

GRAPH_MODE, EAGER_MODE = 0, 1


def in_eager_mode() -> bool:
    return bool(tf.executing_eagerly())


def in_graph_mode() -> bool:
    return not tf.executing_eagerly()


class _Context:
    """The state of eager execution."""

    executing_eagerly = staticmethod(tf.executing_eagerly)
    in_eager_mode = staticmethod(in_eager_mode)
    in_graph_mode = staticmethod(in_graph_mode)

    @property
    def device_name(self) -> None:
        """None: no device is asked for outside `tf.device`."""

    def num_gpus(self) -> int:
        from weft.lib.contrib.eager import modes

        return modes.num_gpus()

    def ensure_initialized(self) -> None:
        """Devices are there when they are first used."""


_context = _Context()


def context() -> _Context:
    return _context


def ensure_initialized() -> None:
    """Devices are there when they are first used."""
