"""ParseExampleV2 and ParseSequenceExampleV2 beyond their samples: messages, one example."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops import replay
from tests.ops.sample import Sample
from tests.ops.samples.parsing import SEQUENCES
from tests.ops.samples.parsing_v2 import SAMPLES
from tests.parity import store
from weft.core import errors

RECORDS = store.load("parsing_v2")
REFUSED = [sample for sample in SAMPLES if RECORDS[sample.key].error is not None]


@pytest.mark.parametrize("sample", REFUSED, ids=lambda sample: sample.id)
def test_messages_are_tensorflows(sample: Sample) -> None:
    record = RECORDS[sample.key]
    with pytest.raises(getattr(errors, record.error or "")) as caught:
        replay.KernelRun(sample).run(np)
    assert caught.value.message == record.message


def test_one_sequence_has_no_outer_splits() -> None:
    """TensorFlow leaves a scalar in their place, which it does not fill."""
    empty = tf.constant([], tf.string)
    found = tf.raw_ops.ParseSequenceExampleV2(
        serialized=SEQUENCES[0], debug_name=empty, context_sparse_keys=empty,
        context_dense_keys=empty, context_ragged_keys=["v"], feature_list_sparse_keys=empty,
        feature_list_dense_keys=empty, feature_list_ragged_keys=["w"],
        feature_list_dense_missing_assumed_empty=tf.constant([], tf.bool),
        context_dense_defaults=[], context_ragged_value_types=[tf.float32],
        context_ragged_split_types=[tf.int32], feature_list_ragged_value_types=[tf.string],
        feature_list_ragged_split_types=[tf.int64],
    )  # fmt: skip
    with tf.Session() as session:
        values = session.run(found)
    assert values.context_ragged_values[0].tolist() == [1.0, 2.0]
    assert values.context_ragged_row_splits[0].shape == ()
    assert values.feature_list_ragged_values[0].tolist() == [b"a", b"b", b"c"]
    assert values.feature_list_ragged_outer_splits[0].shape == ()
    assert values.feature_list_ragged_inner_splits[0].tolist() == [0, 1, 1, 3]
