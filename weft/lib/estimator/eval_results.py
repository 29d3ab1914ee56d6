"""Results of an evaluation: metrics to run, and the events with their values."""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf import message
from tensorboard.compat.proto.summary_pb2 import Summary

from weft.core import dtypes
from weft.graph.tensor_proto import make_tensor_proto
from weft.lib.estimator.spec import LOSS_METRIC_KEY
from weft.lib.platform import tf_logging as logging
from weft.lib.summary.writer import FileWriterCache
from weft.ops.control.control import group
from weft.ops.scores.metrics_mean import mean


def add_loss_metric(eval_metric_ops: dict[str, Any], loss: Any) -> dict[str, Any]:
    """The metrics, and the mean of the loss over all batches."""
    check_no_loss_metric(eval_metric_ops)
    eval_metric_ops[LOSS_METRIC_KEY] = mean(loss)
    return eval_metric_ops


def check_no_loss_metric(eval_metric_ops: dict[str, Any]) -> None:
    """ValueError if a model has a metric by the name of the loss."""
    if LOSS_METRIC_KEY in eval_metric_ops:
        raise ValueError(
            f'Metric with name "{LOSS_METRIC_KEY}" is not allowed, because Estimator already '
            "defines a default metric with the same name."
        )


def split_metrics(eval_metric_ops: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """(one operation that updates all, value by name)"""
    ordered = sorted(eval_metric_ops.items())
    updates = [update for _, (_, update) in ordered]
    return group(*updates) if updates else None, {name: value for name, (value, _) in ordered}


def _as_text(results: dict[str, Any]) -> str:
    shown = [(k, v) for k, v in sorted(results.items()) if not isinstance(v, bytes)]
    return ", ".join(f"{key} = {value!s}" for key, value in shown)


def write_results(output_dir: str, results: dict[str, Any], step: int) -> None:
    """Logs the results of an evaluation, and writes them as summaries."""
    logging.info("Saving dict for global step %d: %s", step, _as_text(results))
    writer = FileWriterCache.get(output_dir)
    summary = Summary()
    for key, value in results.items():
        if value is not None and key != "global_step":
            _add_value(summary, key, value)
    writer.add_summary(summary, step)
    writer.flush()


def _add_value(summary: Summary, key: str, value: Any) -> None:
    if isinstance(value, (np.float32, float)):
        summary.value.add(tag=key, simple_value=float(value))
    elif isinstance(value, (np.int64, np.int32, int)):
        summary.value.add(tag=key, simple_value=int(value))
    elif isinstance(value, bytes):
        _add_serialized(summary, key, value)
    elif isinstance(value, np.ndarray):
        summary.value.add(tag=key, node_name=key, tensor=make_tensor_proto(value))
        logging.info(
            "Summary for np.ndarray is not visible in Tensorboard by default. Consider using a "
            "Tensorboard plugin for visualization (see "
            "https://github.com/tensorflow/tensorboard-plugin-example/blob/master/README.md for "
            "more information)."
        )
    else:
        logging.warning(
            "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or "
            "np.ndarray or a serialized string of Summary.",
            key,
        )


def _add_serialized(summary: Summary, key: str, value: bytes) -> None:
    try:
        found = Summary.FromString(value)
    except message.DecodeError:
        logging.warning("Skipping summary for %s, cannot parse string to Summary.", key)
        return
    for number, each in enumerate(found.value):
        each.tag = f"{key}/{number}"
    summary.value.extend(found.value)


def write_checkpoint_path(output_dir: str, checkpoint_path: str, step: int) -> None:
    """A summary that says which checkpoint was evaluated."""
    tag = "checkpoint_path"
    logging.info("Saving '%s' summary for global step %d: %s", tag, step, checkpoint_path)
    tensor = make_tensor_proto(checkpoint_path, dtype=dtypes.string)
    writer = FileWriterCache.get(output_dir)
    writer.add_summary(Summary(value=[Summary.Value(tag=tag, tensor=tensor)]), step)
    writer.flush()


def simple_values(event: Any) -> dict[str, float]:
    """The numbers among the summaries of an event, by tag."""
    values = event.summary.value if event.HasField("summary") else ()
    return {each.tag: each.simple_value for each in values if each.HasField("simple_value")}
