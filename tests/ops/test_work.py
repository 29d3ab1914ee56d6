"""What operations say of their work, with the shapes of every sample that is a valid node."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest

import weft as tf
from tests.ops import replay
from tests.ops.sample import Sample, all_samples
from weft.graph.op_def import REGISTRY

SAMPLES: defaultdict[str, list[Sample]] = defaultdict(list)
for each in all_samples():
    if each.op in REGISTRY and REGISTRY[each.op].flops is not None:
        SAMPLES[each.op].append(each)


@pytest.mark.parametrize("name", SAMPLES)
def test_work_follows_from_shapes(name: str) -> None:
    valid = 0
    for sample in SAMPLES[name]:
        with tf.Graph().as_default():
            try:
                op = replay.Node(sample, "known").op
            except ValueError:
                continue  # its kernel or its shape rule is to refuse it
        given = [v for item in sample.inputs for v in (item if isinstance(item, list) else [item])]
        flops = REGISTRY[name].flops
        assert flops is not None
        work = flops([np.shape(v) for v in given], op.attrs)
        assert 0 <= work < math.inf
        valid += 1
    assert valid
