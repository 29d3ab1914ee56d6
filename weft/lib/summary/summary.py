"""tf.summary: nodes that turn values of a step into messages for TensorBoard.

A summary's tag is the full name of its node; a family comes first in the tag once more, so that
TensorBoard groups by it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tensorboard.compat.proto.summary_pb2 import SummaryDescription, SummaryMetadata

from weft.core import compat, dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import add_to_collection, get_collection, name_scope
from weft.graph.keys import GraphKeys
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.platform import tf_logging as logging
from weft.ops.kit.eager import refuse_when_eager
from weft.ops.kit.replicas import replica_number

_NOT_IN_NAMES = re.compile(r"[^-/\w\.]")


def clean_tag(name: str | None) -> str | None:
    """`name` with what a node's name cannot hold replaced."""
    if name is None:
        return None
    cleaned = _NOT_IN_NAMES.sub("_", name).lstrip("/")
    if cleaned != name:
        logging.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


def collect(value: Tensor, collections: Any, default_collections: Any) -> None:
    """Adds a summary to `collections`, or to the default ones if that is None."""
    for key in default_collections if collections is None else collections:
        add_to_collection(key, value)


def of_first_replica(summary: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`summary`, which in other replicas of a strategy is an empty string: one is enough."""

    @functools.wraps(summary)
    def in_replica(*args: Any, **kwargs: Any) -> Tensor:
        return convert_to_tensor("") if replica_number() else summary(*args, **kwargs)

    return in_replica


@contextmanager
def summary_scope(
    name: str | None, family: str | None = None, default_name: str | None = None, values: Any = None
) -> Iterator[tuple[str, str]]:
    """Opens the scope of a summary: (its tag, the name of its node)."""
    name, family = clean_tag(name), clean_tag(family)
    base = name if family is None else f"{family}/{name}"
    with name_scope(base, default_name, values) as scope:
        assert scope is not None
        full = scope.rstrip("/")
        yield (full if family is None else f"{family}/{full}"), scope


def _summarize(
    make: Callable[..., Tensor], name: str, tensor: Any, collections: Any, family: str | None,
    default_name: str | None = None,
) -> Tensor:  # fmt: skip
    """The summary that `make(tag, name=...)` makes, in the collections it belongs to."""
    with summary_scope(name, family, default_name, [tensor]) as (tag, scope):
        return _collected(make(tag, name=scope), collections)


def _collected(summary: Tensor, collections: Any) -> Tensor:
    collect(summary, collections, [GraphKeys.SUMMARIES])
    return summary


@of_first_replica
def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Tensor:
    """A summary of one number.

    Args:
        name: what TensorBoard shows it as; the name scope comes before.
        tensor: a scalar.
        collections: graph collections it joins; None: `SUMMARIES`, which `merge_all` collects.
        family: a prefix that groups summaries in TensorBoard.

    Returns:
        A string scalar, for `FileWriter.add_summary`.

    Raises:
        tf.errors.InvalidArgumentError: from the step: the tensor is no scalar.

    Example:
        >>> line = session.run(tf.summary.scalar("loss", 0.25))
        >>> tf.Summary.FromString(line).value[0].tag
        'loss'
    """
    make = functools.partial(raw.ScalarSummary, values=tensor)
    return _summarize(make, name, tensor, collections, family)


@of_first_replica
def image(
    name: str,
    tensor: Any,
    max_outputs: int = 3,
    collections: Any = None,
    family: str | None = None,
) -> Tensor:
    """A summary of the first images of a batch: [batch, height, width, 1, 3 or 4 channels].

    Floats are scaled so that they use the whole range; bytes are shown as they are.

    Args:
        name: a prefix; the images are called name/image/0 and so on.
        tensor: the images; float32 or uint8.
        max_outputs: how many of the batch are shown.
        collections: graph collections it joins; None: `SUMMARIES`.
        family: a prefix that groups summaries in TensorBoard.

    Returns:
        A string scalar with PNG files inside.

    Raises:
        tf.errors.InvalidArgumentError: from the step: the shape is not one of images.

    Example:
        >>> line = session.run(tf.summary.image("noise", tf.random_uniform([2, 8, 8, 3])))
        >>> [value.tag for value in tf.Summary.FromString(line).value]
        ['noise/image/0', 'noise/image/1']
    """
    make = functools.partial(raw.ImageSummary, tensor=tensor, max_images=max_outputs)
    return _summarize(make, name, tensor, collections, family)


@of_first_replica
def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> Tensor:
    """A summary of how the elements of a tensor are distributed.

    Args:
        name: what TensorBoard shows it as; the name scope comes before.
        values: a tensor of numbers.
        collections: graph collections it joins; None: `SUMMARIES`.
        family: a prefix that groups summaries in TensorBoard.

    Returns:
        A string scalar.

    Raises:
        tf.errors.InvalidArgumentError: from the step: a value is NaN or infinite.

    Example:
        >>> line = session.run(tf.summary.histogram("weights", [1.0, 2.0, 4.0]))
        >>> tf.Summary.FromString(line).value[0].histo.num
        3.0
    """
    make = functools.partial(raw.HistogramSummary, values=values)
    return _summarize(make, name, values, collections, family, "HistogramSummary")


@of_first_replica
def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Any = None,
    family: str | None = None,
) -> Tensor:
    """A summary of the first sounds of a batch: [batch, frames] or [batch, frames, channels]."""

    def make(tag: str, name: str) -> Tensor:
        rate = convert_to_tensor(sample_rate, dtypes.float32, name="sample_rate")
        return raw.AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs, name=name)

    return _summarize(make, name, tensor, collections, family)


def text(name: str, tensor: Tensor, collections: Any = None) -> Tensor:
    """A summary of strings, which TensorBoard shows as Markdown."""
    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    plugin = SummaryMetadata.PluginData(plugin_name="text")
    metadata = SummaryMetadata(plugin_data=plugin)
    return tensor_summary(name, tensor, summary_metadata=metadata, collections=collections)


@of_first_replica
def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: Any = None,
    collections: Any = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """A summary that holds a whole tensor; the metadata says which plugin may show it."""
    metadata = SummaryMetadata() if summary_metadata is None else summary_metadata
    fields = {"summary_description": summary_description, "display_name": display_name}
    for field, value in fields.items():
        if value is not None:
            setattr(metadata, field, value)
    serialized = metadata.SerializeToString()

    def make(tag: str, name: str) -> Tensor:
        return raw.TensorSummaryV2(tag, tensor, serialized, name=name)

    return _summarize(make, name, tensor, collections, family)


_NO_MERGING = (
    "Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary"
    " instead."
)


def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Tensor:
    """One summary with the values of several; their tags must differ.

    Args:
        inputs: a list of summaries.
        collections: graph collections the new one joins; None: none.
        name: of the operation.

    Returns:
        A string scalar.

    Raises:
        tf.errors.InvalidArgumentError: from the step: a tag comes twice.
        RuntimeError: eager execution is on.

    Example:
        >>> both = tf.summary.merge([tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)])
        >>> [value.tag for value in tf.Summary.FromString(session.run(both)).value]
        ['a', 'b']
    """
    refuse_when_eager(_NO_MERGING)
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        value = raw.MergeSummary(inputs=inputs, name=name)
        collect(value, collections, [])
    return value


def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """All summaries of the default graph as one; None if there are none.

    Args:
        key: the collection of summaries.
        scope: a regular expression; only those whose names start with a match.
        name: of the operation.

    Returns:
        A string scalar, or None.

    Raises:
        RuntimeError: eager execution is on.

    Example:
        >>> a, b = tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)
        >>> [v.tag for v in tf.Summary.FromString(session.run(tf.summary.merge_all())).value]
        ['a', 'b']
    """
    refuse_when_eager(_NO_MERGING)
    found = get_collection(key, scope=scope)
    return merge(found, name=name) if found else None


def get_summary_description(node_def: Any) -> Any:
    """The SummaryDescription that a TensorSummary node carries."""
    from google.protobuf import json_format

    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    description = SummaryDescription()
    json_format.Parse(compat.as_str_any(node_def.attr["description"].s), description)
    return description
