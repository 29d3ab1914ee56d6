"""Savers of eager execution that go by the names of variables."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from weft.core import errors
from weft.graph.graph import get_default_graph
from weft.lib.train.checkpoint import saver
from weft.lib.train.checkpoint.reader import NewCheckpointReader
from weft.ops.kit.eager import executing_eagerly


class Saver:
    """Saves variables by name, and restores them."""

    def __init__(self, var_list: Any) -> None:
        if not executing_eagerly():
            raise RuntimeError(
                "tfe.Saver can only be used when eager execution is enabled. Use tf.train.Saver"
                " when building graphs."
            )
        self._saver = saver.Saver(var_list=var_list)

    def save(self, file_prefix: str, global_step: Any = None) -> str:
        """The prefix of the checkpoint that was written."""
        path: str = self._saver.save(None, file_prefix, global_step=global_step)  # type: ignore[assignment]
        return path

    def restore(self, file_prefix: str) -> None:
        """Sets the variables to what a checkpoint holds."""
        self._saver.restore(None, file_prefix)


@contextlib.contextmanager
def restore_variables_on_create(
    save_path: str | None, map_func: Callable[[str], str] | None = None
) -> Iterator[None]:
    """Variables made inside start with what a checkpoint has for their names."""
    if not executing_eagerly():
        raise ValueError(
            "Currently, restore_variables_on_create can only be used with eager execution enabled."
        )
    if not save_path:
        yield
        return
    if map_func is not None and not callable(map_func):
        raise ValueError("map_func must be callable.")
    reader = NewCheckpointReader(save_path)
    shapes = reader.get_variable_to_shape_map()
    renamed = map_func or (lambda name: name)

    def value(name: str) -> Any:
        key = renamed(name)
        if key not in shapes:
            raise errors.NotFoundError(None, None, f"{key} not found in checkpoint")
        return reader.get_tensor(key)

    values = get_default_graph().initial_values  # type: ignore[attr-defined]
    values.append(value)
    try:
        yield
    finally:
        values.remove(value)


def get_optimizer_variables(optimizer: Any) -> list[Any]:
    """The variables that an optimizer keeps."""
    return list(optimizer.variables())
