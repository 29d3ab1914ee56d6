"""Batch normalization under contrib's names: `BatchNorm/beta`, no gamma unless asked for."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import GraphKeys, Tensor, add_to_collections, control_dependencies
from weft.lib.contrib.framework.arg_scope import add_arg_scope
from weft.lib.contrib.framework.variables import model_variable
from weft.lib.contrib.layers import utils
from weft.lib.layers.normalization import BatchNormalization
from weft.lib.train.optimizers.moving_averages import assign_moving_average
from weft.ops.array import array
from weft.ops.math import moments as nn_moments
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import ones_initializer, zeros_initializer

_INITIAL = {
    "beta": zeros_initializer(),
    "gamma": ones_initializer(),
    "moving_mean": zeros_initializer(),
    "moving_variance": ones_initializer(),
}


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: Any = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Any = None,
    param_initializers: dict[str, Any] | None = None,
    param_regularizers: dict[str, Any] | None = None,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: Any = 0.99,
    adjustment: Any = None,
) -> Tensor:
    """Normalizes by the moments of the batch in training, by moving averages otherwise.

    With `updates_collections` None the averages are updated where the outputs are computed.

    Args:
        inputs: a tensor [batch, ..., channels].
        decay: how slowly the averages forget.
        center, scale: whether there are variables `beta` and `gamma`.
        epsilon: added to the variance, so that it is not zero.
        activation_fn: of the result; None: none.
        param_initializers, param_regularizers: dicts by the names of the variables.
        updates_collections: the collection for operations that update the averages.
        is_training: a bool or tensor.
        reuse: whether to share the variables of the scope.
        variables_collections, outputs_collections: graph collections that they join.
        trainable: whether optimizers update the variables.
        batch_weights: how much each example counts.
        fused: whether to use the one fast operation; None: where it can.
        data_format: "NHWC" or "NCHW".
        zero_debias_moving_mean: correct the mean for its start at zero.
        scope: the variable scope.
        renorm, renorm_clipping, renorm_decay: batch renormalization.
        adjustment: a function of the shape that gives a random scale and bias, for training.

    Returns:
        A tensor like `inputs`.

    Raises:
        ValueError: arguments do not fit together, or the rank is unknown.

    Example:
        >>> y = tf.contrib.layers.batch_norm(tf.constant([[1.0], [3.0]]), epsilon=0.0)
        >>> session.run(tf.global_variables_initializer())
        >>> session.run(y)
        array([[-0.999995],
               [ 0.999995]], dtype=float32)
    """
    inputs = convert_to_tensor(inputs)
    rank = inputs.shape.ndims
    plain = batch_weights is None and not renorm and adjustment is None
    late = updates_collections == GraphKeys.UPDATE_OPS and not zero_debias_moving_mean
    fuses = (fused is None or fused) and plain and rank in (2, 4) and (rank == 2 or not late)
    utils.check_format(data_format, "NCHW", "NHWC")
    initial = {**_INITIAL, **(param_initializers or {})}
    regularizers = param_regularizers or {}
    getter = None if fuses else utils.model_variable_getter()
    with vs.variable_scope(
        scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=getter
    ) as opened:
        if not fuses and late and batch_weights is None:
            layer = BatchNormalization(
                axis=1 if data_format == "NCHW" else -1,
                momentum=decay,
                epsilon=epsilon,
                center=center,
                scale=scale,
                **{f"{name}_initializer": made for name, made in initial.items()},
                beta_regularizer=regularizers.get("beta"),
                gamma_regularizer=regularizers.get("gamma"),
                trainable=trainable,
                renorm=renorm,
                renorm_clipping=renorm_clipping,
                renorm_momentum=renorm_decay,
                adjustment=adjustment,
                name=opened.name,
                _scope=opened,
                _reuse=reuse,
                fused=fused is None or fused,
            )
            outputs = layer.apply(inputs, training=is_training)
            for name in _INITIAL:
                made = getattr(layer, name)
                utils.add_variable_to_collections(made, variables_collections, name)
        else:
            if renorm:
                raise ValueError(
                    "renorm is not supported with batch_weights, updates_collections or "
                    "zero_debias_moving_mean"
                )
            own = _Own(inputs, data_format, decay, epsilon, is_training, zero_debias_moving_mean)
            own.updates_collections = updates_collections
            if fuses:
                own.as_images()
            elif batch_weights is not None:
                own.weigh(batch_weights)
            own.make(center, scale, initial, regularizers, variables_collections, trainable, fuses)
            outputs = own.fused() if fuses else own.composed()
        return utils.finished(outputs, opened.name, outputs_collections, activation_fn)


class _Own:
    """Batch normalization that does its own updates, so that they may happen at once."""

    updates_collections: Any
    images: Tensor
    weights: Any = None

    def __init__(
        self,
        inputs: Tensor,
        data_format: str,
        decay: Any,
        epsilon: float,
        is_training: Any,
        zero_debias: bool,
    ) -> None:
        self.inputs, self.data_format, self.decay = inputs, data_format, decay
        self.epsilon, self.is_training, self.zero_debias = epsilon, is_training, zero_debias
        if inputs.shape.ndims is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        self.rank: int = inputs.shape.ndims
        self.axis = 1 if data_format == "NCHW" else self.rank - 1
        self.shape = inputs.shape[self.axis : self.axis + 1]
        if not self.shape.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {self.shape}.")
        known = utils.constant_value(is_training)
        self.may_train = known is None or bool(known)

    def as_images(self) -> None:
        """Brings the inputs into the form of the fused operation."""
        self.images = self.inputs
        if self.rank == 2:
            channels = self.shape.as_list()[0]
            first = self.data_format == "NCHW"
            sizes = [-1, channels, 1, 1] if first else [-1, 1, 1, channels]
            self.images = array.reshape(self.inputs, sizes)

    def weigh(self, weights: Any) -> None:
        """Lets each example count as much as `weights` says."""
        weights = convert_to_tensor(weights)
        self.inputs.shape[0:1].assert_is_compatible_with(weights.shape)
        self.weights = array.reshape(weights, [-1, *[1] * (self.rank - 1)])

    def make(
        self,
        center: bool,
        scale: bool,
        initial: dict[str, Any],
        regularizers: dict[str, Any],
        collections: Any,
        trainable: bool,
        fused: bool,
    ) -> None:
        dtype = dtypes.float32 if fused else self.inputs.dtype.base_dtype

        def variable(name: str, trainable: bool) -> Any:
            return model_variable(
                name,
                shape=self.shape,
                dtype=dtype,
                initializer=initial[name],
                regularizer=regularizers.get(name),
                collections=utils.get_variable_collections(collections, name),
                trainable=trainable,
            )

        def fixed(value: float) -> Any:
            return constant(value, dtype, self.shape) if fused else None

        self.beta = variable("beta", trainable) if center else fixed(0.0)
        self.gamma = variable("gamma", trainable) if scale else fixed(1.0)
        with vs.variable_scope(vs.get_variable_scope()) as local:
            # Averages are not worth cutting into parts.
            local.set_partitioner(None)
            self.moving_mean = variable("moving_mean", False)
            self.moving_variance = variable("moving_variance", False)

    def _moved(self, mean: Tensor, variance: Tensor) -> tuple[Any, Any]:
        return (
            assign_moving_average(self.moving_mean, mean, self.decay, zero_debias=self.zero_debias),
            assign_moving_average(self.moving_variance, variance, self.decay, zero_debias=False),
        )

    def _averages(self) -> tuple[Any, Any]:
        return self.moving_mean, self.moving_variance

    def _collect_updates(self, mean: Tensor, variance: Tensor) -> None:
        updates = utils.smart_cond(
            self.is_training, lambda: self._moved(mean, variance), self._averages
        )
        for update in updates:
            add_to_collections(self.updates_collections, update)

    def fused(self) -> Tensor:
        def normalized(**statistics: Any) -> Any:
            return nn_moments.fused_batch_norm(
                self.images,
                self.gamma,
                self.beta,
                epsilon=self.epsilon,
                data_format=self.data_format,
                **statistics,
            )

        outputs, mean, variance = utils.smart_cond(
            self.is_training,
            normalized,
            lambda: normalized(
                mean=self.moving_mean, variance=self.moving_variance, is_training=False
            ),
        )

        def with_updates() -> Tensor:
            with control_dependencies(list(self._moved(mean, variance))):
                return array.identity(outputs)

        if self.may_train and self.updates_collections is None:
            outputs = utils.smart_cond(self.is_training, with_updates, lambda: outputs)
        elif self.may_train:
            self._collect_updates(mean, variance)
        outputs.set_shape(self.images.shape)
        return outputs if self.rank == 4 else array.reshape(outputs, array.shape(self.inputs))

    def composed(self) -> Tensor:
        mean, variance = self._statistics()
        beta, gamma = self.beta, self.gamma
        if self.data_format == "NCHW":
            wide = [1, *self.shape.as_list(), *[1] * (self.rank - 2)]
            mean, variance = array.reshape(mean, wide), array.reshape(variance, wide)
            beta = None if beta is None else array.reshape(beta, wide)
            gamma = None if gamma is None else array.reshape(gamma, wide)
        outputs = nn_moments.batch_normalization(
            self.inputs, mean, variance, beta, gamma, self.epsilon
        )
        outputs.set_shape(self.inputs.shape)
        return outputs

    def _statistics(self) -> tuple[Any, Any]:
        """Mean and variance to normalize by; the averages move along."""
        if not self.may_train:
            return self._averages()
        mean, variance = self._moments()

        def moved_at_once() -> tuple[Tensor, Tensor]:
            with control_dependencies(list(self._moved(mean, variance))):
                return array.identity(mean), array.identity(variance)

        if self.updates_collections is None:
            return utils.smart_cond(self.is_training, moved_at_once, self._averages)
        self._collect_updates(mean, variance)
        return utils.smart_cond(self.is_training, lambda: (mean, variance), self._averages)

    def _moments(self) -> tuple[Tensor, Tensor]:
        axes = [i for i in range(self.rank) if i != self.axis]
        if self.weights is None:
            return nn_moments.moments(self.inputs, axes)
        return nn_moments.weighted_moments(self.inputs, axes, self.weights)
