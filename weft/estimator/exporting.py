"""An Estimator as a SavedModel: a graph for each mode, with the variables of a checkpoint."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from weft.client.session import Session
from weft.core import errors
from weft.estimator.export_outputs import EvalOutput, TrainOutput, get_export_outputs
from weft.estimator.receivers import SINGLE_RECEIVER_DEFAULT_NAME
from weft.estimator.spec import EstimatorSpec, ModeKeys
from weft.graph.graph import Graph, GraphKeys, add_to_collection, get_collection
from weft.graph.random_seed import set_random_seed
from weft.io import file_io
from weft.platform import tf_logging as logging
from weft.saved_model import constants, signature_constants, tag_constants
from weft.saved_model.builder import SavedModelBuilder
from weft.saved_model.signatures import is_valid_signature
from weft.train.checkpoint_management import latest_checkpoint
from weft.train.saver import Saver
from weft.train.scaffold import Scaffold

MAX_DIRECTORY_CREATION_ATTEMPTS = 10
TAGS = {
    ModeKeys.TRAIN: [tag_constants.TRAINING],
    ModeKeys.EVAL: [tag_constants.EVAL],
    ModeKeys.PREDICT: [tag_constants.SERVING],
}
_METHODS = {
    signature_constants.CLASSIFY_METHOD_NAME: "Classify",
    signature_constants.REGRESS_METHOD_NAME: "Regress",
    signature_constants.PREDICT_METHOD_NAME: "Predict",
    signature_constants.SUPERVISED_TRAIN_METHOD_NAME: "Train",
    signature_constants.SUPERVISED_EVAL_METHOD_NAME: "Eval",
}


def checkpoint_of(estimator: Any) -> str:
    """The checkpoint to export: the latest, or what the variables would begin with."""
    path = estimator.latest_checkpoint()
    settings = estimator._warm_start_settings
    if not path and settings:
        path = settings.ckpt_to_initialize_from
        if file_io.isdir(path):
            path = latest_checkpoint(path)
    if not path:
        raise ValueError(f"Couldn't find trained model at {estimator.model_dir}.")
    return path


def receivers_of(receiver_fn: Any, mode: str) -> dict[str, Callable[[], Any]]:
    """The functions to export by, where there is one mode."""
    if not receiver_fn:
        raise ValueError("An input_receiver_fn must be defined.")
    return {mode: receiver_fn}


def export(
    estimator: Any,
    export_dir_base: Any,
    receiver_fns: dict[str, Callable[[], Any]],
    assets_extra: dict[str, str] | None,
    as_text: bool,
    checkpoint_path: str,
    strip_default_attrs: bool,
) -> bytes:
    """Writes a SavedModel into a new folder named after the time; that folder.

    It is written elsewhere and moved, so that a server never sees half of it.
    """
    target = get_timestamped_export_dir(export_dir_base)
    unfinished = get_temp_export_dir(target)
    builder = SavedModelBuilder(unfinished)
    modes = [mode for mode in TAGS if receiver_fns.get(mode)]
    if not modes:
        raise ValueError(f"No valid modes for exporting found. Got {receiver_fns.keys()}.")
    for mode in modes:
        _add_graph(
            estimator,
            builder,
            receiver_fns[mode],
            checkpoint_path,
            save_variables=mode == modes[0],  # they are the same in all graphs
            mode=mode,
            strip_default_attrs=strip_default_attrs,
        )
    builder.save(as_text)
    _copy_assets(assets_extra, unfinished)
    file_io.rename(unfinished, target)
    return target


def _copy_assets(assets_extra: dict[str, str] | None, export_dir: bytes) -> None:
    folder = os.path.join(os.fsdecode(export_dir), constants.EXTRA_ASSETS_DIRECTORY)
    for relative, source in (assets_extra or {}).items():
        destination = os.path.join(folder, relative)
        file_io.makedirs(os.path.dirname(destination))
        file_io.copy(source, destination)


def _add_graph(
    estimator: Any,
    builder: SavedModelBuilder,
    receiver_fn: Callable[[], Any],
    checkpoint_path: str,
    save_variables: bool,
    mode: str,
    strip_default_attrs: bool,
) -> None:
    with Graph().as_default() as graph:
        estimator._create_and_assert_global_step(graph)
        set_random_seed(estimator._config.tf_random_seed)
        receiver = receiver_fn()
        labels = getattr(receiver, "labels", None)
        spec = estimator._call_model_fn(receiver.features, labels, mode, estimator.config)
        signatures = build_all_signature_defs(
            receiver.receiver_tensors,
            outputs_for_mode(spec),
            getattr(receiver, "receiver_tensors_alternatives", None),
            serving_only=mode == ModeKeys.PREDICT,
        )
        with Session(config=estimator._session_config) as session:
            init_op = spec.scaffold.local_init_op
            saver = spec.scaffold.saver or Saver(sharded=True)
            _restore(session, saver, checkpoint_path, mode)
            if spec.train_op is not None:
                add_to_collection(constants.TRAIN_OP_KEY, spec.train_op)
            meta_graph = {
                "tags": TAGS[mode],
                "signature_def_map": signatures,
                "assets_collection": get_collection(GraphKeys.ASSET_FILEPATHS),
                "main_op": Scaffold.default_local_init_op() if init_op is None else init_op,
                "saver": saver,
                "strip_default_attrs": strip_default_attrs,
            }
            if save_variables:
                builder.add_meta_graph_and_variables(session, **meta_graph)
            else:
                builder.add_meta_graph(**meta_graph)


def _restore(session: Any, saver: Any, checkpoint_path: str, mode: str) -> None:
    try:
        saver.restore(session, checkpoint_path)
    except errors.NotFoundError as error:
        raise ValueError(
            "Could not load all requested variables from checkpoint. Please make sure your "
            "model_fn does not expect variables that were not saved in the checkpoint.\n\n"
            f"Encountered error with mode `{mode}` while restoring checkpoint from: "
            f"`{checkpoint_path}`. Full Traceback:\n\n{error}"
        ) from error


def outputs_for_mode(spec: EstimatorSpec) -> dict[str, Any]:
    """The outputs of an exported graph, by the names of their signatures."""
    if spec.mode == ModeKeys.PREDICT:
        return get_export_outputs(spec.export_outputs, spec.predictions)
    kind = TrainOutput if spec.mode == ModeKeys.TRAIN else EvalOutput
    return {spec.mode: kind(spec.loss, spec.predictions, spec.eval_metric_ops)}


# ---- signatures ----------------------------------------------------------------------------------


def build_all_signature_defs(
    receiver_tensors: Any,
    export_outputs: Any,
    receiver_tensors_alternatives: Any = None,
    serving_only: bool = True,
) -> dict[str, Any]:
    """A signature for each set of inputs and each output, as far as they go together."""
    if not isinstance(export_outputs, dict):
        raise ValueError(f"export_outputs must be a dict and not{type(export_outputs)}")
    made: dict[str, Any] = {}
    excluded: dict[str, str] = {}
    sets = {"": receiver_tensors, **(receiver_tensors_alternatives or {})}
    for number, (receiver_name, tensors) in enumerate(sets.items()):
        if not isinstance(tensors, dict):
            tensors = {SINGLE_RECEIVER_DEFAULT_NAME: tensors}
        for key, output in export_outputs.items():
            name = f"{receiver_name or 'None'}:{key or 'None'}" if number else str(key or "None")
            try:
                made[name] = output.as_signature_def(tensors)
            except ValueError as error:
                excluded[name] = str(error)
    _report(made, excluded)
    if serving_only:
        made = {name: each for name, each in made.items() if is_valid_signature(each)}
    return made


def _report(made: dict[str, Any], excluded: dict[str, str]) -> None:
    names: dict[str, list[str]] = defaultdict(list, {method: [] for method in _METHODS})
    for name, signature in made.items():
        names[signature.method_name].append(name)
    for method, found in names.items():
        shown = found if found else "None"
        logging.info(f"Signatures INCLUDED in export for {_METHODS.get(method, method)}: {shown}")
    if excluded:
        logging.info(
            "Signatures EXCLUDED from export because they cannot be be served via TensorFlow "
            "Serving APIs:"
        )
    for name, reason in excluded.items():
        logging.info(f"'{name}' : {reason}")
    if not made:
        logging.warning("Export includes no signatures!")
    elif signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in made:
        logging.warning("Export includes no default signature!")


# ---- folders -------------------------------------------------------------------------------------


def get_timestamped_export_dir(export_dir_base: Any) -> bytes:
    """A folder that does not exist yet, named after the second it is."""
    for attempt in range(1, MAX_DIRECTORY_CREATION_ATTEMPTS + 1):
        folder = os.path.join(os.fsencode(export_dir_base), str(int(time.time())).encode())
        if not file_io.exists(folder):
            return folder
        time.sleep(1)
        logging.warning(
            f"Directory {folder!r} already exists; retrying (attempt "
            f"{attempt}/{MAX_DIRECTORY_CREATION_ATTEMPTS})"
        )
    raise RuntimeError(
        "Failed to obtain a unique export directory name after "
        f"{MAX_DIRECTORY_CREATION_ATTEMPTS} attempts."
    )


def get_temp_export_dir(timestamped_export_dir: bytes) -> bytes:
    """Where a model is written before it moves to its place."""
    folder, name = os.path.split(timestamped_export_dir)
    return os.path.join(folder, f"temp-{os.fsdecode(name)}".encode())
