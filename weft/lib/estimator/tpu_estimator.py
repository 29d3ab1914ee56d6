"""tf.contrib.tpu.TPUEstimator, as it is where there are no TPUs: `use_tpu=False`."""

from __future__ import annotations

import copy
import enum
import math
from collections.abc import Callable
from typing import Any, NoReturn

from tensorboard.compat.proto.summary_pb2 import Summary

from weft.graph.graph import device
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.functions import accepted, fn_args, verify_model_fn_args
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.estimator.tpu_config import (
    InputPipelineConfig,
    RunConfig,
    check_positive_integer,
    parse_iterations_per_loop,
)
from weft.lib.estimator.tpu_spec import TPUEstimatorSpec
from weft.lib.platform import tf_logging as logging
from weft.lib.train.sessions.hooks import StepCounterHook
from weft.ops.state.global_step import make_global_step

_RESERVED = ["batch_size", "context", "use_tpu"]


class ExportSavedModelApiVersion(enum.Enum):
    """How a graph for TPUs would be exported."""

    V1 = 1
    V2 = 2


class ExamplesPerSecondHook(StepCounterHook):
    """Logs how many examples a second training takes in."""

    def __init__(
        self,
        batch_size: int,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
    ) -> None:
        self._batch_size = batch_size
        super().__init__(every_n_steps, every_n_secs, output_dir, summary_writer)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        steps = elapsed_steps / elapsed_time
        for tag, speed in (("global_step/sec", steps), ("examples/sec", self._batch_size * steps)):
            if self._summary_writer is not None:
                value = Summary.Value(tag=tag, simple_value=speed)
                self._summary_writer.add_summary(Summary(value=[value]), global_step)
            logging.info("%s: %g", tag, speed)


def add_item(params: Any, key: str, value: Any) -> None:
    """Sets a parameter, in a dict or in HParams."""
    if not hasattr(params, "set_hparam"):
        params[key] = value
    elif key in params:
        params.set_hparam(key, value)
    else:
        params.add_hparam(key, value)


class TPUEstimator(Estimator):
    """An Estimator that tells its functions the size of batches, as `params["batch_size"]`.

    With `use_tpu` a training fails, since there are none; all else is as with an Estimator.

    Args:
        model_fn, model_dir, config, params, warm_start_from: as for `tf.estimator.Estimator`.
        use_tpu: whether to use a TPU, where there is one.
        train_batch_size, eval_batch_size, predict_batch_size: see above.
        batch_axis, eval_on_tpu, export_to_tpu, export_to_cpu, embedding_config_spec: kept, not
            used.

    Raises:
        ValueError: a batch size is missing or not positive.

    Example:
        >>> def model_fn(features, labels, mode, params):
        ...     return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions={"x": features})
        >>> config = tf.contrib.tpu.RunConfig(model_dir="./model")
        >>> estimator = tf.contrib.tpu.TPUEstimator(model_fn, config=config, train_batch_size=8)
        >>> estimator.model_dir
        './model'
    """

    def __init__(
        self,
        model_fn: Any = None,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = ExportSavedModelApiVersion.V1,
    ) -> None:
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{_RESERVED} are reserved keys but existed in params {params}.")
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        if use_tpu:
            self._check_for_tpu(config)
        if not isinstance(export_saved_model_api_version, ExportSavedModelApiVersion):
            raise ValueError(
                "export_saved_model_api_version should be of type ExportSavedModelApiVersion; got "
                f"{export_saved_model_api_version}."
            )
        if not export_to_cpu and not export_to_tpu:
            raise ValueError("One of export_to_cpu and export_to_tpu must be true.")
        verify_model_fn_args(model_fn, params)
        self._use_tpu, self._eval_on_tpu = use_tpu, eval_on_tpu
        self._log_every = _log_every(config)
        self._is_input_fn_invoked = False
        super().__init__(
            self._wrapped(model_fn),
            model_dir,
            config.replace(log_step_count_steps=None),
            params or {},
            warm_start_from,
        )

    def _create_global_step(self, graph: Any) -> Any:
        return make_global_step(graph, use_resource=True)

    def _check_for_tpu(self, config: RunConfig) -> None:
        if self._batch_sizes[ModeKeys.TRAIN] is None:
            raise ValueError("`train_batch_size` cannot be `None`")
        names = ("train_batch_size", "eval_batch_size", "predict_batch_size")
        for name, size in zip(names, self._batch_sizes.values(), strict=True):
            if size is not None:
                check_positive_integer(size, name)
        options = config.tpu_config
        per_shard = options.per_host_input_for_training is InputPipelineConfig.PER_SHARD_V1
        if per_shard and options.num_cores_per_replica:
            raise ValueError(
                "Model parallelism only supports per host input for training. Please adjust "
                "TPURunconfig.per_host_input_for_training."
            )

    def _on_tpu(self, mode: str) -> bool:
        return self._use_tpu and (mode != ModeKeys.EVAL or self._eval_on_tpu)

    def _call_input_fn(
        self, input_fn: Callable[..., Any], mode: Any, input_context: Any = None
    ) -> Any:
        if "params" not in fn_args(input_fn):
            raise ValueError(
                f"input_fn ({input_fn}) does not include params argument, required by "
                'TPUEstimator to pass batch size as params["batch_size"]'
            )
        if self._on_tpu(mode):
            _no_tpu(self._config.master)
        params = self.params
        if self._batch_sizes[mode] is not None:
            add_item(params, "batch_size", self._batch_sizes[mode])
        self._is_input_fn_invoked = True
        with device("/device:CPU:0"):
            return input_fn(**accepted(input_fn, params=params, config=self.config, mode=mode))

    def _wrapped(self, model_fn: Callable[..., Any]) -> Callable[..., EstimatorSpec]:
        """The model function of an Estimator, that calls the one of a TPUEstimator."""

        def wrapper(
            features: Any, labels: Any, mode: Any, config: Any, params: Any
        ) -> EstimatorSpec:
            exporting = not self._is_input_fn_invoked
            self._is_input_fn_invoked = False
            logging.info("Running %s on CPU", mode)
            spec = self._call_wrapped(model_fn, features, labels, mode, config, params, exporting)
            if mode != ModeKeys.TRAIN or self._log_every is None:
                return spec
            folder = self.model_dir if config is None or config.save_summary_steps else None
            hook = ExamplesPerSecondHook(
                self._batch_sizes[mode] or 0, *self._log_every, output_dir=folder
            )
            return spec._replace(training_hooks=(*spec.training_hooks, hook))

        return wrapper

    def _call_wrapped(
        self,
        model_fn: Callable[..., Any],
        features: Any,
        labels: Any,
        mode: Any,
        config: Any,
        params: Any,
        exporting: bool,
    ) -> Any:
        names = fn_args(model_fn)
        if labels is not None and "labels" not in names:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        if "params" not in names:
            raise ValueError(
                f"model_fn ({model_fn}) does not include params argument, required by "
                "TPUEstimator to pass batch size as params['batch_size']"
            )
        params = copy.deepcopy(params)
        if not exporting and self._batch_sizes[mode] is not None:
            add_item(params, "batch_size", self._batch_sizes[mode])
        add_item(params, "use_tpu", False)
        offered = accepted(model_fn, labels=labels, mode=mode, config=config, params=params)
        spec = model_fn(features=features, **offered)
        return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec

    def _validate_features_in_predict_input(self, result: Any) -> None:
        """Predictions of a TPUEstimator may well go on for ever."""


def _log_every(config: RunConfig) -> tuple[int | None, int | None] | None:
    """(steps, seconds) between lines in the log; None for no lines."""
    loop = parse_iterations_per_loop(config.tpu_config.iterations_per_loop)
    if loop.unit == "seconds":
        return None, loop.value
    if config.log_step_count_steps is None:
        return None
    return math.ceil(config.log_step_count_steps / loop.value), None


def _no_tpu(master: str) -> NoReturn:
    raise RuntimeError(
        f"Cannot find any TPU cores in the system (master address {master}). This usually means "
        "the master address is incorrect or the TPU worker has some problems. Available devices: "
        "none of them is a TPU. Set use_tpu=False to run on CPUs and GPUs."
    )
