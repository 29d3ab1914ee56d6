"""Optimizers, tapes and hooks that train one model in all processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.autodiff.tape import GradientTape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.slices import IndexedSlices
from weft.lib.distribute.group_start import broadcast_variables as _broadcast_variables
from weft.lib.horovod.adasum import AdasumOptimizer
from weft.lib.horovod.basics import size
from weft.lib.horovod.ops import (
    Adasum,
    Average,
    Compression,
    adapted,
    allreduce,
    checked_op,
    reduced,
)
from weft.lib.keras.optimizers.optimizer_v2 import OptimizerV2
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.lib.train.optimizers.wrapper import WrapperOptimizer
from weft.lib.train.sessions.session_run_hook import SessionRunHook
from weft.ops.kit.eager import executing_eagerly
from weft.ops.state.variable_lists import global_variables


def broadcast_variables(variables: Any, root_rank: int) -> Any:
    """Gives variables the values that the process of rank `root_rank` has."""
    size()
    return _broadcast_variables(variables, root_rank)


def broadcast_global_variables(root_rank: int) -> Any:
    """An operation that gives all global variables the values of one process."""
    if executing_eagerly():
        raise RuntimeError(
            "hvd.broadcast_global_variables() does not support eager execution. Please use"
            " `hvd.broadcast_variables(<model/optimizer variables>)` instead."
        )
    return broadcast_variables(global_variables(), root_rank)


class BroadcastGlobalVariablesHook(SessionRunHook):
    """All processes start from the variables of one, whether these are new or of a checkpoint."""

    def __init__(self, root_rank: int, device: str = "") -> None:
        self.root_rank, self.device, self.bcast_op = root_rank, device, None

    def begin(self) -> None:
        self.bcast_op = broadcast_global_variables(self.root_rank)

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self.bcast_op)


class Settings:
    """How gradients become those of all processes."""

    def __init__(self, compression: Any, sparse_as_dense: bool, op: Any) -> None:
        self.compression, self.sparse_as_dense = compression, sparse_as_dense
        self.op = checked_op(op)
        self.mean = self.op == Average

    def reduce(self, gradients: Sequence[Any]) -> list[Any]:
        """Dense ones go together, many at once; a gradient of None stays."""
        if size() == 1:
            return list(gradients)
        given = [self._densified(each) for each in gradients]
        if self.op == Adasum:
            return [each if each is None else adapted(each, self.compression) for each in given]
        dense = [i for i, each in enumerate(given) if _is_dense(each)]
        found = list(given)
        sums = reduced([given[i] for i in dense], self.mean, self.compression)
        for i, each in zip(dense, sums, strict=True):
            found[i] = each
        return [
            allreduce(each, average=self.mean) if isinstance(each, IndexedSlices) else each
            for each in found
        ]

    def _densified(self, gradient: Any) -> Any:
        rows = isinstance(gradient, IndexedSlices) and self.sparse_as_dense
        return convert_to_tensor(gradient) if rows else gradient


def _is_dense(gradient: Any) -> bool:
    return gradient is not None and not isinstance(gradient, IndexedSlices)


class _DistributedOptimizer(WrapperOptimizer):
    """An optimizer of tf.train that applies the gradients of all processes."""

    def __init__(self, optimizer: Any, name: str | None, use_locking: bool, settings: Any) -> None:
        self._settings = settings
        super().__init__(optimizer, use_locking, name or f"Distributed{type(optimizer).__name__}")

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The gradients of this process, made those of all."""
        pairs = self._optimizer.compute_gradients(*args, **kwargs)
        if size() == 1:
            return pairs
        with name_scope(f"{self._name}_Allreduce"):
            found = self._settings.reduce([gradient for gradient, _ in pairs])
        return [(gradient, v) for gradient, (_, v) in zip(found, pairs, strict=True)]


def DistributedOptimizer(
    optimizer: Any,
    name: str | None = None,
    use_locking: bool = False,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    sparse_as_dense: bool = False,
    backward_passes_per_step: int = 1,
    op: Any = Average,
) -> Any:
    """The optimizer, with gradients that are means over all processes."""
    if backward_passes_per_step > 1:
        if op == Adasum:
            raise NotImplementedError("weft joins every step: backward_passes_per_step must be 1.")
        raise ValueError("backward_passes_per_step>1 is only supported with op == hvd.Adasum")
    if op == Adasum and isinstance(optimizer, Optimizer):
        return AdasumOptimizer(optimizer, name, use_locking, compression)
    settings = Settings(compression, sparse_as_dense, op)
    if isinstance(optimizer, Optimizer):
        return _DistributedOptimizer(optimizer, name, use_locking, settings)
    if isinstance(optimizer, OptimizerV2):
        return distributed_keras_optimizer(optimizer, settings)
    raise ValueError(
        "Provided optimizer doesn't inherit from either legacy TensorFlow or Keras optimizer:"
        f" {optimizer}"
    )


def distributed_keras_optimizer(optimizer: Any, settings: Settings) -> Any:
    """A new optimizer of Keras with the same settings."""
    return _distributed_kind(type(optimizer), settings).from_config(optimizer.get_config())


def distribute(optimizer: Any, settings: Settings) -> None:
    """Makes an optimizer of Keras one for all processes, with the state that it has."""
    optimizer.__class__ = _distributed_kind(type(optimizer), settings)


def _distributed_kind(kind: Any, settings: Settings) -> Any:
    """A class under the name of `kind`, which saved models tell."""

    def get_gradients(self: Any, loss: Any, params: Any) -> list[Any]:
        with name_scope(f"Distributed{kind.__name__}_Allreduce"):
            return settings.reduce(kind.get_gradients(self, loss, params))

    return type(kind.__name__, (kind,), {"get_gradients": get_gradients})


class _DistributedGradientTape:
    """A tape whose gradients are those of all processes."""

    def __init__(self, tape: Any, settings: Settings) -> None:
        self._tape, self._settings = tape, settings

    def __enter__(self) -> _DistributedGradientTape:
        self._tape.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._tape.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tape, name)

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None) -> Any:
        """Gradients as the tape gives them, made those of all processes."""
        found = self._tape.gradient(target, sources, output_gradients)
        if isinstance(found, (list, tuple)):
            return self._settings.reduce(found)
        return self._settings.reduce([found])[0]


def DistributedGradientTape(
    gradtape: GradientTape,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    sparse_as_dense: bool = False,
    op: Any = Average,
) -> Any:
    """The tape, with gradients that are means over all processes."""
    return _DistributedGradientTape(gradtape, Settings(compression, sparse_as_dense, op))
