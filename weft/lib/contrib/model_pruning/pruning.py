"""Masks that grow: when they change, how much they mask, and which weights."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.contrib.model_pruning import masks
from weft.lib.contrib.slim import learning
from weft.lib.contrib.training.hparam import HParams
from weft.lib.platform import tf_logging as logging
from weft.lib.summary import summary
from weft.ops.array import array, gather
from weft.ops.array.repeat import repeat
from weft.ops.array.split import split
from weft.ops.control.cond import cond
from weft.ops.control.control import group, no_op
from weft.ops.math import casts, math
from weft.ops.nn.activations import top_k
from weft.ops.nn.pool import pool
from weft.ops.nn.zero_fraction import zero_fraction
from weft.ops.state.get_variable import get_variable
from weft.ops.state.global_step import get_global_step
from weft.ops.state.initializers import zeros_initializer
from weft.ops.state.partitioned_variable import PartitionedVariable
from weft.ops.state.updates import assign
from weft.ops.state.variable_scope import AUTO_REUSE, variable_scope

_DEFAULTS: dict[str, Any] = {
    "name": "model_pruning",
    "begin_pruning_step": 0,
    "end_pruning_step": -1,
    "weight_sparsity_map": [""],
    "block_dims_map": [""],
    "threshold_decay": 0.0,
    "pruning_frequency": 10,
    "nbins": 256,
    "block_height": 1,
    "block_width": 1,
    "block_pooling_function": "AVG",
    "initial_sparsity": 0.0,
    "target_sparsity": 0.5,
    "sparsity_function_begin_step": 0,
    "sparsity_function_end_step": 100,
    "sparsity_function_exponent": 3.0,
    "use_tpu": False,
}


def get_pruning_hparams() -> HParams:
    """The settings of a pruning, as they are unless changed.

    Between two steps the masked part goes from the initial to the target sparsity, the faster the
    farther it is from it. Names, or parts of names, of weights may have sparsities of their own
    ("conv1:0.9"), and blocks that are masked as one ("dense1:4x4").
    """
    return HParams(**_DEFAULTS)


# What must hold of settings, and what is said where it does not.
_MUST: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (lambda s: s.begin_pruning_step >= 0, "Illegal value for begin_pruning_step"),
    (
        lambda s: s.end_pruning_step in (-1, max(s.end_pruning_step, s.begin_pruning_step + 1)),
        "Pruning must begin before it can end. begin_step={s.begin_pruning_step}, "
        "end_step={s.end_pruning_step}.Set end_pruning_step to -1 if pruning is required till "
        "trainingstops",
    ),
    (
        lambda s: s.sparsity_function_begin_step >= 0,
        "Illegal value for sparsity_function_begin_step",
    ),
    (
        lambda s: s.sparsity_function_begin_step < s.sparsity_function_end_step,
        "Sparsity function requires begin_step < end_step",
    ),
    (lambda s: 0.0 <= s.threshold_decay < 1.0, "threshold_decay must be in range [0,1)"),
    (lambda s: 0.0 <= s.initial_sparsity < 1.0, "initial_sparsity must be in range [0,1)"),
    (lambda s: 0.0 <= s.target_sparsity < 1.0, "target_sparsity must be in range [0,1)"),
)


def _by_name(rows: list[str], read: Callable[[str, str], Any]) -> _Settings:
    """Pattern of a name -> what stands after the colon."""
    pairs = (row.split(":") for row in rows if row)
    return _Settings({re.compile(name): read(name, text) for name, text in pairs})


def _sparsity_of(name: str, text: str) -> float:
    del name
    if float(text) >= 1.0:
        raise ValueError("Weight sparsity can not exceed 1.0")
    return float(text)


def _block_of(name: str, text: str) -> list[int]:
    match text.split("x"):
        case [height, width]:
            return [int(height), int(width)]
        case other:
            raise ValueError(f"Expected 2 values for block dim for {name}, got {other}")


class _Settings(dict[re.Pattern[str], Any]):
    """Settings by pattern; a weight has one at most."""

    def of(self, weight: str, option: str) -> Any:
        """The setting of a weight by its name, or None."""
        match [self[pattern] for pattern in self if pattern.search(weight)]:
            case []:
                return None
            case [setting]:
                return setting
        raise ValueError(f"Multiple matches in {option} for weight {weight}")


class Pruning:
    """Updates of all masks, by settings; `sparsity` is given, or follows from the global step."""

    def __init__(self, spec: Any = None, global_step: Any = None, sparsity: Any = None) -> None:
        self._spec = spec or get_pruning_hparams()
        for holds, said in _MUST:
            if not holds(self._spec):
                raise ValueError(said.format(s=self._spec))
        step = get_global_step() if global_step is None else global_step
        self._global_step = casts.cast(step, dtypes.int32)
        self._sparsity = self._grown() if sparsity is None else sparsity
        self._last_update_step = self._last_step()
        self._assign_ops: list[Any] = []
        self._blocks = _by_name(self._spec.block_dims_map, _block_of)
        self._sparsities = _by_name(self._spec.weight_sparsity_map, _sparsity_of)

    def _grown(self) -> Tensor:
        """The sparsity at the present step."""
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with name_scope(spec.name):
            passed = casts.cast(self._global_step - begin, dtypes.float32) / (end - begin)
            left = 1 - math.minimum(1.0, math.maximum(0.0, passed))
            distance = spec.initial_sparsity - spec.target_sparsity
            part = math.multiply(distance, math.pow(left, spec.sparsity_function_exponent))
            return math.add(part, spec.target_sparsity, name="sparsity")

    def _last_step(self) -> Any:
        """The variable with the step of the last update, shared by all prunings of a name."""
        settings = {"use_resource": self._spec.use_tpu, "reuse": AUTO_REUSE}
        with variable_scope(self._spec.name, **settings):
            return get_variable(
                "last_mask_update_step", [], dtypes.int32, zeros_initializer(), trainable=False
            )

    def _sparsity_for(self, name: str) -> Any:
        own = self._sparsities.of(name, "weight_sparsity_map")
        return (
            self._sparsity if own is None else self._sparsity * (own / self._spec.target_sparsity)
        )

    def _update_mask(self, weights: Any, threshold: Any) -> tuple[Tensor, Tensor]:
        """The size of the smallest weight that is kept, and the mask of those not below it."""
        if self._sparsity is None:
            raise ValueError("Sparsity variable undefined")
        sparsity, decay = self._sparsity_for(weights.op.name), self._spec.threshold_decay
        with name_scope(weights.op.name + "_pruning_ops"):
            sizes = math.abs(weights)
            count = array.size(sizes)
            kept = math.round(casts.cast(count, dtypes.float32) * (1 - sparsity))
            ordered, _ = top_k(array.reshape(sizes, [-1]), k=count)
            smallest = gather.gather(ordered, casts.cast(kept, dtypes.int32) - 1)
            smoothed = math.add_n([smallest * (1 - decay), threshold * decay])
            return smoothed, casts.cast(math.greater_equal(sizes, smoothed), dtypes.float32)

    def _block_for(self, weights: Any, shape: list[Any]) -> list[Any]:
        spec = self._spec
        own = self._blocks.of(weights.op.name, "block_dims_map")
        block = own or [spec.block_height, spec.block_width]
        return [whole if size == -1 else size for size, whole in zip(block, shape, strict=True)]

    def _maybe_update_block_mask(self, weights: Any, threshold: Any) -> tuple[Tensor, Tensor]:
        """`_update_mask`, for means or maxima of blocks where weights are a matrix of blocks."""
        matrix = array.squeeze(weights)
        shape = matrix.get_shape().as_list()
        block = self._block_for(weights, shape) if len(shape) == 2 else [1, 1]
        if block == [1, 1]:
            return self._update_mask(weights, threshold)
        kind = self._spec.block_pooling_function
        if kind not in ("AVG", "MAX"):
            raise ValueError(f"Unknown pooling function for block sparsity: {kind}")
        with name_scope(weights.op.name + "_pruning_ops"):
            image = array.reshape(math.abs(matrix), [1, *shape, 1])
            pooled = pool(
                image, block, kind, "SAME", strides=block, name=weights.op.name + "_pooled"
            )
            smoothed, mask = self._update_mask(array.squeeze(pooled, [0, 3]), threshold)
            for axis, size in enumerate(block):
                mask = repeat(mask, size, axis=axis)
            mask = mask[: shape[0], : shape[1]]
        return smoothed, array.reshape(mask, array.shape(weights))

    def _get_mask_assign_ops(self) -> None:
        if self._assign_ops:
            raise ValueError("Assign op list not empty. _get_mask_assign_ops() called twice?")
        kept, limits = masks.get_masks(), masks.get_thresholds()
        if len(kept) != len(limits):
            counts = f"masks {len(kept)} and number of thresholds {len(limits)}"
            raise ValueError(f"Number of {counts} mismatch")
        for mask, limit, weights in zip(kept, limits, masks.get_weights(), strict=False):
            if isinstance(weights, PartitionedVariable):
                weights = weights.as_tensor()
            new_limit, new_mask = self._maybe_update_block_mask(weights, limit)
            self._assign_ops += [_assigned(limit, new_limit), _assigned(mask, new_mask)]

    def mask_update_op(self) -> Any:
        """Changes all masks now."""
        logging.info("Updating masks.")
        with name_scope(self._spec.name):
            if not self._assign_ops:
                self._get_mask_assign_ops()
            noted = "last_mask_update_step_assign"
            step = assign(self._last_update_step, self._global_step, name=noted)
            return group(step, *self._assign_ops, name="mask_update")

    def conditional_mask_update_op(self) -> Any:
        """Changes all masks, if enough steps have passed and pruning has begun and not ended."""
        spec = self._spec
        with name_scope(spec.name):
            step = self._global_step
            due = math.less_equal(self._last_update_step + spec.pruning_frequency, step)
            is_time = math.logical_and(math.greater_equal(step, spec.begin_pruning_step), due)
            if spec.end_pruning_step >= 0:
                not_ended = math.less_equal(step, spec.end_pruning_step)
                is_time = math.logical_and(is_time, not_ended)
        return cond(is_time, self.mask_update_op, no_op)

    def add_pruning_summaries(self) -> None:
        """Summaries of the sparsity and threshold of every mask."""
        shown: list[tuple[str, Any]] = [
            ("sparsity", lambda: self._sparsity),
            ("last_mask_update_step", lambda: self._last_update_step),
        ]
        for mask, limit in zip(masks.get_masks(), masks.get_thresholds(), strict=False):
            shown.append((f"{mask.op.name}/sparsity", functools.partial(zero_fraction, mask)))
            shown.append((f"{limit.op.name}/threshold", lambda limit=limit: limit))
        with name_scope(f"{self._spec.name}_summaries"):
            for label, value in shown:
                summary.scalar(label, value())

    def print_hparams(self) -> None:
        """Logs the settings."""
        logging.info(self._spec.to_json())


def _assigned(variable: Any, value: Tensor) -> Any:
    """The assignment of a value, part by part where the variable has parts."""
    if not isinstance(variable, PartitionedVariable):
        return assign(variable, value, name=variable.op.name + "_assign")
    own = list(variable)
    shapes = [part.get_shape().as_list() for part in own]
    whole = variable.get_shape().as_list()
    axis = next((i for i, size in enumerate(whole) if shapes[0][i] < size), 0)
    pieces = split(value, [shape[axis] for shape in shapes], axis=axis)
    parts = [_assigned(part, piece) for part, piece in zip(own, pieces, strict=True)]
    return group(*parts, name=variable.name + "_group_assign")


def train(
    train_op: Any,
    logdir: Any,
    mask_update_op: Any,
    train_step_fn: Any = learning.train_step,
    **settings: Any,
) -> Any:
    """`tf.contrib.slim.learning.train`, with an update of the masks after every step."""

    def step(session: Any, train_op: Any, global_step: Any, kwargs: Any) -> tuple[Any, Any]:
        found = train_step_fn(session, train_op, global_step, kwargs)
        session.run(mask_update_op)
        return found

    return learning.train(train_op, logdir, train_step_fn=step, **settings)
