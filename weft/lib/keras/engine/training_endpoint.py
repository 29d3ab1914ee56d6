"""One output of a compiled model: its target, its loss, the weights of its samples."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.graph.constant import constant
from weft.lib.keras import losses
from weft.lib.keras.backend import is_placeholder, is_sparse, placeholder
from weft.lib.keras.backend.config import floatx, image_data_format
from weft.lib.keras.engine.layer_nodes import mask_of
from weft.lib.keras.engine.node import int_shape
from weft.ops.array import array


class Part(NamedTuple):
    """The values from which the loss and the metrics of one output are computed."""

    target: Any
    output: Any
    sample_weight: Any
    mask: Any


class Endpoint:
    """An output without a loss function is not trained, and has no target."""

    def __init__(self, output: Any, output_name: str, loss_fn: Any) -> None:
        self.output, self.output_name, self.loss_fn = output, output_name, loss_fn
        self.loss_weight: Any = 1.0
        self.target: Any = None
        # Whether targets are given batch by batch, rather than being a tensor of the program.
        self.feeds_target = False
        self.output_loss_metric: Any = None
        self.sample_weight: Any = None
        # None, "samplewise" or "temporal": what is given now, and what `sample_weight` is for.
        self.sample_weight_mode: str | None = None
        self.made_for_mode: str | None = None

    @property
    def shape(self) -> Any:
        """The shape of the output; None where only a value will tell."""
        return None if self.output is None else int_shape(self.output)

    @property
    def part(self) -> Part:
        return Part(self.target, self.output, self.sample_weight, mask_of(self.output))

    @property
    def is_skipped(self) -> bool:
        return self.loss_fn is None

    @property
    def takes_sample_weights(self) -> bool:
        return self.feeds_target

    @property
    def loss_name(self) -> str:
        return self.output_name + "_loss"

    def make_target(self, target: Any) -> None:
        """Takes `target`, or makes a placeholder for it."""
        if not self.is_skipped:
            self.feeds_target = target is None or is_placeholder(target)
            is_wanted = target is None and self.output is not None
            self.target = self._placeholder() if is_wanted else target

    def _placeholder(self) -> Any:
        return placeholder(
            name=f"{self.output_name}_target",
            ndim=len(self.shape),
            dtype=self.output.dtype.base_dtype.name,
            sparse=is_sparse(self.output),
        )

    @property
    def target_shape(self) -> Any:
        """The shape that targets must have; None if the loss alone knows."""
        if not self.feeds_target or self.shape is None:
            return None
        loss = self.loss_fn
        if is_sparse_categorical(loss):
            if image_data_format() == "channels_first":
                return (self.shape[0], 1, *self.shape[2:])
            return (*self.shape[:-1], 1)
        if not isinstance(loss, losses.Loss):
            return None
        if isinstance(loss, losses.LossFunctionWrapper):
            known = getattr(losses, getattr(loss.fn, "__name__", ""), None)
            return None if known is None else self.shape
        return self.shape

    # ---- weights of samples ----

    @property
    def needs_other_weights(self) -> bool:
        """Whether weights are given and there is no place for them, or the other way round."""
        return self.takes_sample_weights and self.sample_weight_mode != self.made_for_mode

    def make_sample_weight(self) -> None:
        """A placeholder for weights, if there are any; they are 1 where nothing is fed."""
        self.made_for_mode = self.sample_weight_mode
        if not self.takes_sample_weights or self.sample_weight_mode is None:
            self.sample_weight = None
            return
        temporal = self.sample_weight_mode == "temporal"
        self.sample_weight = array.placeholder_with_default(
            constant([[1.0]] if temporal else [1.0], dtype=floatx()),
            shape=[None, None] if temporal else [None],
            name=self.output_name + "_sample_weights",
        )


def is_sparse_categorical(loss: Any) -> bool:
    """Whether labels are numbers of classes."""
    if isinstance(loss, losses.SparseCategoricalCrossentropy):
        return True
    wrapped = isinstance(loss, losses.LossFunctionWrapper)
    return wrapped and loss.fn is losses.sparse_categorical_crossentropy
