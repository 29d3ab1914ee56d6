"""The three functions of a compiled model: one step of training, of testing, of predicting.

Each is one run of a session: losses, metrics and all updates of variables together.
"""

from __future__ import annotations

from typing import Any

from weft.graph.graph import name_scope
from weft.lib.keras.backend import function, symbolic_learning_phase
from weft.lib.keras.backend.symbolic import eager_program, in_model_graph
from weft.lib.keras.engine import training_losses
from weft.lib.keras.engine.training_eager import EagerStep
from weft.lib.keras.engine.training_replicas import ReplicaSteps, strategy_of
from weft.lib.platform import tf_logging as logging


def feeds_learning_phase() -> bool:
    """Whether a program says step by step if it trains."""
    return not isinstance(symbolic_learning_phase(), int)


class TrainingFunctions:
    name: str
    inputs: Any
    outputs: Any
    optimizer: Any
    total_loss: Any
    metrics: list[Any]
    run_eagerly: bool
    state_updates: list[Any]
    _feed_inputs: list[Any]
    _is_compiled: bool
    _training_endpoints: list[Any]

    # ---- what is fed ----

    @property
    def _targets(self) -> list[Any]:
        return [e.target for e in self._training_endpoints]

    @property
    def _loss_weights_list(self) -> list[Any]:
        return [e.loss_weight for e in self._training_endpoints]

    @property
    def _fed_endpoints(self) -> list[Any]:
        return [e for e in self._training_endpoints if e.feeds_target]

    @property
    def _feed_targets(self) -> list[Any]:
        return [e.target for e in self._fed_endpoints]

    @property
    def _feed_output_names(self) -> list[str]:
        return [e.output_name for e in self._fed_endpoints]

    @property
    def sample_weights(self) -> list[Any]:
        return [e.sample_weight for e in self._training_endpoints]

    @property
    def _feed_sample_weights(self) -> list[Any]:
        return [w for w in self.sample_weights if w is not None]

    # ---- what is updated, what is told ----

    @property
    def _output_loss_metrics(self) -> list[Any]:
        endpoints = getattr(self, "_training_endpoints", [])
        return [e.output_loss_metric for e in endpoints if e.output_loss_metric is not None]

    def _get_training_eval_metrics(self) -> list[Any]:
        return [*self._output_loss_metrics, *self.metrics]

    def _metric_results(self) -> list[Any]:
        metrics = self._get_training_eval_metrics()
        return [m._call_result for m in metrics if hasattr(m, "_call_result")]

    def reset_metrics(self) -> None:
        """Starts all metrics again."""
        for metric in self._get_training_eval_metrics():
            metric.reset_states()

    def _get_trainable_state(self) -> dict[Any, bool]:
        """Whether each layer, at any depth, is to be trained."""
        found: dict[Any, bool] = {}
        waiting: list[Any] = [self]
        while waiting:
            layer = waiting.pop()
            if layer not in found and hasattr(layer, "_layers"):
                found[layer] = layer._trainable
                waiting.extend(layer._layers)
        return found

    def _set_trainable_state(self, state: dict[Any, bool]) -> None:
        for layer, trainable in state.items():
            layer._trainable = trainable

    def _update_sample_weight_modes(self, sample_weights: Any) -> None:
        """Makes room for weights where some are given, and takes it away where none are."""
        if not self._is_compiled:
            return
        given = any(weights is not None for weights in sample_weights or ())
        for endpoint in self._training_endpoints:
            if endpoint.takes_sample_weights:
                before = endpoint.sample_weight_mode
                endpoint.sample_weight_mode = (before or "samplewise") if given else None

    def _fit_to_weights(self) -> None:
        """Makes the loss anew if weights are given where there were none, or the other way.

        What was made before is kept: training with weights and validation without take turns.
        """
        endpoints = getattr(self, "_training_endpoints", ())
        if not self._is_compiled:
            return
        if self.total_loss is None:  # it was compiled to run eagerly
            self._compile_graph()  # type: ignore[attr-defined]
        if not any(e.needs_other_weights for e in endpoints):
            return
        kept = self.__dict__.setdefault("_made_for_weights", {})
        kept[tuple(e.made_for_mode for e in endpoints)] = self._made_for_now()
        found = kept.get(tuple(e.sample_weight_mode for e in endpoints))
        if found is None:
            self._compile_weights_loss_and_weighted_metrics()  # type: ignore[attr-defined]
            self.__dict__.update(train_function=None, test_function=None)
            return
        weights, results, made = found
        for endpoint, weight in zip(endpoints, weights, strict=True):
            endpoint.sample_weight, endpoint.made_for_mode = weight, endpoint.sample_weight_mode
        for metric, result in results:
            metric._call_result = result
        self.__dict__.update(made)

    def _made_for_now(self) -> tuple[Any, Any, dict[str, Any]]:
        """(placeholders of weights, results of metrics, loss and functions)"""
        metrics = self._get_training_eval_metrics()
        results = [(m, m._call_result) for m in metrics if hasattr(m, "_call_result")]
        names = ("total_loss", "train_function", "test_function")
        return self.sample_weights, results, {name: self.__dict__.get(name) for name in names}

    # ---- functions ----

    def _is_made_eagerly(self, mode: str) -> bool:
        """Whether steps run without a graph, in which case the function for them is made here."""
        name = f"{mode}_function"
        if self.run_eagerly and not isinstance(self.__dict__.get(name), EagerStep):
            self.__dict__[name] = EagerStep(self, mode)
        return self.run_eagerly

    def _is_made_for_replicas(self, mode: str) -> bool:
        """Whether steps are those of a strategy's replicas; the function is then made here."""
        if strategy_of(self) is None:
            return False
        for endpoint in getattr(self, "_training_endpoints", ()):
            if endpoint.needs_other_weights:
                endpoint.make_sample_weight()
                self.__dict__.update(train_function=None, test_function=None)
        if self.__dict__.get(f"{mode}_function") is None:
            made = ReplicaSteps(self, mode, feeds_learning_phase()).make()
            self.__dict__[f"{mode}_function"] = made
        return True

    @in_model_graph
    def _make_train_function(self) -> None:
        if self._is_made_eagerly("train") or self._is_made_for_replicas("train"):
            return
        self._fit_to_weights()
        self._check_trainable_weights()
        if self.__dict__.get("train_function") is not None:
            return
        # What is trained was settled when the model was compiled.
        now = self._get_trainable_state()
        self._set_trainable_state(self._compiled_trainable_state)  # type: ignore[attr-defined]
        feeds = self._feed_inputs + self._feed_targets + self._feed_sample_weights
        if feeds_learning_phase():
            feeds = [*feeds, symbolic_learning_phase()]
        self._make_eager_optimizer_weights()
        with name_scope("training"):
            updates = self._optimizer_updates()
            updates += self.get_updates_for(None)  # type: ignore[attr-defined]
            updates += self.get_updates_for(self.inputs)  # type: ignore[attr-defined]
        self.__dict__["train_function"] = self._function(
            "training", feeds, [self.total_loss, *self._metric_results()], updates, "train_function"
        )
        self._set_trainable_state(now)

    def _make_eager_optimizer_weights(self) -> None:
        """In eager programs, what the optimizer keeps has no name of a graph's before its own."""
        if eager_program() and hasattr(self.optimizer, "_create_weights"):
            with name_scope(self.optimizer._name):
                self.optimizer._create_weights(self._collected_trainable_weights)  # type: ignore[attr-defined]

    def _optimizer_updates(self) -> list[Any]:
        if isinstance(self.optimizer, list):
            raise ValueError("The `optimizer` in `compile` should be a single optimizer.")
        return list(
            self.optimizer.get_updates(
                params=self._collected_trainable_weights,  # type: ignore[attr-defined]
                loss=self.total_loss,
            )
        )

    @in_model_graph
    def _make_test_function(self) -> None:
        if self._is_made_eagerly("test") or self._is_made_for_replicas("test"):
            return
        self._fit_to_weights()
        if self.__dict__.get("test_function") is None:
            feeds = self._feed_inputs + self._feed_targets + self._feed_sample_weights
            results = [self.total_loss, *self._metric_results()]
            self.__dict__["test_function"] = self._function(
                "evaluation", feeds, results, self.state_updates, "test_function"
            )

    @in_model_graph
    def _make_predict_function(self) -> None:
        if self._is_made_eagerly("predict") or self._is_made_for_replicas("predict"):
            return
        if self.__dict__.get("predict_function") is None:
            self.__dict__["predict_function"] = self._function(
                "predict", self._feed_inputs, self.outputs, self.state_updates, "predict_function"
            )

    def _function(self, scope: str, feeds: Any, results: Any, updates: Any, name: str) -> Any:
        with name_scope(scope):
            settings = getattr(self, "_function_kwargs", {})
            return function(feeds, results, updates=updates, name=name, **settings)

    def _check_trainable_weights(self) -> None:
        collected = getattr(self, "_collected_trainable_weights", None)
        if collected is None:
            return
        if len(self._unique_trainable_weights) != len(collected):  # type: ignore[attr-defined]
            logging.log_first_n(
                logging.WARN,
                "Discrepancy between trainable weights and collected trainable weights, did you "
                "set `model.trainable` without calling `model.compile` after ?",
                1,
            )

    def _make_execution_function(self, mode: str) -> Any:
        getattr(self, f"_make_{mode}_function")()
        return self.__dict__[f"{mode}_function"]

    def _set_sample_weight_modes(self, mode: Any) -> None:
        training_losses.set_sample_weight_modes(self._training_endpoints, mode)
