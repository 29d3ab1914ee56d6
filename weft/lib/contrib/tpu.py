"""tf.contrib.tpu: what programs for TPUs need in order to run without them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from weft.core import dtypes
from weft.lib.estimator.tpu_config import InputPipelineConfig as InputPipelineConfig
from weft.lib.estimator.tpu_config import RunConfig as RunConfig
from weft.lib.estimator.tpu_config import TPUConfig as TPUConfig
from weft.lib.estimator.tpu_config import check_positive_integer as check_positive_integer
from weft.lib.estimator.tpu_estimator import ExamplesPerSecondHook as ExamplesPerSecondHook
from weft.lib.estimator.tpu_estimator import TPUEstimator as TPUEstimator
from weft.lib.estimator.tpu_spec import TPUEstimatorSpec as TPUEstimatorSpec
from weft.lib.platform import tf_logging as logging
from weft.lib.train.optimizers.wrapper import WrapperOptimizer
from weft.ops.math.casts import cast
from weft.ops.scores.losses import Reduction
from weft.ops.state.variable_scope import VariableScope, variable_scope


@contextlib.contextmanager
def bfloat16_scope() -> Iterator[VariableScope]:
    """Inside the block, variables that are asked for as bfloat16 are kept as float32.

    They are read as bfloat16; those of other types are as they are asked for.

    Example:
        >>> with tf.tpu.bfloat16_scope():
        ...     weights = tf.get_variable("weights", [2], tf.bfloat16)
        >>> weights.dtype.name, tf.global_variables()[0].dtype.base_dtype.name
        ('bfloat16', 'float32')
    """

    def read(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if kwargs["dtype"] != dtypes.bfloat16:
            return getter(*args, **kwargs)
        return cast(getter(*args, **kwargs | {"dtype": dtypes.float32}), dtypes.bfloat16)

    with variable_scope("", custom_getter=read) as scope:
        yield scope


class CrossShardOptimizer(WrapperOptimizer):
    """Applies another optimizer to gradients summed over all shards; there is one.

    Args:
        opt: the optimizer that makes the step.
        reduction: `Reduction.SUM` or `Reduction.MEAN` of the shards.
        name: of the operations.
        group_assignment: which shards belong together; not used.

    Raises:
        ValueError: the reduction is another one.

    Example:
        >>> v = tf.Variable(1.0)
        >>> inner = tf.train.GradientDescentOptimizer(0.5)
        >>> train = tf.contrib.tpu.CrossShardOptimizer(inner).minimize(v)
        >>> session.run(v.initializer)
        >>> session.run(train)
        >>> float(session.run(v))
        0.5
    """

    def __init__(
        self,
        opt: Any,
        reduction: str = Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: Any = None,
    ) -> None:
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        if group_assignment and group_assignment != [[0]]:
            raise ValueError(
                "group_assignment must be a permutation of range(1). Got "
                f"group_assignment={group_assignment}"
            )
        super().__init__(opt, False, name)

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        logging.warning(
            "CrossShardOptimizer should be used within a tpu_shard_context, but got unset "
            "number_of_shards. Assuming 1."
        )
        return super().compute_gradients(*args, **kwargs)
