"""How an Estimator calls the functions of a program: with what, on which device, checked how."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from weft.graph.graph import device
from weft.lib.estimator.functions import accepted, fn_args
from weft.lib.estimator.input_results import ends, parse_input_fn_result
from weft.lib.estimator.run_config import RunConfig
from weft.lib.estimator.spec import EstimatorSpec
from weft.lib.platform import tf_logging as logging
from weft.ops.state.global_step import create_global_step, get_global_step


class ModelCalls:
    """The part of an Estimator that fills graphs, by its configuration and its functions."""

    _config: RunConfig
    _params: Any
    _model_fn: Callable[..., Any]

    @property
    def config(self) -> RunConfig:
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        return copy.deepcopy(self._params)

    def _create_global_step(self, graph: Any) -> Any:
        return create_global_step(graph)

    def _create_and_assert_global_step(self, graph: Any) -> Any:
        step = self._create_global_step(graph)
        assert step is get_global_step(graph)
        assert step.dtype.is_integer
        return step

    def _call_input_fn(
        self, input_fn: Callable[..., Any], mode: Any, input_context: Any = None
    ) -> Any:
        offered = accepted(
            input_fn, mode=mode, params=self.params, config=self.config,
            **({} if input_context is None else {"input_context": input_context}),
        )  # fmt: skip
        with device("/cpu:0"):
            return input_fn(**offered)

    def _get_features_and_labels_from_input_fn(self, input_fn: Any, mode: Any) -> Any:
        return parse_input_fn_result(self._call_input_fn(input_fn, mode))

    def _get_features_from_input_fn(self, input_fn: Any, mode: Any) -> tuple[Any, list[Any]]:
        features, _, hooks = self._get_features_and_labels_from_input_fn(input_fn, mode)
        self._validate_features_in_predict_input(features)
        return features, hooks

    def _validate_features_in_predict_input(self, result: Any) -> None:
        if not ends(result):
            logging.warning(
                "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means "
                "predict yields forever. This is probably a mistake."
            )

    def _call_model_fn(self, features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        if labels is not None and "labels" not in fn_args(self._model_fn):
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        offered = accepted(
            self._model_fn, labels=labels, mode=mode, params=self.params, config=config
        )
        logging.info("Calling model_fn.")
        spec = self._model_fn(features=features, **offered)
        logging.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec
