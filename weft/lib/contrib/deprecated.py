"""tf.contrib.deprecated: the summaries of the releases before 1.0, whose tags are as given."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import get_collection, name_scope
from weft.graph.keys import GraphKeys
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.summary import summary as _summaries


def _summary(
    op: str, inputs: dict[str, Any], collections: Any, name: str | None, **attrs: Any
) -> Tensor:
    """A node of a summary, in the collections that it is merged from."""
    with name_scope(name, op.removesuffix("V2"), list(inputs.values())) as scope:
        if "sample_rate" in inputs:
            inputs["sample_rate"] = convert_to_tensor(
                inputs["sample_rate"], dtype=dtypes.float32, name="sample_rate"
            )
        found: Tensor = getattr(raw, op)(**inputs, **attrs, name=scope)
    _summaries.collect(found, collections, [GraphKeys.SUMMARIES])
    return found


def scalar_summary(tags: Any, values: Any, collections: Any = None, name: Any = None) -> Tensor:
    """One number, or several under several tags."""
    return _summary("ScalarSummary", {"tags": tags, "values": values}, collections, name)


def histogram_summary(tag: Any, values: Any, collections: Any = None, name: Any = None) -> Tensor:
    """The distribution of the values of a tensor."""
    return _summary("HistogramSummary", {"tag": tag, "values": values}, collections, name)


def image_summary(
    tag: Any, tensor: Any, max_images: int = 3, collections: Any = None, name: Any = None
) -> Tensor:
    """The first images of a batch."""
    inputs = {"tag": tag, "tensor": tensor}
    return _summary("ImageSummary", inputs, collections, name, max_images=max_images)


def audio_summary(
    tag: Any,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Any = None,
    name: Any = None,
) -> Tensor:
    """The first sounds of a batch."""
    inputs = {"tag": tag, "tensor": tensor, "sample_rate": sample_rate}
    return _summary("AudioSummaryV2", inputs, collections, name, max_outputs=max_outputs)


def merge_summary(inputs: Any, collections: Any = None, name: Any = None) -> Tensor:
    """Several summaries as one."""
    with name_scope(name, "MergeSummary", inputs):
        found: Tensor = raw.MergeSummary(inputs=inputs, name=name)
    _summaries.collect(found, collections, [])
    return found


def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Tensor | None:
    """All summaries of a collection as one; None where there are none."""
    inputs = get_collection(key)
    return merge_summary(inputs) if inputs else None
