"""Sums and means: of values, of tensors, and of functions of labels and predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor, control_dependencies, init_scope
from weft.graph.tensor_util import is_tensor
from weft.lib.keras import backend as K
from weft.lib.keras.backend.symbolic import eager_program
from weft.lib.keras.losses.weighting import squeeze_or_expand_dimensions
from weft.lib.keras.metrics.base import Metric
from weft.lib.keras.metrics.ragged_values import flat_values
from weft.ops.array import array
from weft.ops.math import casts, math, reduce, unary
from weft.ops.scores.confusion_matrix import remove_squeezable_dimensions
from weft.ops.scores.weights import broadcast_weights

SUM, SUM_OVER_BATCH_SIZE, WEIGHTED_MEAN = "sum", "sum_over_batch_size", "weighted_mean"


def fitting_weights(values: Tensor, weights: Any, reduced: Any) -> tuple[Tensor, Tensor]:
    """(values, weights of their shape); where none fits, `reduced` drops axes of the values."""
    values, _, weights = squeeze_or_expand_dimensions(values, sample_weight=weights)
    try:
        return values, broadcast_weights(weights, values)
    except ValueError:
        axes = list(range(K.ndim(weights), K.ndim(values)))
        return reduced(values, axis=axes), weights


class Reduce(Metric):
    """The sum of all values, or that over their number or over the sum of their weights."""

    total: Any
    count: Any

    def __init__(self, reduction: str, name: str | None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.reduction = reduction
        with init_scope():
            self._add_zeros("total", *(() if reduction == SUM else ("count",)))

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        [values], sample_weight = flat_values([values], sample_weight)
        values = casts.cast(values, self._dtype)
        weights = None
        if sample_weight is not None:
            mean = reduce.reduce_sum if self.reduction == SUM else reduce.reduce_mean
            weights = casts.cast(sample_weight, self._dtype)
            values, weights = fitting_weights(values, weights, mean)
            values = math.multiply(values, weights)
        total = reduce.reduce_sum(values)
        with control_dependencies([total]):
            updated = self.total.assign_add(total)
        if self.reduction == SUM:
            return updated
        number = self._number(values, weights)
        with control_dependencies([updated]):
            return self.count.assign_add(number)

    def _paired(self, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
        """Labels and predictions in the type of the metric, and of shapes that fit."""
        y_true, y_pred = (casts.cast(y, self._dtype) for y in (y_true, y_pred))
        y_pred, y_true = squeeze_or_expand_dimensions(y_pred, y_true)
        return y_true, y_pred

    def _number(self, values: Tensor, weights: Tensor | None) -> Tensor:
        if weights is None or self.reduction == SUM_OVER_BATCH_SIZE:
            return casts.cast(array.size(values), self._dtype)
        return reduce.reduce_sum(weights)

    def result(self) -> Tensor:
        if self.reduction == SUM:
            return array.identity(self.total)
        return math.div_no_nan(self.total, self.count)


class Sum(Reduce):
    """The sum of all values, with weights."""

    def __init__(self, name: str = "sum", dtype: Any = None) -> None:
        super().__init__(SUM, name, dtype)


class Mean(Reduce):
    """The mean of all values, with weights."""

    def __init__(self, name: str | None = "mean", dtype: Any = None) -> None:
        super().__init__(WEIGHTED_MEAN, name, dtype)


class SumOverBatchSize(Reduce):
    """The sum of all values, with weights, over their number."""

    def __init__(self, name: str | None = "sum_over_batch_size", dtype: Any = None) -> None:
        super().__init__(SUM_OVER_BATCH_SIZE, name, dtype)


class _OfFunction(Reduce):
    """A `Reduce` of the values of a function of labels and predictions."""

    _fn: Callable[..., Any]
    _fn_kwargs: dict[str, Any]

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        [y_true, y_pred], sample_weight = flat_values([y_true, y_pred], sample_weight)
        values = self._fn(*self._paired(y_true, y_pred), **self._fn_kwargs)
        return super().update_state(values, sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        fixed = {k: K.eval(v) if is_tensor(v) else v for k, v in self._fn_kwargs.items()}
        return {**super().get_config(), **fixed}


class MeanMetricWrapper(_OfFunction, Mean):
    """The mean of `fn(y_true, y_pred)`."""

    def __init__(
        self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        Mean.__init__(self, name=name, dtype=dtype)
        self._fn, self._fn_kwargs = fn, kwargs


class SumOverBatchSizeMetricWrapper(_OfFunction, SumOverBatchSize):
    """The sum of `fn(y_true, y_pred)`, with weights, over the number of values."""

    def __init__(
        self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        SumOverBatchSize.__init__(self, name=name, dtype=dtype)
        self._fn, self._fn_kwargs = fn, kwargs


class MeanRelativeError(Mean):
    """The mean of errors relative to `normalizer`."""

    def __init__(self, normalizer: Any, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.normalizer = casts.cast(normalizer, self._dtype)

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        [y_pred, y_true], sample_weight = flat_values([y_pred, y_true], sample_weight)
        errors = self._relative_errors(*self._paired(y_true, y_pred))
        return super().update_state(errors, sample_weight=sample_weight)

    def _relative_errors(self, y_true: Any, y_pred: Any) -> Tensor:
        y_pred, self.normalizer = remove_squeezable_dimensions(y_pred, self.normalizer)
        y_pred.shape.assert_is_compatible_with(y_true.shape)
        return math.div_no_nan(math.abs(y_true - y_pred), self.normalizer)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "normalizer": K.eval(self.normalizer)}


class RootMeanSquaredError(Mean):
    """The square root of the mean of squared errors."""

    def __init__(self, name: str = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype=dtype)

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        y_true, y_pred = self._paired(y_true, y_pred)
        squares = math.squared_difference(y_pred, y_true)
        return super().update_state(squares, sample_weight=sample_weight)

    def result(self) -> Tensor:
        return unary.sqrt(math.div_no_nan(self.total, self.count))


class MeanTensor(Metric):
    """The mean of tensors of one shape, element by element."""

    def __init__(self, name: str = "mean_tensor", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self._shape: Any = None
        self.total: Any = None
        self.count: Any = None

    def _take_shape(self, shape: TensorShape) -> None:
        """Makes variables of the first shape; those that follow must be the same."""
        if self._shape is None:
            self._build(shape)
        elif shape != self._shape:
            raise ValueError(
                "MeanTensor input values must always have the same shape. Expected shape (set "
                f"during the first call): {self._shape}. Got: {shape}"
            )

    def _build(self, shape: TensorShape) -> None:
        self._shape = shape
        with init_scope():
            self._add_zeros("total", "count", shape=shape)
            # A program that initializes variables has usually done so by now.
            if eager_program() is None:
                K.initialize_variables(K.get_session())

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        sums = casts.cast(values, self._dtype)
        self._take_shape(sums.shape)
        number = array.ones_like(sums)
        if sample_weight is not None:
            weights = casts.cast(sample_weight, self._dtype)
            sums, weights = fitting_weights(sums, weights, reduce.reduce_mean)
            number, sums = (part * weights for part in (number, sums))
        added = [self.total.assign_add(sums)]
        with control_dependencies(added):
            return self.count.assign_add(number)

    def result(self) -> Tensor:
        if self._shape is None:
            raise ValueError(
                "MeanTensor does not have any result yet. Please call the MeanTensor instance or "
                "use `.update_state(value)` before retrieving the result."
            )
        return math.div_no_nan(self.total, self.count)
