"""The nodes of a Saver: what saves, what restores, and how both are split over devices."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.saver_pb2 import SaverDef

from weft.core.device_name import canonical_name
from weft.core.signatures import with_parameters_of
from weft.graph.convert import constant
from weft.graph.graph import (
    Tensor,
    control_dependencies,
    device,
    get_default_graph,
    name_scope,
)
from weft.graph.op_def import raw
from weft.lib.train.checkpoint.saver_saveable import (
    ReferenceVariableSaveable,
    ResourceVariableSaveable,
    SaveableObject,
    SaveSpec,
    set_cpu0,
    validate_and_slice_inputs,
)
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.kit.eager import executing_eagerly
from weft.ops.state.partitioned_variable import PartitionedVariable

Saveable = SaveableObject  # the class below has an attribute of the other name
PerDevice = list[tuple[str, list[Saveable]]]


class BaseSaverBuilder:
    """Builds the graph of a Saver, with a restore operation for each tensor."""

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject
    VariableSaveable = ReferenceVariableSaveable
    ResourceVariableSaveable = ResourceVariableSaveable

    def __init__(self, write_version: Any = SaverDef.V2) -> None:
        self._write_version = write_version

    # ---- one file ----

    def save_op(self, filename_tensor: Tensor, saveables: Sequence[Saveable]) -> Any:
        """An operation that writes all tensors of `saveables`."""
        names, slices, tensors = [], [], []
        for saveable in saveables:
            for spec in saveable.specs:
                names.append(spec.name)
                tensors.append(spec.tensor)
                slices.append(spec.slice_spec)
        if self._write_version == SaverDef.V1:
            return raw.SaveSlices(filename_tensor, names, slices, tensors, name="save")
        if self._write_version == SaverDef.V2:
            return raw.SaveV2(filename_tensor, names, slices, tensors)
        raise RuntimeError(f"Unexpected write_version: {self._write_version}")

    def bulk_restore(
        self,
        filename_tensor: Tensor,
        saveables: Sequence[Saveable],
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Any]:
        """The restored tensors of all saveables, read one by one."""
        tensors: list[Any] = []
        for saveable in saveables:
            with device(set_cpu0(saveable.device) if saveable.device else None):
                tensors += self.restore_op(filename_tensor, saveable, preferred_shard)
        return tensors

    def restore_op(
        self, filename_tensor: Tensor, saveable: Saveable, preferred_shard: int
    ) -> list[Any]:
        """The restored tensors of one saveable."""
        return [_restore(filename_tensor, [spec])[0] for spec in saveable.specs]

    def sharded_filename(self, filename_tensor: Any, shard: int, num_shards: Any) -> Tensor:
        return raw.ShardedFilename(filename_tensor, shard, num_shards)

    def _AddSaveOps(self, filename_tensor: Tensor, saveables: Sequence[Saveable]) -> Tensor:
        save = self.save_op(filename_tensor, saveables)
        return control.with_dependencies([save], filename_tensor)

    def _AddRestoreOps(
        self,
        filename_tensor: Tensor,
        saveables: Sequence[Saveable],
        restore_sequentially: bool,
        reshape: bool,
        preferred_shard: int = -1,
        name: str = "restore_all",
    ) -> Any:
        tensors = iter(
            self.bulk_restore(filename_tensor, saveables, preferred_shard, restore_sequentially)
        )
        updates = []
        for saveable in saveables:
            shapes = [_shape(spec.tensor) for spec in saveable.specs] if reshape else None
            own = [next(tensors) for _ in saveable.specs]
            updates.append(saveable.restore(own, shapes))
        return control.group(*updates, name=name)

    # ---- one file for each device ----

    def _AddShardedSaveOpsForV2(self, checkpoint_prefix: Tensor, per_device: PerDevice) -> Tensor:
        """Every device writes a bundle of its own to a folder beside; then they become one."""
        beside = raw.StringJoin([checkpoint_prefix, f"_temp_{uuid.uuid4().hex}/part"])
        hosts = [(set_cpu0(where), saveables) for where, saveables in per_device]
        _, files, saves = self._save_shards(beside, hosts)
        with control_dependencies(saves), device(hosts[-1][0]):
            merge = raw.MergeV2Checkpoints(files, checkpoint_prefix, delete_old_dirs=True)
            with control_dependencies([merge]):
                return raw.Identity(checkpoint_prefix)

    def _AddShardedSaveOps(self, filename_tensor: Tensor, per_device: PerDevice) -> Tensor:
        if self._write_version == SaverDef.V2:
            return self._AddShardedSaveOpsForV2(filename_tensor, per_device)
        num_shards, _, saves = self._save_shards(filename_tensor, per_device)
        with control_dependencies(saves):
            return raw.ShardedFilespec(filename_tensor, num_shards)

    def _save_shards(self, base: Tensor, per_device: PerDevice) -> tuple[Any, list[Any], list[Any]]:
        """(how many files there are, their names, the operations that write them)"""
        num_shards = constant(len(per_device), name="num_shards")

        def save(shard: int, saveables: list[Saveable]) -> tuple[Any, Any]:
            name = self.sharded_filename(base, shard, num_shards)
            return name, self._AddSaveOps(name, saveables).op

        names, saves = zip(*_on_devices(per_device, save), strict=True)
        return num_shards, list(names), list(saves)

    def _AddShardedRestoreOps(
        self,
        filename_tensor: Tensor,
        per_device: PerDevice,
        restore_sequentially: bool,
        reshape: bool,
    ) -> Any:
        def restore(shard: int, saveables: list[Saveable]) -> Any:
            given = (filename_tensor, saveables, restore_sequentially, reshape)
            return self._AddRestoreOps(*given, preferred_shard=shard, name="restore_shard")

        return control.group(*_on_devices(per_device, restore), name="restore_all")

    def _GroupByDevices(self, saveables: Sequence[Saveable]) -> PerDevice:
        """(device, its saveables), in the order of the devices' names."""
        if executing_eagerly():  # where all is on the CPU
            return [("", list(saveables))]
        per_device: dict[str, list[Saveable]] = {}
        for saveable in saveables:
            devices = {canonical_name(spec.tensor.device) for spec in saveable.specs}
            if len(devices) != 1:
                raise ValueError(
                    f"All tensors of a saveable object must be on the same device: {saveable.name}"
                )
            per_device.setdefault(devices.pop(), []).append(saveable)
        return sorted(per_device.items(), key=lambda item: item[0])

    # ---- all of it ----

    def _build_internal(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
        build_save: bool = True,
        build_restore: bool = True,
    ) -> SaverDef:
        if not build_save or not build_restore:
            raise ValueError(
                "save and restore operations need to be built together  when eager execution is "
                "not enabled."
            )
        saveables = validate_and_slice_inputs(names_to_saveables)
        with name_scope(name, "save", [saveable.op for saveable in saveables]):
            file = array.placeholder_with_default(filename or "model", (), name="filename")
            file = array.placeholder_with_default(file, (), name="Const")
            how = (restore_sequentially, reshape)
            save, restore = (self._add_sharded if sharded else self._add_whole)(
                file, saveables, *how
            )
        _concatenate_partitioned()
        nodes = {"filename_tensor": file, "save_tensor": save, "restore_op": restore}
        return SaverDef(
            **{f"{kind}_name": node.name for kind, node in nodes.items()},
            max_to_keep=max_to_keep or 0,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )

    def _add_whole(self, file: Tensor, saveables: Any, *how: Any) -> tuple[Any, Any]:
        return self._AddSaveOps(file, saveables), self._AddRestoreOps(file, saveables, *how)

    def _add_sharded(self, file: Tensor, saveables: Any, *how: Any) -> tuple[Any, Any]:
        groups = self._GroupByDevices(saveables)
        save = self._AddShardedSaveOps(file, groups)
        return save, self._AddShardedRestoreOps(file, groups, *how)

    @with_parameters_of(_build_internal, without=("build_save", "build_restore"))
    def build(self, **arguments: Any) -> SaverDef:
        """Adds the nodes and returns the SaverDef that names them."""
        return self._build_internal(**arguments)


class BulkSaverBuilder(BaseSaverBuilder):
    """Restores all tensors with one operation."""

    def bulk_restore(
        self,
        filename_tensor: Tensor,
        saveables: Sequence[Saveable],
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Any]:
        specs = [spec for saveable in saveables for spec in saveable.specs]
        with device("cpu:0"):
            return _restore(filename_tensor, specs)


def _restore(filename_tensor: Tensor, specs: Sequence[SaveSpec]) -> list[Any]:
    names, slices = [spec.name for spec in specs], [spec.slice_spec for spec in specs]
    types = [spec.dtype.base_dtype for spec in specs]
    return list(raw.RestoreV2(filename_tensor, names, slices, dtypes=types))


def _on_devices(per_device: PerDevice, act: Callable[[int, list[Saveable]], Any]) -> list[Any]:
    """The results of `act` for each shard, on the device that holds it."""
    made = []
    for shard, (where, saveables) in enumerate(per_device):
        with device(where):
            made.append(act(shard, saveables))
    return made


def _shape(tensor: Tensor) -> Any:
    return tensor.shape if tensor.shape.is_fully_defined() else array.shape(tensor)


def _concatenate_partitioned() -> None:
    """Gives the partitioned variables of collections the node that a MetaGraph names them by."""
    graph = get_default_graph()
    collected = [
        item for key in graph.get_all_collection_keys() for item in graph.get_collection(key)
    ]
    for variable in collected:
        if isinstance(variable, PartitionedVariable) and variable.name not in graph._by_name:
            variable.as_tensor()
