"""Heads for logits at every step: steps that examples do not have count for nothing."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any

from weft.core import dtypes
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.lib.estimator.heads.base import Head
from weft.lib.estimator.heads.multi_head import MultiHead
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.ops.array import array
from weft.ops.array.one_hot_search import boolean_mask
from weft.ops.control.check import assert_equal
from weft.ops.math import math
from weft.ops.sparse.select import sparse_reorder


class SequentialHead(Head):
    """A head that reads the mask of steps among the features."""

    @property
    @abc.abstractmethod
    def input_sequence_mask_key(self) -> str:
        """The name of the mask, [batch, steps]."""


class SequentialHeadWrapper(SequentialHead):
    """Another head, over the steps of all examples as if each were an example of its own.

    Args:
        static_head: the head of a step; not a `MultiHead`.
        sequence_length_mask: the name of the mask among the features.
        feature_columns: the names of features, such as weights, that the head needs.

    Raises:
        TypeError: a name is not a string.
        ValueError: the head is a `MultiHead`.
    """

    def __init__(
        self,
        static_head: Any,
        sequence_length_mask: str = "sequence_length_mask",
        feature_columns: Any = None,
    ) -> None:
        if not isinstance(sequence_length_mask, str):
            raise TypeError(
                "`sequence_mask` column must be a string. "
                f"Given type: {type(sequence_length_mask)}."
            )
        self._mask_key, self._feature_columns = sequence_length_mask, _names(feature_columns)
        if isinstance(static_head, MultiHead):
            raise ValueError("`MultiHead` is not supported with `SequentialHeadWrapper`.")
        self._static_head = static_head

    @property
    def static_head(self) -> Any:
        return self._static_head

    @property
    def input_sequence_mask_key(self) -> str:
        return self._mask_key

    @property
    def logits_dimension(self) -> int:
        return self._static_head.logits_dimension

    @property
    def loss_reduction(self) -> str:
        return self._static_head.loss_reduction

    @property
    def name(self) -> str | None:
        return f"{self._static_head.name}_sequential" if self._static_head.name else None

    # ---- steps, one under the other ----

    def _flatten(self, labels: Any, logits: Any, features: dict[str, Any]) -> dict[str, Any]:
        """Labels, logits and features of the steps that are there, by the names heads use."""
        if self._mask_key not in features:
            raise ValueError(
                f"The provided sequence_length_mask key `{self._mask_key}` should be included in "
                f"the features dictionary, but was not found. Found keys: {list(features)}."
            )
        mask = features[self._mask_key]
        if mask.shape.ndims != 2:
            raise ValueError(
                f"Mask is expected to have two dimensions, got {mask.shape.ndims} instead."
            )
        with name_scope("flatten"):
            count = math.reduce_sum(math.cast(mask, dtypes.int32))
            flat = {name: _flat(each, mask, count) for name, each in
                    (("logits", logits), ("labels", labels))}  # fmt: skip
            for column in self._feature_columns:
                if column not in features:
                    raise ValueError(f"`{column}` column expected in features dictionary.")
            kept = {each: _flat(features[each], mask, count) for each in self._feature_columns}
            return {**flat, "features": kept}

    def loss(  # type: ignore[override]
        self,
        logits: Any,
        labels: Any,
        features: Any = None,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> Tensor:
        return self._static_head.loss(
            **self._flatten(labels, logits, features),
            mode=mode,
            regularization_losses=regularization_losses,
        )

    def update_metrics(  # type: ignore[override]
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        return self._static_head.update_metrics(
            eval_metrics=eval_metrics,
            **self._flatten(labels, logits, features),
            regularization_losses=regularization_losses,
        )

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Tensor]:
        return self._static_head.predictions(logits, keys=keys)

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        return self._static_head.metrics(regularization_losses)

    def create_estimator_spec(  # type: ignore[override]
        self, features: Any, mode: Any, logits: Any, labels: Any = None, **training: Any
    ) -> EstimatorSpec:
        """That of the head inside; predictions are those of all steps, with their mask."""
        if mode != ModeKeys.PREDICT:
            flat = self._flatten(labels, logits, features)
            return self._static_head.create_estimator_spec(mode=mode, **flat, **training)
        spec = self._static_head.create_estimator_spec(features=features, mode=mode, logits=logits)
        spec.predictions[self._mask_key] = features[self._mask_key]
        return spec


def _names(given: Any) -> list[str]:
    columns = given or []
    if not isinstance(columns, Iterable):
        raise TypeError(
            "`feature_columns` must be either a string or an iterable of strings got "
            f"{type(columns)} instead."
        )
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"Column must a string. Given type: {type(name)}.")
    return names


def _flat(tensor: Any, mask: Tensor, count: Tensor) -> Tensor:
    """The steps of a tensor where the mask is True, [count, ...]; there must be as many."""
    if not isinstance(tensor, (Tensor, SparseTensor)):
        raise ValueError(
            f"`tensor` expected to be a `Tensor` or  `SparseTensor` got `{tensor}` instead."
        )
    rank = int(tensor.shape.ndims or 0)
    if rank < 2:
        raise ValueError(
            f"Input tensor expected to have at least 2 dimensions, got {rank} instead."
        )
    width = tensor.shape.as_list()[2:] or [1]
    if isinstance(tensor, SparseTensor):
        flat = array.reshape(sparse_reorder(tensor).values, [-1, *width])
    else:
        flat = boolean_mask(tensor, mask)
        flat = array.expand_dims(flat, -1) if rank == 2 else flat
    message = "Tensor shape is incompatible with provided mask."
    wanted = array.concat([[count], width], axis=0)
    with control_dependencies([assert_equal(array.shape(flat), wanted, message=message)]):
        return array.identity(flat)
