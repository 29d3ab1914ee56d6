"""The state of a boosted trees model between steps: the trees, and quantiles of the features."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import GraphKeys, add_to_collection, control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.lib.train.checkpoint.saver_saveable import SaveableObject, SaveSpec


class TreeEnsemble:
    """The trees, by their handle."""

    def __init__(self, name: str) -> None:
        with name_scope(name, "TreeEnsemble") as scope:
            self.handle = raw.BoostedTreesEnsembleResourceHandleOp(
                shared_name=scope, container="", name=scope
            )
            self.create = raw.BoostedTreesCreateEnsemble(self.handle, 0, "")
            self.is_initialized = raw.IsBoostedTreesEnsembleInitialized(self.handle)
        add_to_collection(GraphKeys.RESOURCES, self)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _EnsembleSaveable(self))

    def states(self) -> Any:
        """(stamp, trees, finished trees, layers that were tried, range of the newest nodes)"""
        return raw.BoostedTreesGetEnsembleStates(self.handle)


class _EnsembleSaveable(SaveableObject):
    def __init__(self, ensemble: TreeEnsemble) -> None:
        stamp, trees = raw.BoostedTreesSerializeEnsemble(ensemble.handle)
        name = ensemble.handle.name
        specs = [SaveSpec(stamp, "", name + "_stamp"), SaveSpec(trees, "", name + "_serialized")]
        super().__init__(ensemble.handle, specs, name)
        self._create = ensemble.create

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        with control_dependencies([self._create]):
            return raw.BoostedTreesDeserializeEnsemble(self.op, *restored_tensors)


class QuantileAccumulator:
    """Quantiles of some streams of numbers."""

    def __init__(self, epsilon: float, num_streams: int, num_quantiles: int, name: str) -> None:
        self._epsilon, self._streams, self._quantiles = epsilon, num_streams, num_quantiles
        with name_scope(name, "QuantileAccumulator") as scope:
            self.handle = raw.BoostedTreesQuantileStreamResourceHandleOp(
                shared_name=scope, container="", name=scope
            )
            self.create = raw.BoostedTreesCreateQuantileStreamResource(
                self.handle, epsilon, num_streams
            )
            self.is_initialized = raw.IsBoostedTreesQuantileStreamResourceInitialized(self.handle)
        add_to_collection(GraphKeys.RESOURCES, self)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _QuantileSaveable(self))

    def boundaries(self) -> list[Any]:
        """For each stream, where its buckets end."""
        found = raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
            self.handle, num_features=self._streams
        )
        return list(found)

    def add(self, values: list[Any], weights: Any) -> Any:
        """An operation that takes in one batch."""
        made = raw.BoostedTreesMakeQuantileSummaries(values, weights, self._epsilon)
        return raw.BoostedTreesQuantileStreamResourceAddSummaries(self.handle, list(made))

    def flush(self) -> Any:
        """An operation that makes boundaries of what was taken in."""
        return raw.BoostedTreesQuantileStreamResourceFlush(
            self.handle, self._quantiles, generate_quantiles=False
        )


class _QuantileSaveable(SaveableObject):
    def __init__(self, quantiles: QuantileAccumulator) -> None:
        name = quantiles.handle.name
        specs = [
            SaveSpec(each, "", f"{name}_bucket_boundaries_{i}")
            for i, each in enumerate(quantiles.boundaries())
        ]
        super().__init__(quantiles.handle, specs, name)
        self._create = quantiles.create

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        with control_dependencies([self._create]):
            return raw.BoostedTreesQuantileStreamResourceDeserialize(
                self.op, list(restored_tensors)
            )
