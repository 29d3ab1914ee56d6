"""Mixtures: one of several distributions is chosen, and drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.categorical import Categorical
from weft.lib.distributions.described import keeps_arguments
from weft.lib.distributions.reparameterization import NOT_REPARAMETERIZED
from weft.lib.distributions.special import new_seed
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import one_hot, where_v2
from weft.ops.array.partition import dynamic_partition, dynamic_stitch
from weft.ops.array.repeat import tile
from weft.ops.control.check import assert_equal
from weft.ops.math import math
from weft.ops.nn.activations import log_softmax, softmax


def _check_components(cat: Any, components: Any) -> None:
    if not isinstance(cat, Categorical):
        raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
    if not components:
        raise ValueError("components must be a non-empty list or tuple")
    if not isinstance(components, list | tuple):
        raise TypeError(f"components must be a list or tuple, but saw: {components}")
    kinds = [(each.name, each.dtype) for each in components if isinstance(each, Distribution)]
    if len(kinds) < len(components):
        rule = "all entries in components must be Distribution instances"
        raise TypeError(f"{rule} but saw: {components}")
    if len({dtype for _, dtype in kinds}) > 1:
        raise TypeError(f"All components must have the same dtype, but saw dtypes: {kinds}")


class Mixture(Distribution):
    """Of distributions of any kind, chosen by `cat`.

    With `use_static_graph` each component is drawn from as often as all together, and what is not
    chosen is thrown away: a step can then be compiled.
    """

    @keeps_arguments
    def __init__(
        self, cat: Categorical, components: Sequence[Distribution], validate_args: bool = False,
        allow_nan_stats: bool = True, use_static_graph: bool = False, name: str = "Mixture",
    ) -> None:  # fmt: skip
        _check_components(cat, components)
        event, batch = components[0].event_shape, cat.batch_shape
        for each in components:
            event = event.merge_with(each.event_shape)
            batch = batch.merge_with(each.batch_shape)
        if event.ndims is None:
            raise ValueError(
                "Expected to know rank(event_shape) from components, but none of the components"
                " provide a static number of ndims"
            )
        self._known_event, self._known_batch = event, batch
        self._use_static_graph = use_static_graph
        with name_scope(name, values=[cat.logits]) as name:
            self._cat, self._components = cat, list(components)
            self._num_components = self._checked_count()
            self._batch_rank = array.size(cat.batch_shape_tensor())
            self._checks = self._shape_checks() if validate_args else []
        parents = [parent for each in (cat, *components) for parent in each._graph_parents]
        super().__init__(
            components[0].dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
            graph_parents=parents, name=name,
        )  # fmt: skip

    def _checked_count(self) -> int:
        count = constant_value(self.cat.event_size)
        if count is None:
            raise ValueError(
                "Could not infer number of classes from cat and unable to compare this value to"
                " the number of components passed in."
            )
        if int(count) != len(self.components):
            raise ValueError(
                f"cat.num_classes != len(components): {int(count)} vs. {len(self.components)}"
            )
        return int(count)

    def _shape_checks(self) -> list[Any]:
        shape = self.cat.batch_shape_tensor()
        shapes = [each.batch_shape_tensor() for each in self.components]
        messages = [
            f"components[{i}] batch shape must match cat batch shape" for i in range(len(shapes))
        ]
        pairs = list(zip(shapes, messages, strict=True))
        ranks = [assert_equal(array.size(shape), array.size(each), message=m) for each, m in pairs]
        return ranks + [assert_equal(shape, each, message=m) for each, m in pairs]

    @property
    def cat(self) -> Categorical:
        """The distribution of the number of the chosen component."""
        return self._cat

    @property
    def components(self) -> list[Distribution]:
        """The distributions to choose from."""
        return self._components

    @property
    def num_components(self) -> int:
        """How many there are."""
        return self._num_components

    def _batch_shape_tensor(self) -> Tensor:
        return self.cat.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self._known_batch

    def _event_shape_tensor(self) -> Tensor:
        return self.components[0].event_shape_tensor()

    def _event_shape(self) -> Any:
        return self._known_event

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        if self._use_static_graph:
            return self._sample_all(n, seed)
        with control_dependencies(self._checks):
            known = constant_value(convert_to_tensor(n, name="n"))
            n = n if known is None else int(known)
            chosen = self.cat.sample(n, seed=seed)
            shape, count, batch = self._sizes(chosen, n)

            def parted(numbers: Tensor) -> list[Tensor]:
                """Numbers of what is chosen, by component."""
                return dynamic_partition(array.reshape(numbers, shape), chosen, self.num_components)

            places = parted(math.range(count))
            columns = parted(tile(math.range(batch), [n]))
            drawn = []
            for component, where, own in zip(self.components, places, columns, strict=True):
                seed = new_seed(seed, "mixture")
                drawn.append(self._rows_of(component, where, own, batch, seed))
            found = dynamic_stitch(places, drawn)
            return array.reshape(found, array.concat([shape, self.event_shape_tensor()], 0))

    def _sizes(self, chosen: Tensor, n: Tensor) -> tuple[Any, Any, Any]:
        """Of what is chosen: the shape, how many there are, and how many in one draw."""
        if s.known(chosen.dims):
            dims: Any = chosen.dims
            return list(dims), int(np.prod(dims)), int(np.prod(dims[1:]))
        return array.shape(chosen), array.size(chosen), math.reduce_prod(self.batch_shape_tensor())

    def _rows_of(
        self, component: Any, places: Tensor, columns: Tensor, batch: Any, seed: int | None
    ) -> Tensor:
        """As many draws from a component as there are places for it, of each its own column."""
        count = array.size(places)
        drawn = component.sample(count, seed=seed)
        rows = batch * math.range(count) + columns
        event = component.event_shape
        inner = event if event.is_fully_defined() else component.event_shape_tensor()
        shape = array.concat([[count * batch], inner], 0)
        return gather(array.reshape(drawn, shape), rows, name="samples_class_c_gather")

    def _sample_all(self, n: Any, seed: int | None) -> Tensor:
        """All components are drawn from, and the chosen one is kept."""
        with control_dependencies(self._checks):
            chosen = self.cat.sample(n, seed=seed)
            drawn = []
            for each in self.components:
                seed = new_seed(seed, "mixture")
                drawn.append(each.sample(n, seed=seed))
            rank = len(self._known_event)
            mask = one_hot(chosen, self.num_components, True, False, dtype=dtypes.bool)
            for _ in range(rank):
                mask = array.expand_dims(mask, -1)
            return chosen_of(mask, array.stack(drawn, -rank - 1), -rank - 1)

    def _weights(self, function: Any) -> list[Tensor]:
        return array.unstack(function(self.cat.logits), num=self.num_components, axis=-1)

    def _for_events(self, weight: Tensor) -> Tensor:
        for _ in range(len(self._known_event)):
            weight = array.expand_dims(weight, -1)
        return weight

    def _log_mixed(self, parts: list[Tensor]) -> Tensor:
        pairs = zip(self._weights(log_softmax), parts, strict=True)
        return math.reduce_logsumexp(array.stack([w + part for w, part in pairs], 0), [0])

    def _mixed(self, parts: list[Tensor]) -> Tensor:
        pairs = zip(self._weights(softmax), parts, strict=True)
        return math.add_n([self._for_events(w) * part for w, part in pairs])

    def _log_prob(self, value: Any) -> Tensor:
        with control_dependencies(self._checks):
            return self._log_mixed([each.log_prob(value) for each in self.components])

    def _log_cdf(self, value: Any) -> Tensor:
        with control_dependencies(self._checks):
            return self._log_mixed([each.log_cdf(value) for each in self.components])

    def _mean(self) -> Tensor:
        with control_dependencies(self._checks):
            return self._mixed([each.mean() for each in self.components])

    def _variance(self) -> Tensor:
        """The mean of the variances and the variance of the means."""
        with control_dependencies(self._checks):
            means = [each.mean() for each in self.components]
            whole = self._mixed(means)
            spread = [math.squared_difference(each, whole) for each in means]
            within = [math.square(each.stddev()) for each in self.components]
            return self._mixed([a + b for a, b in zip(within, spread, strict=True)])

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Tensor:
        """The mean of the entropies of the components."""
        with self._name_scope(name, values=[self.cat.logits]):
            with control_dependencies(self._checks):
                entropies = [each.entropy() for each in self.components]
                pairs = zip(self._weights(softmax), entropies, strict=True)
                return math.add_n([weight * entropy for weight, entropy in pairs])


def chosen_of(mask: Tensor, drawn: Tensor, axis: int) -> Tensor:
    """The values that the mask chooses along an axis; the others may be infinite."""
    return math.reduce_sum(where_v2(mask, drawn, array.zeros_like(drawn)), axis=axis)
