"""Kernels prepared for constant inputs give what the kernels themselves give."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.ops import replay
from tests.ops.sample import Sample
from weft.core import errors
from weft.graph.op_def import REGISTRY

SAMPLES = {
    op: samples for op, samples in replay.by_op().items() if REGISTRY[op].prepare is not None
}


def context(sample: Sample, known: bool) -> Any:
    """What a node with this sample's inputs says of itself."""
    values = sample.flat_inputs
    return SimpleNamespace(
        num_inputs=len(values),
        attr=replay.built(sample).attrs.__getitem__,
        value=lambda i: values[i] if i >= REGISTRY[sample.op].kernels.prepared_inputs else None,
        dims=lambda i: np.shape(values[i]) if known else None,
    )


def outcome(call: Any, *args: Any) -> Any:
    try:
        with np.errstate(all="ignore"):
            result = call(*args)
    except errors.OpError as error:
        return type(error), error.message
    return result if isinstance(result, (list, tuple)) else (result,)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("op", SAMPLES)
def test_prepared_or_not(op: str, known: bool) -> None:
    replay.check_each(SAMPLES[op], lambda sample: check_prepared(sample, known))


def check_prepared(sample: Sample, known: bool) -> None:
    prepare = REGISTRY[sample.op].prepare
    assert prepare is not None
    try:
        replay.built(sample)
    except ValueError:
        return  # no graph has such a node
    short = prepare(context(sample, known))
    if short is None:
        return
    run = replay.KernelRun(sample)
    want = outcome(lambda: run.run(np)[0])
    have = outcome(short, *sample.flat_inputs[: REGISTRY[sample.op].kernels.prepared_inputs])
    assert len(have) == len(want)
    for ours, theirs in zip(have, want, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert getattr(ours, "dtype", None) == getattr(theirs, "dtype", None)


def test_every_prepared_kernel_has_samples() -> None:
    prepared = {name for name, definition in REGISTRY.items() if definition.prepare is not None}
    assert {"Sum", "Substr", "AsString", "StringFormat", "Reshape"} <= prepared
    assert prepared <= set(SAMPLES)
