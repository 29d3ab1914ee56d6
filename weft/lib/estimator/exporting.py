"""An Estimator as a SavedModel: a graph for each mode, with the variables of a checkpoint."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from weft.client.session import Session
from weft.core import errors
from weft.graph.graph import Graph, GraphKeys, add_to_collection, get_collection
from weft.graph.random_seed import set_random_seed
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model import constants
from weft.lib.saved_model.builder import SavedModelBuilder
from weft.lib.saved_model.export_outputs import EvalOutput, TrainOutput, get_export_outputs
from weft.lib.saved_model.export_signatures import TAGS, build_all_signature_defs
from weft.lib.train.checkpoint.management import latest_checkpoint
from weft.lib.train.checkpoint.saver import Saver
from weft.lib.train.sessions.scaffold import Scaffold
from weft.storage import file_io

MAX_DIRECTORY_CREATION_ATTEMPTS = 10


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
    """The folder in which a model is written before it moves to its place."""
    folder, name = os.path.split(timestamped_export_dir)
    return os.path.join(folder, f"temp-{os.fsdecode(name)}".encode())
