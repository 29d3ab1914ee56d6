"""Model: a network that can be trained, tested and asked for predictions."""

from __future__ import annotations

from typing import Any

from weft.core.nest import flatten
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor_util import is_tensor
from weft.lib.functions.polymorphic import functions_run_eagerly
from weft.lib.keras import metrics as metrics_module
from weft.lib.keras import optimizers
from weft.lib.keras.backend.symbolic import eager_program, in_model_graph, runs_eagerly
from weft.lib.keras.engine import training_losses, training_metrics
from weft.lib.keras.engine.network import Network
from weft.lib.keras.engine.tracking import no_automatic_dependency_tracking
from weft.lib.keras.engine.training_endpoint import Endpoint
from weft.lib.keras.engine.training_fit import TrainingFit
from weft.lib.keras.engine.training_functions import TrainingFunctions, feeds_learning_phase
from weft.lib.keras.engine.training_inputs import TrainingInputs
from weft.lib.keras.engine.training_replicas import check_for_strategy, strategy_of
from weft.lib.platform import tf_logging as logging

_DYNAMIC = (
    "Your model contains layers that can only be successfully run in eager execution (layers "
    "constructed with `dynamic=True`)."
)


class Model(TrainingFit, TrainingInputs, TrainingFunctions, Network):
    """Layers from inputs to outputs, or a subclass with a `call` of its own, with training.

    `compile` says what is to be minimized and how, `fit` does it.
    """

    _run_eagerly: Any = None

    # ---- compiling ----

    @in_model_graph
    @no_automatic_dependency_tracking
    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        distribute: Any = None,
        **kwargs: Any,
    ) -> None:
        """Sets optimizer, losses and metrics; of a model without inputs, when data come.

        `kwargs` go to the session's runs.
        """
        self._run_eagerly = kwargs.pop("run_eagerly", None)
        kwargs.pop("experimental_run_tf_function", None)
        _ = self.run_eagerly  # which may not be possible
        if distribute is not None:
            raise ValueError(
                "`distribute` argument in compile is not available: create and compile the model"
                " under `with strategy.scope():` instead."
            )
        check_for_strategy(self, sample_weight_mode, weighted_metrics, target_tensors)
        self._set_optimizer(optimizer)
        self.loss, self.loss_weights = loss or {}, loss_weights
        self.sample_weight_mode = sample_weight_mode
        self._compile_metrics, self._compile_weighted_metrics = metrics or [], weighted_metrics
        self._training_endpoints: list[Endpoint] = []
        self._compiled_trainable_state = self._get_trainable_state()
        self._compile_metric_functions: list[Any] = []
        if self.built and self.inputs and self.outputs:
            self._function_kwargs = kwargs
            self._compile_outputs(target_tensors)

    def _compile_outputs(self, target_tensors: Any) -> None:
        """Losses and metrics of the outputs, which are there."""
        self._is_compiled = True
        self._make_endpoints(target_tensors)
        training_losses.set_loss_weights(self._training_endpoints, self.loss_weights)
        self._make_metrics(self._compile_metrics, self._compile_weighted_metrics)
        self._set_sample_weight_modes(self.sample_weight_mode)
        self.total_loss: Any = None
        if not self.run_eagerly and strategy_of(self) is None:
            self._compile_graph()
        self._made_for_weights: dict[Any, Any] = {}
        self.train_function: Any = None
        self.test_function: Any = None
        self.predict_function: Any = None
        self._collected_trainable_weights = self._unique_trainable_weights

    def _set_optimizer(self, optimizer: Any) -> None:
        if isinstance(optimizer, (list, tuple)):
            self.optimizer = [optimizers.get(each) for each in optimizer]
        else:
            self.optimizer = optimizers.get(optimizer)
        loss_scale = getattr(self._dtype_policy, "loss_scale", None)
        if loss_scale is not None:
            from weft.lib.keras.mixed_precision.loss_scale_optimizer import LossScaleOptimizer

            if not isinstance(self.optimizer, LossScaleOptimizer):
                self._check_scalable()
                self.optimizer = LossScaleOptimizer(self.optimizer, loss_scale)
            elif self.optimizer.loss_scale != loss_scale:
                logging.warning(
                    f"LossScale of LossScaleOptimizer passed to compile "
                    f"({self.optimizer.loss_scale}) is not the same as the dtype policy's loss "
                    f"scale ({loss_scale}). Because the dtype policy has a loss scale, you should "
                    "pass an optimizer that is not wrapped with a LossScaleOptimizer,"
                )

    def _check_scalable(self) -> None:
        if isinstance(self.optimizer, list):
            raise ValueError(
                "When a dtype policy with a loss scale is used, you can only pass a single "
                f"optimizer. Using policy {self._dtype_policy} and got optimizers: {self.optimizer}"
            )
        if not isinstance(self.optimizer, optimizers.Optimizer):
            raise ValueError(
                '"optimizer" must be an instance of tf.keras.optimizers.Optimizer when a dype '
                f"policy with a loss scale  used, but got: {self.optimizer}. Using policy: "
                f"{self._dtype_policy}"
            )

    def _make_endpoints(self, target_tensors: Any) -> None:
        self.loss_functions = training_losses.loss_functions(self.loss, self.output_names)
        columns = (self.outputs, self.output_names, self.loss_functions)
        targets = self._targets_by_output(target_tensors)
        for *of_output, target in zip(*columns, targets, strict=True):
            self._training_endpoints.append(Endpoint(*of_output))
            self._training_endpoints[-1].make_target(target)

    def _targets_by_output(self, targets: Any) -> list[Any]:
        if targets is None or (isinstance(targets, list) and not targets):
            return [None for _ in self.output_names]
        if isinstance(targets, list):
            if len(targets) != len(self.outputs):
                raise ValueError(
                    "When passing a list as `target_tensors`, it should have one entry per model "
                    f"output. The model has {len(self.outputs)} outputs, but you passed "
                    f"target_tensors={targets}"
                )
            return targets
        if isinstance(targets, dict):
            unknown = set(targets) - set(self.output_names)
            if unknown:
                raise ValueError(
                    f'Unknown entry in `target_tensors` dictionary: "{unknown}". Only expected the '
                    f"following keys: {self.output_names}"
                )
            return [targets.get(name) for name in self.output_names]
        if is_tensor(targets):
            return [targets]
        raise TypeError(
            "Expected `target_tensors` to be a list or tuple or dict or a single tensor, but got:",
            targets,
        )

    def _make_metrics(self, metrics: Any, weighted_metrics: Any) -> None:
        plain = training_metrics.per_output(metrics, self)
        weighted = training_metrics.per_output(weighted_metrics, self, is_weighted=True)
        named: tuple[list[Any], list[Any]] = ([], [])
        for i, endpoint in enumerate(self._training_endpoints):
            for made, given in zip(named, (plain, weighted), strict=True):
                made.append(training_metrics.named(self, given[i], endpoint))
        self._per_output_metrics, self._per_output_weighted_metrics = named
        if len(self._training_endpoints) > 1:
            for endpoint in self._training_endpoints:
                if not endpoint.is_skipped:
                    endpoint.output_loss_metric = metrics_module.Mean(name=endpoint.loss_name)

    def _compile_graph(self) -> None:
        parts = [endpoint.part for endpoint in self._training_endpoints]
        training_metrics.call_all(self, self._per_output_metrics, parts, False)
        self._compile_weights_loss_and_weighted_metrics()

    @no_automatic_dependency_tracking
    def _compile_weights_loss_and_weighted_metrics(self) -> None:
        for endpoint in self._training_endpoints:
            endpoint.make_sample_weight()
        parts = [endpoint.part for endpoint in self._training_endpoints]
        training_metrics.call_all(self, self._per_output_weighted_metrics, parts, True)
        self.total_loss = training_losses.total_loss(self, parts)

    # ---- what was compiled ----

    @property
    def run_eagerly(self) -> bool:
        """Whether batches run operation by operation, without a graph."""
        is_eager = eager_program() is not None
        if self._run_eagerly is True and not is_eager:
            raise ValueError("You can only set `run_eagerly=True` if eager execution is enabled.")
        if not self.dynamic:
            return (
                is_eager and functions_run_eagerly()
                if self._run_eagerly is None
                else self._run_eagerly
            )
        if not is_eager:
            raise ValueError(
                f"{_DYNAMIC} You must enable eager execution with `tf.enable_eager_execution()`."
            )
        if self._run_eagerly is False:
            raise ValueError(f"{_DYNAMIC} You cannot set `run_eagerly=False`.")
        return True

    @run_eagerly.setter
    def run_eagerly(self, value: bool) -> None:
        self.__dict__["_run_eagerly"] = value
        self.__dict__.update(train_function=None, test_function=None, predict_function=None)

    @property
    def metrics(self) -> list[Any]:
        compiled = self._compile_metric_functions if self._is_compiled else []
        return [*compiled, *self._metrics, *_metrics_of(self._layers)]

    @property
    def metrics_names(self) -> list[str]:
        """The names of the results of `evaluate` and `train_on_batch`."""
        names = ["loss"]
        if self._is_compiled:
            endpoints = self._training_endpoints
            if len(endpoints) > 1:
                names += [e.loss_name for e in endpoints if not e.is_skipped]
            names += [metric.name for metric in self._compile_metric_functions]
        names += [metric.name for layer in self.layers for metric in layer._metrics]
        return names + [metric.name for metric in self._metrics]

    def _assert_compile_was_called(self) -> None:
        if not self.optimizer:
            raise RuntimeError(
                "You must compile your model before training/testing. Use "
                "`model.compile(optimizer, loss)`."
            )

    def _check_call_args(self, method_name: str) -> None:
        spec = self._call_spec
        required = spec.args[: len(spec.args) - len(spec.defaults or ())]
        extra = [name for name in required if name != "training"][2:]
        if extra:
            raise ValueError(
                f"Models passed to `{method_name}` can only have `training` and the first argument "
                f"in `call` as positional arguments, found: {extra}."
            )

    def _get_callback_model(self) -> Any:
        return getattr(self, "callback_model", None) or self

    # ---- single batches ----

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        reset_metrics: bool = True,
    ) -> Any:
        """One step of training; the loss, or a list with the metrics after it."""
        self._assert_compile_was_called()
        self._check_call_args("train_on_batch")
        x, y, weights = self._standardize_batch(x, y, sample_weight, class_weight)
        self._update_sample_weight_modes(weights)
        self._make_train_function()
        phase = [True] if feeds_learning_phase() else []
        return self._finished(self.train_function([*x, *y, *weights, *phase]), reset_metrics)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True
    ) -> Any:
        """Loss and metrics of one batch, without training on it."""
        self._assert_compile_was_called()
        self._check_call_args("test_on_batch")
        x, y, weights = self._standardize_batch(x, y, sample_weight)
        self._update_sample_weight_modes(weights)
        self._make_test_function()
        return self._finished(self.test_function([*x, *y, *weights]), reset_metrics)

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch as arrays; in eager execution, a single one is a tensor."""
        self._check_call_args("predict_on_batch")
        found = self._predict_batch(x)
        if runs_eagerly() and not isinstance(found, list):
            return convert_to_tensor(found)
        return found

    def _predict_batch(self, x: Any) -> Any:
        inputs = self._standardize_batch(x)[0]
        self._make_predict_function()
        found = self.predict_function(inputs)
        return found[0] if len(found) == 1 else found

    def _standardize_batch(self, x: Any, *args: Any) -> tuple[list[Any], list[Any], list[Any]]:
        from weft.lib.keras.engine.training_datasets import elements, is_dataset

        if is_dataset(x):
            self._standardize_user_data(x)
            x, *args = elements(x)  # type: ignore[assignment]
        x, y, weights = self._standardize_user_data(x, *args)
        return flatten(x), y or [], weights or []

    def _finished(self, outputs: list[Any], reset_metrics: bool) -> Any:
        if reset_metrics:
            self.reset_metrics()
        return outputs[0] if len(outputs) == 1 else outputs


def _metrics_of(layers: list[Any]) -> list[Any]:
    found: list[Any] = []
    for layer in layers:
        if isinstance(layer, Model):
            found += [*layer._metrics, *_metrics_of(layer.layers)]
        else:
            found += layer.metrics
    return found
