"""Samples with texts, as kernels take long ones: a part after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ops import replay
from tests.ops.sample import Sample
from tests.ops.test_samples import check_on_numpy, of_each_op
from weft.graph.op_def import REGISTRY


def has_texts(sample: Sample) -> bool:
    record = replay.records().get(sample.key)
    made = [] if record is None or not record.outputs else record.outputs
    given = [isinstance(v, np.ndarray) and v.dtype.hasobject for v in sample.flat_inputs]
    given += [output is not None and output.dtype == "string" for output in made]
    return any(given) and not REGISTRY[sample.op].needs_xla


@of_each_op(has_texts)
def test_in_parts(samples: list[Sample], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.core.step_limits.PART", 1)
    compiler: Any = None  # these need none
    replay.check_each(samples, lambda each: check_on_numpy(each, compiler))
