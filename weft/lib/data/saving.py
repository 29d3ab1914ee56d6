"""tf.data.experimental: iterators in checkpoints."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import colocate_with, get_collection
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.data.iterator import GLOBAL_ITERATORS, Iterator
from weft.lib.train.checkpoint.management import latest_checkpoint
from weft.lib.train.checkpoint.saver import Saver
from weft.lib.train.checkpoint.saver_saveable import SaveableObject, SaveSpec
from weft.lib.train.sessions.hooks_saving import CheckpointSaverHook
from weft.lib.train.sessions.session_run_hook import SessionRunHook


def make_saveable_from_iterator(iterator: Iterator) -> IteratorSaveable:
    """The object by which a Saver saves and restores the position of an iterator."""
    return IteratorSaveable(iterator._iterator_resource)


class IteratorSaveable(SaveableObject):
    """An iterator in a checkpoint."""

    def __init__(self, iterator_resource: Tensor) -> None:
        state = raw.SerializeIterator(iterator_resource)
        specs = [SaveSpec(state, "", f"{iterator_resource.name}-state")]
        super().__init__(iterator_resource, specs, iterator_resource.name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        with colocate_with(self.op):
            made: Operation = raw.DeserializeIterator(self.op, restored_tensors[0])
        return made


class CheckpointInputPipelineHook(SessionRunHook):
    """Saves the iterators of the graph, apart from the model, and restores them at the start."""

    def __init__(self, estimator: Any) -> None:
        config = estimator._config
        several = config.num_worker_replicas > 1
        basename = f"input_{config.task_type}_{config.task_id}" if several else "input"
        self._checkpoint_saver_hook = CheckpointSaverHook(
            estimator.model_dir, save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps, checkpoint_basename=f"{basename}.ckpt",
        )  # fmt: skip
        self._latest_filename = f"checkpoint_{basename}"
        self._first_run = True

    def begin(self) -> None:
        hook = self._checkpoint_saver_hook
        if hook._saver is None and hook._scaffold is None:
            saveables = [IteratorSaveable(each) for each in get_collection(GLOBAL_ITERATORS)]
            hook._saver = _IteratorSaver(saveables, self._latest_filename)
        hook.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Nothing yet: initializers of iterators may still come."""

    def before_run(self, run_context: Any) -> Any:
        if self._first_run:
            self._restore_or_save(run_context.session)
            self._first_run = False
        return self._checkpoint_saver_hook.before_run(run_context)

    def _restore_or_save(self, session: Any) -> None:
        hook = self._checkpoint_saver_hook
        latest = latest_checkpoint(hook._checkpoint_dir, latest_filename=self._latest_filename)
        if latest:
            hook._get_saver().restore(session, latest)
            return
        step = session.run(hook._global_step_tensor)
        hook._save(session, step)
        hook._timer.update_last_triggered_step(step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._checkpoint_saver_hook.after_run(run_context, run_values)

    def end(self, session: Any) -> None:
        self._checkpoint_saver_hook.end(session)


class _IteratorSaver(Saver):
    """A saver with its own list of checkpoints, beside that of the model."""

    def __init__(self, saveables: list[IteratorSaveable], latest_filename: str) -> None:
        super().__init__(saveables)
        self._latest_filename = latest_filename

    def save(
        self, sess: Any, save_path: str, global_step: Any = None,
        latest_filename: str | None = None, *args: Any, **kwargs: Any,
    ) -> Any:  # fmt: skip
        latest = latest_filename or self._latest_filename
        return super().save(sess, save_path, global_step, latest, *args, **kwargs)
