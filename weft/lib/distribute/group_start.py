"""The same start in all processes of a group: what the first has, all get."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import device, name_scope
from weft.lib.distribute import group_ops
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.management import get_checkpoint_state
from weft.lib.train.sessions.session_run_hook import SessionRunHook
from weft.ops.control import control
from weft.ops.kit.process_group import current
from weft.ops.state.variable_lists import global_variables


def broadcast_variables(variables: Any, root: int = 0) -> Any:
    """An operation that gives variables the values that the process of rank `root` has."""
    with name_scope("broadcast_variables"):
        return control.group(*[each for v in variables for each in _updates(v, root)])


def _updates(variable: Any, root: int) -> list[Any]:
    copies = list(getattr(variable, "values", None) or [variable])
    with device(copies[0].device):
        value = group_ops.broadcast(copies[0].read_value(), root)
    return [copy.assign(value).op for copy in copies]


class GroupStartHook(SessionRunHook):
    """The first process reads the latest checkpoint, if there is one; all go on from there.

    Others must not read it themselves: they may come too early or too late for it.
    """

    def __init__(self, checkpoint_dir: str | None, scaffold: Any) -> None:
        self._folder, self._scaffold = checkpoint_dir, scaffold

    def begin(self) -> None:
        self._broadcast = broadcast_variables(global_variables())

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._folder and not current().rank:
            self._restore(session, get_checkpoint_state(self._folder))
        logging.info("Variables of %d processes start from those of the first.", current().size)
        session.run(self._broadcast)

    def _restore(self, session: Any, state: Any) -> None:
        if state is not None and state.model_checkpoint_path:
            self._scaffold.saver.restore(session, state.model_checkpoint_path)
            self._scaffold.saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
