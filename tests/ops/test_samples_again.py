"""Samples in eager execution, where a call like an earlier one takes a short way."""

from __future__ import annotations

from typing import Any

import numpy as np

import weft as tf
from tests.ops import replay
from tests.ops.sample import Sample, dtype_name
from tests.ops.test_samples import check_all, of_each_op, recorded
from weft.client.eager import EagerExecution
from weft.client.known_calls import can_be_known
from weft.graph.op_def import REGISTRY


def may_be_known(sample: Sample) -> bool:
    definition, record = REGISTRY[sample.op], replay.records().get(sample.key)
    if record is None or not record.outputs or not can_be_known(definition):
        return False
    return not any(map(replay.is_variable, definition.input_args))


@of_each_op(may_be_known)
def test_again(samples: list[Sample]) -> None:
    with EagerExecution().as_default():
        replay.check_each(samples, check_again)


def check_again(sample: Sample) -> None:
    definition, record = REGISTRY[sample.op], recorded(sample)
    attrs = {name: v for name, v in sample.attrs.items() if name not in definition.inferred_attrs}
    tensors = [tf.constant(value, dtype_name(value)) for value in sample.inputs]
    with_numbers = [tensors[0], *map(as_number, sample.inputs[1:], tensors[1:])]
    for inputs in (tensors, with_numbers):
        for _ in range(3):
            with np.errstate(all="ignore"):
                found = definition(*inputs, **attrs)
            value = found.numpy()
            value = np.array(value, object) if isinstance(value, bytes) else value
            check_all(sample, "output", [value], record.outputs)


def as_number(value: Any, tensor: Any) -> Any:
    """What a program would write for a scalar."""
    return value.item() if value.shape == () and value.dtype in (np.int32, np.bool_) else tensor
