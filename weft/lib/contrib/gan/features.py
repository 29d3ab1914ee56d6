"""tf.contrib.gan.features: what discriminators and generators are often built with."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.lib.contrib.layers.dense import fully_connected
from weft.ops.array import array
from weft.ops.control.cond import cond
from weft.ops.control.control import group
from weft.ops.math import casts, math
from weft.ops.math.clip import clip_by_value
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.queues.queues import RandomShuffleQueue
from weft.ops.random.random import random_uniform
from weft.ops.state.get_variable import get_variable
from weft.ops.state.updates import assign


def clip_variables(optimizer: Any, variables: Any, weight_clip: float) -> Any:
    """An optimizer whose steps end with all variables within `weight_clip` of zero."""
    if weight_clip < 0:
        raise ValueError(f"`weight_clip` must be positive. Instead, was {weight_clip}")
    return _Clipped(optimizer, variables, weight_clip)


def clip_discriminator_weights(optimizer: Any, model: Any, weight_clip: float) -> Any:
    """`clip_variables` of the discriminator of a model."""
    return clip_variables(optimizer, model.discriminator_variables, weight_clip)


class _Clipped:
    """An optimizer in all but `apply_gradients`, after which it clips."""

    def __init__(self, optimizer: Any, variables: Any, limit: float) -> None:
        self._optimizer, self._variables, self._limit = optimizer, list(variables), limit

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """A step, then the variables cut to size."""
        step = self._optimizer.apply_gradients(*args, **kwargs)
        with control_dependencies([step]):
            cut = [
                assign(each, clip_by_value(each, -self._limit, self._limit))
                for each in self._variables
            ]
        return group(step, *cut, name="clipped")

    def minimize(
        self, loss: Any, global_step: Any = None, var_list: Any = None, **options: Any
    ) -> Any:
        """A step towards the minimum of a loss."""
        pairs = self._optimizer.compute_gradients(loss, var_list, **options)
        return self.apply_gradients(pairs, global_step=global_step)


def condition_tensor(tensor: Any, conditioning: Any) -> Any:
    """`tensor` plus a layer of `conditioning`, of as many numbers as an example of it has."""
    tensor, conditioning = convert_to_tensor(tensor), convert_to_tensor(conditioning)
    sizes = tensor.shape.as_list()[1:]
    if None in sizes:
        raise ValueError("Tensor should have fully known shape, besides batch dimension.")
    if conditioning.shape.ndims and conditioning.shape.ndims > 2:
        width = conditioning.shape[1:].num_elements()
        conditioning = array.reshape(conditioning, [-1, width])
    mapped = fully_connected(conditioning, tensor.shape[1:].num_elements(), activation_fn=None)
    if not mapped.shape.is_compatible_with(tensor.shape):
        mapped = array.reshape(mapped, [-1, *sizes])
    return tensor + mapped


def condition_tensor_from_onehot(
    tensor: Any, one_hot_labels: Any, embedding_size: int = 256
) -> Any:
    """`condition_tensor` by an embedding of the class of each example."""
    one_hot_labels = convert_to_tensor(one_hot_labels)
    one_hot_labels.shape.assert_has_rank(2)
    table = get_variable("class_embedding", [one_hot_labels.shape[1], embedding_size])
    classes = casts.cast(math.argmax(one_hot_labels, axis=1), dtypes.int32)
    return condition_tensor(tensor, embedding_lookup(table, classes, name="lookup"))


def tensor_pool(
    input_values: Any,
    pool_size: int = 50,
    pooling_probability: float = 0.5,
    name: str = "tensor_pool",
) -> Any:
    """Values of this step, or of an earlier one with a probability, once the pool is full."""
    pool_size = int(pool_size)
    if pool_size < 0:
        raise ValueError("`pool_size` is negative.")
    if pool_size == 0:
        return input_values
    flat = [convert_to_tensor(value) for value in nest.flatten(input_values)]
    with name_scope(name, values=flat):
        queue = RandomShuffleQueue(
            pool_size, 0, [value.dtype for value in flat], [value.shape for value in flat]
        )

        def fill() -> Any:
            with control_dependencies([queue.enqueue(flat)]):
                return [array.identity(value) for value in flat]

        def swap() -> Any:
            return cond(random_uniform([]) < pooling_probability, _swapped, lambda: list(flat))

        def _swapped() -> Any:
            kept = queue.dequeue()
            kept = kept if isinstance(kept, list | tuple) else [kept]
            with control_dependencies([*kept, queue.enqueue(flat)]):
                return [array.identity(value) for value in kept]

        found = cond(queue.size() < pool_size, fill, swap)
        found = found if isinstance(found, list | tuple) else [found]
        for value, given in zip(found, flat, strict=True):
            value.set_shape(given.shape)
        return nest.pack_sequence_as(input_values, list(found))
