"""Lesser members of a layer: metrics, masks, the layers inside it, scopes for its methods."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.graph import name_scope
from weft.graph.type_spec import TensorSpec


class Members:
    """What every layer has besides weights, losses and calls."""

    input_spec: Any = None
    name: Any
    dtype: Any
    compute_output_shape: Callable[[Any], Any]

    # ---- metrics ----

    @property
    def metrics(self) -> list[Any]:
        return self.__dict__.setdefault("_metrics", [])

    def add_metric(
        self, value: Any, aggregation: str | None = None, name: str | None = None
    ) -> None:
        """Keeps `value` among the metrics; `aggregation` None means that it is one already."""
        if aggregation not in (None, "mean"):
            raise ValueError(
                "We currently support only `mean` sample-wise metric aggregation. You provided "
                f"aggregation=`{aggregation}`"
            )
        self.metrics.append(value)

    # ---- masks: tensors outside of Keras models carry none ----

    def get_input_mask_at(self, node_index: int) -> Any:
        return None

    def get_output_mask_at(self, node_index: int) -> Any:
        return None

    @property
    def input_mask(self) -> Any:
        return None

    @property
    def output_mask(self) -> Any:
        return None

    # ---- what it is ----

    @property
    def dynamic(self) -> bool:
        """Whether it can only run eagerly."""
        return False

    @property
    def inbound_nodes(self) -> list[Any]:
        return []

    @property
    def outbound_nodes(self) -> list[Any]:
        return []

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The layers among its attributes, and those among theirs."""
        found: list[Any] = []
        for key in sorted(vars(self)):
            value = vars(self)[key]
            for item in nest.flatten(value) if nest.is_nested(value) else [value]:
                if isinstance(item, Members) and not any(item is known for known in found):
                    found += [item, *item.submodules]
        return tuple(found)

    def compute_output_signature(self, input_signature: Any) -> Any:
        """Shape and type of the outputs, given those of the inputs."""
        shapes = nest.map_structure(lambda spec: spec.shape, input_signature)
        dtype = self.dtype or nest.flatten(input_signature)[0].dtype
        made = self.compute_output_shape(shapes)
        if isinstance(made, list) and made and isinstance(made[0], (TensorShape, tuple, list)):
            return [TensorSpec(TensorShape(shape), dtype) for shape in made]
        return TensorSpec(TensorShape(made), dtype)

    @property
    def name_scope(self) -> Any:
        """A name scope of the layer's name."""
        return name_scope(self.name)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that runs in the layer's name scope."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped
