"""A linear classifier of mapped features."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.kernel_methods.mappers import DenseKernelMapper
from weft.lib.contrib.layers.dense_columns import _RealValuedColumn, real_valued_column
from weft.lib.contrib.learn.canned import _Classifier
from weft.lib.contrib.learn.head import multi_class_head
from weft.lib.contrib.learn.networks import linear_model_fn
from weft.lib.platform import tf_logging as logging
from weft.ops.array.join import concat

Mappers = dict[Any, list[DenseKernelMapper]]


def _mapped(features: dict[str, Any], columns: Any, mappers: Mappers) -> tuple[Any, list[Any]]:
    """Features and columns, and a mapped one for each real-valued column that has maps."""
    new: dict[str, Any] = {}
    added = []
    for column, maps in mappers.items():
        if not isinstance(column, _RealValuedColumn):
            logging.warning(
                "Updates are currently supported on RealValuedColumns only. Metadata for"
                " FeatureColumn %s will not be updated.",
                column.name,
            )
            continue
        name = f"{column.name}_MAPPED"
        added.append(real_valued_column(name, sum(each.output_dim for each in maps)))
        new[name] = concat([each.map(features[column.name]) for each in maps], 1)
    return features | new, [*columns, *added]


class KernelLinearClassifier(_Classifier):
    """A linear model of `feature_columns` as they are, and of what maps make of others.

    `kernel_mappers` are the maps of real-valued columns, by column.
    """

    def __init__(
        self,
        feature_columns: Any = None,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        kernel_mappers: Mappers | None = None,
        config: Any = None,
    ) -> None:
        if not feature_columns and not kernel_mappers:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        mappers = kernel_mappers or {}
        if not all(isinstance(each, DenseKernelMapper) for row in mappers.values() for each in row):
            raise ValueError("Invalid kernel mappers.")
        head = multi_class_head(n_classes, weight_column_name=weight_column_name)

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            features, columns = _mapped(features, feature_columns or [], mappers)
            return linear_model_fn(head, columns, optimizer)(features, labels, mode, config)

        super().__init__(model_fn, model_dir, config)

    def predict_classes(self, input_fn: Any = None) -> Any:  # type: ignore[override]
        """The number of the likeliest class of each example."""
        return super().predict_classes(input_fn=input_fn)

    def predict_proba(self, input_fn: Any = None) -> Any:  # type: ignore[override]
        """The probability of every class, for each example."""
        return super().predict_proba(input_fn=input_fn)
