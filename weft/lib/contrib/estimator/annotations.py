"""Networks whose graphs tell what their columns are, to attribute predictions to features.

Integrated gradients need the features as they came, the columns, and what the columns made of them:
all three are in collections of the graph, and so of the exported model.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from weft.core.signatures import with_parameters_of
from weft.graph.convert import convert_to_tensor_or_indexed_slices
from weft.graph.graph import add_to_collection
from weft.lib.estimator.canned import dnn
from weft.lib.estimator.estimator import Estimator
from weft.lib.feature_column.transformation import make_parse_example_spec
from weft.lib.saved_model.tensor_info import build_tensor_info

_UNPROCESSED = "layer_annotations/unprocessed_features"
_PROCESSED = "layer_annotatons/processed_features"  # TensorFlow's spelling, which readers look for
_COLUMNS = "layer_annotations/feature_columns"


def _add(collection: str, key: str, tensor: Any) -> None:
    from google.protobuf.any_pb2 import Any as AnyMessage

    message = AnyMessage()
    message.Pack(build_tensor_info(tensor))
    add_to_collection(f"{collection}/keys", key)
    add_to_collection(f"{collection}/values", message)


def _annotate(features: Any, columns: Any, outputs: dict[Any, Any]) -> None:
    for key in make_parse_example_spec(columns):
        _add(_UNPROCESSED, key, convert_to_tensor_or_indexed_slices(features[key]))
    for column in columns:
        # What makes the variables of an embedding cannot be pickled, and is of no use elsewhere.
        plain = column._replace(layer_creator=None) if hasattr(column, "layer_creator") else column
        add_to_collection(_COLUMNS, pickle.dumps(plain))
    for column, tensor in outputs.items():
        _add(_PROCESSED, column.name, tensor)


def _annotated(kind: type[Estimator], doc: str) -> Callable[..., Estimator]:
    @with_parameters_of(kind.__init__, without=("self", "batch_norm"))
    def make(**given: Any) -> Estimator:
        original = kind(**given)

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            with dnn.watched_inputs(_annotate):
                return original.model_fn(features, labels, mode, config)

        chosen = {name: given[name] for name in ("model_dir", "config", "warm_start_from")}
        return Estimator(model_fn, **chosen)

    make.__name__ = make.__qualname__ = f"{kind.__name__}WithLayerAnnotations"
    make.__doc__ = doc
    return make


DNNClassifierWithLayerAnnotations = _annotated(
    dnn.DNNClassifier, "A `tf.estimator.DNNClassifier` whose graph tells what its columns are."
)
DNNRegressorWithLayerAnnotations = _annotated(
    dnn.DNNRegressor, "A `tf.estimator.DNNRegressor` whose graph tells what its columns are."
)
