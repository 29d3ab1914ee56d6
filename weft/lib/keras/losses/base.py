"""Losses as objects: a function, how its values are reduced, and the arguments it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import Tensor, name_scope
from weft.graph.tensor_util import is_tensor
from weft.lib.distribute.context import has_strategy
from weft.lib.keras import backend as K
from weft.lib.keras.losses import functions
from weft.lib.keras.losses.weighting import Reduction, compute_weighted_loss

_USE_A_SUM = (
    "Please use `tf.keras.losses.Reduction.SUM` or `tf.keras.losses.Reduction.NONE` for loss "
    "reduction when losses are used with `tf.distribute.Strategy` outside of the built-in training "
    "loops. You can implement `tf.keras.losses.Reduction.SUM_OVER_BATCH_SIZE` by dividing the sum "
    "of `Reduction.NONE` losses by the global batch size."
)


class Loss:
    """Base of all losses: a subclass has `call(y_true, y_pred)`, one number for each example."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = None) -> None:
        Reduction.validate(reduction)
        self.reduction, self.name = reduction, name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Tensor:
        with name_scope(self._scope_name()):
            losses = self.call(y_true, y_pred)
            return compute_weighted_loss(losses, sample_weight, reduction=self._get_reduction())

    def _scope_name(self) -> str:
        # A scope cannot be called as a lambda is.
        return "lambda" if self.name == "<lambda>" else self.name or type(self).__name__

    def call(self, y_true: Any, y_pred: Any) -> Tensor:
        raise NotImplementedError("Must be implemented in subclasses.")

    def _get_reduction(self) -> str:
        """How to reduce; a mean over the batch of a replica would not be one over all replicas."""
        over_batch = self.reduction in (Reduction.AUTO, Reduction.SUM_OVER_BATCH_SIZE)
        if over_batch and has_strategy():
            raise ValueError(_USE_A_SUM)
        return Reduction.decided(self.reduction)

    def get_config(self) -> dict[str, Any]:
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)


class LossFunctionWrapper(Loss):
    """A loss that is a function of labels, predictions and fixed arguments."""

    def __init__(
        self,
        fn: Callable[..., Any],
        reduction: str = Reduction.AUTO,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(reduction=reduction, name=name)
        self.fn, self._fn_kwargs = fn, kwargs

    def call(self, y_true: Any, y_pred: Any) -> Tensor:
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self) -> dict[str, Any]:
        fixed = {k: K.eval(v) if is_tensor(v) else v for k, v in self._fn_kwargs.items()}
        return {**super().get_config(), **fixed}


class MeanSquaredError(LossFunctionWrapper):
    """The mean of the squares of differences."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "mean_squared_error") -> None:
        super().__init__(functions.mean_squared_error, reduction, name)


class MeanAbsoluteError(LossFunctionWrapper):
    """The mean of the magnitudes of differences."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "mean_absolute_error") -> None:
        super().__init__(functions.mean_absolute_error, reduction, name)


class MeanAbsolutePercentageError(LossFunctionWrapper):
    """The mean of the magnitudes of differences, in percent of the labels."""

    def __init__(
        self, reduction: str = Reduction.AUTO, name: str = "mean_absolute_percentage_error"
    ) -> None:
        super().__init__(functions.mean_absolute_percentage_error, reduction, name)


class MeanSquaredLogarithmicError(LossFunctionWrapper):
    """The mean of the squares of differences between logarithms."""

    def __init__(
        self, reduction: str = Reduction.AUTO, name: str = "mean_squared_logarithmic_error"
    ) -> None:
        super().__init__(functions.mean_squared_logarithmic_error, reduction, name)


class BinaryCrossentropy(LossFunctionWrapper):
    """The cross entropy of probabilities and labels that are 0 or 1."""

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: Any = 0,
        reduction: str = Reduction.AUTO,
        name: str = "binary_crossentropy",
    ) -> None:
        super().__init__(
            functions.binary_crossentropy,
            reduction,
            name,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )
        self.from_logits = from_logits


class CategoricalCrossentropy(LossFunctionWrapper):
    """The cross entropy of predictions and labels that are distributions over classes."""

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: Any = 0,
        reduction: str = Reduction.AUTO,
        name: str = "categorical_crossentropy",
    ) -> None:
        super().__init__(
            functions.categorical_crossentropy,
            reduction,
            name,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


class SparseCategoricalCrossentropy(LossFunctionWrapper):
    """The cross entropy of predictions and classes that labels give by number."""

    def __init__(
        self,
        from_logits: bool = False,
        reduction: str = Reduction.AUTO,
        name: str = "sparse_categorical_crossentropy",
    ) -> None:
        super().__init__(
            functions.sparse_categorical_crossentropy, reduction, name, from_logits=from_logits
        )


class Hinge(LossFunctionWrapper):
    """How far predictions are from being beyond 1 on the side of their labels, -1 or 1."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "hinge") -> None:
        super().__init__(functions.hinge, reduction, name)


class SquaredHinge(LossFunctionWrapper):
    """How far predictions are on the wrong side of labels of -1 and 1 (and a margin), squared."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "squared_hinge") -> None:
        super().__init__(functions.squared_hinge, reduction, name)


class CategoricalHinge(LossFunctionWrapper):
    """How far the true class is from being ahead of the others by 1."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "categorical_hinge") -> None:
        super().__init__(functions.categorical_hinge, reduction, name)


class Poisson(LossFunctionWrapper):
    """The loss of predicted rates when labels are counts."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "poisson") -> None:
        super().__init__(functions.poisson, reduction, name)


class LogCosh(LossFunctionWrapper):
    """The logarithm of the hyperbolic cosine of the difference."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str = "logcosh") -> None:
        super().__init__(functions.logcosh, reduction, name)


class KLDivergence(LossFunctionWrapper):
    """How much a distribution, the label, differs from another, the prediction."""

    def __init__(
        self, reduction: str = Reduction.AUTO, name: str = "kullback_leibler_divergence"
    ) -> None:
        super().__init__(functions.kullback_leibler_divergence, reduction, name)


class Huber(LossFunctionWrapper):
    """Half the square of small differences; large ones count linearly."""

    def __init__(
        self, delta: float = 1.0, reduction: str = Reduction.AUTO, name: str = "huber_loss"
    ) -> None:
        super().__init__(functions.huber_loss, reduction, name, delta=delta)


class CosineSimilarity(LossFunctionWrapper):
    """The cosine of the angle between predictions and labels."""

    def __init__(
        self, axis: int = -1, reduction: str = Reduction.AUTO, name: str = "cosine_similarity"
    ) -> None:
        super().__init__(functions.cosine_similarity, reduction, name, axis=axis)
