"""An Estimator whose model function is a SavedModel that another Estimator exported."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import get_collection, get_collection_ref, get_default_graph
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.receivers import wrap_and_check_input_tensors
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.estimator.warm_start import WarmStartSettings
from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model import constants, signature_constants
from weft.lib.saved_model.export_outputs import _SupervisedOutput as Named
from weft.lib.saved_model.export_signatures import TAGS
from weft.lib.saved_model.loader import SavedModelLoader, get_init_op
from weft.lib.train.checkpoint.inspection import list_variables
from weft.lib.train.sessions.scaffold import Scaffold
from weft.ops.state.global_step import assert_global_step, get_global_step

# The signature of each mode, and the method that it must have.
_SIGNATURES = {
    ModeKeys.TRAIN: (ModeKeys.TRAIN, signature_constants.SUPERVISED_TRAIN_METHOD_NAME),
    ModeKeys.EVAL: (ModeKeys.EVAL, signature_constants.SUPERVISED_EVAL_METHOD_NAME),
    ModeKeys.PREDICT: (signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY, None),
}
# Collections that an export fills; they must be empty before the next one.
_OF_EXPORTS = (
    constants.ASSETS_KEY,
    constants.LEGACY_INIT_OP_KEY,
    constants.MAIN_OP_KEY,
    constants.TRAIN_OP_KEY,
)


class SavedModelEstimator(Estimator):
    """Trains, evaluates and predicts with the graphs of a SavedModel, from its variables on.

    Args:
        saved_model_dir: a folder that `export_saved_model` (predictions alone) or
            `experimental_export_all_saved_models` of an Estimator has written.
        model_dir: the folder for new checkpoints.

    Raises:
        NotImplementedError: the configuration has a distribution strategy.
        RuntimeError: when a mode is used that was not exported.
    """

    def __init__(self, saved_model_dir: Any, model_dir: Any = None) -> None:
        checkpoint = os.path.join(os.fsdecode(saved_model_dir), "variables", "variables")
        names = [_pattern_of(name) for name, _ in list_variables(checkpoint)]
        super().__init__(
            self._model_fn_from_saved_model,
            model_dir,
            warm_start_from=WarmStartSettings(checkpoint, names),
        )
        if self._config.train_distribute or self._config.eval_distribute:
            raise NotImplementedError(
                "SavedModelEstimator currently does not support DistributionStrategy."
            )
        self.saved_model_dir = saved_model_dir
        self.saved_model_loader = SavedModelLoader(saved_model_dir)
        logging.info("Checking available modes for SavedModelEstimator.")
        self._available_modes = [mode for mode in _SIGNATURES if self._has(mode)]
        logging.info("Available modes for Estimator: %s", self._available_modes)

    def _create_and_assert_global_step(self, graph: Any) -> None:
        """Nothing: the step is among the variables of the SavedModel."""

    # ---- the modes that were exported ----

    def _meta_graph(self, mode: str) -> Any:
        return self.saved_model_loader.get_meta_graph_def_from_tags(TAGS[mode])

    def _has(self, mode: str) -> bool:
        try:
            signatures = self._meta_graph(mode).signature_def
        except RuntimeError:
            logging.warning("%s mode not found in SavedModel.", mode)
            return False
        key, _ = _SIGNATURES[mode]
        if key not in signatures:
            logging.warning(
                'Metagraph for mode %s was found, but SignatureDef with key "%s" is missing.',
                mode,
                key,
            )
        return key in signatures

    # ---- the model function ----

    def _model_fn_from_saved_model(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        if mode not in self._available_modes:
            raise RuntimeError(
                f"{mode} mode is not available in the SavedModel. Use saved_model_cli to check "
                "that the Metagraph for this mode has been exported."
            )
        graph, meta_graph = get_default_graph(), self._meta_graph(mode)
        if get_global_step(graph) is not None:
            raise RuntimeError(
                "Graph must not contain a global step tensor before the SavedModel is loaded. "
                "Please make sure that the input function does not create a global step."
            )
        key, method = _SIGNATURES[mode]
        signature = meta_graph.signature_def[key]
        outputs = self._loaded(graph, mode, signature, _replaced(signature, features, labels))
        scaffold = Scaffold(local_init_op=get_init_op(meta_graph))
        assert_global_step(get_global_step(graph))
        if method is None:
            results = {"predictions": outputs}
        else:
            _check_method(mode, method, signature.method_name)
            results = _supervised(outputs)
        train_op = _only_train_op()
        for collection in _OF_EXPORTS:
            del get_collection_ref(collection)[:]
        return EstimatorSpec(mode, scaffold=scaffold, train_op=train_op, **results)

    def _loaded(self, graph: Any, mode: str, signature: Any, inputs: Any) -> dict[str, Any]:
        """The outputs of a signature by name, with its graph put into `graph`."""
        names = {key: info.name for key, info in signature.outputs.items()}
        _, tensors = self.saved_model_loader.load_graph(
            graph, TAGS[mode], input_map=inputs, return_elements=[*names.values()]
        )
        return dict(zip(names, tensors, strict=True))


def _pattern_of(name: str) -> str:
    """Matches a variable or its parts, not its slots, whose names begin as its own does."""
    return rf"{re.escape(name)}(/part_\d+)?:"


def _replaced(signature: Any, features: Any, labels: Any) -> dict[str, Any]:
    """Names of the inputs of a signature -> the tensors that take their places."""
    given = dict(wrap_and_check_input_tensors(labels, "label")) if labels is not None else {}
    given |= wrap_and_check_input_tensors(features, "feature")
    found = {}
    for key, info in signature.inputs.items():
        if key not in given:
            raise ValueError(
                f'Key "{key}" not found in features or labels passed in to the model function. '
                f"All required keys: {signature.inputs.keys()}"
            )
        _check_fits(given[key], info, key)
        name, _, _ = info.name.partition(":")
        # Nodes may wait for the input without reading it.
        found[name] = found[f"^{name}"] = given[key]
    return found


def _check_fits(tensor: Any, info: Any, name: str) -> None:
    wanted = dtypes.as_dtype(info.dtype), TensorShape(info.tensor_shape)
    wrong = [
        f"\n\tExpected {what}: {want}, Got: {got}"
        for what, want, got, fits in (
            ("dtype", wanted[0], tensor.dtype, tensor.dtype == wanted[0]),
            ("shape", wanted[1], tensor.shape, tensor.shape.is_compatible_with(wanted[1])),
        )
        if not fits
    ]
    if wrong:
        raise ValueError(
            f"Tensor shape and/or dtype validation failed for input {name}:" + "".join(wrong)
        )


def _check_method(mode: str, wanted: str, found: str) -> None:
    if found != wanted:
        raise RuntimeError(
            f"Invalid SignatureDef method name for mode {mode}.\n\tExpected: {wanted}\n\t"
            f"Got: {found}\nPlease ensure that the SavedModel was exported with "
            "`tf.estimator.experimental_export_all_saved_models()`."
        )


def _supervised(outputs: dict[str, Any]) -> dict[str, Any]:
    """Loss, predictions and metrics among the outputs of a graph that trains or evaluates."""
    return {
        "loss": outputs[Named.LOSS_NAME],
        "predictions": dict(_of_kind(outputs, Named.PREDICTIONS_NAME)),
        "eval_metric_ops": _metrics(outputs),
    }


def _of_kind(outputs: dict[str, Any], kind: str) -> Iterable[tuple[str, Any]]:
    return (item for item in outputs.items() if item[0].split(Named._SEPARATOR_CHAR)[0] == kind)


def _metrics(outputs: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Metrics of which there are both the value and the update."""
    found = {}
    for key, value in _of_kind(outputs, Named.METRICS_NAME):
        name, _, suffix = key.rpartition(Named._SEPARATOR_CHAR)
        update = outputs.get(f"{name}{Named._SEPARATOR_CHAR}{Named.METRIC_UPDATE_SUFFIX}")
        if suffix == Named.METRIC_VALUE_SUFFIX and update is not None:
            found[name] = (value, update)
    return found


def _only_train_op() -> Any:
    ops = get_collection(constants.TRAIN_OP_KEY)
    if len(ops) > 1:
        raise RuntimeError("Multiple ops found in the train_op collection.")
    return ops[0] if ops else None
