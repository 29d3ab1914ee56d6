"""tf.train.Checkpoint: saves and restores variables by the objects that own them."""

from __future__ import annotations

import os
from typing import Any

from weft.client.eager import EagerExecution
from weft.core import compat, dtypes, errors
from weft.graph.convert import constant
from weft.graph.graph import colocate_with, control_dependencies, device, get_default_graph
from weft.graph.op_def import raw
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.default_session import get_session
from weft.lib.train.checkpoint.management import update_checkpoint_state_internal
from weft.lib.train.checkpoint.objects import (
    AutoTrackable,
    Children,
    ObjectGraph,
    is_trackable,
    match,
    own_values,
    saveables_of,
)
from weft.lib.train.checkpoint.python_state import restore_python_states
from weft.lib.train.checkpoint.reader import NewCheckpointReader
from weft.lib.train.checkpoint.saver import Saver
from weft.lib.train.checkpoint.saver_builder import BulkSaverBuilder
from weft.lib.train.checkpoint.saver_objects import OBJECT_GRAPH_PROTO_KEY
from weft.lib.train.checkpoint.saver_saveable import SaveableObject, SaveSpec
from weft.ops.control.control import group
from weft.ops.kit.eager import executing_eagerly
from weft.ops.state.variables import Variable
from weft.protos.checkpoint import TrackableObjectGraph
from weft.storage import file_io


class GraphText(SaveableObject):
    """The description of the objects, which a checkpoint holds as one more tensor."""

    def __init__(self, tensor: Any) -> None:
        super().__init__(tensor, [SaveSpec(tensor, "", OBJECT_GRAPH_PROTO_KEY)], "object_graph")

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        return raw.NoOp()


class Checkpoint(AutoTrackable):
    """Groups objects; their variables are saved and restored together.

    Attributes may be variables, layers, optimizers, other checkpoints, and lists and dicts of them.
    """

    def __init__(self, **kwargs: Any) -> None:
        for name, value in sorted(kwargs.items()):
            # A tf.function has no variables, and is kept by SavedModels.
            if not is_trackable(value) and not hasattr(value, "get_concrete_function"):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived from "
                    f"`TrackableBase`), got {value}."
                )
            setattr(self, name, value)
        self._save_counter: Any = None
        self._save_assign_op: Any = None
        self._saver = ObjectSaver(self)
        self._status: Any = None  # of the last restore

    @property
    def _checkpoint_dependencies(self) -> Children:
        found = [item for item in super()._checkpoint_dependencies if item[0][0] != "_"]
        if self._save_counter is not None:
            found.append(("save_counter", self._save_counter))
        return found

    @property
    def save_counter(self) -> Any:
        """A variable with the number of saves, itself saved."""
        if self._save_counter is None:
            with device("/cpu:0"):
                self._save_counter = Variable(
                    0, dtype=dtypes.int64, trainable=False, use_resource=True, name="save_counter"
                )
        return self._save_counter

    def write(self, file_prefix: str, session: Any = None) -> str:
        """Saves to `file_prefix`, which gets no number and does not become the latest."""
        if executing_eagerly():
            return self._saver.save_eagerly(file_prefix)
        return self._saver.save(file_prefix, session or get_session())

    def save(self, file_prefix: str, session: Any = None) -> str:
        """Saves to `file_prefix` with the number of the save added; returns that."""
        number = self._count_save(session)
        path = self.write(f"{file_prefix}-{number}", session)
        update_checkpoint_state_internal(
            save_dir=os.path.dirname(file_prefix),
            model_checkpoint_path=path,
            all_model_checkpoint_paths=[path],
            save_relative_paths=True,
        )
        return path

    def _count_save(self, session: Any) -> int:
        if executing_eagerly():
            return int(self.save_counter.assign_add(1))
        session = session or get_session()
        if self._save_counter is None:
            session.run(self.save_counter.initializer)
        if self._save_assign_op is None:
            with colocate_with(self.save_counter.op):
                update = self.save_counter.assign_add(1, read_value=True)
                self._save_assign_op = update.value() if isinstance(update, Variable) else update
        return int(session.run(self._save_assign_op))

    def restore(self, save_path: str | None) -> LoadStatus:
        """Says what is to be restored; the status that is returned does it.

        Objects that are added later are matched, too, when the status is asked again. In eager
        execution variables are set at once, and those made later before they are first used.
        """
        status = self._saver.restore(save_path)
        _ = self.save_counter  # it exists from now on, to be restored with the rest
        self._status = status
        graph = get_default_graph()
        if isinstance(graph, EagerExecution) and save_path is not None:
            status.run_restore_ops()
            graph.restoring.add(self)
        return status

    def _restore_new_variables(self) -> None:
        """In eager execution, when variables were made since the last time."""
        self._status.run_restore_ops()


class ObjectSaver:
    """The operations that save and restore what is below an object (a Checkpoint, a Keras model).

    They are made anew when the objects have changed.
    """

    def __init__(self, root: Any) -> None:
        self.root = root
        self._saved: Any = None  # the objects as they were when `_save` was made
        self._save: Any = None
        self._prefix: Any = None
        self._graph_text: Any = None
        self._restore_prefix: Any = None
        self._restores: dict[tuple[str, Any], Any] = {}

    def _objects(self) -> ObjectGraph:
        """The objects to save."""
        return ObjectGraph(self.root)

    def save(self, file_prefix: str, session: Any) -> str:
        if directory := os.path.dirname(file_prefix):
            file_io.makedirs(directory)
        message, saveables = self._objects().serialize()
        if self._prefix is None:
            with device("/cpu:0"):
                self._graph_text = constant("", dtype=dtypes.string)
                self._prefix = constant("", dtype=dtypes.string)
        if self._saved != message:
            self._save = self._save_nodes([*saveables, GraphText(self._graph_text)])
            self._saved = message
        feeds = {self._prefix: file_prefix, self._graph_text: message.SerializeToString()}
        return compat.as_str(session.run(self._save, feeds))

    def save_eagerly(self, file_prefix: str) -> str:
        if directory := os.path.dirname(file_prefix):
            file_io.makedirs(directory)
        message, saveables = self._objects().serialize()
        self._prefix = constant(file_prefix)
        text = constant(message.SerializeToString(), dtype=dtypes.string)
        self._save_nodes([*saveables, GraphText(text)])
        return file_prefix

    def _save_nodes(self, saveables: list[SaveableObject]) -> Any:
        builder = BulkSaverBuilder()
        save = builder._AddShardedSaveOps(self._prefix, builder._GroupByDevices(saveables))
        with device("/cpu:0"), control_dependencies([save]):
            return raw.Identity(self._prefix)

    def restore(self, save_path: str | None) -> LoadStatus:
        if save_path is None:
            return InitializationOnlyStatus(self.root)
        reader = NewCheckpointReader(save_path)
        try:
            content = reader.get_tensor(OBJECT_GRAPH_PROTO_KEY)
        except errors.NotFoundError:
            return NameBasedSaverStatus(self.root, save_path)
        message = TrackableObjectGraph()
        message.ParseFromString(content)
        restore_python_states(match(self.root, message), message, reader)
        if executing_eagerly():
            self._restores = {}
        return CheckpointLoadStatus(self, save_path, message)

    def restore_nodes(self, found: dict[int, Any], message: Any) -> list[Any]:
        """Operations that restore the objects that were found; each is made once."""
        if self._restore_prefix is None:
            with device("/cpu:0"):
                self._restore_prefix = constant("model")
        updates = []
        for number, value in found.items():
            sources = own_values(value)
            for attribute in message.nodes[number].attributes:
                if attribute.name in sources:
                    key = attribute.checkpoint_key
                    if (key, id(value)) not in self._restores:
                        made = self._restore_node(key, sources[attribute.name])
                        # The object is kept, so that its identity stays its own.
                        self._restores[key, id(value)] = made, value
                    updates.append(self._restores[key, id(value)][0])
        return updates

    def _restore_node(self, key: str, source: Any) -> Any:
        saveables = list(saveables_of(source, key))
        tensors = iter(BulkSaverBuilder().bulk_restore(self._restore_prefix, saveables, -1, False))
        updates = []
        for saveable in saveables:
            own = [next(tensors) for _ in saveable.specs]
            updates.append(saveable.restore(own, None))
        return updates[0] if len(updates) == 1 else group(*updates)


# ---- what restore returns -----------------------------------------------------------------------


class LoadStatus:
    """The outcome of `Checkpoint.restore`."""

    def assert_consumed(self) -> LoadStatus:
        """Raises AssertionError unless all of the checkpoint and of the program is matched."""
        raise NotImplementedError

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Raises AssertionError if an object of the program is not in the checkpoint."""
        raise NotImplementedError

    def assert_nontrivial_match(self) -> LoadStatus:
        """Raises AssertionError if only the root is matched."""
        raise NotImplementedError

    def run_restore_ops(self, session: Any = None) -> None:
        """Sets the variables that are matched so far."""
        raise NotImplementedError

    def initialize_or_restore(self, session: Any = None) -> None:
        """As `run_restore_ops`; other variables below the root are initialized."""
        raise NotImplementedError

    def expect_partial(self) -> LoadStatus:
        """Says that parts of the checkpoint may go unused."""
        return self


class CheckpointLoadStatus(LoadStatus):
    """Restores by objects. Each method looks at the objects that there are when it is called."""

    def __init__(self, saver: ObjectSaver, save_path: str, message: Any) -> None:
        self._saver, self._path, self._message = saver, save_path, message

    def _matched(self) -> dict[int, Any]:
        return match(self._saver.root, self._message)

    def _objects(self) -> list[Any]:
        # A list without variables is nothing that a checkpoint could hold.
        objects = ObjectGraph(self._saver.root).objects
        return [each for each in objects if not (isinstance(each, (list, dict)) and not each)]

    def _unmatched(self, found: dict[int, Any]) -> list[Any]:
        known = {id(value) for value in found.values()}
        return [value for value in self._objects() if id(value) not in known]

    def assert_consumed(self) -> CheckpointLoadStatus:
        self.assert_existing_objects_matched()
        found = self._matched()
        for number, node in enumerate(self._message.nodes):
            if number not in found:
                name = self._name(number)
                raise AssertionError(f"Unresolved object in checkpoint {name}: {node}")
            missing = {a.name for a in node.attributes if not a.optional_restore}
            missing -= set(own_values(found[number]))
            if missing:
                raise AssertionError(
                    "Unused attributes in these objects (the attributes exist in the checkpoint "
                    f"but were not restored):\n{self._name(number)}: {sorted(missing)}"
                )
        return self

    def _name(self, number: int) -> str:
        """The way from the root to a node of the checkpoint."""
        parents = {
            child.node_id: (above, child.local_name)
            for above, node in reversed(list(enumerate(self._message.nodes)))
            for child in node.children
        }
        names: list[str] = []
        while number in parents and number and len(names) <= len(parents):
            number, name = parents[number]
            names.insert(0, name)
        return ".".join(["(root)", *names])

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        unmatched = self._unmatched(self._matched())
        if unmatched:
            raise AssertionError(
                "Some Python objects were not bound to checkpointed values, likely due to changes "
                f"in the Python program: {unmatched}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        found = self._matched()
        if len(found) > 1:
            return self
        unmatched = self._unmatched(found)
        if unmatched:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means "
                "that the checkpoint does not match the Python program. The following objects "
                f"have no matching checkpointed value: {unmatched}"
            )
        raise AssertionError(
            f"Nothing to load. No dependencies have been added to {self._saver.root} yet."
        )

    def run_restore_ops(self, session: Any = None) -> None:
        if executing_eagerly():
            # Each of them once: what the program has changed since is not changed back.
            self._saver._restore_prefix = constant(self._path)
            self._saver.restore_nodes(self._matched(), self._message)
            return
        updates = self._saver.restore_nodes(self._matched(), self._message)
        feeds = {self._saver._restore_prefix: self._path}
        (session or get_session()).run(updates, feeds)

    def restore_what_is_new(self, session: Any, done: dict[int, Any]) -> bool:
        """As `run_restore_ops`, except for the objects of `done`; whether that was everything."""
        found = self._matched()
        new = {number: value for number, value in found.items() if id(value) not in done}
        done.update({id(value): value for value in new.values()})
        updates = self._saver.restore_nodes(new, self._message)
        if updates:
            session.run(updates, {self._saver._restore_prefix: self._path})
        return all(n in found for n, node in enumerate(self._message.nodes) if node.attributes)

    def initialize_or_restore(self, session: Any = None) -> None:
        if executing_eagerly():
            self.run_restore_ops()
            return
        session = session or get_session()
        unmatched = self._unmatched(self._matched())
        self.run_restore_ops(session)
        session.run([v.initializer for v in unmatched if isinstance(v, Variable)])


class InitializationOnlyStatus(LoadStatus):
    """There was no checkpoint: all that can be done is to initialize."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def _nothing(self) -> Any:
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    def assert_consumed(self) -> LoadStatus:
        return self._nothing()

    def assert_existing_objects_matched(self) -> LoadStatus:
        return self._nothing()

    def assert_nontrivial_match(self) -> LoadStatus:
        return self._nothing()

    def run_restore_ops(self, session: Any = None) -> None:
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to "
            "Saver.restore)."
        )

    def initialize_or_restore(self, session: Any = None) -> None:
        if executing_eagerly():
            return
        variables = ObjectGraph(self._root).variables()
        (session or get_session()).run([variable.initializer for variable in variables])


class NameBasedSaverStatus(LoadStatus):
    """The checkpoint is a Saver's: variables are matched by name."""

    def __init__(self, root: Any, save_path: str) -> None:
        logging.warning(
            "Restoring a name-based tf.train.Saver checkpoint using the object-based restore API: "
            "variables are matched by their names."
        )
        self._root, self._path = root, save_path

    def _variables(self) -> list[Any]:
        counter = getattr(self._root, "_save_counter", None)
        return [v for v in ObjectGraph(self._root).variables() if v is not counter]

    def assert_consumed(self) -> LoadStatus:
        reader = NewCheckpointReader(self._path)
        for variable in self._variables():
            if not reader.has_tensor(variable.op.name):
                raise AssertionError(f"Object not restored: {variable}")
        return self

    def assert_existing_objects_matched(self) -> LoadStatus:
        return self.assert_consumed()

    def assert_nontrivial_match(self) -> LoadStatus:
        return self.assert_consumed()

    def run_restore_ops(self, session: Any = None) -> None:
        with get_default_graph().as_default(), device("/cpu:0"):
            saver = Saver(self._variables())
        saver.restore(None if executing_eagerly() else session or get_session(), self._path)

    def initialize_or_restore(self, session: Any = None) -> None:
        self.run_restore_ops(session)
        counter = getattr(self._root, "_save_counter", None)
        if counter is not None and not executing_eagerly():
            (session or get_session()).run(counter.initializer)
