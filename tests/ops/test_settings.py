"""Every operation gives the same wherever it stands in a program, on its first run and compiled.

The table has each sample in each setting, with and without what can be known while the graph is
built. By default two operations in three are in one of the settings; the slow tests have all of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.ops import replay, settings
from tests.ops.sample import Sample, all_samples
from tests.ops.test_samples import check_all
from tests.parity import store
from weft.core import dtypes
from weft.graph.op_def import REGISTRY

BATCH = 25  # samples that run in one step: compiling is what costs
PLACES = [(setting, knows) for setting in settings.SETTINGS for knows in (True, False)]


def is_a_function(sample: Sample) -> bool:
    """Whether what comes out follows from what goes in, and nothing else happens."""
    definition = REGISTRY[sample.op]
    record = replay.records().get(sample.key)
    if record is None or record.error or record.build_error or record.missing:
        return False
    if definition.stateful or definition.takes_ctx or definition.takes_rng or not sample.inputs:
        return False
    objects = any(_is_object(arg) for arg in [*definition.input_args, *definition.output_args])
    return definition.kernel is not None and bool(definition.output_args) and not objects


def _is_object(arg: Any) -> bool:
    return arg.is_ref or arg.type in (dtypes.resource, dtypes.variant)


SAMPLES = [s for s in all_samples() if s.op in REGISTRY and is_a_function(s)]


@cache
def wanted(sample: Sample) -> list[np.ndarray]:
    return settings.run_interpreted(sample)


def check(sample: Sample, found: Sequence[Any]) -> None:
    kinds = replay.output_types(sample)
    pairs = zip(kinds, wanted(sample), strict=True)
    check_all(sample, sample.id, found, [store.Value(kind, value) for kind, value in pairs])


def check_batch(samples: Sequence[Sample], setting: str, knows: bool) -> None:
    try:
        runs = settings.run({s: wanted(s) for s in samples}, setting, knows)
    except Exception as error:
        if len(samples) == 1:
            raise AssertionError(f"{samples[0].id}: {error}") from error
        for sample in samples:
            check_batch([sample], setting, knows)
        raise
    for results in runs:
        for sample, found in zip(samples, results, strict=True):
            check(sample, found)


def batches(samples: Sequence[Sample]) -> Iterator[Sequence[Sample]]:
    for start in range(0, len(samples), BATCH):
        yield samples[start : start + BATCH]


def place_of(sample: Sample) -> int:
    """The setting in which an operation is seen by default; for a third there is none."""
    return zlib.crc32(sample.op.encode()) % (len(PLACES) * 3 // 2)


FIRST = list({s.op: s for s in reversed(SAMPLES)}.values())


@pytest.mark.parametrize(
    "place", range(len(PLACES)), ids=lambda i: f"{PLACES[i][0]}-{PLACES[i][1]}"
)
def test_operations_in_one_setting_each(place: int) -> None:
    for batch in batches([s for s in FIRST if place_of(s) == place]):
        check_batch(batch, *PLACES[place])


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("family", sorted({s.family for s in SAMPLES}))
@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place[0]}-{place[1]}")
def test_everywhere(family: str, place: tuple[str, bool]) -> None:
    for batch in batches([s for s in SAMPLES if s.family == family]):
        check_batch(batch, *place)
